//! Applies the results of a batch of leaves to the tree: new nodes are added, and all outcomes are
//! backed up.

use agon_game::{Position, Role};

use super::Tree;
use super::arena::NumberSet;
use super::backup::Outcome;
use super::node::{NodeId, NodeKind};
use super::pending::PendingNodes;
use crate::mcts::leaf_batch::{LeafBatch, PathEnd, Step};
use crate::mcts::options::MctsOptions;

/// Memory that is used again for every batch.
#[derive(Default)]
pub(crate) struct BackupScratch {
    /// By step: the number of playouts that came through, then the sums of the payoffs by role and
    /// of their squares.
    flow: Vec<f64>,
    /// The moves of a playout, for AMAF.
    made: NumberSet,
}

impl<P: Position> Tree<P> {
    /// Adds the positions that the leaves lead to, and backs up the results of their playouts.
    pub(crate) fn apply_results(
        &mut self,
        batch: &mut LeafBatch<P>,
        options: &MctsOptions,
        scratch: &mut BackupScratch,
    ) {
        let width = 1 + 2 * self.facts.n_roles;
        scratch.flow.clear();
        scratch.flow.resize(batch.steps.len() * width, 0.0);
        self.prefetch_index(&batch.pending);
        self.add_leaves(batch, options, scratch);
        self.back_up_steps(&batch.steps, &mut scratch.flow);
    }

    /// Adds the outcomes of all leaves to their nodes and to the flow of their last steps.
    fn add_leaves(
        &mut self,
        batch: &mut LeafBatch<P>,
        options: &MctsOptions,
        scratch: &mut BackupScratch,
    ) {
        let n_roles = self.facts.n_roles;
        let width = 1 + 2 * n_roles;
        for (at, leaf) in batch.leaves.iter().enumerate() {
            let id = match (leaf.end, leaf.pending_node) {
                (PathEnd::Unexpanded, Some(pending)) => {
                    let last = batch.steps[leaf.step as usize];
                    self.link_pending(last, &batch.pending, pending, options)
                }
                (PathEnd::Solved(id) | PathEnd::Cycle(id), _) => id,
                (PathEnd::Unexpanded, None) => {
                    unreachable!("a position outside the tree is examined before it is applied")
                }
            };
            let (sums, squares) = batch.results.of_mut(at);
            if let PathEnd::Solved(_) = leaf.end {
                let n = f64::from(leaf.n);
                for role in 0..n_roles {
                    let [value, _] = self.bound(id, Role::new(role));
                    (sums[role], squares[role]) = (value * n, value * value * n);
                }
            }
            if options.needs_moves() {
                let record = &batch.record[leaf.record.clone()];
                self.learn_moves(&batch.steps, record, sums, options, &mut scratch.made);
            }
            self.nodes.get_mut(id).playout_length = leaf.playout_length;
            if leaf.step != Step::NONE {
                let flow = &mut scratch.flow[leaf.step as usize * width..][..width];
                flow[0] += f64::from(leaf.n);
                let found = sums.iter().chain(&*squares);
                flow[1..].iter_mut().zip(found).for_each(|(sum, own)| *sum += own);
            }
            self.add_outcome(id, &Outcome { n: leaf.n, sums, squares });
        }
    }

    /// Backs up the flow of all steps, the last one first: a step has a greater number than the one
    /// before it, so everything that comes through it has arrived by then.
    fn back_up_steps(&mut self, steps: &[Step], flow: &mut [f64]) {
        let n_roles = self.facts.n_roles;
        let width = 1 + 2 * n_roles;
        for (at, &step) in steps.iter().enumerate().rev() {
            self.prefetch_steps(steps, at);
            let (earlier, own) = flow.split_at_mut(at * width);
            let own = &mut own[..width];
            if own[0] == 0.0 {
                if step.pending > 0 {
                    self.remove_pending(step);
                }
                continue;
            }
            let n = own[0] as u32;
            let (sums, squares) = own[1..].split_at_mut(n_roles);
            self.back_up(step, &mut Outcome { n, sums, squares });
            if step.before != Step::NONE {
                let before = &mut earlier[step.before as usize * width..][..width];
                before.iter_mut().zip(&*own).for_each(|(sum, own)| *sum += own);
            }
        }
    }

    /// Makes a step lead to the node of a pending position: one that is there already, or a new
    /// one. Returns the node.
    fn link_pending(
        &mut self,
        last: Step,
        pending: &PendingNodes<P>,
        at: usize,
        options: &MctsOptions,
    ) -> NodeId {
        // Another leaf of the batch, or another thread, may have linked a node before.
        let child = self.child(last.node, last.choice);
        if child != NodeId::NONE {
            return child;
        }
        let may_share = options.transpositions && pending.get(at).state.is_some();
        let known = if may_share { self.find(pending, at) } else { None };
        debug_assert!(
            known.is_none_or(|id| self.nodes[id].kind != NodeKind::Terminal),
            "terminal nodes are not in the index"
        );
        let id = known.unwrap_or_else(|| self.add_inner(pending, at));
        self.set_child(last.node, last.choice, id);
        id
    }
}
