//! What is said to players over the network: the messages of the GGP protocol, byte for byte as ggp-base sends them.
//!
//! For games with hidden information the final form of GDL-II's messages is used: turn, own move, percepts.

use crate::{News, first_term, spaced};

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
        /// Whether the game has hidden information.
        hidden: bool,
    },
    /// The match is over.
    Stop {
        /// The match.
        id: &'a str,
        /// Of the last step; none if there was none.
        news: Option<&'a News>,
        /// Whether the game has hidden information.
        hidden: bool,
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
        hidden: bool,
    ) -> std::fmt::Result {
        let terms = |terms: &[String]| terms.iter().map(|term| spaced(term) + " ").collect::<String>();
        match (news, hidden) {
            (None, false) => write!(f, "( {word} {id} NIL )"),
            (None, true) => write!(f, "( {word} {id} 0 NIL NIL )"),
            (Some(news), false) => write!(f, "( {word} {id} ({}) )", terms(&news.seen)),
            (Some(news), true) => {
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
            Message::Play { id, news, hidden } => Message::told(f, "PLAY", id, *news, *hidden),
            Message::Stop { id, news, hidden } => Message::told(f, "STOP", id, *news, *hidden),
            Message::Abort { id } => write!(f, "( ABORT {id} )"),
        }
    }
}
