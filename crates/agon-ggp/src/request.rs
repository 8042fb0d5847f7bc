//! The messages that a player receives: GGP messages in any form that hosts use.

use std::fmt;

use agon_game::kif::{list, without_comments};

/// A message to a player, parsed.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Asks for the name and the status of the player: `INFO`, `ping` in newer texts from Stanford,
    /// or an empty message, which Tiltyard sends too.
    Info,
    /// Sends rules before any match.
    Preview {
        /// Clauses in KIF.
        rules: String,
        /// The time until the match in seconds.
        clock: f64,
    },
    /// Starts a match.
    Start {
        /// The id of the match. It is an opaque text.
        id: String,
        /// The role of the player.
        role: String,
        /// Clauses in KIF.
        rules: String,
        /// The start clock in seconds.
        start_clock: f64,
        /// The play clock in seconds.
        play_clock: f64,
    },
    /// Asks for a move.
    Play {
        /// The id of the match.
        id: String,
        /// The last step.
        last_step: LastStep,
    },
    /// Ends the match.
    Stop {
        /// The id of the match.
        id: String,
        /// The last step.
        last_step: LastStep,
    },
    /// Aborts the match.
    Abort {
        /// The id of the match.
        id: String,
    },
}

/// The part of `PLAY` and `STOP` that describes the last step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LastStep {
    /// There was no step. Any atom in the place of the moves means this.
    Nothing,
    /// The joint move. In a game with hidden information these are percepts instead, as hosts sent
    /// them before 2013. Only the rules tell which.
    Terms(Vec<String>),
    /// Turn, own move and percepts, as hosts send them since 2013.
    Turn {
        /// Number of steps made.
        turn: usize,
        /// The player's own move as it was made.
        own: Option<String>,
        /// The percepts.
        seen: Vec<String>,
    },
}

/// Why a text is not a GGP message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParseError {
    /// The parentheses do not match.
    Parentheses,
    /// Parts of the message are missing.
    Missing {
        /// The first word of the message, in capitals.
        word: String,
        /// The parts that the message needs.
        needed: &'static str,
    },
    /// The message begins with a word that the protocol does not have. Contains the word, at most
    /// 40 characters of it.
    UnknownWord(String),
    /// This is not the number of a turn.
    Turn(String),
    /// The last step has two parts. The protocol allows one or three.
    TwoParts,
    /// The rules are not a list.
    Rules,
    /// This is not a number of seconds.
    Seconds(String),
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParseError::Parentheses => f.write_str("the parentheses of the message do not match"),
            ParseError::Missing { word, needed } => write!(f, "{word} needs {needed}"),
            ParseError::UnknownWord(word) => write!(f, "`{word}` is not a word of the protocol"),
            ParseError::Turn(text) => write!(f, "`{text}` is not the number of a turn"),
            ParseError::TwoParts => {
                f.write_str("the last step has two parts, where one or three are expected")
            }
            ParseError::Rules => f.write_str("the rules are not a list"),
            ParseError::Seconds(text) => write!(f, "`{text}` is not a number of seconds"),
        }
    }
}

impl std::error::Error for ParseError {}

/// Maximum length of a clock in seconds: one week. Longer clocks are mistakes or mean "no limit".
const MAX_CLOCK: f64 = 7.0 * 24.0 * 3600.0;

impl Request {
    /// Parses a message. Spacing and capitalisation do not matter.
    ///
    /// # Errors
    /// [`ParseError`] if the text is not a GGP message.
    pub fn parse(text: &str) -> Result<Request, ParseError> {
        let text = without_comments(text);
        if text.trim().is_empty() {
            return Ok(Request::Info);
        }
        // Some hosts send a single word without parentheses.
        let parts = match list(&text) {
            Some(parts) => parts,
            None if !text.contains(['(', ')']) => {
                text.split_whitespace().map(str::to_owned).collect()
            }
            None => return Err(ParseError::Parentheses),
        };
        let Some((word, rest)) = parts.split_first() else { return Ok(Request::Info) };
        let missing =
            |needed: &'static str| ParseError::Missing { word: word.to_uppercase(), needed };
        match (word.to_ascii_uppercase().as_str(), rest) {
            ("INFO" | "PING", _) => Ok(Request::Info),
            ("PREVIEW", [rules, clock, ..]) => {
                Ok(Request::Preview { rules: clauses(rules)?, clock: seconds(clock)? })
            }
            ("PREVIEW", _) => Err(missing("rules and a clock")),
            ("START", [id, role, rules, start_clock, play_clock, ..]) => Ok(Request::Start {
                id: id.clone(),
                role: role.clone(),
                rules: clauses(rules)?,
                start_clock: seconds(start_clock)?,
                play_clock: seconds(play_clock)?,
            }),
            ("START", _) => Err(missing("a match, a role, rules and two clocks")),
            ("PLAY", [id, rest @ ..]) => {
                Ok(Request::Play { id: id.clone(), last_step: LastStep::parse(rest)? })
            }
            ("STOP", [id, rest @ ..]) => {
                Ok(Request::Stop { id: id.clone(), last_step: LastStep::parse(rest)? })
            }
            ("ABORT", [id, ..]) => Ok(Request::Abort { id: id.clone() }),
            ("PLAY" | "STOP" | "ABORT", []) => Err(missing("a match")),
            _ => Err(ParseError::UnknownWord(word.chars().take(40).collect())),
        }
    }
}

impl LastStep {
    fn parse(parts: &[String]) -> Result<LastStep, ParseError> {
        match parts {
            [] => Ok(LastStep::Nothing),
            [part] => Ok(terms(part).map_or(LastStep::Nothing, LastStep::Terms)),
            [turn, own, seen, ..] => Ok(LastStep::Turn {
                turn: turn.parse().map_err(|_| ParseError::Turn(turn.clone()))?,
                own: Some(own.clone()).filter(|own| !own.eq_ignore_ascii_case("nil")),
                seen: terms(seen).unwrap_or_default(),
            }),
            [_, _] => Err(ParseError::TwoParts),
        }
    }
}

/// Returns the terms of a list, or `None` for an atom.
fn terms(text: &str) -> Option<Vec<String>> {
    if text.starts_with('(') { list(text) } else { None }
}

/// Returns the text inside a list of rules. It is not parsed here.
fn clauses(text: &str) -> Result<String, ParseError> {
    let inside = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    inside.map(str::to_owned).ok_or(ParseError::Rules)
}

fn seconds(text: &str) -> Result<f64, ParseError> {
    let clock = text.parse::<f64>().ok().filter(|clock| (0.0..=f64::MAX).contains(clock));
    let clock = clock.ok_or_else(|| ParseError::Seconds(text.to_owned()))?;
    Ok(clock.min(MAX_CLOCK))
}

/// Returns whether a host writes the role and the rules in capitals only. Such a host expects
/// answers in capitals.
pub fn is_upper_case(role: &str, rules: &str) -> bool {
    let mut letters = role.chars().chain(rules.chars()).filter(|c| c.is_alphabetic()).peekable();
    letters.peek().is_some() && letters.all(char::is_uppercase)
}
