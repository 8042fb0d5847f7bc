//! What evaluation may cost, and why it may be refused.

use std::fmt;

use crate::formula::{Name, Sort, Variable};
use crate::rational::TooLarge;

/// What one evaluation may cost. Past a limit it stops with a [`Refusal`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Steps: a measure of time that is the same on every machine, some nanoseconds each.
    pub steps: u64,
    /// Cells of any one relation on the way: four bytes each. Some few are held at a time, more where formulas nest.
    pub cells: usize,
    /// Parts of all formulas that one evaluator is to know.
    pub parts: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        // Some seconds and some hundred megabytes: board games take a thousandth of it.
        Limits { steps: 2_000_000_000, cells: 32 << 20, parts: 1_000_000 }
    }
}

/// Why a formula was not evaluated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Neither the structure nor a definition nor a binder has this relation: a fault of the formula.
    UnknownRelation(Name),
    /// The relation takes another number of arguments: a fault of the formula.
    WrongArity {
        /// The relation.
        relation: Name,
        /// What it takes.
        arity: usize,
        /// What it was given.
        given: usize,
    },
    /// The structure has no such function: a fault of the formula.
    UnknownFunction(Name),
    /// The structure has no such constant: a fault of the formula.
    UnknownConstant(Name),
    /// Neither a quantifier nor the assignment binds this variable.
    UnboundVariable(Variable),
    /// Variables of this sort cannot be bound here, or cannot stand here.
    UnsupportedSort(Variable, Sort),
    /// A binder lists a variable twice.
    RepeatedVariable(Variable),
    /// The relation of a fixed point occurs under an odd number of negations, or in a term.
    NotMonotone(Name),
    /// A number did not fit.
    NumberTooLarge,
    /// The formula has more parts than allowed, once its `let`s and definitions are put in place.
    FormulaTooLarge(usize),
    /// The structure has another vocabulary than the evaluator.
    OtherVocabulary,
    /// More steps than allowed.
    Steps(u64),
    /// More cells than allowed.
    Cells(usize),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::UnknownRelation(name) => write!(f, "there is no relation `{name}`"),
            Refusal::WrongArity { relation, arity, given } => {
                write!(f, "`{relation}` takes {arity} arguments, not {given}")
            }
            Refusal::UnknownFunction(name) => write!(f, "there is no function `{name}`"),
            Refusal::UnknownConstant(name) => write!(f, "there is no constant `{name}`"),
            Refusal::UnboundVariable(variable) => write!(f, "nothing binds `{variable}`"),
            Refusal::UnsupportedSort(variable, sort) => {
                let sort = match sort {
                    Sort::Element => "elements",
                    Sort::Set => "sets",
                    Sort::Relation => "relations",
                    Sort::Real => "numbers",
                };
                write!(f, "`{variable}` ranges over {sort}, which is not evaluated here")
            }
            Refusal::RepeatedVariable(variable) => {
                write!(f, "`{variable}` is bound twice in one list")
            }
            Refusal::NotMonotone(name) => {
                write!(f, "`{name}` is negated, or in a term, within its own fixed point")
            }
            Refusal::NumberTooLarge => write!(f, "{TooLarge}"),
            Refusal::FormulaTooLarge(limit) => write!(f, "the formula grows beyond {limit} parts"),
            Refusal::OtherVocabulary => write!(f, "the structure has another vocabulary"),
            Refusal::Steps(limit) => write!(f, "evaluation takes more than {limit} steps"),
            Refusal::Cells(limit) => {
                write!(f, "evaluation needs a relation of more than {limit} cells")
            }
        }
    }
}

impl std::error::Error for Refusal {}

impl From<TooLarge> for Refusal {
    fn from(_: TooLarge) -> Refusal {
        Refusal::NumberTooLarge
    }
}
