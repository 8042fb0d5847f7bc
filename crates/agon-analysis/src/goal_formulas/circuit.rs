//! Evaluation functions as circuits with weighted outputs.
//!
//! The formulas of a term become gates over the facts of a state, and its value a weighted sum of
//! signals. Grounding of terms to gates is done here. The graph, its structural hashing and the
//! executors are those of [`agon_circuit::weighted`].
//!
//! The values are exactly those of the slow evaluation. Terms that are not weighted sums (`Min`,
//! `Max`, `Prod`, fixed points over fluents) and terms that are too large are refused.

mod ground;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use agon_circuit::weighted::{WeightedCircuit, WeightedLanes, WeightedState};
use agon_circuit::{Backend, Plane};
use agon_structures::evaluate::EvaluationError;
use agon_structures::formula::Term;
use agon_structures::rational::Rational;
use agon_structures::structure::{Element, RelationId, Structure};
use agon_toss::arena::LocationId;
use agon_toss::interpreter::Game;

use super::GoalTerms;
use ground::Grounder;

/// Limits on the size of a goal circuit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct GoalCircuitLimits {
    /// Maximum number of gates.
    pub gates: usize,
    /// Maximum number of summands of one evaluation function.
    pub summands: usize,
    /// Maximum number of assignments of variables that are enumerated.
    pub assignments: usize,
}

impl Default for GoalCircuitLimits {
    fn default() -> GoalCircuitLimits {
        // Building such a circuit takes a second or two. Larger ones are slower than the evaluator
        // of formulas, which visits only the tuples that are present.
        GoalCircuitLimits { gates: 200_000, summands: 100_000, assignments: 500_000 }
    }
}

/// The reason why terms have no circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GoalCircuitError {
    /// The rules add or remove elements.
    ChangingUniverse,
    /// The terms contain this construct, which has no circuit.
    Unsupported(&'static str),
    /// The circuit would have more of these than the limits allow.
    TooLarge(&'static str),
    /// A formula without fluents could not be evaluated.
    Evaluation(EvaluationError),
}

impl fmt::Display for GoalCircuitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GoalCircuitError::ChangingUniverse => write!(f, "the rules add or remove elements"),
            GoalCircuitError::Unsupported(what) => write!(f, "{what} cannot be made into gates"),
            GoalCircuitError::TooLarge(what) => write!(f, "there would be too many {what}"),
            GoalCircuitError::Evaluation(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for GoalCircuitError {}

impl From<EvaluationError> for GoalCircuitError {
    fn from(error: EvaluationError) -> GoalCircuitError {
        GoalCircuitError::Evaluation(error)
    }
}

/// A tuple of a relation that rules change.
type Fact = (RelationId, Vec<Element>);

/// The evaluation functions of a game as a circuit. Its base bits are facts: tuples of relations
/// that rules change.
#[derive(Debug)]
pub struct GoalCircuit {
    circuit: Arc<WeightedCircuit>,
    /// By relation: its facts, sorted by tuple, with their base bits.
    of_relation: BTreeMap<RelationId, Vec<(Vec<Element>, u32)>>,
    /// By location and player: the index of the sum.
    by_location: Vec<Vec<usize>>,
    /// By sum: the number that the integer sum is divided by.
    denominators: Vec<i128>,
}

impl GoalCircuit {
    /// Builds the circuit of the terms of a game.
    ///
    /// # Errors
    /// If a term contains an unsupported construct, or the circuit exceeds the limits.
    pub fn new(
        game: &Arc<Game>,
        terms: &GoalTerms,
        limits: GoalCircuitLimits,
    ) -> Result<GoalCircuit, GoalCircuitError> {
        if !game.arena().keeps_universe() {
            return Err(GoalCircuitError::ChangingUniverse);
        }
        let mut grounder = Grounder::new(game, limits);
        let mut known: Vec<&Term> = Vec::new();
        let (mut sums, mut denominators) = (Vec::new(), Vec::new());
        let mut by_location = Vec::new();
        for of_location in &terms.terms {
            let mut row = Vec::new();
            for term in of_location {
                let place = match known.iter().position(|other| *other == term) {
                    Some(place) => place,
                    None => {
                        let (sum, denominator) = grounder.sum_of(term)?;
                        sums.push(sum);
                        denominators.push(denominator);
                        known.push(term);
                        known.len() - 1
                    }
                };
                row.push(place);
            }
            by_location.push(row);
        }
        let (circuit, facts) = grounder.finish(sums)?;
        let mut of_relation: BTreeMap<RelationId, Vec<(Vec<Element>, u32)>> = BTreeMap::new();
        for ((relation, tuple), bit) in facts.into_iter().zip(0..) {
            of_relation.entry(relation).or_default().push((tuple, bit));
        }
        of_relation.values_mut().for_each(|facts| facts.sort());
        Ok(GoalCircuit { circuit: Arc::new(circuit), of_relation, by_location, denominators })
    }

    /// Returns the number of gates, facts not counted.
    pub fn n_gates(&self) -> usize {
        self.circuit.n_ands()
    }

    /// Returns the number of facts that the circuit reads.
    pub fn n_facts(&self) -> usize {
        self.circuit.n_base()
    }

    /// Returns the index of a fact, if the circuit reads it.
    pub fn fact(&self, relation: RelationId, tuple: &[Element]) -> Option<u32> {
        let facts = self.of_relation.get(&relation)?;
        let place = facts.binary_search_by(|(known, _)| known.as_slice().cmp(tuple)).ok()?;
        Some(facts[place].1)
    }

    /// Writes the indices of the facts of a structure that the circuit reads.
    pub fn read(&self, structure: &Structure, facts: &mut Vec<u32>) {
        facts.clear();
        for &relation in self.of_relation.keys() {
            facts.extend(
                structure.tuples(relation).iter().filter_map(|tuple| self.fact(relation, tuple)),
            );
        }
    }

    fn sum(&self, location: LocationId, player: usize) -> usize {
        self.by_location[location.index()][player]
    }
}

/// A goal circuit at one state. It follows changes, because positions of a search differ in a few
/// facts from the one before.
#[derive(Clone, Debug)]
pub struct GoalState {
    circuit: Arc<GoalCircuit>,
    state: WeightedState,
}

impl GoalState {
    /// Creates the state without facts.
    pub fn new(circuit: &Arc<GoalCircuit>) -> GoalState {
        GoalState { circuit: Arc::clone(circuit), state: WeightedState::new(&circuit.circuit) }
    }

    /// Returns the circuit.
    pub fn circuit(&self) -> &Arc<GoalCircuit> {
        &self.circuit
    }

    /// Moves to the state in which exactly these facts hold.
    pub fn go_to(&mut self, facts: &[u32]) {
        self.state.go_to(facts);
    }

    /// Returns the exact value for a player at a location.
    pub fn value(&self, location: LocationId, player: usize) -> Option<Rational> {
        let sum = self.circuit.sum(location, player);
        Rational::fraction(self.state.value(sum), self.circuit.denominators[sum])
    }

    /// Returns the value for a player at a location, rounded to a floating-point number.
    pub fn number(&self, location: LocationId, player: usize) -> f64 {
        let sum = self.circuit.sum(location, player);
        self.state.value(sum) as f64 / self.circuit.denominators[sum] as f64
    }
}

/// A goal circuit at 256 states.
#[derive(Clone)]
pub struct GoalLanes {
    circuit: Arc<GoalCircuit>,
    lanes: WeightedLanes,
}

impl GoalLanes {
    /// The number of states.
    pub const LANES: usize = Plane::LANES;

    /// Creates states without facts.
    pub fn new(circuit: &Arc<GoalCircuit>) -> GoalLanes {
        let lanes = WeightedLanes::new(&circuit.circuit, Backend::Native);
        GoalLanes { circuit: Arc::clone(circuit), lanes }
    }

    /// Removes all facts from all lanes.
    pub fn clear(&mut self) {
        self.lanes.clear();
    }

    /// Adds facts to a lane.
    pub fn set(&mut self, lane: usize, facts: &[u32]) {
        self.lanes.set(lane, facts);
    }

    /// Computes the circuit in all lanes.
    pub fn evaluate(&mut self) {
        self.lanes.evaluate();
    }

    /// Writes the numerators of the values for a player at a location in all lanes, and returns
    /// their denominator.
    pub fn values(
        &mut self,
        location: LocationId,
        player: usize,
        sums: &mut [i128; GoalLanes::LANES],
    ) -> i128 {
        let sum = self.circuit.sum(location, player);
        self.lanes.values(sum, sums);
        self.circuit.denominators[sum]
    }
}
