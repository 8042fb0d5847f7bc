//! GDL and GDL-II: text to checked rules to interpreter.
#![forbid(unsafe_code)]

pub mod by_play;
pub mod check;
pub mod circuit;
pub mod codes;
pub mod engine;
pub mod interpreter;
pub mod normalise;
pub mod print;
pub mod read;
pub mod rules;
pub mod same_rules;
pub mod symbols;
pub mod syntax;
pub mod why;
