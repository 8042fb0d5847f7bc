//! A rulesheet as it was written: clauses with the place of every part.
//!
//! Both syntaxes, prefix KIF and infix, are read into this form and printed from it. Nothing is
//! checked or repaired here: `or`, nested `not` and empty bodies stay as they were written.

use std::sync::Arc;

use agon_datalog::Symbol;
use agon_text::{Source, Span};

use crate::symbols::Symbols;

/// The syntax of a rulesheet.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Syntax {
    /// `(<= (next (cell ?x b)) (true (cell ?x b)))`
    Kif,
    /// `next(cell(X,b)) :- true(cell(X,b)).`
    Infix,
}

/// A rulesheet: its clauses and names, and the text they come from.
#[derive(Clone, Debug)]
pub struct Rulesheet {
    /// The text.
    pub source: Arc<Source>,
    /// The syntax of the text.
    pub syntax: Syntax,
    /// The clauses in order.
    pub clauses: Vec<Clause>,
    /// What could be read of clauses with mistakes, in order. Checks and engines ignore it. Editors
    /// find names in it while a clause is being written.
    pub partial: Vec<PartialClause>,
    /// The names.
    pub symbols: Symbols,
}

/// A fact or a rule.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The head: what the clause derives.
    pub head: Atom,
    /// The conditions; empty for facts.
    pub body: Vec<Literal>,
    /// Whether it was written as a rule, possibly with an empty body.
    pub is_rule: bool,
    /// The variables, in the order of first appearance. A [`VariableId`] is an index into this
    /// list.
    pub variables: Vec<Variable>,
    /// The place of the whole clause.
    pub span: Span,
}

/// What could be read of a clause with mistakes.
#[derive(Clone, Debug)]
pub struct PartialClause {
    /// The head, if it could be read.
    pub head: Option<Atom>,
    /// The conditions that could be read. Arguments that could not be read are missing in them.
    pub body: Vec<Literal>,
    /// The variables, in the order of first appearance.
    pub variables: Vec<Variable>,
    /// The place of the whole clause.
    pub span: Span,
}

/// A variable of a clause. Dense: `0..clause.variables.len()`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VariableId(pub u32);

/// The name of a variable, and the place of its first appearance.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name without the leading `?`, in its first spelling.
    pub name: String,
    /// The place of the first appearance.
    pub span: Span,
}

/// A relation applied to terms.
#[derive(Clone, Debug)]
pub struct Atom {
    /// The relation.
    pub relation: Symbol,
    /// The arguments of the relation.
    pub arguments: Vec<Term>,
    /// The place of the whole atom.
    pub span: Span,
    /// The place of the relation's name.
    pub name_span: Span,
}

/// A term and its place.
#[derive(Clone, Debug)]
pub struct Term {
    /// The kind of term.
    pub kind: TermKind,
    /// The place of the whole term.
    pub span: Span,
    /// The place of its name; the whole term for variables and constants.
    pub name_span: Span,
}

/// The kinds of terms.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// `?x`
    Variable(VariableId),
    /// `a`, or `(a)`, which means the same.
    Constant(Symbol),
    /// `(f a ?x)`, with at least one argument.
    Function(Symbol, Vec<Term>),
}

/// A condition in a body and its place.
#[derive(Clone, Debug)]
pub struct Literal {
    /// The kind of condition.
    pub kind: LiteralKind,
    /// The place of the whole condition.
    pub span: Span,
}

/// The kinds of conditions.
#[derive(Clone, Debug)]
pub enum LiteralKind {
    /// The atom holds.
    Atom(Atom),
    /// The condition fails. Correct text has exactly one condition here. The readers report other
    /// numbers and keep the first.
    Not(Box<Literal>),
    /// All conditions hold.
    And(Vec<Literal>),
    /// At least one condition holds. Without conditions, false.
    Or(Vec<Literal>),
    /// The first two terms differ. Correct text has exactly two.
    Distinct(Vec<Term>),
}

/// Whether a condition is asked to hold or to fail.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Polarity {
    /// The condition must hold.
    Positive,
    /// The condition must fail.
    Negative,
}

impl Polarity {
    /// Returns the opposite.
    pub(crate) fn negated(self) -> Polarity {
        match self {
            Polarity::Positive => Polarity::Negative,
            Polarity::Negative => Polarity::Positive,
        }
    }
}

impl Term {
    /// Calls `visit` on each variable, with its place, from left to right.
    pub fn each_variable(&self, visit: &mut dyn FnMut(VariableId, Span)) {
        match &self.kind {
            TermKind::Variable(v) => visit(*v, self.span),
            TermKind::Constant(_) => {}
            TermKind::Function(_, arguments) => {
                arguments.iter().for_each(|a| a.each_variable(visit));
            }
        }
    }
}

impl Atom {
    /// Calls `visit` on each variable, with its place, from left to right.
    pub fn each_variable(&self, visit: &mut dyn FnMut(VariableId, Span)) {
        self.arguments.iter().for_each(|a| a.each_variable(visit));
    }
}

impl Literal {
    /// Calls `visit` on each variable, with its place, from left to right.
    pub fn each_variable(&self, visit: &mut dyn FnMut(VariableId, Span)) {
        match &self.kind {
            LiteralKind::Atom(atom) => atom.each_variable(visit),
            LiteralKind::Not(inner) => inner.each_variable(visit),
            LiteralKind::And(parts) | LiteralKind::Or(parts) => {
                parts.iter().for_each(|p| p.each_variable(visit));
            }
            LiteralKind::Distinct(terms) => terms.iter().for_each(|t| t.each_variable(visit)),
        }
    }

    /// Calls `visit` on each atom. The polarity is negative below an odd number of `not`s.
    pub fn each_atom<'a>(&'a self, visit: &mut dyn FnMut(&'a Atom, Polarity)) {
        self.each_atom_below(Polarity::Positive, visit);
    }

    fn each_atom_below<'a>(
        &'a self,
        polarity: Polarity,
        visit: &mut dyn FnMut(&'a Atom, Polarity),
    ) {
        match &self.kind {
            LiteralKind::Atom(atom) => visit(atom, polarity),
            LiteralKind::Not(inner) => inner.each_atom_below(polarity.negated(), visit),
            LiteralKind::And(parts) | LiteralKind::Or(parts) => {
                parts.iter().for_each(|part| part.each_atom_below(polarity, visit));
            }
            LiteralKind::Distinct(_) => {}
        }
    }
}

impl Clause {
    /// Calls `visit` on each variable, with its place, from left to right.
    pub fn each_variable(&self, visit: &mut dyn FnMut(VariableId, Span)) {
        self.head.each_variable(visit);
        self.body.iter().for_each(|l| l.each_variable(visit));
    }
}
