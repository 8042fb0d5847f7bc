//! Knowledge that can be derived from the rules of a game: properties, evaluation functions, move
//! heuristics, concepts, and explanations of all of these.
//!
//! An [`Analysis`] belongs to one game. It computes each result once, on request and within a time
//! limit, and shares it with all players and commands that use the same game.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use agon_analysis::Analysis;
//! use agon_gdl::check::check;
//! use agon_gdl::circuit::CircuitLimits;
//! use agon_gdl::interpreter::{Game, Options};
//! use agon_text::Source;
//!
//! let text = std::fs::read_to_string("../../games/gdl/tic-tac-toe.kif")?;
//! let checked = check(Arc::new(Source::new("tic-tac-toe", text)));
//! let rules = checked.rules.expect("the shipped rules have no errors");
//! let game = Game::open(rules, Options::default()).expect("the shipped rules can be played");
//! let compiled = game.compile(&CircuitLimits::default()).expect("the game is small");
//!
//! let analysis = Analysis::new(game, Some(Arc::new(compiled)));
//! let properties = analysis.properties(Duration::from_secs(10));
//! let (sum, known) = properties.payoffs.constant_sum.expect("tic-tac-toe has a constant sum");
//! assert_eq!(sum, 100);
//! assert!(known.is_proved());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Modules, in reading order
//!
//! - [`Analysis`]: one game and the results computed for it so far.
//! - [`properties`]: facts about a game, each proved or observed in random plays.
//! - [`prove`]: proofs by induction over the steps of the circuit, with a SAT solver.
//! - [`safety`]: whether a bad state can be reached: states one by one, SAT solver, k-induction.
//! - [`equivalence`]: whether two circuits play the same game.
//! - [`temporal`]: formulas such as `(always …)` over the rules of a game, proved or refuted.
//! - `theory` (private): the rules prepared for reasoning; unification and static tables.
//! - [`fuzzy`]: evaluation of positions by fuzzy logic over the goal conditions (Michulke 2011).
//! - [`regression`]: move heuristics by regressing the goals through a step.
//! - [`goal_formulas`]: evaluation terms for structure rewriting games (Kaiser & Stafiniak 2011).
//! - [`concepts`]: heuristics learned from random plays (Sato & Cazenave 2016).
//! - [`sub_games`]: what the goals read of the independent sub-games of a puzzle.
//! - [`explain`]: all results as text and as JSON.
#![forbid(unsafe_code)]

mod analysis;
pub mod concepts;
pub mod equivalence;
pub mod explain;
pub mod fuzzy;
pub mod goal_formulas;
pub mod properties;
pub mod prove;
pub mod regression;
pub mod safety;
pub mod sub_games;
pub mod temporal;
mod theory;

pub use analysis::{Analysis, ConceptSource, DEFAULT_TIME};

#[cfg(test)]
mod tests;
