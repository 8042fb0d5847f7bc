//! Chooses moves in anything that is a [`agon_game::Position`]. Knows no rule language, reads no clock but through a
//! [`Budget`].
//!
//! A [`Search`] is asked again and again while a game goes on and may keep what it has learnt; its answer is a [`Report`].
#![forbid(unsafe_code)]

mod alphabeta;
mod best_first;
mod budget;
mod choices;
mod evaluate;
mod hash;
pub mod hidden;
mod mcts;
mod playouts;
mod puzzle;
mod report;
#[cfg(test)]
mod sample;
pub mod solve;

pub use alphabeta::{AlphaBeta, AlphaBetaOptions, ViewChoice};
pub use best_first::{BestFirst, BestFirstOptions};
pub use budget::{Budget, Hint, Meter};
pub use evaluate::{Evaluate, GoalValues};
pub use mcts::{
    ActionHeuristic, Amaf, Bandit, Choice, FirstPlay, HeuristicUse, Judgements, Leaves, Mcts,
    MctsOptions, Others, PlayoutPolicy, Simultaneous,
};
pub use playouts::Playouts;
pub use puzzle::{Puzzle, PuzzleOptions};
pub use report::{Candidate, Line, Report};

use agon_game::{Position, Role};

/// A way to choose a move for a role.
pub trait Search<P: Position>: Send {
    /// Thinks about the position for one of its roles until the budget is used up or all is proved. The position may be
    /// moved about meanwhile and stands where it stood when the call returns. It is not terminal.
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move>;
}
