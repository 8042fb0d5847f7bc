//! Simulation: what the leaves of a batch are, and what playouts from them pay. Nothing here reads
//! the tree.
//!
//! - [`leaves`]: examines the leaves and plays out from them, in the way that engine and options
//!   allow.
//! - [`bulk`]: playouts of many leaves at once by a batch engine.
//! - [`evaluated`]: leaves that are valued by an evaluator, alone or mixed with playouts.
//! - [`playout`]: playouts one by one.
//! - [`policy`]: move values that playouts learn from each other (MAST, PAST, n-grams).
//! - [`lockstep`]: playouts side by side, whose moves a heuristic draws.

mod bulk;
mod evaluated;
mod leaves;
mod lockstep;
mod playout;
mod policy;

pub(crate) use bulk::BulkPlayouts;
pub use evaluated::EvaluateLeaves;
pub(crate) use evaluated::{EvaluatedBatch, LeafValues};
pub(crate) use lockstep::Lockstep;
pub(crate) use playout::PlayoutScratch;
#[cfg(test)]
pub(crate) use playout::{PlayoutLimits, PlayoutTools};
pub(crate) use policy::Policy;
