//! Logistic regression with a penalty for large weights, by Newton's method.

use super::{Examples, Scales, squash};

/// Weights of features whose sum is the logarithm of the odds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Logistic {
    scales: Scales,
    bias: f64,
    /// By feature, in units of its standard deviation.
    weights: Vec<f64>,
}

/// The penalty of a weight, as that of so many positions. It keeps weights finite where the results
/// can be separated.
const PENALTY: f64 = 4.0;
/// Maximum number of steps, and the size of a step below which the weights are found.
const MAX_STEPS: usize = 50;
const SMALL_STEP: f64 = 1e-9;
/// Maximum size of a step, because Newton's method overshoots where all predictions are certain.
const MAX_STEP: f64 = 2.0;

impl Logistic {
    pub(super) fn fit(examples: &Examples<'_>) -> Logistic {
        let scales = Scales::of(examples);
        let n_features = scales.0.len();
        // The last column is the bias.
        let rows: Vec<Vec<f64>> = examples
            .rows
            .iter()
            .map(|row| {
                let scaled = row.iter().enumerate().map(|(at, &x)| scales.scaled(at, x));
                scaled.chain([1.0]).collect()
            })
            .collect();
        let n = n_features + 1;
        let mut weights = vec![0.0; n];
        for _ in 0..MAX_STEPS {
            let mut gradient: Vec<f64> = vec![0.0; n];
            let mut hessian = vec![0.0; n * n];
            for (row, result) in rows.iter().zip(&examples.results) {
                let value = squash(product(row, &weights));
                let slope = value * (1.0 - value);
                for (i, x) in row.iter().enumerate() {
                    gradient[i] += (result - value) * x;
                    let x = slope * x;
                    for (j, y) in row[..=i].iter().enumerate() {
                        hessian[i * n + j] += x * y;
                    }
                }
            }
            for i in 0..n_features {
                gradient[i] -= PENALTY * weights[i];
                hessian[i * n + i] += PENALTY;
            }
            // Without the smallest curvature, a bias of certain results has no solution.
            hessian[n * n - 1] += 1e-6;
            let step = solved(&mut hessian, gradient);
            let largest = step.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            let shrink = if largest > MAX_STEP { MAX_STEP / largest } else { 1.0 };
            weights.iter_mut().zip(&step).for_each(|(weight, step)| *weight += shrink * step);
            if largest < SMALL_STEP {
                break;
            }
        }
        let bias = weights.pop().unwrap_or(0.0);
        Logistic { scales, bias, weights }
    }

    /// Returns the logarithm of the odds.
    pub(super) fn sum(&self, features: &[f64]) -> f64 {
        let scaled = features.iter().enumerate().map(|(at, &x)| self.scales.scaled(at, x));
        self.bias + scaled.zip(&self.weights).map(|(x, weight)| x * weight).sum::<f64>()
    }

    pub(super) fn weight(&self, feature: usize) -> f64 {
        self.weights[feature]
    }

    pub(super) fn usual(&self, feature: usize) -> f64 {
        self.scales.0[feature].0
    }
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves a system of equations whose matrix is positive definite, by Cholesky's method. Only the
/// lower half of the matrix is read.
pub(crate) fn solved(matrix: &mut [f64], mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for i in 0..n {
        for j in 0..=i {
            let known: f64 = (0..j).map(|k| matrix[i * n + k] * matrix[j * n + k]).sum();
            let rest = matrix[i * n + j] - known;
            matrix[i * n + j] =
                if i == j { rest.max(f64::MIN_POSITIVE).sqrt() } else { rest / matrix[j * n + j] };
        }
    }
    for i in 0..n {
        let known: f64 = (0..i).map(|k| matrix[i * n + k] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i * n + i];
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| matrix[k * n + i] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i * n + i];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_solved() {
        // The upper half is not read.
        let mut matrix = vec![4.0, 99.0, 2.0, 3.0];
        let solution = solved(&mut matrix, vec![10.0, 8.0]);
        assert!((solution[0] - 1.75).abs() < 1e-12 && (solution[1] - 1.5).abs() < 1e-12);
    }

    #[test]
    fn the_gradient_is_zero_at_the_solution() {
        let rows: Vec<Vec<f64>> =
            (0..60).map(|n| vec![f64::from(n % 7), f64::from(n * n % 11), 5.0]).collect();
        let results: Vec<f64> = (0..60).map(|n| [0.0, 0.5, 1.0][(n % 7 + n / 9) % 3]).collect();
        let examples = Examples { rows: rows.iter().map(Vec::as_slice).collect(), results };
        let model = Logistic::fit(&examples);
        for feature in 0..2 {
            let errors = examples.rows.iter().zip(&examples.results).map(|(row, result)| {
                (result - squash(model.sum(row))) * model.scales.scaled(feature, row[feature])
            });
            let gradient = errors.sum::<f64>() - PENALTY * model.weights[feature];
            assert!(gradient.abs() < 1e-6, "feature {feature}: {gradient}");
        }
        assert_eq!(model.weight(2), 0.0, "a constant has no weight");
    }
}
