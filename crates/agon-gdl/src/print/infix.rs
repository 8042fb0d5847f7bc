//! Prints infix.

use agon_datalog::Symbol;

use super::{Printer, WIDTH, width};
use crate::read::words::infix_spelling;
use crate::syntax::{Clause, Literal, LiteralKind, Term, TermKind};

/// The surroundings of a condition. They decide whether `&` and `|` need parentheses.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(super) enum Context {
    /// Other conditions or `~`, or a whole body, where `&` would join the conditions of the body.
    Conditions,
    /// Only brackets and commas.
    Nothing,
}

impl Printer<'_> {
    pub(super) fn infix_clause(&self, clause: &Clause) -> String {
        let mut head = String::new();
        self.infix_application(clause.head.relation, &clause.head.arguments, &mut head);
        if !clause.is_rule {
            head.push('.');
            return head;
        }
        let (parts, connective) = match clause.body.as_slice() {
            [] => return format!("{head} :- ."),
            [Literal { kind: LiteralKind::Or(parts), .. }] if parts.len() > 1 => {
                (parts.as_slice(), " |")
            }
            parts => (parts, " &"),
        };
        let mut line = format!("{head} :- ");
        self.infix_list(parts, &format!("{connective} "), Context::Conditions, &mut line);
        line.push('.');
        if width(&line) <= WIDTH {
            return line;
        }
        let mut text = format!("{head} :-\n  ");
        self.infix_broken_list(parts, connective, 2, &mut text);
        text.push('.');
        text
    }

    /// Prints a condition over several lines if one is too short. It starts in column `indent`.
    fn infix_broken(&self, literal: &Literal, indent: usize, text: &mut String) {
        let mut line = String::new();
        self.infix_literal(literal, Context::Conditions, &mut line);
        if indent + width(&line) <= WIDTH {
            text.push_str(&line);
            return;
        }
        let (parts, connective) = match &literal.kind {
            LiteralKind::Not(inner) => {
                text.push('~');
                return self.infix_broken(inner, indent + 1, text);
            }
            LiteralKind::And(parts) if parts.len() > 1 => (parts, " &"),
            LiteralKind::Or(parts) if parts.len() > 1 => (parts, " |"),
            LiteralKind::And(_)
            | LiteralKind::Or(_)
            | LiteralKind::Atom(_)
            | LiteralKind::Distinct(_) => {
                return text.push_str(&line);
            }
        };
        text.push('(');
        self.infix_broken_list(parts, connective, indent + 1, text);
        text.push(')');
    }

    fn infix_broken_list(
        &self,
        parts: &[Literal],
        connective: &str,
        indent: usize,
        text: &mut String,
    ) {
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                text.push_str(connective);
                text.push('\n');
                text.extend(std::iter::repeat_n(' ', indent));
            }
            self.infix_broken(part, indent, text);
        }
    }

    pub(super) fn infix_literal(&self, literal: &Literal, context: Context, text: &mut String) {
        let (word, connective, parts) = match &literal.kind {
            LiteralKind::Atom(atom) => {
                return self.infix_application(atom.relation, &atom.arguments, text);
            }
            LiteralKind::Distinct(terms) => {
                text.push_str("distinct");
                return self.infix_arguments(terms, text);
            }
            LiteralKind::Not(inner) => {
                text.push('~');
                return self.infix_literal(inner, Context::Conditions, text);
            }
            LiteralKind::And(parts) => ("and(", " & ", parts),
            LiteralKind::Or(parts) => ("or(", " | ", parts),
        };
        match (parts.as_slice(), context) {
            // Infix has no connective for fewer than two conditions, so these take the form of a
            // sentence.
            ([] | [_], _) => {
                text.push_str(word);
                self.infix_list(parts, ", ", Context::Nothing, text);
                text.push(')');
            }
            (_, Context::Conditions) => {
                text.push('(');
                self.infix_list(parts, connective, Context::Conditions, text);
                text.push(')');
            }
            (_, Context::Nothing) => self.infix_list(parts, connective, Context::Conditions, text),
        }
    }

    fn infix_list(&self, parts: &[Literal], separator: &str, context: Context, text: &mut String) {
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                text.push_str(separator);
            }
            self.infix_literal(part, context, text);
        }
    }

    pub(super) fn infix_term(&self, term: &Term, text: &mut String) {
        match &term.kind {
            TermKind::Variable(id) => text.push_str(self.variable(*id)),
            TermKind::Constant(symbol) => {
                text.push_str(&infix_spelling(self.symbols.name(*symbol)));
            }
            TermKind::Function(symbol, arguments) => {
                self.infix_application(*symbol, arguments, text);
            }
        }
    }

    pub(super) fn infix_application(&self, symbol: Symbol, arguments: &[Term], text: &mut String) {
        text.push_str(&infix_spelling(self.symbols.name(symbol)));
        if !arguments.is_empty() {
            self.infix_arguments(arguments, text);
        }
    }

    fn infix_arguments(&self, arguments: &[Term], text: &mut String) {
        for (index, argument) in arguments.iter().enumerate() {
            text.push(if index == 0 { '(' } else { ',' });
            self.infix_term(argument, text);
        }
        text.push(')');
    }
}
