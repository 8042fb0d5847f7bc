//! Tournaments: plays the matches, stores them, and writes tables.
//!
//! The plan of a tournament and its matches are in `agon::tournament`. This module has the files,
//! the processors and the clock.

mod cores;
mod documents;
mod export;
mod page;
mod plan;
mod plot;
mod rerun;
mod run;
mod store;
mod tables;

pub(crate) use documents::{to_latex, to_markdown, to_svg};
pub(crate) use export::to_csv;
pub(crate) use page::page;
pub(crate) use plan::{Stored, begin, open_plan, read_spec, stored};
pub(crate) use rerun::{RerunFormat, rerun};
pub(crate) use run::{Ended, RunOptions, run};
pub(crate) use store::Store;
pub(crate) use tables::show;
