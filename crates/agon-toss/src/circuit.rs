//! A game whose universe stays, as a circuit: tuples that may change are bits, matches are moves.
//!
//! First it is found out what can come about at most (`may`): which tuples, and which matches of which rules, if whatever is
//! negated is taken to be so. Then formulas become gates (`ground`): a set of assignments, each with the signal that tells
//! when it satisfies the formula. What does not change is looked up and never becomes a gate. Terms become signals for each of
//! the values that they may have (`count`). At last moves are wired to what they change (`wire`).
//!
//! The interpreter is the judge: see the tests.

mod atoms;
mod count;
mod fixed;
mod ground;
mod layout;
mod may;
mod table;
mod wire;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use agon_circuit::optimise::{PassReport, optimise_by_groups, optimise_until};
use agon_circuit::{Circuit, Deadline, ScalarCircuit, Turns, prove_groups_until, prove_turns};
use agon_game::{Role, Shape};
use agon_structures::evaluate::{Limits, Refusal};
use agon_structures::formula::Oversize;

use crate::engine::TossPosition;
use crate::interpreter::Game;

/// What making a circuit may cost.
#[derive(Clone, Debug)]
pub struct CircuitLimits {
    /// Gates before optimisation.
    pub gates: usize,
    /// Assignments of one formula.
    pub rows: usize,
    /// Assignments looked at in all: a measure of time that is the same on every machine, a microsecond or so each.
    pub work: u64,
    /// Values that one term may have.
    pub values: usize,
    /// Parts of one formula once its `let`s are put in place.
    pub parts: usize,
    /// So many matches of rules may have their post-conditions made part of what is legal, each on its own. Where there are more,
    /// post-conditions are asked once of whatever step is made (`Outputs::rejected` in `agon_circuit`), if at their locations one
    /// player alone acts. With `usize::MAX` every circuit is exact, however large; with 0 none is that need not be.
    pub exact_matches: usize,
    /// For finding out what can come about.
    pub evaluation: Limits,
}

impl CircuitLimits {
    /// What is worth spending on a circuit that nobody asked for: a second or two. Where that is not enough, the interpreter plays.
    pub fn modest() -> CircuitLimits {
        CircuitLimits { gates: 1_000_000, work: 3_000_000, ..CircuitLimits::default() }
    }
}

impl Default for CircuitLimits {
    fn default() -> CircuitLimits {
        // The gates are those of GDL's limit; the rest is far beyond what games of ours need.
        CircuitLimits {
            gates: 12_000_000,
            rows: 2_000_000,
            work: 60_000_000,
            values: 10_000,
            parts: 100_000,
            // Checkers has fewer; chess has nearly 8000, whose conditions would not fit the other limits.
            exact_matches: 1000,
            evaluation: Limits::default(),
        }
    }
}

/// Why a game was not made into a circuit; the interpreter plays it all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoCircuit {
    /// Rules create, copy or delete elements.
    UniverseChanges,
    /// Chances that are not all the same; circuits draw evenly.
    UnevenChances,
    /// A payoff may be no whole number, or have no value.
    Payoff(String),
    /// More gates than allowed.
    Gates(usize),
    /// More assignments or values than allowed.
    TooLarge(usize),
    /// More work than allowed: as a rule post-conditions that speak of the whole board, asked for each of many matches.
    Work(u64),
    /// A formula with something that is not made into gates.
    Unsupported(String),
    /// What can come about could not be found out.
    Evaluation(Refusal),
}

impl fmt::Display for NoCircuit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoCircuit::UniverseChanges => write!(f, "rules create, copy or delete elements"),
            NoCircuit::UnevenChances => {
                write!(f, "chances are not all the same, and circuits draw evenly")
            }
            NoCircuit::Payoff(player) => {
                write!(f, "the payoff of `{player}` may be no whole number or have no value")
            }
            NoCircuit::Gates(limit) => write!(f, "the circuit grows beyond {limit} gates"),
            NoCircuit::TooLarge(limit) => write!(f, "a formula grows beyond {limit} cases"),
            NoCircuit::Work(limit) => write!(f, "formulas have more than {limit} cases in all"),
            NoCircuit::Unsupported(what) => write!(f, "{what} is not made into gates"),
            NoCircuit::Evaluation(refusal) => write!(f, "{refusal}"),
        }
    }
}

impl std::error::Error for NoCircuit {}

impl From<Refusal> for NoCircuit {
    fn from(refusal: Refusal) -> NoCircuit {
        NoCircuit::Evaluation(refusal)
    }
}

impl From<Oversize> for NoCircuit {
    fn from(oversize: Oversize) -> NoCircuit {
        NoCircuit::TooLarge(oversize.limit)
    }
}

/// A circuit, not yet optimised, with what helps to optimise it.
#[derive(Clone, Debug)]
pub struct GroundArena {
    /// The circuit. Texts of moves and base bits are those of the interpreter.
    pub circuit: Circuit,
    /// Groups of base bits of which perhaps at most one is true at a time: for [`agon_circuit::prove_groups`].
    pub candidates: Vec<Vec<usize>>,
}

impl Game {
    /// Makes a circuit of the game, where that is possible within the limits.
    ///
    /// # Errors
    /// Why not; the game then plays on through the interpreter.
    pub fn ground(&self, limits: &CircuitLimits) -> Result<GroundArena, NoCircuit> {
        if !self.arena().keeps_universe() {
            return Err(NoCircuit::UniverseChanges);
        }
        let possible = may::possible(self, limits)?;
        wire::wired(self, &possible, limits)
    }
}

/// A game as an optimised circuit.
pub struct Compiled {
    /// The circuit.
    pub circuit: Arc<Circuit>,
    /// What is known of the game.
    pub shape: Shape,
    /// Gates before optimisation.
    pub n_raw_gates: usize,
    /// What each pass of the optimiser has saved.
    pub passes: Vec<PassReport>,
    /// Who waits while another moves, if that is proved.
    pub turns: Option<Turns>,
    /// Groups of base bits of which provably at most one is true at every reachable state.
    pub groups: Vec<Vec<usize>>,
}

impl Compiled {
    /// A position at the start, played by the circuit.
    pub fn start(&self) -> ScalarCircuit {
        ScalarCircuit::with_shape(Arc::clone(&self.circuit), self.shape.clone())
    }
}

impl Game {
    /// Makes a circuit of the game and optimises it; when time is up, it is as small as it has become by then.
    ///
    /// # Errors
    /// Why there is none; the game then plays on through the interpreter.
    pub fn compile(
        &self,
        limits: &CircuitLimits,
        deadline: Deadline,
    ) -> Result<Compiled, NoCircuit> {
        let ground = self.ground(limits)?;
        let n_raw_gates = ground.circuit.n_gates();
        let (mut circuit, mut passes) = optimise_until(&ground.circuit, deadline);
        // Some are proved more easily before optimisation and some after it; either proof is a proof.
        let mut groups = prove_groups_until(&ground.circuit, ground.candidates.clone(), deadline);
        groups.extend(prove_groups_until(&circuit, ground.candidates, deadline));
        groups.sort();
        groups.dedup();
        if let Some(smaller) = optimise_by_groups(&circuit, &groups, deadline, &mut passes) {
            circuit = smaller;
        }
        let (turns, shape) = (prove_turns(&circuit), self.shape().clone());
        Ok(Compiled { circuit: Arc::new(circuit), shape, n_raw_gates, passes, turns, groups })
    }
}

impl TossPosition for ScalarCircuit {
    fn whole_payoff(&self, role: Role) -> Option<i64> {
        // Exactly one value holds: that is how terms become gates.
        self.goal_values(role).first().copied()
    }
}
