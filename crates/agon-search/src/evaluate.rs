//! Evaluation of positions without search.

use agon_game::{Position, Role};

/// An evaluator: estimates what a position is worth to each player, where a search stops before the
/// end of play.
pub trait Evaluate<P: Position>: Send {
    /// Returns an estimate of the payoff of a role, within the bounds of the shape's payoffs.
    fn value(&mut self, position: &P, role: Role) -> f64;
}

impl<P: Position> Evaluate<P> for Box<dyn Evaluate<P>> {
    fn value(&mut self, position: &P, role: Role) -> f64 {
        self.as_mut().value(position, role)
    }
}

/// The evaluator that returns the payoffs of the rules at any position, terminal or not. In many
/// rulesheets the goals before the end are informative; in others they are the same everywhere.
#[derive(Copy, Clone, Debug, Default)]
pub struct GoalValues;

impl<P: Position> Evaluate<P> for GoalValues {
    fn value(&mut self, position: &P, role: Role) -> f64 {
        position.payoff(role)
    }
}
