//! The interpreter: plays by evaluating the rules as they stand. It is the oracle that the tests
//! compare every faster engine with, so it is kept simple.
//!
//! A [`Game`] is opened once from checked rules and shared by all its positions. An [`Interpreter`]
//! is one position. It asks the rules which fluents hold initially, whether the state is terminal,
//! what is legal, what holds next and what each role sees. [`agon_datalog`] answers:
//!
//! - **Terms** are stored once in a [`TermBank`](agon_datalog::TermBank) that all positions of a
//!   game share. So a term is a number, comparing terms is comparing numbers, and readers take no
//!   lock.
//! - **Evaluation is top-down with tabling.** A relation is asked with some arguments known and
//!   others wanted. For each such pattern that occurs there is one plan: the rules with their heads
//!   matched to the pattern, and their conditions in a fixed order: tests first, then the
//!   conditions with the fewest branches in a sample of real states. The engine keeps every answer
//!   in a table until the state or the moves that it depends on change. Relations that depend on
//!   neither are computed once.
//! - **Recursion**: a question that is asked again while it is being answered returns the answers
//!   found so far. The outermost question of such a cycle is repeated until nothing new is found.
//!   **Negation** waits for a complete answer. So programs that are stratified only by their
//!   arguments work, and a program that is not stratified is refused.
//! - **Indexes look into terms**: `(true (cell ?x ?y b))` is found by the key `b` among the fluents
//!   of the form `(cell _ _ _)`.
//!
//! The results are compared with a naive bottom-up evaluation on random programs (tests of
//! `agon-datalog`), with recorded games of an independent reasoner, and with independent counts
//! (`games/**/*.perft`).

pub(crate) mod compile;
mod game;
mod notation;
mod planner;
mod position;
mod query;

pub use agon_datalog::Level;
pub use game::{Game, GoalPolicy, Options, RelationFacts, Rows};
pub use position::{Interpreter, Move, State};
pub use query::{Query, QueryEngine, QueryPlan};
