//! A game that is being played, as search sees it.

use std::fmt::{self, Debug};
use std::hash::Hash;
use std::time::Instant;

use rand::RngExt;

use crate::{Batch, Rng, Role, Shape};

/// A game that is being played: the rules together with a current state. A step is a joint move,
/// which has one legal move for every role, including nature.
///
/// A position is a cursor rather than a function `next(state, moves)`, because fast engines keep
/// derived values between steps.
///
/// # Laws
/// [`crate::laws::check`] tests these laws for any implementation:
/// 1. At a position that is not terminal every role has a legal move; at a terminal one no role
///    has.
/// 2. `advance` depends on the state and the joint move alone.
/// 3. After `go_to(s)` every answer is what it was when `state()` returned `s`.
/// 4. Equal keys mean equal answers (except for hash collisions).
/// 5. The chances of nature's legal moves add up to 1.
/// 6. Payoffs lie within `Shape::payoffs`.
/// 7. A legal move is listed once, and `is_legal` returns true for exactly the listed moves. In a
///    continuous game (`Shape::continuous`) the list is a sample, and `is_legal` accepts the other
///    moves of the same families too.
/// 8. An overridden provided method behaves like the default: `choosers` agrees with `legal_moves`,
///    `draw` gives one legal move for each role, `play_out` stops at the end or at its limit, and
///    equal seeds give equal results.
pub trait Position: Clone + Send {
    /// A move of one role.
    type Move: Clone + Eq + Hash + Debug + Send + Sync + 'static;
    /// What `go_to` needs to return to a position. Cheap to clone.
    type State: Clone + Send + Sync + 'static;

    /// Returns the static facts about the game, which are the same at every position.
    fn shape(&self) -> &Shape;
    /// Returns whether play has ended here.
    fn is_terminal(&self) -> bool;
    /// Returns the legal moves of a role, in an order that depends on the position alone. The list
    /// is empty at a terminal position.
    fn legal_moves(&self, role: Role) -> &[Self::Move];
    /// Returns the payoff of a player if play ended here.
    fn payoff(&self, player: Role) -> f64;
    /// Makes a joint move: one legal move for each role, in the order of the roles.
    fn advance(&mut self, joint: &[Self::Move]);
    /// Returns the current state.
    fn state(&self) -> &Self::State;
    /// Goes to a state that `state()` of this position or of a clone has returned.
    fn go_to(&mut self, state: &Self::State);
    /// Returns a hash of the state, which is the same in every run of the same build.
    fn key(&self) -> u64;

    /// Returns why this position could not be computed, if so. Such a position counts as terminal,
    /// so that a search can continue. The referee of the match reports the fault.
    fn fault(&self) -> Option<&Fault> {
        None
    }

    // The methods below are provided. Engines override them only to be faster.

    /// Returns whether the role may make this move here.
    fn is_legal(&self, role: Role, candidate: &Self::Move) -> bool {
        self.legal_moves(role).contains(candidate)
    }

    /// Lists the legal moves, but not beyond a moment. If the time or another limit of the engine
    /// does not suffice, the position has those legal moves of the role that were found. If none was
    /// found, the position has a fault. An engine that always finds all moves does nothing here.
    fn list_legal_moves_until(&self, role: Role, until: Instant) {
        let _ = (role, until);
    }

    /// Returns the probability that nature makes this move here. It is uniform over the legal moves
    /// unless the rules say otherwise.
    fn chance(&self, nature_move: &Self::Move) -> f64 {
        let nature = self.shape().nature.expect("chance is asked only where there is nature");
        let moves = self.legal_moves(nature);
        if moves.contains(nature_move) { 1.0 / moves.len() as f64 } else { 0.0 }
    }

    /// Returns the roles with more than one legal move here.
    fn choosers(&self) -> impl Iterator<Item = Role> {
        self.shape().roles().filter(|&role| self.legal_moves(role).len() > 1)
    }

    /// Draws a joint move into `joint`: players uniformly, nature by its chances.
    fn draw(&self, rng: &mut Rng, joint: &mut Vec<Self::Move>) {
        joint.clear();
        joint.extend(self.shape().roles().map(|role| draw_listed(self, role, rng)));
    }

    /// Plays random moves until play ends, at most `max_steps` of them. Returns the number of steps
    /// that were made.
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

    /// Returns the key of a state that `state()` has returned. May go to that state.
    fn key_of(&mut self, state: &Self::State) -> u64 {
        self.go_to(state);
        self.key()
    }

    /// Replaces the contents of `features` by the numbers of the facts that hold here. Numbers are
    /// dense and mean the same at every position; in GDL they stand for the fluents. The list is
    /// empty if the engine does not have the numbers at hand.
    fn features(&self, features: &mut Vec<u32>) {
        features.clear();
    }

    /// Returns a state as packed bits, if the engine keeps states that way. Bit `i` of word `j` says
    /// whether the fact with the number `64 * j + i` holds. Numbers are those of
    /// [`Position::features`].
    fn state_words(state: &Self::State) -> Option<&[u64]> {
        let _ = state;
        None
    }

    /// Returns the state with the given packed bits, the inverse of [`Position::state_words`]. Bits
    /// after the last fact must be zero.
    fn state_of_words(&self, words: &[u64]) -> Option<Self::State> {
        let _ = words;
        None
    }

    /// Returns an engine that steps and plays out many games at once, if the game has one that is
    /// faster than [`crate::SequentialBatch`]. Equal seeds give equal playouts.
    fn batch(&self, seed: u64) -> Option<Box<dyn Batch<State = Self::State, Move = Self::Move>>> {
        let _ = seed;
        None
    }
}

/// Draws a listed legal move of a role: uniformly for a player, by its chances for nature.
pub fn draw_listed<P: Position>(position: &P, role: Role, rng: &mut Rng) -> P::Move {
    let moves = position.legal_moves(role);
    let drawn = if Some(role) == position.shape().nature {
        let mut left: f64 = rng.random();
        moves.iter().find(|m| {
            left -= position.chance(m);
            left < 0.0
        })
    } else {
        None
    };
    // Nature gets here too if rounding leaves a small probability unassigned.
    drawn.unwrap_or_else(|| &moves[rng.random_range(0..moves.len())]).clone()
}

/// The text of moves and states, which protocols, traces and people use.
///
/// Law 9: `parse_move(role, &move_text(m))` is `Some(m)` for every legal `m`, and no text names a
/// move that is not legal.
pub trait Notation: Position {
    /// Returns the text of a move.
    fn move_text(&self, m: &Self::Move) -> String;
    /// Returns the legal move of the role that a text names, ignoring spacing and case.
    fn parse_move(&self, role: Role, text: &str) -> Option<Self::Move>;
    /// Returns the parts of the state as sorted texts. In GDL these are the fluents that hold.
    fn state_text(&self) -> Vec<String>;

    /// Returns the texts of all facts that [`Position::features`] numbers, in the order of their
    /// numbers. The list is empty if the engine does not number facts.
    fn feature_texts(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A game in which players know only what they perceive.
///
/// Law 10: percepts depend on the state and the joint move alone.
pub trait Hidden: Notation {
    /// Returns what a role perceives when the joint move is made here, sorted. Its own move is not
    /// included unless the rules say so, because the role knows it.
    fn percepts(&self, joint: &[Self::Move], role: Role) -> Vec<String>;
}

/// The reason why a position could not be computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The rules leave this role without a legal move although play has not ended. This is a
    /// mistake in the rules.
    NoLegalMove(Role),
    /// The computation exceeded its budget of facts, depth, memory or time. The text names the
    /// rule.
    Refused(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NoLegalMove(role) => write!(f, "role {} has no legal move", role.index() + 1),
            Fault::Refused(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Fault {}
