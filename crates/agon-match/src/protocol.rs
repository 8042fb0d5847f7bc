//! What is said to players over the network: the messages of the GGP protocol, byte for byte as ggp-base sends them.
//!
//! Games with hidden information have two forms of messages, an early and a final one: see [`Dialect`].

mod heard;

pub use heard::{Heard, Misheard, Told, is_shouted};

use crate::{News, first_term, spaced};

/// How a player is told of steps.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub enum Dialect {
    /// The joint move: GDL-I.
    #[default]
    Moves,
    /// Percepts alone, in the place of the joint move: GDL-II until 2013.
    Percepts,
    /// Turn, own move, percepts: GDL-II since.
    Turns,
}

/// What makes a game in which everybody sees every move one for players who only know percepts: a clause for the end of its rules.
pub const ALL_IS_SEEN: &str =
    "(<= (sees ?viewer (did ?mover ?move)) (role ?viewer) (does ?mover ?move))";

/// A message to a player. Answers are single terms, see [`Message::answer`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// Who are you? Answered by a name and a status.
    Info,
    /// A match begins. Answered by `ready`, and by anything else alike.
    Start {
        /// The match.
        id: &'a str,
        /// The player's role.
        role: &'a str,
        /// The rules: clauses in KIF, without comments.
        rules: &'a str,
        /// In seconds.
        start_clock: u64,
        /// In seconds.
        play_clock: u64,
    },
    /// A move is wanted.
    Play {
        /// The match.
        id: &'a str,
        /// Of the last step; none before the first.
        news: Option<&'a News>,
        /// How it is told.
        dialect: Dialect,
    },
    /// The match is over.
    Stop {
        /// The match.
        id: &'a str,
        /// Of the last step; none if there was none.
        news: Option<&'a News>,
        /// How it is told.
        dialect: Dialect,
    },
    /// The match is broken off.
    Abort {
        /// The match.
        id: &'a str,
    },
}

impl Message<'_> {
    /// The move in an answer: its first term. Some players say more, which means nothing.
    pub fn answer(text: &str) -> Option<String> {
        first_term(text)
    }

    fn told(
        f: &mut std::fmt::Formatter<'_>,
        word: &str,
        id: &str,
        news: Option<&News>,
        dialect: Dialect,
    ) -> std::fmt::Result {
        let terms =
            |terms: &[String]| terms.iter().map(|term| spaced(term) + " ").collect::<String>();
        match (news, dialect) {
            (None, Dialect::Moves | Dialect::Percepts) => write!(f, "( {word} {id} NIL )"),
            (None, Dialect::Turns) => write!(f, "( {word} {id} 0 NIL NIL )"),
            (Some(news), Dialect::Moves | Dialect::Percepts) => {
                write!(f, "( {word} {id} ({}) )", terms(&news.seen))
            }
            (Some(news), Dialect::Turns) => {
                let (step, own) = (news.step, spaced(&news.own));
                write!(f, "( {word} {id} {step} {own} ({}) )", terms(&news.seen))
            }
        }
    }
}

impl std::fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Message::Info => f.write_str("( INFO )"),
            Message::Start { id, role, rules, start_clock, play_clock } => {
                // Newlines vanish on their way to some players, so there are none.
                write!(f, "( START {id} {role} ({}) {start_clock} {play_clock})", spaced(rules))
            }
            Message::Play { id, news, dialect } => Message::told(f, "PLAY", id, *news, *dialect),
            Message::Stop { id, news, dialect } => Message::told(f, "STOP", id, *news, *dialect),
            Message::Abort { id } => write!(f, "( ABORT {id} )"),
        }
    }
}
