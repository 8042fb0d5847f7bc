//! Evaluations of positions that are learnt by self-play, from the rules alone.
//!
//! A [`Learner`] finds out what a game consists of: which facts are the contents of a place, where
//! places are on a board, which symmetries there are, and which fact says who is to move. Of that it
//! makes patterns with tables of weights (an n-tuple network) and learns the weights by temporal
//! differences, from thousands of games per second. The result is a [`LearntEvaluator`] for
//! [`agon_search::Minimax`].
//!
//! ```
//! use std::sync::Arc;
//!
//! use agon_gdl::check::check;
//! use agon_gdl::circuit::CircuitLimits;
//! use agon_gdl::interpreter::{Game, Options};
//! use agon_game::Budget;
//! use agon_learn::{Learner, TrainOptions};
//! use agon_text::Source;
//!
//! let text = std::fs::read_to_string("../../games/gdl/tic-tac-toe.kif")?;
//! let checked = check(Arc::new(Source::new("tic-tac-toe", text)));
//! let rules = checked.rules.expect("the shipped rules have no errors");
//! let game = Game::open(rules, Options::default()).expect("the shipped rules can be played");
//! let start = game.compile(&CircuitLimits::default()).expect("the game is small").start();
//!
//! let mut learner = Learner::new(&start, TrainOptions::default(), None)?;
//! assert_eq!(learner.facts().n_cells, 9);
//! assert_eq!(learner.facts().n_symmetries, 7);
//! learner.learn(&Budget::iterations(1000));
//! assert!(learner.n_games() >= 1000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules in reading order
//! - `facts`: the texts of facts as names with arguments.
//! - `sample`: states of random play, by which guesses are tested.
//! - `units`: groups of facts of which one holds at a time, and their places.
//! - `symmetry`: symmetries of boards and players.
//! - `patterns`: sets of units with tables of weights.
//! - `network`: the weights that a state selects, computed from what changed.
//! - `neural`: a network over the facts of a state; `quantised`: the same in integers.
//! - `form`: evaluations of either form.
//! - `train`: temporal difference learning.
//! - `search_targets`: learning from the values of searches.
//! - `weights`: weights that several threads learn.
//! - `model`: [`Learner`] and [`LearntEvaluator`].
//! - [`combination`]: weights of heuristics that other crates derive from the rules.
//! - [`concepts`]: formulas with counting over the cells of a board, found by beam search.
//! - [`evaluation_games`]: structure rewriting games that are learnt to assess moves.
//! - `labels`: facts in an order that does not depend on names; `stored`: [`Model`], what is kept
//!   of a learner; `file`: its bytes.
//! - `policy`: play by an evaluation, one step ahead.
//! - `lessons`: what an evaluation says, in words with measured truth.
//! - `layers`: networks as matrices, for programs that learn elsewhere.
//! - `onnx`: networks as ONNX files; `protobuf`: their bytes.
//! - `transfer`: weights from a board of one size to a board of another.
#![forbid(unsafe_code)]

pub mod combination;
pub mod concepts;
pub mod evaluation_games;
mod facts;
mod file;
mod form;
mod labels;
mod layers;
mod lessons;
mod model;
mod network;
mod neural;
mod onnx;
mod patterns;
mod policy;
mod protobuf;
mod quantised;
mod sample;
mod search_targets;
mod stored;
mod symmetry;
#[cfg(test)]
mod tests;
mod train;
mod transfer;
mod units;
mod weights;

pub use file::ModelError;
pub use form::ModelKind;
pub use labels::Labels;
pub use layers::{Exchange, Layers, LayersError};
pub use lessons::{Lesson, LessonOptions, Lessons, lessons};
pub use model::{CannotLearn, Learner, LearnerFacts, LearntEvaluator, LearntLeaves, NotSaved};
pub use onnx::OnnxError;
pub use policy::OneStep;
pub use search_targets::Targets;
pub use stored::{EloEstimate, GameModel, Model, ModelHistory, Progress};
pub use train::TrainOptions;
pub use transfer::{CannotTransfer, Transferred};
