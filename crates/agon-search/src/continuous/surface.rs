//! Estimated payoffs of joint actions, pooled over similar parameters by a polynomial.
//!
//! Single estimates from a few plays are noisy, and the largest of many is far too large. Payoffs
//! usually change smoothly with the parameters, so a polynomial is fitted to all estimates. Each
//! estimate then moves towards the polynomial, the more the noisier it is and the better the
//! polynomial fits (empirical Bayes, as in Efron & Morris 1975).

/// An estimate: the mean of some plays at a point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Estimate {
    pub(super) point: Vec<f64>,
    pub(super) mean: f64,
    /// Number of plays.
    pub(super) n: f64,
}

/// A polynomial that was fitted to estimates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Surface {
    degree: usize,
    coefficients: Vec<f64>,
    /// The variance of the payoff of one play.
    noise: f64,
    /// The variance of true payoffs around the polynomial.
    misfit: f64,
}

/// Maximum number of coefficients.
const MAX_TERMS: usize = 40;
/// Number of estimates for each coefficient below which a polynomial is not fitted.
const ESTIMATES_PER_TERM: usize = 2;

impl Surface {
    /// Fits a polynomial to estimates, of degree 3 if that has few coefficients, else 2 or 1.
    /// `noise` is the variance of the payoff of one play. Returns `None` if there are too few
    /// estimates.
    pub(super) fn fit(estimates: &[Estimate], noise: f64) -> Option<Surface> {
        let dimension = estimates.first()?.point.len();
        let enough = |&degree: &usize| {
            let n_terms = n_terms(dimension, degree);
            n_terms <= MAX_TERMS && n_terms * ESTIMATES_PER_TERM <= estimates.len()
        };
        let degree = [3, 2, 1].into_iter().find(enough)?;
        let n_terms = n_terms(dimension, degree);
        let mut normal = vec![vec![0.0; n_terms + 1]; n_terms];
        let mut terms = Vec::new();
        for estimate in estimates {
            monomials(&estimate.point, degree, &mut terms);
            for (row, term) in normal.iter_mut().zip(&terms) {
                for (cell, other) in row.iter_mut().zip(&terms) {
                    *cell += estimate.n * term * other;
                }
                row[n_terms] += estimate.n * term * estimate.mean;
            }
        }
        // A ridge keeps the system solvable if points lie on a curve of low degree.
        let total: f64 = estimates.iter().map(|estimate| estimate.n).sum();
        for (index, row) in normal.iter_mut().enumerate() {
            row[index] += 1e-6 * total;
        }
        let coefficients = solve(normal)?;
        let mut surface = Surface { degree, coefficients, noise, misfit: 0.0 };
        // The squared residuals exceed what noise explains by the misfit.
        let squares: f64 = estimates
            .iter()
            .map(|e| {
                let residual = e.mean - surface.at(&e.point);
                e.n * residual * residual
            })
            .sum();
        let n_free = (estimates.len() - n_terms).max(1) as f64;
        let excess = (squares - n_free * noise).max(0.0);
        surface.misfit = excess / total;
        surface.coefficients.iter().all(|c| c.is_finite()).then_some(surface)
    }

    fn at(&self, point: &[f64]) -> f64 {
        let mut terms = Vec::new();
        monomials(point, self.degree, &mut terms);
        self.coefficients.iter().zip(&terms).map(|(c, term)| c * term).sum()
    }

    /// Returns the best guess of the payoff at a point, given the estimate there.
    pub(super) fn pooled(&self, point: &[f64], mean: f64, n: f64) -> f64 {
        let own = self.noise / n.max(1.0);
        if own + self.misfit <= 0.0 {
            return mean;
        }
        let weight = self.misfit / (own + self.misfit);
        weight * mean + (1.0 - weight) * self.at(point)
    }
}

/// Returns the number of monomials up to a degree.
fn n_terms(dimension: usize, degree: usize) -> usize {
    (1..=degree).fold(1, |n, k| n * (dimension + k) / k)
}

/// Writes the monomials of a point up to a degree. Coordinates are centred, which is better
/// conditioned.
fn monomials(point: &[f64], degree: usize, terms: &mut Vec<f64>) {
    fn extend(point: &[f64], from: usize, left: usize, term: f64, terms: &mut Vec<f64>) {
        terms.push(term);
        if left > 0 {
            for axis in from..point.len() {
                extend(point, axis, left - 1, term * (2.0 * point[axis] - 1.0), terms);
            }
        }
    }
    terms.clear();
    extend(point, 0, degree, 1.0, terms);
}

/// Solves linear equations, given as rows with the right side last, by Gaussian elimination.
pub(super) fn solve(mut rows: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = rows.len();
    for column in 0..n {
        let size = |row: &usize| rows[*row][column].abs();
        let pivot = (column..n).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        rows.swap(column, pivot);
        if rows[column][column].abs() < 1e-300 {
            return None;
        }
        let head = rows[column].clone();
        for row in &mut rows[column + 1..] {
            let factor = row[column] / head[column];
            row.iter_mut().zip(&head).for_each(|(cell, above)| *cell -= factor * above);
        }
    }
    let mut solution = vec![0.0; n];
    for row in (0..n).rev() {
        let known: f64 = (row + 1..n).map(|column| rows[row][column] * solution[column]).sum();
        solution[row] = (rows[row][n] - known) / rows[row][row];
    }
    Some(solution)
}
