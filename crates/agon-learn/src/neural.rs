//! A small neural network over the facts of a state, learnt like pattern tables.
//!
//! The inputs are the facts that hold, so the first layer is a sum of rows of weights, which
//! changes by a few rows from a state to its child. One hidden layer with a clipped linear
//! activation and one output follow. [`crate::quantised`] evaluates the same network in integers.
//!
//! Weights are a flat list: by row the weights to all hidden units, then the biases of the hidden
//! units, their weights to the output, and the bias of the output.

use agon_game::Rng;
use rand::RngExt as _;

use crate::network::for_each_bit;
use crate::units::holds;
use crate::weights::{Head, Weights};

/// The fixed part of a neural network: which row each fact selects.
///
/// If two players can be exchanged by a symmetry, a state in which the second one is to move is
/// seen through that symmetry, and its value has the opposite sign.
///
/// Invariants: every list of rows has one row below `n_rows` for each fact; there are at most two
/// perspectives, one more than there are facts in `turn`; there is a sign for each perspective, and
/// those of two perspectives are opposite.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Neural {
    pub(crate) n_hidden: usize,
    pub(crate) n_rows: usize,
    /// The activation of a hidden unit is its sum, but at least 0 and at most this.
    pub(crate) ceiling: f32,
    /// By perspective and fact: its row.
    pub(crate) rows: Vec<Vec<u32>>,
    /// By perspective: the sign with which the output counts for the first player.
    pub(crate) signs: Vec<f32>,
    /// The fact that holds if a state is seen from the second perspective.
    pub(crate) turn: Option<u32>,
    /// Symmetries of the board, by row: its image. Learning sees each state through one of them.
    pub(crate) symmetries: Vec<Vec<u32>>,
}

/// Number of hidden units.
pub(crate) const N_HIDDEN: usize = 64;
/// Maximum number of rows. Sums of rounded weights then stay within 16 bits.
pub(crate) const MAX_ROWS: usize = 1 << 14;
/// Maximum number of hidden units of a network that comes from elsewhere.
pub(crate) const MAX_HIDDEN: usize = 1 << 12;
/// Largest absolute value of a weight. Integers that stand for larger ones would not be exact.
pub(crate) const MAX_WEIGHT: f32 = 64.0;
/// An upper end of the activation that is never reached.
pub(crate) const NO_CEILING: f32 = 1e5;
/// The spread of the sum of a hidden unit before learning.
const SPREAD: f32 = 0.35;

impl Neural {
    /// Returns a network for a game. `exchange` has the fact that says that the second player is to
    /// move, and the symmetry of facts that exchanges the players.
    pub(crate) fn new(
        n_facts: usize,
        exchange: Option<(u32, &[u32])>,
        symmetries: Vec<Vec<u32>>,
    ) -> Neural {
        let own: Vec<u32> = (0..n_facts as u32).collect();
        let (mut rows, mut signs) = (vec![own], vec![1.0]);
        if let Some((_, images)) = exchange {
            rows.push(images.to_vec());
            signs.push(-1.0);
        }
        Neural {
            n_hidden: N_HIDDEN,
            n_rows: n_facts,
            ceiling: 1.0,
            rows,
            signs,
            turn: exchange.map(|(turn, _)| turn),
            symmetries,
        }
    }

    /// Returns the number of weights.
    pub(crate) fn n_weights(&self) -> usize {
        (self.n_rows + 2) * self.n_hidden + 1
    }

    /// Index of the first bias of a hidden unit.
    pub(crate) fn biases(&self) -> usize {
        self.n_rows * self.n_hidden
    }

    /// Index of the first weight to the output.
    pub(crate) fn outputs(&self) -> usize {
        (self.n_rows + 1) * self.n_hidden
    }

    /// Returns the number of the perspective of a state.
    #[inline]
    pub(crate) fn perspective(&self, words: &[u64]) -> usize {
        usize::from(self.turn.is_some_and(|turn| holds(words, turn)))
    }

    /// Returns random weights to begin with. `n_active` is the number of facts that hold at a time.
    pub(crate) fn initial_weights(&self, n_active: usize, rng: &mut Rng) -> Vec<f32> {
        // The variance of a uniform number from -r to r is r² / 3.
        let first = SPREAD * libm::sqrtf(3.0 / n_active.max(1) as f32);
        let last = 1.0 / libm::sqrtf(self.n_hidden as f32);
        let mut draw = |range: f32| range * (2.0 * rng.random::<f32>() - 1.0);
        let mut weights: Vec<f32> = (0..self.biases()).map(|_| draw(first)).collect();
        weights.extend((0..self.n_hidden).map(|_| 0.4 + draw(0.3)));
        weights.extend((0..self.n_hidden).map(|_| draw(last)));
        weights.push(0.0);
        weights
    }

    /// Returns the network for facts in another order. `to` has the new number of each fact.
    pub(crate) fn reordered(&self, to: &[u32]) -> Neural {
        let moved = |rows: &Vec<u32>| {
            let mut moved = vec![0; rows.len()];
            for (&to, &row) in to.iter().zip(rows) {
                moved[to as usize] = row;
            }
            moved
        };
        Neural {
            rows: self.rows.iter().map(moved).collect(),
            turn: self.turn.map(|fact| to[fact as usize]),
            ..self.clone()
        }
    }

    /// Returns the part of the output that the hidden units make.
    fn output<W: Weights + ?Sized>(&self, weights: &W, hidden: &[f32]) -> f32 {
        let first = self.outputs();
        let weight = |unit: usize| weights.weight((first + unit) as u32);
        let sum: f32 = hidden
            .iter()
            .enumerate()
            .map(|(unit, sum)| sum.clamp(0.0, self.ceiling) * weight(unit))
            .sum();
        sum + weight(self.n_hidden)
    }

    /// Adds a row to the sums of the hidden units, or takes it away.
    fn add_row<W: Weights + ?Sized>(&self, weights: &W, row: u32, sign: f32, hidden: &mut [f32]) {
        let first = row as usize * self.n_hidden;
        for (unit, sum) in hidden.iter_mut().enumerate() {
            *sum += sign * weights.weight((first + unit) as u32);
        }
    }

    /// Replaces `hidden` by the sums of the hidden units at a state.
    fn sums<W: Weights + ?Sized>(&self, weights: &W, rows: &[u32], hidden: &mut Vec<f32>) {
        let biases = self.biases();
        hidden.clear();
        hidden.extend((0..self.n_hidden).map(|unit| weights.weight((biases + unit) as u32)));
        for &row in rows {
            self.add_row(weights, row, 1.0, hidden);
        }
    }

    /// Returns the output at a state in floating point, with its sign for the first player. The
    /// slow twin of everything else.
    #[cfg(test)]
    pub(crate) fn plain_output(&self, weights: &[f32], words: &[u64]) -> f32 {
        let number = self.perspective(words);
        let mut rows = Vec::new();
        for_each_bit(words.iter().copied(), |fact| rows.push(self.rows[number][fact]));
        let mut hidden = Vec::new();
        self.sums(weights, &rows, &mut hidden);
        self.signs[number] * self.output(weights, &hidden)
    }
}

/// Memory for learning and for the values of the children of a state.
#[derive(Clone, Debug, Default)]
pub(crate) struct NeuralScratch {
    parent: Vec<u64>,
    /// By perspective: the sums of the hidden units at the parent, if they are known.
    seen: [Option<Vec<f32>>; 2],
    hidden: Vec<f32>,
    rows: Vec<u32>,
}

impl NeuralScratch {
    /// Sets the state whose children are evaluated next.
    pub(crate) fn set_parent(&mut self, words: &[u64]) {
        self.parent.clear();
        self.parent.extend_from_slice(words);
        self.seen = [None, None];
    }

    /// Returns the output at a state for the first player. Only facts that differ from those of the
    /// parent are looked up.
    pub(crate) fn sum<W: Weights + ?Sized>(
        &mut self,
        net: &Neural,
        weights: &W,
        words: &[u64],
    ) -> f32 {
        let number = net.perspective(words);
        let rows = &net.rows[number];
        let NeuralScratch { parent, seen, hidden, rows: active } = self;
        let at_parent = seen[number].get_or_insert_with(|| {
            active.clear();
            for_each_bit(parent.iter().copied(), |fact| active.push(rows[fact]));
            let mut sums = Vec::new();
            net.sums(weights, active, &mut sums);
            sums
        });
        hidden.clone_from(at_parent);
        let changed = words.iter().zip(parent.iter()).map(|(child, parent)| child ^ parent);
        for_each_bit(changed, |fact| {
            let sign = if holds(words, fact as u32) { 1.0 } else { -1.0 };
            net.add_row(weights, rows[fact], sign, hidden);
        });
        net.signs[number] * net.output(weights, hidden)
    }

    /// Moves the value of a state towards a target by one step of gradient descent on the cross
    /// entropy. Returns the value before.
    pub(crate) fn learn(
        &mut self,
        net: &Neural,
        weights: Head<'_>,
        words: &[u64],
        target: f32,
        rate: f32,
        rng: &mut Rng,
    ) -> f32 {
        let number = net.perspective(words);
        let NeuralScratch { hidden, rows: active, .. } = self;
        active.clear();
        for_each_bit(words.iter().copied(), |fact| active.push(net.rows[number][fact]));
        // One choice more than there are symmetries: the state as it is.
        if !net.symmetries.is_empty()
            && let Some(images) = net.symmetries.get(rng.random_range(0..=net.symmetries.len()))
        {
            active.iter_mut().for_each(|row| *row = images[*row as usize]);
        }
        net.sums(&weights, active, hidden);
        let value = crate::train::logistic(net.signs[number] * net.output(&weights, hidden));
        let step = rate * net.signs[number] * (target - value);
        let (biases, outputs) = (net.biases(), net.outputs());
        for (unit, sum) in hidden.iter_mut().enumerate() {
            let weight = weights.weight((outputs + unit) as u32);
            weights.add(outputs + unit, step * sum.clamp(0.0, net.ceiling));
            // From here on: the step of the sum. A unit that is off or full learns slowly, so that
            // it comes back.
            let slope = if *sum > 0.0 && *sum < net.ceiling { 1.0 } else { DEAD_SLOPE };
            *sum = step * weight * slope;
            weights.add(biases + unit, *sum);
        }
        weights.add(outputs + net.n_hidden, step);
        for &row in active.iter() {
            let first = row as usize * net.n_hidden;
            for (unit, step) in hidden.iter().enumerate() {
                weights.add(first + unit, *step);
            }
        }
        value
    }
}

/// The slope of the activation where it is constant, in learning only.
const DEAD_SLOPE: f32 = 0.02;

#[cfg(test)]
mod tests;
