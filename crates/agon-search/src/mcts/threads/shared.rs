//! The state that all threads share: the tree, and what was used of the budget.

use agon_game::{Position, Role};

use crate::mcts::leaf_batch::LeafBatch;
use crate::mcts::tree::Tree;
use crate::{Budget, Meter};

/// Under a deadline the best move so far is published again after this number of seconds.
const HINT_SECONDS: f64 = 0.01;

/// The state that all threads share. It has cache lines to itself: a thread that waits reads the
/// lock beside it again and again.
#[repr(align(128))]
pub(crate) struct Shared<'b, P: Position> {
    pub(crate) tree: Tree<P>,
    pub(crate) meter: Meter<'b>,
    pub(crate) budget: &'b Budget,
    pub(crate) us: Role,
    pub(crate) playouts: u64,
    /// The length of the longest path so far.
    pub(crate) depth: u32,
    /// The number of batches that are gathered and not yet applied.
    pub(crate) n_in_flight: usize,
}

impl<'b, P: Position> Shared<'b, P> {
    pub(crate) fn new(tree: Tree<P>, meter: Meter<'b>, budget: &'b Budget, us: Role) -> Self {
        Shared { tree, meter, budget, us, playouts: 0, depth: 0, n_in_flight: 0 }
    }

    /// Returns the number of iterations that may still be begun.
    pub(crate) fn n_left(&self) -> u64 {
        self.budget.iterations.map_or(u64::MAX, |n| n.saturating_sub(self.meter.n_iterations))
    }

    /// Returns whether to stop: the budget is used up, or our payoff is proved.
    pub(crate) fn is_done(&mut self) -> bool {
        self.is_proven() || self.meter.is_over(1)
    }

    /// Returns whether our payoff is proved.
    pub(crate) fn is_proven(&self) -> bool {
        let [lo, hi] = self.tree.bound(self.tree.root, self.us);
        lo == hi
    }

    /// Takes back a batch that is not simulated.
    pub(super) fn cancel(&mut self, batch: &LeafBatch<P>) {
        for &step in batch.steps.iter().rev() {
            self.tree.remove_pending(step);
        }
        self.meter.n_iterations -= batch.n_wanted();
        self.n_in_flight -= 1;
    }

    /// Publishes the best move so far, for a caller that cannot wait for the report.
    fn publish_best(&self) {
        if let Some(move_idx) = self.tree.best_so_far(self.us) {
            self.meter.suggest(move_idx);
        }
    }
}

/// Publishes the best move so far, from time to time.
pub(super) struct HintTimer {
    last: f64,
}

impl HintTimer {
    /// Publishes the best move of the tree that was kept from earlier moves.
    pub(super) fn start<P: Position>(shared: &Shared<'_, P>) -> HintTimer {
        shared.publish_best();
        HintTimer { last: shared.meter.seconds() }
    }

    /// Publishes the best move if there is a deadline and the last time is long ago.
    pub(super) fn tick<P: Position>(&mut self, shared: &Shared<'_, P>) {
        if shared.budget.deadline.is_some() {
            let now = shared.meter.seconds();
            if now - self.last > HINT_SECONDS {
                self.last = now;
                shared.publish_best();
            }
        }
    }
}
