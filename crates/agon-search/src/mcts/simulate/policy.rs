//! Move values that playouts learn from each other: MAST, PAST and NST.

use std::hash::Hash;

use agon_game::{Position, Rng, Role};
use hashbrown::HashTable;
use rand::RngExt;

use crate::mcts::average::Average;
use crate::mcts::facts::Facts;
use crate::mcts::hashing::mix;
use crate::mcts::numbering::Numbering;
use crate::mcts::options::{Choice, PlayoutPolicy};
use crate::mcts::select::draw;

/// Maximum number of contexts (n-grams, or pairs of fluent and move) with an average: 16 MB.
const MAX_ENTRIES: usize = 1 << 20;

/// The values of moves, and how they are turned into choices. Each thread has its own.
pub(crate) struct Policy<M> {
    rule: PlayoutPolicy,
    choice: Choice,
    min: f64,
    range: f64,
    numbering: Numbering<M>,
    /// By number of a move: its mean payoff, scaled to 0..100.
    averages: Vec<Average>,
    /// By number of a move: exp(value / temperature), relative to a value of 100.
    weights: Vec<f64>,
    /// Averages by n-gram, or by pair of fluent and move.
    contexts: Contexts,
    /// The fluents that are true where a move is chosen.
    features: Vec<u32>,
    /// The hashes of the moves of the last two steps, newest first.
    before: [u64; 2],
    /// The moves of the present playout.
    made: Vec<Made>,
    made_features: Vec<u32>,
    numbers: Vec<u32>,
}

/// A move that was made, with its context.
struct Made {
    role: Role,
    number: u32,
    before: [u64; 2],
    features: std::ops::Range<usize>,
}

impl<M: Clone + Eq + Hash> Policy<M> {
    pub(crate) fn new(rule: PlayoutPolicy, choice: Choice, facts: &Facts) -> Policy<M> {
        Policy {
            rule,
            choice,
            min: facts.low,
            range: facts.range(),
            numbering: Numbering::new(),
            averages: Vec::new(),
            weights: Vec::new(),
            contexts: Contexts::default(),
            features: Vec::new(),
            before: [0; 2],
            made: Vec::new(),
            made_features: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// Returns whether values depend on the fluents of a position.
    fn wants_features(&self) -> bool {
        matches!(self.rule, PlayoutPolicy::Past { .. })
    }

    /// Reads the fluents of a position in which moves are chosen next, if values depend on them.
    pub(super) fn read_features<P: Position<Move = M>>(&mut self, position: &P) {
        if self.wants_features() {
            position.features(&mut self.features);
        }
    }

    /// Begins a playout at the root.
    pub(crate) fn begin(&mut self) {
        self.made.clear();
        self.made_features.clear();
        self.before = [0; 2];
    }

    /// Notes the move of a role that had a choice, in the tree or in the playout.
    pub(crate) fn note(&mut self, role: Role, m: &M) {
        let number = self.number(role, m);
        let start = self.made_features.len();
        if self.wants_features() {
            self.made_features.extend_from_slice(&self.features);
        }
        let features = start..self.made_features.len();
        self.made.push(Made { role, number, before: self.before, features });
    }

    /// Completes a step: its moves are those that were noted since there were `n_before` of them.
    pub(crate) fn step(&mut self, n_before: usize) {
        if matches!(self.rule, PlayoutPolicy::Nst { .. }) && self.made.len() > n_before {
            let moves = self.made[n_before..].iter();
            let word = moves.fold(1, |word, made| mix(word ^ (u64::from(made.number) << 1)));
            self.before = [word, self.before[0]];
        }
    }

    /// Returns the number of moves that were noted.
    pub(crate) fn n_made(&self) -> usize {
        self.made.len()
    }

    /// Learns from the playout, which is over and has these payoffs.
    pub(super) fn learn(&mut self, payoffs: &[f64]) {
        let Policy { made, averages, weights, contexts, made_features, .. } = self;
        for made in &*made {
            let value = (payoffs[made.role.index()] - self.min) / self.range * 100.0;
            let average = &mut averages[made.number as usize];
            average.add(value);
            if let Choice::Gibbs { temperature } = self.choice {
                weights[made.number as usize] =
                    libm::exp((f64::from(average.mean) - 100.0) / temperature);
            }
            match self.rule {
                PlayoutPolicy::Uniform | PlayoutPolicy::Mast => {}
                PlayoutPolicy::Past { .. } => {
                    for &feature in &made_features[made.features.clone()] {
                        contexts.add(pair(feature, made.number), value);
                    }
                }
                PlayoutPolicy::Nst { max_length, .. } => {
                    for length in 2..=max_length {
                        contexts.add(gram(made.number, made.before, length), value);
                    }
                }
            }
        }
        made.clear();
        made_features.clear();
    }

    /// Chooses one of the moves of a role. The weights of a heuristic, if there are any, are
    /// multiplied with those of the policy.
    pub(super) fn choose(
        &mut self,
        role: Role,
        moves: &[M],
        rated: &[f64],
        rng: &mut Rng,
        weights: &mut Vec<f64>,
    ) -> usize {
        if let Choice::EpsilonGreedy { epsilon } = self.choice
            && rng.random::<f64>() < epsilon
        {
            return rng.random_range(0..moves.len());
        }
        let mut numbers = std::mem::take(&mut self.numbers);
        numbers.clear();
        numbers.extend(moves.iter().map(|m| self.number(role, m)));
        let chosen = self.choose_numbered(&numbers, rated, rng, weights);
        self.numbers = numbers;
        chosen
    }

    /// Chooses among some of the moves of a role. Returns an index into `some`.
    pub(crate) fn choose_among(
        &mut self,
        role: Role,
        moves: &[M],
        some: &[usize],
        rng: &mut Rng,
        weights: &mut Vec<f64>,
    ) -> usize {
        // In the tree the fluents are not known: there a move has the same value everywhere.
        self.features.clear();
        self.before = [0; 2];
        let numbers: Vec<u32> = some.iter().map(|&at| self.number(role, &moves[at])).collect();
        self.choose_numbered(&numbers, &[], rng, weights)
    }

    fn choose_numbered(
        &self,
        numbers: &[u32],
        rated: &[f64],
        rng: &mut Rng,
        weights: &mut Vec<f64>,
    ) -> usize {
        weights.clear();
        let is_mast = self.rule == PlayoutPolicy::Mast;
        match self.choice {
            Choice::Gibbs { .. } if is_mast => {
                weights.extend(numbers.iter().map(|&number| self.weights[number as usize]));
                weights.iter_mut().zip(rated).for_each(|(weight, rated)| *weight *= rated);
                draw(weights, rng)
            }
            Choice::Gibbs { temperature } => {
                weights.extend(
                    numbers
                        .iter()
                        .map(|&number| libm::exp((self.value(number) - 100.0) / temperature)),
                );
                weights.iter_mut().zip(rated).for_each(|(weight, rated)| *weight *= rated);
                draw(weights, rng)
            }
            Choice::EpsilonGreedy { .. } => {
                weights.extend(numbers.iter().map(|&number| self.value(number)));
                weights.iter_mut().zip(rated).for_each(|(value, rated)| *value *= rated);
                let best = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let n_best = weights.iter().filter(|&&value| value == best).count();
                let wanted = rng.random_range(0..n_best);
                let best_ones = weights.iter().enumerate().filter(|&(_, &value)| value == best);
                best_ones.map(|(at, _)| at).nth(wanted).expect("it was counted")
            }
        }
    }

    /// Returns the value of a move here, from 0 to 100. A move that was never made has the greatest
    /// value, so that it will be made.
    fn value(&self, number: u32) -> f64 {
        let average = &self.averages[number as usize];
        if average.n == 0.0 {
            return 100.0;
        }
        let alone = f64::from(average.mean);
        match self.rule {
            PlayoutPolicy::Uniform | PlayoutPolicy::Mast => alone,
            PlayoutPolicy::Past { min_samples } => {
                let known = self.features.iter().filter_map(|&feature| {
                    self.contexts
                        .get(pair(feature, number))
                        .filter(|pair| pair.n >= min_samples as f32)
                });
                let best = known.map(|pair| f64::from(pair.mean)).fold(f64::NEG_INFINITY, f64::max);
                if best == f64::NEG_INFINITY { alone } else { best }
            }
            PlayoutPolicy::Nst { max_length, min_samples } => {
                let (mut sum, mut n) = (alone, 1.0);
                for length in 2..=max_length {
                    let known = self.contexts.get(gram(number, self.before, length));
                    // Longer n-grams are rarer: if this one is unknown, so are those.
                    let Some(known) = known.filter(|known| known.n >= min_samples as f32) else {
                        break;
                    };
                    sum += f64::from(known.mean);
                    n += 1.0;
                }
                sum / n
            }
        }
    }

    fn number(&mut self, role: Role, m: &M) -> u32 {
        let number = self.numbering.number(role, m);
        if number as usize >= self.averages.len() {
            self.averages.push(Average::default());
            // The weight of the greatest value.
            self.weights.push(1.0);
        }
        number
    }
}

fn pair(feature: u32, number: u32) -> u64 {
    mix(u64::from(feature) << 32 | u64::from(number))
}

fn gram(number: u32, before: [u64; 2], length: u32) -> u64 {
    let previous = if length == 2 { before[0] } else { mix(before[0]) ^ before[1] };
    mix(previous ^ (u64::from(number) << 2 | u64::from(length)))
}

/// Averages by hash. Two contexts with the same hash share an average; that is rare, and a playout
/// policy need not be exact.
#[derive(Default)]
struct Contexts {
    entries: Vec<(u64, Average)>,
    index: HashTable<u32>,
}

impl Contexts {
    fn get(&self, hash: u64) -> Option<&Average> {
        let found = self.index.find(hash, |&at| self.entries[at as usize].0 == hash)?;
        Some(&self.entries[*found as usize].1)
    }

    fn add(&mut self, hash: u64, value: f64) {
        if let Some(&at) = self.index.find(hash, |&at| self.entries[at as usize].0 == hash) {
            self.entries[at as usize].1.add(value);
        } else if self.entries.len() < MAX_ENTRIES {
            let mut average = Average::default();
            average.add(value);
            self.entries.push((hash, average));
            let entries = &self.entries;
            self.index.insert_unique(hash, entries.len() as u32 - 1, |&at| entries[at as usize].0);
        }
    }
}
