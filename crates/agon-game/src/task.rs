//! Where an opened game turns into a type parameter.

use crate::{Hidden, Notation};

/// Work to be done on a game whatever its type: an opened game is an enum of engines, and calls `run` with the
/// engine it holds. Crossed once per decision; below it everything is monomorphic.
pub trait Task {
    /// What comes out.
    type Output;

    /// The work, on a game where everybody knows the position.
    fn run<P: Notation + 'static>(self, start: P) -> Self::Output;

    /// The work, on a game with hidden information. Unless overridden, the position is open to the task: right
    /// for referees and simulations, wrong for players.
    fn run_hidden<P: Hidden + 'static>(self, start: P) -> Self::Output
    where
        Self: Sized,
    {
        self.run(start)
    }
}
