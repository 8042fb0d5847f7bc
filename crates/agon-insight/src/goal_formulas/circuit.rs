//! Evaluation functions as circuits: what they count becomes gates over the facts of a state, and their value a weighted sum of
//! gates, for one state or for 256 at a time.
//!
//! Exactly what the evaluator says comes out. Terms that cannot be written so (`Min`, `Max`, `Prod`, fixed points over what
//! changes, too large ones) are refused.

mod ground;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use agon_circuit::Plane;
use agon_logic::evaluate::Refusal;
use agon_logic::rational::Rational;
use agon_logic::structure::{Element, RelationId, Structure};
use agon_toss::arena::LocationId;
use agon_toss::interpreter::Game;

use super::GoalTerms;
use ground::Grounder;

/// States that are looked at in one pass.
pub const LANES: usize = 256;

/// What a circuit may take.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct GoalCircuitLimits {
    /// Gates.
    pub gates: usize,
    /// Summands of one evaluation function.
    pub summands: usize,
    /// Assignments of variables looked at.
    pub assignments: usize,
}

impl Default for GoalCircuitLimits {
    fn default() -> GoalCircuitLimits {
        // What takes a second or two; larger circuits are slower than the evaluator, which looks at what is there alone.
        GoalCircuitLimits { gates: 200_000, summands: 100_000, assignments: 500_000 }
    }
}

/// Why there is no circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoGoalCircuit {
    /// The universe changes.
    ChangingUniverse,
    /// A construct that is not made into gates.
    Construct(&'static str),
    /// More than the limits allow.
    TooLarge(&'static str),
    /// What never changes could not be evaluated.
    Refused(Refusal),
}

impl fmt::Display for NoGoalCircuit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoGoalCircuit::ChangingUniverse => write!(f, "elements come and go"),
            NoGoalCircuit::Construct(what) => write!(f, "{what} cannot be made into gates"),
            NoGoalCircuit::TooLarge(what) => write!(f, "there would be too many {what}"),
            NoGoalCircuit::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl std::error::Error for NoGoalCircuit {}

impl From<Refusal> for NoGoalCircuit {
    fn from(refusal: Refusal) -> NoGoalCircuit {
        NoGoalCircuit::Refused(refusal)
    }
}

/// A gate or a fact, or its negation: twice its number, and one more if it is negated. Numbers start with the constant
/// true; facts come and go among the gates in the order in which they were met.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Wire(u32);

impl Wire {
    pub(crate) const TRUE: Wire = Wire(0);
    pub(crate) const FALSE: Wire = Wire(1);

    fn of(gate: usize) -> Wire {
        Wire(u32::try_from(gate * 2).expect("limits keep gates few"))
    }

    pub(crate) fn negated(self) -> Wire {
        Wire(self.0 ^ 1)
    }

    fn gate(self) -> usize {
        (self.0 >> 1) as usize
    }

    fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }
}

/// What a gate is.
#[derive(Copy, Clone, Debug)]
enum Gate {
    True,
    /// A fact, by its number.
    Fact(u32),
    And(Wire, Wire),
}

/// An evaluation function: a constant and weighted wires, all over one denominator.
#[derive(Clone, Debug)]
struct Form {
    denominator: i128,
    constant: i128,
    /// Wires by weight.
    weighted: Vec<(i128, Vec<Wire>)>,
}

/// The evaluation functions of a game as gates.
#[derive(Clone, Debug)]
pub struct GoalCircuit {
    gates: Vec<Gate>,
    /// The tuples that may come and go, by the number of the fact.
    facts: Vec<(RelationId, Vec<Element>)>,
    /// By relation: its facts, sorted by tuple.
    of_relation: BTreeMap<RelationId, Vec<(Vec<Element>, u32)>>,
    /// By location and player: which of the forms.
    by_location: Vec<Vec<usize>>,
    forms: Vec<Form>,
}

impl GoalCircuit {
    /// Makes gates of the terms of a game.
    ///
    /// # Errors
    /// If a term cannot be made into gates, or takes more than the limits allow.
    pub fn new(
        game: &Arc<Game>,
        terms: &GoalTerms,
        limits: GoalCircuitLimits,
    ) -> Result<GoalCircuit, NoGoalCircuit> {
        if !game.arena().keeps_universe() {
            return Err(NoGoalCircuit::ChangingUniverse);
        }
        let mut grounder = Grounder::new(game, limits);
        let mut known: Vec<&agon_logic::formula::Term> = Vec::new();
        let (mut forms, mut by_location) = (Vec::new(), Vec::new());
        for of_location in &terms.terms {
            let mut row = Vec::new();
            for term in of_location {
                let place = known.iter().position(|other| *other == term);
                row.push(match place {
                    Some(place) => place,
                    None => {
                        forms.push(grounder.form(term)?);
                        known.push(term);
                        known.len() - 1
                    }
                });
            }
            by_location.push(row);
        }
        let (gates, facts) = grounder.finish();
        let mut of_relation: BTreeMap<RelationId, Vec<(Vec<Element>, u32)>> = BTreeMap::new();
        for (number, (relation, tuple)) in facts.iter().enumerate() {
            of_relation.entry(*relation).or_default().push((tuple.clone(), number as u32));
        }
        of_relation.values_mut().for_each(|facts| facts.sort());
        Ok(GoalCircuit { gates, facts, of_relation, by_location, forms })
    }

    /// How many gates there are, facts aside.
    pub fn n_gates(&self) -> usize {
        self.gates.len() - 1 - self.facts.len()
    }

    /// How many facts of a state matter.
    pub fn n_facts(&self) -> usize {
        self.facts.len()
    }

    /// The facts of a structure that matter, by their numbers.
    pub fn read(&self, structure: &Structure, numbers: &mut Vec<u32>) {
        numbers.clear();
        for (relation, facts) in &self.of_relation {
            for tuple in structure.tuples(*relation).iter() {
                if let Ok(place) = facts.binary_search_by(|(known, _)| known.as_slice().cmp(tuple)) {
                    numbers.push(facts[place].1);
                }
            }
        }
    }

    fn form(&self, location: LocationId, player: usize) -> &Form {
        &self.forms[self.by_location[location.index()][player]]
    }
}

/// A circuit at one state.
pub struct OneState<'c> {
    circuit: &'c GoalCircuit,
    facts: Vec<bool>,
    values: Vec<bool>,
}

impl<'c> OneState<'c> {
    /// At the state without facts.
    pub fn new(circuit: &'c GoalCircuit) -> OneState<'c> {
        OneState {
            circuit,
            facts: vec![false; circuit.facts.len()],
            values: vec![false; circuit.gates.len()],
        }
    }

    /// Goes to the state where these facts hold and works out all gates.
    pub fn go_to(&mut self, facts: &[u32]) {
        self.facts.fill(false);
        facts.iter().for_each(|&fact| self.facts[fact as usize] = true);
        for (at, gate) in self.circuit.gates.iter().enumerate() {
            let read = |wire: Wire| self.values[wire.gate()] != wire.is_negated();
            self.values[at] = match *gate {
                Gate::True => true,
                Gate::Fact(number) => self.facts[number as usize],
                Gate::And(a, b) => read(a) && read(b),
            };
        }
    }

    /// What the state is worth to a player at a location.
    pub fn value(&self, location: LocationId, player: usize) -> Option<Rational> {
        let form = self.circuit.form(location, player);
        let holds = |wire: &&Wire| self.values[wire.gate()] != wire.is_negated();
        let sum = form.weighted.iter().fold(form.constant, |sum, (weight, wires)| {
            sum + weight * wires.iter().filter(holds).count() as i128
        });
        Rational::fraction(sum, form.denominator)
    }
}

/// A circuit at 256 states.
pub struct ManyStates<'c> {
    circuit: &'c GoalCircuit,
    facts: Vec<Plane>,
    values: Vec<Plane>,
    /// Room for counting: by digit, the bits of all lanes' counts.
    digits: Vec<Plane>,
}

impl<'c> ManyStates<'c> {
    /// At states without facts.
    pub fn new(circuit: &'c GoalCircuit) -> ManyStates<'c> {
        ManyStates {
            circuit,
            facts: vec![Plane::splat(false); circuit.facts.len()],
            values: vec![Plane::splat(false); circuit.gates.len()],
            digits: Vec::new(),
        }
    }

    /// No facts hold anywhere.
    pub fn clear(&mut self) {
        self.facts.fill(Plane::splat(false));
    }

    /// These facts hold in a lane, besides those told already.
    pub fn tell(&mut self, lane: usize, facts: &[u32]) {
        facts.iter().for_each(|&fact| self.facts[fact as usize].set_lane(lane, true));
    }

    /// Works out all gates in all lanes.
    pub fn work_out(&mut self) {
        for (at, gate) in self.circuit.gates.iter().enumerate() {
            let values = &self.values;
            let read = |wire: Wire| {
                let Plane(words) = values[wire.gate()];
                let mask = if wire.is_negated() { u64::MAX } else { 0 };
                words.map(|word| word ^ mask)
            };
            self.values[at] = match *gate {
                Gate::True => Plane::splat(true),
                Gate::Fact(number) => self.facts[number as usize],
                Gate::And(a, b) => {
                    let (a, b) = (read(a), read(b));
                    Plane([a[0] & b[0], a[1] & b[1], a[2] & b[2], a[3] & b[3]])
                }
            };
        }
    }

    /// What each state is worth to a player at a location, as numerators over the denominator that comes with them.
    pub fn values(&mut self, location: LocationId, player: usize, sums: &mut [i128; LANES]) -> i128 {
        let form = self.circuit.form(location, player);
        sums.fill(form.constant);
        for (weight, wires) in &form.weighted {
            self.digits.clear();
            for wire in wires {
                let Plane(mut carry) = self.values[wire.gate()];
                if wire.is_negated() {
                    carry = carry.map(|word| !word);
                }
                add_to_digits(&mut self.digits, carry);
            }
            for (place, digit) in self.digits.iter().enumerate() {
                let amount = weight << place;
                digit.lanes().for_each(|lane| sums[lane] += amount);
            }
        }
        form.denominator
    }
}

/// Adds one to the counts of the lanes in which a bit is set, all lanes at once.
fn add_to_digits(digits: &mut Vec<Plane>, mut carry: [u64; 4]) {
    for Plane(digit) in digits.iter_mut() {
        if carry == [0; 4] {
            return;
        }
        for (word, carried) in digit.iter_mut().zip(&mut carry) {
            (*word, *carried) = (*word ^ *carried, *word & *carried);
        }
    }
    if carry != [0; 4] {
        digits.push(Plane(carry));
    }
}
