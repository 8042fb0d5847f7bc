//! Evaluation functions at work: what a structure is worth to a player.

use std::any::Any;
use std::sync::Arc;

use agon_circuit::ScalarCircuit;
use agon_game::{Notation, Position as _, Rng, Role};
use agon_structures::evaluate::{Assignment, Evaluator, Limits, Refusal, TermQuery};
use agon_structures::formula::Term;
use agon_structures::rational::Rational;
use agon_structures::structure::{Element, RelationId, Structure};
use agon_toss::arena::LocationId;
use agon_toss::interpreter::{Game, Interpreter, State};
use rand::SeedableRng as _;

use super::{GoalCircuit, GoalCircuitLimits, GoalTerms, OneState};

/// The evaluation functions of a game, ready to be asked.
#[derive(Clone)]
pub struct GoalJudge {
    game: Arc<Game>,
    terms: Arc<GoalTerms>,
    evaluator: Evaluator,
    /// By location and player.
    queries: Vec<Vec<TermQuery>>,
    lowest: f64,
    highest: f64,
    /// What lies so far from the middle of the payoffs, in halves of their range, is brought to half way between middle and end.
    unit: f64,
    gates: Option<Gates>,
}

/// The same as gates, which say the same and are faster.
#[derive(Clone)]
struct Gates {
    state: OneState,
    facts: Vec<u32>,
    /// What the bits of a circuit that plays the game mean.
    bits: Option<Bits>,
}

#[derive(Clone)]
struct Bits {
    circuit: Arc<agon_circuit::Circuit>,
    meanings: Vec<Meaning>,
}

#[derive(Copy, Clone)]
enum Meaning {
    Fact(u32),
    Location(LocationId),
    /// Nothing that matters.
    Nothing,
}

/// Gates are taken if there are no more than these: more are slower than the evaluator, which looks at what is there alone.
const WORTH_IT: GoalCircuitLimits =
    GoalCircuitLimits { gates: 30_000, summands: 30_000, assignments: 200_000 };
/// The random plays from which it is known how large values are, and the states of each that are looked at.
const N_PLAYS: u64 = 4;
const N_STATES: usize = 16;
/// Plays are broken off after so many steps.
const MAX_STEPS: usize = 200;

impl GoalJudge {
    /// Prepares terms for positions of the game that they were made for.
    pub fn new(game: &Arc<Game>, terms: &GoalTerms) -> Result<GoalJudge, Refusal> {
        let structure = game.start_structure();
        let arena = game.arena();
        let definitions = Arc::clone(arena.definitions());
        let mut evaluator =
            Evaluator::new(Arc::clone(structure.vocabulary()), definitions, Limits::default());
        let mut known: Vec<(&Term, TermQuery)> = Vec::new();
        let mut queries = Vec::new();
        for of_location in &terms.terms {
            let mut row = Vec::new();
            for term in of_location {
                let query = match known.iter().find(|entry| entry.0 == term) {
                    Some((_, query)) => *query,
                    None => evaluator.term(term, &[])?,
                };
                known.push((term, query));
                row.push(query);
            }
            queries.push(row);
        }
        let bounds = arena.payoff_bounds();
        Ok(GoalJudge {
            game: Arc::clone(game),
            terms: Arc::new(terms.clone()),
            evaluator,
            queries,
            lowest: *bounds.start(),
            highest: *bounds.end(),
            unit: 1.0,
            gates: None,
        })
    }

    /// The same as a search wants it: by gates where they are worth it, and with estimates spread over the range of payoffs by how large
    /// values are in a few random plays, the same ones every time.
    pub fn for_search(game: &Arc<Game>, terms: &GoalTerms) -> Result<GoalJudge, Refusal> {
        let mut judge = GoalJudge::new(game, terms)?;
        judge.gates = GoalCircuit::new(game, terms, WORTH_IT).ok().map(|circuit| Gates {
            state: OneState::new(&Arc::new(circuit)),
            facts: Vec::new(),
            bits: None,
        });
        judge.unit = judge.usual_size();
        Ok(judge)
    }

    /// What it judges by.
    pub fn terms(&self) -> &GoalTerms {
        &self.terms
    }

    /// The value of the player's term.
    pub fn value(
        &mut self,
        structure: &Structure,
        location: LocationId,
        player: usize,
    ) -> Result<Option<Rational>, Refusal> {
        let query = self.queries[location.index()][player];
        self.evaluator.value(query, structure, &Assignment::new())
    }

    /// What a position of the game, whichever engine plays it, is worth to a player: within the bounds of the payoffs.
    pub fn estimate_at<P: Notation + 'static>(&mut self, position: &P, role: Role) -> f64 {
        let player = role.index();
        if let Some(own) = (position as &dyn Any).downcast_ref::<Interpreter>() {
            let state = own.state();
            return self.estimate(state.structure(), state.location(), player);
        }
        let circuit = (position as &dyn Any).downcast_ref::<ScalarCircuit>();
        if let (Some(position), Some(gates)) = (circuit, &mut self.gates) {
            let location = gates.look_at(position, &self.game);
            let value = gates.state.number(location, player);
            return self.within_bounds(value);
        }
        let (structure, location) = read_state(&self.game, &position.state_text());
        self.estimate(&structure, location, player)
    }

    /// The same within the bounds of the payoffs, as a search wants it: larger values are larger, and no position is as good as a win or
    /// as bad as a loss. The middle where there is no value.
    pub fn estimate(&mut self, structure: &Structure, location: LocationId, player: usize) -> f64 {
        match self.number(structure, location, player) {
            Some(value) => self.within_bounds(value),
            None => self.middle(),
        }
    }

    fn number(
        &mut self,
        structure: &Structure,
        location: LocationId,
        player: usize,
    ) -> Option<f64> {
        if let Some(gates) = &mut self.gates {
            gates.state.circuit().read(structure, &mut gates.facts);
            gates.state.go_to(&gates.facts);
            return Some(gates.state.number(location, player));
        }
        self.value(structure, location, player).ok().flatten().map(Rational::to_f64)
    }

    fn middle(&self) -> f64 {
        (self.lowest + self.highest) / 2.0
    }

    fn half(&self) -> f64 {
        ((self.highest - self.lowest) / 2.0).max(f64::MIN_POSITIVE)
    }

    fn within_bounds(&self, value: f64) -> f64 {
        self.middle() + self.half() * squashed((value - self.middle()) / (self.half() * self.unit))
    }

    /// Twice how far values are from the middle of the payoffs, in halves of their range, in states of random plays. Some terms are
    /// hundredths and others hundreds: undivided, the former would hardly differ from the middle, and the latter hardly from the ends.
    fn usual_size(&mut self) -> f64 {
        let (mut squares, mut n) = (0.0, 0);
        for seed in 0..N_PLAYS {
            for state in sampled(&self.game, seed) {
                for player in 0..self.game.arena().players().len() {
                    let Some(value) = self.number(state.structure(), state.location(), player)
                    else {
                        continue;
                    };
                    let distance = (value - self.middle()) / self.half();
                    squares += distance * distance;
                    n += 1;
                }
            }
        }
        let size = 2.0 * (squares / f64::from(n.max(1))).sqrt();
        if size.is_finite() && size > 0.0 { size } else { 1.0 }
    }
}

/// A few states of a random play.
fn sampled(game: &Arc<Game>, seed: u64) -> Vec<State> {
    let (mut position, mut rng, mut joint) = (game.start(), Rng::seed_from_u64(seed), Vec::new());
    let mut states = Vec::new();
    while !position.is_terminal() && states.len() < MAX_STEPS {
        states.push(position.state().clone());
        position.draw(&mut rng, &mut joint);
        position.advance(&joint);
    }
    let step = states.len().div_ceil(N_STATES).max(1);
    states.into_iter().step_by(step).collect()
}

impl Gates {
    /// Goes to where a circuit that plays the game stands; the location there.
    fn look_at(&mut self, position: &ScalarCircuit, game: &Game) -> LocationId {
        let circuit = position.circuit();
        if !self.bits.as_ref().is_some_and(|bits| Arc::ptr_eq(&bits.circuit, circuit)) {
            let meaning = |text: &String| match read_fact(game, game.start_structure(), text) {
                Some(Fact::Location(location)) => Meaning::Location(location),
                Some(Fact::Tuple(relation, tuple)) => self
                    .state
                    .circuit()
                    .fact(relation, &tuple)
                    .map_or(Meaning::Nothing, Meaning::Fact),
                None => Meaning::Nothing,
            };
            let meanings = circuit.base.iter().map(meaning).collect();
            self.bits = Some(Bits { circuit: Arc::clone(circuit), meanings });
        }
        let meanings = self.bits.as_ref().map_or(&[][..], |bits| &bits.meanings);
        let mut location = game.arena().start_location();
        self.facts.clear();
        for (at, &word) in position.state().words().iter().enumerate() {
            let mut left = word;
            while left != 0 {
                let bit = at * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                match meanings[bit] {
                    Meaning::Fact(fact) => self.facts.push(fact),
                    Meaning::Location(here) => location = here,
                    Meaning::Nothing => {}
                }
            }
        }
        self.state.go_to(&self.facts);
        location
    }
}

/// From all numbers to those between -1 and 1, in the same order.
fn squashed(value: f64) -> f64 {
    value / (1.0 + value.abs())
}

/// What a part of a state's text says.
enum Fact {
    Location(LocationId),
    Tuple(RelationId, Vec<Element>),
}

fn read_fact(game: &Game, structure: &Structure, text: &str) -> Option<Fact> {
    let arena = game.arena();
    let mut words = text.trim_matches(['(', ')']).split_whitespace();
    let name = words.next()?;
    let Some(relation) = arena.vocabulary().relation(name) else {
        let location = words.next().filter(|_| name == "location")?;
        return arena.location_named(location).map(Fact::Location);
    };
    let elements: Option<Vec<Element>> = words.map(|word| structure.element(word)).collect();
    // A fact of another arity is none of this game's; there are no such in its own texts.
    let elements =
        elements.filter(|elements| elements.len() == arena.vocabulary().arity(relation))?;
    Some(Fact::Tuple(relation, elements))
}

/// The structure and location that a state's text tells, of a game whose universe stays. What it does not tell is as at the start.
fn read_state(game: &Arc<Game>, facts: &[String]) -> (Structure, LocationId) {
    let arena = game.arena();
    let mut structure = game.start_structure().clone();
    let mut location = arena.start_location();
    for relation in arena.vocabulary().relations().filter(|&relation| arena.is_fluent(relation)) {
        let tuples: Vec<Vec<_>> = structure.tuples(relation).iter().map(<[_]>::to_vec).collect();
        for tuple in tuples {
            structure.remove(relation, &tuple);
        }
    }
    for fact in facts {
        match read_fact(game, &structure, fact) {
            Some(Fact::Location(here)) => location = here,
            Some(Fact::Tuple(relation, elements)) => {
                let _ = structure.add(relation, &elements);
            }
            None => {}
        }
    }
    (structure, location)
}
