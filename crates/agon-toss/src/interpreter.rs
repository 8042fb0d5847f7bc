//! The reference engine, which plays a game by the definition.
//!
//! [`Game::open`] prepares a checked game. It computes the defined relations that depend only on
//! stable relations, and registers every formula and term of the game with an `agon_structures`
//! `Evaluator`.
//!
//! Legal moves are the embeddings of rules: the solutions of a rule's condition for which the
//! post-condition holds after the rule is applied. Usually they are computed from scratch at each
//! state. If rules change the universe and there are many elements, they are updated from state to
//! state instead (see [`EmbeddingSearch`]). Games that keep their universe are played fast by
//! circuits, so their interpreter stays simple. The growth of the universe is limited by
//! [`GrowthLimits`](crate::rewrite::GrowthLimits).
//!
//! The interpreter is the oracle for faster engines. It is tested itself against a direct
//! implementation of the definition on random rules and structures (`tests/suite/rewriting.rs`),
//! and against the GDL versions of games that ship in both languages.

mod chance;
mod drawing;
mod embedding;
mod families;
mod game;
mod legality;
mod line;
mod margins;
mod moves;
mod notation;
mod passage;
mod play;
mod position;
mod state;
mod step;
mod successors;
#[cfg(test)]
mod tests;

pub use embedding::Embedding;
pub use game::{EmbeddingSearch, Game, Options};
pub use moves::{Branch, EdgeId, Move, Numbers};
pub use position::{Interpreter, PositionError};
pub use state::{State, Values};

/// Maximum number of elements of a structure in play.
pub const MAX_ELEMENTS: usize = 5_000;
