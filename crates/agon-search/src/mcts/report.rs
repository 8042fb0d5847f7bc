//! The report: which move to make, with which probability, and what is expected to follow.

use agon_game::{Position, Rng, Role, joint_moves};

use super::attitude::Utilities;
use super::options::{FinalMove, MctsOptions, Simultaneous};
use super::select::{draw, fast_ln};
use super::tree::{Group, NodeId, NodeKind, Tree};
use crate::{Candidate, Line, Report};

/// Number of lines in a report.
const N_LINES: usize = crate::report::MAX_LINES;
/// Maximum number of steps in a line.
const MAX_LINE: usize = 60;
/// Where strategies are mixed, moves with less than this part of the greatest probability are never
/// made: they were tried only to explore.
const NOISE: f64 = 0.1;

/// The part of a report that comes from the tree.
pub(crate) struct Answer<M> {
    pub(crate) best: M,
    pub(crate) candidates: Vec<Candidate<M>>,
    pub(crate) value: f64,
    pub(crate) is_proven: bool,
    pub(crate) lines: Vec<Line<M>>,
}

/// A move with less than this part of the most visits is not chosen by its lower bound, because its
/// mean comes from too few leaves.
const MIN_VISITS_PART: u32 = 20;

/// Returns a report with the first legal move, for positions that cannot be searched.
pub(super) fn without_search<P: Position>(position: &P, us: Role) -> Report<P::Move> {
    let payoffs = &position.shape().payoffs;
    let value = f64::midpoint(*payoffs.start(), *payoffs.end());
    let legal = position.legal_moves(us);
    let candidates = legal.iter().enumerate().map(|(rank, m)| Candidate {
        m: m.clone(),
        visits: 0,
        value,
        probability: if rank == 0 { 1.0 } else { 0.0 },
        is_proven: false,
    });
    Report {
        best: legal[0].clone(),
        us,
        candidates: candidates.collect(),
        value,
        is_proven: false,
        lines: Vec::new(),
        iterations: 0,
        nodes: 0,
        playouts: 0,
        depth: 0,
        seconds: 0.0,
    }
}

impl<P: Position> Tree<P> {
    /// Returns the report about the root, where the position stands.
    pub(crate) fn answer(
        &self,
        position: &P,
        us: Role,
        (options, utilities): (&MctsOptions, &Utilities),
        rng: &mut Rng,
    ) -> Answer<P::Move> {
        let root = self.root;
        let [lo, hi] = self.bound(root, us);
        let is_proven = lo == hi;
        let mean = self.expected_payoff(root, us, utilities);
        let group = self.groups.of(self.node(root)).iter().find(|group| group.role == us);
        let Some(&group) = group.filter(|group| group.n > 1) else {
            // We have no choice, so the report is about the value alone.
            let best = position.legal_moves(us)[0].clone();
            let visits = self.node(root).visits;
            let candidate =
                Candidate { m: best.clone(), visits, value: mean, probability: 1.0, is_proven };
            let lines = self.line(position, None, us, utilities).into_iter().collect();
            return Answer { best, candidates: vec![candidate], value: mean, is_proven, lines };
        };
        match self.node(root).kind {
            NodeKind::Alone(_) => self.answer_alone(position, us, is_proven, (options, utilities)),
            NodeKind::Joint | NodeKind::Sparse | NodeKind::Terminal => {
                self.answer_mixed(position, us, &group, (options, utilities), rng)
            }
        }
    }

    /// Returns the index of the best move so far among our moves at the root; None if we have no
    /// choice there.
    pub(crate) fn best_so_far(&self, us: Role) -> Option<usize> {
        let groups = self.groups.of(self.node(self.root));
        let group = groups.iter().find(|group| group.role == us && group.n > 1)?;
        let first = self.node(self.root).first_arm as usize + group.first as usize;
        match self.node(self.root).kind {
            NodeKind::Alone(_) => Some(self.best_arm(self.root, us, FinalMove::Visits) - first),
            NodeKind::Joint | NodeKind::Sparse | NodeKind::Terminal => {
                // `max_by_key` returns the last of equals.
                (0..group.n as usize).rev().max_by_key(|&at| self.arms[first + at].visits)
            }
        }
    }

    fn answer_alone(
        &self,
        position: &P,
        us: Role,
        is_proven: bool,
        (options, utilities): (&MctsOptions, &Utilities),
    ) -> Answer<P::Move> {
        let root = self.root;
        let (first, moves) = (self.node(root).arms().start, self.moves.of_arms(self.node(root)));
        let best = self.best_arm(root, us, options.final_move) - first;
        let value_of = |at: usize| {
            let child = self.arms.child(first + at);
            if !utilities.is_payoff(us) && child != NodeId::NONE {
                return self.expected_payoff(child, us, utilities);
            }
            let (arm, [lo, hi]) = (&self.arms[first + at], self.arm_bound(root, first + at));
            let known = if arm.visits > 0 { f64::from(arm.mean) } else { self.mean(root, us) };
            known.clamp(lo, hi)
        };
        let mut order: Vec<usize> = (0..self.node(root).n_arms as usize).collect();
        order.sort_by(|&a, &b| {
            let rank = |at: usize| (at != best, std::cmp::Reverse(self.arms[first + at].visits));
            rank(a).cmp(&rank(b)).then(value_of(b).total_cmp(&value_of(a)))
        });
        let candidates = order
            .iter()
            .map(|&at| Candidate {
                m: moves[at].clone(),
                visits: self.arms[first + at].visits.into(),
                value: value_of(at),
                probability: if at == best { 1.0 } else { 0.0 },
                is_proven: {
                    let [lo, hi] = self.arm_bound(root, first + at);
                    lo >= hi
                },
            })
            .collect();
        let lines = order.iter().take(N_LINES);
        let lines = lines.filter_map(|&at| self.line(position, Some(at as u64), us, utilities));
        let value = if is_proven && utilities.is_payoff(us) {
            self.bound(root, us)[0]
        } else {
            value_of(best)
        };
        Answer { best: moves[best].clone(), candidates, value, is_proven, lines: lines.collect() }
    }

    /// Returns the arm that a role which chooses alone should choose.
    fn best_arm(&self, id: NodeId, role: Role, by: FinalMove) -> usize {
        let arms = self.node(id).arms();
        let bound = |arm: usize| self.arm_bound(id, arm);
        let sure = arms.clone().map(|arm| bound(arm)[0]).fold(f64::NEG_INFINITY, f64::max);
        let by_visits = |&a: &usize, &b: &usize| {
            let (a, b) = (&self.arms[a], &self.arms[b]);
            a.visits.cmp(&b.visits).then(a.mean.total_cmp(&b.mean))
        };
        let log_visits = f64::from(fast_ln(self.node(id).visits as f32));
        let most = arms.clone().map(|arm| self.arms[arm].visits).max().unwrap_or(0);
        let worth = |arm: usize| {
            let arm = &self.arms[arm];
            match by {
                FinalMove::LowerBound { c } if arm.visits > most / MIN_VISITS_PART => {
                    let width = (log_visits / f64::from(arm.visits)).sqrt();
                    f64::from(arm.mean) - c * self.facts.range() * width
                }
                FinalMove::Visits | FinalMove::LowerBound { .. } => f64::NEG_INFINITY,
            }
        };
        let by_worth =
            |a: &usize, b: &usize| worth(*a).total_cmp(&worth(*b)).then_with(|| by_visits(a, b));
        // `max_by` returns the last of equals, and the first one is wanted.
        let contender = arms.clone().rev().filter(|&arm| bound(arm)[1] > sure).max_by(by_worth);
        if let Some(arm) = contender
            && (self.arms[arm].visits == 0 && sure <= self.facts.min
                || self.arms[arm].visits > 0 && f64::from(self.arms[arm].mean) >= sure)
        {
            return arm;
        }
        // The outcome is decided: win soon, lose late.
        let plies = |arm: usize| {
            let child = self.arms.child(arm);
            if child != NodeId::NONE && self.is_solved(child) {
                self.node(child).plies
            } else {
                u16::MAX
            }
        };
        let is_won = sure > self.facts.min && self.bound(id, role)[0] >= sure;
        let secured = arms.clone().rev().filter(|&arm| bound(arm)[0] >= sure);
        let best = if is_won {
            secured.min_by(|&a, &b| plies(a).cmp(&plies(b)).then(by_visits(&b, &a)))
        } else {
            secured.max_by(|&a, &b| plies(a).cmp(&plies(b)).then(by_visits(&a, &b)))
        };
        best.unwrap_or(arms.start)
    }

    fn answer_mixed(
        &self,
        position: &P,
        us: Role,
        group: &Group,
        (options, utilities): (&MctsOptions, &Utilities),
        rng: &mut Rng,
    ) -> Answer<P::Move> {
        let root = self.root;
        let first = self.node(root).first_arm as usize + group.first as usize;
        let n = group.n as usize;
        let arms = &self.arms[first..first + n];
        let moves = &self.moves.of_arms(self.node(root))[group.range()];
        let shares = self.strategy(us, group, options);
        let best = draw(&shares, rng);
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| {
            (a != best).cmp(&(b != best)).then(shares[b].total_cmp(&shares[a])).then(a.cmp(&b))
        });
        let candidates = order
            .iter()
            .map(|&at| Candidate {
                m: moves[at].clone(),
                visits: arms[at].visits.into(),
                value: self.arm_payoff(root, us, group, at, utilities),
                probability: shares[at],
                is_proven: false,
            })
            .collect();
        let [lo, hi] = self.bound(root, us);
        let mut lines: Vec<Line<P::Move>> =
            self.line(position, None, us, utilities).into_iter().collect();
        for &at in order.iter().take(N_LINES) {
            let is_shown =
                lines.first().is_some_and(|line| line.joints[0][us.index()] == moves[at]);
            let choice = self.likely_choice_with(root, us, at).filter(|_| !is_shown);
            lines
                .extend(choice.and_then(|choice| self.line(position, Some(choice), us, utilities)));
        }
        Answer {
            best: moves[best].clone(),
            candidates,
            value: self.expected_payoff(root, us, utilities),
            is_proven: lo == hi,
            lines,
        }
    }

    /// Returns the expected payoff of one of our moves where several roles choose. The arm stores
    /// utilities; payoffs are computed from the children in the table.
    fn arm_payoff(
        &self,
        id: NodeId,
        us: Role,
        group: &Group,
        at: usize,
        utilities: &Utilities,
    ) -> f64 {
        let node = self.node(id);
        let arm = node.first_arm as usize + group.first as usize + at;
        if self.arms[arm].visits == 0 {
            return self.expected_payoff(id, us, utilities);
        }
        if utilities.is_payoff(us) || node.kind != NodeKind::Joint {
            return f64::from(self.arms[arm].mean);
        }
        let (mut sum, mut n) = (0.0, 0.0);
        for (choice, &child) in self.joint_children.of(node).iter().enumerate() {
            let mut is_ours = false;
            self.visit_choice(id, choice as u64, |_, other| is_ours |= other == arm);
            if is_ours && child != NodeId::NONE {
                let visits = self.node(child).visits.max(1) as f64;
                sum += visits * self.expected_payoff(child, us, utilities);
                n += visits;
            }
        }
        if n > 0.0 { sum / n } else { f64::from(self.arms[arm].mean) }
    }

    /// Returns the probabilities of our moves at the root, where several roles choose.
    fn strategy(&self, us: Role, group: &Group, options: &MctsOptions) -> Vec<f64> {
        let root = self.root;
        let node = self.node(root);
        let n = group.n as usize;
        let is_tabled = node.kind == NodeKind::Joint;
        let mut shares: Vec<f64> = match options.simultaneous {
            Simultaneous::RegretMatching { .. } if is_tabled => {
                self.groups.regrets(group).iter().map(|entry| entry.strategy).collect()
            }
            Simultaneous::IteratedRegret { .. } if is_tabled => {
                let children = self.joint_children.of(node);
                let left = self.minimise_regret(root, |joint, role| match children[joint] {
                    NodeId::NONE => self.mean(root, role),
                    child => self.mean(child, role),
                });
                let own = self.groups.of(node).iter().position(|other| other.role == us);
                let left = &left[own.expect("we choose here")];
                (0..n).map(|at| f64::from(u8::from(left.contains(&at)))).collect()
            }
            Simultaneous::Decoupled { .. }
            | Simultaneous::RegretMatching { .. }
            | Simultaneous::IteratedRegret { .. } => {
                let first = node.first_arm as usize + group.first as usize;
                self.arms[first..first + n].iter().map(|arm| f64::from(arm.visits)).collect()
            }
        };
        let most = shares.iter().copied().fold(0.0, f64::max);
        for share in &mut shares {
            if *share < NOISE * most {
                *share = 0.0;
            }
        }
        let total: f64 = shares.iter().sum();
        if total > 0.0 {
            shares.iter_mut().for_each(|share| *share /= total);
        } else {
            shares.fill(1.0 / n as f64);
        }
        shares
    }

    /// Returns the most likely line from the root, where the position stands. It begins with the
    /// choice if one is given.
    fn line(
        &self,
        position: &P,
        choice: Option<u64>,
        us: Role,
        utilities: &Utilities,
    ) -> Option<Line<P::Move>> {
        let mut joints = Vec::new();
        let mut id = self.root;
        let mut choice = choice.or_else(|| self.likely_choice(id))?;
        let value = match self.child(id, choice) {
            NodeId::NONE => return None,
            child => self.expected_payoff(child, us, utilities),
        };
        loop {
            let mut joint = Vec::new();
            self.push_joint(id, choice, &mut joint);
            joints.push(joint);
            id = self.child(id, choice);
            if id == NodeId::NONE || joints.len() >= MAX_LINE {
                break;
            }
            let Some(next) = self.likely_choice(id) else { break };
            choice = next;
        }
        if id != NodeId::NONE && self.node(id).kind == NodeKind::Terminal && self.node(id).plies > 0
        {
            joints.extend(self.winning_joint(position, &joints));
        }
        Some(Line { joints, value })
    }

    /// Returns the joint move that ends the game after these ones, where the tree has only stored
    /// that the role to move gets the maximum.
    fn winning_joint(&self, position: &P, joints: &[Vec<P::Move>]) -> Option<Vec<P::Move>> {
        let mut before = position.clone();
        joints.iter().for_each(|joint| before.advance(joint));
        let mover = before.choosers().next();
        joint_moves(&before).into_iter().find(|joint| {
            let mut after = before.clone();
            after.advance(joint);
            after.is_terminal() && mover.is_none_or(|mover| after.payoff(mover) >= self.facts.max)
        })
    }

    /// Returns the most likely choice at a node of several roles in which one of them makes the
    /// move with this index.
    fn likely_choice_with(&self, id: NodeId, role: Role, index: usize) -> Option<u64> {
        let node = self.node(id);
        let first = node.first_arm as usize;
        match node.kind {
            NodeKind::Terminal | NodeKind::Alone(_) => None,
            NodeKind::Joint => {
                let children = self.joint_children.of(node).iter().enumerate();
                let fitting = children.filter(|&(choice, &child)| {
                    let mut fits = false;
                    self.visit_choice(id, choice as u64, |group, arm| {
                        fits |= group.role == role && arm == first + group.first as usize + index;
                    });
                    fits && child != NodeId::NONE
                });
                let most = fitting
                    .max_by_key(|&(at, &child)| (self.node(child).visits, std::cmp::Reverse(at)));
                most.map(|(at, _)| at as u64)
            }
            NodeKind::Sparse => {
                let choice = self.groups.of(node).iter().fold(0, |choice, group| {
                    let own =
                        first + group.first as usize..first + (group.first + group.n) as usize;
                    let start = own.start;
                    let likely =
                        own.max_by_key(|&arm| (self.arms[arm].visits, std::cmp::Reverse(arm)));
                    let at = match likely {
                        Some(arm) if group.role != role => arm - start,
                        Some(_) | None => index.min(group.n as usize - 1),
                    };
                    choice * u64::from(group.n) + at as u64
                });
                Some(choice)
            }
        }
    }

    /// Returns the most likely choice at a node, if anything is known of it.
    fn likely_choice(&self, id: NodeId) -> Option<u64> {
        let node = self.node(id);
        if !node.has_arms() {
            return None;
        }
        let arms = node.arms();
        match node.kind {
            NodeKind::Terminal => None,
            NodeKind::Alone(role) => {
                let best = if self.facts.is_nature(role) {
                    arms.clone()
                        .max_by_key(|&arm| (self.arms[arm].visits, std::cmp::Reverse(arm)))?
                } else {
                    self.best_arm(id, role, FinalMove::Visits)
                };
                let is_known = self.arms[best].visits > 0 || self.arms.child(best) != NodeId::NONE;
                is_known.then(|| (best - arms.start) as u64)
            }
            NodeKind::Joint => {
                let children = self.joint_children.of(node).iter().enumerate();
                let known = children.filter(|&(_, &child)| child != NodeId::NONE);
                let most = known
                    .max_by_key(|&(at, &child)| (self.node(child).visits, std::cmp::Reverse(at)));
                most.map(|(at, _)| at as u64)
            }
            NodeKind::Sparse => {
                let choice = self.groups.of(node).iter().fold(0, |choice, group| {
                    let first = arms.start + group.first as usize;
                    let own = first..first + group.n as usize;
                    let best =
                        own.max_by_key(|&arm| (self.arms[arm].visits, std::cmp::Reverse(arm)));
                    choice * u64::from(group.n) + (best.unwrap_or(first) - first) as u64
                });
                Some(choice)
            }
        }
    }
}
