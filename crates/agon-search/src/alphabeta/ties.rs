//! The choice among moves with equal values.
//!
//! With a coarse evaluation many moves have the same value. Michulke 2011 breaks ties by the
//! highest value of all positions that can be reached within the horizon, even if the opponent has
//! to help: a search without other information then tends towards the goal. Moves that are still
//! equal are chosen at random, as in Sato & Cazenave 2016.

use std::collections::BTreeSet;

use agon_game::{Position, Rng, Role};
use rand::{RngExt as _, SeedableRng as _};

use crate::choices::Choices;
use crate::{Evaluate, Meter};

/// How a move is chosen among those with the highest value.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum TieBreak {
    /// The move after which the highest value can be reached within the horizon, and of several the
    /// soonest. A random one of those that are left.
    #[default]
    Reachable,
    /// A random move.
    Random,
    /// The move that was searched first.
    First,
}

/// The random numbers of the choices, one for each decision.
pub(super) struct TieBreaker {
    rng: Rng,
    /// The random number of the current decision. It does not change with the depth.
    draw: u64,
}

impl TieBreaker {
    pub(super) fn new(seed: u64) -> TieBreaker {
        TieBreaker { rng: Rng::seed_from_u64(seed), draw: 0 }
    }

    /// Draws the random number of the next decision.
    pub(super) fn next_decision(&mut self) {
        self.draw = self.rng.random();
    }

    /// Moves the chosen one of the first `n_tied` moves to the front. `move_of` returns the move of
    /// an element. `reached` says what can be reached after each of these moves, if that counts.
    pub(super) fn choose<T, M: PartialEq>(
        &self,
        moves: &mut Vec<T>,
        n_tied: usize,
        move_of: impl Fn(&T) -> &M,
        reached: Option<&[Reached]>,
        legal: &[M],
    ) {
        let is_best = |at: usize| {
            reached.is_none_or(|reached| {
                reached.iter().all(|other| !other.is_better_than(&reached[at]))
            })
        };
        let mut tied: Vec<usize> = (0..n_tied).filter(|&at| is_best(at)).collect();
        // The order of the search depends on the history. That of the rules does not.
        tied.sort_by_key(|&at| legal.iter().position(|m| m == move_of(&moves[at])));
        let chosen = tied[(self.draw % tied.len() as u64) as usize];
        let chosen = moves.remove(chosen);
        moves.insert(0, chosen);
    }
}

/// What can be reached after a move if all roles help.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Reached {
    /// The highest value of a position within the horizon.
    value: f64,
    /// The number of steps to the first position with this value.
    n_steps: u32,
}

impl Reached {
    fn is_better_than(&self, other: &Reached) -> bool {
        self.value > other.value || (self.value == other.value && self.n_steps < other.n_steps)
    }
}

/// Number of positions that may be visited for one decision, however few the search has visited.
const MIN_NODES: u64 = 2_000;
/// Maximum number of positions visited for one decision.
const MAX_NODES: u64 = 20_000;

/// Returns what can be reached after each of these moves of a role, in at most `depth` steps.
/// `None` if the budget is used up. Visits about as many positions as the search so far, the
/// same number for each move.
pub(super) fn reach<P: Position, E: Evaluate<P>>(
    position: &mut P,
    us: Role,
    moves: &[P::Move],
    depth: u32,
    evaluator: &mut E,
    meter: &mut Meter<'_>,
) -> Option<Vec<Reached>> {
    let n_nodes = meter.n_nodes.clamp(MIN_NODES, MAX_NODES) / moves.len().max(1) as u64;
    let home = position.state().clone();
    let mut found = Vec::new();
    for m in moves {
        position.go_to(&home);
        let mut walk = Walk { us, evaluator, meter, best: None, seen: BTreeSet::new() };
        let reached = walk.after_move(position, m, depth, n_nodes);
        position.go_to(&home);
        found.push(reached?);
    }
    Some(found)
}

/// A breadth-first walk through all positions that can be reached.
struct Walk<'w, 'b, E> {
    us: Role,
    evaluator: &'w mut E,
    meter: &'w mut Meter<'b>,
    best: Option<Reached>,
    seen: BTreeSet<u64>,
}

impl<E> Walk<'_, '_, E> {
    /// Returns what can be reached after a move. `None` if the budget is used up.
    fn after_move<P: Position>(
        &mut self,
        position: &mut P,
        m: &P::Move,
        depth: u32,
        n_nodes: u64,
    ) -> Option<Reached>
    where
        E: Evaluate<P>,
    {
        let most = *position.shape().payoffs.end();
        let mut level = vec![position.state().clone()];
        for n_steps in 1..=depth {
            let mut next = Vec::new();
            for state in &level {
                position.go_to(state);
                let own = (n_steps == 1).then_some(m);
                let is_last = n_steps == depth;
                for joint in joints(position, self.us, own, n_nodes) {
                    if self.meter.is_over(256) {
                        return None;
                    }
                    position.go_to(state);
                    position.advance(&joint);
                    if !self.seen.insert(position.key()) {
                        continue;
                    }
                    self.meter.n_nodes += 1;
                    if position.is_terminal() {
                        self.note(position.payoff(self.us), n_steps);
                    } else if is_last {
                        let value = self.evaluator.value(position, self.us);
                        self.note(value, n_steps);
                    } else {
                        next.push(position.state().clone());
                    }
                    let is_full = self.seen.len() as u64 >= n_nodes;
                    if is_full || self.best.is_some_and(|best| best.value >= most) {
                        return Some(self.best_so_far(position));
                    }
                }
            }
            level = next;
        }
        Some(self.best_so_far(position))
    }

    fn note(&mut self, value: f64, n_steps: u32) {
        let reached = Reached { value, n_steps };
        if self.best.is_none_or(|best| reached.is_better_than(&best)) {
            self.best = Some(reached);
        }
    }

    fn best_so_far<P: Position>(&self, position: &P) -> Reached {
        let least = *position.shape().payoffs.start();
        self.best.unwrap_or(Reached { value: least, n_steps: u32::MAX })
    }
}

/// Returns the joint moves at a position, at most `n_most`. `own` is the move of the role `us`, if
/// it is given.
fn joints<P: Position>(
    position: &P,
    us: Role,
    own: Option<&P::Move>,
    n_most: u64,
) -> Vec<Vec<P::Move>> {
    let choices = Choices::at(position);
    let mut joints = vec![choices.first_joint()];
    for role in position.shape().roles() {
        let fixed = own.filter(|_| role == us).map(std::slice::from_ref);
        let moves = fixed.unwrap_or_else(|| choices.of(role));
        let n_before = joints.len();
        for at in 0..n_before {
            for m in &moves[1..] {
                if joints.len() as u64 >= n_most.max(1) {
                    break;
                }
                let mut joint = joints[at].clone();
                joint[role.index()] = m.clone();
                joints.push(joint);
            }
            joints[at][role.index()] = moves[0].clone();
        }
    }
    joints
}
