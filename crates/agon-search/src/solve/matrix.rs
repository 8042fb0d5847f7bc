//! Zero-sum matrix games: two players choose at the same time.

/// The solution of a matrix game.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixSolution {
    /// The value for the row player.
    pub value: f64,
    /// The probability of each row.
    pub rows: Vec<f64>,
    /// The probability of each column.
    pub columns: Vec<f64>,
}

/// Solves the game in which the row player maximises `payoffs[row * n_columns + column]` and the
/// column player minimises it. A pure solution is preferred to a mixed one.
///
/// Uses the simplex method over doubles, which is exact except for rounding. Bland's rule prevents
/// cycles.
///
/// # Panics
/// If the list is empty or its length is not a multiple of `n_columns`.
pub fn matrix_game(payoffs: &[f64], n_columns: usize) -> MatrixSolution {
    let n_rows = payoffs.len() / n_columns;
    assert!(n_rows > 0 && payoffs.len() == n_rows * n_columns, "a matrix has rows and columns");
    if let Some(saddle) = saddle_point(payoffs, n_columns) {
        return saddle;
    }
    // With payoffs shifted to at least 1, the value is positive, and the column player's problem is
    // the linear program: maximise the sum of y subject to A y <= 1, y >= 0. Then value = 1 / sum,
    // and the row player's problem is its dual.
    let least = payoffs.iter().copied().fold(f64::INFINITY, f64::min);
    let most = payoffs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let scale = most - least;
    let shifted =
        |row: usize, column: usize| 1.0 + (payoffs[row * n_columns + column] - least) / scale;
    let width = n_columns + n_rows + 1;
    let mut tableau = vec![0.0; (n_rows + 1) * width];
    let mut basis: Vec<usize> = (n_columns..n_columns + n_rows).collect();
    for row in 0..n_rows {
        for column in 0..n_columns {
            tableau[row * width + column] = shifted(row, column);
        }
        tableau[row * width + n_columns + row] = 1.0;
        tableau[row * width + width - 1] = 1.0;
    }
    for column in 0..n_columns {
        tableau[n_rows * width + column] = -1.0;
    }
    const TINY: f64 = 1e-11;
    // Bland's rule guarantees termination. The bound protects against effects of rounding.
    for _ in 0..10_000 {
        let objective = &tableau[n_rows * width..];
        let Some(entering) = (0..width - 1).find(|&column| objective[column] < -TINY) else {
            break;
        };
        let mut leaving: Option<(usize, f64)> = None;
        for row in 0..n_rows {
            let coefficient = tableau[row * width + entering];
            if coefficient > TINY {
                let ratio = tableau[row * width + width - 1] / coefficient;
                let is_better = leaving.is_none_or(|(other, least)| {
                    ratio < least - TINY || (ratio < least + TINY && basis[row] < basis[other])
                });
                if is_better {
                    leaving = Some((row, ratio));
                }
            }
        }
        let Some((pivot, _)) = leaving else { break };
        basis[pivot] = entering;
        let divisor = tableau[pivot * width + entering];
        for cell in &mut tableau[pivot * width..(pivot + 1) * width] {
            *cell /= divisor;
        }
        for row in (0..=n_rows).filter(|&row| row != pivot) {
            let factor = tableau[row * width + entering];
            if factor != 0.0 {
                for column in 0..width {
                    let delta = factor * tableau[pivot * width + column];
                    tableau[row * width + column] -= delta;
                }
            }
        }
    }
    let mut columns = vec![0.0; n_columns];
    for (row, &variable) in basis.iter().enumerate() {
        if variable < n_columns {
            columns[variable] = tableau[row * width + width - 1].max(0.0);
        }
    }
    let mut rows: Vec<f64> =
        (0..n_rows).map(|row| tableau[n_rows * width + n_columns + row].max(0.0)).collect();
    let total: f64 = columns.iter().sum();
    normalise(&mut columns);
    normalise(&mut rows);
    MatrixSolution { value: least + (1.0 / total - 1.0) * scale, rows, columns }
}

fn normalise(weights: &mut [f64]) {
    let total: f64 = weights.iter().sum();
    for weight in weights {
        *weight /= total;
    }
}

/// Returns a saddle point in pure strategies, if there is one.
fn saddle_point(payoffs: &[f64], n_columns: usize) -> Option<MatrixSolution> {
    let n_rows = payoffs.len() / n_columns;
    let row_least = |row: usize| {
        payoffs[row * n_columns..(row + 1) * n_columns]
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min)
    };
    let column_most = |column: usize| {
        (0..n_rows).map(|row| payoffs[row * n_columns + column]).fold(f64::NEG_INFINITY, f64::max)
    };
    let row = (0..n_rows).rev().max_by(|&a, &b| row_least(a).total_cmp(&row_least(b)))?;
    let column = (0..n_columns).min_by(|&a, &b| column_most(a).total_cmp(&column_most(b)))?;
    let value = row_least(row);
    if value < column_most(column) {
        return None;
    }
    let pure =
        |n: usize, chosen: usize| (0..n).map(|i| if i == chosen { 1.0 } else { 0.0 }).collect();
    Some(MatrixSolution { value, rows: pure(n_rows, row), columns: pure(n_columns, column) })
}
