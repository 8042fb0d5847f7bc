//! What two engines can disagree about.

use std::collections::BTreeSet;
use std::fmt;

use crate::Fault;

/// One of the two engines that are compared.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first engine, usually the oracle or the original.
    First,
    /// The second engine, usually the engine under test or the translation.
    Second,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::First => "first",
            Side::Second => "second",
        })
    }
}

/// An answer in which two engines differ at one position.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Mismatch {
    /// An engine could not compute the position, so it is not known whether the games differ.
    Fault {
        /// The engine with the fault.
        side: Side,
        /// The fault.
        fault: Fault,
    },
    /// Play has ended in one game and goes on in the other.
    Terminal {
        /// The game that has ended.
        ended: Side,
    },
    /// The states have different texts.
    State(TextDifference),
    /// A role has different payoffs.
    Payoff {
        /// The name of the role.
        role: String,
        /// The values in the first game.
        first: Vec<f64>,
        /// The values in the second game.
        second: Vec<f64>,
    },
    /// A role has different legal moves. A move that one list has twice counts as extra.
    Moves {
        /// The name of the role.
        role: String,
        /// The moves, as texts of the first game.
        difference: TextDifference,
    },
    /// A legal move of the second game stands for no move of the first.
    UnknownMove {
        /// The name of the role.
        role: String,
        /// The move as the second game writes it.
        text: String,
    },
    /// A role has the same legal moves in another order.
    MoveOrder {
        /// The name of the role.
        role: String,
        /// The first index at which the lists differ.
        index: usize,
    },
    /// A move of nature has different chances.
    Chance {
        /// The move, as text of the first game.
        text: String,
        /// Its chance in the first game.
        first: f64,
        /// Its chance in the second game.
        second: f64,
    },
    /// A role perceives different things of the same joint move.
    Percepts {
        /// The name of the role.
        role: String,
        /// The percepts.
        difference: TextDifference,
    },
}

impl Mismatch {
    /// Returns whether an engine could not compute the position, so that it is not known whether
    /// the games differ.
    pub fn is_fault(&self) -> bool {
        matches!(self, Mismatch::Fault { .. })
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::Fault { side, fault } => write!(f, "fault of the {side} game: {fault}"),
            Mismatch::Terminal { ended } => write!(f, "play has ended in the {ended} game only"),
            Mismatch::State(difference) => write!(f, "different states: {difference}"),
            Mismatch::Payoff { role, first, second } => {
                write!(f, "payoff of {role}: ")?;
                write_values(f, first)?;
                f.write_str(" in the first game, ")?;
                write_values(f, second)?;
                f.write_str(" in the second")
            }
            Mismatch::Moves { role, difference } => {
                write!(f, "different legal moves of {role}: {difference}")
            }
            Mismatch::UnknownMove { role, text } => {
                write!(f, "legal move {text} of {role} in the second game has no original")
            }
            Mismatch::MoveOrder { role, index } => {
                write!(f, "different order of the legal moves of {role} from index {index}")
            }
            Mismatch::Chance { text, first, second } => {
                write!(f, "chance of {text}: {first} in the first game, {second} in the second")
            }
            Mismatch::Percepts { role, difference } => {
                write!(f, "different percepts of {role}: {difference}")
            }
        }
    }
}

impl std::error::Error for Mismatch {}

fn write_values(f: &mut fmt::Formatter<'_>, values: &[f64]) -> fmt::Result {
    match values {
        [value] => write!(f, "{value}"),
        _ => write!(f, "{values:?}"),
    }
}

/// The texts in which two lists differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextDifference {
    /// Texts in the first list only.
    pub missing: Vec<String>,
    /// Texts in the second list only, and texts that are repeated there.
    pub extra: Vec<String>,
}

/// Maximum number of texts shown of either list.
const MAX_SHOWN: usize = 4;

impl TextDifference {
    /// Compares two lists as sets of normalised texts. Returns `None` if the sets are equal.
    pub fn between(
        first: &[String],
        second: &[String],
        normalise: impl Fn(&str) -> String,
    ) -> Option<TextDifference> {
        let set = |texts: &[String]| -> BTreeSet<String> {
            texts.iter().map(|text| normalise(text)).collect()
        };
        let (first, second) = (set(first), set(second));
        if first == second {
            return None;
        }
        Some(TextDifference {
            missing: first.difference(&second).cloned().collect(),
            extra: second.difference(&first).cloned().collect(),
        })
    }
}

impl fmt::Display for TextDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (name, texts) in [("missing", &self.missing), ("unexpected", &self.extra)] {
            if texts.is_empty() {
                continue;
            }
            let shown = &texts[..texts.len().min(MAX_SHOWN)];
            write!(f, "{separator}{name} {}", shown.join(" "))?;
            if texts.len() > MAX_SHOWN {
                write!(f, " and {} more", texts.len() - MAX_SHOWN)?;
            }
            separator = "; ";
        }
        Ok(())
    }
}
