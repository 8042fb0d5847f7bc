//! The first-order theory of the reals: quantifier elimination, decision of sentences, and
//! solution sets of formulas in one variable.
//!
//! Kaiser & Stafiniak (2010) allow rules of games to quantify over real numbers, and to use the
//! least real number for which a formula holds. Such formulas are opened once with
//! [`eliminate`]; in play, the remaining variables but one are numbers, and [`least`] or
//! [`univariate::solutions`] answer in microseconds.
//!
//! ```
//! use agon_reals::elimination::univariate::Bound;
//! use agon_reals::elimination::{EliminationLimits, Polynomial, RealFormula, Sign, decide, least};
//!
//! let limits = EliminationLimits::default();
//! let (x, y) = (Polynomial::variable(0), Polynomial::variable(1));
//! // Some y has a square of x - 2, so x is at least 2.
//! let square = RealFormula::compare(&(&y * &y), Sign::Equal, &(&x - &Polynomial::from(2)));
//! let has_root = RealFormula::Exists(1, Box::new(square));
//! let Bound::Number(number) = least(&has_root, 0, &limits)? else { panic!("the set is bounded") };
//! assert_eq!(number.rational(), Some(&2.into()));
//! assert_eq!(decide(&RealFormula::All(0, Box::new(has_root)), &limits), Ok(false));
//! # Ok::<(), agon_reals::elimination::EliminationError>(())
//! ```
//!
//! # Modules, in reading order
//!
//! 1. [`polynomial`]: polynomials in several variables; `parse` reads them from text.
//! 2. [`formula`]: formulas over the reals.
//! 3. `limits`: [`EliminationLimits`], [`EliminationError`].
//! 4. `simplify`: [`simplify()`].
//! 5. [`univariate`]: solution sets of formulas in one variable, algebraic numbers.
//! 6. `virtual_substitution`: elimination of linear and quadratic variables.
//! 7. `cohen_hormander`: elimination of variables of any degree.
//! 8. `eliminate`: the order of elimination.
//! 9. `samples`: sentences that are too large, but have an example among small numbers.
//! 10. [`smt_lib`]: sentences as text for other solvers.

mod cohen_hormander;
mod eliminate;
pub mod formula;
mod limits;
mod parse;
pub mod polynomial;
mod samples;
mod simplify;
pub mod smt_lib;
pub mod univariate;
mod virtual_substitution;

#[cfg(test)]
mod tests;

pub use dashu_ratio::RBig;

pub use eliminate::{Method, eliminate, eliminate_by};
pub use formula::{RealFormula, Sign};
pub use limits::{EliminationError, EliminationLimits};
pub use parse::ParsePolynomialError;
pub use polynomial::Polynomial;
pub use simplify::simplify;

use limits::Work;
use univariate::{Bound, SolutionSet, solutions_within};

/// Returns whether a sentence is true. Where elimination reaches a limit, some small numbers are
/// tried for the outermost variables: an example proves that such numbers exist.
///
/// # Errors
/// If the formula has a free variable, or a limit is reached.
pub fn decide(
    sentence: &RealFormula,
    limits: &EliminationLimits,
) -> Result<bool, EliminationError> {
    let work = Work::new(limits);
    work.check_formula(sentence)?;
    if let Some(variable) = sentence.free_variables().first() {
        return Err(EliminationError::FreeVariable(*variable));
    }
    let result = match eliminate::eliminate_within(Method::Best, sentence, &work) {
        Err(EliminationError::Stopped) => return Err(EliminationError::Stopped),
        Err(limit) => return samples::decide_by_samples(sentence, limits)?.ok_or(limit),
        Ok(result) => result,
    };
    // Simplification evaluates comparisons of numbers.
    debug_assert!(matches!(result, RealFormula::True | RealFormula::False));
    Ok(result == RealFormula::True)
}

/// Returns the set of numbers for which a formula holds that may have quantifiers, and has one
/// free variable at most.
///
/// # Errors
/// If the formula has another free variable, or a limit is reached.
pub fn solve(
    formula: &RealFormula,
    variable: u32,
    limits: &EliminationLimits,
) -> Result<SolutionSet, EliminationError> {
    let work = Work::new(limits);
    work.check_formula(formula)?;
    if formula.is_quantifier_free() {
        return solutions_within(formula, variable, &work);
    }
    if let Some(other) = formula.free_variables().into_iter().find(|other| *other != variable) {
        return Err(EliminationError::FreeVariable(other));
    }
    let result = eliminate::eliminate_within(Method::Best, formula, &work)?;
    solutions_within(&result, variable, &work)
}

/// Returns the value of the term `min :a (phi)` of Kaiser & Stafiniak (2010): the infimum of the
/// numbers for which a formula holds.
///
/// It is the least such number if there is one. Otherwise it is the lower end of an open interval,
/// [`Bound::NegativeInfinity`] if the numbers have no lower bound, and
/// [`Bound::PositiveInfinity`] if there are none.
///
/// # Errors
/// If the formula has another free variable, or a limit is reached.
pub fn least(
    formula: &RealFormula,
    variable: u32,
    limits: &EliminationLimits,
) -> Result<Bound, EliminationError> {
    Ok(solve(formula, variable, limits)?.infimum())
}
