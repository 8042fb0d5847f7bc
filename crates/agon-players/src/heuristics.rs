//! Heuristics of Monte Carlo tree search that come from an analysis of the rules.

mod goal_terms;
mod regression;

use agon_analysis::Analysis;
use agon_analysis::goal_formulas::RewritingAnalysis;
use agon_analysis::regression::HeuristicRequest;
use agon_game::Notation;
use agon_search::{ActionHeuristic, Budget};

use crate::GoalTermOptions;
use goal_terms::GoalTermHeuristic;
pub use regression::action_heuristic;

/// The source of a heuristic that evaluates moves before they are tried.
pub(crate) enum MoveHeuristic {
    /// The regressed goals of a game in GDL (Trutman 2015).
    RegressedGoals(Analysis, HeuristicRequest),
    /// Terms made of the goals of a structure rewriting game (Kaiser & Stafiniak 2011).
    GoalTerms(RewritingAnalysis, GoalTermOptions),
}

impl MoveHeuristic {
    /// Makes the heuristic, if the analysis of the game succeeds.
    pub(crate) fn make<P: Notation + 'static>(
        &self,
        position: &P,
        budget: &Budget,
    ) -> Option<Box<dyn ActionHeuristic<P>>> {
        match self {
            MoveHeuristic::RegressedGoals(analysis, request) => {
                action_heuristic(analysis, *request, position, budget)
            }
            MoveHeuristic::GoalTerms(game, terms) => {
                let evaluator = terms.evaluator(game, position, budget)?;
                Some(Box::new(GoalTermHeuristic::new(evaluator)))
            }
        }
    }
}
