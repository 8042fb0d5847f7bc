//! Structure rewriting games written in GDL, so that they can be played on any server of general game playing.
//!
//! What goes in is an arena; what comes out is a rulesheet of first-order rules, not a
//! ground one. Relations that change are fluents, others facts; a formula becomes relations with safe variables, `tc` and fixed
//! points become recursion, terms become a condition for each of their values; a rule is the move `(Rule a1 b2)`, written
//! as the structure rewriting game writes it. A location is a fluent. Where elements come and go, there is a pool of names for them. What cannot be said in GDL is refused by name, never
//! changed in silence: where payoffs have to be scaled, the text and [`Translation::payoffs`] say so.

mod clauses;
mod formulas;
mod game;
pub mod joint;
mod maker;
mod names;
mod nodes;
#[cfg(test)]
mod random_games;
#[cfg(test)]
mod random_rewritings;
mod rewrites;
mod terms;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use agon_structures::rational::Rational;
use agon_toss::arena::CheckedArena;

use maker::Maker;

/// What a translation may cost.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Clauses and conditions of the rulesheet together.
    pub conditions: usize,
    /// Different values of one term.
    pub values: usize,
    /// Facts of one table of arithmetic.
    pub rows: usize,
    /// Names for new elements that are called after the same one in a rule.
    pub pool: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        // A game on a board of 19x19 has some 2 000 facts; tables of sums over it have 400 values.
        Limits { conditions: 500_000, values: 1_000, rows: 100_000, pool: 16 }
    }
}

/// Why a game is not written in GDL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// A rule that creates, copies or deletes elements has a post-condition, or is applied at the same time as others.
    ChangingUniverse {
        /// The rule.
        rule: String,
    },
    /// There are no elements.
    NoElements,
    /// Numbers or functions of elements where these come and go.
    NumberedElements,
    /// Nature has edges with weights, and how likely a match is depends on how many there are.
    WeightedMatches {
        /// The location.
        location: String,
    },
    /// Where several players act at once, nature decides as well.
    ChanceAtOnce {
        /// The location.
        location: String,
    },
    /// A chance that would take too many lots.
    UnevenChance {
        /// The rule.
        rule: String,
    },
    /// A quantifier over something else than elements.
    Sort {
        /// The variable.
        variable: String,
    },
    /// Something that is not of the game.
    Unknown {
        /// Its name.
        name: String,
    },
    /// Least and greatest fixed points that depend on each other.
    FixedPoints,
    /// A term with too many values.
    TooManyValues {
        /// So many there may be.
        values: usize,
    },
    /// A number that cannot be held.
    NumberTooLarge,
    /// A formula nested too deep.
    TooDeep {
        /// So deep it may be.
        levels: usize,
    },
    /// More clauses than allowed.
    TooLarge {
        /// So many conditions there may be.
        conditions: usize,
    },
}

impl Refusal {
    /// What may be done about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Refusal::ChangingUniverse { .. } => Some(
                "say it by a precondition, or list all elements that may ever be needed and say by a relation which are there",
            ),
            Refusal::WeightedMatches { .. } => Some(
                "let a player's or nature's rule without a choice lead to locations with probabilities, one for each edge",
            ),
            Refusal::ChanceAtOnce { .. } => Some("let a location of nature's own follow"),
            Refusal::UnevenChance { .. } => {
                Some("give probabilities with a small common denominator")
            }
            Refusal::FixedPoints => Some("keep `lfp` and `gfp` out of each other"),
            Refusal::TooManyValues { .. } => {
                Some("count less in one term, or compare smaller parts")
            }
            Refusal::NoElements
            | Refusal::NumberedElements
            | Refusal::Sort { .. }
            | Refusal::Unknown { .. }
            | Refusal::NumberTooLarge
            | Refusal::TooDeep { .. }
            | Refusal::TooLarge { .. } => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::ChangingUniverse { rule } => {
                write!(
                    f,
                    "the rule `{rule}` creates, copies or deletes elements, and has a post-condition or acts together with others"
                )
            }
            Refusal::NoElements => write!(f, "there are no elements"),
            Refusal::NumberedElements => {
                write!(f, "elements have numbers or functions, and come and go")
            }
            Refusal::WeightedMatches { location } => write!(
                f,
                "nature's edges at the location `{location}` have weights, and GDL draws all moves alike"
            ),
            Refusal::ChanceAtOnce { location } => write!(
                f,
                "at the location `{location}` several players act at once and nature decides where play goes on"
            ),
            Refusal::UnevenChance { rule } => {
                write!(
                    f,
                    "the probabilities of `{rule}` would take more than a thousand equal lots"
                )
            }
            Refusal::Sort { variable } => write!(f, "`{variable}` does not stand for an element"),
            Refusal::Unknown { name } => write!(f, "`{name}` has no meaning there"),
            Refusal::FixedPoints => {
                write!(
                    f,
                    "least and greatest fixed points depend on each other, which is not stratified"
                )
            }
            Refusal::TooManyValues { values } => {
                write!(f, "a term has more than {values} different values")
            }
            Refusal::NumberTooLarge => write!(f, "a number is too large"),
            Refusal::TooDeep { levels } => {
                write!(f, "a formula is nested more than {levels} levels deep")
            }
            Refusal::TooLarge { conditions } => {
                write!(f, "the rulesheet would have more than {conditions} conditions")
            }
        }
    }
}

impl std::error::Error for Refusal {}

/// How payoffs become goal values: whole numbers from 0 to 100.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payoffs {
    goals: BTreeMap<Rational, i64>,
    is_scaled: bool,
}

impl Payoffs {
    fn of(values: &BTreeSet<Rational>) -> Payoffs {
        let (low, high) = (Rational::whole(0), Rational::whole(100));
        let fits = |value: &Rational| value.is_whole() && *value >= low && *value <= high;
        if values.iter().all(fits) {
            let goals = values.iter().map(|value| (*value, value.numerator() as i64)).collect();
            return Payoffs { goals, is_scaled: false };
        }
        let (Some(least), Some(most)) = (values.first(), values.last()) else {
            return Payoffs { goals: BTreeMap::new(), is_scaled: false };
        };
        let (least, span) = (least.to_f64(), most.to_f64() - least.to_f64());
        let scaled = |value: &Rational| {
            let share = if span > 0.0 { (value.to_f64() - least) / span } else { 0.5 };
            // Halves up: ties do not depend on the machine.
            ((share * 100.0 + 0.5).floor() as i64).clamp(0, 100)
        };
        Payoffs {
            goals: values.iter().map(|value| (*value, scaled(value))).collect(),
            is_scaled: true,
        }
    }

    /// The goal value for a payoff that can come up.
    pub fn goal(&self, payoff: Rational) -> i64 {
        self.goals.get(&payoff).copied().unwrap_or(0)
    }

    /// The payoffs that can come up, as far as terms tell, and their goal values.
    pub fn all(&self) -> impl Iterator<Item = (Rational, i64)> + '_ {
        self.goals.iter().map(|(payoff, goal)| (*payoff, *goal))
    }

    /// Whether goal values are not the payoffs themselves.
    pub fn is_scaled(&self) -> bool {
        self.is_scaled
    }

    /// Whether payoffs that differ have goal values that differ.
    pub fn is_exact(&self) -> bool {
        self.goals.values().collect::<BTreeSet<_>>().len() == self.goals.len()
    }
}

/// A structure rewriting game in GDL.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The rulesheet, in KIF.
    pub text: String,
    /// What payoffs became.
    pub payoffs: Payoffs,
    /// Whether states are told in the same words on both sides: fluents are the facts that the game's states tell. Not so where a
    /// relation has to be called otherwise in GDL; and while nature decides where play goes on, places are called otherwise.
    pub tells_states_alike: bool,
    /// Words of moves that could not stay, in lower case, and what they stand for.
    renamed: BTreeMap<String, String>,
}

impl Translation {
    /// A move of the rulesheet as the structure rewriting game writes it. Lots of nature that differ in number alone are one
    /// move there.
    pub fn toss_move(&self, gdl: &str) -> String {
        let mut words = words(gdl);
        // `(lot 2 (to far))` is `(to far)`.
        let is_lot = words.len() > 5 && words[0] == "(" && words[1] == "lot" && words[3] == "(";
        if is_lot {
            words = words[3..words.len() - 1].to_vec();
        }
        let text = joined(
            words.iter().map(|word| self.renamed.get(word).map_or(word.as_str(), String::as_str)),
        );
        // GDL has no parentheses around what has no arguments.
        if text.contains('(') || text == "noop" { text } else { format!("({text})") }
    }

    /// A move of the structure rewriting game as the rulesheet writes it.
    pub fn gdl_move(&self, toss: &str) -> String {
        let renamed = |word: &str| {
            let found = self.renamed.iter().find(|(_, old)| old.eq_ignore_ascii_case(word));
            found.map_or_else(|| word.to_owned(), |(new, _)| new.clone())
        };
        let words: Vec<String> = words(toss).iter().map(|word| renamed(word)).collect();
        match words.as_slice() {
            [open, word, close] if open == "(" && close == ")" => word.clone(),
            _ => joined(words.iter().map(String::as_str)),
        }
    }
}

/// The words and parentheses of a text, in lower case.
fn words(text: &str) -> Vec<String> {
    let spaced = text.to_lowercase().replace('(', " ( ").replace(')', " ) ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// Words and parentheses as one text, with single spaces between terms.
fn joined<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let mut text = String::new();
    for word in words {
        if word != ")" && !text.is_empty() && !text.ends_with('(') {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

/// Writes a structure rewriting game in GDL.
///
/// # Errors
/// If it has what cannot be said there, or costs more than the limits allow.
pub fn to_gdl(arena: &CheckedArena, limits: Limits) -> Result<Translation, Refusal> {
    if arena.start().n_elements() == 0 {
        return Err(Refusal::NoElements);
    }
    let mut maker = Maker::new(arena, limits);
    let payoffs = maker.game()?;
    let tells_states_alike = maker.tells_states_alike();
    maker.sheet.tidy();
    let mut text = format!(";; {} in GDL.\n", arena.sheet().source.name());
    if !arena.keeps_universe() {
        text.push_str(&format!(
            ";; New elements are called NAME_1 to NAME_{}; where no name is left, what would need one is not legal.\n",
            limits.pool
        ));
    }
    if payoffs.is_scaled() {
        let pairs: Vec<String> =
            payoffs.all().take(12).map(|(payoff, goal)| format!("{payoff} is {goal}")).collect();
        let more = if payoffs.all().nth(12).is_some() { ", …" } else { "" };
        text.push_str(&format!(
            ";; Payoffs are scaled to whole numbers from 0 to 100: {}{more}.\n",
            pairs.join(", ")
        ));
        if !payoffs.is_exact() {
            text.push_str(";; Some that differ a little have become the same.\n");
        }
    }
    text.push_str(&maker.sheet.print(&maker.hints));
    Ok(Translation { text, payoffs, tells_states_alike, renamed: maker.names.renamed() })
}
