//! Beam search for formulas by minimum description length.
//!
//! Values are described by a linear model and its errors, where `n` errors with the sum of squares
//! `s` take `n/2 log2 s` bits and a constant. A formula saves `n/2 log2(s / s')` bits if it leaves
//! `s'`, and costs its own description and half of `log2 n` for its weight (Rissanen 1978). Here `n`
//! is the number of independent positions: those of one play say much the same, and if each counted
//! in full, formulas would describe single plays.

use std::collections::BTreeSet;
use std::time::Instant;

use super::ConceptOptions;
use super::board::Board;
use super::formula::{Class, Concept, Direction, Literal, Local, MAX_COUNT, Relation};
use super::positions::Labelled;

/// Maximum number of statements in a formula, and how deep they are nested.
const MAX_STATEMENTS: usize = 7;
const MAX_DEPTH: usize = 4;
/// Rounds of the beam search without a better formula before it ends.
const MAX_IDLE: usize = 2;

/// Finds concepts one after another, each with the bits that it saves. Returns them with the number
/// of formulas that were tried, and whether the deadline ended the search.
pub(super) fn find(
    board: &Board,
    positions: &Labelled,
    options: &ConceptOptions,
    deadline: Option<Instant>,
) -> (Vec<(Concept, f64)>, usize, bool) {
    let mut found = Vec::new();
    let mut n_tried = 0;
    let mut rest = Rest::new(&positions.values, positions.n_independent());
    while found.len() < options.n_concepts {
        let mut beam = Beam { board, positions, rest: &rest, options, deadline, n_tried: 0 };
        let best = beam.run();
        n_tried += beam.n_tried;
        if deadline.is_some_and(|end| Instant::now() >= end) {
            return (found, n_tried, true);
        }
        let Some((saved, local)) = best else { break };
        let concept = Concept(local);
        rest.explain(&positions.column(board, &concept));
        found.push((concept, saved));
    }
    (found, n_tried, false)
}

/// What is left to explain: errors, and the directions that are explained already.
struct Rest {
    errors: Vec<f64>,
    /// The number of positions that count as independent.
    n_independent: usize,
    /// Orthogonal unit vectors; the first is the constant one.
    basis: Vec<Vec<f64>>,
}

impl Rest {
    fn new(values: &[f64], n_independent: usize) -> Rest {
        let mut rest = Rest { errors: values.to_vec(), n_independent, basis: Vec::new() };
        rest.explain(&vec![1.0; values.len()]);
        rest
    }

    /// Returns the part of a column that is not explained by the others.
    fn new_part(&self, column: &[f64]) -> Vec<f64> {
        let mut left = column.to_vec();
        for direction in &self.basis {
            let part = product(&left, direction);
            left.iter_mut().zip(direction).for_each(|(x, d)| *x -= part * d);
        }
        left
    }

    fn explain(&mut self, column: &[f64]) {
        let mut left = self.new_part(column);
        let length = product(&left, &left).sqrt();
        if length > LEAST_LENGTH {
            left.iter_mut().for_each(|x| *x /= length);
            let part = product(&self.errors, &left);
            self.errors.iter_mut().zip(&left).for_each(|(x, d)| *x -= part * d);
            self.basis.push(left);
        }
    }

    /// Returns the bits that a column saves.
    fn saved(&self, column: &[f64]) -> f64 {
        let left = self.new_part(column);
        let length = product(&left, &left);
        let before = product(&self.errors, &self.errors);
        if length <= LEAST_LENGTH * LEAST_LENGTH || before <= LEAST_LENGTH {
            return 0.0;
        }
        let part = product(&self.errors, &left);
        // Values are known to a thousandth at best, so errors are never described more finely.
        let n = column.len() as f64;
        let after = (before - part * part / length).max(1e-6 * n);
        let n_independent = self.n_independent as f64;
        n_independent / 2.0 * libm::log2(before.max(1e-6 * n) / after)
            - libm::log2(n_independent) / 2.0
    }
}

/// Columns shorter than this are explained by the others up to rounding.
const LEAST_LENGTH: f64 = 1e-6;

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

struct Beam<'a> {
    board: &'a Board,
    positions: &'a Labelled,
    rest: &'a Rest,
    options: &'a ConceptOptions,
    deadline: Option<Instant>,
    n_tried: usize,
}

impl Beam<'_> {
    /// Returns the best formula with the bits that it saves, if it saves any.
    fn run(&mut self) -> Option<(f64, Local)> {
        let mut seen: BTreeSet<Local> = BTreeSet::new();
        let mut beam: Vec<(f64, Local)> = Vec::new();
        for class in Class::ALL {
            let local = Local::is(class);
            seen.insert(local.clone());
            beam.push((self.score(&local), local));
        }
        let mut best = self.better(None, &beam);
        let mut n_idle = 0;
        for _ in 1..MAX_STATEMENTS {
            let mut next: Vec<(f64, Local)> = Vec::new();
            for (_, local) in &beam {
                for longer in extensions(local, 0) {
                    if self.deadline.is_some_and(|end| Instant::now() >= end) {
                        return best;
                    }
                    if seen.insert(longer.clone()) {
                        next.push((self.score(&longer), longer));
                    }
                }
            }
            // The sort is stable, so equal scores keep the order in which formulas were made.
            next.sort_by(|a, b| b.0.total_cmp(&a.0));
            next.truncate(self.options.beam.max(1));
            let before = best.as_ref().map(|(score, _)| *score);
            best = self.better(best, &next);
            n_idle = if best.as_ref().map(|(score, _)| *score) == before { n_idle + 1 } else { 0 };
            if n_idle >= MAX_IDLE || next.is_empty() {
                break;
            }
            beam = next;
        }
        best
    }

    fn better(&self, best: Option<(f64, Local)>, beam: &[(f64, Local)]) -> Option<(f64, Local)> {
        let mut best = best;
        for (score, local) in beam {
            if *score > best.as_ref().map_or(0.0, |(score, _)| *score) {
                best = Some((*score, local.clone()));
            }
        }
        best
    }

    fn score(&mut self, local: &Local) -> f64 {
        self.n_tried += 1;
        let column = self.positions.column(self.board, &Concept(local.clone()));
        self.rest.saved(&column) - local.bits()
    }
}

/// Returns all formulas that say one thing more.
fn extensions(local: &Local, depth: usize) -> Vec<Local> {
    let mut longer = Vec::new();
    let mut add = |literal: Literal| {
        let mut literals = local.0.clone();
        literals.push(literal);
        literals.sort_unstable();
        if literals.windows(2).all(|pair| pair[0] != pair[1]) {
            longer.push(Local(literals));
        }
    };
    let has_class = local.0.iter().any(|literal| matches!(literal, Literal::Is(_)));
    if !has_class {
        Class::ALL.into_iter().for_each(|class| add(Literal::Is(class)));
    }
    for direction in Direction::ALL {
        let is_used = local.0.iter().any(|literal| match literal {
            Literal::Step(other, _) | Literal::Edge(other) => *other == direction,
            Literal::Is(_) | Literal::AtLeast(..) | Literal::No(..) => false,
        });
        if !is_used {
            // Corners of an edge say no more than the edge of both directions.
            if matches!(
                direction,
                Direction::Right | Direction::Left | Direction::Up | Direction::Down
            ) {
                add(Literal::Edge(direction));
            }
            if depth + 1 < MAX_DEPTH {
                for class in Class::ALL {
                    add(Literal::Step(direction, Local::is(class)));
                }
            }
        }
    }
    if depth + 1 < MAX_DEPTH {
        for relation in Relation::ALL {
            for class in Class::ALL {
                (1..=MAX_COUNT).for_each(|n| add(Literal::AtLeast(n, relation, Local::is(class))));
                add(Literal::No(relation, Local::is(class)));
            }
        }
    }
    // Something more about a related cell.
    for (at, literal) in local.0.iter().enumerate() {
        let (inner, make): (&Local, &dyn Fn(Local) -> Literal) = match literal {
            Literal::Is(_) | Literal::Edge(_) => continue,
            Literal::Step(direction, inner) => (inner, &|inner| Literal::Step(*direction, inner)),
            Literal::AtLeast(n, relation, inner) => {
                (inner, &|inner| Literal::AtLeast(*n, *relation, inner))
            }
            Literal::No(relation, inner) => (inner, &|inner| Literal::No(*relation, inner)),
        };
        for inner in extensions(inner, depth + 1) {
            let mut literals = local.0.clone();
            literals[at] = make(inner);
            literals.sort_unstable();
            longer.push(Local(literals));
        }
    }
    longer
}

/// A linear model of values by columns.
pub(super) struct Columns {
    mean: f64,
    means: Vec<f64>,
    /// By column: its weight beside the others.
    pub(super) weights: Vec<f64>,
    /// By column: its weight if it were alone.
    pub(super) slopes: Vec<f64>,
}

/// The penalty of a weight, as that of so many positions with a deviation of one.
const PENALTY: f64 = 1.0;

impl Columns {
    /// Fits weights by least squares with a small penalty.
    pub(super) fn fit(columns: &[Vec<f64>], values: &[f64]) -> Columns {
        let n = values.len().max(1) as f64;
        let mean_of = |numbers: &[f64]| numbers.iter().sum::<f64>() / n;
        let mean = mean_of(values);
        let means: Vec<f64> = columns.iter().map(|column| mean_of(column)).collect();
        let centred: Vec<Vec<f64>> = columns
            .iter()
            .zip(&means)
            .map(|(column, mean)| column.iter().map(|x| x - mean).collect())
            .collect();
        let rest: Vec<f64> = values.iter().map(|value| value - mean).collect();
        let right: Vec<f64> = centred.iter().map(|column| product(column, &rest)).collect();
        let slopes = centred
            .iter()
            .zip(&right)
            .map(|(column, right)| right / (product(column, column) + PENALTY))
            .collect();
        let k = columns.len();
        let mut matrix = vec![0.0; k * k];
        for i in 0..k {
            for j in 0..=i {
                matrix[i * k + j] = product(&centred[i], &centred[j]);
            }
            matrix[i * k + i] += PENALTY;
        }
        let weights = crate::combination::solved(&mut matrix, right);
        Columns { mean, means, weights, slopes }
    }

    /// Returns the part of the variance of values that the model explains.
    pub(super) fn explained(&self, columns: &[Vec<f64>], values: &[f64]) -> f64 {
        let n = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / n;
        let (mut left, mut all) = (0.0, 0.0);
        for (at, value) in values.iter().enumerate() {
            let parts = columns.iter().zip(&self.means).zip(&self.weights);
            let sum: f64 = parts.map(|((column, mean), weight)| weight * (column[at] - mean)).sum();
            left += (value - self.mean - sum) * (value - self.mean - sum);
            all += (value - mean) * (value - mean);
        }
        if all > 0.0 { 1.0 - left / all } else { 0.0 }
    }
}
