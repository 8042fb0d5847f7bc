//! GDL and GDL-II, the game description languages of general game playing (Love et al. 2008;
//! Thielscher 2010): reads and checks rules, explains what is wrong with them, and plays the games
//! with an interpreter or a compiled circuit.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agon_game::{Notation as _, Position as _, Role};
//! use agon_gdl::check::check;
//! use agon_gdl::interpreter::{Game, Options};
//! use agon_text::Source;
//!
//! let rules = "
//!     (role robot) (init (light off))
//!     (legal robot switch)
//!     (<= (next (light on)) (does robot switch))
//!     (<= terminal (true (light on)))
//!     (<= (goal robot 100) (true (light on)))
//!     (<= (goal robot 0) (true (light off)))";
//! let checked = check(Arc::new(Source::new("light.kif", rules)));
//! let rules = checked.rules.expect("the rules have no errors");
//! let game = Game::open(rules, Options::default()).expect("the game can be opened");
//!
//! let robot = Role::new(0);
//! let mut position = game.start();
//! let switch = position.parse_move(robot, "switch").expect("the move is legal");
//! position.advance(&[switch]);
//! assert!(position.is_terminal());
//! assert_eq!(position.payoff(robot), 100.0);
//! ```
//!
//! # The flow
//!
//! ```text
//! text ─ read ─> Rulesheet ─ check ─> CheckedRules ─ Game::open ─> Game ─┬─ start ───> Interpreter
//!                    │                                              │    └─ compile ─> circuit
//!                  print                                      by_play, why
//! ```
//!
//! Every stage is a function from one type to the next. [`CheckedRules`](check::CheckedRules) can
//! only be created by [`check`], so later stages rely on its invariants. Spans survive to the
//! ground rules, so that a fault found in play still points to a line.
//!
//! # Modules, in reading order
//!
//! - [`syntax`]: a rulesheet as it was written; [`symbols`]: its names and the keywords.
//! - [`read`]: text to rulesheet, in KIF or infix; [`print`](mod@print): the way back;
//!   [`same_rules`]: whether two rulesheets are equal; [`mod@format`]: layout of a text.
//! - [`rules`]: rules in normal form; [`normalise`]: clauses to normal form.
//! - [`check`]: diagnostics, and rules that can be played; [`codes`]: explanations of the codes.
//! - [`canonical`](mod@canonical): keys of rules that do not depend on names and order.
//! - [`interpreter`]: plays by evaluating the rules. It is the oracle for all faster engines.
//! - [`circuit`]: grounds the rules and compiles them to a circuit, played by `agon-circuit`.
//! - [`by_play`]: diagnostics that need random play; [`mod@profile`]: what each rule costs there.
//! - [`why`]: explains why a sentence holds at a position, or why not.
#![forbid(unsafe_code)]

pub mod by_play;
pub mod canonical;
pub mod check;
pub mod circuit;
pub mod codes;
pub mod format;
pub mod interpreter;
pub mod normalise;
pub mod params;
pub mod print;
pub mod profile;
pub mod read;
pub mod rules;
pub mod same_rules;
pub mod symbols;
pub mod syntax;
pub mod why;
