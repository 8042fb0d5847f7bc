//! The moves of a training set at one location, as examples to learn from.

use std::collections::BTreeMap;

use agon_toss::interpreter::Game;

use super::conjunction::{Conjunction, Matcher};
use super::training::{Sample, TrainingSet};
use super::view::{CannotView, View};

/// Maximum number of different payoff vectors of a lottery.
const MAX_OUTCOMES: usize = 16;

/// The moves that were made at one location.
#[derive(Clone, Debug)]
pub struct Examples {
    pub(super) view: View,
    /// The name of the location.
    pub location: String,
    /// The numbers of the players who choose there, without nature.
    pub movers: Vec<usize>,
    /// The payoff vectors that occur, by player without nature.
    pub(super) outcomes: Vec<Vec<f64>>,
    pub(super) moves: Vec<Example>,
}

/// A move with what followed.
#[derive(Clone, Debug)]
pub(super) struct Example {
    pub(super) before: Vec<u64>,
    pub(super) after: Vec<u64>,
    /// Moves from the same state have the same number.
    pub(super) siblings: usize,
    /// By payoff vector: the share of plays.
    pub(super) shares: Vec<f64>,
    /// The mean payoff of the players who choose.
    pub(super) value: f64,
}

/// A sample, with the bits of its states before and after the move.
type Packed<'s> = (&'s Sample, [Vec<u64>; 2]);

impl Examples {
    /// Returns the examples of each location at which a player chooses and that has any.
    ///
    /// # Errors
    /// [`CannotView`] if the game is not of a kind for which formulas can be learnt.
    pub fn by_location(set: &TrainingSet, game: &Game) -> Result<Vec<Examples>, CannotView> {
        let view = View::new(game, set.facts())?;
        let arena = game.arena();
        let mut by_location: BTreeMap<usize, Vec<Packed<'_>>> = BTreeMap::new();
        for sample in &set.samples {
            let pair = [&sample.before, &sample.after].map(|facts| words(facts, view.n_words));
            if let Some(location) = view.location(&pair[0]) {
                by_location.entry(location).or_default().push((sample, pair));
            }
        }
        let mut all = Vec::new();
        for (location, samples) in by_location {
            let at = &arena.locations()[location];
            let players = (0..at.edges.len()).filter(|&player| Some(player) != arena.nature());
            let movers: Vec<usize> = players
                .enumerate()
                .filter(|(_, player)| !at.edges[*player].is_empty())
                .map(|(number, _)| number)
                .collect();
            if movers.is_empty() {
                continue;
            }
            let outcomes = frequent_outcomes(&samples);
            let mut groups: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
            let mut moves = Vec::new();
            for (sample, [before, after]) in samples {
                let n_groups = groups.len();
                let siblings = *groups.entry(before.clone()).or_insert(n_groups);
                let mut shares = vec![0.0; outcomes.len()];
                for (payoffs, n) in &sample.payoffs {
                    shares[nearest(&outcomes, payoffs)] += *n as f64;
                }
                let n_plays = sample.n_plays().max(1) as f64;
                shares.iter_mut().for_each(|share| *share /= n_plays);
                let value = movers.iter().map(|&player| sample.mean(player)).sum::<f64>()
                    / movers.len() as f64;
                moves.push(Example { before, after, siblings, shares, value });
            }
            let location = at.name.clone();
            all.push(Examples { view: view.clone(), location, movers, outcomes, moves });
        }
        Ok(all)
    }

    /// Returns the number of moves.
    pub fn len(&self) -> usize {
        self.moves.len()
    }

    /// Returns whether there are no moves.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// Returns those of the moves of which the conjunction holds.
    pub(super) fn select(&self, conjunction: &Conjunction, among: &[usize]) -> Vec<usize> {
        let matcher = Matcher::new(conjunction, &self.view);
        let holds = |&at: &usize| {
            let example = &self.moves[at];
            matcher.holds(&self.view, &example.before, &example.after)
        };
        among.iter().copied().filter(|at| holds(at)).collect()
    }

    /// Returns the mean of the shares of payoff vectors over moves, as outcomes of a lottery.
    pub(super) fn lottery(&self, moves: &[usize]) -> Vec<(Vec<f64>, f64)> {
        let share = |outcome: usize| -> f64 {
            moves.iter().map(|&at| self.moves[at].shares[outcome]).sum()
        };
        let outcomes = self.outcomes.iter().enumerate();
        outcomes.map(|(outcome, payoffs)| (payoffs.clone(), share(outcome))).collect()
    }

    /// Returns the mean payoff of the players who choose, over moves.
    pub(super) fn mean_value(&self, moves: &[usize]) -> f64 {
        let sum: f64 = moves.iter().map(|&at| self.moves[at].value).sum();
        sum / moves.len().max(1) as f64
    }
}

fn words(facts: &[u32], n_words: usize) -> Vec<u64> {
    let mut words = vec![0; n_words];
    for &fact in facts {
        words[fact as usize / 64] |= 1 << (fact % 64);
    }
    words
}

/// Returns the payoff vectors with the most plays, in a fixed order.
fn frequent_outcomes(samples: &[Packed<'_>]) -> Vec<Vec<f64>> {
    let mut counts: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
    for (payoffs, n) in samples.iter().flat_map(|(sample, _)| &sample.payoffs) {
        // Payoffs are finite, so bits can stand for them; adding 0 makes -0 the same as 0.
        let bits = payoffs.iter().map(|payoff| (payoff + 0.0).to_bits()).collect();
        *counts.entry(bits).or_default() += n;
    }
    let mut all: Vec<(u64, Vec<u64>)> = counts.into_iter().map(|(bits, n)| (n, bits)).collect();
    all.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    all.truncate(MAX_OUTCOMES);
    all.into_iter().map(|(_, bits)| bits.into_iter().map(f64::from_bits).collect()).collect()
}

fn nearest(outcomes: &[Vec<f64>], payoffs: &[f64]) -> usize {
    let distance = |known: &Vec<f64>| -> f64 {
        known.iter().zip(payoffs).map(|(a, b)| (a - b) * (a - b)).sum()
    };
    let all = outcomes.iter().enumerate();
    all.min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b))).map_or(0, |(at, _)| at)
}
