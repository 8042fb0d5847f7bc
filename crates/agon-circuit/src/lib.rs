//! Ground games as circuits: the form, the optimiser, the executors.
//!
//! A game with finitely many fluents and moves is one Boolean function from state and moves to the next state,
//! legality, the end and goals. A language makes one with [`Builder`]; everything after that is written once. This
//! crate knows no rule language.

mod batch;
mod bits;
mod builder;
mod circuit;
mod deadline;
mod dump;
mod events;
mod graph;
mod groups;
mod interpret;
mod jit;
mod kernel;
pub mod optimise;
mod phases;
mod plane;
mod playout;
mod products;
pub mod program;
mod random;
mod sampler;
mod scalar;
mod sieve;
mod signal;
mod transpose;
mod turns;
mod verify;

pub use batch::{BatchCircuit, BatchOptions};
pub use bits::Bits;
pub use builder::Builder;
pub use circuit::{Circuit, CircuitRole, Gate, Outputs};
pub use deadline::Deadline;
pub use dump::write_graphviz;
pub use groups::{prove_groups, prove_groups_until};
pub use kernel::Backend;
pub use plane::Plane;
pub use playout::Turns;
pub use products::{Products, Wide};
pub use scalar::{Executor, Input, ScalarCircuit};
pub use signal::Signal;
pub use turns::prove_turns;
pub use verify::{Broken, verify};

#[cfg(test)]
extern crate self as agon_circuit;
#[cfg(test)]
mod tests;
