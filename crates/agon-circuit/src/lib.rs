//! Ground games as Boolean circuits: the form, the optimiser, proofs, executors and a code
//! generator.
//!
//! A game with finitely many fluents and moves is one Boolean function. It maps the state and the
//! moves of a step to the next state, and a state to its legal moves, its goal values and whether
//! play has ended. A rule language grounds its rules and builds such a function, an and-inverter
//! graph, with [`Builder`]. Everything after that is written once, here, and knows no rule
//! language: [`compile()`] optimises the circuit, and the [`Compiled`] game is played one position
//! at a time ([`ScalarCircuit`]) or 256 games at a time ([`BatchCircuit`]).
//!
//! # Example
//!
//! One player may switch a lamp on or wait. The game ends when the lamp is on.
//!
//! ```
//! use agon_circuit::{
//!     Builder, CircuitRole, Deadline, GroundCircuit, Grounding, Outputs, Signal, compile,
//! };
//! use agon_game::{Notation, Position, Role};
//!
//! let moves = vec!["wait".into(), "switch".into()];
//! let role = CircuitRole { name: "player".into(), moves, is_nature: false };
//! let mut builder = Builder::new(vec![role], vec![("lamp".into(), false)]);
//! let [lamp, switch] = [builder.base(0), builder.input(0, 1)];
//! let next = builder.or(lamp, switch);
//! let circuit = builder.finish(Outputs {
//!     legal: vec![vec![Signal::TRUE, Signal::TRUE]],
//!     next: vec![next],
//!     terminal: lamp,
//!     goals: vec![vec![(0, !lamp), (100, lamp)]],
//!     percepts: vec![vec![]],
//!     rejected: Signal::FALSE,
//! });
//!
//! let shape = circuit.shape();
//! let ground = GroundCircuit { circuit, candidates: vec![], grounding: Grounding::default() };
//! let game = compile(ground, Deadline::NEVER, |_| shape);
//! let mut position = game.start();
//! let player = Role::new(0);
//! let switch = position.parse_move(player, "switch").expect("it is legal");
//! position.advance(&[switch]);
//! assert!(position.is_terminal());
//! assert_eq!(position.payoff(player), 100.0);
//! ```
//!
//! # Modules, in reading order
//!
//! - `form`: the circuit as data, how it is built, checked and printed.
//! - [`optimise`]: passes that make a circuit smaller.
//! - `proofs`: facts that hold at every reachable state, by induction over a step.
//! - `compile`: all of this in order, for a rule language to call ([`compile()`]).
//! - `run`: programs and their executors; `run::scalar` for one game, `run::batch` for 256.
//! - `native`: the code generator and SIMD loops, the only unsafe code.
//! - [`weighted`]: circuits whose outputs are weighted sums, for evaluation functions.

mod compile;
mod deadline;
mod form;
mod native;
pub mod optimise;
mod proofs;
mod run;
pub mod weighted;

pub use compile::{Compiled, GroundCircuit, Grounding, compile};
pub use deadline::Deadline;
pub use form::{
    BrokenInvariant, Builder, Circuit, CircuitRole, Gate, Outputs, Signal, verify, write_graphviz,
};
pub use proofs::{Turns, prove_groups, prove_turns};
pub use run::{
    Backend, BatchCircuit, BatchOptions, Bits, CODE_BITS, Codes, Executor, Input, LaneGames,
    MemoryLayout, Plane, Products, RunKind, ScalarCircuit, Wide,
};

#[cfg(test)]
extern crate self as agon_circuit;
#[cfg(test)]
mod tests;
