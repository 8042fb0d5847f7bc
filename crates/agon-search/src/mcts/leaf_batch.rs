//! Batches of leaves.
//!
//! A batch is gathered from the tree, simulated, and applied to the tree. Gathering and applying
//! need the tree; simulating does not, so any thread can do it while another thread works on the
//! tree.

use std::ops::Range;
use std::sync::Arc;

use agon_game::{Position, Preferences, Role};

use super::tree::{NodeId, PendingNodes};

/// A move on the way from the root to a leaf.
///
/// The steps of all leaves of a batch are in one list and form a tree: each knows the step before
/// it, which has a smaller number.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Step {
    /// The node where the move is made.
    pub(crate) node: NodeId,
    /// The number of the joint move at that node; see [`Tree::visit_choice`].
    ///
    /// [`Tree::visit_choice`]: super::tree::Tree::visit_choice
    pub(crate) choice: u64,
    /// The number of the step before it, or [`Step::NONE`].
    pub(crate) before: u32,
    /// The number of playouts that were added to the pending ones of node and arm for this step.
    pub(crate) pending: u32,
}

impl Step {
    /// Stands for the step before the first one.
    pub(crate) const NONE: u32 = u32::MAX;
}

/// Why a path from the root ends where it ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum PathEnd {
    /// Its last move leads out of the tree, to a position that has to be expanded.
    Unexpanded,
    /// It has reached a position whose value is known exactly.
    Solved(NodeId),
    /// It has reached a position that it came through before, or it is too long. The playout starts
    /// from there.
    Cycle(NodeId),
}

/// A leaf that has been selected, with what is known of it so far.
pub(crate) struct Leaf<S> {
    /// The number of the last step of the path to it.
    pub(crate) step: u32,
    pub(crate) end: PathEnd,
    /// The number of playouts to make from it.
    pub(crate) n: u32,
    /// The mean number of steps of its playouts: first an estimate, then the result. 0 if unknown.
    pub(crate) playout_length: u16,
    /// The state in which the last step is made, or from which to play out.
    pub(crate) state: Option<S>,
    /// Where the joint move of the last step begins in [`LeafBatch::joints`].
    pub(crate) joint: usize,
    /// The number of the position that the last step leads to, among the pending nodes.
    pub(crate) pending_node: Option<usize>,
    /// The moves of the playout in [`LeafBatch::record`].
    pub(crate) record: Range<usize>,
}

/// Leaves that were selected together, with the results found so far.
pub(crate) struct LeafBatch<P: Position> {
    pub(crate) leaves: Vec<Leaf<P::State>>,
    pub(crate) steps: Vec<Step>,
    pub(crate) joints: Vec<P::Move>,
    /// The positions that the leaves lead to.
    pub(crate) pending: PendingNodes<P>,
    pub(crate) results: Results,
    /// The moves that playouts prefer.
    pub(crate) preferences: Option<Arc<Preferences<P::Move>>>,
    /// The moves of playouts that were made one by one.
    pub(crate) record: Vec<(Role, P::Move)>,
    pub(crate) n_playouts: u64,
    /// The number of positions that were looked at.
    pub(crate) n_examined: u64,
    /// The time that a helper needed to simulate the batch.
    pub(crate) seconds: f64,
}

impl<P: Position> LeafBatch<P> {
    pub(crate) fn new(n_roles: usize) -> LeafBatch<P> {
        LeafBatch {
            leaves: Vec::new(),
            steps: Vec::new(),
            joints: Vec::new(),
            pending: PendingNodes::new(n_roles),
            results: Results { n_roles, values: Vec::new() },
            preferences: None,
            record: Vec::new(),
            n_playouts: 0,
            n_examined: 0,
            seconds: 0.0,
        }
    }

    /// Removes all leaves and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.leaves.clear();
        self.steps.clear();
        self.joints.clear();
        self.record.clear();
    }

    /// Returns the joint move of the last step of a leaf.
    pub(crate) fn joint(&self, leaf: usize) -> &[P::Move] {
        &self.joints[self.leaves[leaf].joint..][..self.results.n_roles]
    }

    /// Returns the number of playouts that the leaves ask for.
    pub(crate) fn n_wanted(&self) -> u64 {
        self.leaves.iter().map(|leaf| u64::from(leaf.n)).sum()
    }
}

/// The sums of the payoffs of each leaf's playouts, by role, and of their squares.
pub(crate) struct Results {
    n_roles: usize,
    /// By leaf: the sums by role, then the sums of squares by role.
    values: Vec<f64>,
}

impl Results {
    pub(crate) fn reset(&mut self, n_leaves: usize) {
        self.values.clear();
        self.values.resize(n_leaves * 2 * self.n_roles, 0.0);
    }

    /// Returns the sums, then the sums of squares, of a leaf.
    #[inline]
    pub(crate) fn of_mut(&mut self, leaf: usize) -> (&mut [f64], &mut [f64]) {
        let own = &mut self.values[leaf * 2 * self.n_roles..][..2 * self.n_roles];
        own.split_at_mut(self.n_roles)
    }

    /// Notes the same payoffs for each of the `n` playouts of a leaf.
    pub(crate) fn set_exact(&mut self, leaf: usize, n: f64, payoffs: &[f64]) {
        let (sums, squares) = self.of_mut(leaf);
        for ((sum, square), payoff) in sums.iter_mut().zip(squares).zip(payoffs) {
            (*sum, *square) = (payoff * n, payoff * payoff * n);
        }
    }
}
