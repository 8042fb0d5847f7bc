//! Runs experiments of published papers. `agon::experiment` has their definitions.

mod column;
mod costs;

pub(crate) use column::play_column;
pub(crate) use costs::{Costs, costs};
