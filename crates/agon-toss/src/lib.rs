//! Structure rewriting games, the formalism of the Toss system (Kaiser & Stafiniak 2011). A state
//! is a finite structure and a location in a game graph. A move applies a rewriting rule, guarded
//! by formulas, to an embedding of the rule's left side.
//!
//! A game passes through four stages, each with its own type. Its text is parsed into a
//! [`syntax::GameSheet`] with places, checked into an [`arena::CheckedArena`], and opened as an
//! [`interpreter::Game`]. The game is played by the interpreter or, if its universe stays, compiled
//! into a Boolean circuit. `docs/toss.md` describes the language.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agon_game::{Notation as _, Position as _, Role};
//! use agon_text::Source;
//! use agon_toss::check::check;
//! use agon_toss::interpreter::{Game, Options};
//!
//! let text = r#"
//!     PLAYERS X, O
//!     RULE Cross: [a | - | -] -> [a | P(a) | -] emb P, Q
//!     RULE Circle: [a | - | -] -> [a | Q(a) | -] emb P, Q
//!     PAYOFF { X: 0; O: 0 }
//!     LOC 0 { PLAYER X MOVES [Cross -> 1] }
//!     LOC 1 { PLAYER O MOVES [Circle -> 0] }
//!     START [ | P:1 {}; Q:1 {} | ] ". . ."
//! "#;
//! let arena = check(Arc::new(Source::new("row.toss", text))).arena.expect("the game is correct");
//! let game = Game::open(arena, Options::default()).expect("the game is small");
//! let position = game.start();
//! let moves = position.legal_moves(Role::new(0)).iter().map(|m| position.move_text(m));
//! assert_eq!(moves.collect::<Vec<_>>(), ["(Cross a1)", "(Cross b1)", "(Cross c1)"]);
//! ```
//!
//! # Modules, in reading order
//!
//! 1. [`read`] parses text, [`syntax`] is the syntax tree, [`mod@print`] writes it in canonical
//!    form, and [`mod@format`] lays out a text without changing it.
//! 2. [`check`] builds the [`arena`], and [`codes`] explains the diagnostics.
//! 3. [`rewrite`] applies rules, and [`interpreter`] plays by the definition.
//! 4. [`continuous`] evaluates formulas with real numbers and lets time pass, and [`evaluation`]
//!    plays games that assess moves of other games.
//! 5. [`circuit`] compiles games whose universe does not change to Boolean circuits.
//! 6. [`by_play`] checks games by random play, [`mod@profile`] measures what each rule costs there,
//!    and [`why`] explains positions.
#![forbid(unsafe_code)]

pub mod arena;
pub mod by_play;
pub mod check;
pub mod circuit;
pub mod codes;
pub mod continuous;
pub mod evaluation;
pub mod format;
pub mod interpreter;
pub mod print;
pub mod profile;
pub mod read;
pub mod rewrite;
pub mod syntax;
pub mod why;
