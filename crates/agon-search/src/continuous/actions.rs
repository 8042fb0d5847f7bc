//! The actions of a role at a position: moves, and families of moves with real parameters.

use agon_game::{Continuous, Parameter, Rng, Role};
use rand::RngExt as _;

/// The actions of a role at a position. In a discrete game these are the legal moves.
#[derive(Clone, Debug)]
pub(super) struct Actions<M> {
    groups: Vec<Group<M>>,
}

/// A discrete choice of a role.
#[derive(Clone, Debug)]
enum Group<M> {
    /// One move.
    Move(M),
    /// A family of moves, by its index at the position. It has at least one parameter whose
    /// interval is not a single value.
    Family { family: usize, intervals: Vec<Parameter> },
}

/// A move with its place among the actions of its role.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Arm<M> {
    pub(super) m: M,
    /// The index of the discrete choice.
    pub(super) group: usize,
    /// The parameters as shares of their intervals, from 0 to 1. Empty if there is none.
    pub(super) point: Vec<f64>,
}

/// Number of points that are tried before a listed move is taken instead of a drawn one, because
/// the rules may forbid most members of a family.
const MAX_TRIES: usize = 16;

impl<M: Clone + PartialEq> Actions<M> {
    /// Returns the actions of a role at a position that is not terminal.
    pub(super) fn at<P: Continuous<Move = M>>(position: &P, role: Role) -> Actions<M> {
        let families = position.families(role);
        let mut groups = Vec::new();
        for (family, described) in families.iter().enumerate() {
            let has_choice = described.parameters.iter().any(is_wide);
            if has_choice {
                let intervals = described.parameters.clone();
                groups.push(Group::Family { family, intervals });
            } else {
                let values: Vec<f64> = described.parameters.iter().map(|p| p.low).collect();
                groups.extend(position.member(role, family, &values).map(Group::Move));
            }
        }
        if groups.is_empty() {
            groups = position.legal_moves(role).iter().cloned().map(Group::Move).collect();
        }
        Actions { groups }
    }

    /// Returns the number of discrete choices.
    pub(super) fn n_groups(&self) -> usize {
        self.groups.len()
    }

    /// Returns whether there is more than one action.
    pub(super) fn has_choice(&self) -> bool {
        self.groups.len() > 1 || self.has_parameters()
    }

    /// Returns whether some action has parameters.
    pub(super) fn has_parameters(&self) -> bool {
        (0..self.groups.len()).any(|group| self.n_parameters(group) > 0)
    }

    /// Returns the number of parameters of a discrete choice.
    pub(super) fn n_parameters(&self, group: usize) -> usize {
        match &self.groups[group] {
            Group::Move(_) => 0,
            Group::Family { intervals, .. } => intervals.len(),
        }
    }

    /// Returns the intervals of the parameters of a discrete choice.
    pub(super) fn intervals(&self, group: usize) -> Vec<(f64, f64)> {
        match &self.groups[group] {
            Group::Move(_) => Vec::new(),
            Group::Family { intervals, .. } => intervals.iter().map(|p| (p.low, p.high)).collect(),
        }
    }

    /// Returns the move of a discrete choice with its parameters at a point, unless the rules
    /// forbid it. Coordinates of the point are clamped to 0..1.
    pub(super) fn arm<P: Continuous<Move = M>>(
        &self,
        position: &P,
        role: Role,
        group: usize,
        point: &[f64],
    ) -> Option<Arm<M>> {
        match &self.groups[group] {
            Group::Move(m) => Some(Arm { m: m.clone(), group, point: Vec::new() }),
            Group::Family { family, intervals } => {
                let point: Vec<f64> = point.iter().map(|share| share.clamp(0.0, 1.0)).collect();
                let values: Vec<f64> =
                    intervals.iter().zip(&point).map(|(p, &share)| value_at(p, share)).collect();
                let m = position.member(role, *family, &values)?;
                Some(Arm { m, group, point })
            }
        }
    }

    /// Draws a discrete choice uniformly, and then its parameters uniformly.
    pub(super) fn draw<P: Continuous<Move = M>>(
        &self,
        position: &P,
        role: Role,
        rng: &mut Rng,
    ) -> Arm<M> {
        for _ in 0..MAX_TRIES {
            let group = rng.random_range(0..self.groups.len());
            let point: Vec<f64> = (0..self.n_parameters(group)).map(|_| rng.random()).collect();
            if let Some(arm) = self.arm(position, role, group, &point) {
                return arm;
            }
        }
        self.draw_listed(position, role, rng)
    }

    /// Draws one of the moves that the position lists.
    fn draw_listed<P: Continuous<Move = M>>(
        &self,
        position: &P,
        role: Role,
        rng: &mut Rng,
    ) -> Arm<M> {
        let moves = position.legal_moves(role);
        let m = moves[rng.random_range(0..moves.len())].clone();
        self.listed_arm(position, role, m)
    }

    /// Returns the arms of the moves that the position lists for a discrete choice.
    pub(super) fn listed<P: Continuous<Move = M>>(
        &self,
        position: &P,
        role: Role,
        group: usize,
    ) -> Vec<Arm<M>> {
        let moves = position.legal_moves(role).iter().cloned();
        moves.map(|m| self.listed_arm(position, role, m)).filter(|arm| arm.group == group).collect()
    }

    fn listed_arm<P: Continuous<Move = M>>(&self, position: &P, role: Role, m: M) -> Arm<M> {
        let coordinates = position.coordinates(role, &m);
        for (group, described) in self.groups.iter().enumerate() {
            match (described, &coordinates) {
                (Group::Move(own), _) if *own == m => return Arm { m, group, point: Vec::new() },
                (Group::Family { family, intervals }, Some((at, values))) if family == at => {
                    let point = intervals.iter().zip(values).map(|(p, &v)| share_of(p, v));
                    return Arm { point: point.collect(), m, group };
                }
                (Group::Move(_) | Group::Family { .. }, _) => {}
            }
        }
        // A listed move that belongs to no family breaks law 11. It can still be played.
        Arm { m, group: 0, point: vec![0.5; self.n_parameters(0)] }
    }

    /// Returns the index of the listed move that is nearest to an arm of the same discrete choice.
    pub(super) fn nearest_listed<P: Continuous<Move = M>>(
        &self,
        position: &P,
        role: Role,
        arm: &Arm<M>,
    ) -> Option<usize> {
        let moves = position.legal_moves(role);
        if arm.point.is_empty() {
            return moves.iter().position(|m| *m == arm.m);
        }
        let arms = moves.iter().map(|m| self.listed_arm(position, role, m.clone())).enumerate();
        arms.filter(|(_, listed)| listed.group == arm.group)
            .min_by(|(_, a), (_, b)| {
                distance(&a.point, &arm.point).total_cmp(&distance(&b.point, &arm.point))
            })
            .map(|(index, _)| index)
    }
}

/// Returns the squared distance of two points.
pub(super) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Draws a joint move: the players' actions and parameters uniformly, and nature by its chances.
pub(super) fn draw_joint<P: Continuous>(position: &P, rng: &mut Rng) -> Vec<P::Move> {
    let mut joint = Vec::new();
    position.draw(rng, &mut joint);
    if position.shape().continuous {
        for role in position.shape().players() {
            let actions = Actions::at(position, role);
            if actions.has_parameters() {
                joint[role.index()] = actions.draw(position, role, rng).m;
            }
        }
    }
    joint
}

fn is_wide(interval: &Parameter) -> bool {
    interval.low < interval.high
}

/// Largest share of an unbounded interval, whose values grow without bound towards 1.
const LAST_SHARE: f64 = 1.0 - 1e-9;

/// Returns the value at a share of an interval. An interval without an upper bound is mapped by
/// s / (1 - s), so half of the shares lie within 1 of the lower bound.
fn value_at(interval: &Parameter, share: f64) -> f64 {
    let stretch = |share: f64| share.min(LAST_SHARE) / (1.0 - share.min(LAST_SHARE));
    match (interval.low.is_finite(), interval.high.is_finite()) {
        (true, true) => interval.at_share(share),
        (true, false) => interval.low + stretch(share),
        (false, true) => interval.high - stretch(1.0 - share),
        (false, false) if share < 0.5 => -stretch(1.0 - 2.0 * share),
        (false, false) => stretch(2.0 * share - 1.0),
    }
}

/// Returns the share of an interval at which a value lies, the inverse of [`value_at`].
fn share_of(interval: &Parameter, value: f64) -> f64 {
    let shrink = |excess: f64| (excess / (1.0 + excess)).clamp(0.0, 1.0);
    match (interval.low.is_finite(), interval.high.is_finite()) {
        (true, true) if !is_wide(interval) => 0.0,
        (true, true) => ((value - interval.low) / (interval.high - interval.low)).clamp(0.0, 1.0),
        (true, false) => shrink(value - interval.low),
        (false, true) => 1.0 - shrink(interval.high - value),
        (false, false) if value < 0.0 => 0.5 - shrink(-value) / 2.0,
        (false, false) => 0.5 + shrink(value) / 2.0,
    }
}
