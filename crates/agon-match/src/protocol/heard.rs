//! What a player hears over the network: the messages of the GGP protocol as any host may write them.

use crate::kif::{list, without_comments};

/// A message to a player.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// Who are you? `INFO`, `ping` in Stanford's newer text, and nothing at all, by which Tiltyard asks too.
    Info,
    /// Rules that may be looked at before any match.
    Preview {
        /// Clauses in KIF.
        rules: String,
        /// In seconds.
        clock: f64,
    },
    /// A match begins.
    Start {
        /// The match: any text, of which nothing is understood.
        id: String,
        /// The player's role.
        role: String,
        /// Clauses in KIF.
        rules: String,
        /// In seconds.
        start_clock: f64,
        /// In seconds.
        play_clock: f64,
    },
    /// A move is wanted.
    Play {
        /// The match.
        id: String,
        /// Of the last step.
        told: Told,
    },
    /// The match is over.
    Stop {
        /// The match.
        id: String,
        /// Of the last step.
        told: Told,
    },
    /// The match is broken off.
    Abort {
        /// The match.
        id: String,
    },
}

/// What `PLAY` and `STOP` tell of the last step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// Nothing: there was none. Any atom in the place of the moves means this.
    Nothing,
    /// The joint move; or percepts, in a game with hidden information, as hosts before 2013 send them. Only the rules tell
    /// which.
    Terms(Vec<String>),
    /// As hosts send it since: the turn, one's own move, percepts.
    Turn {
        /// How many steps were made.
        turn: usize,
        /// One's own move as it was made.
        own: Option<String>,
        /// What was perceived.
        seen: Vec<String>,
    },
}

/// A message that makes no sense, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misheard(pub String);

impl std::fmt::Display for Misheard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Clocks beyond a week are mistakes, or meant as none at all; nobody waits longer.
const LONGEST_CLOCK: f64 = 7.0 * 24.0 * 3600.0;

impl Heard {
    /// Understands a message of any spacing and capitalisation.
    ///
    /// # Errors
    /// If it is not one.
    pub fn read(text: &str) -> Result<Heard, Misheard> {
        let text = without_comments(text);
        if text.trim().is_empty() {
            return Ok(Heard::Info);
        }
        // Some hosts say a lone word without parentheses.
        let parts = match list(&text) {
            Some(parts) => parts,
            None if !text.contains(['(', ')']) => {
                text.split_whitespace().map(str::to_owned).collect()
            }
            None => return Err(Misheard("the parentheses of the message do not match".to_owned())),
        };
        let Some((word, rest)) = parts.split_first() else { return Ok(Heard::Info) };
        let missing = |what: &str| Misheard(format!("{} needs {what}", word.to_uppercase()));
        match (word.to_ascii_uppercase().as_str(), rest) {
            ("INFO" | "PING", _) => Ok(Heard::Info),
            ("PREVIEW", [rules, clock, ..]) => {
                Ok(Heard::Preview { rules: clauses(rules)?, clock: seconds(clock)? })
            }
            ("PREVIEW", _) => Err(missing("rules and a clock")),
            ("START", [id, role, rules, start_clock, play_clock, ..]) => Ok(Heard::Start {
                id: id.clone(),
                role: role.clone(),
                rules: clauses(rules)?,
                start_clock: seconds(start_clock)?,
                play_clock: seconds(play_clock)?,
            }),
            ("START", _) => Err(missing("a match, a role, rules and two clocks")),
            ("PLAY", [id, rest @ ..]) => {
                Ok(Heard::Play { id: id.clone(), told: Told::read(rest)? })
            }
            ("STOP", [id, rest @ ..]) => {
                Ok(Heard::Stop { id: id.clone(), told: Told::read(rest)? })
            }
            ("ABORT", [id, ..]) => Ok(Heard::Abort { id: id.clone() }),
            ("PLAY" | "STOP" | "ABORT", []) => Err(missing("a match")),
            _ => {
                let shown: String = word.chars().take(40).collect();
                Err(Misheard(format!("`{shown}` is no word of the protocol")))
            }
        }
    }
}

impl Told {
    fn read(parts: &[String]) -> Result<Told, Misheard> {
        match parts {
            [] => Ok(Told::Nothing),
            [told] => Ok(terms(told).map_or(Told::Nothing, Told::Terms)),
            [turn, own, seen, ..] => Ok(Told::Turn {
                turn: turn
                    .parse()
                    .map_err(|_| Misheard(format!("`{turn}` is not the number of a turn")))?,
                own: Some(own.clone()).filter(|own| !own.eq_ignore_ascii_case("nil")),
                seen: terms(seen).unwrap_or_default(),
            }),
            [_, _] => Err(Misheard("two things are told, where it is one or three".to_owned())),
        }
    }
}

/// The terms of a list; `None` for an atom.
fn terms(text: &str) -> Option<Vec<String>> {
    if text.starts_with('(') { list(text) } else { None }
}

/// The inside of a list of rules. What is in there is for others to understand.
fn clauses(text: &str) -> Result<String, Misheard> {
    let inside = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    inside.map(str::to_owned).ok_or_else(|| Misheard("the rules are not a list".to_owned()))
}

fn seconds(text: &str) -> Result<f64, Misheard> {
    let clock = text.parse::<f64>().ok().filter(|clock| (0.0..=f64::MAX).contains(clock));
    let clock = clock.ok_or_else(|| Misheard(format!("`{text}` is not a number of seconds")))?;
    Ok(clock.min(LONGEST_CLOCK))
}

/// Whether a host writes everything in capitals, and so wants to be answered.
pub fn is_shouted(role: &str, rules: &str) -> bool {
    let mut letters = role.chars().chain(rules.chars()).filter(|c| c.is_alphabetic()).peekable();
    letters.peek().is_some() && letters.all(char::is_uppercase)
}
