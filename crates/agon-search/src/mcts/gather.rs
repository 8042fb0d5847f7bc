//! The leaves of a round: where descents leave the tree.

use agon_game::Position;

use super::node::Kind;
use super::options::MctsOptions;
use super::round::Leaf;
use super::select::{Chooser, End, Step, breadth};
use super::worker::{Shared, Worker};

impl<P: Position> Worker<P> {
    /// Goes down the tree for the leaves of a round.
    pub(super) fn gather(&mut self, shared: &mut Shared<'_, P>, options: &MctsOptions) {
        self.round.clear();
        if self.plays_in_bulk(options) || options.plays_abreast() {
            self.gather_many(shared, options);
        } else {
            self.gather_one(shared, options);
        }
        self.judge_moves(shared, options);
        self.note_moves(shared);
    }

    fn gather_one(&mut self, shared: &mut Shared<'_, P>, options: &MctsOptions) {
        if shared.n_left() == 0 {
            return;
        }
        let mut chooser = Chooser {
            options,
            rng: &mut self.rng,
            policy: self.policy.as_mut(),
            scratch: &mut self.scratch.weights,
            totals: &mut self.scratch.totals,
            k: self.k,
            breadth: 1.0,
        };
        let end = shared.tree.descend(&mut self.round.steps, &mut chooser);
        shared.depth = shared.depth.max(self.round.steps.len() as u32);
        for step in &self.round.steps {
            shared.tree.mark(step.node, step.choice, step.marked);
        }
        let last = (self.round.steps.len() as u32).checked_sub(1).unwrap_or(Step::NONE);
        self.push_leaf(shared, last, end, 1);
    }

    fn gather_many(&mut self, shared: &mut Shared<'_, P>, options: &MctsOptions) {
        // A small tree has few leaves that are worth it.
        let n_known = shared.tree.node(shared.tree.root).visits / u64::from(self.playouts);
        // Strategies are mixed anew after each round only, so where they are, there have to be many.
        let worth = if shared.tree.has_mixes { n_known.isqrt() } else { n_known / 4 };
        let at_once = u64::from(self.round_size()).min(1 + worth) as usize;
        // Where several choose, none are taken along, as a rule that goes for the whole game.
        let has_siblings = options.takes_siblings()
            && matches!(shared.tree.node(shared.tree.root).kind, Kind::Alone(_));
        let family = if has_siblings { 1 + options.leaves.siblings as usize } else { 1 };
        // Where all ways lead to the same few leaves, these are the round.
        let mut n_gone = 0;
        while n_gone < at_once && shared.n_left() > 0 {
            // With siblings there may be more leaves than ways.
            let n_ways = (at_once - n_gone).div_ceil(family) as u64;
            let n_ways = n_ways.min(shared.n_left().div_ceil(u64::from(self.playouts))) as u32;
            let mut chooser = Chooser {
                options,
                rng: &mut self.rng,
                policy: None,
                scratch: &mut self.scratch.weights,
                totals: &mut self.scratch.totals,
                k: self.k,
                breadth: breadth(self.playouts),
            };
            let mut spreading = std::mem::take(&mut self.spreading);
            shared.tree.spread(
                n_ways,
                self.playouts,
                &mut self.round.steps,
                &mut spreading,
                &mut chooser,
            );
            shared.depth = shared.depth.max(spreading.depth);
            n_gone += spreading.tips.len().max(n_ways as usize);
            for tip in &spreading.tips {
                let n = u64::from(tip.n * self.playouts).min(shared.n_left()) as u32;
                if n > 0 {
                    self.push_leaf(shared, tip.step, tip.end, n);
                }
            }
            self.spreading = spreading;
            if self.spreading.tips.is_empty() {
                // Others are on their way to all that these ways led to, and further ways would lead there, too.
                break;
            }
        }
    }

    /// Takes a leaf, to which this step leads.
    fn push_leaf(&mut self, shared: &mut Shared<'_, P>, step: u32, end: End, n: u32) {
        let tree = &mut shared.tree;
        let joint = self.round.joints.len();
        let (state, length) = match end {
            End::Open => {
                let last = self.round.steps[step as usize];
                tree.push_joint(last.node, last.choice, &mut self.round.joints);
                let length = tree.node(last.node).length.saturating_sub(1);
                (tree.states[last.node.index()].clone(), length)
            }
            End::Again(id) => (tree.states[id.index()].clone(), tree.node(id).length),
            End::Exact(_) => (None, 0),
        };
        shared.meter.n_iterations += u64::from(n);
        self.round.leaves.push(Leaf {
            step,
            end,
            n,
            length,
            state,
            joint,
            sprout: None,
            record: 0..0,
        });
    }

    /// Has the heuristic, if there is one for the tree, judge the moves on the ways to the leaves.
    fn judge_moves(&mut self, shared: &mut Shared<'_, P>, options: &MctsOptions) {
        let Some(judge) = self.heuristic.as_mut().filter(|_| options.heuristic.tree) else {
            return;
        };
        let mut is_time = false;
        for step in &self.round.steps {
            is_time |= shared.tree.note_due(step.node, options);
        }
        if is_time {
            shared.tree.judge_due(&mut self.lockstep, &self.position, judge, options);
        }
    }

    /// Tells the policy of the playouts, if there is one, the moves on the way to the only leaf.
    fn note_moves(&mut self, shared: &Shared<'_, P>) {
        let Some(policy) = &mut self.policy else { return };
        let tree = &shared.tree;
        policy.begin();
        for step in &self.round.steps {
            let n_made = policy.n_made();
            let (moves, first) = (tree.moves_of(step.node), tree.arms_of(step.node).start);
            tree.visit_choice(step.node, step.choice, |group, arm| {
                if group.n > 1 && Some(group.role) != tree.facts.nature {
                    policy.note(group.role, &moves[arm - first]);
                }
            });
            policy.step(n_made);
        }
    }
}
