//! Tier 1: solutions that are polynomials in time, followed exactly.

use crate::interval::Interval;
use crate::rational::Rational;
use crate::real::Real;

use super::guards::{Difference, Failure, Guards, START_ORDER, Start, start_of};
use super::picard;
use super::roots::sign_of_all;
use super::trajectory::{Segment, Trajectory};
use super::{Evolution, EvolveError, Problem};

/// Largest denominator of an event time that is recognised as rational.
const MAX_DENOMINATOR: i128 = 1 << 31;

pub(super) fn evolve(problem: &Problem<'_>) -> Result<Evolution, EvolveError> {
    let solution = picard::solve(problem).ok_or(EvolveError::NotPolynomial)?;
    let duration = problem.duration.midpoint().max(0.0);
    let guards = Guards::new(problem.pool, problem.guards);
    let polynomials = guards.differences(&picard::domain(), &solution, &picard::time());
    let starts = starts(&guards, &solution, &polynomials);
    let mut trajectory = Trajectory::default();
    let mut from = 0.0;
    loop {
        problem.check_stop()?;
        // Windows that double in length, so that rounding is relative to the time of the event
        // and not to the whole duration.
        let to = if from == 0.0 { duration.min(1.0) } else { duration.min(2.0 * from) };
        // An evolution of no duration has a direction nevertheless, which decides guards at zero.
        let length = if to > from { to - from } else { 1.0 };
        let segment = window(&solution, from, length);
        let differences: Vec<Difference> = polynomials
            .iter()
            .map(|polynomial| match polynomial {
                Some(coefficients) => {
                    Difference::Polynomial(shifted(&midpoints(coefficients), from, length))
                }
                None => Difference::Term,
            })
            .collect();
        let pieces = guards.pieces(&segment, &differences, Some(&starts));
        let failure = guards
            .first_failure(&segment, &pieces)
            .filter(|failure| to > from || failure.part == 0.0);
        if problem.options.keep_trajectory {
            trajectory.push(segment);
        }
        if let Some(failure) = failure {
            let time = event_time(&polynomials, &failure, from, length);
            trajectory.finish(time.midpoint());
            let state = state(problem, &solution, time)?;
            return Ok(Evolution { time, state, failed: failure.guards, trajectory, n_steps: 0 });
        }
        if to >= duration {
            trajectory.finish(duration);
            let state = state(problem, &solution, problem.duration)?;
            let time = problem.duration;
            return Ok(Evolution { time, state, failed: Vec::new(), trajectory, n_steps: 0 });
        }
        from = to;
    }
}

/// Returns what the coefficients of the differences say about their signs after the start.
fn starts(
    guards: &Guards,
    solution: &[Vec<Real>],
    polynomials: &[Option<Vec<Real>>],
) -> Vec<Start> {
    let series: Vec<Vec<Interval>> = solution
        .iter()
        .map(|coefficients| {
            coefficients.iter().take(START_ORDER + 1).map(Real::to_interval).collect()
        })
        .collect();
    let from_series = guards.starts(&series);
    polynomials
        .iter()
        .zip(from_series)
        .map(|(polynomial, from_series)| match polynomial {
            // All coefficients are known here, and exact zeros are told from small numbers.
            Some(coefficients) => {
                start_of(&coefficients.iter().map(Real::to_interval).collect::<Vec<_>>())
            }
            None => from_series,
        })
        .collect()
}

/// Returns the state at a time.
fn state(
    problem: &Problem<'_>,
    solution: &[Vec<Real>],
    time: Real,
) -> Result<Vec<Real>, EvolveError> {
    let state: Vec<Real> = solution.iter().map(|polynomial| value(polynomial, time)).collect();
    match state.iter().position(|value| !value.to_interval().is_finite()) {
        Some(variable) => {
            Err(EvolveError::Undefined { variable, time: problem.duration.midpoint() })
        }
        None => Ok(state),
    }
}

/// Returns the value of a polynomial, by Horner's rule.
fn value(polynomial: &[Real], time: Real) -> Real {
    polynomial.iter().rev().fold(Real::ZERO, |value, coefficient| value * time + *coefficient)
}

/// Returns the time of a failure: exact if it is a recognised rational root, otherwise an interval
/// around the root of the polynomial with the midpoints of the coefficients.
fn event_time(
    polynomials: &[Option<Vec<Real>>],
    failure: &Failure,
    from: f64,
    length: f64,
) -> Real {
    let near = from + failure.part * length;
    if near == 0.0 {
        return Real::ZERO;
    }
    let candidates =
        || failure.comparisons.iter().filter_map(|comparison| polynomials[*comparison].as_ref());
    if let Some(root) = candidates().find_map(|polynomial| rational_root(polynomial, near)) {
        return Real::Exact(root);
    }
    let bracket = candidates().find_map(|polynomial| bracket(&midpoints(polynomial), near));
    Real::Interval(
        bracket.unwrap_or_else(|| Interval::around(near, 8.0 * f64::EPSILON * near.max(length))),
    )
}

/// Returns a rational root of a polynomial close to a number; `None` if none is recognised.
fn rational_root(polynomial: &[Real], near: f64) -> Option<Rational> {
    if !polynomial.iter().all(Real::is_exact) {
        return None;
    }
    let is_root = |number: Rational| value(polynomial, Real::Exact(number)) == Real::ZERO;
    if let [constant, slope] = polynomial {
        return (-*constant).div(*slope)?.exact();
    }
    // The convergents of the continued fraction are the best approximations by fractions.
    let (mut rest, mut previous, mut current) = (near, (0i128, 1i128), (1i128, 0i128));
    for _ in 0..40 {
        let whole = libm::floor(rest);
        if whole.abs() > 1e15 {
            return None;
        }
        let next = (
            (whole as i128).checked_mul(current.0)?.checked_add(previous.0)?,
            (whole as i128).checked_mul(current.1)?.checked_add(previous.1)?,
        );
        (previous, current) = (current, next);
        if current.1 > MAX_DENOMINATOR {
            return None;
        }
        let number = Rational::fraction(current.0, current.1)?;
        if (number.to_f64() - near).abs() <= 1e-10 * near.abs().max(1.0) && is_root(number) {
            return Some(number);
        }
        if rest == whole {
            return None;
        }
        rest = 1.0 / (rest - whole);
    }
    None
}

/// Returns a narrow interval at whose ends the polynomial has certainly different signs.
fn bracket(coefficients: &[Interval], near: f64) -> Option<Interval> {
    let sign = |place: f64| {
        let place = Interval::point(place);
        sign_of_all(
            coefficients
                .iter()
                .rev()
                .fold(Interval::ZERO, |value, coefficient| value * place + *coefficient),
        )
    };
    let mut radius = near.next_up() - near;
    for _ in 0..24 {
        let (lo, hi) = (near - radius, near + radius);
        if let (Some(left), Some(right)) = (sign(lo), sign(hi))
            && left != right
        {
            return Interval::new(lo, hi);
        }
        radius *= 2.0;
    }
    None
}

/// Returns the coefficients as narrow intervals: exact numbers rounded outward, and the midpoints
/// of others.
fn midpoints(coefficients: &[Real]) -> Vec<Interval> {
    coefficients
        .iter()
        .map(|coefficient| match coefficient {
            Real::Exact(_) => coefficient.to_interval(),
            Real::Interval(interval) => Interval::point(interval.midpoint()),
        })
        .collect()
}

/// Returns the polynomial in the fraction of a window that has passed.
fn shifted(coefficients: &[Interval], from: f64, length: f64) -> Vec<Interval> {
    let mut result = coefficients.to_vec();
    let place = Interval::point(from);
    // Repeated division by (t - from); the remainders are the coefficients at `from`.
    for first in 0..result.len() {
        for power in (first..result.len() - 1).rev() {
            result[power] = result[power] + result[power + 1] * place;
        }
    }
    let mut scale = Interval::ONE;
    for coefficient in &mut result {
        *coefficient = *coefficient * scale;
        scale = scale * Interval::point(length);
    }
    result
}

fn window(solution: &[Vec<Real>], start: f64, length: f64) -> Segment {
    let coefficients = solution
        .iter()
        .map(|polynomial| {
            shifted(&midpoints(polynomial), start, length)
                .into_iter()
                .map(Interval::midpoint)
                .collect()
        })
        .collect();
    Segment { start, length, coefficients }
}
