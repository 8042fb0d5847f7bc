//! What was found of a round's leaves is put into the tree.

use agon_game::{Children, Position, Role};

use super::backup::Outcome;
use super::options::MctsOptions;
use super::select::{End, Step};
use super::sprout::Sprouts;
use super::tree::{Kind, NodeId, Tree};
use super::worker::{Shared, Worker};

impl<P: Position> Worker<P> {
    /// Puts what was found into the tree.
    pub(super) fn settle(&mut self, shared: &mut Shared<'_, P>, options: &MctsOptions) {
        let n_roles = self.facts.n_roles;
        let tree = &mut shared.tree;
        shared.playouts += self.n_playouts;
        shared.meter.n_nodes += self.n_seen;
        let mut rest = 0..self.leaves.len();
        while let Some(first) = rest.next() {
            let n_siblings = self.leaves[first].n_siblings;
            rest.start += n_siblings;
            let family = first..=first + n_siblings;
            let steps = self.steps[self.leaves[first].steps.clone()].split_last();
            self.trunk.clear();
            self.trunk.resize(2 * n_roles, 0.0);
            let mut n_of_all = 0;
            for at in family {
                let leaf = &self.leaves[at];
                let last = self.steps[leaf.steps.clone()].last().copied();
                let id = match (leaf.end, last, leaf.sprout) {
                    (End::Open, Some(last), Some(sprout)) => {
                        plant(tree, last, &self.sprouts, sprout, &self.families, options)
                    }
                    (End::Exact(id) | End::Again(id), ..) => id,
                    (End::Open, ..) => unreachable!("a move leads out of the tree, and was looked at"),
                };
                let found = &mut self.results[at * 2 * n_roles..][..2 * n_roles];
                let (sums, squares) = found.split_at_mut(n_roles);
                if let End::Exact(_) = leaf.end {
                    let n = f64::from(leaf.n);
                    for role in 0..n_roles {
                        let [value, _] = tree.bound(id, Role::new(role));
                        (sums[role], squares[role]) = (value * n, value * value * n);
                    }
                }
                if options.needs_moves() {
                    let record = &self.record[leaf.record.clone()];
                    tree.learn_moves(&self.steps[leaf.steps.clone()], record, sums, options, &mut self.seen);
                }
                let mut outcome = Outcome { n: leaf.n, sums, squares };
                tree.add_outcome(id, &outcome);
                tree.back_up(last.as_slice(), id, &mut outcome);
                n_of_all += leaf.n;
                for (sum, own) in self.trunk.iter_mut().zip(&*found) {
                    *sum += own;
                }
            }
            if let Some((last, trunk)) = steps {
                let (sums, squares) = self.trunk.split_at_mut(n_roles);
                tree.back_up(trunk, last.node, &mut Outcome { n: n_of_all, sums, squares });
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
    families: &Children<P::State, P::Move>,
    options: &MctsOptions,
) -> NodeId {
    // Another leaf of the round, or another thread, may have been faster.
    let child = tree.child(last.node, last.choice);
    if child != NodeId::NONE {
        return child;
    }
    let seen = &sprouts.list[sprout];
    let known = if options.transpositions && seen.state.is_some() {
        tree.find(seen.key, &sprouts.groups[seen.groups.clone()], &sprouts.moves[seen.moves.clone()])
    } else {
        None
    };
    let id = known.unwrap_or_else(|| tree.add(sprouts, sprout, Some(families)));
    debug_assert!(tree.node(id).kind != Kind::Ended || seen.state.is_none(), "ends are not found by key");
    tree.set_child(last.node, last.choice, id);
    id
}
