//! Prefetching: reading what is needed soon, so that it has arrived from memory by then.
//!
//! In a large tree most reads go to main memory. Each function here reads one word of every cache
//! line that is needed soon and drops it. The processor waits for none of these reads, and all of
//! them are in flight at the same time.

use std::hint::black_box;

use agon_game::Position;

use super::Tree;
use super::node::{NodeId, NodeKind};
use super::pending::PendingNodes;
use crate::mcts::leaf_batch::Step;

/// Scores in a cache line.
const SCORES_PER_LINE: usize = 4;
/// Maximum number of cache lines of scores to read for one node.
const MAX_LINES: usize = 12;
/// Number of steps ahead that nodes are read during backup.
const NODES_AHEAD: usize = 12;
/// Number of steps ahead that the statistics of nodes are read, when the nodes should have arrived.
const STATS_AHEAD: usize = 6;

impl<P: Position> Tree<P> {
    /// Prefetches a child and, where one role chooses, the scores of the child's arms, whose place
    /// is stored beside the link to the child.
    #[inline]
    pub(crate) fn prefetch_child(&self, id: NodeId, choice: u64, child: NodeId) {
        let node = &self.nodes[id];
        if let NodeKind::Alone(_) = node.kind {
            let arm = node.first_arm as usize + choice as usize;
            let first = self.arms.first_arm_of_child(arm);
            let value = |at: usize| self.arms.get_score(at).map_or(0.0, |score| score.value);
            let further = first.wrapping_add(SCORES_PER_LINE);
            black_box((self.nodes[child].visits, value(first), value(further)));
        } else {
            black_box(self.nodes[child].visits);
        }
    }

    /// Reads the scores of a node where several roles choose. The node itself was prefetched
    /// before.
    #[inline]
    pub(crate) fn prefetch_arms(&self, id: NodeId) {
        let node = &self.nodes[id];
        if node.kind != NodeKind::Joint || !node.has_arms() {
            return;
        }
        let lines = self.arms.scores(node.arms()).iter().step_by(SCORES_PER_LINE);
        let values = lines.take(MAX_LINES).map(|score| score.value);
        black_box(values.fold(0.0, f32::max));
    }

    /// Reads what the backup needs for steps that come soon: those before step `at`. First their
    /// nodes, then the statistics that lie elsewhere. With several threads most of that was last
    /// written by another one.
    #[inline]
    pub(crate) fn prefetch_steps(&self, steps: &[Step], at: usize) {
        if let Some(step) = at.checked_sub(NODES_AHEAD).map(|far| &steps[far]) {
            black_box(self.nodes[step.node].visits);
        }
        if let Some(step) = at.checked_sub(STATS_AHEAD).map(|near| &steps[near]) {
            let sum = self.payoffs.sum(step.node, agon_game::Role::new(0));
            let arm = self.nodes[step.node].first_arm as usize + step.choice as usize;
            let visits = self.arms.get(arm).map(|arm| arm.visits);
            black_box((sum, visits, self.arms.get_score(arm).map(|score| score.value)));
        }
    }

    /// Reads where the index has these positions, or would have them.
    pub(crate) fn prefetch_index(&self, pending: &PendingNodes<P>) {
        let is_there = |key: &u64| self.index.candidates(*key).next().is_some();
        black_box(pending.keys().filter(is_there).count());
    }
}
