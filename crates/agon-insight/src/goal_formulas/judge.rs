//! Evaluation functions at work: what a structure is worth to a player.

use std::any::Any;
use std::sync::Arc;

use agon_game::{Notation, Position as _, Role};
use agon_logic::evaluate::{Assignment, Evaluator, Limits, Refusal, TermQuery};
use agon_logic::formula::Term;
use agon_logic::rational::Rational;
use agon_logic::structure::Structure;
use agon_toss::arena::LocationId;
use agon_toss::interpreter::{Game, Interpreter};

use super::GoalTerms;

/// The evaluation functions of a game, ready to be asked.
#[derive(Clone)]
pub struct GoalJudge {
    game: Arc<Game>,
    evaluator: Evaluator,
    /// By location and player.
    queries: Vec<Vec<TermQuery>>,
    lowest: f64,
    highest: f64,
}

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
            evaluator,
            queries,
            lowest: *bounds.start(),
            highest: *bounds.end(),
        })
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
        if let Some(own) = (position as &dyn Any).downcast_ref::<Interpreter>() {
            let state = own.state();
            return self.estimate(state.structure(), state.location(), role.index());
        }
        let (structure, location) = read_state(&self.game, &position.state_text());
        self.estimate(&structure, location, role.index())
    }

    /// The same within the bounds of the payoffs, as a search wants it: larger values are larger, and no position is as good as a win or
    /// as bad as a loss. The middle where there is no value.
    pub fn estimate(&mut self, structure: &Structure, location: LocationId, player: usize) -> f64 {
        let (middle, half) = ((self.lowest + self.highest) / 2.0, (self.highest - self.lowest) / 2.0);
        let value = self.value(structure, location, player).ok().flatten().map_or(middle, Rational::to_f64);
        middle + half * squashed((value - middle) / half.max(f64::MIN_POSITIVE))
    }
}

/// From all numbers to those between -1 and 1, in the same order.
fn squashed(value: f64) -> f64 {
    value / (1.0 + value.abs())
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
        let mut words = fact.trim_matches(['(', ')']).split_whitespace();
        let Some(name) = words.next() else { continue };
        if name == "location" && arena.vocabulary().relation(name).is_none() {
            let named = words.next().and_then(|named| arena.location_named(named));
            location = named.unwrap_or(location);
            continue;
        }
        let Some(relation) = arena.vocabulary().relation(name) else { continue };
        let elements: Option<Vec<_>> = words.map(|word| structure.element(word)).collect();
        if let Some(elements) = elements {
            // A fact of another arity is none of this game's; there are no such in its own texts.
            let _ = structure.add(relation, &elements);
        }
    }
    (structure, location)
}
