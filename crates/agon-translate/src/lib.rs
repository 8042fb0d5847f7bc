//! Translations between the two rule languages, and exports to the formats of other tools.
//!
//! A GDL game becomes a structure rewriting game with [`to_toss::to_toss`], and a structure
//! rewriting game becomes a GDL game with [`to_gdl::to_gdl`]. A translation has the same moves,
//! ends and payoffs as its original. This is checked by playing both games in lockstep with the
//! same random moves ([`agon_game::lockstep`]). A construct that the other language cannot express
//! is rejected with a typed error.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agon_gdl::interpreter::{Game, Options};
//! use agon_text::Source;
//! use agon_translate::to_toss::{ToTossOptions, to_toss};
//!
//! let rules = "(role robot) (init (at 1)) (succ 1 2) (succ 2 3)
//!     (<= (legal robot step) (true (at ?x)) (succ ?x ?y))
//!     (<= (next (at ?y)) (does robot step) (true (at ?x)) (succ ?x ?y))
//!     (<= terminal (true (at 3))) (<= (goal robot 100) (true (at 3)))";
//! let checked = agon_gdl::check::check(Arc::new(Source::new("walk.kif", rules)));
//! let game = Game::open(checked.rules.unwrap(), Options::default()).unwrap();
//! let translation = to_toss(&game, &ToTossOptions::default()).unwrap();
//! assert!(translation.text.starts_with("PLAYERS robot\n"));
//! ```
//!
//! # Modules, in reading order
//!
//! - [`to_toss`]: GDL to structure rewriting.
//! - [`to_gdl`]: structure rewriting to GDL.
//! - [`round_trip`]: structure rewriting to GDL and back, as a test of both.
//! - [`formats`]: logic programs for answer set solvers, and graphs for Graphviz.
#![forbid(unsafe_code)]

pub mod formats;
pub mod round_trip;
pub mod to_gdl;
pub mod to_toss;
