//! The choices that players have at a position: families of moves with real parameters.

use agon_reals::real::Real;
use agon_structures::structure::Element;

use super::embedding::Embedding;
use super::moves::{EdgeId, Move, Numbers};
use crate::arena::{ArenaRule, Edge};

/// A discrete choice with the intervals of its real parameters.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) edge: EdgeId,
    pub(super) elements: Embedding,
    /// The intervals of the numbers that the player chooses.
    pub(super) intervals: Vec<(f64, f64)>,
}

impl Choice {
    /// Returns the move with these numbers, if they lie within their intervals.
    pub(super) fn with(&self, numbers: &[f64]) -> Option<Move> {
        let fits = numbers.len() == self.intervals.len()
            && numbers.iter().zip(&self.intervals).all(|(x, (low, high))| low <= x && x <= high);
        fits.then(|| Move::Apply {
            edge: self.edge,
            elements: self.elements.clone(),
            numbers: Numbers::from(numbers.to_vec()),
        })
    }

    /// Returns a finite sample of the numbers: ends, middles and, for few numbers, a grid.
    pub(super) fn sample(&self) -> Vec<Vec<f64>> {
        let grid = |n_points: usize| {
            let at = |(low, high): (f64, f64), point: usize| {
                let share = point as f64 / (n_points - 1) as f64;
                (low + share * (high - low)).clamp(low, high)
            };
            self.intervals.iter().fold(vec![Vec::new()], |rows: Vec<Vec<f64>>, &interval| {
                let longer = rows.into_iter().flat_map(|row| {
                    (0..n_points).map(move |point| [&row[..], &[at(interval, point)]].concat())
                });
                longer.collect()
            })
        };
        let middle: Vec<f64> = self.intervals.iter().map(|(l, h)| l + (h - l) / 2.0).collect();
        let mut rows = match self.intervals.len() {
            0 => return vec![Vec::new()],
            1 => grid(5),
            2 => grid(3),
            3 | 4 => {
                let mut rows = grid(2);
                rows.push(middle);
                rows
            }
            n => {
                let mut rows = vec![middle.clone()];
                for place in 0..n {
                    for end in [self.intervals[place].0, self.intervals[place].1] {
                        let mut row = middle.clone();
                        row[place] = end;
                        rows.push(row);
                    }
                }
                rows
            }
        };
        rows.sort_by(|a, b| Numbers::from(a.clone()).cmp(&Numbers::from(b.clone())));
        rows.dedup();
        rows
    }
}

/// Returns whether the player chooses the duration of a move.
pub(super) fn chooses_time(edge: &Edge) -> bool {
    edge.time.0 != edge.time.1
}

/// Returns the names of the numbers that a player chooses, in the order of the move's numbers.
pub(super) fn chosen_names(edge: &Edge, rule: &ArenaRule) -> Vec<String> {
    let time = chooses_time(edge).then(|| "t".to_owned());
    let parameters = rule
        .parameters
        .iter()
        .zip(&edge.parameters)
        .filter(|(_, interval)| interval.0 != interval.1)
        .map(|(name, _)| name.name().trim_start_matches(':').to_owned());
    time.into_iter().chain(parameters).collect()
}

/// Returns the real number that a number of a move stands for: the shortest decimal that denotes
/// the `f64`, so that 0.1 in a move is exactly one tenth.
pub(super) fn decimal(number: f64) -> Real {
    match format!("{number}").parse::<agon_reals::rational::Rational>() {
        Ok(exact) => Real::Exact(exact).shrunk(),
        Err(_) => Real::from_f64(number),
    }
}

/// Maximum number of sets of embeddings that are listed as moves. Any other set is legal too.
pub(super) const MAX_SETS: usize = 256;
/// Maximum number of sets of embeddings whose post-condition is tried.
pub(super) const MAX_TRIED_SETS: usize = 4096;

/// Returns sets of embeddings without common elements, at most so many and small ones first. The
/// embeddings of a set follow one another in one list of elements.
pub(super) fn disjoint_sets(embeddings: &[Embedding], max_sets: usize) -> Vec<Embedding> {
    let mut sets: Vec<Embedding> = Vec::new();
    // Each entry: the index of the last embedding and the elements so far.
    let mut layer: Vec<(usize, Vec<Element>)> =
        embeddings.iter().enumerate().map(|(place, e)| (place, e.to_vec())).collect();
    while !layer.is_empty() && sets.len() < max_sets {
        let mut next = Vec::new();
        for (last, elements) in layer {
            for (place, embedding) in embeddings.iter().enumerate().skip(last + 1) {
                if sets.len() + next.len() >= max_sets {
                    break;
                }
                if !embedding.iter().any(|element| elements.contains(element)) {
                    next.push((place, [&elements[..], embedding].concat()));
                }
            }
            if sets.len() < max_sets {
                sets.push(Embedding::from(&elements[..]));
            }
        }
        layer = next;
    }
    sets.sort();
    sets
}
