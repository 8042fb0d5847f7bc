//! A game on the table: text only, checked, its type erased. For referees, pages and Python; never for a search.

use std::fmt;

use crate::{Fault, Hidden, Notation, Rng, Role, Shape};

/// A game being played, seen from outside: moves and states are text, and every move is checked.
///
/// The whole position is open to whoever holds the table: a referee tells a player of a game with hidden
/// information no more than `percepts`.
pub trait Table: Send {
    /// What is known of the game.
    fn shape(&self) -> &Shape;
    /// Whether play has ended here.
    fn is_terminal(&self) -> bool;
    /// Why this position could not be worked out, if so; it then counts as terminal.
    fn fault(&self) -> Option<&Fault>;
    /// The legal moves of a role, in an order that depends on the position alone. Empty once play has ended.
    fn legal_moves(&self, role: Role) -> Vec<String>;
    /// What the player would get if play ended here.
    fn payoff(&self, player: Role) -> f64;
    /// The state as its parts, sorted.
    fn state(&self) -> Vec<String>;
    /// A hash of the state.
    fn key(&self) -> u64;
    /// What the role perceived of the last step; empty before the first. In an open game everybody sees every
    /// move, so it is the joint move in the order of the roles. In a hidden one it is what the rules say, sorted.
    fn percepts(&self, role: Role) -> &[String];
    /// Makes a joint move: one legal move for each role, in the order of the roles.
    ///
    /// # Errors
    /// If the move cannot be made; then nothing has changed.
    fn advance(&mut self, joint: &[&str]) -> Result<(), IllegalMove>;
    /// A joint move drawn at random: players uniformly, nature by its chances. Empty once play has ended.
    fn draw(&self, rng: &mut Rng) -> Vec<String>;
    /// Another table with the same game at the same position. To come back to a place, keep a fork of it.
    fn fork(&self) -> Box<dyn Table>;
}

impl Clone for Box<dyn Table> {
    fn clone(&self) -> Box<dyn Table> {
        self.as_ref().fork()
    }
}

/// A position laid out as a [`Table`].
#[derive(Clone)]
pub struct Live<P: Notation> {
    position: P,
    perceive: Perceive<P>,
    /// By role, of the last step.
    percepts: Vec<Vec<String>>,
}

/// What a role perceives when a joint move is made at a position. A pointer, because one type serves open and
/// hidden games alike, and only the constructor knows which of them it was given.
type Perceive<P> = fn(&P, &[<P as crate::Position>::Move], Role) -> Vec<String>;

impl<P: Notation> Live<P> {
    /// A game where everybody sees every move.
    pub fn open(position: P) -> Live<P> {
        Live::new(position, |position, joint, _| {
            joint.iter().map(|m| position.move_text(m)).collect()
        })
    }

    /// A game where players know only what they perceive.
    pub fn hidden(position: P) -> Live<P>
    where
        P: Hidden,
    {
        Live::new(position, P::percepts)
    }

    /// The position on the table.
    pub fn position(&self) -> &P {
        &self.position
    }

    fn new(position: P, perceive: Perceive<P>) -> Live<P> {
        let percepts = vec![Vec::new(); position.shape().role_names.len()];
        Live { position, perceive, percepts }
    }

    fn illegal(&self, role: Role, text: &str) -> IllegalMove {
        let legal = self.position.legal_moves(role);
        IllegalMove::NotLegal {
            role,
            role_name: self.position.shape().role_names[role.index()].clone(),
            text: text.to_owned(),
            examples: legal.iter().take(MAX_EXAMPLES).map(|m| self.position.move_text(m)).collect(),
            n_legal: legal.len(),
        }
    }
}

/// As many legal moves as an error shows. Enough to see how moves are written, few enough for one line.
const MAX_EXAMPLES: usize = 5;

impl<P: Notation + 'static> Table for Live<P> {
    fn shape(&self) -> &Shape {
        self.position.shape()
    }

    fn is_terminal(&self) -> bool {
        self.position.is_terminal()
    }

    fn fault(&self) -> Option<&Fault> {
        self.position.fault()
    }

    fn legal_moves(&self, role: Role) -> Vec<String> {
        self.position.legal_moves(role).iter().map(|m| self.position.move_text(m)).collect()
    }

    fn payoff(&self, player: Role) -> f64 {
        self.position.payoff(player)
    }

    fn state(&self) -> Vec<String> {
        self.position.state_text()
    }

    fn key(&self) -> u64 {
        self.position.key()
    }

    fn percepts(&self, role: Role) -> &[String] {
        &self.percepts[role.index()]
    }

    fn advance(&mut self, joint: &[&str]) -> Result<(), IllegalMove> {
        if self.position.is_terminal() {
            return Err(IllegalMove::Ended { fault: self.position.fault().cloned() });
        }
        let n_roles = self.percepts.len();
        if joint.len() != n_roles {
            return Err(IllegalMove::Count { expected: n_roles, given: joint.len() });
        }
        let mut moves = Vec::with_capacity(joint.len());
        for (role, text) in self.position.shape().roles().zip(joint) {
            let Some(m) = self.position.parse_move(role, text) else {
                return Err(self.illegal(role, text));
            };
            debug_assert!(self.position.is_legal(role, &m), "parse_move gives legal moves only");
            moves.push(m);
        }
        for (role, percepts) in self.position.shape().roles().zip(&mut self.percepts) {
            *percepts = (self.perceive)(&self.position, &moves, role);
        }
        self.position.advance(&moves);
        Ok(())
    }

    fn draw(&self, rng: &mut Rng) -> Vec<String> {
        if self.position.is_terminal() {
            return Vec::new();
        }
        let mut joint = Vec::new();
        self.position.draw(rng, &mut joint);
        joint.iter().map(|m| self.position.move_text(m)).collect()
    }

    fn fork(&self) -> Box<dyn Table> {
        Box::new(self.clone())
    }
}

/// Why a joint move was not made. Always the fault of whoever sent it, never of the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IllegalMove {
    /// The text names no legal move of the role: the player's fault.
    NotLegal {
        /// Whose move it was to be.
        role: Role,
        /// The role as the rules spell it.
        role_name: String,
        /// What was sent.
        text: String,
        /// The first few of the moves that would have been legal.
        examples: Vec<String>,
        /// How many would have been.
        n_legal: usize,
    },
    /// The joint move has a move too few or too many: the caller's fault.
    Count {
        /// How many roles there are.
        expected: usize,
        /// How many moves were sent.
        given: usize,
    },
    /// Nobody can move any more: the caller should have looked.
    Ended {
        /// Why, if it was not the rules that ended play.
        fault: Option<Fault>,
    },
}

impl fmt::Display for IllegalMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IllegalMove::NotLegal { role_name, text, examples, n_legal, .. } => {
                write!(f, "`{text}` is not a legal move of {role_name}: ")?;
                if examples.is_empty() {
                    return f.write_str("there is none here");
                }
                write!(f, "legal here: `{}`", examples.join("`, `"))?;
                match n_legal - examples.len() {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            IllegalMove::Count { expected, given } => {
                write!(
                    f,
                    "a joint move has one move for each role, {expected} in all, and not {given}"
                )
            }
            IllegalMove::Ended { fault: None } => f.write_str("the game has ended"),
            IllegalMove::Ended { fault: Some(fault) } => {
                write!(f, "the game cannot go on: {fault}")
            }
        }
    }
}

impl std::error::Error for IllegalMove {}
