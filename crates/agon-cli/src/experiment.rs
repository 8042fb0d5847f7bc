//! Experiments of published papers: the matches to play, and the results of the papers.

mod column;
mod costs;
mod provenance;
mod spec;

pub(crate) use column::{Cell, play_column};
pub(crate) use costs::{Costs, costs};
pub(crate) use provenance::Provenance;
pub(crate) use spec::{
    BuiltInExperiment, Column, EXPERIMENTS, Experiment, ExperimentKind, GameLocation, Size,
};
