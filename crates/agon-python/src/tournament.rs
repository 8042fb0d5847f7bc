//! Tournaments, match by match.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agon::tournament::TournamentPlan;
use agon_match::tournament::Outcome;
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
}

#[pymethods]
impl PyTournamentPlan {
    #[new]
    #[pyo3(signature = (text, *, name = "tournament", folder = "."))]
    fn new(py: Python<'_>, text: &str, name: &str, folder: &str) -> PyResult<PyTournamentPlan> {
        let stop = AtomicBool::new(false);
        let plan = interruptible(py, &stop, || TournamentPlan::new(name, text, Path::new(folder)))?;
        let plan = Arc::new(plan.map_err(|why| wrong(&why))?);
        Ok(PyTournamentPlan { plan, name: name.to_owned(), folder: folder.to_owned() })
    }

    #[getter]
    fn text(&self) -> &str {
        self.plan.text()
    }

    #[getter]
    fn ids(&self) -> Vec<String> {
        self.plan.fixtures().iter().map(|fixture| fixture.id.to_string()).collect()
    }

    #[getter]
    fn games(&self) -> Vec<(String, String, Vec<String>)> {
        let names = &self.plan.tournament().games;
        let games = self.plan.games().iter().zip(names);
        games.map(|(game, name)| (name.clone(), game.rules.clone(), game.role_names())).collect()
    }

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
        let fixture = self.plan.fixtures().iter().find(|fixture| fixture.id.to_string() == id);
        let fixture = fixture.ok_or_else(|| wrong(&format!("there is no match {id}")))?.clone();
        let (aborted, plan) = (Arc::new(AtomicBool::new(false)), Arc::clone(&self.plan));
        let began = now();
        let token = format!("{id:0>16}{began:016x}");
        let played = interruptible(py, &aborted, || plan.play(&fixture, token, &now, &aborted))?;
        let played = played.map_err(|why| wrong(&why))?;
        let played = played.ok_or_else(|| wrong(&"the match was aborted"))?;
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
        entry.set_item("moves", played.moves)?;
        entry.set_item("record", played.record)?;
        Ok(entry)
    }

    /// Returns points and ratings from matches as `play` returns them.
    fn standings<'py>(
        &self,
        py: Python<'py>,
        played: Vec<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
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
        let standings = self.plan.standings(&outcomes);
        to_python(py, &self.plan.standings_json(&standings))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let plan = slf.get();
        let make = py.import("agon._records")?.getattr("make_plan")?;
        (make, (plan.plan.text(), &plan.name, &plan.folder)).into_pyobject(py)
    }
}
