//! A game being played.

use std::fmt::Debug;
use std::hash::Hash;

use rand::RngExt;

use crate::{Batch, Rng, Role, Shape};

/// A game being played: the rules, standing at one position. A step is a joint move: one legal move for every
/// role, nature included.
///
/// A cursor, not `next(state, moves)`, because fast engines keep derived values between steps.
///
/// # Laws
/// [`crate::laws::check`] tests them on any implementation:
/// 1. At a position that is not terminal every role has a legal move; at a terminal one no role has.
/// 2. `advance` depends on the state and the joint move alone.
/// 3. After `go_to(s)` every answer is what it was when `state()` returned `s`.
/// 4. Equal keys mean equal answers (but for hash collisions).
/// 5. The chances of nature's legal moves add up to 1.
/// 6. Payoffs lie within `Shape::payoffs`.
/// 7. A legal move is listed once, and `is_legal` says yes to exactly the listed ones.
/// 8. A provided method that is overridden keeps its promise: `choosers` agrees with `legal_moves`, `draw` gives
///    one legal move for each role, `play_out` stops at the end or at its limit, and the same seed gives the same.
pub trait Position: Clone + Send {
    /// A move of one role.
    type Move: Clone + Eq + Hash + Debug + Send + Sync;
    /// What `go_to` needs to come back. Cheap to clone.
    type State: Clone + Send + Sync;

    /// What is known of the game, the same at every position.
    fn shape(&self) -> &Shape;
    /// Whether play has ended here.
    fn is_terminal(&self) -> bool;
    /// The legal moves of a role in an order that depends on the position alone. Empty at a terminal position.
    fn legal_moves(&self, role: Role) -> &[Self::Move];
    /// What the player would get if play ended here.
    fn payoff(&self, player: Role) -> f64;
    /// Makes a joint move: one legal move for each role, in the order of the roles.
    fn advance(&mut self, joint: &[Self::Move]);
    /// The state stood at.
    fn state(&self) -> &Self::State;
    /// Goes to a state that `state()` returned, of this position or a clone of it.
    fn go_to(&mut self, state: &Self::State);
    /// A hash of the state: the same for the same state in every run of the same build.
    fn key(&self) -> u64;

    /// Why this position could not be worked out, if so. Such a position counts as terminal, so a search goes on
    /// unharmed, and whoever runs the match reports it.
    fn fault(&self) -> Option<&Fault> {
        None
    }

    // Provided; overridden only to be faster.

    /// Whether the role may make this move here.
    fn is_legal(&self, role: Role, candidate: &Self::Move) -> bool {
        self.legal_moves(role).contains(candidate)
    }

    /// How likely nature is to make this move of its own here; uniform unless the language says otherwise.
    fn chance(&self, nature_move: &Self::Move) -> f64 {
        let nature = self.shape().nature.expect("chance is asked only where there is nature");
        let moves = self.legal_moves(nature);
        if moves.contains(nature_move) { 1.0 / moves.len() as f64 } else { 0.0 }
    }

    /// The roles with a choice here: more than one legal move.
    fn choosers(&self) -> impl Iterator<Item = Role> {
        self.shape().roles().filter(|&role| self.legal_moves(role).len() > 1)
    }

    /// Draws a joint move: players uniformly, nature by its chances.
    fn draw(&self, rng: &mut Rng, joint: &mut Vec<Self::Move>) {
        joint.clear();
        let nature = self.shape().nature;
        for role in self.shape().roles() {
            let moves = self.legal_moves(role);
            let drawn = if Some(role) == nature {
                let mut left: f64 = rng.random();
                moves.iter().find(|m| {
                    left -= self.chance(m);
                    left < 0.0
                })
            } else {
                None
            };
            // Nature falls through to the last branch when rounding leaves a crumb of probability.
            joint.push(drawn.unwrap_or_else(|| &moves[rng.random_range(0..moves.len())]).clone());
        }
    }

    /// Plays random moves to the end, at most `max_steps` of them. Returns how many were made.
    fn play_out(&mut self, rng: &mut Rng, max_steps: usize) -> usize {
        let mut joint = Vec::new();
        for step in 0..max_steps {
            if self.is_terminal() {
                return step;
            }
            self.draw(rng, &mut joint);
            self.advance(&joint);
        }
        max_steps
    }

    /// The key of a state that `state()` returned. May go to the state to find out.
    fn key_of(&mut self, state: &Self::State) -> u64 {
        self.go_to(state);
        self.key()
    }

    /// Fills a list with what holds here, as dense numbers that mean the same at every position: for GDL the fluents. Empty
    /// unless the engine has them at hand.
    fn features(&self, features: &mut Vec<u32>) {
        features.clear();
    }

    /// An engine that steps and plays out many games of this kind at once, if there is one that is faster than stepping
    /// through them one by one ([`crate::OneByOne`]). The same seed gives the same playouts.
    fn batch(&self, seed: u64) -> Option<Box<dyn Batch<State = Self::State, Move = Self::Move>>> {
        let _ = seed;
        None
    }
}

/// Moves and states as text: what protocols, traces and people use.
///
/// Law 9: `parse_move(role, &move_text(m))` is `Some(m)` for every legal `m`, and no text names a move that is
/// not legal.
pub trait Notation: Position {
    /// A move as text.
    fn move_text(&self, m: &Self::Move) -> String;
    /// The legal move of the role that this text names, whatever its spacing and capitalisation.
    fn parse_move(&self, role: Role, text: &str) -> Option<Self::Move>;
    /// The state as its parts, sorted: for GDL the fluents that hold.
    fn state_text(&self) -> Vec<String>;
}

/// Games in which players know only what they perceive.
///
/// Law 10: percepts depend on the state and the joint move alone.
pub trait Hidden: Notation {
    /// What the role perceives when the joint move is made here, sorted. Its own move it knows anyway.
    fn percepts(&self, joint: &[Self::Move], role: Role) -> Vec<String>;
}

/// Why a position could not be worked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The rules leave this role without a legal move although play has not ended: the author's fault.
    NoLegalMove(Role),
    /// Working it out took more than the budget allows: facts, depth, memory or time. The text names the rule.
    Refused(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::NoLegalMove(role) => write!(f, "role {} has no legal move", role.index() + 1),
            Fault::Refused(why) => f.write_str(why),
        }
    }
}
