//! A game as referees, user interfaces and Python see it: text only, every move checked, type
//! erased. Search uses [`crate::Position`] instead.

use std::fmt;
use std::time::Instant;

use crate::{Continuous, Family, Fault, Hidden, Notation, Passage, Rng, Role, Shape};

/// A game that is being played, with moves and states as text. Every move is checked.
///
/// A table shows the whole position. In a game with hidden information the referee passes on to a
/// player only its `percepts`.
pub trait Table: Send {
    /// Returns the static facts about the game.
    fn shape(&self) -> &Shape;
    /// Returns whether play has ended here.
    fn is_terminal(&self) -> bool;
    /// Returns why this position could not be computed, if so. It then counts as terminal.
    fn fault(&self) -> Option<&Fault>;
    /// Returns the legal moves of a role, in an order that depends on the position alone. The list
    /// is empty once play has ended.
    fn legal_moves(&self, role: Role) -> Vec<String>;
    /// Lists the legal moves, but not beyond a moment: see
    /// [`Position::list_legal_moves_until`](crate::Position::list_legal_moves_until).
    fn list_legal_moves_until(&self, role: Role, until: Instant) {
        let _ = (role, until);
    }
    /// Returns the families of moves with real parameters of a role. The list is empty if the game
    /// is discrete. See [`crate::Continuous`].
    fn families(&self, role: Role) -> Vec<Family> {
        let _ = role;
        Vec::new()
    }
    /// Returns the text of the legal move that a text names, ignoring spacing and case. In a game
    /// with real parameters it need not be in the list of legal moves.
    fn find_move(&self, role: Role, text: &str) -> Option<String>;
    /// Returns the payoff of a player if play ended here.
    fn payoff(&self, player: Role) -> f64;
    /// Returns the parts of the state as sorted texts.
    fn state(&self) -> Vec<String>;
    /// Returns a hash of the state.
    fn key(&self) -> u64;
    /// Returns what the role perceived of the last step; empty before the first step.
    ///
    /// In a game of perfect information this is the joint move, in the order of the roles. In a
    /// game with hidden information it is what the rules say, sorted.
    fn percepts(&self, role: Role) -> &[String];
    /// Makes a joint move: one legal move for each role, in the order of the roles.
    ///
    /// # Errors
    /// If the move cannot be made. The position is then unchanged.
    fn advance(&mut self, joint: &[&str]) -> Result<(), IllegalMove>;
    /// Returns how numbers change while a joint move is made from here, at `n_points` equally spaced
    /// times and at all events. Returns `None` if the move cannot be made or no time passes.
    fn passage(&self, joint: &[&str], n_points: usize) -> Option<Passage> {
        let _ = (joint, n_points);
        None
    }
    /// Returns a random joint move: players draw uniformly, nature by its chances. The list is
    /// empty once play has ended.
    fn draw(&self, rng: &mut Rng) -> Vec<String>;
    /// Returns another table with the same game at the same position. To return to a position
    /// later, keep a fork of it.
    fn fork(&self) -> Box<dyn Table>;
}

impl Clone for Box<dyn Table> {
    fn clone(&self) -> Box<dyn Table> {
        self.as_ref().fork()
    }
}

/// A [`Table`] that is backed by a position.
#[derive(Clone)]
pub struct PositionTable<P: Notation> {
    position: P,
    perceive: Perceive<P>,
    families: Families<P>,
    passage: PassageOf<P>,
    /// By role: the percepts of the last step.
    percepts: Vec<Vec<String>>,
}

/// A function that returns what a role perceives when a joint move is made at a position. It is a
/// function pointer because one type serves games of perfect information and games with hidden
/// information; the constructor knows which kind it is given.
type Perceive<P> = fn(&P, &[<P as crate::Position>::Move], Role) -> Vec<String>;

/// A function that returns the families of moves of a role at a position.
type Families<P> = fn(&P, Role) -> Vec<Family>;

/// A function that returns how numbers change while a joint move is made at a position.
type PassageOf<P> = fn(&P, &[<P as crate::Position>::Move], usize) -> Option<Passage>;

impl<P: Notation> PositionTable<P> {
    /// Returns a table for a game of perfect information, in which every role sees every move.
    pub fn open(position: P) -> PositionTable<P> {
        PositionTable::new(position, |position, joint, _| {
            joint.iter().map(|m| position.move_text(m)).collect()
        })
    }

    /// Returns a table for a game in which players know only what they perceive.
    pub fn hidden(position: P) -> PositionTable<P>
    where
        P: Hidden,
    {
        PositionTable::new(position, P::percepts)
    }

    /// Returns the current position.
    pub fn position(&self) -> &P {
        &self.position
    }

    fn new(position: P, perceive: Perceive<P>) -> PositionTable<P> {
        let percepts = vec![Vec::new(); position.shape().role_names.len()];
        let (families, passage): (Families<P>, PassageOf<P>) = (|_, _| Vec::new(), |_, _, _| None);
        PositionTable { position, perceive, families, passage, percepts }
    }

    /// Returns the table with the families of moves and the passages of its position.
    #[must_use]
    pub fn with_families(self) -> PositionTable<P>
    where
        P: Continuous,
    {
        let families: Families<P> = |position, role| position.families(role).to_vec();
        PositionTable { families, passage: P::passage, ..self }
    }

    /// Returns the moves that texts name, one for each role.
    fn parse_joint(&self, joint: &[&str]) -> Result<Vec<P::Move>, IllegalMove> {
        let n_roles = self.percepts.len();
        if joint.len() != n_roles {
            return Err(IllegalMove::Count { expected: n_roles, given: joint.len() });
        }
        let mut moves = Vec::with_capacity(joint.len());
        for (role, text) in self.position.shape().roles().zip(joint) {
            let Some(m) = self.position.parse_move(role, text) else {
                return Err(self.illegal(role, text));
            };
            debug_assert!(self.position.is_legal(role, &m), "parse_move returns legal moves only");
            moves.push(m);
        }
        Ok(moves)
    }

    fn illegal(&self, role: Role, text: &str) -> IllegalMove {
        let legal = self.position.legal_moves(role);
        IllegalMove::NotLegal {
            role,
            role_name: self.position.shape().role_names[role.index()].clone(),
            text: text.to_owned(),
            mistake: (self.families)(&self.position, role)
                .iter()
                .find_map(|family| family.mistake(text)),
            examples: legal.iter().take(MAX_EXAMPLES).map(|m| self.position.move_text(m)).collect(),
            n_legal: legal.len(),
        }
    }
}

/// Maximum number of legal moves that an error shows: enough to see how moves are written, and few
/// enough for one line.
const MAX_EXAMPLES: usize = 5;

impl<P: Notation + 'static> Table for PositionTable<P> {
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

    fn list_legal_moves_until(&self, role: Role, until: Instant) {
        self.position.list_legal_moves_until(role, until);
    }

    fn families(&self, role: Role) -> Vec<Family> {
        (self.families)(&self.position, role)
    }

    fn find_move(&self, role: Role, text: &str) -> Option<String> {
        let found = self.position.parse_move(role, text)?;
        Some(self.position.move_text(&found))
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
        let moves = self.parse_joint(joint)?;
        for (role, percepts) in self.position.shape().roles().zip(&mut self.percepts) {
            *percepts = (self.perceive)(&self.position, &moves, role);
        }
        self.position.advance(&moves);
        Ok(())
    }

    fn passage(&self, joint: &[&str], n_points: usize) -> Option<Passage> {
        if self.position.is_terminal() {
            return None;
        }
        let moves = self.parse_joint(joint).ok()?;
        (self.passage)(&self.position, &moves, n_points)
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

/// The reason why a joint move was not made. It is always a mistake of the sender, never of the
/// rules.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IllegalMove {
    /// The text does not name a legal move of the role. This is a mistake of the player.
    NotLegal {
        /// The role that was to move.
        role: Role,
        /// The name of the role as the rules spell it.
        role_name: String,
        /// The text that was sent.
        text: String,
        /// What is wrong with the numbers of the move, if anything is.
        mistake: Option<String>,
        /// The first few legal moves.
        examples: Vec<String>,
        /// Number of legal moves.
        n_legal: usize,
    },
    /// The joint move has too few or too many moves. This is a mistake of the caller.
    Count {
        /// Number of roles.
        expected: usize,
        /// Number of moves that were sent.
        given: usize,
    },
    /// Play has ended. This is a mistake of the caller.
    Ended {
        /// The fault that ended play, if the rules did not.
        fault: Option<Fault>,
    },
}

impl fmt::Display for IllegalMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IllegalMove::NotLegal { role_name, text, mistake, examples, n_legal, .. } => {
                write!(f, "`{text}` is not a legal move of {role_name}: ")?;
                if let Some(mistake) = mistake {
                    return f.write_str(mistake);
                }
                if examples.is_empty() {
                    return f.write_str("there are none");
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
                    "a joint move has one move for each role: \
                     expected {expected} moves, got {given}"
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
