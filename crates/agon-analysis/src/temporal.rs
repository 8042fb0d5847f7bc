//! Temporal properties of a game: `(always …)`, `(never …)`, `(until …)`, `(reachable …)`.
//!
//! The atoms are conditions as in the body of a rule: atoms of the rules (fluents with or without
//! `true`, `legal`, `goal`, `terminal`, relations that rules define), joined by `and`, `or`, `not`
//! and `implies`. As in rules, a variable means "for some value". Each formula is a statement about
//! a state, at first the initial one, and formulas nest:
//!
//! - `(always F)`: F holds at the state and at every one that can be reached from it.
//! - `(never F)`: F holds at none of them.
//! - `(reachable F)`: F holds at some of them.
//! - `(until F G)`: in every play from the state, F holds at every state before the first one at
//!   which G holds, and there is such a state. `(eventually G)` is `(until true G)`.
//!
//! So `(always (reachable F))` says that F stays possible. This is a part of the logic CTL. Plays
//! end at terminal states; nothing is said about plays that stop because a role has no legal move.
//!
//! [`decide`] adds the conditions to the rules as percepts, which have no influence on play, and
//! makes a circuit of the rules. If single plays violate the formula or its negation, the added
//! rules watch a play for that, and [`crate::safety`] looks for a violation. Conjunctions and
//! disjunctions of such formulas are decided part by part. All other formulas are decided by
//! visiting all states, and where there are too many, by conditions that are stronger or weaker.

mod branching;
mod formula;
mod linear;
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
use crate::safety::{Line, MAX_PENDING, Outcome, Problem, Reason, SafetyLimits, longest_play};
pub use formula::{Condition, Formula};
use linear::{Bound, Linear};

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
    /// The play that shows the verdict, such as one that proves `(reachable …)` or refutes the
    /// other formulas.
    pub line: Option<Line>,
    /// Whether no play is shorter than `line`.
    pub is_shortest: bool,
    /// Whether `line` returns to a state in which it has been, so that it can go on for ever.
    pub is_endless: bool,
    /// The number of steps after which `line` is at the state to which it returns at its end.
    pub loop_start: Option<usize>,
    /// What is true at the end of `line` and cannot be shown by a single play.
    pub rest: Option<String>,
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
            loop_start: None,
            rest: None,
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
    for is_positive in [true, false] {
        if let Some(linear) = Linear::new(formula, is_positive, Bound::Exact) {
            let decision = watch(game, &linear, limits)?;
            return Ok(if is_positive { decision } else { decision.negated() });
        }
    }
    match formula {
        Formula::Not(inner) => Ok(decide(game, inner, limits)?.negated()),
        Formula::And(parts) => all(game, parts, limits, Verdict::Refuted),
        Formula::Or(parts) => all(game, parts, limits, Verdict::Proved),
        Formula::Condition(_) | Formula::Always(_) | Formula::Reachable(_) | Formula::Until(..) => {
            branching(game, formula, limits)
        }
    }
}

/// Decides parts of which one with the verdict `deciding` decides the whole. Otherwise all of them
/// must be known.
fn all(
    game: &Arc<Game>,
    parts: &[Formula],
    limits: &SafetyLimits,
    deciding: Verdict,
) -> Result<Decision, TemporalError> {
    let mut all: Option<Decision> = None;
    for (index, part) in parts.iter().enumerate() {
        let n_left = u32::try_from(parts.len() - index).unwrap_or(u32::MAX);
        let limits = SafetyLimits { deadline: share(limits, n_left), ..limits.clone() };
        let decision = decide(game, part, &limits)?;
        if decision.verdict == deciding {
            return Ok(decision);
        }
        // The first part stands for the whole, unless a later one is unknown.
        match &all {
            None => all = Some(decision),
            Some(before) if before.verdict == Verdict::Unknown => {}
            Some(_) if decision.verdict == Verdict::Unknown => all = Some(decision),
            Some(_) => {}
        }
    }
    Ok(all.unwrap_or(Decision { why: None, ..Decision::unknown("") }))
}

/// Returns the end of one of `n` equal parts of the time that is left.
fn share(limits: &SafetyLimits, n: u32) -> Option<Instant> {
    let now = Instant::now();
    limits.deadline.map(|end| now + end.saturating_duration_since(now) / n)
}

/// Decides a formula that no single play violates, by visiting all states, and if there are too
/// many, by formulas about single plays that are stronger or weaker.
fn branching(
    game: &Arc<Game>,
    formula: &Formula,
    limits: &SafetyLimits,
) -> Result<Decision, TemporalError> {
    let conditions = branching::conditions(formula);
    let watched = Watched::new(game, &rules::labels(game, &conditions)?, limits)?;
    let signals: Vec<Signal> = (0..conditions.len())
        .map(|number| watched.signal(&format!("{}{number}", rules::LABEL)))
        .collect();
    let circuit = &watched.compiled.circuit;
    let half = SafetyLimits { deadline: share(limits, 2), ..limits.clone() };
    let bound = match circuit.is_exact() {
        true => branching::decide(circuit, formula, &signals, &half),
        false => Err(0),
    };
    let bound = match bound {
        Ok(truth) => {
            return Ok(Decision {
                verdict: if truth.holds { Verdict::Proved } else { Verdict::Refuted },
                reason: (truth.line.is_none() || truth.rest.is_some())
                    .then_some(Reason::AllStates(truth.n_states)),
                is_endless: truth.loop_start.is_some(),
                line: truth.line,
                loop_start: truth.loop_start,
                rest: truth.rest,
                why: None,
                ..Decision::unknown("")
            });
        }
        Err(bound) => bound,
    };
    // The outermost word says whether plays prove or refute the formula.
    let is_positive = !matches!(formula, Formula::Reachable(_));
    for (index, bound) in [Bound::Upper, Bound::Lower].into_iter().enumerate() {
        let Some(linear) = Linear::new(formula, is_positive, bound) else { continue };
        let limits =
            SafetyLimits { deadline: share(limits, 2 - u32::from(index > 0)), ..limits.clone() };
        let decision = watch(game, &linear, &limits)?;
        let counts = if bound == Bound::Upper { Verdict::Refuted } else { Verdict::Proved };
        if decision.verdict == counts {
            return Ok(if is_positive { decision } else { decision.negated() });
        }
    }
    let why = "the formula is about more than single plays, and there are too many states";
    Ok(Decision { bound, ..Decision::unknown(why) })
}

/// Looks for a play that violates a formula.
fn watch(
    game: &Arc<Game>,
    formula: &Linear,
    limits: &SafetyLimits,
) -> Result<Decision, TemporalError> {
    let monitor = rules::monitor(game, formula)?;
    if monitor.n_pending > MAX_PENDING {
        let why = format!("a formula has at most {MAX_PENDING} times `until` or `eventually`");
        return Err(TemporalError(why));
    }
    let watched = Watched::new(game, &monitor.rules, limits)?;
    let (compiled, game) = (&watched.compiled, &watched.game);
    let pending: Vec<Signal> = (0..monitor.n_pending)
        .map(|number| watched.signal(&format!("{}{number}", rules::PENDING)))
        .collect();
    let mut problem = Problem {
        circuit: &compiled.circuit,
        bad: watched.signal(rules::BAD),
        stop: watched.signal(rules::STOP),
        pending: &pending,
        groups: &[],
        longest: None,
    };
    // Small games are decided without further knowledge.
    let quick = SafetyLimits {
        states: limits.states / 10,
        steps: 0,
        deadline: share(limits, 5),
        ..limits.clone()
    };
    let mut outcome = problem.decide(&quick);
    let properties;
    if let Outcome::Unknown { .. } = outcome {
        let mut property_limits = PropertyLimits::default();
        let third = share(limits, 3);
        property_limits.plays.deadline = third;
        property_limits.proof.deadline = third;
        properties = Properties::find(game, Some(compiled), &property_limits);
        problem.groups = &properties.groups;
        problem.longest = properties.length.bound.map(|(steps, _)| steps);
        if problem.longest.is_none() && problem.needs_end() {
            let limits = SafetyLimits { deadline: share(limits, 2), ..limits.clone() };
            problem.longest = longest_play(&compiled.circuit, &properties.groups, &limits);
        }
        outcome = problem.decide(limits);
    }
    let mut decision = Decision::from(outcome);
    if let (true, Some(Reason::AllStates(n))) = (monitor.has_fluents, decision.reason) {
        decision.reason = Some(Reason::WatchedStates(n));
    }
    Ok(decision)
}

impl From<Outcome> for Decision {
    /// Returns the decision about a formula whose violation was looked for.
    fn from(outcome: Outcome) -> Decision {
        let mut decision = Decision { why: None, ..Decision::unknown("") };
        match outcome {
            Outcome::Never(reason) => {
                (decision.verdict, decision.reason) = (Verdict::Proved, Some(reason));
            }
            Outcome::Reached(line, is_shortest) => {
                decision.verdict = Verdict::Refuted;
                (decision.line, decision.is_shortest) = (Some(line), is_shortest);
            }
            Outcome::Repeats(line, start) => {
                decision.verdict = Verdict::Refuted;
                (decision.line, decision.is_endless) = (Some(line), true);
                decision.loop_start = Some(start);
            }
            Outcome::Unknown { steps, why } => {
                (decision.bound, decision.why) = (steps, Some(why.to_owned()));
            }
        }
        decision
    }
}

impl Decision {
    /// Returns the decision about the negation.
    fn negated(mut self) -> Decision {
        self.verdict = match self.verdict {
            Verdict::Proved => Verdict::Refuted,
            Verdict::Refuted => Verdict::Proved,
            Verdict::Unknown => Verdict::Unknown,
        };
        self
    }
}

/// A game whose circuit also computes the conditions of a formula.
struct Watched {
    game: Arc<Game>,
    compiled: Compiled,
}

impl Watched {
    /// Opens a game with further rules.
    fn new(game: &Arc<Game>, added: &str, limits: &SafetyLimits) -> Result<Watched, TemporalError> {
        let sheet = game.rules().sheet();
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
