//! Weights: fixed ones, and those that several threads learn at the same time.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::neural::MAX_WEIGHT;

/// Weights by index.
pub(crate) trait Weights {
    /// Returns a weight. An index that is out of range comes from a state in which two facts of a
    /// unit hold, which random play has not shown. It counts 0.
    fn weight(&self, index: u32) -> f32;
}

impl Weights for [f32] {
    #[inline]
    fn weight(&self, index: u32) -> f32 {
        self.get(index as usize).copied().unwrap_or(0.0)
    }
}

/// Weights that are being learnt. All threads read and change them without locks (Niu et al. 2011),
/// so that now and then a change is lost. With one thread, results can be repeated.
pub(crate) struct Learning {
    weights: Vec<AtomicNumber>,
    /// By weight: the sum of all errors, and the sum of their sizes.
    errors: Vec<[AtomicNumber; 2]>,
    /// Number of weights of each head: the value of one player.
    n_per_head: usize,
    pub(crate) n_games: AtomicU64,
    pub(crate) n_steps: AtomicU64,
}

/// A number that threads change without locks.
#[derive(Default)]
struct AtomicNumber(AtomicU32);

impl AtomicNumber {
    #[inline]
    fn get(&self) -> f32 {
        f32::from_bits(self.0.load(Ordering::Relaxed))
    }

    #[inline]
    fn set(&self, number: f32) {
        self.0.store(number.to_bits(), Ordering::Relaxed);
    }
}

/// A weight with the sum of all errors, and the sum of their sizes.
pub(crate) type LearntWeight = (f32, [f32; 2]);

impl Learning {
    /// Returns weights that are all zero.
    pub(crate) fn new(n_heads: usize, n_per_head: usize) -> Learning {
        let n = n_heads * n_per_head;
        Learning {
            weights: std::iter::repeat_with(AtomicNumber::default).take(n).collect(),
            errors: std::iter::repeat_with(<[AtomicNumber; 2]>::default).take(n).collect(),
            n_per_head,
            n_games: AtomicU64::new(0),
            n_steps: AtomicU64::new(0),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(crate) fn n_games(&self) -> u64 {
        self.n_games.load(Ordering::Relaxed)
    }

    pub(crate) fn n_steps(&self) -> u64 {
        self.n_steps.load(Ordering::Relaxed)
    }

    /// Returns the weights of a head.
    pub(crate) fn head(&self, head: usize) -> Head<'_> {
        let range = head * self.n_per_head..(head + 1) * self.n_per_head;
        Head { weights: &self.weights[range.clone()], errors: &self.errors[range] }
    }

    /// Returns a copy of all weights.
    pub(crate) fn weights(&self) -> Vec<f32> {
        self.weights.iter().map(AtomicNumber::get).collect()
    }

    /// Returns a copy of all weights with their errors.
    pub(crate) fn all(&self) -> impl Iterator<Item = LearntWeight> + '_ {
        let errors = self.errors.iter().map(|errors| [errors[0].get(), errors[1].get()]);
        self.weights.iter().map(AtomicNumber::get).zip(errors)
    }

    /// Replaces a weight and its errors.
    pub(crate) fn set(&self, index: usize, (weight, errors): LearntWeight) {
        self.weights[index].set(weight);
        self.errors[index][0].set(errors[0]);
        self.errors[index][1].set(errors[1]);
    }
}

/// The weights of a head that are being learnt.
#[derive(Copy, Clone)]
pub(crate) struct Head<'w> {
    weights: &'w [AtomicNumber],
    errors: &'w [[AtomicNumber; 2]],
}

impl Weights for Head<'_> {
    #[inline]
    fn weight(&self, index: u32) -> f32 {
        self.weights.get(index as usize).map_or(0.0, AtomicNumber::get)
    }
}

impl Head<'_> {
    /// Adds to a weight, which stays within bounds, whatever the rate of learning is.
    #[inline]
    pub(crate) fn add(&self, index: usize, step: f32) {
        let weight = &self.weights[index];
        weight.set((weight.get() + step).clamp(-MAX_WEIGHT, MAX_WEIGHT));
    }

    /// Changes weights by an error. Each step is smaller where errors had different signs.
    pub(crate) fn update(&self, indices: &[u32], error: f32, rate: f32) {
        let step = rate * error / indices.len() as f32;
        for &index in indices {
            let index = index as usize;
            let (Some(weight), Some([sum, size])) =
                (self.weights.get(index), self.errors.get(index))
            else {
                continue;
            };
            let (old_sum, old_size) = (sum.get(), size.get());
            let coherence = if old_size > 0.0 { old_sum.abs() / old_size } else { 1.0 };
            weight.set(weight.get() + step * coherence);
            sum.set(old_sum + error);
            size.set(old_size + error.abs());
        }
    }
}
