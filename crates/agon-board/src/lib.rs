//! Boards: finds a board in the states of any game and draws states on it.
//!
//! A game says nothing about how to draw it. This crate looks at sampled states, finds a relation
//! whose arguments look like coordinates, and draws states as grids of short labels.
//!
//! # Example
//! ```
//! use agon_board::Board;
//!
//! let state = |fluents: &[&str]| fluents.iter().map(|f| f.to_string()).collect::<Vec<String>>();
//! let samples = [
//!     state(&["(cell 1 1 b)", "(cell 1 2 b)", "(cell 2 1 b)", "(cell 2 2 b)"]),
//!     state(&["(cell 1 1 x)", "(cell 1 2 o)", "(cell 2 1 b)", "(cell 2 2 b)"]),
//! ];
//! let board = Board::infer(&samples, &[]).expect("`cell` has two coordinates");
//! assert_eq!(board.picture(&samples[1]).to_string(), "2 o .\n1 x .\n  1 2");
//! ```
//!
//! # Modules in reading order
//! - `board`: [`Board`], how states are drawn.
//! - `picture`: [`Picture`], a state as a grid of texts.
//! - `infer`: finds the board in states; [`sample`] plays at random to get states.
//! - `axis`: the coordinates along one side of a board.
//! - `fluent`: fluents with atomic arguments.
#![forbid(unsafe_code)]

mod axis;
mod board;
mod fluent;
mod infer;
mod picture;

pub use board::Board;
pub use infer::sample;
pub use picture::Picture;

#[cfg(test)]
mod tests;
