//! The leaves of a round: where descents leave the tree.

use agon_game::Position;

use super::options::MctsOptions;
use super::select::{Chooser, End, Step};
use super::tree::NodeId;
use super::worker::{Leaf, Shared, Worker};

impl<P: Position> Worker<P> {
    /// Goes down the tree for each leaf of a round.
    pub(super) fn gather(&mut self, shared: &mut Shared<'_, P>, options: &MctsOptions) {
        self.leaves.clear();
        self.steps.clear();
        self.joints.clear();
        self.record.clear();
        let (at_once, playouts) =
            if self.plays_in_bulk(options) { (self.at_once, self.playouts) } else { (1, 1) };
        // A small tree has few leaves that are worth it.
        let n_known = shared.tree.node(shared.tree.root).visits / u64::from(playouts);
        let at_once = u64::from(at_once).min(1 + n_known / 4) as usize;
        while self.leaves.len() < at_once {
            let n = u64::from(playouts).min(shared.n_left()) as u32;
            if n == 0 {
                break;
            }
            let start = self.steps.len();
            let mut chooser = Chooser {
                options,
                rng: &mut self.rng,
                policy: self.policy.as_mut(),
                scratch: &mut self.scratch.weights,
                k: self.k,
            };
            let end = shared.tree.descend(&mut self.steps, &mut chooser);
            let n_steps = self.steps.len() - start;
            shared.depth = shared.depth.max(n_steps as u32);
            self.judge_moves(shared, start, options);
            self.note_moves(shared, start);
            let first = self.leaves.len();
            self.push_leaf(shared, start, end, n);
            if end == End::Open && options.takes_siblings() {
                let most = (at_once - self.leaves.len()).min(options.leaves.siblings as usize);
                self.gather_siblings(shared, most, n);
            }
            let n_of_all: u32 = self.leaves[first..].iter().map(|leaf| leaf.n).sum();
            for step in &self.steps[start..start + n_steps.saturating_sub(1)] {
                shared.tree.mark(step.node, step.choice, n_of_all);
            }
        }
    }

    /// Other moves at the position of the last leaf that were never tried would be the next to be tried there: some are
    /// taken at once, so that the way down is gone once for all of them.
    fn gather_siblings(&mut self, shared: &mut Shared<'_, P>, most: usize, n: u32) {
        let first = self.leaves.len() - 1;
        let last = *self.steps.last().expect("a move leads out of the tree");
        let arms = shared.tree.arms_of(last.node);
        let n_arms = arms.len() as u64;
        for choice in (1..n_arms).map(|further| (last.choice + further) % n_arms) {
            if self.leaves[first].n_siblings >= most || shared.n_left() < u64::from(n) {
                break;
            }
            let score = &shared.tree.scores[arms.start + choice as usize];
            if score.child == NodeId::NONE && score.value == f32::INFINITY {
                let start = self.steps.len();
                self.steps.push(Step { node: last.node, choice });
                self.push_leaf(shared, start, End::Open, n);
                self.leaves[first].n_siblings += 1;
            }
        }
    }

    /// Takes a leaf in whose way are the steps from `start` on, and marks the last of these as being under way.
    fn push_leaf(&mut self, shared: &mut Shared<'_, P>, start: usize, end: End, n: u32) {
        let tree = &mut shared.tree;
        let steps = start..self.steps.len();
        let joint = self.joints.len();
        let state = match end {
            End::Open => {
                let last = self.steps.last().expect("a move leads out of the tree");
                tree.push_joint(last.node, last.choice, &mut self.joints);
                tree.states[last.node.index()].clone()
            }
            End::Again(id) => tree.states[id.index()].clone(),
            End::Exact(_) => None,
        };
        if let Some(last) = self.steps[steps.clone()].last() {
            tree.mark(last.node, last.choice, n);
        }
        shared.meter.n_iterations += u64::from(n);
        self.leaves.push(Leaf { steps, n_siblings: 0, end, n, state, joint, sprout: None, record: 0..0 });
    }

    /// Has the heuristic, if there is one for the tree, judge the moves on the way to a leaf.
    fn judge_moves(&mut self, shared: &mut Shared<'_, P>, start: usize, options: &MctsOptions) {
        let Some(heuristic) = self.heuristic.as_mut().filter(|_| options.heuristic.tree) else { return };
        for step in &self.steps[start..] {
            let judged = &mut self.scratch.judged;
            shared.tree.judge_moves(step.node, &mut self.position, heuristic, options, judged);
        }
    }

    /// Tells the policy of the playouts, if there is one, the moves on the way to a leaf.
    fn note_moves(&mut self, shared: &Shared<'_, P>, start: usize) {
        let Some(policy) = &mut self.policy else { return };
        let tree = &shared.tree;
        policy.begin();
        for step in &self.steps[start..] {
            let n_made = policy.n_made();
            tree.visit_choice(step.node, step.choice, |group, arm| {
                if group.n > 1 && Some(group.role) != tree.facts.nature {
                    policy.note(group.role, &tree.moves[arm]);
                }
            });
            policy.step(n_made);
        }
    }
}
