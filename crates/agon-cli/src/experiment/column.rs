//! Plays a column of an experiment as a tournament of two players.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agon::experiment::{Cell, Column, ExperimentPlan, cells};
use agon_text::Source;

use crate::failure::Failure;
use crate::terminal::remark;
use crate::tournament::{self, Ended, RunOptions, Store};

/// Plays the remaining matches of a column. Returns `None` if the user has interrupted the run.
pub(crate) fn play_column(
    experiment: &ExperimentPlan,
    column: &Column,
    store: &Path,
    options: &RunOptions,
    is_interrupted: &Arc<AtomicBool>,
) -> Result<Option<Vec<Cell>>, Failure> {
    let source = Arc::new(Source::new("experiment.toml", experiment.tournament_text(column)));
    let read = agon::tournament::read(&source)?;
    let mut store = Store::open(store)?;
    let plan = tournament::open_plan(&source, read, Path::new(""), None)?;
    let (mut outcomes, found) = tournament::begin(&plan, &mut store)?;
    if let Some(found) = found.filter(|_| !options.quiet) {
        remark!("{}: {found}", column.name);
    }
    let ended = tournament::run(&plan, &mut store, &mut outcomes, options, is_interrupted)?;
    if ended == Ended::Interrupted {
        return Ok(None);
    }
    Ok(Some(cells(&plan, &experiment.game_names(column), &outcomes)))
}
