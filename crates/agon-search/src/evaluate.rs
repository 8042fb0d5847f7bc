//! Judging a position without searching it.

use agon_game::{Position, Role};

/// Says what a position is worth to each player: where searches stop before the end of play.
pub trait Evaluate<P: Position>: Send {
    /// An estimate of the payoff of a role, within the bounds of the shape's payoffs.
    fn value(&mut self, position: &P, role: Role) -> f64;
}

impl<P: Position> Evaluate<P> for Box<dyn Evaluate<P>> {
    fn value(&mut self, position: &P, role: Role) -> f64 {
        self.as_mut().value(position, role)
    }
}

/// The payoffs as the rules tell them at the position, ended or not. Many rulesheets give goals before the end that say
/// something; the others give the same everywhere, which says nothing.
#[derive(Copy, Clone, Debug, Default)]
pub struct GoalValues;

impl<P: Position> Evaluate<P> for GoalValues {
    fn value(&mut self, position: &P, role: Role) -> f64 {
        position.payoff(role)
    }
}
