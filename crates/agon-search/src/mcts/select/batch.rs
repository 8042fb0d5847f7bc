//! Many descents at once: the leaves of a batch are distributed over the moves of the root, then
//! over the moves of the nodes that these lead to, and so on.
//!
//! The result is that of one descent after another. All that a descent leaves behind for the next
//! one is that its playouts are pending, and here, too, they are counted before the next choice.
//! But a node that many paths go through is visited once on the way down and once on the way back
//! up.

use agon_game::Position;

use super::{MAX_DEPTH, SelectContext, fast_ln};
use crate::mcts::leaf_batch::{PathEnd, Step};
use crate::mcts::tree::{NodeId, NodeKind, Tree};

/// A leaf that paths lead to, before anything is known of it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct SelectedLeaf {
    /// The number of the last step of its path.
    pub(crate) step: u32,
    pub(crate) end: PathEnd,
    /// How many of the leaves that were asked for it stands for.
    pub(crate) n: u32,
}

/// A node that `n` paths go on from.
#[derive(Copy, Clone, Debug)]
struct Visit {
    /// The step that leads there.
    step: u32,
    id: NodeId,
    n: u32,
    depth: u32,
}

/// The leaves of the last call of [`Tree::select_batch`], and memory for the next one.
#[derive(Default)]
pub(crate) struct BatchSelection {
    leaves: Vec<SelectedLeaf>,
    /// In breadth-first order, those that are done included: what is prefetched for a node has
    /// arrived from memory when its turn comes.
    visits: Vec<Visit>,
    picks: Vec<(u64, u32)>,
    /// By step: pending playouts that are not made after all.
    excess: Vec<u32>,
    /// The length of the longest path so far.
    depth: u32,
}

impl BatchSelection {
    pub(crate) fn leaves(&self) -> &[SelectedLeaf] {
        &self.leaves
    }

    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }
}

impl<P: Position> Tree<P> {
    /// Descends from the root along `n` paths, each for this number of playouts, which count as
    /// pending. Where a path leaves the tree, other moves that were never tried would be the next
    /// to be chosen: some of them are added to the batch.
    pub(crate) fn select_batch(
        &mut self,
        n: u32,
        playouts: u32,
        steps: &mut Vec<Step>,
        selection: &mut BatchSelection,
        context: &mut SelectContext<'_, P::Move>,
    ) {
        self.nodes.begin_pass();
        selection.leaves.clear();
        selection.visits.clear();
        selection.excess.clear();
        selection.visits.push(Visit { step: Step::NONE, id: self.root, n, depth: 0 });
        let first_step = steps.len();
        let mut n_done = 0;
        while let Some(&visit) = selection.visits.get(n_done) {
            n_done += 1;
            if let Some(next) = selection.visits.get(n_done + 1) {
                self.prefetch_arms(next.id);
            }
            selection.depth = selection.depth.max(visit.depth);
            if let Some(end) = self.path_end(&visit, steps) {
                selection.leaves.push(SelectedLeaf { step: visit.step, end, n: visit.n });
                continue;
            }
            self.enter(&visit, steps);
            selection.picks.clear();
            let n_untried =
                self.distribute(visit.id, visit.n, playouts, &mut selection.picks, context);
            if n_untried > 0 {
                let most = (1 + context.options.leaves.siblings).saturating_sub(n_untried);
                self.add_untried_siblings(visit.id, most, playouts, &mut selection.picks);
            }
            self.follow_picks(&visit, playouts, first_step, steps, selection);
        }
        self.release_excess(&mut steps[first_step..], first_step, &mut selection.excess);
    }

    /// Returns why a path ends at a node, if it does.
    fn path_end(&self, visit: &Visit, steps: &[Step]) -> Option<PathEnd> {
        let id = visit.id;
        let node = &self.nodes[id];
        // A solved root is searched on, because the values of its moves may still be unknown.
        if node.kind == NodeKind::Terminal
            || self.is_solving && id != self.root && self.is_solved(id)
        {
            return Some(PathEnd::Solved(id));
        }
        // If a path of the batch has come through the node, it may be this one.
        let mut path = std::iter::successors(steps.get(visit.step as usize), |step| {
            steps.get(step.before as usize)
        });
        let is_cycle = self.nodes.is_stamped(id) && path.any(|step| step.node == id);
        (is_cycle || visit.depth as usize >= MAX_DEPTH).then_some(PathEnd::Cycle(id))
    }

    /// Prepares a node for the choice of moves.
    fn enter(&mut self, visit: &Visit, steps: &[Step]) {
        self.nodes.stamp(visit.id);
        if !self.nodes[visit.id].has_arms() {
            self.ensure_arms(visit.id);
            // The link to the node says where its arms are.
            if let Some(step) = steps.get(visit.step as usize) {
                self.set_child(step.node, step.choice, visit.id);
            }
        }
    }

    /// Makes a step of each move that was chosen at a node. It leads to a leaf, or to a node that
    /// is visited later.
    fn follow_picks(
        &self,
        visit: &Visit,
        playouts: u32,
        first_step: usize,
        steps: &mut Vec<Step>,
        selection: &mut BatchSelection,
    ) {
        let &Visit { step, id, depth, .. } = visit;
        for &(choice, n) in &selection.picks {
            let child = self.child(id, choice);
            let pending = n * playouts;
            let next = steps.len() as u32;
            steps.push(Step { node: id, choice, before: step, pending });
            if child != NodeId::NONE {
                self.prefetch_child(id, choice, child);
                selection.visits.push(Visit { step: next, id: child, n, depth: depth + 1 });
                continue;
            }
            selection.depth = selection.depth.max(depth + 1);
            let is_wanted = !self.is_in_flight(id, choice, pending);
            if is_wanted {
                let leaf = SelectedLeaf { step: next, end: PathEnd::Unexpanded, n: 1 };
                selection.leaves.push(leaf);
            }
            let excess = pending - if is_wanted { playouts } else { 0 };
            if excess > 0 {
                selection.excess.resize(steps.len() - first_step, 0);
                selection.excess[next as usize - first_step] = excess;
            }
        }
    }

    /// Returns whether an earlier batch has selected the leaf that a move leads to. `own` is the
    /// number of playouts that this batch has pending there.
    fn is_in_flight(&self, id: NodeId, choice: u64, own: u32) -> bool {
        let node = &self.nodes[id];
        // Where several roles choose, it is not known which of their moves are pending together.
        matches!(node.kind, NodeKind::Alone(_))
            && self.arms[node.first_arm as usize + choice as usize].pending > own
    }

    /// Takes back pending playouts that are not made, given by the last steps of their paths: a
    /// second visit to a leaf before the result of the first tells next to nothing. All paths are
    /// taken back together, because most of them go through the same nodes.
    fn release_excess(&mut self, steps: &mut [Step], first: usize, excess: &mut [u32]) {
        for at in (0..excess.len()).rev() {
            if excess[at] == 0 {
                continue;
            }
            let step = &mut steps[at];
            step.pending -= excess[at];
            let released = Step { pending: excess[at], ..*step };
            if step.before != Step::NONE {
                excess[step.before as usize - first] += excess[at];
            }
            self.remove_pending(released);
        }
    }

    /// Distributes `n` paths over the moves of a node, whose playouts become pending. Returns how
    /// many paths go to moves that were never tried.
    fn distribute(
        &mut self,
        id: NodeId,
        n: u32,
        playouts: u32,
        picks: &mut Vec<(u64, u32)>,
        context: &mut SelectContext<'_, P::Move>,
    ) -> u32 {
        let node = &self.nodes[id];
        let first_arm = node.first_arm as usize;
        let role = match node.kind {
            NodeKind::Alone(role) => role,
            NodeKind::Terminal => unreachable!("paths end at terminal nodes"),
            NodeKind::Joint | NodeKind::Sparse => {
                self.choose_joint_often(id, n, playouts, picks, context);
                return 0;
            }
        };
        let is_nature = self.facts.is_nature(role);
        let plain_ucb1 = if context.policy.is_none() && !is_nature {
            self.plain_ucb1(id, context)
        } else {
            None
        };
        let (mut left, mut n_untried) = (n, 0);
        while left > 0 {
            let (choice, n) = match plain_ucb1 {
                _ if self.nodes[id].n_arms == 1 => (0, left),
                Some(c) => self.choose_repeatedly(id, c, left, playouts),
                None if is_nature => (self.next_outcome(id), 1),
                None => (self.choose_alone(id, role, None, context) as u64, 1),
            };
            let arm = &self.arms[first_arm + choice as usize];
            if !is_nature
                && arm.visits == 0
                && arm.pending == 0
                && self.child(id, choice) == NodeId::NONE
            {
                n_untried += 1;
            }
            self.add_pending(id, choice, n * playouts);
            left -= n;
            match picks.iter_mut().find(|pick| pick.0 == choice) {
                Some(pick) => pick.1 += n,
                None => picks.push((choice, n)),
            }
        }
        if plain_ucb1.is_some() { n_untried } else { 0 }
    }

    /// Returns the best move by UCB1, and how many times in a row it is the best: until its pending
    /// playouts make another one better. At most `most` times.
    fn choose_repeatedly(&self, id: NodeId, c: f32, most: u32, playouts: u32) -> (u64, u32) {
        let node = &self.nodes[id];
        let visits = node.visits_and_pending() as f32;
        let explore = c * self.facts.range() as f32 * fast_ln(visits).sqrt();
        let scores = self.arms.scores(node.arms());
        let order = node.first_arm_in_order();
        let (mut best, mut second) = ((f32::NEG_INFINITY, order), f32::NEG_INFINITY);
        for (from, scores) in [(order, &scores[order..]), (0, &scores[..order])] {
            for (at, score) in scores.iter().enumerate() {
                let score = score.value + explore * score.width;
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
        } else if let NodeKind::Alone(role) = node.kind {
            self.mean(id, role) as f32
        } else {
            unreachable!("one role chooses here")
        };
        let loss = self.arms.loss_per_pending(mean);
        let is_best_after = |times: u32| {
            let pending = (arm.pending + times * playouts) as f32;
            let n = arm.visits as f32 + pending;
            mean - loss * pending / n + explore / n.sqrt() > second
        };
        // As a rule, and far from the root most of all, no other move comes near the best.
        if is_best_after(most - 1) {
            return (choice, most);
        }
        // After `lo` times it is still the best, after `hi` times it is not.
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

    /// Adds at most `most` further moves that were never tried.
    fn add_untried_siblings(
        &mut self,
        id: NodeId,
        most: u32,
        playouts: u32,
        picks: &mut Vec<(u64, u32)>,
    ) {
        let arms = self.nodes[id].arms();
        let n_arms = arms.len() as u64;
        let Some(&(last, _)) = picks.last() else { return };
        let mut n = 0;
        for choice in (1..n_arms).map(|further| (last + further) % n_arms) {
            if n == most {
                return;
            }
            let score = self.arms.score(arms.start + choice as usize);
            if score.child == NodeId::NONE && score.value == f32::INFINITY {
                self.add_pending(id, choice, playouts);
                picks.push((choice, 1));
                n += 1;
            }
        }
    }
}
