//! Heuristics of Monte Carlo tree search that come from an analysis of the rules.

mod goal_terms;
mod regression;

use agon_analysis::Analysis;
use agon_analysis::goal_formulas::RewritingAnalysis;
use agon_game::{Notation, Role};
use agon_search::{ActionHeuristic, ActionValues, Budget};

use crate::GoalTermOptions;
use goal_terms::GoalTermHeuristic;
pub use regression::{RegressedGoalOptions, action_heuristic};

/// The source of a heuristic that evaluates moves before they are tried.
pub(crate) enum MoveHeuristic {
    /// The regressed goals of a game in GDL (Trutman 2015), for the tree and for playouts.
    RegressedGoals(Analysis, RegressedGoalOptions, RegressedGoalOptions),
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
            MoveHeuristic::RegressedGoals(analysis, tree, playouts) if tree == playouts => {
                action_heuristic(analysis, *tree, position, budget)
            }
            MoveHeuristic::RegressedGoals(analysis, tree, playouts) => {
                Some(Box::new(SplitHeuristic {
                    tree: action_heuristic(analysis, *tree, position, budget)?,
                    playouts: action_heuristic(analysis, *playouts, position, budget)?,
                }))
            }
            MoveHeuristic::GoalTerms(game, terms) => {
                let evaluator = terms.evaluator(game, position, budget)?;
                Some(Box::new(GoalTermHeuristic::new(evaluator)))
            }
        }
    }
}

/// Two heuristics: one for the tree, another for playouts.
struct SplitHeuristic<P> {
    tree: Box<dyn ActionHeuristic<P>>,
    playouts: Box<dyn ActionHeuristic<P>>,
}

impl<P: Notation + 'static> ActionHeuristic<P> for SplitHeuristic<P> {
    fn values(
        &mut self,
        position: &P,
        role: Role,
        moves: &[P::Move],
        values: &mut Vec<f64>,
    ) -> bool {
        self.tree.values(position, role, moves, values)
    }

    fn values_of_many(
        &mut self,
        positions: &[P],
        which: &[usize],
        role: Role,
        rated: &mut ActionValues,
    ) {
        self.tree.values_of_many(positions, which, role, rated);
    }

    fn playout_values(
        &mut self,
        position: &P,
        role: Role,
        moves: &[P::Move],
        values: &mut Vec<f64>,
    ) -> bool {
        self.playouts.values(position, role, moves, values)
    }

    fn playout_values_of_many(
        &mut self,
        positions: &[P],
        which: &[usize],
        role: Role,
        rated: &mut ActionValues,
    ) {
        self.playouts.values_of_many(positions, which, role, rated);
    }

    fn batch_size(&self) -> usize {
        self.tree.batch_size().max(self.playouts.batch_size())
    }

    fn commit(&mut self, position: &P) {
        self.tree.commit(position);
        self.playouts.commit(position);
    }

    fn fork(&self) -> Box<dyn ActionHeuristic<P>> {
        Box::new(SplitHeuristic { tree: self.tree.fork(), playouts: self.playouts.fork() })
    }
}
