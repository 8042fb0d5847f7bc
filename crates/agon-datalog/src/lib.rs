//! Ground terms, relations with indexes, and rules evaluated on demand.
//!
//! A [`Program`] holds relations, given or derived by rules with negation; [`Plans`] fix how each relation is
//! computed for each way in which it is asked; an [`Engine`] answers questions. Nothing here knows what the
//! relations mean.
//!
//! ```
//! use std::sync::Arc;
//! use agon_datalog::*;
//! // path(x, y) if edge(x, y); path(x, z) if path(x, y) and edge(y, z).
//! let mut program = Program::default();
//! let edge = program.given(2, Level::State);
//! let path = program.derived(2);
//! let [x, y, z] = [0, 1, 2].map(Pattern::Variable);
//! let atom = |predicate, a: &Pattern, b: &Pattern| Atom { predicate, arguments: vec![a.clone(), b.clone()] };
//! program.rule(Rule { head: atom(path, &x, &y), body: vec![Goal::Holds(atom(edge, &x, &y))], n_variables: 2, origin: 0 });
//! program.rule(Rule {
//!     head: atom(path, &x, &z),
//!     body: vec![Goal::Holds(atom(path, &x, &y)), Goal::Holds(atom(edge, &y, &z))],
//!     n_variables: 3,
//!     origin: 1,
//! });
//! let bank = Arc::new(TermBank::new(10));
//! let node: Vec<TermId> = (0..4).map(|i| bank.term(Symbol::new(i), &[]).unwrap()).collect();
//! let entry = Entry { predicate: path, known: vec![true, false] };
//! let (plans, questions) = Plans::new(program, bank, &[], &[entry]).unwrap();
//! let mut engine = Engine::new(Arc::new(plans), Limits::default());
//! let rows = [[node[0], node[1]], [node[1], node[2]], [node[2], node[0]]];
//! engine.set_rows(edge, rows.iter().map(|row| row.as_slice()));
//! assert_eq!(engine.ask(questions[0], &[node[0]]).unwrap().len(), 3);
//! assert_eq!(engine.ask(questions[0], &[node[3]]).unwrap().len(), 0);
//! ```
#![forbid(unsafe_code)]

mod engine;
mod ground;
mod limits;
mod made;
mod materialise;
mod order;
mod plan;
mod program;
mod relation;
mod symbol;
mod table;
mod term;

#[cfg(test)]
pub(crate) mod tests;

pub use engine::{Answers, Engine};
pub use ground::{AtomId, GroundLimits, GroundProgram, GroundRule, demand, ground, merge, split};
pub use limits::{Limits, Refusal, RefusalKind};
pub use materialise::{materialise, materialise_until};
pub use order::TermOrder;
pub use plan::{Entry, PlanRefusal, Plans, Question};
pub use program::{Atom, Goal, Level, Pattern, PredicateId, Program, Rule};
pub use symbol::Symbol;
pub use term::{TermBank, TermId, TermRefusal};
