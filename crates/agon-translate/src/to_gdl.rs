//! Translates structure rewriting games to GDL, so that they can be played on any general game
//! playing server.
//!
//! The input is a checked arena. The output is a rulesheet of first-order rules, not a ground
//! program. Relations that change become fluents, all other relations become facts. A rule
//! application is the move `(Rule a1 b2)`, with the same text as in the structure rewriting game.
//! The current location is a fluent.
//!
//! The mechanism, module by module:
//!
//! - `formulas` turns formulas into `nodes` in negation normal form, in which every quantifier has
//!   its own variables. `tc` and fixed points become recursive relations.
//! - `translator` turns nodes into clauses. Alternatives become separate clauses. Universal
//!   quantifiers and negations become auxiliary relations. Variables that no condition binds get a
//!   guard. Under a fixed point, a universal quantifier iterates over the elements one by one, so
//!   that the rules stay stratified.
//! - `terms` turns a term into cases: one condition for each value that the term can have.
//! - `game` writes legal moves, effects, ends and goals. Post-conditions refer to the relations
//!   after the rule is applied, with the embedding as additional arguments.
//! - `rewrites` handles rules that create and delete elements. GDL has no new constants, so there
//!   is a pool of names.
//! - `clauses` simplifies and prints the sheet, and `names` chooses GDL words.
//!
//! A construct without an equivalent in GDL is rejected with a typed error, never changed silently.
//! Where payoffs have to be scaled, the text and [`Translation::payoffs`] say so. Tests compare
//! random games and all shipped games with their translations in lockstep
//! ([`Translation::compare`]).

mod check;
mod clauses;
mod formulas;
mod game;
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
mod translator;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Instant;

use agon_structures::rational::Rational;
use agon_toss::arena::{ArenaLocation, CheckedArena, Multiplicity};

pub(crate) use check::{compare, lockstep_options};
use translator::Translator;

/// Limits on the size of a translation, and on its time.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ToGdlLimits {
    /// Maximum number of clauses and conditions of the rulesheet together.
    pub conditions: usize,
    /// Maximum number of different values of one term.
    pub values: usize,
    /// Maximum number of facts of one table of arithmetic.
    pub rows: usize,
    /// Number of names in the pool for new elements with the same name in a rule.
    pub pool: usize,
    /// Time to stop at.
    pub deadline: Option<Instant>,
}

impl Default for ToGdlLimits {
    fn default() -> ToGdlLimits {
        // A game on a board of 19x19 has about 2 000 facts. Tables of sums over it have 400 values.
        ToGdlLimits { conditions: 500_000, values: 1_000, rows: 100_000, pool: 16, deadline: None }
    }
}

/// Reason why a game cannot be written in GDL.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToGdlError {
    /// A rule that creates, copies or deletes elements has a post-condition, or is applied at the
    /// same time as others.
    ChangingUniverse {
        /// Name of the rule.
        rule: String,
    },
    /// The structure has no elements.
    NoElements,
    /// Rulesheets have no counterpart of a construct.
    Construct {
        /// The construct.
        what: &'static str,
    },
    /// Elements have numbers or functions, and the set of elements changes.
    NumberedElements,
    /// The edges of nature have weights, and the probability of an embedding depends on the number
    /// of embeddings.
    WeightedMatches {
        /// Name of the location.
        location: String,
    },
    /// Several players act at once, and nature decides as well.
    ChanceAtOnce {
        /// Name of the location.
        location: String,
    },
    /// Probabilities that would need too many equally likely outcomes.
    UnevenChance {
        /// Name of the rule.
        rule: String,
    },
    /// A quantifier over something other than elements.
    Sort {
        /// Name of the variable.
        variable: String,
    },
    /// A real function, whose values the rulesheet cannot compute.
    RealFunction {
        /// Name of the function.
        function: String,
    },
    /// A name without a meaning in the game.
    Unknown {
        /// The name.
        name: String,
    },
    /// A least and a greatest fixed point depend on each other.
    FixedPoints,
    /// A term has too many values.
    TooManyValues {
        /// Maximum number of values.
        values: usize,
    },
    /// A number does not fit into a machine integer.
    NumberTooLarge,
    /// A formula is nested too deeply.
    TooDeep {
        /// Maximum number of levels.
        levels: usize,
    },
    /// The deadline has passed.
    TooSlow,
    /// The rulesheet has more clauses than allowed.
    TooLarge {
        /// Maximum number of conditions.
        conditions: usize,
    },
}

impl ToGdlError {
    /// Returns a suggestion for rewriting the game, if there is one.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            ToGdlError::ChangingUniverse { .. } => Some(
                "use a precondition, or list all elements that may be needed and mark the \
                 existing ones by a relation",
            ),
            ToGdlError::WeightedMatches { .. } => Some(
                "let a rule without a choice lead to several locations with probabilities, one for \
                 each edge",
            ),
            ToGdlError::ChanceAtOnce { .. } => Some("add a location for nature after it"),
            ToGdlError::UnevenChance { .. } => {
                Some("give probabilities with a small common denominator")
            }
            ToGdlError::FixedPoints => Some("keep `lfp` and `gfp` out of each other"),
            ToGdlError::TooManyValues { .. } => {
                Some("count less in one term, or compare smaller parts")
            }
            ToGdlError::NoElements
            | ToGdlError::Construct { .. }
            | ToGdlError::NumberedElements
            | ToGdlError::Sort { .. }
            | ToGdlError::RealFunction { .. }
            | ToGdlError::Unknown { .. }
            | ToGdlError::NumberTooLarge
            | ToGdlError::TooDeep { .. }
            | ToGdlError::TooSlow
            | ToGdlError::TooLarge { .. } => None,
        }
    }
}

impl fmt::Display for ToGdlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToGdlError::ChangingUniverse { rule } => {
                write!(
                    f,
                    "the rule `{rule}` creates, copies or deletes elements, and has a post-condition or \
                     is applied together with others"
                )
            }
            ToGdlError::NoElements => write!(f, "the structure has no elements"),
            ToGdlError::Construct { what } => write!(f, "rulesheets cannot express {what}"),
            ToGdlError::NumberedElements => {
                write!(f, "elements have numbers or functions, and rules create or delete elements")
            }
            ToGdlError::WeightedMatches { location } => write!(
                f,
                "the edges of nature at the location `{location}` have weights, and GDL draws all \
                 moves with equal probability"
            ),
            ToGdlError::ChanceAtOnce { location } => write!(
                f,
                "at the location `{location}` several players act at once and nature chooses the next \
                 location"
            ),
            ToGdlError::UnevenChance { rule } => {
                write!(
                    f,
                    "the probabilities of `{rule}` need more than a thousand equally likely outcomes"
                )
            }
            ToGdlError::Sort { variable } => {
                write!(f, "`{variable}` does not stand for an element")
            }
            ToGdlError::RealFunction { function } => {
                write!(f, "rulesheets cannot compute `{function}`")
            }
            ToGdlError::Unknown { name } => write!(f, "`{name}` is not defined"),
            ToGdlError::FixedPoints => {
                write!(
                    f,
                    "least and greatest fixed points depend on each other, which is not stratified"
                )
            }
            ToGdlError::TooManyValues { values } => {
                write!(f, "a term has more than {values} different values")
            }
            ToGdlError::NumberTooLarge => write!(f, "a number is too large"),
            ToGdlError::TooDeep { levels } => {
                write!(f, "a formula is nested more than {levels} levels deep")
            }
            ToGdlError::TooSlow => write!(f, "the translation exceeds its time limit"),
            ToGdlError::TooLarge { conditions } => {
                write!(f, "the rulesheet would have more than {conditions} conditions")
            }
        }
    }
}

impl std::error::Error for ToGdlError {}

/// The mapping from payoffs to goal values, which are whole numbers from 0 to 100.
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
            // Halves are rounded up, so ties do not depend on the machine.
            ((share * 100.0 + 0.5).floor() as i64).clamp(0, 100)
        };
        Payoffs {
            goals: values.iter().map(|value| (*value, scaled(value))).collect(),
            is_scaled: true,
        }
    }

    /// Returns the goal value of a possible payoff.
    pub fn goal(&self, payoff: Rational) -> i64 {
        self.goals.get(&payoff).copied().unwrap_or(0)
    }

    /// Iterates over the payoffs that the terms allow, with their goal values.
    pub fn all(&self) -> impl Iterator<Item = (Rational, i64)> + '_ {
        self.goals.iter().map(|(payoff, goal)| (*payoff, *goal))
    }

    /// Returns whether goal values differ from the payoffs.
    pub fn is_scaled(&self) -> bool {
        self.is_scaled
    }

    /// Returns whether different payoffs have different goal values.
    pub fn is_exact(&self) -> bool {
        self.goals.values().collect::<BTreeSet<_>>().len() == self.goals.len()
    }
}

/// A structure rewriting game in GDL.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The rulesheet, in KIF.
    pub text: String,
    /// The mapping of payoffs to goal values.
    pub payoffs: Payoffs,
    /// Whether both games describe their states by the same facts. This is not the case if a
    /// relation needs a different name in GDL, or while nature chooses the next location, because
    /// the location then has a different name.
    pub has_same_state_facts: bool,
    /// For each word of moves that had to be changed, in lower case: the original word.
    renamed: BTreeMap<String, String>,
}

impl Translation {
    /// Returns the structure rewriting move for a move of the rulesheet. Moves of nature that
    /// differ only in the number of the lot are the same move there.
    pub fn toss_move(&self, gdl: &str) -> String {
        let mut words = words(gdl);
        // `(lot 2 (to far))` becomes `(to far)`.
        let is_lot = words.len() > 5 && words[0] == "(" && words[1] == "lot" && words[3] == "(";
        if is_lot {
            words = words[3..words.len() - 1].to_vec();
        }
        let text = joined(
            words.iter().map(|word| self.renamed.get(word).map_or(word.as_str(), String::as_str)),
        );
        // GDL has no parentheses around a move without arguments.
        if text.contains('(') || text == "noop" { text } else { format!("({text})") }
    }

    /// Returns the move of the rulesheet for a move of the structure rewriting game.
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

/// Splits a text into its words and parentheses, in lower case.
fn words(text: &str) -> Vec<String> {
    let spaced = text.to_lowercase().replace('(', " ( ").replace(')', " ) ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// Joins words and parentheses to one text, with single spaces between terms.
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

/// Translates a structure rewriting game to GDL.
///
/// # Errors
/// Returns an error if the game has a construct without an equivalent in GDL, or if the translation
/// exceeds the limits.
pub fn to_gdl(arena: &CheckedArena, limits: ToGdlLimits) -> Result<Translation, ToGdlError> {
    if arena.start().n_elements() == 0 {
        return Err(ToGdlError::NoElements);
    }
    if let Some(what) = inexpressible(arena) {
        return Err(ToGdlError::Construct { what });
    }
    let mut translator = Translator::new(arena, limits);
    let payoffs = translator.game()?;
    let has_same_state_facts = translator.has_same_state_facts();
    translator.sheet.tidy();
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
    text.push_str(&translator.sheet.print(&translator.hints));
    Ok(Translation { text, payoffs, has_same_state_facts, renamed: translator.names.renamed() })
}

/// Returns a construct of the game that has no counterpart in rulesheets.
fn inexpressible(arena: &CheckedArena) -> Option<&'static str> {
    if arena.is_continuous() {
        return Some("time and real numbers");
    }
    if arena.vocabulary().functions().any(|function| arena.is_changing_function(function)) {
        return Some("functions whose values change");
    }
    let locations = arena.locations();
    if locations.iter().any(|location| !location.joint.is_empty()) {
        return Some("edges for tuples of moves");
    }
    // They are about the joint result, which legality in GDL cannot know.
    let has_post = |location: &ArenaLocation| {
        let mut edges = location.edges.iter().flatten();
        location.is_concurrent() && edges.any(|edge| arena.rule(edge.rule).post.is_some())
    };
    if locations.iter().any(has_post) {
        return Some("post-conditions of simultaneous moves");
    }
    let mut edges = locations.iter().flat_map(|location| location.edges.iter().flatten());
    edges
        .any(|edge| edge.multiplicity != Multiplicity::One)
        .then_some("moves that apply a rule to several embeddings")
}
