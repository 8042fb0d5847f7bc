//! Datalog with function terms and negation: ground terms, rules, tabled evaluation, grounding.
//!
//! A [`Program`] consists of relations and rules. The rows of a relation are given, or derived by
//! rules with stratified negation. [`Plans`] fix how each relation is computed for each pattern of
//! known arguments, and an [`Engine`] answers queries. A program can also be grounded
//! ([`ground()`]) to a [`GroundProgram`] without variables, from which circuits are built. This
//! crate knows nothing about games.
//!
//! The example asks which nodes of a graph can be reached from a node.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agon_datalog::*;
//!
//! // path(x, y) if edge(x, y).   path(x, z) if path(x, y) and edge(y, z).
//! let mut program = Program::default();
//! let edge = program.given(2, Level::State);
//! let path = program.derived(2);
//! let [x, y, z] = [0, 1, 2].map(Pattern::Variable);
//! let atom = |predicate, a: &Pattern, b: &Pattern| Atom {
//!     predicate,
//!     arguments: vec![a.clone(), b.clone()],
//! };
//! program.rule(Rule {
//!     head: atom(path, &x, &y),
//!     body: vec![Goal::Holds(atom(edge, &x, &y))],
//!     n_variables: 2,
//!     origin: 0,
//! });
//! program.rule(Rule {
//!     head: atom(path, &x, &z),
//!     body: vec![Goal::Holds(atom(path, &x, &y)), Goal::Holds(atom(edge, &y, &z))],
//!     n_variables: 3,
//!     origin: 1,
//! });
//! let bank = Arc::new(TermBank::new(10));
//! let node: Vec<TermId> = (0..4).map(|i| bank.term(Symbol::new(i), &[]).unwrap()).collect();
//! let form = QueryForm { predicate: path, known: vec![true, false] };
//! let (plans, queries) = Plans::new(program, bank, &[], &[form]).unwrap();
//! let mut engine = Engine::new(Arc::new(plans), Limits::default());
//! let rows = [[node[0], node[1]], [node[1], node[2]], [node[2], node[0]]];
//! engine.set_rows(edge, rows.iter().map(|row| row.as_slice()));
//! // Nodes 0, 1 and 2 form a cycle. Node 3 has no edges.
//! assert_eq!(engine.ask(queries[0], &[node[0]]).unwrap().len(), 3);
//! assert_eq!(engine.ask(queries[0], &[node[3]]).unwrap().len(), 0);
//! ```
//!
//! # Modules, in reading order
//!
//! - `symbol`, `term`, `order`: names and ground terms. Each term is stored once in a [`TermBank`]
//!   that all positions of a game share, so comparing terms is comparing numbers.
//! - `program`: relations and rules.
//! - `relation`: rows of given relations, with indexes that look into terms.
//! - `plan`: procedures for each pattern of known arguments.
//! - `table`, `term_cache`, `engine`: top-down evaluation with tabling.
//! - `limits`: budgets and refusals.
//! - `materialise`: static relations computed in advance.
//! - `ground`: rewriting and semi-naive grounding.
#![forbid(unsafe_code)]

mod engine;
mod ground;
mod limits;
mod materialise;
mod order;
mod plan;
mod program;
mod relation;
mod symbol;
mod table;
mod term;
mod term_cache;

#[cfg(test)]
pub(crate) mod tests;

pub use engine::{Answers, Engine};
pub use ground::{
    AtomId, GroundLimits, GroundProgram, GroundRule, SplitLimits, demand, ground, merge, split,
};
pub use limits::{Limits, Refusal, RefusalKind, StopFlag};
pub use materialise::{MaterialiseLimits, materialise};
pub use order::TermOrder;
pub use plan::{MAX_WIDTH, PlanRefusal, Plans, QueryForm, QueryId};
pub use program::{Atom, Goal, Level, Pattern, PredicateId, Program, Rule};
pub use symbol::Symbol;
pub use term::{TermBank, TermId, TermRefusal};
