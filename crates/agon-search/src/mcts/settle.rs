//! What was found of a round's leaves is put into the tree.

use agon_game::{Position, Role};

use super::backup::Outcome;
use super::node::{Kind, NodeId};
use super::options::MctsOptions;
use super::select::{End, Step};
use super::sprout::Sprouts;
use super::tree::Tree;
use super::worker::{Shared, Worker};

impl<P: Position> Worker<P> {
    /// Puts what was found into the tree.
    pub(super) fn settle(&mut self, shared: &mut Shared<'_, P>, options: &MctsOptions) {
        let n_roles = self.facts.n_roles;
        let width = 1 + 2 * n_roles;
        let tree = &mut shared.tree;
        shared.playouts += self.round.n_playouts;
        shared.meter.n_nodes += self.round.n_seen;
        self.flow.clear();
        self.flow.resize(self.round.steps.len() * width, 0.0);
        tree.ask_index(&self.round.sprouts);
        for (at, leaf) in self.round.leaves.iter().enumerate() {
            let id = match (leaf.end, leaf.sprout) {
                (End::Open, Some(sprout)) => {
                    let last = self.round.steps[leaf.step as usize];
                    plant(tree, last, &self.round.sprouts, sprout, options)
                }
                (End::Exact(id) | End::Again(id), _) => id,
                (End::Open, None) => {
                    unreachable!("a move leads out of the tree, and was looked at")
                }
            };
            let found = &mut self.round.results[at * 2 * n_roles..][..2 * n_roles];
            let (sums, squares) = found.split_at_mut(n_roles);
            if let End::Exact(_) = leaf.end {
                let n = f64::from(leaf.n);
                for role in 0..n_roles {
                    let [value, _] = tree.bound(id, Role::new(role));
                    (sums[role], squares[role]) = (value * n, value * value * n);
                }
            }
            if options.needs_moves() {
                let record = &self.round.record[leaf.record.clone()];
                tree.learn_moves(&self.round.steps, record, sums, options, &mut self.seen);
            }
            tree.nodes[id.index()].length = leaf.length;
            tree.add_outcome(id, &Outcome { n: leaf.n, sums, squares });
            if leaf.step != Step::NONE {
                let flow = &mut self.flow[leaf.step as usize * width..][..width];
                flow[0] += f64::from(leaf.n);
                flow[1..].iter_mut().zip(&*found).for_each(|(sum, own)| *sum += own);
            }
        }
        // A step comes after the one before it, so by the time it is backed up all that comes through it has arrived.
        for (at, &step) in self.round.steps.iter().enumerate().rev() {
            tree.ask_ahead(&self.round.steps, at);
            let (earlier, own) = self.flow.split_at_mut(at * width);
            let own = &mut own[..width];
            if own[0] == 0.0 {
                if step.marked > 0 {
                    tree.unmark(step);
                }
                continue;
            }
            let n = own[0] as u32;
            let (sums, squares) = own[1..].split_at_mut(n_roles);
            tree.back_up(step, &mut Outcome { n, sums, squares });
            if step.before != Step::NONE {
                let before = &mut earlier[step.before as usize * width..][..width];
                before.iter_mut().zip(&*own).for_each(|(sum, own)| *sum += own);
            }
        }
    }
}

/// The node of a new position: one that is there already, or a new one. The last step is made to lead there.
fn plant<P: Position>(
    tree: &mut Tree<P>,
    last: Step,
    sprouts: &Sprouts<P>,
    sprout: usize,
    options: &MctsOptions,
) -> NodeId {
    // Another leaf of the round, or another thread, may have been faster.
    let child = tree.child(last.node, last.choice);
    if child != NodeId::NONE {
        return child;
    }
    let seen = &sprouts.list[sprout];
    let known = if options.transpositions && seen.state.is_some() { tree.find(seen) } else { None };
    debug_assert!(
        known.is_none_or(|id| tree.node(id).kind != Kind::Ended),
        "ends are not found by key"
    );
    let id = known.unwrap_or_else(|| tree.add_inner(sprouts, sprout));
    tree.set_child(last.node, last.choice, id);
    id
}
