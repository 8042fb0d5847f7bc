//! Sentences that are too large to be decided, but have an example or a counterexample among small
//! numbers.

use dashu_ratio::RBig;

use super::eliminate::{Method, eliminate_within};
use super::formula::RealFormula;
use super::limits::{EliminationError, EliminationLimits, Work};

/// Maximum number of points that are tried.
const MAX_POINTS: usize = 64;

/// Share of the steps of a decision that one point may take.
const SHARE: u64 = 32;

/// Numerators and denominators of the numbers that are tried, the first ones first.
const NUMBERS: [(i32, u32); 9] =
    [(0, 1), (1, 1), (-1, 1), (2, 1), (-2, 1), (1, 2), (-1, 2), (10, 1), (-10, 1)];

/// Looks for numbers of the outermost quantifiers that decide a sentence: an example if they are
/// existential, a counterexample if they are universal. Returns `None` if no point decides.
///
/// # Errors
/// If the interrupt of the limits ends the search.
pub(super) fn decide_by_samples(
    sentence: &RealFormula,
    limits: &EliminationLimits,
) -> Result<Option<bool>, EliminationError> {
    let is_existential = matches!(sentence, RealFormula::Exists(..));
    let mut variables = Vec::new();
    let mut body = sentence;
    while let RealFormula::Exists(variable, inner) | RealFormula::All(variable, inner) = body
        && matches!(body, RealFormula::Exists(..)) == is_existential
    {
        variables.push(*variable);
        body = inner;
    }
    let limits = EliminationLimits { max_steps: limits.max_steps / SHARE, ..limits.clone() };
    for point in points(variables.len()) {
        let mut case = body.clone();
        // The innermost of equal names is the one that the body means.
        for (variable, number) in variables.iter().zip(&point).rev() {
            case = case.substitute_number(*variable, number);
        }
        match eliminate_within(Method::Best, &case, &Work::new(&limits)) {
            Ok(RealFormula::True) if is_existential => return Ok(Some(true)),
            Ok(RealFormula::False) if !is_existential => return Ok(Some(false)),
            Err(EliminationError::Stopped) => return Err(EliminationError::Stopped),
            _ => {}
        }
    }
    Ok(None)
}

/// Returns points of a space: a grid of small numbers, or points on the axes if there are many.
fn points(n_variables: usize) -> Vec<Vec<RBig>> {
    let number = |(over, under): (i32, u32)| RBig::from(over) / RBig::from(under);
    let is_small = |n: usize| n.checked_pow(n_variables as u32).is_some_and(|n| n <= MAX_POINTS);
    let n_numbers = (1..=NUMBERS.len()).rev().find(|n| is_small(*n)).unwrap_or(1);
    if n_variables == 0 {
        return Vec::new();
    }
    if n_numbers > 1 {
        let n_points = n_numbers.pow(n_variables as u32);
        let digit = |place: usize, at: usize| place / n_numbers.pow(at as u32) % n_numbers;
        let point =
            |place: usize| (0..n_variables).map(|at| number(NUMBERS[digit(place, at)])).collect();
        return (0..n_points).map(point).collect();
    }
    let axis = |place: usize, value: i32| {
        (0..n_variables).map(|at| RBig::from(if at == place { value } else { 0 })).collect()
    };
    let axes = (0..n_variables).flat_map(|place| [axis(place, 1), axis(place, -1)]);
    let origin = vec![RBig::ZERO; n_variables];
    std::iter::once(origin).chain(axes).take(MAX_POINTS).collect()
}
