//! Maximisation along a line where the objective is a polynomial.
//!
//! Kaiser & Stafiniak (2010) keep payoffs as piecewise polynomials in the parameters of a move,
//! because their differential equations have polynomial solutions. Here the polynomial of a piece
//! is found from its values: a polynomial of degree 4 through five points is accepted if it
//! predicts a sixth. Its maximum is then exact, after seven values instead of dozens.

use super::optimise::Found;

/// The points of a piece, as shares of half its length from its middle. The polynomial goes through
/// all but [`CHECK`], at which it is tested.
const NODES: [f64; 6] = [-0.95, -0.6, -0.2, 0.2, 0.6, 0.95];
const CHECK: usize = 3;

/// Largest error of the prediction relative to the size of the values.
const TOLERANCE: f64 = 1e-8;

/// Number of values that one call needs at most.
pub(super) const CALLS: usize = NODES.len() + 1;

/// Maximises `f` along one coordinate between two bounds. Updates `best` by every value that is
/// better. Returns whether the objective is a polynomial there, so that `best` is its maximum.
pub(super) fn maximise_piece(
    best: &mut Found,
    axis: usize,
    (low, high): (f64, f64),
    f: &mut dyn FnMut(&[f64]) -> Option<f64>,
) -> bool {
    let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
    let base = best.point.clone();
    let mut probe = |share: f64, best: &mut Found| {
        let mut point = base.clone();
        point[axis] = (middle + half * share).clamp(low, high);
        let value = f(&point)?;
        if value > best.value {
            *best = Found { point, value };
        }
        Some(value)
    };
    let mut values = [0.0; NODES.len()];
    for (value, &node) in values.iter_mut().zip(&NODES) {
        match probe(node, best) {
            Some(found) if found.is_finite() => *value = found,
            _ => return false,
        }
    }
    let polynomial = Newton::through(&values);
    let size = values.iter().fold(1.0, |size: f64, value| size.max(value.abs()));
    if (polynomial.at(NODES[CHECK]) - values[CHECK]).abs() > TOLERANCE * size {
        return false;
    }
    let share = polynomial.arg_max();
    probe(share, best).is_some()
}

/// A polynomial of degree 4 in the form of Newton: divided differences at the nodes.
struct Newton {
    nodes: [f64; NODES.len() - 1],
    differences: [f64; NODES.len() - 1],
}

impl Newton {
    fn through(values: &[f64; NODES.len()]) -> Newton {
        const N: usize = NODES.len() - 1;
        let kept = |i: usize| if i < CHECK { i } else { i + 1 };
        let nodes: [f64; N] = std::array::from_fn(|i| NODES[kept(i)]);
        let mut differences: [f64; N] = std::array::from_fn(|i| values[kept(i)]);
        for order in 1..N {
            for i in (order..N).rev() {
                differences[i] =
                    (differences[i] - differences[i - 1]) / (nodes[i] - nodes[i - order]);
            }
        }
        Newton { nodes, differences }
    }

    fn at(&self, x: f64) -> f64 {
        let pairs = self.nodes.iter().zip(&self.differences).rev();
        pairs.fold(0.0, |sum, (node, difference)| sum * (x - node) + difference)
    }

    /// Returns where it is greatest from -1 to 1: the best of a grid, improved by golden section
    /// search between its neighbours. Evaluations of the polynomial are cheap.
    fn arg_max(&self) -> f64 {
        const GRID: usize = 64;
        let x = |i: usize| -1.0 + 2.0 * i as f64 / GRID as f64;
        let best = (0..=GRID).max_by(|&a, &b| self.at(x(a)).total_cmp(&self.at(x(b)))).unwrap_or(0);
        let (mut low, mut high) = (x(best.saturating_sub(1)), x((best + 1).min(GRID)));
        for _ in 0..80 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if self.at(a) < self.at(b) {
                low = a;
            } else {
                high = b;
            }
        }
        // An end of the piece may be better than what lies before it.
        let inside = (low + high) / 2.0;
        [-1.0, 1.0].into_iter().fold(
            inside,
            |best, end| {
                if self.at(end) > self.at(best) { end } else { best }
            },
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Found {
        Found { point: vec![0.5, 0.25], value: f64::NEG_INFINITY }
    }

    #[test]
    fn maxima_of_polynomials_are_exact_after_seven_values() {
        // The coefficients of degree 0 to 4, and where the polynomial is greatest from 0 to 1.
        let cases = [
            ([0.0, 1.0, -1.0, 0.0, 0.0], 0.5),
            ([2.0, 0.6, -1.0, 0.0, 0.0], 0.3),
            ([0.0, 3.0, 0.0, 0.0, 0.0], 1.0),
            ([1.0, -1.0, 0.0, 0.0, 0.0], 0.0),
            // The derivative 0.04 - 0.4 x ... of -(x - 0.2)^4 + 5 vanishes at 0.2.
            ([5.0 - 0.0016, 0.032, -0.24, 0.8, -1.0], 0.2),
        ];
        for (coefficients, wanted) in cases {
            let mut n_calls = 0;
            let mut f = |point: &[f64]| {
                n_calls += 1;
                assert_eq!(point[1], 0.25, "the other coordinates stay");
                Some(coefficients.iter().rev().fold(0.0, |sum, c| sum * point[0] + c))
            };
            let mut best = start();
            assert!(maximise_piece(&mut best, 0, (0.0, 1.0), &mut f), "{coefficients:?}");
            // A maximum of fourth order is flat: its place is known to the fourth root of rounding.
            let precision = if coefficients[4] == 0.0 { 1e-6 } else { 1e-3 };
            assert!((best.point[0] - wanted).abs() < precision, "{best:?}, not {wanted}");
            assert!(n_calls <= CALLS);
        }
    }

    #[test]
    fn other_objectives_are_recognised() {
        let wiggle = |point: &[f64]| Some(libm::sin(20.0 * point[0]));
        let kink = |point: &[f64]| Some(-(point[0] - 0.4).abs());
        for f in [&wiggle as &dyn Fn(&[f64]) -> Option<f64>, &kink] {
            let mut best = start();
            let mut calls = |point: &[f64]| f(point);
            assert!(!maximise_piece(&mut best, 0, (0.0, 1.0), &mut calls));
            assert!(best.value.is_finite(), "values on the way count");
        }
        let mut best = start();
        assert!(!maximise_piece(&mut best, 0, (0.0, 1.0), &mut |_| None));
    }
}
