//! Compiles a game whose universe stays into a Boolean circuit. Tuples that may change become state
//! bits, embeddings become moves.
//!
//! The steps are:
//! 1. `possible` computes an upper bound of the tuples and embeddings that can ever occur, by
//!    assuming that every negated condition on changing relations holds.
//! 2. `ground` turns formulas into gates. The result for a formula is a set of assignments, each
//!    with the signal that is true when the assignment satisfies the formula. Relations that never
//!    change are looked up and do not become gates. `fixed_points` unrolls fixed points and
//!    closures, `terms` makes one signal for each value that a term may have.
//! 3. `layout` lists state bits and moves, and `wire` connects moves to the bits that they change.
//!
//! Post-conditions of few embeddings become part of legality. If there are many, post-conditions
//! are grounded once, on the bits after the step, and reject the step (see
//! [`CircuitLimits::exact_embeddings`]).
//!
//! Texts of moves and states are those of the interpreter. The interpreter is the oracle in tests,
//! which compare both step by step.

mod atoms;
mod fixed_points;
mod ground;
mod layout;
mod possible;
mod table;
mod terms;
mod wire;

#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Instant;

pub use agon_circuit::Compiled;
use agon_circuit::{Circuit, Deadline, GroundCircuit, Grounding};
use agon_reals::interrupt::Interrupt;
use agon_structures::evaluate::{EvaluationError, Limits};
use agon_structures::formula::Oversize;

use crate::arena::{Edge, Multiplicity};
use crate::interpreter::Game;

/// Limits on the cost of grounding a game.
#[derive(Clone, Debug)]
pub struct CircuitLimits {
    /// Maximum number of gates before optimisation.
    pub gates: usize,
    /// Maximum number of assignments for one formula.
    pub rows: usize,
    /// Maximum number of assignments examined in total. This measures time independently of the
    /// machine; each takes about a microsecond.
    pub work: u64,
    /// Maximum number of different values of one term.
    pub values: usize,
    /// Maximum size of one formula after its `let`s are expanded.
    pub parts: usize,
    /// Maximum number of embeddings whose post-conditions become part of legality, each with its
    /// own gates.
    ///
    /// If there are more, post-conditions are evaluated once, for the step that is made
    /// (`Outputs::rejected` in `agon_circuit`), provided that only one player acts at their
    /// locations. With `usize::MAX` every circuit is exact, however large. With 0 only circuits
    /// that must be exact are.
    pub exact_embeddings: usize,
    /// Limits for computing the possible tuples and embeddings.
    pub evaluation: Limits,
    /// Ends grounding with [`NoCircuit::Interrupted`].
    pub interrupt: Interrupt,
}

impl CircuitLimits {
    /// Returns limits for a circuit that was not requested explicitly: about one or two seconds. If
    /// they do not suffice, the interpreter plays.
    pub fn modest() -> CircuitLimits {
        CircuitLimits { gates: 1_000_000, work: 3_000_000, ..CircuitLimits::default() }
    }
}

impl Default for CircuitLimits {
    fn default() -> CircuitLimits {
        // The number of gates is the limit of GDL games. The other limits are far beyond what the
        // shipped games need.
        CircuitLimits {
            gates: 12_000_000,
            rows: 2_000_000,
            work: 60_000_000,
            values: 10_000,
            parts: 100_000,
            // Checkers has fewer. Chess has nearly 8000, whose post-conditions would exceed the
            // other limits.
            exact_embeddings: 1000,
            evaluation: Limits::default(),
            interrupt: Interrupt::NEVER,
        }
    }
}

/// The reason why a game was not compiled into a circuit. The interpreter can still play it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoCircuit {
    /// Time passes, or states contain real numbers.
    Continuous,
    /// Rules create, copy or delete elements.
    UniverseChanges,
    /// Nature's choices are not equally likely; circuits draw uniformly.
    UnevenChances,
    /// The payoff of this player may be fractional, undefined or too large.
    Payoff(String),
    /// The circuit exceeds this number of gates.
    Gates(usize),
    /// A formula or term exceeds this number of assignments or values.
    TooLarge(usize),
    /// Grounding exceeds this number of examined assignments. The usual cause are post-conditions
    /// about the whole board, evaluated for each of many embeddings.
    Work(u64),
    /// Grounding took too long or was cancelled.
    Interrupted,
    /// A formula contains a construct that cannot become gates.
    Unsupported(String),
    /// The possible tuples and embeddings could not be computed.
    Evaluation(EvaluationError),
}

impl fmt::Display for NoCircuit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoCircuit::Continuous => write!(f, "states contain real numbers"),
            NoCircuit::UniverseChanges => write!(f, "rules create, copy or delete elements"),
            NoCircuit::UnevenChances => {
                write!(f, "nature's choices are not equally likely, but circuits draw uniformly")
            }
            NoCircuit::Payoff(player) => {
                write!(f, "the payoff of `{player}` may be fractional, undefined or too large")
            }
            NoCircuit::Gates(limit) => write!(f, "the circuit grows beyond {limit} gates"),
            NoCircuit::TooLarge(limit) => write!(f, "a formula grows beyond {limit} cases"),
            NoCircuit::Work(limit) => write!(f, "formulas have more than {limit} cases in total"),
            NoCircuit::Interrupted => write!(f, "it took too long or was cancelled"),
            NoCircuit::Unsupported(what) => write!(f, "{what} cannot become gates"),
            NoCircuit::Evaluation(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for NoCircuit {}

impl From<EvaluationError> for NoCircuit {
    fn from(error: EvaluationError) -> NoCircuit {
        match error {
            EvaluationError::Interrupted => NoCircuit::Interrupted,
            error => NoCircuit::Evaluation(error),
        }
    }
}

impl From<Oversize> for NoCircuit {
    fn from(oversize: Oversize) -> NoCircuit {
        NoCircuit::TooLarge(oversize.limit)
    }
}

/// A circuit before optimisation, with hints for the optimiser.
#[derive(Clone, Debug)]
pub struct GroundArena {
    /// The circuit. Texts of moves and base bits are those of the interpreter.
    pub circuit: Circuit,
    /// Groups of base bits of which at most one may be true at a time: candidates for
    /// [`agon_circuit::prove_groups`].
    pub candidates: Vec<Vec<usize>>,
}

impl Game {
    /// Grounds the game into a circuit.
    ///
    /// # Errors
    /// If the game cannot become a circuit within the limits. The interpreter can still play it.
    pub fn ground(&self, limits: &CircuitLimits) -> Result<GroundArena, NoCircuit> {
        let arena = self.arena();
        if arena.is_continuous() {
            return Err(NoCircuit::Continuous);
        }
        if !arena.keeps_universe() {
            return Err(NoCircuit::UniverseChanges);
        }
        if arena.vocabulary().functions().any(|function| arena.is_changing_function(function)) {
            return Err(NoCircuit::Unsupported("values of functions that change".to_owned()));
        }
        for location in arena.locations() {
            let edges = location.edges.iter().flatten();
            if edges.clone().any(|edge| edge.multiplicity != Multiplicity::One) {
                return Err(NoCircuit::Unsupported("moves of several embeddings".to_owned()));
            }
            if !location.joint.is_empty() {
                return Err(NoCircuit::Unsupported("edges for tuples of moves".to_owned()));
            }
            let has_post = |edge: &Edge| arena.rule(edge.rule).post.is_some();
            if location.is_concurrent() && edges.clone().any(has_post) {
                let what = "post-conditions of simultaneous moves";
                return Err(NoCircuit::Unsupported(what.to_owned()));
            }
        }
        let possible = possible::possible(self, limits)?;
        wire::wire(self, &possible, limits)
    }

    /// Grounds the game into a circuit and optimises it. At the deadline the optimiser stops with
    /// the circuit that it has by then.
    ///
    /// # Errors
    /// If the game cannot become a circuit within the limits. The interpreter can still play it.
    pub fn compile(
        &self,
        limits: &CircuitLimits,
        deadline: Deadline<'_>,
    ) -> Result<Compiled, NoCircuit> {
        let start = Instant::now();
        let GroundArena { circuit, candidates } = self.ground(limits)?;
        let grounding = Grounding { time: start.elapsed(), ..Grounding::default() };
        let raw = GroundCircuit { circuit, candidates, grounding };
        Ok(agon_circuit::compile(raw, deadline, |_| self.shape().clone()))
    }
}
