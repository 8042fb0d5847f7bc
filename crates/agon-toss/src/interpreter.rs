//! The game played by its definition: matches are the solutions of match formulas, moves are rules applied.
//!
//! It is the judge of every faster engine, so it is plain. What does not change in play is worked out once.

mod game;
mod matched;
mod notation;
mod position;
#[cfg(test)]
mod tests;

pub use game::{Game, Matching, Options};
pub use matched::Matched;
pub use position::{EdgePlace, Interpreter, Move, State};

/// So many elements a structure may have in play.
pub const MAX_ELEMENTS: usize = 5_000;
