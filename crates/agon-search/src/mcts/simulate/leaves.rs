//! Examines the leaves of a batch and plays out from them, without access to the tree.

use agon_game::{PlayoutKind, PlayoutRequest, Position, Role};

use super::playout::{PlayoutLimits, PlayoutTools};
use crate::mcts::leaf_batch::{LeafBatch, PathEnd};
use crate::mcts::options::MctsOptions;
use crate::mcts::worker::Worker;
use agon_game::{play_out_ahead, play_out_in_time};

impl<P: Position> Worker<P> {
    /// Finds out which positions the leaves lead to, and which children of these are terminal if an
    /// engine examines them all at once.
    pub(crate) fn examine_leaves(&mut self, options: &MctsOptions) {
        self.batch.pending.clear();
        if self.plays_in_bulk(options) {
            self.bulk.expand(&mut self.batch, &mut self.position);
        } else if options.plays_in_lockstep() {
            self.expand_in_lockstep();
        } else {
            self.expand_one_by_one(options);
        }
        let pending = &mut self.batch.pending;
        self.batch.n_examined = pending.len() as u64;
        if options.look_ahead
            && let Some(engine) = self.bulk.engine_mut()
        {
            pending.examine_children(engine);
            self.batch.n_examined += pending.n_children_examined();
        }
        self.finish_pending();
    }

    /// Completes the pending nodes, once their children have been examined.
    pub(crate) fn finish_pending(&mut self) {
        self.batch.pending.rewrite(&mut self.utilities);
        self.batch.pending.find_winning_children(&self.facts);
    }

    /// Makes the last steps of the leaves, each with a position of its own, which stays there for
    /// the playout.
    fn expand_in_lockstep(&mut self) {
        let LeafBatch { leaves, joints, pending, .. } = &mut *self.batch;
        for (at, leaf) in leaves.iter_mut().enumerate() {
            let Some(state) = &leaf.state else { continue };
            let position = self.lockstep.slot(at, &self.position);
            position.go_to(state);
            if leaf.end == PathEnd::Unexpanded {
                position.advance(&joints[leaf.joint..][..self.facts.n_roles]);
                leaf.pending_node = Some(pending.push_position(position));
            }
        }
    }

    /// Makes the last step of the only leaf. The position stays there for the playout.
    fn expand_one_by_one(&mut self, options: &MctsOptions) {
        let LeafBatch { leaves, joints, pending, .. } = &mut *self.batch;
        for leaf in leaves.iter_mut() {
            let Some(state) = &leaf.state else { continue };
            self.position.go_to(state);
            if leaf.end != PathEnd::Unexpanded {
                continue;
            }
            self.position.advance(&joints[leaf.joint..][..self.facts.n_roles]);
            leaf.pending_node = Some(pending.push_position(&self.position));
            if options.heuristic.implicit > 0.0
                && let Some(heuristic) = self.heuristic.as_deref_mut()
            {
                pending.push_worths(heuristic, &self.position);
            }
        }
    }

    /// Plays out from all leaves that are not decided.
    pub(crate) fn play_out_leaves(&mut self, options: &MctsOptions) {
        self.begin_playouts(options);
        while !self.step_playouts(u64::MAX) {}
        self.finish_playouts();
    }

    /// Begins to play out from all leaves that are not decided. Playouts that are not made in bulk
    /// are made at once.
    pub(crate) fn begin_playouts(&mut self, options: &MctsOptions) {
        self.batch.results.reset(self.batch.leaves.len());
        self.batch.n_playouts = 0;
        self.bulk.clear();
        let mut in_lockstep = Vec::new();
        let is_bulk = self.plays_in_bulk(options);
        for at in 0..self.batch.leaves.len() {
            let LeafBatch { leaves, pending, results, n_playouts, .. } = &mut *self.batch;
            let leaf = &leaves[at];
            let decided =
                leaf.pending_node.and_then(|node| pending.decided_payoffs(node, &self.facts));
            if let Some(payoffs) = decided {
                if let Some(policy) = &mut self.policy {
                    policy.learn(payoffs);
                }
                results.set_exact(at, f64::from(leaf.n), payoffs);
                continue;
            }
            if let PathEnd::Solved(_) = leaf.end {
                continue;
            }
            *n_playouts += u64::from(leaf.n);
            if is_bulk {
                let new = leaf.pending_node.and_then(|node| pending.get(node).state.as_ref());
                let state = new.or(leaf.state.as_ref()).expect("the game is not over").clone();
                let request = PlayoutRequest {
                    state,
                    n_playouts: u64::from(leaf.n),
                    expected_steps: leaf.playout_length.into(),
                };
                self.bulk.request(at, request);
            } else if options.plays_in_lockstep() {
                in_lockstep.push(at);
            } else {
                self.play_out_one(at, options);
            }
        }
        self.bulk.prefer(self.batch.preferences.as_ref());
        self.bulk.begin(self.playout_limits(options));
        if !in_lockstep.is_empty() {
            self.play_out_in_lockstep(&in_lockstep, options);
        }
    }

    /// Continues playouts in bulk for about `n_steps` steps. Returns whether all are finished.
    pub(crate) fn step_playouts(&mut self, n_steps: u64) -> bool {
        self.bulk.step(n_steps, self.deadline.is_some())
    }

    /// Stores the results of playouts in bulk, once all of them are finished.
    pub(crate) fn finish_playouts(&mut self) {
        let LeafBatch { leaves, results, .. } = &mut *self.batch;
        for (at, found) in self.bulk.finish(self.deadline.is_some()) {
            let (sums, squares) = results.of_mut(at);
            sums.copy_from_slice(&found.payoff_sums);
            squares.copy_from_slice(&found.square_sums);
            let length = found.n_steps / found.n_playouts.max(1);
            leaves[at].playout_length = u16::try_from(length).unwrap_or(u16::MAX);
            self.utilities.rewrite_sums(f64::from(leaves[at].n), sums, squares);
        }
    }

    /// Plays out once, from where the position stands.
    fn play_out_one(&mut self, leaf: usize, options: &MctsOptions) {
        let limits = self.playout_limits(options);
        let LeafBatch { leaves, results, record, .. } = &mut *self.batch;
        let start = record.len();
        if options.needs_moves() {
            let heuristic = self.heuristic.as_deref_mut().filter(|_| options.heuristic.playout);
            let mut tools = PlayoutTools {
                policy: self.policy.as_mut(),
                heuristic: heuristic.map(|heuristic| (heuristic, options.heuristic)),
                rng: &mut self.rng,
                record,
                scratch: &mut self.playout_scratch,
            };
            tools.play_out(&mut self.position, limits);
        } else {
            let (position, rng) = (&mut self.position, &mut self.rng);
            let max_steps = limits.max_steps as usize;
            match options.playout_kind.unwrap_or_default() {
                PlayoutKind::Uniform => {
                    play_out_in_time(position, rng, max_steps, limits.deadline, &self.stop);
                }
                kind => {
                    play_out_ahead(position, kind, rng, max_steps, limits.deadline);
                }
            }
        }
        leaves[leaf].record = start..record.len();
        let (sums, squares) = results.of_mut(leaf);
        for (role, sum) in sums.iter_mut().enumerate() {
            *sum = self.position.payoff(Role::new(role));
        }
        if let Some(policy) = &mut self.policy {
            policy.learn(sums);
        }
        self.utilities.rewrite(sums);
        for (square, sum) in squares.iter_mut().zip(&*sums) {
            *square = sum * sum;
        }
    }

    pub(super) fn playout_limits(&self, options: &MctsOptions) -> PlayoutLimits {
        PlayoutLimits { max_steps: options.max_playout_steps, deadline: self.deadline }
    }
}
