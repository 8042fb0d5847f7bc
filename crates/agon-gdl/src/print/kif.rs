//! Prints KIF.

use agon_datalog::Symbol;

use super::{Printer, WIDTH, width};
use crate::syntax::{Clause, Literal, LiteralKind, Term, TermKind};

impl Printer<'_> {
    pub(super) fn kif_clause(&self, clause: &Clause) -> String {
        let mut head = String::new();
        self.kif_application(clause.head.relation, &clause.head.arguments, &mut head);
        if !clause.is_rule {
            // A text that starts with a parenthesis is known to be KIF.
            return if head.starts_with('(') { head } else { format!("({head})") };
        }
        let mut line = format!("(<= {head}");
        for literal in &clause.body {
            line.push(' ');
            self.kif_literal(literal, &mut line);
        }
        line.push(')');
        if width(&line) <= WIDTH {
            return line;
        }
        let mut text = format!("(<= {head}");
        for literal in &clause.body {
            text.push_str("\n    ");
            self.kif_broken(literal, 4, &mut text);
        }
        text.push(')');
        text
    }

    /// Prints a condition over several lines if one is too short. It starts in column `indent`.
    fn kif_broken(&self, literal: &Literal, indent: usize, text: &mut String) {
        let mut line = String::new();
        self.kif_literal(literal, &mut line);
        if indent + width(&line) <= WIDTH {
            text.push_str(&line);
            return;
        }
        match &literal.kind {
            LiteralKind::Atom(_) | LiteralKind::Distinct(_) => text.push_str(&line),
            LiteralKind::Not(inner) => {
                text.push_str("(not ");
                self.kif_broken(inner, indent + 5, text);
                text.push(')');
            }
            LiteralKind::And(parts) => self.kif_broken_list("(and", parts, indent, text),
            LiteralKind::Or(parts) => self.kif_broken_list("(or", parts, indent, text),
        }
    }

    fn kif_broken_list(&self, word: &str, parts: &[Literal], indent: usize, text: &mut String) {
        text.push_str(word);
        let indent = indent + word.len() + 1;
        for (index, part) in parts.iter().enumerate() {
            match index {
                0 => text.push(' '),
                _ => {
                    text.push('\n');
                    text.extend(std::iter::repeat_n(' ', indent));
                }
            }
            self.kif_broken(part, indent, text);
        }
        text.push(')');
    }

    pub(super) fn kif_literal(&self, literal: &Literal, text: &mut String) {
        let (word, parts) = match &literal.kind {
            LiteralKind::Atom(atom) => {
                return self.kif_application(atom.relation, &atom.arguments, text);
            }
            LiteralKind::Distinct(terms) => {
                text.push_str("(distinct");
                return self.kif_rest_of_list(terms, text);
            }
            LiteralKind::Not(inner) => ("(not", std::slice::from_ref(&**inner)),
            LiteralKind::And(parts) => ("(and", parts.as_slice()),
            LiteralKind::Or(parts) => ("(or", parts.as_slice()),
        };
        text.push_str(word);
        for part in parts {
            text.push(' ');
            self.kif_literal(part, text);
        }
        text.push(')');
    }

    pub(super) fn kif_term(&self, term: &Term, text: &mut String) {
        match &term.kind {
            TermKind::Variable(id) => text.push_str(self.variable(*id)),
            TermKind::Constant(symbol) => text.push_str(self.symbols.name(*symbol)),
            TermKind::Function(symbol, arguments) => self.kif_application(*symbol, arguments, text),
        }
    }

    pub(super) fn kif_application(&self, symbol: Symbol, arguments: &[Term], text: &mut String) {
        let name = self.symbols.name(symbol);
        if arguments.is_empty() {
            text.push_str(name);
            return;
        }
        text.push('(');
        text.push_str(name);
        self.kif_rest_of_list(arguments, text);
    }

    fn kif_rest_of_list(&self, terms: &[Term], text: &mut String) {
        for term in terms {
            text.push(' ');
            self.kif_term(term, text);
        }
        text.push(')');
    }
}
