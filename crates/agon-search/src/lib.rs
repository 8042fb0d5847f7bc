//! Searches that choose moves in any game that is an [`agon_game::Position`].
//!
//! A [`Search`] is called for each move of a match and may keep its results from move to move. The
//! result is a [`Report`]. This crate does not know any rule language, and reads the clock only
//! through a [`Budget`].
//!
//! # Example
//! Alpha-beta in a game of Nim: players in turn take one or two, and the last one wins.
//!
//! ```
//! use agon_game::{Position, Role, Shape};
//! use agon_search::{AlphaBeta, AlphaBetaOptions, Budget, Search as _};
//!
//! #[derive(Clone)]
//! struct Nim {
//!     shape: Shape,
//!     /// The number of stones left and the role to move.
//!     state: (u8, usize),
//! }
//!
//! impl Position for Nim {
//!     type Move = u8;
//!     type State = (u8, usize);
//!     // …
//! #    fn shape(&self) -> &Shape {
//! #        &self.shape
//! #    }
//! #    fn is_terminal(&self) -> bool {
//! #        self.state.0 == 0
//! #    }
//! #    fn legal_moves(&self, role: Role) -> &[u8] {
//! #        match (self.state.0, role.index() == self.state.1) {
//! #            (0, _) => &[],
//! #            (_, false) => &[0],
//! #            (1, true) => &[1],
//! #            (_, true) => &[1, 2],
//! #        }
//! #    }
//! #    fn payoff(&self, player: Role) -> f64 {
//! #        if player.index() == self.state.1 { 0.0 } else { 100.0 }
//! #    }
//! #    fn advance(&mut self, joint: &[u8]) {
//! #        let (left, mover) = self.state;
//! #        self.state = (left - joint[mover], 1 - mover);
//! #    }
//! #    fn state(&self) -> &(u8, usize) {
//! #        &self.state
//! #    }
//! #    fn go_to(&mut self, state: &(u8, usize)) {
//! #        self.state = *state;
//! #    }
//! #    fn key(&self) -> u64 {
//! #        u64::from(self.state.0) * 2 + self.state.1 as u64
//! #    }
//! }
//!
//! let shape = Shape {
//!     turn_taking: true,
//!     constant_sum: Some(100.0),
//!     ..Shape::new(vec!["first".to_owned(), "second".to_owned()], None)
//! };
//! let mut position = Nim { shape, state: (5, 0) };
//! let mut search = AlphaBeta::new(AlphaBetaOptions::default());
//! let report = search.think(&mut position, Role::new(0), &Budget::nodes(10_000));
//! // Three stones are lost for the player to move.
//! assert_eq!((report.best, report.value, report.is_proven), (2, 100.0, true));
//! ```
//!
//! # Modules in reading order
//! - `report`: [`Report`], the result of a search.
//! - `evaluate`, `playouts`: [`Evaluate`], estimates of positions without search.
//! - `mcts`: [`Mcts`], Monte Carlo tree search with any number of threads.
//! - `alphabeta`: [`AlphaBeta`], depth-first minimax and max^n.
//! - `minimax`: [`Minimax`], fast principal variation search for two players.
//! - `best_first`: [`BestFirst`], unbounded best-first minimax.
//! - `puzzle`: [`Puzzle`], for games with one player.
//! - [`hidden`]: search in games with hidden information.
//! - [`continuous`]: games with real parameters and concurrent moves.
//! - [`solve`]: exact solutions of small games.
//! - `scale`: the scale of payoffs that the rules do not bound.
//! - `choices`, `hash`: helpers of all searches.
#![forbid(unsafe_code)]

mod alphabeta;
mod best_first;
mod choices;
pub mod continuous;
mod evaluate;
mod hash;
pub mod hidden;
mod mcts;
mod minimax;
mod playouts;
mod puzzle;
mod report;
#[cfg(test)]
mod sample;
mod scale;
pub mod solve;

pub use agon_game::{Budget, Hint, Meter};
pub use alphabeta::{AlphaBeta, AlphaBetaOptions, OpponentModel, TieBreak};
pub use best_first::{BestFirst, BestFirstOptions};
pub use evaluate::{Evaluate, GoalValues};
pub use mcts::{
    ActionHeuristic, ActionValues, Amaf, Bandit, Choice, EvaluateLeaves, FinalMove, FirstPlay,
    HeuristicUse, Leaves, Mcts, MctsOptions, Others, PlayoutPolicy, PlayoutPreference,
    Simultaneous,
};
pub use minimax::{EvaluateChildren, Minimax, MinimaxOptions, NoEvaluation};
pub use playouts::Playouts;
pub use puzzle::{Puzzle, PuzzleOptions, SubGames};
pub use report::{Candidate, Line, Report};

use agon_game::{Position, Role};

/// A search that chooses moves for a role.
pub trait Search<P: Position>: Send {
    /// Searches for the best move of a role until the budget is used up or the result is proved.
    ///
    /// The position must not be terminal. The search may move it, but returns it to its state.
    fn think(&mut self, position: &mut P, us: Role, budget: &Budget) -> Report<P::Move>;

    /// Thinks while other players choose, so that a later call of [`think`](Search::think) starts
    /// from more knowledge. It returns when the budget is used up, when nothing is left to find
    /// out, or soon after the budget is cancelled ([`Budget::cancel`]).
    ///
    /// The position must not be terminal. The role may have one move or several there. The search
    /// may move the position, but returns it to its state. By default the search thinks about the
    /// position and drops the report. That is right for searches that keep a tree or a table.
    fn ponder(&mut self, position: &mut P, us: Role, budget: &Budget) {
        self.think(position, us, budget);
    }

    /// Returns how the search works and why, if it chose between several ways.
    fn method(&self) -> Option<String> {
        None
    }
}
