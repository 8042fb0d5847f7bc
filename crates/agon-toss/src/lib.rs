//! Structure rewriting games (the Toss formalism): states are finite structures, moves are rewriting rules guarded by formulas.
//!
//! Text is [read](read::read) into a [`syntax::GameSheet`] that knows its places, [checked](check::check) into a
//! [`arena::CheckedArena`] that can be played, and played by an [`interpreter::Interpreter`]. `docs/toss.md` describes the
//! language.
#![forbid(unsafe_code)]

pub mod arena;
pub mod by_play;
pub mod check;
pub mod circuit;
pub mod codes;
pub mod engine;
pub mod interpreter;
pub mod print;
pub mod read;
pub mod rewrite;
pub mod syntax;
pub mod why;
