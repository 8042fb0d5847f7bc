//! Maxima of payoffs that are known as polynomials in the parameters (Kaiser & Stafiniak 2010).
//!
//! A payoff consists of polynomial pieces. The piece at a point is maximised over the whole box,
//! and the caller computes the payoff at the result: there, another piece may be valid.

use agon_game::Polynomial;

/// Maximum number of rounds of line searches from one start.
const MAX_ROUNDS: usize = 40;
/// Maximum number of dimensions of which all corners are starts.
const MAX_CORNERS: usize = 4;
/// Number of parts of an interval in which changes of sign of a derivative are looked for.
const N_PARTS: usize = 64;

/// Returns a point of a box at which a polynomial is large: the best end of line searches along the
/// coordinates from a point, from the middle and from the corners. Along a coordinate the maximum is
/// that of all roots of the derivative and of both ends. Returns `None` if the box is not bounded.
pub(super) fn maximise(
    polynomial: &Polynomial,
    bounds: &[(f64, f64)],
    start: &[f64],
) -> Option<Vec<f64>> {
    let is_bounded = |&(low, high): &(f64, f64)| low.is_finite() && high.is_finite();
    if !bounds.iter().all(is_bounded) || start.len() != bounds.len() {
        return None;
    }
    let mut starts = vec![start.to_vec()];
    starts.push(bounds.iter().map(|(low, high)| low + (high - low) / 2.0).collect());
    if bounds.len() <= MAX_CORNERS {
        let end = |bits: usize, axis: usize| match bits >> axis & 1 {
            0 => bounds[axis].0,
            _ => bounds[axis].1,
        };
        let corner = |bits: usize| (0..bounds.len()).map(|axis| end(bits, axis)).collect();
        starts.extend((0..1 << bounds.len()).map(corner));
    }
    let ends = starts.into_iter().map(|point| climb(polynomial, bounds, point));
    let best = ends.max_by(|a, b| polynomial.at(a).total_cmp(&polynomial.at(b)));
    best.filter(|point| polynomial.at(point).is_finite())
}

/// Maximises along one coordinate after the other until nothing changes.
fn climb(polynomial: &Polynomial, bounds: &[(f64, f64)], mut point: Vec<f64>) -> Vec<f64> {
    for _ in 0..MAX_ROUNDS {
        let before = polynomial.at(&point);
        for (axis, &bounds) in bounds.iter().enumerate() {
            let along = polynomial.along(axis, &point);
            if along.len() > 1 {
                let best = arg_max(&along, bounds);
                if horner(&along, best) > horner(&along, point[axis]) {
                    point[axis] = best;
                }
            }
        }
        if polynomial.at(&point) <= before + 1e-12 * before.abs() {
            break;
        }
    }
    point
}

/// Returns where a polynomial of one variable is greatest between two bounds.
fn arg_max(coefficients: &[f64], (low, high): (f64, f64)) -> f64 {
    let slope: Vec<f64> =
        coefficients.iter().enumerate().skip(1).map(|(power, c)| power as f64 * c).collect();
    let place = |part: usize| low + (high - low) * part as f64 / N_PARTS as f64;
    let mut candidates = vec![low, high];
    for part in 0..N_PARTS {
        let (mut left, mut right) = (place(part), place(part + 1));
        let rises = horner(&slope, left) > 0.0;
        if !rises || horner(&slope, right) > 0.0 {
            continue;
        }
        for _ in 0..80 {
            let middle = left + (right - left) / 2.0;
            if horner(&slope, middle) > 0.0 {
                left = middle;
            } else {
                right = middle;
            }
        }
        candidates.push(right);
    }
    let value = |x: &f64| horner(coefficients, *x);
    candidates.into_iter().max_by(|a, b| value(a).total_cmp(&value(b))).unwrap_or(low)
}

fn horner(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, coefficient| sum * x + coefficient)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maxima_are_found_inside_and_at_ends() {
        // 1 - (x - 0.3)^2 - (y + 0.2)^2 + x y / 2 has its maximum where 0.6 - 2 x + y / 2 and
        // -0.4 - 2 y + x / 2 vanish: x = 0.2667, y = -0.1333.
        let polynomial = Polynomial {
            terms: vec![
                (0.87, vec![0, 0]),
                (0.6, vec![1, 0]),
                (-1.0, vec![2, 0]),
                (-0.4, vec![0, 1]),
                (-1.0, vec![0, 2]),
                (0.5, vec![1, 1]),
            ],
        };
        let bounds = [(-1.0, 1.0), (-1.0, 1.0)];
        let best = maximise(&polynomial, &bounds, &[1.0, 1.0]).expect("the box is bounded");
        assert!((best[0] - 4.0 / 15.0).abs() < 1e-5, "{best:?}");
        assert!((best[1] + 2.0 / 15.0).abs() < 1e-5, "{best:?}");
        let narrow = [(0.5, 1.0), (-1.0, 1.0)];
        let best = maximise(&polynomial, &narrow, &[1.0, 1.0]).expect("the box is bounded");
        assert_eq!(best[0], 0.5);
        assert_eq!(maximise(&polynomial, &[(0.0, f64::INFINITY); 2], &[1.0, 1.0]), None);
    }

    #[test]
    fn the_higher_of_two_peaks_is_found() {
        // -x^4 + x^2 + x / 10 has peaks near -0.68 and 0.73.
        let polynomial =
            Polynomial { terms: vec![(-1.0, vec![4]), (1.0, vec![2]), (0.1, vec![1])] };
        let best = maximise(&polynomial, &[(-1.0, 1.0)], &[-0.7]).expect("the box is bounded");
        assert!((best[0] - 0.730_9).abs() < 1e-3, "{best:?}");
    }
}
