//! Many ways down at once: a round's leaves shared out among the moves of a position, then among those of the positions that they
//! lead to.
//!
//! One descent after another would choose the same: what a descent leaves behind for the next is that its steps are under way,
//! and that is noted here before the next choice, too. But a position that many of the ways go through is looked at once, on the way
//! down and on the way back up.

use agon_game::Position;

use super::node::{Kind, NO_ARMS, NodeId};
use super::options::{Amaf, Bandit, FirstPlay};
use super::select::{Chooser, End, MAX_DEPTH, Step, first_in_turn, rough_log};
use super::tree::Tree;

/// Where ways lead to: a leaf, before anything is known of it.
#[derive(Copy, Clone, Debug)]
pub(super) struct Tip {
    /// The last step, by number.
    pub(super) step: u32,
    pub(super) end: End,
    /// How many of the round's leaves it stands for.
    pub(super) n: u32,
}

/// So many ways go on from a position, to which a step has led.
#[derive(Copy, Clone, Debug)]
struct Task {
    step: u32,
    id: NodeId,
    n: u32,
    depth: u32,
}

/// What going many ways at once needs again and again.
#[derive(Default)]
pub(super) struct Spreading {
    pub(super) tips: Vec<Tip>,
    /// In the order in which they come up, those that are done included: what a position is asked for has come from memory by the time
    /// it is its turn.
    tasks: Vec<Task>,
    picks: Vec<(u64, u32)>,
    /// By step: playouts that it was marked for and that are not made.
    excess: Vec<u32>,
    /// The longest way.
    pub(super) depth: u32,
}

impl<P: Position> Tree<P> {
    /// Goes down from the root in `n` ways, each for this number of playouts, which count as under way. Where a way leads out of
    /// the tree, other moves that were never tried would be the next to be tried: some of them are taken along.
    pub(super) fn spread(
        &mut self,
        n: u32,
        playouts: u32,
        steps: &mut Vec<Step>,
        spreading: &mut Spreading,
        chooser: &mut Chooser<'_, P::Move>,
    ) {
        self.last_stamp = self.last_stamp.wrapping_add(1).max(1);
        spreading.tips.clear();
        spreading.tasks.clear();
        spreading.excess.clear();
        spreading.tasks.push(Task { step: Step::NONE, id: self.root, n, depth: 0 });
        let first_step = steps.len();
        let mut n_done = 0;
        while let Some(&Task { step, id, n, depth }) = spreading.tasks.get(n_done) {
            n_done += 1;
            if let Some(next) = spreading.tasks.get(n_done + 1) {
                self.ask_arms(next.id);
            }
            spreading.depth = spreading.depth.max(depth);
            if let Some(end) = self.end_at(id, step, steps, depth) {
                spreading.tips.push(Tip { step, end, n });
                continue;
            }
            self.nodes[id.index()].stamp = self.last_stamp;
            if self.node(id).first_arm == NO_ARMS {
                self.grow_arms(id);
                if let Some(step) = steps.get(step as usize) {
                    self.set_child(step.node, step.choice, id);
                }
            }
            spreading.picks.clear();
            let n_untried = self.share(id, n, playouts, &mut spreading.picks, chooser);
            if n_untried > 0 {
                let most = (1 + chooser.options.leaves.siblings).saturating_sub(n_untried);
                self.take_along(id, most, playouts, &mut spreading.picks);
            }
            for &(choice, n) in &spreading.picks {
                let child = self.child(id, choice);
                let marked = n * playouts;
                let next = steps.len() as u32;
                steps.push(Step { node: id, choice, before: step, marked });
                if child == NodeId::NONE {
                    spreading.depth = spreading.depth.max(depth + 1);
                    let is_wanted = !self.is_under_way(id, choice, marked);
                    if is_wanted {
                        spreading.tips.push(Tip { step: next, end: End::Open, n: 1 });
                    }
                    let excess = marked - if is_wanted { playouts } else { 0 };
                    if excess > 0 {
                        spreading.excess.resize(steps.len() - first_step, 0);
                        spreading.excess[next as usize - first_step] = excess;
                    }
                } else {
                    self.ask_for(id, choice, child);
                    spreading.tasks.push(Task { step: next, id: child, n, depth: depth + 1 });
                }
            }
        }
        self.give_back(&mut steps[first_step..], first_step, &mut spreading.excess);
    }

    /// Whether somebody else is on the way to where this move leads, of which so much is our own.
    fn is_under_way(&self, id: NodeId, choice: u64, own: u32) -> bool {
        let node = self.node(id);
        // Where several choose it is not known which of their moves are under way together.
        matches!(node.kind, Kind::Alone(_))
            && self.arms[node.first_arm as usize + choice as usize].pending > own
    }

    /// Takes back playouts that are not made, by the last steps of their ways: a second look at a position before anybody knows what came of the
    /// first tells next to nothing. All ways are taken back together, for most of them go through the same positions.
    fn give_back(&mut self, steps: &mut [Step], first: usize, excess: &mut [u32]) {
        for at in (0..excess.len()).rev() {
            if excess[at] == 0 {
                continue;
            }
            let step = &mut steps[at];
            step.marked -= excess[at];
            let taken = Step { marked: excess[at], ..*step };
            if step.before != Step::NONE {
                excess[step.before as usize - first] += excess[at];
            }
            self.unmark(taken);
        }
    }

    /// Whether a way, of which this is the last step, ends at a position: where all is known, and where it has been before.
    fn end_at(&self, id: NodeId, step: u32, steps: &[Step], depth: u32) -> Option<End> {
        let node = self.node(id);
        // The root is searched on where its own value is known, but not what its moves are worth.
        if node.kind == Kind::Ended || self.solver && id != self.root && self.is_settled(id) {
            return Some(End::Exact(id));
        }
        // Some way of the round has been there, this one perhaps.
        let mut way =
            std::iter::successors(steps.get(step as usize), |step| steps.get(step.before as usize));
        let is_again = node.stamp == self.last_stamp && way.any(|step| step.node == id);
        (is_again || depth as usize >= MAX_DEPTH).then_some(End::Again(id))
    }

    /// Shares out ways among the moves of a position, and marks these. Returns how many go to moves that were never tried.
    fn share(
        &mut self,
        id: NodeId,
        n: u32,
        playouts: u32,
        picks: &mut Vec<(u64, u32)>,
        chooser: &mut Chooser<'_, P::Move>,
    ) -> u32 {
        let node = self.node(id);
        let first_arm = node.first_arm as usize;
        let role = match node.kind {
            Kind::Alone(role) => role,
            Kind::Ended => unreachable!("such ways have ended"),
            Kind::Joint | Kind::Sparse => {
                self.share_together(id, n, playouts, picks, chooser);
                return 0;
            }
        };
        let is_nature = Some(role) == self.facts.nature;
        let plainly =
            match (chooser.options.bandit, chooser.options.amaf, chooser.options.first_play) {
                (Bandit::Ucb1 { c }, Amaf::Off, FirstPlay::First)
                    if chooser.policy.is_none() && !is_nature && !self.is_judged(first_arm) =>
                {
                    Some(c as f32 * chooser.breadth)
                }
                _ => None,
            };
        let (mut left, mut n_untried) = (n, 0);
        while left > 0 {
            let (choice, n) = match plainly {
                _ if self.node(id).n_arms == 1 => (0, left),
                Some(c) => self.choose_often(id, c, left, playouts),
                None if is_nature => (self.due_outcome(id), 1),
                None => (self.choose_alone(id, role, None, chooser) as u64, 1),
            };
            let arm = &self.arms[first_arm + choice as usize];
            if !is_nature
                && arm.visits == 0
                && arm.pending == 0
                && self.child(id, choice) == NodeId::NONE
            {
                n_untried += 1;
            }
            self.mark(id, choice, n * playouts);
            left -= n;
            match picks.iter_mut().find(|pick| pick.0 == choice) {
                Some(pick) => pick.1 += n,
                None => picks.push((choice, n)),
            }
        }
        if plainly.is_some() { n_untried } else { 0 }
    }

    /// The best move of a role that chooses plainly, and how many times in a row it is that: until playouts under way make another
    /// one better.
    fn choose_often(&self, id: NodeId, c: f32, most: u32, playouts: u32) -> (u64, u32) {
        let node = self.node(id);
        let visits = (node.visits + u64::from(node.pending)) as f32;
        let explore = c * self.facts.range() as f32 * rough_log(visits).sqrt();
        let scores = &self.scores[node.first_arm as usize..][..node.n_arms as usize];
        let turn = first_in_turn(node);
        let (mut best, mut second) = ((f32::NEG_INFINITY, turn), f32::NEG_INFINITY);
        for (from, scores) in [(turn, &scores[turn..]), (0, &scores[..turn])] {
            for (at, score) in scores.iter().enumerate() {
                let score = score.value + explore * score.spread;
                if score > best.0 {
                    second = best.0;
                    best = (score, from + at);
                } else {
                    second = second.max(score);
                }
            }
        }
        let choice = best.1 as u64;
        if most == 1 || !best.0.is_finite() {
            return (choice, 1);
        }
        let arm = &self.arms[node.first_arm as usize + best.1];
        let mean = if arm.visits > 0 {
            arm.mean
        } else if let Kind::Alone(role) = node.kind {
            self.mean(id, role) as f32
        } else {
            unreachable!("one role chooses here")
        };
        let loss = self.virtual_loss * (mean - self.facts.min as f32);
        let is_best_after = |times: u32| {
            let pending = (arm.pending + times * playouts) as f32;
            let n = arm.visits as f32 + pending;
            mean - loss * pending / n + explore / n.sqrt() > second
        };
        // As a rule, far from the root most of all, nothing comes near the best.
        if is_best_after(most - 1) {
            return (choice, most);
        }
        // After `lo` times it is the best still, after `hi` times it is not.
        let (mut lo, mut hi) = (0, most - 1);
        while hi - lo > 1 {
            let middle = lo + (hi - lo) / 2;
            if is_best_after(middle) {
                lo = middle;
            } else {
                hi = middle;
            }
        }
        (choice, hi)
    }

    /// Takes further moves that were never tried.
    fn take_along(&mut self, id: NodeId, most: u32, playouts: u32, picks: &mut Vec<(u64, u32)>) {
        let arms = self.arms_of(id);
        let n_arms = arms.len() as u64;
        let Some(&(last, _)) = picks.last() else { return };
        let mut n = 0;
        for choice in (1..n_arms).map(|further| (last + further) % n_arms) {
            if n == most {
                return;
            }
            let score = &self.scores[arms.start + choice as usize];
            if score.child == NodeId::NONE && score.value == f32::INFINITY {
                self.mark(id, choice, playouts);
                picks.push((choice, 1));
                n += 1;
            }
        }
    }
}
