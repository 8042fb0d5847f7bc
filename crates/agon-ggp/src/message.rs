//! The messages that a host sends to players: GGP messages, byte for byte as ggp-base writes them.
//!
//! For games with hidden information there are two forms of messages, an early and a final one: see
//! [`Dialect`].

use std::fmt;

use agon_game::Observation;
use agon_game::kif::{first_term, spaced};

/// The form in which a player is told about steps.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum Dialect {
    /// The joint move: GDL-I.
    #[default]
    Moves,
    /// Percepts alone, in the place of the joint move: GDL-II until 2013.
    Percepts,
    /// Turn, own move and percepts: GDL-II since 2013.
    Turns,
}

/// A clause that makes every move visible to every role. Appended to the rules of a game of perfect
/// information for players that use [`Dialect::Percepts`] or [`Dialect::Turns`].
pub const ALL_MOVES_VISIBLE: &str =
    "(<= (sees ?viewer (did ?mover ?move)) (role ?viewer) (does ?mover ?move))";

/// A message to a player. `Display` writes it as it is sent. The answer is a single term, see
/// [`Message::answer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// Asks for the name and the status of the player.
    Info,
    /// Starts a match. The player answers `ready`; any other answer has the same effect.
    Start {
        /// The id of the match.
        id: &'a str,
        /// The role of the player.
        role: &'a str,
        /// The rules: clauses in KIF, without comments.
        rules: &'a str,
        /// The start clock in seconds.
        start_clock: u64,
        /// The play clock in seconds.
        play_clock: u64,
    },
    /// Asks for a move.
    Play {
        /// The id of the match.
        id: &'a str,
        /// The observation of the last step; `None` before the first.
        observation: Option<&'a Observation>,
        /// The form of the observation.
        dialect: Dialect,
    },
    /// Ends the match.
    Stop {
        /// The id of the match.
        id: &'a str,
        /// The observation of the last step; `None` if there was no step.
        observation: Option<&'a Observation>,
        /// The form of the observation.
        dialect: Dialect,
    },
    /// Aborts the match.
    Abort {
        /// The id of the match.
        id: &'a str,
    },
}

impl Message<'_> {
    /// Returns the move in an answer: its first term. Some players send more, which is ignored.
    pub fn answer(text: &str) -> Option<String> {
        first_term(text)
    }

    /// Writes `PLAY` or `STOP`.
    fn write_step(
        f: &mut fmt::Formatter<'_>,
        word: &str,
        id: &str,
        observation: Option<&Observation>,
        dialect: Dialect,
    ) -> fmt::Result {
        let terms =
            |terms: &[String]| terms.iter().map(|term| spaced(term) + " ").collect::<String>();
        match (observation, dialect) {
            (None, Dialect::Moves | Dialect::Percepts) => write!(f, "( {word} {id} NIL )"),
            (None, Dialect::Turns) => write!(f, "( {word} {id} 0 NIL NIL )"),
            (Some(observation), Dialect::Moves | Dialect::Percepts) => {
                write!(f, "( {word} {id} ({}) )", terms(&observation.seen))
            }
            (Some(observation), Dialect::Turns) => {
                let (step, own) = (observation.step, spaced(&observation.own));
                write!(f, "( {word} {id} {step} {own} ({}) )", terms(&observation.seen))
            }
        }
    }
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Message::Info => f.write_str("( INFO )"),
            Message::Start { id, role, rules, start_clock, play_clock } => {
                // Written on one line, because some players lose line breaks.
                write!(f, "( START {id} {role} ({}) {start_clock} {play_clock})", spaced(rules))
            }
            Message::Play { id, observation, dialect } => {
                Message::write_step(f, "PLAY", id, *observation, *dialect)
            }
            Message::Stop { id, observation, dialect } => {
                Message::write_step(f, "STOP", id, *observation, *dialect)
            }
            Message::Abort { id } => write!(f, "( ABORT {id} )"),
        }
    }
}
