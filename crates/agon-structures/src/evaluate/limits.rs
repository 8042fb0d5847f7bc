//! Limits on evaluation, and errors.

use std::fmt;

use crate::formula::{Name, RealFunction, Sort, Variable};
use crate::rational::TooLarge;

/// Limits on one evaluation. Beyond a limit it stops with an [`EvaluationError`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Maximum number of steps. This measures time independently of the machine; a step takes some
    /// nanoseconds.
    pub steps: u64,
    /// Maximum number of cells of one intermediate relation, four bytes each. A few relations are
    /// held at a time, more if formulas are nested.
    pub cells: usize,
    /// Maximum total size of all formulas of an evaluator.
    pub parts: usize,
    /// Maximum size of the propositional formula for one quantifier over sets.
    pub gates: usize,
    /// Maximum number of conflicts of the SAT solver, which decides quantifiers over sets.
    pub conflicts: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        // Some seconds and some hundred megabytes. Board games take a thousandth of this.
        Limits {
            steps: 2_000_000_000,
            cells: 32 << 20,
            parts: 1_000_000,
            gates: 8 << 20,
            conflicts: 100_000,
        }
    }
}

/// The reason why a formula was not evaluated.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum EvaluationError {
    /// The formula uses a relation that neither the structure nor a definition nor a binder has.
    UnknownRelation(Name),
    /// The formula uses a relation with the wrong number of arguments.
    WrongArity {
        /// The relation.
        relation: Name,
        /// The arity of the relation.
        arity: usize,
        /// The number of arguments in the formula.
        given: usize,
    },
    /// The formula uses a function that the structure does not have.
    UnknownFunction(Name),
    /// The formula uses a constant that the structure does not have.
    UnknownConstant(Name),
    /// A variable is bound neither by a quantifier nor by the assignment.
    UnboundVariable(Variable),
    /// A variable of this sort cannot be bound or used here.
    UnsupportedSort(Variable, Sort),
    /// A binder lists a variable twice.
    RepeatedVariable(Variable),
    /// The relation of a fixed point occurs under an odd number of negations, or in a term.
    NotMonotone(Name),
    /// A number exceeds the range of [`Rational`](crate::rational::Rational).
    NumberTooLarge,
    /// A real function is applied to this number of arguments, which it does not take.
    WrongArguments(RealFunction, usize),
    /// The value of a real function is not rational, so that it cannot be given exactly.
    Inexact(RealFunction),
    /// The formula exceeds this size after its `let`s and definitions are expanded.
    FormulaTooLarge(usize),
    /// The structure and the evaluator have different vocabularies.
    OtherVocabulary,
    /// The oracle enumerates the subsets only of universes with at most this many elements.
    Subsets(usize),
    /// Evaluation exceeds this number of steps.
    Steps(u64),
    /// The deadline of the evaluation has passed, or another thread cancelled it.
    Interrupted,
    /// An intermediate relation exceeds this number of cells.
    Cells(usize),
    /// The propositional formula for a quantifier over sets exceeds this size.
    Gates(usize),
    /// Deciding quantifiers over sets exceeds this number of conflicts.
    Conflicts(u64),
    /// A set variable occurs in this construct, for which there is no propositional formula.
    SetsInside(&'static str),
}

impl fmt::Display for EvaluationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvaluationError::UnknownRelation(name) => write!(f, "there is no relation `{name}`"),
            EvaluationError::WrongArity { relation, arity, given } => {
                write!(f, "`{relation}` takes {arity} arguments, not {given}")
            }
            EvaluationError::UnknownFunction(name) => write!(f, "there is no function `{name}`"),
            EvaluationError::UnknownConstant(name) => write!(f, "there is no constant `{name}`"),
            EvaluationError::UnboundVariable(variable) => {
                write!(f, "the variable `{variable}` is not bound")
            }
            EvaluationError::UnsupportedSort(variable, sort) => {
                let sort = match sort {
                    Sort::Element => "elements",
                    Sort::Set => "sets",
                    Sort::Relation => "relations",
                    Sort::Real => "numbers",
                };
                write!(f, "`{variable}` ranges over {sort}, which is not supported here")
            }
            EvaluationError::RepeatedVariable(variable) => {
                write!(f, "`{variable}` is bound twice in one list")
            }
            EvaluationError::NotMonotone(name) => {
                write!(f, "`{name}` is negated or occurs in a term inside its own fixed point")
            }
            EvaluationError::NumberTooLarge => write!(f, "{TooLarge}"),
            EvaluationError::WrongArguments(function, given) => {
                write!(f, "`{}` does not take {given} arguments", function.name())
            }
            EvaluationError::Inexact(function) => {
                write!(f, "a value of `{}` is not a rational number", function.name())
            }
            EvaluationError::FormulaTooLarge(limit) => {
                write!(f, "the formula grows beyond {limit} parts")
            }
            EvaluationError::OtherVocabulary => write!(f, "the structure has another vocabulary"),
            EvaluationError::Subsets(limit) => {
                write!(f, "the sets of more than {limit} elements are too many to enumerate")
            }
            EvaluationError::Interrupted => {
                write!(f, "evaluation was stopped, because it took too long or was cancelled")
            }
            EvaluationError::Steps(limit) => write!(f, "evaluation takes more than {limit} steps"),
            EvaluationError::Cells(limit) => {
                write!(f, "evaluation needs a relation of more than {limit} cells")
            }
            EvaluationError::Gates(limit) => {
                write!(f, "a quantifier over sets needs a formula of more than {limit} gates")
            }
            EvaluationError::Conflicts(limit) => {
                write!(f, "quantifiers over sets are not decided after {limit} conflicts")
            }
            EvaluationError::SetsInside(construct) => {
                write!(f, "a set variable inside {construct} is not supported")
            }
        }
    }
}

impl std::error::Error for EvaluationError {}

impl From<TooLarge> for EvaluationError {
    fn from(_: TooLarge) -> EvaluationError {
        EvaluationError::NumberTooLarge
    }
}
