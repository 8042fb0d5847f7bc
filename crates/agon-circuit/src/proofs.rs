//! Facts that hold at every reachable state, proved by induction over one step of a circuit.
//!
//! [`prove_turns`] follows tokens such as `control` to prove that the players take turns.
//! [`prove_groups`] proves that at most one bit of a group is true, such as the contents of a cell.

mod groups;
pub(crate) mod turns;

pub use groups::prove_groups;
pub use turns::{Turns, prove_turns};
