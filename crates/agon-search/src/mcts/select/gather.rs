//! Gathers the leaves of a batch from the tree.

use agon_game::Position;

use super::{SelectContext, exploration_factor};
use crate::mcts::leaf_batch::{Leaf, PathEnd, Step};
use crate::mcts::options::MctsOptions;
use crate::mcts::threads::Shared;
use crate::mcts::tree::NodeKind;
use crate::mcts::worker::Worker;

impl<P: Position> Worker<P> {
    /// Descends the tree for the leaves of a batch.
    pub(crate) fn gather(&mut self, shared: &mut Shared<'_, P>, options: &MctsOptions) {
        self.batch.clear();
        if self.plays_in_bulk(options) || options.plays_in_lockstep() {
            self.gather_many(shared, options);
            let n_wanted = self.batch.n_wanted();
            self.batch.preferences = self.preference.next_batch(&shared.tree, n_wanted);
        } else {
            self.gather_one(shared, options);
        }
        self.rate_moves(shared, options);
        self.note_moves(shared);
    }

    fn gather_one(&mut self, shared: &mut Shared<'_, P>, options: &MctsOptions) {
        if shared.n_left() == 0 {
            return;
        }
        let mut context = SelectContext {
            options,
            rng: &mut self.rng,
            policy: self.policy.as_mut(),
            scratch: &mut self.select_scratch,
            prior_k: self.prior_k,
            exploration: 1.0,
        };
        let end = shared.tree.descend(&mut self.batch.steps, &mut context);
        shared.depth = shared.depth.max(self.batch.steps.len() as u32);
        for step in &self.batch.steps {
            shared.tree.add_pending(step.node, step.choice, step.pending);
        }
        let last = (self.batch.steps.len() as u32).checked_sub(1).unwrap_or(Step::NONE);
        self.push_leaf(shared, last, end, 1);
    }

    fn gather_many(&mut self, shared: &mut Shared<'_, P>, options: &MctsOptions) {
        let playouts = self.size.playouts();
        let root = shared.tree.root;
        // A small tree has few leaves that are worth a visit.
        let n_known = shared.tree.node(root).visits / u64::from(playouts);
        // Regret matching updates its strategies only once for each batch, so there have to be many
        // batches.
        let has_regrets = shared.tree.groups.has_regrets();
        let worth = if has_regrets { n_known.isqrt() } else { n_known / 4 };
        let n_wanted = u64::from(self.size.n_leaves()).min(1 + worth) as usize;
        // Where several roles choose, no siblings are added; as a rule that holds for the whole
        // game.
        let has_siblings =
            options.adds_siblings() && matches!(shared.tree.node(root).kind, NodeKind::Alone(_));
        let leaves_per_path = if has_siblings { 1 + options.leaves.siblings as usize } else { 1 };
        let mut n_gathered = 0;
        while n_gathered < n_wanted && shared.n_left() > 0 {
            // With siblings there may be more leaves than paths.
            let n_paths = (n_wanted - n_gathered).div_ceil(leaves_per_path) as u64;
            let n_paths = n_paths.min(shared.n_left().div_ceil(u64::from(playouts))) as u32;
            let mut context = SelectContext {
                options,
                rng: &mut self.rng,
                policy: None,
                scratch: &mut self.select_scratch,
                prior_k: self.prior_k,
                exploration: exploration_factor(playouts),
            };
            let mut selection = std::mem::take(&mut self.selection);
            let steps = &mut self.batch.steps;
            shared.tree.select_batch(n_paths, playouts, steps, &mut selection, &mut context);
            shared.depth = shared.depth.max(selection.depth());
            // Where all paths lead to the same few leaves, these are the batch.
            n_gathered += selection.leaves().len().max(n_paths as usize);
            for leaf in selection.leaves() {
                let n = u64::from(leaf.n * playouts).min(shared.n_left()) as u32;
                if n > 0 {
                    self.push_leaf(shared, leaf.step, leaf.end, n);
                }
            }
            let is_empty = selection.leaves().is_empty();
            self.selection = selection;
            if is_empty {
                // All leaves that these paths led to are in flight, and further paths would lead
                // there, too.
                break;
            }
        }
    }

    /// Adds a leaf to the batch, to which this step leads.
    fn push_leaf(&mut self, shared: &mut Shared<'_, P>, step: u32, end: PathEnd, n: u32) {
        let tree = &shared.tree;
        let joint = self.batch.joints.len();
        let (state, playout_length) = match end {
            PathEnd::Unexpanded => {
                let last = self.batch.steps[step as usize];
                tree.push_joint(last.node, last.choice, &mut self.batch.joints);
                let length = tree.node(last.node).playout_length.saturating_sub(1);
                (tree.nodes.state(last.node).cloned(), length)
            }
            PathEnd::Cycle(id) => (tree.nodes.state(id).cloned(), tree.node(id).playout_length),
            PathEnd::Solved(_) => (None, 0),
        };
        shared.meter.n_iterations += u64::from(n);
        self.batch.leaves.push(Leaf {
            step,
            end,
            n,
            playout_length,
            state,
            joint,
            pending_node: None,
            record: 0..0,
        });
    }

    /// Asks the heuristic, if there is one for the tree, about moves on the paths to the leaves.
    fn rate_moves(&mut self, shared: &mut Shared<'_, P>, options: &MctsOptions) {
        let Some(heuristic) = self.heuristic.as_deref_mut().filter(|_| options.heuristic.tree)
        else {
            return;
        };
        let mut is_time = false;
        for step in &self.batch.steps {
            is_time |= shared.tree.note_due(step.node, options);
        }
        if is_time {
            shared.tree.rate_due(&mut self.lockstep, &self.position, heuristic, options);
        }
    }

    /// Tells the playout policy, if there is one, the moves on the path to the only leaf.
    fn note_moves(&mut self, shared: &Shared<'_, P>) {
        let Some(policy) = &mut self.policy else { return };
        let tree = &shared.tree;
        policy.begin();
        for step in &self.batch.steps {
            let n_made = policy.n_made();
            let node = tree.node(step.node);
            let moves = tree.moves.of_arms(node);
            tree.visit_choice(step.node, step.choice, |group, arm| {
                if group.n > 1 && !tree.facts.is_nature(group.role) {
                    policy.note(group.role, &moves[arm - node.first_arm as usize]);
                }
            });
            policy.step(n_made);
        }
    }
}
