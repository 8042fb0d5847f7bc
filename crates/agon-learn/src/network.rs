//! The value of a state as a sum of pattern weights, computed from what changed since its parent.

use crate::patterns::Patterns;
use crate::symmetry::Symmetry;
use crate::units::{Unit, holds};
use crate::weights::Weights;

/// The fixed part of a model: which weights a state selects.
///
/// A state is seen from a perspective, by the player who is to move. If two players can be
/// exchanged by a symmetry, the second perspective is the first one through that symmetry, with
/// the opposite sign. Otherwise each perspective has weights of its own.
///
/// Invariants: there is a perspective for each fact of `turns` and one more, all have the same
/// number of patterns and facts, and `starts` are below `n_weights`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Network {
    pub(crate) perspectives: Vec<Perspective>,
    /// By perspective after the first: the fact that holds if a state is seen that way.
    pub(crate) turns: Vec<u32>,
    pub(crate) n_weights: usize,
}

/// How a player to move sees states.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Perspective {
    /// By fact: the range of its entries.
    pub(crate) ends: Vec<u32>,
    pub(crate) entries: Vec<Entry>,
    /// By pattern: the weight that is selected if none of the facts holds.
    pub(crate) starts: Vec<u32>,
    pub(crate) sign: f32,
}

/// The contribution of a fact to the index of a pattern.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) pattern: u32,
    pub(crate) amount: u32,
}

impl Network {
    pub(crate) fn new(
        n_facts: usize,
        units: &[Unit],
        patterns: &Patterns,
        turns: Vec<u32>,
        exchange: Option<&Symmetry>,
    ) -> Network {
        let mut table_starts = Vec::with_capacity(patterns.table_sizes.len());
        let mut n_weights = 0;
        for size in &patterns.table_sizes {
            table_starts.push(n_weights as u32);
            n_weights += size;
        }
        let mut of_fact: Vec<Vec<Entry>> = vec![Vec::new(); n_facts];
        for (number, pattern) in (0..).zip(&patterns.patterns) {
            let mut place = 1;
            for &unit in &pattern.units {
                for (&fact, &digit) in units[unit].facts.iter().zip(&patterns.digits[unit]) {
                    let entry = Entry { pattern: number, amount: digit * place };
                    of_fact[fact as usize].push(entry);
                }
                place *= patterns.bases[unit] as u32;
            }
        }
        let starts: Vec<u32> =
            patterns.patterns.iter().map(|pattern| table_starts[pattern.table]).collect();
        let mut perspectives = vec![Perspective::new(&of_fact, starts.clone(), 1.0)];
        match (exchange, &turns[..]) {
            (Some(symmetry), [_]) => {
                let image = |&to: &u32| of_fact[to as usize].clone();
                let through: Vec<Vec<Entry>> = symmetry.facts.iter().map(image).collect();
                perspectives.push(Perspective::new(&through, starts, -1.0));
            }
            (_, turns) => {
                let n_shared = n_weights;
                for _ in turns {
                    let starts = starts.iter().map(|start| start + n_weights as u32).collect();
                    perspectives.push(Perspective::new(&of_fact, starts, 1.0));
                    n_weights += n_shared;
                }
            }
        }
        Network { perspectives, turns, n_weights }
    }

    /// Returns the number of weights that a state selects.
    pub(crate) fn n_patterns(&self) -> usize {
        self.perspectives[0].starts.len()
    }

    /// Returns the perspective of a state.
    fn perspective(&self, words: &[u64]) -> usize {
        let held = self.turns.iter().position(|&fact| holds(words, fact));
        held.map_or(0, |turn| turn + 1)
    }

    /// Returns the network for facts in another order. `to` has the new number of each fact.
    pub(crate) fn reordered(&self, to: &[u32]) -> Network {
        let perspective = |perspective: &Perspective| {
            let mut of_fact: Vec<Vec<Entry>> = vec![Vec::new(); to.len()];
            for (fact, &to) in to.iter().enumerate() {
                of_fact[to as usize] = perspective.of_fact(fact).to_vec();
            }
            Perspective::new(&of_fact, perspective.starts.clone(), perspective.sign)
        };
        Network {
            perspectives: self.perspectives.iter().map(perspective).collect(),
            turns: self.turns.iter().map(|&fact| to[fact as usize]).collect(),
            n_weights: self.n_weights,
        }
    }

    /// Makes the value one for the other of two players.
    pub(crate) fn negate(&mut self) {
        self.perspectives.iter_mut().for_each(|perspective| perspective.sign *= -1.0);
    }

    /// Replaces the contents of `indices` by the weights that a state selects. Returns the sign
    /// with which their sum counts for the first player.
    pub(crate) fn select(&self, words: &[u64], indices: &mut Vec<u32>) -> f32 {
        let perspective = &self.perspectives[self.perspective(words)];
        perspective.select(words, indices);
        perspective.sign
    }
}

impl Perspective {
    fn new(of_fact: &[Vec<Entry>], starts: Vec<u32>, sign: f32) -> Perspective {
        let mut ends = Vec::with_capacity(of_fact.len());
        let mut entries = Vec::new();
        for of_fact in of_fact {
            entries.extend_from_slice(of_fact);
            ends.push(entries.len() as u32);
        }
        Perspective { ends, entries, starts, sign }
    }

    fn of_fact(&self, fact: usize) -> &[Entry] {
        let start = fact.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start as usize..self.ends[fact] as usize]
    }

    fn select(&self, words: &[u64], indices: &mut Vec<u32>) {
        indices.clear();
        indices.extend_from_slice(&self.starts);
        for_each_bit(words.iter().copied(), |fact| {
            for entry in self.of_fact(fact) {
                let index = &mut indices[entry.pattern as usize];
                *index = index.wrapping_add(entry.amount);
            }
        });
    }
}

#[inline(always)]
pub(crate) fn for_each_bit(words: impl Iterator<Item = u64>, mut then: impl FnMut(usize)) {
    for (at, mut word) in words.enumerate() {
        while word != 0 {
            then(64 * at + word.trailing_zeros() as usize);
            word &= word - 1;
        }
    }
}

/// Memory for the evaluation of the children of a state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    parent: Vec<u64>,
    /// By perspective: what is known of the parent seen that way.
    seen: Vec<Seen>,
    /// By pattern: the index at the child, if it is among `touched`.
    indices: Vec<u32>,
    /// By pattern: the number of the child that touched it last.
    stamps: Vec<u32>,
    stamp: u32,
    touched: Vec<u32>,
}

/// A parent as seen from a perspective.
#[derive(Clone, Debug, Default)]
struct Seen {
    is_current: bool,
    indices: Vec<u32>,
    weights: Vec<f32>,
    sum: f32,
}

impl Scratch {
    /// Sets the state whose children are evaluated next.
    pub(crate) fn set_parent(&mut self, words: &[u64]) {
        self.parent.clear();
        self.parent.extend_from_slice(words);
        self.seen.iter_mut().for_each(|seen| seen.is_current = false);
    }

    /// Returns the sum of the weights of a state, for the first player. Only patterns that differ
    /// from those of the parent are looked up.
    pub(crate) fn sum<W: Weights + ?Sized>(
        &mut self,
        network: &Network,
        weights: &W,
        words: &[u64],
    ) -> f32 {
        let number = network.perspective(words);
        let perspective = &network.perspectives[number];
        let Scratch { parent, seen, indices, stamps, stamp, touched } = self;
        if seen.len() <= number {
            seen.resize_with(network.perspectives.len(), Seen::default);
        }
        let seen = &mut seen[number];
        if !seen.is_current {
            seen.look(perspective, parent, weights);
        }
        if stamps.len() != perspective.starts.len() || *stamp == u32::MAX {
            *stamps = vec![0; perspective.starts.len()];
            *indices = vec![0; perspective.starts.len()];
            *stamp = 0;
        }
        *stamp += 1;
        touched.clear();
        let changed = words.iter().zip(parent.iter()).map(|(child, parent)| child ^ parent);
        for_each_bit(changed, |fact| {
            let is_new = words[fact / 64] >> (fact % 64) & 1 == 1;
            for entry in perspective.of_fact(fact) {
                let pattern = entry.pattern as usize;
                if stamps[pattern] != *stamp {
                    stamps[pattern] = *stamp;
                    indices[pattern] = seen.indices[pattern];
                    touched.push(entry.pattern);
                }
                let index = &mut indices[pattern];
                *index = if is_new {
                    index.wrapping_add(entry.amount)
                } else {
                    index.wrapping_sub(entry.amount)
                };
            }
        });
        let mut difference = 0.0;
        for &pattern in touched.iter() {
            let pattern = pattern as usize;
            difference += weights.weight(indices[pattern]) - seen.weights[pattern];
        }
        perspective.sign * (seen.sum + difference)
    }
}

impl Seen {
    fn look<W: Weights + ?Sized>(
        &mut self,
        perspective: &Perspective,
        parent: &[u64],
        weights: &W,
    ) {
        perspective.select(parent, &mut self.indices);
        self.weights.clear();
        self.weights.extend(self.indices.iter().map(|&index| weights.weight(index)));
        self.sum = self.weights.iter().sum();
        self.is_current = true;
    }
}
