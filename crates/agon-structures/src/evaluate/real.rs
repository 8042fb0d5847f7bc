//! Values of real functions, as far as they are rational.

use crate::formula::RealFunction;
use crate::rational::Rational;

use super::EvaluationError;

/// Applies a function to as many numbers as it takes. Returns `None` if it is undefined for them.
///
/// # Errors
/// If the value is not rational.
pub(super) fn applied(
    function: RealFunction,
    arguments: &[Rational],
) -> Result<Option<Rational>, EvaluationError> {
    let Some(&first) = arguments.first() else { return Ok(None) };
    let exactly = |value: Option<Rational>| match value {
        Some(value) => Ok(Some(value)),
        None => Err(EvaluationError::Inexact(function)),
    };
    // The values at these numbers are rational, and at all other rational numbers they are not
    // (Lindemann 1882; Niven 1956).
    let only_at = |argument: Rational, value| exactly((first == argument).then_some(value));
    match function {
        RealFunction::Abs => Ok(Some(if first.signum() < 0 { first.negated() } else { first })),
        RealFunction::Min => Ok(arguments.iter().copied().min()),
        RealFunction::Max => Ok(arguments.iter().copied().max()),
        RealFunction::Sin => only_at(Rational::ZERO, Rational::ZERO),
        RealFunction::Cos | RealFunction::Exp => only_at(Rational::ZERO, Rational::ONE),
        RealFunction::Log if first.signum() <= 0 => Ok(None),
        RealFunction::Log => only_at(Rational::ONE, Rational::ZERO),
        RealFunction::Root(0) => Ok(None),
        RealFunction::Root(degree) if degree % 2 == 0 && first.signum() < 0 => Ok(None),
        RealFunction::Root(degree) => exactly(root(first, degree)),
    }
}

/// Returns the root of a number, negative if the number is, if it is rational.
fn root(number: Rational, degree: u32) -> Option<Rational> {
    // In lowest terms, a fraction is a power only if its numerator and denominator are.
    let above = whole_root(number.numerator().unsigned_abs(), degree)? as i128;
    let below = whole_root(number.denominator().unsigned_abs(), degree)? as i128;
    Rational::fraction(if number.signum() < 0 { -above } else { above }, below)
}

/// Returns the integer whose power is the number, if there is one.
fn whole_root(number: u128, degree: u32) -> Option<u128> {
    // The root is found by bisection: `low` is at most the root, `high` is above it.
    let (mut low, mut high) = (0u128, number.checked_add(1)?);
    while low + 1 < high {
        let middle = low + (high - low) / 2;
        match middle.checked_pow(degree) {
            Some(power) if power <= number => low = middle,
            _ => high = middle,
        }
    }
    (low.checked_pow(degree) == Some(number)).then_some(low)
}
