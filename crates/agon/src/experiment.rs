//! Experiments of the papers: what is to be played, and what the paper found.

mod costs;
mod played;
mod spec;

pub(crate) use costs::costs;
pub(crate) use played::{Cell, play_column};
pub(crate) use spec::{Column, EXPERIMENTS, Experiment, Kind, Place};
