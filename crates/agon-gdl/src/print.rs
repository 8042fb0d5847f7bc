//! Rules back to text, in either syntax.
//!
//! Reading a printed rulesheet gives the same rules
//! ([`same_rules`](crate::same_rules::same_rules)): `or`, `and`, `not` and empty bodies stay as
//! they were written. Comments and layout are lost. So are names of variables that infix cannot
//! hold: `?n` becomes `N`, `?n++` becomes `N_plus_plus`. Names are printed in their first spelling.

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

/// Maximum width of a line, if there is a place to break it: between conditions, never inside a
/// sentence.
const WIDTH: usize = 100;

/// Prints a rulesheet in KIF.
pub fn print_kif(sheet: &Rulesheet) -> String {
    print_rulesheet(sheet, Syntax::Kif)
}

/// Prints a rulesheet in either syntax.
pub fn print_rulesheet(sheet: &Rulesheet, syntax: Syntax) -> String {
    paragraphs(sheet.clauses.iter().map(|clause| {
        let text = Printer::new(&sheet.symbols, &clause.variables, syntax).clause(clause);
        (clause.head.relation, text)
    }))
}

/// Prints rules in normal form that come from the clauses of `sheet`.
pub fn print_rules(rules: &[Rule], sheet: &Rulesheet, syntax: Syntax) -> String {
    paragraphs(
        rules
            .iter()
            .map(|rule| (rule.head.relation, Printer::for_rule(rule, sheet, syntax).rule(rule))),
    )
}

/// Joins clauses to paragraphs. Single lines about the same relation form one paragraph.
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

/// Prints the parts of one clause, with the same names of variables in each.
pub struct Printer<'a> {
    symbols: &'a Symbols,
    /// The variables as the syntax writes them, indexed by [`VariableId`].
    variables: Vec<String>,
    syntax: Syntax,
}

impl<'a> Printer<'a> {
    /// Creates a printer for the parts of a clause with these variables.
    pub fn new(symbols: &'a Symbols, variables: &[Variable], syntax: Syntax) -> Printer<'a> {
        let variables = match syntax {
            Syntax::Kif => variables.iter().map(|variable| format!("?{}", variable.name)).collect(),
            Syntax::Infix => names::infix_variables(variables),
        };
        Printer { symbols, variables, syntax }
    }

    /// Creates a printer for the parts of a rule that comes from a clause of `sheet`.
    fn for_rule(rule: &Rule, sheet: &'a Rulesheet, syntax: Syntax) -> Printer<'a> {
        Printer::new(&sheet.symbols, &sheet.clauses[rule.clause].variables, syntax)
    }

    /// Prints a fact or a rule, without a line end.
    pub fn clause(&self, clause: &Clause) -> String {
        match self.syntax {
            Syntax::Kif => self.kif_clause(clause),
            Syntax::Infix => self.infix_clause(clause),
        }
    }

    /// Prints a rule in normal form, without a line end.
    pub fn rule(&self, rule: &Rule) -> String {
        self.clause(&Clause {
            head: written_atom(&rule.head),
            body: rule.body.iter().map(written_condition).collect(),
            is_rule: !rule.body.is_empty(),
            variables: Vec::new(),
            span: Span::default(),
        })
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

/// Turns a term in normal form into a syntactic one. It has no place in the text, and printing
/// needs none.
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

/// Returns the width of a text in characters.
fn width(text: &str) -> usize {
    text.chars().count()
}
