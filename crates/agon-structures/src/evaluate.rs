//! Formulas to the assignments that satisfy them, terms to numbers.
//!
//! [`Naive`] follows the definition of truth, one assignment at a time: it is the judge, and it is as slow as that.
//! [`Evaluator`] computes with whole sets of assignments. [`Maintained`] keeps its answers up to date while a structure
//! changes.

mod check;
mod closure;
mod compile;
mod evaluator;
mod incremental;
mod join;
mod limits;
mod naive;
mod program;
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
pub use incremental::{Change, Followed, Maintained, Solutions};
pub use limits::{Limits, Refusal};
pub use naive::Naive;

/// What formulas are evaluated in: a structure, with relations defined on it.
#[derive(Copy, Clone)]
pub struct Model<'a> {
    /// The structure.
    pub structure: &'a Structure,
    /// The defined relations. Where a name is in the vocabulary too, the definition counts.
    pub definitions: &'a Definitions,
}

/// What the free variables stand for. Later entries hide earlier ones of the same variable.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Assignment {
    /// Element variables.
    pub elements: Vec<(Variable, Element)>,
    /// Real variables.
    pub reals: Vec<(Variable, Rational)>,
}

impl Assignment {
    /// Nothing is assigned.
    pub fn new() -> Assignment {
        Assignment::default()
    }

    /// With an element for a variable.
    #[must_use]
    pub fn with(mut self, variable: &Variable, element: Element) -> Assignment {
        self.elements.push((variable.clone(), element));
        self
    }

    /// With a number for a real variable.
    #[must_use]
    pub fn with_real(mut self, variable: &Variable, number: Rational) -> Assignment {
        self.reals.push((variable.clone(), number));
        self
    }

    /// What an element variable stands for.
    pub fn element(&self, variable: &Variable) -> Option<Element> {
        self.elements.iter().rev().find(|entry| &entry.0 == variable).map(|entry| entry.1)
    }

    /// What a real variable stands for.
    pub fn real(&self, variable: &Variable) -> Option<Rational> {
        self.reals.iter().rev().find(|entry| &entry.0 == variable).map(|entry| entry.1)
    }
}
