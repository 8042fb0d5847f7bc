//! Questions about rules that need not be opened as a game.

use std::sync::Arc;

use agon::open::{self, Settings};
use agon::reports::{self, CheckPlays, Target, TranslateOptions};
use agon::shipped::{SHIPPED, Shipped};
use agon_text::{Severity, Source, render};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::convert::{record, to_python};
use crate::error::{not_opened, wrong};
use crate::game::{PyGame, duration};
use crate::interrupt::abandonable;

/// Reads a source by what Python passes: the name of a shipped game, a path, or the rules.
pub(crate) fn source_of(
    py: Python<'_>,
    game: &Bound<'_, PyAny>,
    settings: &Settings,
) -> PyResult<(Arc<Source>, String)> {
    let game: String = match game.extract() {
        Ok(text) => text,
        // Paths of pathlib.
        Err(_) => py.import("os")?.call_method1("fspath", (game,))?.extract()?,
    };
    let game = game.as_str();
    if game.trim().is_empty() {
        return Err(PyValueError::new_err(
            "give the name of a shipped game (agon.games() lists them), a path, or rules",
        ));
    }
    let is_text = game.contains('\n') || game.trim_start().starts_with(['(', ';']);
    if is_text && Shipped::named(game).is_none() {
        let source = Arc::new(Source::new("rules", game));
        let source = open::expanded(source, settings).map_err(|error| not_opened(py, &error))?;
        return Ok((source, "rules".to_owned()));
    }
    let name = open::with_settings(game, settings);
    let source = open::source(&name).map_err(|error| not_opened(py, &error))?;
    Ok((source, name))
}

/// Lists the shipped games.
#[pyfunction]
pub(crate) fn games(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for shipped in SHIPPED {
        let fields = PyDict::new(py);
        fields.set_item("name", shipped.name)?;
        fields.set_item("title", shipped.header("title").unwrap_or_default())?;
        fields.set_item("summary", shipped.header("summary").unwrap_or_default())?;
        let family = shipped.path.split('/').nth(1);
        let language = match family {
            Some("toss") => "Toss",
            Some("gdl2") => "GDL-II",
            _ => "GDL",
        };
        fields.set_item("language", language)?;
        list.append(record(py, "ShippedGame", &fields)?)?;
    }
    Ok(list)
}

/// Reads a source like [`source_of`], or takes that of an opened game.
fn source_or_own(py: Python<'_>, game: &Bound<'_, PyAny>) -> PyResult<Arc<Source>> {
    if let Ok(opened) = game.cast::<PyGame>() {
        return Ok(Arc::clone(&opened.get().0.source));
    }
    Ok(source_of(py, game, &Settings::new())?.0)
}

/// Checks rules and returns everything that was found. `game` is what `agon.load` takes, or an
/// opened game.
#[pyfunction]
#[pyo3(signature = (
    game, *, plays = 0, seed = 1, max_steps = 1000, notes = false, strict = false
))]
pub(crate) fn check<'py>(
    py: Python<'py>,
    game: &Bound<'py, PyAny>,
    plays: u64,
    seed: u64,
    max_steps: usize,
    notes: bool,
    strict: bool,
) -> PyResult<Bound<'py, PyList>> {
    let source = source_or_own(py, game)?;
    let checked = Arc::clone(&source);
    let plays = CheckPlays { plays, seed, max_steps, is_strict: strict, ..CheckPlays::default() };
    let found = abandonable(py, move || reports::check(&checked, plays))?;
    let list = PyList::empty(py);
    for finding in found.iter().filter(|f| notes || f.severity > Severity::Note) {
        let fields = to_python(py, &reports::finding_json(finding, &source))?;
        let fields = fields.cast_into::<PyDict>()?;
        fields.set_item("text", render(std::slice::from_ref(finding), &source, false))?;
        list.append(record(py, "Finding", &fields)?)?;
    }
    Ok(list)
}

/// Translates rules to `toss`, `gdl`, `infix`, `dot` or `asp`. `game` is what `agon.load` takes, or
/// an opened game.
#[pyfunction]
#[pyo3(signature = (game, to, *, seconds = 120.0, horizon = 20))]
pub(crate) fn translate(
    py: Python<'_>,
    game: &Bound<'_, PyAny>,
    to: &str,
    seconds: f64,
    horizon: usize,
) -> PyResult<String> {
    let source = source_or_own(py, game)?;
    translated(py, &source, to, seconds, horizon)
}

pub(crate) fn translated(
    py: Python<'_>,
    source: &Arc<Source>,
    to: &str,
    seconds: f64,
    horizon: usize,
) -> PyResult<String> {
    let target = Target::named(to).ok_or_else(|| {
        PyValueError::new_err(format!("to: `{to}` is not `toss`, `gdl`, `infix`, `dot` or `asp`"))
    })?;
    let time = duration("seconds", seconds)?;
    let options = TranslateOptions { time, horizon, ..TranslateOptions::default() };
    let source = Arc::clone(source);
    let made = abandonable(py, move || reports::translate(&source, target, &options))?;
    Ok(made.map_err(|why| wrong(&why))?.text)
}
