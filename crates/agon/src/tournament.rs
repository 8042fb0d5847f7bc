//! Tournaments: matches played, stored as they happen, told in tables. What is to be played and what results mean is
//! `agon_match::tournament`; here are the files, the processors and the clock.

mod cores;
mod export;
mod page;
mod plan;
mod plot;
mod rerun;
mod run;
mod store;
mod tables;

pub(crate) use export::{to_csv, to_json};
pub(crate) use page::page;
pub(crate) use plan::{Plan, Stored, read_spec, stored};
pub(crate) use rerun::rerun;
pub(crate) use run::{Ended, RunOptions, run};
pub(crate) use store::{Played, Store};
pub(crate) use tables::show;
