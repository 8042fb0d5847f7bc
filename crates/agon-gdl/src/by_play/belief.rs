//! The states that a player considers possible in a game with hidden information.

use agon_game::{Hidden as _, Notation as _, Position as _, Rng, Role};
use rand::RngExt as _;

use crate::interpreter::{Interpreter, Move, State};

/// Maximum numbers of states kept and of joint moves tried per step. What exceeds them is dropped:
/// reports stay true, but some faults may be missed.
const MAX_STATES: usize = 50;
const MAX_TRIES: usize = 1_000;

/// The states that agree with everything a role has done and perceived.
pub(super) struct Belief {
    role: Role,
    possible: Vec<State>,
    scratch: Interpreter,
}

impl Belief {
    /// Creates the belief at the start, where players know the state.
    pub(super) fn new(role: Role, start: &Interpreter) -> Belief {
        Belief { role, possible: vec![start.state().clone()], scratch: start.clone() }
    }

    pub(super) fn role(&self) -> Role {
        self.role
    }

    /// Finds a possible state in which the role has other legal moves than in the true one.
    /// Describes the difference.
    pub(super) fn differing_moves(&mut self, truth: &Interpreter) -> Option<String> {
        for state in &self.possible {
            self.scratch.go_to(state);
            if self.scratch.is_terminal() {
                continue;
            }
            let (here, there) = (truth.legal_moves(self.role), self.scratch.legal_moves(self.role));
            let only = |a: &[Move], b: &[Move]| a.iter().find(|m| !b.contains(m)).copied();
            if let Some(m) = only(here, there).or_else(|| only(there, here)) {
                let text = truth.move_text(&m);
                return Some(format!(
                    "the legality of {text} depends on facts that it does not see"
                ));
            }
        }
        None
    }

    /// Follows a joint move made at `truth`. States that agree with the role's own move and its
    /// percepts stay possible.
    pub(super) fn advance(&mut self, truth: &Interpreter, joint: &[Move], rng: &mut Rng) {
        let own = joint[self.role.index()];
        let perceived = truth.percepts(joint, self.role);
        let mut next: Vec<State> = Vec::new();
        let tries_each = (MAX_TRIES / self.possible.len().max(1)).max(4);
        for state in &self.possible {
            self.scratch.go_to(state);
            if self.scratch.is_terminal() {
                continue;
            }
            for other in joint_moves(&self.scratch, self.role, own, tries_each, rng) {
                self.scratch.go_to(state);
                if self.scratch.percepts(&other, self.role) != perceived {
                    continue;
                }
                self.scratch.advance(&other);
                if !next.contains(self.scratch.state()) {
                    next.push(self.scratch.state().clone());
                }
            }
        }
        while next.len() > MAX_STATES {
            next.swap_remove(rng.random_range(0..next.len()));
        }
        self.possible = next;
    }
}

/// Returns joint moves in which `role` makes the move `own`: all of them if they are few, otherwise
/// a random sample.
fn joint_moves(
    at: &Interpreter,
    role: Role,
    own: Move,
    at_most: usize,
    rng: &mut Rng,
) -> Vec<Vec<Move>> {
    if !at.is_legal(role, &own) {
        return Vec::new();
    }
    let choices: Vec<&[Move]> = at.shape().roles().map(|r| at.legal_moves(r)).collect();
    let others = choices.iter().enumerate().filter(|(r, _)| *r != role.index());
    let n_all = others.fold(1usize, |n, (_, moves)| n.saturating_mul(moves.len()));
    let pick = |mut number: usize| -> Vec<Move> {
        let digit = |(r, moves): (usize, &&[Move])| {
            if r == role.index() {
                return own;
            }
            let chosen = moves[number % moves.len()];
            number /= moves.len();
            chosen
        };
        choices.iter().enumerate().map(digit).collect()
    };
    if n_all <= at_most {
        (0..n_all).map(pick).collect()
    } else {
        (0..at_most).map(|_| pick(rng.random_range(0..n_all))).collect()
    }
}
