//! Optimisation of parameters by sampling and refinement, on the unit cube.

use agon_game::Rng;
use rand::RngExt as _;

use super::polynomial::{CALLS, maximise_piece};

/// Returns `n` points that are spread over the unit cube of a dimension: equally distant ones with
/// both ends on an interval; otherwise the middle, the corners if they are few, and points of a
/// Halton sequence with a random shift.
pub(super) fn spread(dimension: usize, n: usize, rng: &mut Rng) -> Vec<Vec<f64>> {
    match (dimension, n) {
        (_, 0) => return Vec::new(),
        (0, _) => return vec![Vec::new()],
        (_, 1) => return vec![vec![0.5; dimension]],
        (1, _) => return (0..n).map(|i| vec![i as f64 / (n - 1) as f64]).collect(),
        _ => {}
    }
    let mut points = vec![vec![0.5; dimension]];
    if dimension < 16 && 1 << dimension <= n / 2 {
        let corner = |bits: usize| (0..dimension).map(|i| f64::from(bits >> i & 1 == 1)).collect();
        points.extend((0..1 << dimension).map(corner));
    }
    let shift: Vec<f64> = (0..dimension).map(|_| rng.random()).collect();
    for index in 1..=n.saturating_sub(points.len()) {
        let coordinate = |axis: usize| {
            // There are only so many small primes. Further axes are drawn at random.
            match PRIMES.get(axis) {
                Some(&base) => radical_inverse(index, base),
                None => rng.random(),
            }
        };
        let mut point: Vec<f64> = (0..dimension).map(coordinate).collect();
        point.iter_mut().zip(&shift).for_each(|(x, by)| *x = (*x + by) % 1.0);
        points.push(point);
    }
    points
}

const PRIMES: [usize; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

/// Returns the digits of a number after the point in reverse order (van der Corput sequence).
fn radical_inverse(mut index: usize, base: usize) -> f64 {
    let (mut inverse, mut digit) = (0.0, 1.0);
    while index > 0 {
        digit /= base as f64;
        inverse += digit * (index % base) as f64;
        index /= base;
    }
    inverse
}

/// A point with its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found {
    pub(super) point: Vec<f64>,
    pub(super) value: f64,
}

/// Improves a point within about `radius` of it in each coordinate, by at most `max_calls` calls of
/// `f`, which returns `None` where no value is known. The result is never worse than the start.
///
/// Where the objective is a polynomial along a coordinate, its maximum is computed from a few values
/// (see [`maximise_piece`]). Elsewhere this is golden section search on an interval, which finds the
/// maximum if there is only one within the radius, and pattern search in more dimensions (Hooke &
/// Jeeves 1961), which needs no derivatives.
pub(super) fn refine(
    start: Found,
    radius: f64,
    max_calls: usize,
    mut f: impl FnMut(&[f64]) -> Option<f64>,
) -> Found {
    let mut best = start;
    let mut n_calls = 0;
    let dimension = best.point.len();
    let mut n_polynomial = 0;
    // One coordinate after the other, as long as the objective is a polynomial along them.
    for axis in 0..dimension {
        if n_calls + 2 * CALLS > max_calls {
            break;
        }
        let x = best.point[axis];
        let piece = ((x - radius).max(0.0), (x + radius).min(1.0));
        n_calls += CALLS;
        if !maximise_piece(&mut best, axis, piece, &mut f) {
            break;
        }
        n_polynomial += 1;
    }
    if n_polynomial == 1 && dimension == 1 {
        return best;
    }
    let max_calls = max_calls - n_calls;
    if dimension == 1 {
        // The points of a piece are at most 0.4 times its radius apart, so the search goes on
        // between the neighbours of the best one.
        let radius = if n_calls > 0 { 0.4 * radius } else { radius };
        golden_section(best, radius, max_calls, &mut f)
    } else {
        pattern_search(best, radius, max_calls, &mut f)
    }
}

/// Steps below this share of an interval are not tried.
const SMALLEST_STEP: f64 = 1e-7;

fn golden_section(
    start: Found,
    radius: f64,
    max_calls: usize,
    f: &mut dyn FnMut(&[f64]) -> Option<f64>,
) -> Found {
    // The inverse of the golden ratio.
    const SHARE: f64 = 0.618_033_988_749_894_9;
    let (mut low, mut high) =
        ((start.point[0] - radius).max(0.0), (start.point[0] + radius).min(1.0));
    let mut best = start;
    let mut n_calls = 0;
    let mut probe = |x: f64, best: &mut Found| {
        n_calls += 1;
        let value = f(&[x]).unwrap_or(f64::NEG_INFINITY);
        if value > best.value {
            *best = Found { point: vec![x], value };
        }
        (x, value, n_calls)
    };
    if max_calls < 2 {
        return best;
    }
    let mut left = probe(high - SHARE * (high - low), &mut best);
    let mut right = probe(low + SHARE * (high - low), &mut best);
    while left.2.max(right.2) < max_calls && high - low > SMALLEST_STEP {
        if left.1 >= right.1 {
            high = right.0;
            right = left;
            left = probe(high - SHARE * (high - low), &mut best);
        } else {
            low = left.0;
            left = right;
            right = probe(low + SHARE * (high - low), &mut best);
        }
    }
    best
}

fn pattern_search(
    start: Found,
    radius: f64,
    max_calls: usize,
    f: &mut dyn FnMut(&[f64]) -> Option<f64>,
) -> Found {
    let mut best = start;
    let (mut step, mut n_calls) = (radius, 0);
    while step > SMALLEST_STEP && n_calls < max_calls {
        let base = best.point.clone();
        for axis in 0..base.len() {
            for direction in [1.0, -1.0] {
                let mut point = best.point.clone();
                point[axis] = (point[axis] + direction * step).clamp(0.0, 1.0);
                if n_calls >= max_calls || point[axis] == best.point[axis] {
                    continue;
                }
                n_calls += 1;
                if let Some(value) = f(&point).filter(|&value| value > best.value) {
                    best = Found { point, value };
                    break;
                }
            }
        }
        if best.point == base {
            step /= 2.0;
            continue;
        }
        // The same way once more, because a good direction usually stays good.
        let further: Vec<f64> = best
            .point
            .iter()
            .zip(&base)
            .map(|(now, before)| (2.0 * now - before).clamp(0.0, 1.0))
            .collect();
        if n_calls < max_calls && further != best.point {
            n_calls += 1;
            if let Some(value) = f(&further).filter(|&value| value > best.value) {
                best = Found { point: further, value };
            }
        }
    }
    best
}
