//! Games with real numbers: values of functions that change, time that passes, real parameters.
//!
//! The logic is that of Kaiser & Stafiniak 2010. Values of functions are exact while that is
//! possible and otherwise intervals. `s < t` holds only if it is certain: the upper bound of `s`
//! lies below the lower bound of `t`.
//!
//! - `walk` visits a formula or term at a structure, in any algebra of numbers and truth values.
//! - `direct` is the algebra of numbers: it evaluates at one moment.
//! - `symbolic` is the algebra of expressions over the values of functions and time: it makes the
//!   right sides of differential equations and the conditions that are watched while time passes.
//! - `robust` is the algebra of margins: how far numbers are from changing a truth value.
//! - `quantify` eliminates quantifiers over real numbers, `polynomials` is their algebra, `inexact`
//!   has its numbers, and `least` makes quantifiers of comparisons with `min :a (…)`.
//! - `pieces` follows values as polynomials in the numbers of moves.
//! - `sets` decides quantifiers over sets: it computes the numbers of a formula first, so that the
//!   evaluator of exact formulas can ask SAT solvers about the rest.
//! - `watch` counts the steps of a state and ends them in time.
//! - `evolve` lets time pass for several rules at once.

mod direct;
mod evolve;
mod inexact;
mod least;
mod pieces;
mod polynomials;
mod quantify;
mod robust;
mod sets;
mod symbolic;
mod walk;
mod watch;

use std::fmt;

use agon_reals::evolve::EvolveError;
use agon_reals::expression::PoolFull;
use agon_structures::formula::{Name, Variable};

pub(crate) use direct::Moment;
pub use evolve::Motion;
pub(crate) use evolve::{Act, Evolved, Stretch, evolve, time_variable};
pub(crate) use pieces::{Numbers as NumbersOfAct, Pieces, Tracked, in_numbers};
pub(crate) use walk::is_discrete;
pub(crate) use watch::Watch;

/// The reason why numbers of a position could not be computed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContinuousError {
    /// Evaluation takes more than this number of steps.
    Steps(u64),
    /// The deadline of the evaluation has passed, or another thread cancelled it.
    Interrupted,
    /// All sets have to be tried, because members are counted with numbers that are not exact or
    /// change while time passes, and there are too many elements.
    SetsOfMany(usize),
    /// A quantifier over sets could not be decided.
    Sets(String),
    /// A relation, function or constant that does not exist. Checked games do not have any.
    Unknown(Name),
    /// A variable without a value. Checked games do not have any.
    Unbound(Variable),
    /// A condition that is watched while time passes contains `min` over real numbers.
    LeastOverTime,
    /// A quantifier over real numbers could not be eliminated.
    Elimination(String),
    /// A condition under a quantifier over real numbers is not about polynomials.
    NotPolynomial(String),
    /// Expressions have too many parts.
    Full(PoolFull),
    /// A value or its derivative has no finite value at a time.
    Undefined {
        /// The value, as in `:x(a)`.
        value: String,
        /// The time since the rules were chosen.
        time: f64,
    },
    /// Time could not pass.
    Evolve(EvolveError),
}

impl fmt::Display for ContinuousError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ContinuousError::Steps(limit) => write!(f, "evaluation takes more than {limit} steps"),
            ContinuousError::Interrupted => {
                write!(f, "evaluation was stopped, because it took too long or was cancelled")
            }
            ContinuousError::SetsOfMany(limit) => write!(
                f,
                "a quantifier over sets is limited to {limit} elements where its formula counts \
                 with inexact numbers, or compares numbers while time passes"
            ),
            ContinuousError::Sets(why) => {
                write!(f, "a quantifier over sets could not be decided: {why}")
            }
            ContinuousError::Unknown(name) => write!(f, "`{name}` does not exist"),
            ContinuousError::Unbound(variable) => write!(f, "`{variable}` has no value"),
            ContinuousError::LeastOverTime => {
                write!(
                    f,
                    "`min :a (…)` can be followed while time passes only as one side of a \
                     comparison"
                )
            }
            ContinuousError::Elimination(why) => {
                write!(f, "a quantifier over real numbers could not be eliminated: {why}")
            }
            ContinuousError::NotPolynomial(what) => {
                write!(
                    f,
                    "{what} cannot be used under a quantifier over real numbers, where terms have \
                     + - * /, natural powers, roots, `abs`, `min` and `max`"
                )
            }
            ContinuousError::Full(full) => write!(f, "{full}"),
            ContinuousError::Undefined { value, time } => write!(
                f,
                "the value `{value}` or its derivative is undefined or unbounded at time {time}"
            ),
            ContinuousError::Evolve(error @ EvolveError::Stiff { .. }) => write!(
                f,
                "{error}; set the fast ones to the values at which they settle, or slow them down"
            ),
            ContinuousError::Evolve(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ContinuousError {}

impl From<PoolFull> for ContinuousError {
    fn from(full: PoolFull) -> ContinuousError {
        ContinuousError::Full(full)
    }
}

impl From<EvolveError> for ContinuousError {
    fn from(error: EvolveError) -> ContinuousError {
        ContinuousError::Evolve(error)
    }
}
