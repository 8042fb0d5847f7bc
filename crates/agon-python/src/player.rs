//! Built-in players that think about positions.

use std::sync::{Arc, Mutex, PoisonError};

use agon::{Player, Report, Shape};
use agon_players::KINDS;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::convert::{record, role_of};
use crate::error::wrong;
use crate::game::{PyGame, Shared, budget};
use crate::interrupt::interruptible;
use crate::state::PyState;

/// A built-in player of a game.
#[pyclass(frozen, name = "Player", module = "agon")]
pub(crate) struct PyPlayer {
    pub(crate) shared: Arc<Shared>,
    pub(crate) spec: String,
    pub(crate) seed: u64,
    player: Mutex<Player>,
}

impl PyPlayer {
    pub(crate) fn new(shared: Arc<Shared>, spec: &str, seed: u64) -> PyResult<PyPlayer> {
        let player = shared.game.player(spec).map_err(|why| wrong(&why))?.with_seed(seed);
        Ok(PyPlayer { shared, spec: spec.to_owned(), seed, player: Mutex::new(player) })
    }

    /// Returns the specification for a match of a game. The players of a match use the model of its
    /// game, so a player with another model is refused.
    pub(crate) fn spec_for(&self, game: &PyGame) -> PyResult<String> {
        match self.shared.game.model() {
            Some(own) if game.0.game.model() != Some(own) => Err(wrong(&format!(
                "the player `{}` has a model that the game of the match does not have: play the \
                 match on Game.with_model(model), or give the model itself as the player",
                self.spec
            ))),
            _ => Ok(self.spec.clone()),
        }
    }
}

#[pymethods]
impl PyPlayer {
    /// The game.
    #[getter]
    fn game(&self) -> PyGame {
        PyGame(Arc::clone(&self.shared))
    }

    /// The specification of the player.
    #[getter]
    fn spec(&self) -> &str {
        &self.spec
    }

    /// The seed of its random numbers.
    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    /// Thinks about a state and returns a `Report`. At least one limit must be given.
    #[pyo3(signature = (state, *, seconds = None, iterations = None, nodes = None, role = None))]
    fn think<'py>(
        &self,
        py: Python<'py>,
        state: &PyState,
        seconds: Option<f64>,
        iterations: Option<u64>,
        nodes: Option<u64>,
        role: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.game().check_own(state)?;
        state.check_running()?;
        let role = role.map(|role| role_of(self.shared.game.shape(), role)).transpose()?;
        let budget = budget(seconds, iterations, nodes)?;
        let position = state.position();
        let stop = Arc::clone(&budget.stop);
        let report = interruptible(py, &stop, move || {
            let mut player = self.player.lock().unwrap_or_else(PoisonError::into_inner);
            match role {
                Some(role) => player.think_as(role, &position, budget),
                None => player.think(&position, budget),
            }
        })?;
        report_record(py, self.shared.game.shape(), &report)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let player = slf.get();
        let make = py.import("agon._records")?.getattr("make_player")?;
        (make, (player.game(), player.spec.clone(), player.seed)).into_pyobject(py)
    }

    fn __repr__(&self) -> String {
        format!("<agon.Player {} of {}>", self.spec, self.shared.game.name())
    }
}

/// Makes the record of what a player thinks.
pub(crate) fn report_record<'py>(
    py: Python<'py>,
    shape: &Shape,
    report: &Report,
) -> PyResult<Bound<'py, PyAny>> {
    let fields = PyDict::new(py);
    fields.set_item("best_move", &report.best_move)?;
    fields.set_item("role", &shape.role_names[report.role.index()])?;
    fields.set_item("value", report.value)?;
    fields.set_item("is_proven", report.is_proven)?;
    let considered = PyList::empty(py);
    for candidate in &report.considered {
        let fields = PyDict::new(py);
        fields.set_item("move", &candidate.text)?;
        fields.set_item("visits", candidate.visits)?;
        fields.set_item("value", candidate.value)?;
        fields.set_item("probability", candidate.probability)?;
        fields.set_item("is_proven", candidate.is_proven)?;
        considered.append(record(py, "Considered", &fields)?)?;
    }
    fields.set_item("considered", considered)?;
    fields.set_item("line", &report.line)?;
    fields.set_item("iterations", report.iterations)?;
    fields.set_item("nodes", report.nodes)?;
    fields.set_item("playouts", report.playouts)?;
    fields.set_item("error", report.error.as_ref().map(ToString::to_string))?;
    record(py, "Report", &fields)
}

/// Lists the built-in players with one line about each.
#[pyfunction]
pub(crate) fn players() -> Vec<(String, String)> {
    KINDS.iter().map(|kind| (kind.name.to_owned(), kind.summary.to_owned())).collect()
}
