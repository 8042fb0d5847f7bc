//! Positions at the horizon: their children are evaluated instead of searched.
//!
//! An engine makes 256 steps at once, and most positions have far fewer moves. So siblings at the
//! horizon are expanded together: the first of them alone, because it may cause a cutoff, then a
//! small group, then large ones. The result of the search does not depend on the groups.

use std::ops::Range;

use agon_game::{Children, Position};

use super::EvaluateChildren;
use super::score::Score;
use super::worker::{Node, Run, Worker, for_mover, store, usable};

/// The children of several siblings, made in one pass of the engine.
pub(super) struct Group<P: Position> {
    children: Children<P::State, P::Move>,
    /// The siblings, as indices among the children of their parent.
    siblings: Vec<u16>,
}

impl<P: Position> Group<P> {
    pub(super) fn new(n_roles: usize) -> Group<P> {
        Group { children: Children::new(n_roles), siblings: Vec::new() }
    }

    /// Forgets the siblings of another position.
    pub(super) fn clear(&mut self) {
        self.siblings.clear();
    }

    /// Returns the number of a sibling in the group.
    pub(super) fn number_of(&self, child: usize) -> Option<usize> {
        self.siblings.iter().position(|&sibling| usize::from(sibling) == child)
    }
}

/// A position at the horizon.
pub(super) struct Horizon<'c, P: Position> {
    /// Its children, among others.
    children: &'c Children<P::State, P::Move>,
    range: Range<usize>,
    key: u64,
    /// The best child by the transposition table, counted from the first.
    hash_move: Option<u16>,
}

/// Number of siblings in the group that follows the first one, and in the groups after that. The
/// first group is small because its members may cause a cutoff, too.
const GROUP_SIZES: [usize; 2] = [6, 24];
/// Number of steps that an engine makes at once. More siblings than have room in it gain nothing.
const LANES: usize = 256;
/// Number of looks for replies before their number is judged.
const MIN_LOOKS: u64 = 2000;
/// Maximum number of looks for each winning reply that is found. Looking costs about as much as the
/// children of a position.
const MAX_LOOKS_PER_REPLY: u64 = 12;

impl<P: Position + 'static, E: EvaluateChildren<P::State>> Worker<P, E> {
    /// Expands the option at a rank together with some of those after it, unless that has been
    /// done. All of them are at the horizon.
    pub(super) fn expand_group(&mut self, run: &Run<'_, '_>, node: Node, rank: usize) {
        let frame = &self.frames[node.ply];
        // Siblings have about as many children as their parent.
        let room = LANES / frame.children.len().max(1);
        let option = usize::from(frame.order[rank].1);
        if room < 2 || frame.group.number_of(option).is_some() {
            return;
        }
        let mut group = std::mem::replace(&mut self.frames[node.ply].group, Group::new(0));
        let size = GROUP_SIZES[usize::from(!group.siblings.is_empty())].min(room);
        group.clear();
        for at in rank..self.frames[node.ply].order.len() {
            let child = self.frames[node.ply].order[at].1;
            if group.siblings.len() == size {
                break;
            }
            if self.is_for_group(run, node, child.into()) {
                group.siblings.push(child);
            }
        }
        let states = &self.frames[node.ply].children.states;
        let states: Vec<&P::State> =
            group.siblings.iter().map(|&child| &states[usize::from(child)]).collect();
        if !states.is_empty() {
            self.batch.expand(&states, &mut group.children);
        }
        self.frames[node.ply].group = group;
    }

    /// Returns whether the children of a child at the horizon have to be evaluated: its score in a
    /// null window is not known, and at most one player chooses there.
    fn is_for_group(&mut self, run: &Run<'_, '_>, node: Node, child: usize) -> bool {
        let children = &self.frames[node.ply].children;
        if children.ended[child] || self.both_choose(children, child) {
            return false;
        }
        let (alpha, beta) = (node.alpha.one_step_after(), node.alpha.plus(1).one_step_after());
        let mover = self.mover(children, child);
        let (alpha, beta) = if mover == node.mover { (alpha, beta) } else { (-beta, -alpha) };
        let node = Node { depth: 1, ply: node.ply + 1, mover, alpha, beta };
        let state = children.states[child].clone();
        let entry = run.table.get(self.key_of(&state));
        entry.is_none_or(|entry| usable(entry, &node).is_none())
    }

    /// Returns the score of a position that has been expanded with its siblings, by its number in
    /// the group. `None` if it has to be searched: a forced move costs no depth.
    pub(super) fn evaluate_in_group(
        &mut self,
        run: &mut Run<'_, '_>,
        state: &P::State,
        node: Node,
        number: usize,
        (key, hash_move): (u64, Option<u16>),
    ) -> Option<Score> {
        let range = self.frames[node.ply - 1].group.children.children_of(number);
        if range.len() == 1 {
            return None;
        }
        run.meter.n_nodes += range.len() as u64;
        let n_roles = self.position.shape().role_names.len();
        let group = &mut self.frames[node.ply - 1].group;
        let children = std::mem::replace(&mut group.children, Children::new(n_roles));
        let score = self.quick_win(node, &children, range.clone()).unwrap_or_else(|| {
            self.evaluator.set_parent(state);
            let horizon = Horizon { children: &children, range, key, hash_move };
            self.evaluate_horizon(run, node, &horizon)
        });
        self.frames[node.ply - 1].group.children = children;
        Some(score)
    }

    /// Returns the best value of the children of the position at a ply.
    pub(super) fn evaluate_children(
        &mut self,
        run: &mut Run<'_, '_>,
        node: Node,
        (key, hash_move): (u64, Option<u16>),
    ) -> Score {
        let n_roles = self.position.shape().role_names.len();
        let frame = &mut self.frames[node.ply];
        let children = std::mem::replace(&mut frame.children, Children::new(n_roles));
        let range = 0..children.len();
        let horizon = Horizon { children: &children, range, key, hash_move };
        let score = self.evaluate_horizon(run, node, &horizon);
        self.frames[node.ply].children = children;
        score
    }

    /// Returns the best value of the children of a position.
    ///
    /// A child counts only if the reply does not win at once. That is looked up for the best
    /// children, one after the other, until one of them passes.
    fn evaluate_horizon(
        &mut self,
        run: &mut Run<'_, '_>,
        node: Node,
        horizon: &Horizon<'_, P>,
    ) -> Score {
        let Horizon { children, ref range, key, hash_move } = *horizon;
        let first = hash_move.map(|child| range.start + usize::from(child));
        let first = first.filter(|child| range.contains(child));
        let others = range.clone().filter(|&child| Some(child) != first);
        let number = |child: usize| (child - range.start) as u16;
        let mut best = (Score::MIN, 0);
        self.estimates.clear();
        for child in first.into_iter().chain(others) {
            if children.ended[child] {
                let score = for_mover(self.payoffs.score(children.payoffs(child)), node.mover);
                best = best.max((score.one_step_before(), number(child)));
                continue;
            }
            run.n_estimated += 1;
            let value = self.evaluator.child_value(&children.states[child]);
            let score = for_mover(Score::estimate(value), node.mover);
            if score < node.beta || !self.looks_for_replies(run) {
                self.estimates.push((score.to_i32(), number(child)));
                if score >= node.beta {
                    break;
                }
            } else {
                // A cutoff is worth a look at once.
                let score = self.after_quick_reply(node, children, child, score);
                best = best.max((score, number(child)));
                if score >= node.beta {
                    self.estimates.clear();
                    break;
                }
            }
        }
        while let Some((place, &(score, child))) =
            self.estimates.iter().enumerate().max_by_key(|(_, (score, _))| *score)
        {
            let score = Score::of_i32(score);
            if score <= best.0 {
                break;
            }
            self.estimates.swap_remove(place);
            let score = if self.looks_for_replies(run) {
                self.after_quick_reply(node, children, range.start + usize::from(child), score)
            } else {
                score
            };
            best = best.max((score, child));
        }
        store(run.table, key, node.depth, best, (node.alpha, node.beta));
        best.0
    }

    /// Returns the score of a position if the mover can win at once.
    pub(super) fn quick_win(
        &self,
        node: Node,
        children: &Children<P::State, P::Move>,
        mut range: Range<usize>,
    ) -> Option<Score> {
        range.find_map(|child| {
            if !children.ended[child] {
                return None;
            }
            let score = for_mover(self.payoffs.score(children.payoffs(child)), node.mover);
            score.is_win().then(|| score.one_step_before())
        })
    }

    /// Returns whether it is worth while to look for replies that win at once: in some games they
    /// hardly occur.
    fn looks_for_replies(&self, run: &Run<'_, '_>) -> bool {
        let (n_looks, n_found) = self.replies;
        run.options.looks_for_replies
            && (n_looks < MIN_LOOKS || n_found * MAX_LOOKS_PER_REPLY >= n_looks)
    }

    /// Returns the score of a child for the parent's mover: decided if the player who is to move
    /// there can win at once, else as it was estimated.
    fn after_quick_reply(
        &mut self,
        node: Node,
        children: &Children<P::State, P::Move>,
        child: usize,
        estimate: Score,
    ) -> Score {
        if self.both_choose(children, child) {
            return estimate;
        }
        let mover = self.mover(children, child);
        let Worker { batch, payoffs, ends, .. } = self;
        batch.look_ahead(&[&children.states[child]], ends);
        let n_roles = children.payoffs(child).len();
        let wins = ends
            .payoffs
            .chunks(n_roles.max(1))
            .map(|end| for_mover(payoffs.score(end), mover))
            .find(|score| score.is_win());
        self.replies.0 += 1;
        self.replies.1 += u64::from(wins.is_some());
        match wins.map(|win| win.one_step_before().one_step_before()) {
            Some(win) if mover == node.mover => win,
            Some(win) => -win,
            None => estimate,
        }
    }
}
