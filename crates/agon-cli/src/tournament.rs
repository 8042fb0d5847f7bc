//! Tournaments: plays the matches, stores them, and writes tables.
//!
//! The schedule and the statistics are in `agon_match::tournament`. This module has the files, the
//! processors and the clock.

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
pub(crate) use export::{to_csv, to_json};
pub(crate) use page::page;
pub(crate) use plan::{Plan, Stored, read_spec, stored};
pub(crate) use rerun::{RerunFormat, rerun};
pub(crate) use run::{Ended, RunOptions, run};
pub(crate) use store::{Played, Store};
pub(crate) use tables::show;

use agon_match::tournament::{Entrant, EntrantKind};
use agon_players::{PlayerSource, PlayerSpec, parse_spec};
use agon_text::Diagnostic;

/// Parses the specification of a player in a tournament.
pub(crate) fn parse_entrant(text: &str) -> Result<EntrantKind, Box<Diagnostic>> {
    Ok(match parse_spec(text)?.kind {
        PlayerSource::BuiltIn(..) => EntrantKind::InProcess,
        PlayerSource::Http(_) | PlayerSource::Command(_) => EntrantKind::Outside,
        PlayerSource::Human => EntrantKind::Person,
    })
}

/// Returns the specification of a player whose text was checked when the tournament was read.
fn spec_of(entrant: &Entrant) -> PlayerSpec {
    parse_spec(&entrant.player).expect("the tournament was read with this parser")
}
