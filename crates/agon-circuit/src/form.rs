//! The circuit as data: its parts, how it is built, checked and printed.
//!
//! Nothing is executed here. [`Builder`] makes a [`Circuit`] on top of a [`graph`] that shares
//! and simplifies gates, [`verify`](mod@verify) checks the invariants, `dump` prints.

mod builder;
mod circuit;
mod dump;
pub(crate) mod graph;
mod signal;
mod verify;

pub use builder::Builder;
pub use circuit::{Circuit, CircuitRole, Gate, Outputs};
pub use dump::write_graphviz;
pub use signal::Signal;
pub use verify::{BrokenInvariant, verify};
