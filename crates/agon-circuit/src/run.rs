//! Executors: circuits made ready to be evaluated.
//!
//! [`program`] lowers a graph to straight-line code. [`interpret`] runs such a program portably;
//! `native` generates machine code for it; [`kernel`] chooses between the two for 256 lanes.
//! [`events`] instead propagates changes from one state to the next. [`phases`] cuts a circuit into
//! smaller ones where a token tells which role moves.
//!
//! - [`scalar`]: one game at a time, as a [`Position`](agon_game::Position).
//! - [`batch`]: 256 games at a time, one in each lane of a [`Plane`], as a
//!   [`Batch`](agon_game::Batch).
//! - [`lane_games`]: many games that stay in their lanes from step to step; [`lane_moves`] has
//!   their moves as numbers.

pub(crate) mod batch;
pub(crate) mod bits;
pub(crate) mod events;
pub(crate) mod interpret;
pub(crate) mod kernel;
mod lane_games;
mod lane_moves;
pub(crate) mod phases;
mod plane;
pub(crate) mod products;
pub(crate) mod program;
pub(crate) mod rejection;
pub(crate) mod scalar;
pub(crate) mod transpose;

pub use batch::{BatchCircuit, BatchOptions};
pub use bits::Bits;
pub use kernel::Backend;
pub use lane_games::{LaneGames, MemoryLayout};
pub use lane_moves::{CODE_BITS, Codes};
pub use plane::Plane;
pub use products::{Products, RunKind, Wide};
pub use scalar::{Executor, Input, ScalarCircuit};
