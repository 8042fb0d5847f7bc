//! A rulesheet as it was written: clauses with the place of every part.
//!
//! Both syntaxes, prefix KIF and infix, are read into this form and printed from it. Nothing is judged here and
//! nothing repaired: `or`, nested `not` and empty bodies stand as they were written.

use std::sync::Arc;

use agon_datalog::Symbol;
use agon_text::{Source, Span};

use crate::symbols::Symbols;

/// How a rulesheet is written.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Syntax {
    /// `(<= (next (cell ?x b)) (true (cell ?x b)))`
    Kif,
    /// `next(cell(X,b)) :- true(cell(X,b)).`
    Infix,
}

/// A rulesheet.
#[derive(Clone, Debug)]
pub struct Rulesheet {
    /// Where it came from.
    pub source: Arc<Source>,
    /// How it was written.
    pub syntax: Syntax,
    /// Its clauses in order.
    pub clauses: Vec<Clause>,
    /// Its names.
    pub symbols: Symbols,
}

/// A fact or a rule.
#[derive(Clone, Debug)]
pub struct Clause {
    /// What it says.
    pub head: Atom,
    /// When; empty for facts.
    pub body: Vec<Literal>,
    /// Whether it was written as a rule, though perhaps with an empty body.
    pub is_rule: bool,
    /// The variables, in order of first appearance; a [`VariableId`] is an index into this.
    pub variables: Vec<Variable>,
    /// All of it.
    pub span: Span,
}

/// A variable of a clause. Dense: `0..clause.variables.len()`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VariableId(pub u32);

/// A variable's name without the leading `?`, as first spelt, and where that was.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Name, without `?`.
    pub name: String,
    /// First appearance.
    pub span: Span,
}

/// A relation applied to terms.
#[derive(Clone, Debug)]
pub struct Atom {
    /// The relation.
    pub relation: Symbol,
    /// Its arguments.
    pub arguments: Vec<Term>,
    /// All of it.
    pub span: Span,
    /// The relation's name alone.
    pub name_span: Span,
}

/// A term and its place.
#[derive(Clone, Debug)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// All of it.
    pub span: Span,
    /// Its name alone; the whole for variables and constants.
    pub name_span: Span,
}

/// What a term can be.
#[derive(Clone, Debug)]
pub enum TermKind {
    /// `?x`
    Variable(VariableId),
    /// `a`, or `(a)`, which means the same.
    Constant(Symbol),
    /// `(f a ?x)`; at least one argument.
    Function(Symbol, Vec<Term>),
}

/// A condition in a body and its place.
#[derive(Clone, Debug)]
pub struct Literal {
    /// What it is.
    pub kind: LiteralKind,
    /// All of it.
    pub span: Span,
}

/// What a condition can be.
#[derive(Clone, Debug)]
pub enum LiteralKind {
    /// The atom holds.
    Atom(Atom),
    /// The condition fails. Exactly one in correct text; a parser reports others and keeps the first.
    Not(Box<Literal>),
    /// All hold.
    And(Vec<Literal>),
    /// At least one holds; with none given, false.
    Or(Vec<Literal>),
    /// The first two terms differ. Exactly two in correct text.
    Distinct(Vec<Term>),
}

impl Term {
    /// Calls `visit` on each variable, with its place, from left to right.
    pub fn each_variable(&self, visit: &mut dyn FnMut(VariableId, Span)) {
        match &self.kind {
            TermKind::Variable(v) => visit(*v, self.span),
            TermKind::Constant(_) => {}
            TermKind::Function(_, arguments) => {
                arguments.iter().for_each(|a| a.each_variable(visit))
            }
        }
    }

    /// Whether no variable occurs in it.
    pub fn is_ground(&self) -> bool {
        let mut ground = true;
        self.each_variable(&mut |_, _| ground = false);
        ground
    }
}

impl Atom {
    /// Calls `visit` on each variable, with its place, from left to right.
    pub fn each_variable(&self, visit: &mut dyn FnMut(VariableId, Span)) {
        self.arguments.iter().for_each(|a| a.each_variable(visit));
    }

    /// Whether no variable occurs in it.
    pub fn is_ground(&self) -> bool {
        self.arguments.iter().all(Term::is_ground)
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

    /// Calls `visit` on each atom, with whether it stands below an odd number of `not`s.
    pub fn each_atom<'a>(&'a self, negated: bool, visit: &mut dyn FnMut(&'a Atom, bool)) {
        match &self.kind {
            LiteralKind::Atom(atom) => visit(atom, negated),
            LiteralKind::Not(inner) => inner.each_atom(!negated, visit),
            LiteralKind::And(parts) | LiteralKind::Or(parts) => {
                parts.iter().for_each(|p| p.each_atom(negated, visit));
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
