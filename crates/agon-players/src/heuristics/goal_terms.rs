//! Terms made of the goals of a structure rewriting game as a heuristic.

use agon_analysis::goal_formulas::GoalEvaluator;
use agon_analysis::regression::normalise;
use agon_game::{Notation, Role};
use agon_search::ActionHeuristic;

/// A heuristic that gives a move the value of the position after it.
pub(super) struct GoalTermHeuristic {
    evaluator: GoalEvaluator,
}

impl GoalTermHeuristic {
    pub(super) fn new(evaluator: GoalEvaluator) -> GoalTermHeuristic {
        GoalTermHeuristic { evaluator }
    }
}

impl<P: Notation + 'static> ActionHeuristic<P> for GoalTermHeuristic {
    /// Returns no values if another role has a choice at the same time, because then the position
    /// after a move is not known.
    fn values(
        &mut self,
        position: &P,
        role: Role,
        moves: &[P::Move],
        values: &mut Vec<f64>,
    ) -> bool {
        let mut others = position.shape().roles().filter(|other| *other != role);
        if others.any(|other| position.legal_moves(other).len() != 1) {
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
                self.evaluator.estimate_at(&after, role)
            });
        }
        normalise(values);
        values.iter().any(|&value| value > 0.0)
    }

    fn worth(&mut self, position: &P, role: Role) -> Option<f64> {
        Some(self.evaluator.estimate_at(position, role))
    }

    fn fork(&self) -> Box<dyn ActionHeuristic<P>> {
        Box::new(GoalTermHeuristic::new(self.evaluator.clone()))
    }
}
