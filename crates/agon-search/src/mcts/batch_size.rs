//! How many leaves are in flight, and how many playouts start from each.

use crate::Budget;

use super::options::{MctsOptions, Simultaneous};

/// The number of playouts from a leaf leaves a budget for at least this number of leaves.
const MIN_LEAVES: u64 = 128;
/// The number of leaves in flight leaves a budget for at least this number of batches.
const MIN_BATCHES: u64 = 32;
/// Maximum number of playouts from a leaf with regret matching, which learns once from each leaf.
const MAX_REGRET_PLAYOUTS: u64 = 16;
/// Under a deadline a batch should take at most this number of seconds.
const LONG_BATCH: f64 = 0.004;

/// The size of batches: fixed by the options and the budget, and under a deadline also by how long
/// batches take.
///
/// A leaf is selected without the results of those in flight. So the number of leaves in flight, in
/// all batches together, does not depend on the number of threads.
pub(crate) struct BatchSize {
    max_in_flight: u32,
    /// The number of batches in flight at a time.
    n_batches: u32,
    /// The number of playouts from each leaf.
    playouts: u32,
    /// Whether there is a deadline.
    is_timed: bool,
}

impl BatchSize {
    pub(crate) fn new(options: &MctsOptions) -> BatchSize {
        BatchSize {
            max_in_flight: 1,
            n_batches: 1,
            playouts: options.leaves_in_flight().playouts.max(1),
            is_timed: false,
        }
    }

    /// Adapts the size to the budget of the next move.
    pub(crate) fn prepare(&mut self, budget: &Budget, options: &MctsOptions) {
        let wanted = options.leaves_in_flight();
        // A small number of playouts is better spent on many leaves than on few.
        let few = budget.iterations.map_or(u64::MAX, |n| (n / MIN_LEAVES).max(1));
        let few = if matches!(options.simultaneous, Simultaneous::RegretMatching { .. }) {
            few.min(MAX_REGRET_PLAYOUTS)
        } else {
            few
        };
        self.playouts = u64::from(wanted.playouts.max(1)).min(few) as u32;
        // And better on many batches than on few, because each can use the results of the last.
        let n_leaves = budget.iterations.map_or(u64::MAX, |n| n / u64::from(self.playouts));
        let max_in_flight = u64::from(wanted.at_once).min(n_leaves / MIN_BATCHES) as u32;
        self.n_batches = options.threads as u32;
        if budget.deadline.is_none() {
            self.max_in_flight = max_in_flight;
        } else if !self.is_timed {
            // Small batches to begin with, until it is known how long they take.
            self.max_in_flight = 1;
        }
        self.is_timed = budget.deadline.is_some();
    }

    pub(crate) fn set_n_batches(&mut self, n_batches: u32) {
        self.n_batches = n_batches;
    }

    /// Returns the number of playouts from each leaf.
    pub(crate) fn playouts(&self) -> u32 {
        self.playouts
    }

    /// Returns the maximum number of leaves in a batch.
    pub(crate) fn n_leaves(&self) -> u32 {
        (self.max_in_flight / self.n_batches).max(1)
    }

    /// Adapts the batches of a search with a deadline: they become smaller if one took too long,
    /// and larger if it was short.
    pub(crate) fn adapt(&mut self, seconds: f64, options: &MctsOptions) {
        if self.is_timed {
            self.max_in_flight = match seconds {
                long if long > LONG_BATCH => (self.max_in_flight / 2).max(self.n_batches),
                short if short < LONG_BATCH / 4.0 => {
                    (self.max_in_flight * 2).min(options.leaves_in_flight().at_once)
                }
                _ => self.max_in_flight,
            };
        }
    }
}
