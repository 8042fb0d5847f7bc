//! What playouts learn from one another: MAST, PAST and NST.

use std::hash::Hash;

use agon_game::{Rng, Role};
use hashbrown::HashTable;
use rand::RngExt;

use super::node::Average;
use super::number::{Numbering, mix};
use super::options::{Choice, PlayoutPolicy};
use super::select::draw;
use super::tree::Facts;

/// Sequences and pairs that are remembered at most: 16 MB of them.
const MAX_ENTRIES: usize = 1 << 20;

/// Values of moves, and how they are turned into choices. One for each thread.
pub(super) struct Policy<M> {
    rule: PlayoutPolicy,
    choice: Choice,
    min: f64,
    range: f64,
    numbering: Numbering<M>,
    /// By number of a move: what it paid, from 0 to 100.
    averages: Vec<Average>,
    /// By number: exp(value / temperature).
    weights: Vec<f64>,
    /// By n-gram, or by fluent and move.
    contexts: Contexts,
    /// The fluents that hold where a move is chosen.
    pub(super) features: Vec<u32>,
    /// What came before, newest first: a word for each step.
    before: [u64; 2],
    /// The moves of the playout at hand.
    made: Vec<Made>,
    made_features: Vec<u32>,
    numbers: Vec<u32>,
}

/// A move that was made, and where.
struct Made {
    role: Role,
    number: u32,
    before: [u64; 2],
    features: std::ops::Range<usize>,
}

impl<M: Clone + Eq + Hash> Policy<M> {
    pub(super) fn new(rule: PlayoutPolicy, choice: Choice, facts: &Facts) -> Policy<M> {
        Policy {
            rule,
            choice,
            min: facts.min,
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

    /// Whether the fluents of a position matter.
    pub(super) fn wants_features(&self) -> bool {
        matches!(self.rule, PlayoutPolicy::Past { .. })
    }

    /// A playout begins, at the root.
    pub(super) fn begin(&mut self) {
        self.made.clear();
        self.made_features.clear();
        self.before = [0; 2];
    }

    /// A role has made a move that it had a choice about, in the tree or in the playout; the features are of the position.
    pub(super) fn note(&mut self, role: Role, m: &M) {
        let number = self.number(role, m);
        let start = self.made_features.len();
        if self.wants_features() {
            self.made_features.extend_from_slice(&self.features);
        }
        let features = start..self.made_features.len();
        self.made.push(Made { role, number, before: self.before, features });
    }

    /// A step is complete: the moves noted since `n_before` were made in it.
    pub(super) fn step(&mut self, n_before: usize) {
        if matches!(self.rule, PlayoutPolicy::Nst { .. }) && self.made.len() > n_before {
            let moves = self.made[n_before..].iter();
            let word = moves.fold(1, |word, made| mix(word ^ (u64::from(made.number) << 1)));
            self.before = [word, self.before[0]];
        }
    }

    /// How many moves were noted.
    pub(super) fn n_made(&self) -> usize {
        self.made.len()
    }

    /// The playout is over and has paid this.
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

    /// Chooses one of the moves of a role. Where something else has judged them, its weights are multiplied with our own.
    pub(super) fn choose(
        &mut self,
        role: Role,
        moves: &[M],
        judged: &[f64],
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
        let chosen = self.choose_numbered(&numbers, judged, rng, weights);
        self.numbers = numbers;
        chosen
    }

    /// Chooses one of some of the moves of a role: an index into `some`.
    pub(super) fn choose_among(
        &mut self,
        role: Role,
        moves: &[M],
        some: &[usize],
        rng: &mut Rng,
        weights: &mut Vec<f64>,
    ) -> usize {
        // In the tree the fluents are not at hand: moves count by themselves there.
        self.features.clear();
        self.before = [0; 2];
        let numbers: Vec<u32> = some.iter().map(|&at| self.number(role, &moves[at])).collect();
        self.choose_numbered(&numbers, &[], rng, weights)
    }

    fn choose_numbered(
        &self,
        numbers: &[u32],
        judged: &[f64],
        rng: &mut Rng,
        weights: &mut Vec<f64>,
    ) -> usize {
        weights.clear();
        let is_by_itself = self.rule == PlayoutPolicy::Mast;
        match self.choice {
            Choice::Gibbs { .. } if is_by_itself => {
                weights.extend(numbers.iter().map(|&number| self.weights[number as usize]));
                weights.iter_mut().zip(judged).for_each(|(weight, judged)| *weight *= judged);
                draw(weights, rng)
            }
            Choice::Gibbs { temperature } => {
                weights.extend(
                    numbers
                        .iter()
                        .map(|&number| libm::exp((self.value(number) - 100.0) / temperature)),
                );
                weights.iter_mut().zip(judged).for_each(|(weight, judged)| *weight *= judged);
                draw(weights, rng)
            }
            Choice::EpsilonGreedy { .. } => {
                weights.extend(numbers.iter().map(|&number| self.value(number)));
                weights.iter_mut().zip(judged).for_each(|(value, judged)| *value *= judged);
                let best = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let n_best = weights.iter().filter(|&&value| value == best).count();
                let wanted = rng.random_range(0..n_best);
                let best_ones = weights.iter().enumerate().filter(|&(_, &value)| value == best);
                best_ones.map(|(at, _)| at).nth(wanted).expect("it was counted")
            }
        }
    }

    /// What a move is worth here, from 0 to 100. One that was never made is worth most, so that it will be.
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
                    // A longer sequence is rarer: where this one is unknown, so are those.
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
            // The weight of the best value there is.
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

/// Averages by hash. Two contexts with the same hash share an average: there are few, and this is but a playout policy.
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
