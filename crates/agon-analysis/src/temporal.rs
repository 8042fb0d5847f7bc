//! Temporal properties of a game: `(always …)`, `(never …)`, `(until …)`, `(reachable …)`.
//!
//! What stands inside of these words is a condition as in the body of a rule: atoms of the rules
//! (fluents with or without `true`, `legal`, `goal`, `terminal`, relations that rules define),
//! joined by `and`, `or`, `not` and `implies`. As in rules, a variable means "for some value".
//!
//! - `(always F)`: F holds at every reachable state.
//! - `(never F)`: F holds at no reachable state.
//! - `(reachable F)`: F holds at some reachable state.
//! - `(until F G)`: in every play, F holds at every state before the first one at which G holds,
//!   and there is such a state. `(eventually G)` is `(until true G)`.
//!
//! [`decide`] adds the conditions to the rules as percepts, which have no influence on play, makes
//! a circuit of the rules, and looks for a violation: see [`crate::safety`].

mod formula;
mod rules;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use agon_circuit::Signal;
use agon_gdl::check::check_with;
use agon_gdl::circuit::{CircuitLimits, Compiled};
use agon_gdl::interpreter::{Game, Options};
use agon_gdl::read::ReadOptions;
use agon_gdl::syntax::Syntax;
use agon_text::{Severity, Source};

use crate::properties::{Properties, PropertyLimits};
use crate::safety::{Line, Outcome, Problem, Reason, SafetyLimits};
pub use formula::{Condition, Formula};

/// Why a formula cannot be read or decided, as a sentence for the user.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TemporalError(pub(crate) String);

impl TemporalError {
    /// Returns an error with this sentence.
    pub fn new(why: impl Into<String>) -> TemporalError {
        TemporalError(why.into())
    }
}

impl fmt::Display for TemporalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TemporalError {}

/// What is known about a formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    /// Whether it is proved, refuted or unknown.
    pub verdict: Verdict,
    /// The proof without a play, if that is how the verdict is known.
    pub reason: Option<Reason>,
    /// The play that proves `(reachable …)` or refutes the other formulas.
    pub line: Option<Line>,
    /// Whether no play is shorter than `line`.
    pub is_shortest: bool,
    /// Whether `line` returns to a state in which it has been, so that it can go on for ever.
    pub is_endless: bool,
    /// The number of steps within which no play decides the formula.
    pub bound: usize,
    /// Why nothing is known.
    pub why: Option<String>,
}

impl Decision {
    /// Returns a decision about which nothing is known, with the reason.
    pub fn unknown(why: &str) -> Decision {
        Decision {
            verdict: Verdict::Unknown,
            reason: None,
            line: None,
            is_shortest: false,
            is_endless: false,
            bound: 0,
            why: Some(why.to_owned()),
        }
    }
}

/// The answer to a question about all plays of a game.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The formula is true.
    Proved,
    /// The formula is false.
    Refuted,
    /// Neither was found out within the limits.
    Unknown,
}

impl Verdict {
    /// Returns the word that output shows.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Proved => "proved",
            Verdict::Refuted => "refuted",
            Verdict::Unknown => "unknown",
        }
    }
}

/// Decides a formula about a game within the limits.
///
/// # Errors
/// [`TemporalError`] if the formula mentions something that the rules do not have, or the rules
/// have no circuit.
pub fn decide(
    game: &Arc<Game>,
    formula: &Formula,
    limits: &SafetyLimits,
) -> Result<Decision, TemporalError> {
    let watched = Watched::new(game, formula, limits)?;
    let (compiled, game) = (&watched.compiled, &watched.game);
    let needs_end = matches!(formula, Formula::Until(..));
    let now = Instant::now();
    let mut problem = Problem {
        circuit: &compiled.circuit,
        bad: watched.signal(rules::BAD),
        stop: watched.signal(rules::STOP),
        needs_end,
        groups: &[],
        longest: None,
    };
    // Small games are decided without further knowledge.
    let quick = SafetyLimits {
        states: limits.states / 10,
        steps: 0,
        deadline: limits.deadline.map(|end| now + end.saturating_duration_since(now) / 5),
        ..limits.clone()
    };
    let mut outcome = problem.decide(&quick);
    let properties;
    if let Outcome::Unknown { .. } = outcome {
        let mut property_limits = PropertyLimits::default();
        let third = limits.deadline.map(|end| {
            let now = Instant::now();
            now + end.saturating_duration_since(now) / 3
        });
        property_limits.plays.deadline = third;
        property_limits.proof.deadline = third;
        properties = Properties::find(game, Some(compiled), &property_limits);
        problem.groups = &properties.groups;
        problem.longest = properties.length.bound.map(|(steps, _)| steps);
        outcome = problem.decide(limits);
    }
    Ok(decision(formula, outcome))
}

fn decision(formula: &Formula, outcome: Outcome) -> Decision {
    let (if_never, if_reached) = match formula {
        Formula::Reachable(_) => (Verdict::Refuted, Verdict::Proved),
        Formula::Always(_) | Formula::Never(_) | Formula::Until(..) => {
            (Verdict::Proved, Verdict::Refuted)
        }
    };
    let mut decision = Decision { why: None, ..Decision::unknown("") };
    match outcome {
        Outcome::Never(reason) => {
            (decision.verdict, decision.reason) = (if_never, Some(reason));
        }
        Outcome::Reached(line, is_shortest) => {
            decision.verdict = if_reached;
            (decision.line, decision.is_shortest) = (Some(line), is_shortest);
        }
        Outcome::Repeats(line) => {
            decision.verdict = if_reached;
            (decision.line, decision.is_endless) = (Some(line), true);
        }
        Outcome::Unknown { steps, why } => {
            (decision.bound, decision.why) = (steps, Some(why.to_owned()));
        }
    }
    decision
}

/// A game whose circuit also computes the conditions of a formula.
struct Watched {
    game: Arc<Game>,
    compiled: Compiled,
}

impl Watched {
    fn new(
        game: &Arc<Game>,
        formula: &Formula,
        limits: &SafetyLimits,
    ) -> Result<Watched, TemporalError> {
        let sheet = game.rules().sheet();
        let added = rules::rules(game, formula)?;
        let text = agon_gdl::print::print_rulesheet(sheet, Syntax::Kif);
        let source = Arc::new(Source::new("formula", format!("{text}\n{added}")));
        let options = ReadOptions { case: sheet.symbols.case(), syntax: Some(Syntax::Kif) };
        let checked = check_with(Arc::clone(&source), &options);
        let Some(rules) = checked.rules else {
            let errors = checked.findings.0.iter().filter(|f| f.severity == Severity::Error);
            let messages: Vec<&str> = errors.map(|finding| finding.message.as_str()).collect();
            let why = messages.join("; ");
            return Err(TemporalError(format!("the formula cannot be evaluated: {why}")));
        };
        let fail = |why: String| TemporalError(why);
        let game = Game::open(rules, Options::default()).map_err(|found| fail(found.message))?;
        let mut circuit_limits = CircuitLimits { gates: 2_000_000, ..CircuitLimits::default() };
        circuit_limits.ground.deadline = limits.deadline;
        let compiled = game
            .compile(&circuit_limits)
            .map_err(|why| fail(format!("proofs need a circuit, and the game has none: {why}")))?;
        Ok(Watched { game, compiled })
    }

    /// Returns the signal of a condition that the rules were given.
    fn signal(&self, name: &str) -> Signal {
        let percepts = self.compiled.circuit.outputs.percepts.iter().flatten();
        percepts
            .filter(|(text, _)| text == name)
            .map(|&(_, signal)| signal)
            .next()
            .unwrap_or(Signal::FALSE)
    }
}
