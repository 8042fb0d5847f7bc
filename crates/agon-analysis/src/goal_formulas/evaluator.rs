//! Evaluation of positions by the terms of a game.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use agon_circuit::ScalarCircuit;
use agon_game::{Notation, Position as _, Rng, Role};
use agon_structures::evaluate::{Assignment, EvaluationError, Evaluator, Limits, TermQuery};
use agon_structures::formula::Term;
use agon_structures::interrupt::Interrupt;
use agon_structures::rational::Rational;
use agon_structures::structure::{Element, RelationId, Structure};
use agon_toss::arena::LocationId;
use agon_toss::interpreter::{Game, Interpreter, State};
use rand::SeedableRng as _;

use super::{GoalCircuit, GoalCircuitLimits, GoalState, GoalTerms};

/// An evaluator of positions of a game by its goal terms.
#[derive(Clone)]
pub struct GoalEvaluator {
    game: Arc<Game>,
    terms: Arc<GoalTerms>,
    evaluator: Evaluator,
    /// By location and player: the prepared term.
    queries: Vec<Vec<TermQuery>>,
    lowest: f64,
    highest: f64,
    /// The distance from the middle of the payoffs, in halves of their range, that is mapped half
    /// way between the middle and the end of the range.
    unit: f64,
    compiled: Option<CompiledTerms>,
}

/// The terms as a circuit, which gives the same values faster.
#[derive(Clone)]
struct CompiledTerms {
    state: GoalState,
    facts: Vec<u32>,
    /// The meaning of the base bits of the circuit that plays the game.
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
    /// A fact that the goal circuit does not read.
    Ignored,
}

/// Limits of circuits for search. Larger ones are slower than the evaluator of formulas, which
/// visits only the tuples that are present.
const SEARCH_LIMITS: GoalCircuitLimits =
    GoalCircuitLimits { gates: 30_000, summands: 30_000, assignments: 200_000 };
/// Number of random plays for the usual size of values, and of states of each that are evaluated.
const N_PLAYS: u64 = 4;
const N_STATES: usize = 16;
/// Maximum number of steps of such a play.
const MAX_STEPS: usize = 200;

impl GoalEvaluator {
    /// Prepares the terms for positions of the game that they were derived from.
    ///
    /// # Errors
    /// If a term cannot be evaluated.
    pub fn new(game: &Arc<Game>, terms: &GoalTerms) -> Result<GoalEvaluator, EvaluationError> {
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
        Ok(GoalEvaluator {
            game: Arc::clone(game),
            terms: Arc::new(terms.clone()),
            evaluator,
            queries,
            lowest: *bounds.start(),
            highest: *bounds.end(),
            unit: 1.0,
            compiled: None,
        })
    }

    /// Prepares the terms for a search: with a circuit if it is small enough, and with estimates
    /// scaled to the range of payoffs by the usual size of values. The size is measured in a few
    /// random plays, which are the same every time.
    ///
    /// # Errors
    /// If a term cannot be evaluated.
    pub fn for_search(
        game: &Arc<Game>,
        terms: &GoalTerms,
    ) -> Result<GoalEvaluator, EvaluationError> {
        GoalEvaluator::for_search_until(game, terms, None)
    }

    /// Prepares the terms like [`GoalEvaluator::for_search`], and ends the measurement of the usual
    /// size at the deadline. Estimates then depend on what was measured before.
    ///
    /// # Errors
    /// If a term cannot be evaluated.
    pub fn for_search_until(
        game: &Arc<Game>,
        terms: &GoalTerms,
        deadline: Option<Instant>,
    ) -> Result<GoalEvaluator, EvaluationError> {
        let mut evaluator = GoalEvaluator::new(game, terms)?;
        evaluator.compiled =
            GoalCircuit::new(game, terms, SEARCH_LIMITS).ok().map(|circuit| CompiledTerms {
                state: GoalState::new(&Arc::new(circuit)),
                facts: Vec::new(),
                bits: None,
            });
        evaluator.set_interrupt(Interrupt::at(deadline));
        evaluator.unit = evaluator.usual_size(deadline);
        evaluator.set_interrupt(Interrupt::NEVER);
        Ok(evaluator)
    }

    /// Ends exact evaluations before they are done, with an error.
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.evaluator.set_interrupt(interrupt);
    }

    /// Returns the terms.
    pub fn terms(&self) -> &GoalTerms {
        &self.terms
    }

    /// Returns the exact value of the term of a player, by the evaluator of formulas.
    ///
    /// # Errors
    /// If the evaluation exceeds its limits.
    pub fn value(
        &mut self,
        structure: &Structure,
        location: LocationId,
        player: usize,
    ) -> Result<Option<Rational>, EvaluationError> {
        let query = self.queries[location.index()][player];
        self.evaluator.value(query, structure, &Assignment::new())
    }

    /// Returns the estimate of a position for a player, within the bounds of the payoffs. The
    /// position may belong to any engine.
    pub fn estimate_at<P: Notation + 'static>(&mut self, position: &P, role: Role) -> f64 {
        let player = role.index();
        if let Some(own) = (position as &dyn Any).downcast_ref::<Interpreter>() {
            let state = own.state();
            return self.estimate(state.structure(), state.location(), player);
        }
        let circuit = (position as &dyn Any).downcast_ref::<ScalarCircuit>();
        if let (Some(position), Some(compiled)) = (circuit, &mut self.compiled) {
            let location = compiled.go_to(position, &self.game);
            let value = compiled.state.number(location, player);
            return self.within_bounds(value);
        }
        let (structure, location) = read_state(&self.game, &position.state_text());
        self.estimate(&structure, location, player)
    }

    /// Returns the estimate of a structure for a player, within the bounds of the payoffs. It is
    /// strictly monotone in the value of the term, and never as high as a win or as low as a loss.
    /// Without a value it is the middle of the payoffs.
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
        if let Some(compiled) = &mut self.compiled {
            compiled.state.circuit().read(structure, &mut compiled.facts);
            compiled.state.go_to(&compiled.facts);
            return Some(compiled.state.number(location, player));
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

    /// Returns twice the root mean square distance of values from the middle of the payoffs, in
    /// halves of their range, in states of random plays. Some terms have values of hundredths,
    /// others of hundreds. Without scaling, the former would hardly differ from the middle, and the
    /// latter hardly from the ends.
    fn usual_size(&mut self, deadline: Option<Instant>) -> f64 {
        let (mut squares, mut n) = (0.0, 0);
        let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        'plays: for seed in 0..N_PLAYS {
            if is_late() {
                break;
            }
            for state in sampled(&self.game, seed, deadline) {
                if is_late() {
                    break 'plays;
                }
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

/// Returns a few states of a random play, which ends at the deadline.
fn sampled(game: &Arc<Game>, seed: u64, deadline: Option<Instant>) -> Vec<State> {
    let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
    let (mut position, mut rng, mut joint) = (game.start(), Rng::seed_from_u64(seed), Vec::new());
    let mut states = Vec::new();
    while !position.is_terminal() && states.len() < MAX_STEPS && !is_late() {
        states.push(position.state().clone());
        position.draw(&mut rng, &mut joint);
        position.advance(&joint);
    }
    let step = states.len().div_ceil(N_STATES).max(1);
    states.into_iter().step_by(step).collect()
}

impl CompiledTerms {
    /// Moves to the state of a position of a playing circuit. Returns the location of that state.
    fn go_to(&mut self, position: &ScalarCircuit, game: &Game) -> LocationId {
        let circuit = position.circuit();
        if !self.bits.as_ref().is_some_and(|bits| Arc::ptr_eq(&bits.circuit, circuit)) {
            let meaning = |text: &String| match read_fact(game, game.start_structure(), text) {
                Some(Fact::Location(location)) => Meaning::Location(location),
                Some(Fact::Tuple(relation, tuple)) => self
                    .state
                    .circuit()
                    .fact(relation, &tuple)
                    .map_or(Meaning::Ignored, Meaning::Fact),
                None => Meaning::Ignored,
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
                    Meaning::Ignored => {}
                }
            }
        }
        self.state.go_to(&self.facts);
        location
    }
}

/// Maps all numbers to those between -1 and 1, preserving their order.
fn squashed(value: f64) -> f64 {
    value / (1.0 + value.abs())
}

/// A fact read from the text of a state.
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
    // The texts of the game itself have no facts of another arity.
    let elements =
        elements.filter(|elements| elements.len() == arena.vocabulary().arity(relation))?;
    Some(Fact::Tuple(relation, elements))
}

/// Returns the structure and location described by the text of a state. The universe of the game
/// must not change. Static relations are as at the start.
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
