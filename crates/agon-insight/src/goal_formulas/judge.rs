//! Evaluation functions at work: what a structure is worth to a player.

use std::sync::Arc;

use agon_logic::evaluate::{Assignment, Evaluator, Limits, Refusal, TermQuery};
use agon_logic::formula::Term;
use agon_logic::rational::Rational;
use agon_logic::structure::Structure;
use agon_toss::arena::LocationId;
use agon_toss::interpreter::Game;

use super::GoalTerms;

/// The evaluation functions of a game, ready to be asked.
#[derive(Clone)]
pub struct GoalJudge {
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
        Ok(GoalJudge { evaluator, queries, lowest: *bounds.start(), highest: *bounds.end() })
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

    /// The same within the bounds of the payoffs, as a search wants it: larger values are larger, and no position is as good as a win or
    /// as bad as a loss. The middle where there is no value.
    pub fn estimate(&mut self, structure: &Structure, location: LocationId, player: usize) -> f64 {
        let value = self.value(structure, location, player).ok().flatten().map_or(0.0, Rational::to_f64);
        let (middle, half) = ((self.lowest + self.highest) / 2.0, (self.highest - self.lowest) / 2.0);
        middle + half * squashed(value)
    }
}

/// From all numbers to those between -1 and 1, in the same order.
fn squashed(value: f64) -> f64 {
    value / (1.0 + value.abs())
}
