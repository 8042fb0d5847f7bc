//! Evaluation functions as circuits: what they count becomes gates over the facts of a state, and their value a weighted sum of
//! gates, for one state or for 256 at a time.
//!
//! Exactly what the evaluator says comes out. Terms that cannot be written so (`Min`, `Max`, `Prod`, fixed points over what
//! changes, too large ones) are refused.

mod ground;
mod one;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use agon_circuit::Plane;
use agon_structures::evaluate::Refusal;
use agon_structures::structure::{Element, RelationId, Structure};
use agon_toss::arena::LocationId;
use agon_toss::interpreter::Game;

use super::GoalTerms;
use ground::Grounder;
pub use one::OneState;

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
    /// By gate: the gates that read it.
    readers: Lists<u32>,
    /// By gate: the forms that count it, and what it adds to them when it comes to hold.
    counted: Lists<(u32, i128)>,
}

/// A list for each of many numbers, one after the other.
#[derive(Clone, Debug)]
struct Lists<T> {
    starts: Vec<u32>,
    all: Vec<T>,
}

impl<T: Copy + Ord> Lists<T> {
    fn new(n_lists: usize, mut entries: Vec<(usize, T)>) -> Lists<T> {
        entries.sort_unstable();
        let mut starts = vec![0; n_lists + 1];
        entries.iter().for_each(|(list, _)| starts[list + 1] += 1);
        for list in 0..n_lists {
            starts[list + 1] += starts[list];
        }
        Lists { starts, all: entries.into_iter().map(|(_, entry)| entry).collect() }
    }

    fn of(&self, list: usize) -> &[T] {
        &self.all[self.starts[list] as usize..self.starts[list + 1] as usize]
    }
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
        let mut known: Vec<&agon_structures::formula::Term> = Vec::new();
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
        let mut readers = Vec::new();
        for (at, gate) in gates.iter().enumerate() {
            if let Gate::And(a, b) = gate {
                readers.extend([a, b].map(|wire| (wire.gate(), at as u32)));
            }
        }
        let mut counted = Vec::new();
        for (number, form) in forms.iter().enumerate() {
            for (weight, wires) in &form.weighted {
                let change = |wire: &Wire| if wire.is_negated() { -weight } else { *weight };
                counted
                    .extend(wires.iter().map(|wire| (wire.gate(), (number as u32, change(wire)))));
            }
        }
        let (readers, counted) =
            (Lists::new(gates.len(), readers), Lists::new(gates.len(), counted));
        Ok(GoalCircuit { gates, facts, of_relation, by_location, forms, readers, counted })
    }

    /// How many gates there are, facts aside.
    pub fn n_gates(&self) -> usize {
        self.gates.len() - 1 - self.facts.len()
    }

    /// How many facts of a state matter.
    pub fn n_facts(&self) -> usize {
        self.facts.len()
    }

    /// The number of a tuple of a relation among the facts that matter, if it is one of them.
    pub fn fact(&self, relation: RelationId, tuple: &[Element]) -> Option<u32> {
        let facts = self.of_relation.get(&relation)?;
        let place = facts.binary_search_by(|(known, _)| known.as_slice().cmp(tuple)).ok()?;
        Some(facts[place].1)
    }

    /// The facts of a structure that matter, by their numbers.
    pub fn read(&self, structure: &Structure, numbers: &mut Vec<u32>) {
        numbers.clear();
        for &relation in self.of_relation.keys() {
            numbers.extend(
                structure.tuples(relation).iter().filter_map(|tuple| self.fact(relation, tuple)),
            );
        }
    }

    fn form(&self, location: LocationId, player: usize) -> &Form {
        &self.forms[self.form_number(location, player)]
    }

    fn form_number(&self, location: LocationId, player: usize) -> usize {
        self.by_location[location.index()][player]
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
    pub fn values(
        &mut self,
        location: LocationId,
        player: usize,
        sums: &mut [i128; LANES],
    ) -> i128 {
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
