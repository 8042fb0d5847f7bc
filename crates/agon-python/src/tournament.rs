//! Tournaments, match by match.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use agon::experiment::{
    BuiltInExperiment, EXPERIMENTS, Experiment, ExperimentKind, ExperimentOptions, ExperimentPlan,
    Size, cells,
};
use agon::match_setup::NoOutsidePlayers;
use agon::tournament::{StoredGame, TournamentPlan, standings_json};
use agon_match::tournament::{Fixture, Outcome};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::convert::to_python;
use crate::error::wrong;
use crate::interrupt::interruptible;
use crate::play::now;

/// A tournament that is ready to be played.
#[pyclass(frozen, name = "TournamentPlan", module = "agon")]
pub(crate) struct PyTournamentPlan {
    plan: Arc<TournamentPlan>,
    name: String,
    folder: String,
    /// The flags of matches in progress, which end them.
    running: Mutex<Vec<Weak<AtomicBool>>>,
}

#[pymethods]
impl PyTournamentPlan {
    #[new]
    #[pyo3(signature = (text, *, name = "tournament", folder = "."))]
    fn new(py: Python<'_>, text: &str, name: &str, folder: &str) -> PyResult<PyTournamentPlan> {
        let stop = AtomicBool::new(false);
        let plan = interruptible(py, &stop, || TournamentPlan::new(name, text, Path::new(folder)))?;
        let plan = Arc::new(plan.map_err(|why| wrong(&why))?);
        Ok(PyTournamentPlan {
            plan,
            name: name.to_owned(),
            folder: folder.to_owned(),
            running: Mutex::default(),
        })
    }

    /// The description as TOML.
    #[getter]
    fn text(&self) -> &str {
        self.plan.text()
    }

    /// The ids of all matches.
    #[getter]
    fn ids(&self) -> Vec<String> {
        self.plan.fixtures().iter().map(|fixture| fixture.id.to_string()).collect()
    }

    /// By game: its name, its rules and its roles.
    #[getter]
    fn games(&self) -> Vec<(String, String, Vec<String>)> {
        let games = self.plan.stored_games().into_iter();
        games.map(|game| (game.name, game.rules, game.roles)).collect()
    }

    /// Returns what this tournament adds to one of which matches were played, as a text. Anything
    /// but additions is an error.
    fn additions(&self, old: &str, games: Vec<(String, String, Vec<String>)>) -> PyResult<String> {
        let stored = |(name, rules, roles)| StoredGame { name, rules, roles };
        let games: Vec<StoredGame> = games.into_iter().map(stored).collect();
        self.plan.additions(old, &games).map_err(|why| wrong(&why))
    }

    /// Returns the number of processors that a match needs.
    fn cores(&self, id: &str) -> PyResult<usize> {
        let n_processors = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(self.plan.need(self.fixture(id)?, n_processors).cores)
    }

    /// Returns whether the sequential test has decided, so that no more matches are needed.
    fn is_decided(&self, played: Vec<Bound<'_, PyDict>>) -> PyResult<bool> {
        if self.plan.tournament().sprt.is_none() {
            return Ok(false);
        }
        let state = self.plan.sprt_state(&self.plan.outcomes(&outcomes(played)?));
        Ok(state.is_some_and(|state| state.decision.is_some()))
    }

    /// The matches to be played: id, game, repeat, players and seed.
    #[getter]
    fn fixtures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let tournament = self.plan.tournament();
        let list = PyList::empty(py);
        for fixture in self.plan.fixtures() {
            let entry = PyDict::new(py);
            entry.set_item("id", fixture.id.to_string())?;
            entry.set_item("game", &tournament.games[fixture.game])?;
            entry.set_item("repeat", fixture.repeat)?;
            let names = fixture.seating.iter().map(|player| &tournament.players[*player].name);
            entry.set_item("players", names.collect::<Vec<_>>())?;
            entry.set_item("seed", fixture.seed)?;
            list.append(entry)?;
        }
        Ok(list)
    }

    /// Plays the match of an id and returns it as a dictionary.
    fn play<'py>(&self, py: Python<'py>, id: &str) -> PyResult<Bound<'py, PyDict>> {
        let fixture = self.fixture(id)?;
        let aborted = Arc::new(AtomicBool::new(false));
        {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            running.retain(|flag| flag.strong_count() > 0);
            running.push(Arc::downgrade(&aborted));
        }
        let began = now();
        let token = format!("{id:0>16}{began:016x}");
        let played = interruptible(py, &aborted, || {
            let attempt = self.plan.attempt(fixture, began, &aborted)?;
            attempt.play(&NoOutsidePlayers, token, &now, &mut |_| {})
        })?;
        let played = played.map_err(|why| wrong(&why))?;
        let (played, finished) = played.ok_or_else(|| wrong(&"the match was aborted"))?;
        let entry = PyDict::new(py);
        entry.set_item("id", played.id)?;
        entry.set_item("game", played.game)?;
        entry.set_item("repeat", played.repeat)?;
        entry.set_item("players", played.players)?;
        entry.set_item("seed", played.seed)?;
        entry.set_item("opening", played.opening)?;
        entry.set_item("status", played.status)?;
        entry.set_item("goals", played.outcome.goals)?;
        entry.set_item("slips", played.outcome.n_errors)?;
        entry.set_item("steps", played.outcome.n_steps)?;
        entry.set_item("began", began)?;
        entry.set_item("seconds", played.outcome.seconds)?;
        let moves: Vec<_> = finished.steps().iter().map(|step| step.joint.clone()).collect();
        entry.set_item("moves", moves)?;
        entry.set_item("record", played.record)?;
        Ok(entry)
    }

    /// Ends matches that other threads are playing. They raise an exception there.
    fn abort(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        for flag in running.iter().filter_map(Weak::upgrade) {
            flag.store(true, Ordering::Relaxed);
        }
    }

    /// Returns points and ratings from matches as `play` returns them.
    fn standings<'py>(
        &self,
        py: Python<'py>,
        played: Vec<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let standings = self.plan.standings(&self.plan.outcomes(&outcomes(played)?));
        to_python(py, &standings_json(self.plan.tournament(), &standings))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let plan = slf.get();
        let make = py.import("agon._records")?.getattr("make_plan")?;
        (make, (plan.plan.text(), &plan.name, &plan.folder)).into_pyobject(py)
    }
}

impl PyTournamentPlan {
    fn fixture(&self, id: &str) -> PyResult<&Fixture> {
        let fixture = self.plan.fixtures().iter().find(|fixture| fixture.id.to_string() == id);
        fixture.ok_or_else(|| wrong(&format!("there is no match {id}")))
    }
}

/// Returns the outcomes of matches as `play` returns them, by id.
fn outcomes(played: Vec<Bound<'_, PyDict>>) -> PyResult<BTreeMap<String, Outcome>> {
    let mut outcomes = BTreeMap::new();
    for entry in played {
        let get = |key: &str| {
            let value = entry.get_item(key)?;
            value.ok_or_else(|| wrong(&format!("a match has no key `{key}`")))
        };
        let outcome = Outcome {
            goals: get("goals")?.extract()?,
            n_steps: get("steps")?.extract()?,
            n_errors: get("slips")?.extract()?,
            seconds: get("seconds")?.extract()?,
        };
        outcomes.insert(get("id")?.extract::<String>()?, outcome);
    }
    Ok(outcomes)
}

/// Lists the experiments with their titles.
#[pyfunction]
pub(crate) fn experiments() -> PyResult<Vec<(String, String)>> {
    let title = |known: &BuiltInExperiment| {
        let read = Experiment::read(known.text, Size::Full).map_err(|why| wrong(&why))?;
        Ok((known.name.to_owned(), read.title))
    };
    EXPERIMENTS.iter().map(title).collect()
}

/// An experiment of a paper: a tournament for each column of its table.
#[pyclass(frozen, name = "ExperimentPlan", module = "agon")]
pub(crate) struct PyExperimentPlan(ExperimentPlan);

#[pymethods]
impl PyExperimentPlan {
    #[new]
    #[pyo3(signature = (
        name, *, quick = false, iterations = None, repeats = None, openings = None, games = None,
        only = None, column = None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are the options of `agon experiment`")]
    fn new(
        name: &str,
        quick: bool,
        iterations: Option<u64>,
        repeats: Option<u64>,
        openings: Option<u64>,
        games: Option<PathBuf>,
        only: Option<String>,
        column: Option<String>,
    ) -> PyResult<PyExperimentPlan> {
        for (option, number) in [("iterations", iterations), ("repeats", repeats)] {
            if number == Some(0) {
                return Err(wrong(&format!("{option} must be at least 1")));
            }
        }
        let options = ExperimentOptions {
            quick,
            iterations,
            play_clock: None,
            repeats,
            openings,
            games,
            only,
            column,
        };
        let plan = ExperimentPlan::new(name, options).map_err(|why| wrong(&why))?;
        if plan.experiment.learning.is_some() {
            return Err(wrong(&format!(
                "{} learns evaluation games before its matches: run `agon experiment {}`",
                plan.name(),
                plan.name()
            )));
        }
        match plan.experiment.kind {
            ExperimentKind::Matches => Ok(PyExperimentPlan(plan)),
            ExperimentKind::Costs => Err(wrong(&format!(
                "{} measures times and has no matches: run `agon experiment {}`",
                plan.name(),
                plan.name()
            ))),
        }
    }

    /// The name of the experiment.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Its title.
    #[getter]
    fn title(&self) -> &str {
        &self.0.experiment.title
    }

    /// The games whose rules are not shipped.
    #[getter]
    fn missing(&self) -> &[String] {
        &self.0.missing
    }

    /// Returns for each column its name, its tournament in TOML, and the current and the former
    /// name of its store.
    #[getter]
    fn columns(&self) -> Vec<(String, String, String, String)> {
        let columns = self.0.experiment.columns.iter();
        columns
            .map(|column| {
                let [name, former] = self.0.store_names(column);
                (column.name.clone(), self.0.tournament_text(column), name, former)
            })
            .collect()
    }

    /// Returns the cells of a column from the matches of its tournament.
    fn cells<'py>(
        &self,
        py: Python<'py>,
        column: usize,
        plan: &PyTournamentPlan,
        played: Vec<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let column = self.0.experiment.columns.get(column);
        let column = column.ok_or_else(|| wrong(&"there is no such column"))?;
        let outcomes = plan.plan.outcomes(&outcomes(played)?);
        let cells = cells(&plan.plan, &self.0.game_names(column), &outcomes);
        to_python(py, &cells.iter().map(|cell| column.cell_json(cell)).collect())
    }
}
