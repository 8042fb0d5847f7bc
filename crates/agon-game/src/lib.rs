//! What it means for a game to be played: the traits between rules and search.
//!
//! A rule language gives a type that is a [`Position`]; a search is generic over it; everything that shows,
//! hosts or records games goes through the erased [`Table`]. This crate knows neither text nor search.
#![forbid(unsafe_code)]

mod batch;
mod ends;
pub mod laws;
mod position;
mod shape;
mod table;
mod task;

pub use batch::{Batch, Children, LegalMoves, OneByOne, Order, Tally, joint_moves};
pub use ends::Ends;
pub use position::{Fault, Hidden, Notation, Position};
pub use shape::{Role, Shape};
pub use table::{IllegalMove, Live, Table};
pub use task::Task;

/// The one random generator of Agon: small, fast, the same on every machine. Seeds are parameters everywhere.
pub type Rng = rand_xoshiro::Xoshiro256PlusPlus;

#[cfg(test)]
mod tests;
