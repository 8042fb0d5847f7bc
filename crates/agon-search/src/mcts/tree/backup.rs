//! Backup: the results of playouts are added to every node on the path to their leaf.

use agon_game::{Position, Role};

use super::Tree;
use super::arena::NumberSet;
use super::node::{NodeId, NodeKind, Proof};
use crate::mcts::leaf_batch::Step;
use crate::mcts::options::{Amaf, MctsOptions};

/// The results of the playouts from a leaf, or from all leaves below a step.
pub(crate) struct Outcome<'a> {
    /// The number of playouts.
    pub(crate) n: u32,
    /// By role: the sum of the payoffs.
    pub(crate) sums: &'a mut [f64],
    /// By role: the sum of the squares of the payoffs.
    pub(crate) squares: &'a mut [f64],
}

impl<P: Position> Tree<P> {
    /// Counts `n` playouts as pending at a node and at the arms of a choice.
    #[inline(always)]
    pub(crate) fn add_pending(&mut self, id: NodeId, choice: u64, n: u32) {
        let node = self.nodes.get_mut(id);
        node.pending += n;
        if let NodeKind::Alone(role) = node.kind {
            let (at, has_open_arm) = (node.first_arm as usize + choice as usize, node.has_open_arm);
            self.arms.get_mut(at).pending += n;
            // A move that was never visited counts as much as the node.
            let mean = if self.arms[at].visits == 0 { self.mean(id, role) as f32 } else { 0.0 };
            self.arms.update_score(at, has_open_arm, mean);
            return;
        }
        self.change_joint_pending(id, choice, |pending| *pending += n);
    }

    /// Takes back the pending playouts of a step whose playouts are not made.
    pub(crate) fn remove_pending(&mut self, step: Step) {
        let node = self.nodes.get_mut(step.node);
        node.pending -= step.pending;
        if let NodeKind::Alone(role) = node.kind {
            let at = node.first_arm as usize + step.choice as usize;
            let has_open_arm = node.has_open_arm;
            self.arms.get_mut(at).pending -= step.pending;
            let mean = self.mean(step.node, role) as f32;
            self.arms.update_score(at, has_open_arm, mean);
            return;
        }
        self.change_joint_pending(step.node, step.choice, |pending| *pending -= step.pending);
    }

    /// Changes the number of pending playouts of all arms of a joint move.
    fn change_joint_pending(&mut self, id: NodeId, choice: u64, change: impl Fn(&mut u32)) {
        let node = &self.nodes[id];
        let first_arm = node.first_arm as usize;
        let mut left = choice;
        for at in node.groups().rev() {
            let group = self.groups[at];
            let arm = first_arm + group.first as usize + (left % u64::from(group.n)) as usize;
            left /= u64::from(group.n);
            change(&mut self.arms.get_mut(arm).pending);
            self.update_decoupled_score(id, group.role, arm);
        }
    }

    /// Computes the score of an arm again, where several roles choose.
    #[inline]
    fn update_decoupled_score(&mut self, id: NodeId, role: Role, arm: usize) {
        let known = &self.arms[arm];
        let mean = if known.visits > 0 { known.mean } else { self.mean(id, role) as f32 };
        self.arms.update_decoupled_score(arm, mean);
    }

    /// Adds an outcome to the statistics of one node.
    #[inline]
    pub(super) fn add_outcome(&mut self, id: NodeId, outcome: &Outcome<'_>) {
        self.nodes.get_mut(id).visits += u64::from(outcome.n);
        self.payoffs.add(id, outcome.sums, outcome.squares);
    }

    /// Adds the outcome of a step's child, which has it already, to the node where the step is
    /// made. What is proved of the child counts more than what was sampled: the outcome is clamped
    /// to the bounds.
    #[inline(always)]
    pub(super) fn back_up(&mut self, step: Step, outcome: &mut Outcome<'_>) {
        let id = step.node;
        let child = self.child(id, step.choice);
        let is_child_bounded = self.nodes[child].proof != Proof::None;
        if is_child_bounded {
            self.clamp_outcome(child, outcome);
        }
        self.add_outcome(id, outcome);
        if self.implicit.is_used() {
            self.back_up_implicit(id);
        }
        let node = self.nodes.get_mut(id);
        node.pending -= step.pending;
        match node.kind {
            NodeKind::Terminal => unreachable!("no step is made at a terminal node"),
            NodeKind::Alone(role) => {
                let at = node.first_arm as usize + step.choice as usize;
                let has_open_arm = node.has_open_arm;
                let mean = self.mean(child, role);
                let needs_variance = self.payoffs.has_squares();
                let variance = if needs_variance { self.variance(child, role) } else { 0.0 };
                let arm = self.arms.get_mut(at);
                arm.visits = arm.visits.saturating_add(outcome.n);
                arm.pending -= step.pending;
                arm.mean = mean as f32;
                arm.variance = variance as f32;
                self.arms.update_score(at, has_open_arm, mean as f32);
                if self.is_solving && is_child_bounded {
                    self.take_in_bounds(id, role, at, child);
                }
            }
            NodeKind::Joint | NodeKind::Sparse => {
                let is_tabled = node.kind == NodeKind::Joint;
                self.add_to_arms(step, outcome);
                if is_tabled && self.groups.has_regrets() {
                    self.add_regrets(id, step.choice);
                }
                if is_tabled
                    && self.is_solving
                    && is_child_bounded
                    && self.may_tighten(id, step.choice, child)
                {
                    self.tighten(id);
                }
            }
        }
    }

    #[inline]
    fn clamp_outcome(&self, child: NodeId, outcome: &mut Outcome<'_>) {
        let n = f64::from(outcome.n);
        for role in 0..self.facts.n_roles {
            let [lo, hi] = self.bound(child, Role::new(role));
            let sum = outcome.sums[role].clamp(lo * n, hi * n);
            if sum != outcome.sums[role] {
                outcome.sums[role] = sum;
                outcome.squares[role] = sum * sum / n;
            }
        }
    }

    /// Tightens the bounds of a node where one role chooses, if its child has new ones.
    #[inline]
    fn take_in_bounds(&mut self, id: NodeId, role: Role, arm: usize, child: NodeId) {
        let [lo, hi] = self.bound(child, role);
        let [known_lo, known_hi] = self.arm_bound(id, arm);
        let is_tighter = lo > known_lo || hi < known_hi;
        // Bounds of other roles may be tighter although those of this one are not, as under nature.
        let is_chance = self.facts.is_nature(role);
        let is_new_solution = self.is_solved(child) && !self.arms[arm].is_child_counted;
        self.arms.get_mut(arm).is_child_counted |= is_new_solution;
        if is_tighter || is_chance || is_new_solution {
            self.tighten(id);
        }
    }

    /// Adds an outcome to the arms of a joint move.
    fn add_to_arms(&mut self, step: Step, outcome: &Outcome<'_>) {
        let id = step.node;
        let range = self.facts.range();
        let min = self.facts.low;
        let node = &self.nodes[id];
        let first_arm = node.first_arm as usize;
        let mut left = step.choice;
        for at in node.groups().rev() {
            let group = self.groups[at];
            let digit = (left % u64::from(group.n)) as usize;
            left /= u64::from(group.n);
            let role = group.role.index();
            let at = first_arm + group.first as usize + digit;
            let arm = self.arms.get_mut(at);
            arm.pending -= step.pending;
            arm.visits = arm.visits.saturating_add(outcome.n);
            let n = f64::from(outcome.n);
            let weight = n / f64::from(arm.visits);
            let mean = outcome.sums[role] / n;
            let square =
                (outcome.squares[role] / n - 2.0 * mean * min + min * min) / (range * range);
            let scaled = (f64::from(arm.mean) - min) / range;
            let known_square = f64::from(arm.variance) + scaled * scaled;
            // Before the first outcome, the mean and the variance of an arm mean nothing.
            let known = if arm.visits == outcome.n { mean } else { f64::from(arm.mean) };
            let known_square = if arm.visits == outcome.n { square } else { known_square };
            let mean = known + (mean - known) * weight;
            let square = known_square + (square - known_square) * weight;
            let scaled = (mean - min) / range;
            arm.mean = mean as f32;
            arm.variance = (square - scaled * scaled).max(0.0) as f32;
            self.update_decoupled_score(id, group.role, at);
        }
    }

    /// Backs up implicit minimax values: for a player that chooses alone, those of its best child;
    /// under nature, the mean of the children. Where several roles choose at once, the value that
    /// the heuristic gave stays.
    fn back_up_implicit(&mut self, id: NodeId) {
        let node = &self.nodes[id];
        let NodeKind::Alone(role) = node.kind else { return };
        let children = self.arms.scores(node.arms()).iter().map(|score| score.child);
        if self.facts.is_nature(role) {
            let chances = self.groups.chances(&self.groups.of(node)[0]);
            let pairs = children.zip(chances).map(|(child, &chance)| (child, chance as f32));
            self.implicit.back_up_mean(id, pairs.filter(|&(child, _)| child != NodeId::NONE));
        } else {
            let known = children.filter(|&child| child != NodeId::NONE);
            self.implicit.back_up_best(id, role, known);
        }
    }

    /// Updates the AMAF statistics along a path. `record` holds the moves of the playout; the moves
    /// of the steps are added from the leaf upwards.
    pub(super) fn learn_moves(
        &mut self,
        steps: &[Step],
        record: &[(Role, P::Move)],
        payoffs: &[f64],
        options: &MctsOptions,
        made: &mut NumberSet,
    ) {
        if options.amaf == Amaf::Off {
            return;
        }
        self.amaf.begin(record, made);
        for step in steps.iter().rev() {
            self.visit_choice(step.node, step.choice, |_, arm| self.amaf.add_move(arm, made));
            match options.amaf {
                Amaf::Off => return,
                Amaf::Rave { .. } => self.amaf.learn_rave(&self.nodes[step.node], made, payoffs),
                Amaf::Grave { .. } => {
                    self.amaf.learn_grave(self.nodes.get_mut(step.node), made, payoffs);
                }
            }
        }
    }
}
