//! Rules back to text, in either syntax.
//!
//! Reading what was printed gives the same rules ([`same_rules`](crate::same_rules::same_rules)): `or`, `and`, `not`
//! and empty bodies stay as they were written. Comments and layout are lost, and so are the names of variables
//! where infix cannot hold them: `?n` becomes `N`, `?n++` becomes `N_plus_plus`. Names are printed in the spelling
//! that came first.

mod infix;
mod kif;
mod names;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod tests;

use agon_datalog::Symbol;
use agon_text::Span;

use crate::rules::{Condition, Rule, RuleAtom, RuleTerm};
use crate::symbols::Symbols;
use crate::syntax::{
    Atom, Clause, Literal, LiteralKind, Rulesheet, Syntax, Term, TermKind, Variable, VariableId,
};

/// Where lines are broken, if there is a place to break them: between conditions, never inside a sentence.
pub const WIDTH: usize = 100;

/// A rulesheet in KIF.
pub fn print_kif(sheet: &Rulesheet) -> String {
    print_rulesheet(sheet, Syntax::Kif)
}

/// A rulesheet in infix.
pub fn print_infix(sheet: &Rulesheet) -> String {
    print_rulesheet(sheet, Syntax::Infix)
}

/// A rulesheet in either syntax.
pub fn print_rulesheet(sheet: &Rulesheet, syntax: Syntax) -> String {
    paragraphs(sheet.clauses.iter().map(|clause| {
        let text = Printer::new(&sheet.symbols, &clause.variables, syntax).clause(clause);
        (clause.head.relation, text)
    }))
}

/// Rules in normal form, which come from the clauses of `sheet`.
pub fn print_rules(rules: &[Rule], sheet: &Rulesheet, syntax: Syntax) -> String {
    paragraphs(
        rules
            .iter()
            .map(|rule| (rule.head.relation, Printer::for_rule(rule, sheet, syntax).rule(rule))),
    )
}

/// One clause per paragraph; single lines about the same relation make one paragraph together.
fn paragraphs(clauses: impl Iterator<Item = (Symbol, String)>) -> String {
    let mut text = String::new();
    let mut last: Option<(Symbol, bool)> = None;
    for (relation, clause) in clauses {
        let is_single = !clause.contains('\n');
        if last.is_some_and(|last| last != (relation, true) || !is_single) {
            text.push('\n');
        }
        text.push_str(&clause);
        text.push('\n');
        last = Some((relation, is_single));
    }
    text
}

/// Prints what belongs to one clause: its variables have the same names in each of the texts.
pub struct Printer<'a> {
    symbols: &'a Symbols,
    /// By [`VariableId`], as the syntax writes them.
    variables: Vec<String>,
    syntax: Syntax,
}

impl<'a> Printer<'a> {
    /// A printer for the parts of a clause with these variables.
    pub fn new(symbols: &'a Symbols, variables: &[Variable], syntax: Syntax) -> Printer<'a> {
        let variables = match syntax {
            Syntax::Kif => variables.iter().map(|variable| format!("?{}", variable.name)).collect(),
            Syntax::Infix => names::infix_variables(variables),
        };
        Printer { symbols, variables, syntax }
    }

    /// A printer for the parts of a rule which comes from a clause of `sheet`.
    pub fn for_rule(rule: &Rule, sheet: &'a Rulesheet, syntax: Syntax) -> Printer<'a> {
        Printer::new(&sheet.symbols, &sheet.clauses[rule.clause].variables, syntax)
    }

    /// A fact or a rule, without a line end after it.
    pub fn clause(&self, clause: &Clause) -> String {
        match self.syntax {
            Syntax::Kif => self.kif_clause(clause),
            Syntax::Infix => self.infix_clause(clause),
        }
    }

    /// A condition, on one line.
    pub fn literal(&self, literal: &Literal) -> String {
        let mut text = String::new();
        match self.syntax {
            Syntax::Kif => self.kif_literal(literal, &mut text),
            Syntax::Infix => self.infix_literal(literal, infix::Around::Nothing, &mut text),
        }
        text
    }

    /// A sentence.
    pub fn atom(&self, atom: &Atom) -> String {
        let mut text = String::new();
        match self.syntax {
            Syntax::Kif => self.kif_application(atom.relation, &atom.arguments, &mut text),
            Syntax::Infix => self.infix_application(atom.relation, &atom.arguments, &mut text),
        }
        text
    }

    /// A term.
    pub fn term(&self, term: &Term) -> String {
        let mut text = String::new();
        match self.syntax {
            Syntax::Kif => self.kif_term(term, &mut text),
            Syntax::Infix => self.infix_term(term, &mut text),
        }
        text
    }

    /// A rule in normal form, without a line end after it.
    pub fn rule(&self, rule: &Rule) -> String {
        self.clause(&Clause {
            head: written_atom(&rule.head),
            body: rule.body.iter().map(written_condition).collect(),
            is_rule: !rule.body.is_empty(),
            variables: Vec::new(),
            span: Span::default(),
        })
    }

    /// A condition of a rule in normal form.
    pub fn condition(&self, condition: &Condition) -> String {
        self.literal(&written_condition(condition))
    }

    /// A sentence of a rule in normal form.
    pub fn rule_atom(&self, atom: &RuleAtom) -> String {
        self.atom(&written_atom(atom))
    }

    /// A term of a rule in normal form.
    pub fn rule_term(&self, term: &RuleTerm) -> String {
        self.term(&written_term(term))
    }

    /// A name, quoted if need be.
    pub fn name(&self, symbol: Symbol) -> String {
        let name = self.symbols.name(symbol);
        match self.syntax {
            Syntax::Kif => name.to_owned(),
            Syntax::Infix => crate::read::words::infix_spelling(name).into_owned(),
        }
    }

    fn variable(&self, id: VariableId) -> &str {
        self.variables.get(id.0 as usize).expect("a clause is printed with its own variables")
    }
}

fn written_condition(condition: &Condition) -> Literal {
    let atom = |atom| Literal { kind: LiteralKind::Atom(written_atom(atom)), span: atom.span };
    match condition {
        Condition::Holds(holding) => atom(holding),
        Condition::Fails(failing) => {
            Literal { kind: LiteralKind::Not(Box::new(atom(failing))), span: failing.span }
        }
        Condition::Differ(a, b, span) => Literal {
            kind: LiteralKind::Distinct(vec![written_term(a), written_term(b)]),
            span: *span,
        },
    }
}

fn written_atom(atom: &RuleAtom) -> Atom {
    Atom {
        relation: atom.relation,
        arguments: atom.arguments.iter().map(written_term).collect(),
        span: atom.span,
        name_span: atom.span,
    }
}

/// Terms in normal form do not know their place, and printing does not ask for it.
fn written_term(term: &RuleTerm) -> Term {
    let kind = match term {
        RuleTerm::Variable(v) => TermKind::Variable(VariableId(*v)),
        RuleTerm::Function(symbol, arguments) if arguments.is_empty() => {
            TermKind::Constant(*symbol)
        }
        RuleTerm::Function(symbol, arguments) => {
            TermKind::Function(*symbol, arguments.iter().map(written_term).collect())
        }
    };
    Term { kind, span: Span::default(), name_span: Span::default() }
}

/// How wide a piece of text is shown.
fn width(text: &str) -> usize {
    text.chars().count()
}
