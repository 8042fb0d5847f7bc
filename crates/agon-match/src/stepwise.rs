//! Moves judged by how far they lead towards the goals of a structure rewriting game, as a tree search wants them.

use std::sync::Arc;

use agon_analysis::goal_formulas::{GoalJudge, GoalOptions, Method, RewritingGame, goal_judge};
use agon_analysis::regression::normalise;
use agon_game::{Notation, Role};
use agon_search::ActionHeuristic;

/// A move is worth what the terms made of the goals say of the position it leads to.
pub(crate) struct Stepwise(GoalJudge);

impl Stepwise {
    /// Of a game. None if it is refused: the search then does without.
    pub(crate) fn new(
        game: &Arc<RewritingGame>,
        method: Method,
        options: &GoalOptions,
    ) -> Option<Stepwise> {
        goal_judge(game, method, options).ok().map(Stepwise)
    }
}

impl<P: Notation + 'static> ActionHeuristic<P> for Stepwise {
    /// Nothing is said where somebody else has a choice at the same time: where a move leads is not known then.
    fn values(
        &mut self,
        position: &P,
        role: Role,
        moves: &[P::Move],
        values: &mut Vec<f64>,
    ) -> bool {
        let others = position.shape().roles().filter(|other| *other != role);
        if others.into_iter().any(|other| position.legal_moves(other).len() != 1) {
            return false;
        }
        values.clear();
        let mut joint: Vec<P::Move> =
            position.shape().roles().map(|other| position.legal_moves(other)[0].clone()).collect();
        let mut after = position.clone();
        for m in moves {
            joint[role.index()] = m.clone();
            after.go_to(position.state());
            after.advance(&joint);
            values.push(if after.is_terminal() {
                after.payoff(role)
            } else {
                self.0.estimate_at(&after, role)
            });
        }
        normalise(values);
        values.iter().any(|&value| value > 0.0)
    }

    fn worth(&mut self, position: &P, role: Role) -> Option<f64> {
        Some(self.0.estimate_at(position, role))
    }

    fn fork(&self) -> Box<dyn ActionHeuristic<P>> {
        Box::new(Stepwise(self.0.clone()))
    }
}
