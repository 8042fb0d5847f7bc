//! Evaluates formulas to the assignments that satisfy them, and terms to numbers.
//!
//! - [`Evaluator`] computes with whole sets of assignments. It also [updates](Evaluator::update)
//!   solutions when a structure changes by a few tuples.
//! - [`Naive`] follows the definition of truth, one assignment at a time. It is slow, and it is the
//!   oracle that tests compare with. Where there are too many assignments, [`Naive::with_pruning`]
//!   skips those that cannot succeed, by three-valued truth.
//!
//! # How the evaluator works
//!
//! The evaluator has one operation: extend a set of assignments to the free variables of a formula
//! so that the formula holds (`solve`).
//!
//! - Atoms are looked up by their known columns (`join`). The conjunct with the fewest expected
//!   extensions comes first. Quantified variables are projected away as soon as no conjunct needs
//!   them.
//! - Negations and comparisons filter. They iterate over all elements only for variables that
//!   nothing else binds.
//! - Universal quantifiers are negated existential ones, and greatest fixed points are complements
//!   of least ones (`compile`). Least fixed points are computed semi-naively, closures by search
//!   from the known end (`closure`).
//! - Quantifiers over sets are decided by SAT solvers, after everything else has restricted the
//!   assignments (`sets`).
//! - Defined relations that bind all their arguments are computed once per structure, others are
//!   expanded where they are used. Results that depend only on parts shared with the previous
//!   structure are kept (`store`).
//!
//! # How solutions are updated
//!
//! After a small change, only assignments for which an atom mentions a changed tuple are examined
//! again, definition by definition (`incremental`). Created and deleted elements matter only for
//! variables that no atom binds. Rows, their indexes and solutions are carried from structure to
//! structure by their changes.

mod check;
mod closure;
mod compile;
mod evaluator;
mod incremental;
mod join;
mod limits;
mod naive;
mod program;
mod real;
mod sets;
mod solve;
mod store;
mod table;
mod terms;

#[cfg(test)]
pub(crate) mod tests;

use crate::formula::{Definitions, Variable};
use crate::rational::Rational;
use crate::structure::{Element, Structure};

pub use evaluator::{Evaluator, FormulaQuery, TermQuery};
pub use incremental::Solutions;
pub use limits::{EvaluationError, Limits};
pub use naive::Naive;

/// A structure, with relations defined on it, in which formulas are evaluated.
#[derive(Copy, Clone)]
pub struct Model<'a> {
    /// The structure.
    pub structure: &'a Structure,
    /// The defined relations. A definition takes precedence over a relation of the same name in the
    /// vocabulary.
    pub definitions: &'a Definitions,
}

/// An assignment of values to free variables. Later entries hide earlier ones of the same variable.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Assignment {
    /// The values of element variables.
    pub elements: Vec<(Variable, Element)>,
    /// The values of real variables.
    pub reals: Vec<(Variable, Rational)>,
}

impl Assignment {
    /// Returns the empty assignment.
    pub fn new() -> Assignment {
        Assignment::default()
    }

    /// Adds an element for a variable.
    #[must_use]
    pub fn with(mut self, variable: &Variable, element: Element) -> Assignment {
        self.elements.push((variable.clone(), element));
        self
    }

    /// Returns the element of a variable.
    pub fn element(&self, variable: &Variable) -> Option<Element> {
        self.elements.iter().rev().find(|entry| &entry.0 == variable).map(|entry| entry.1)
    }

    /// Returns the number of a real variable.
    pub fn real(&self, variable: &Variable) -> Option<Rational> {
        self.reals.iter().rev().find(|entry| &entry.0 == variable).map(|entry| entry.1)
    }
}
