//! Evaluations that are learnt by self-play.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agon::numbered::Numbers;
use agon::{Budget, Role};
use agon_circuit::{Bits, ScalarCircuit};
use agon_game::{Notation as _, Position as _};
use agon_learn::{CannotLearn, Learner, LearntEvaluator, TrainOptions};
use agon_match::Considered;
use agon_search::{Minimax, MinimaxOptions, Search as _};
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::batch::PyBatch;
use crate::convert::{need_numpy, role_of};
use crate::error::wrong;
use crate::game::{PyGame, Shared, budget};
use crate::inner::Inner;
use crate::interrupt::interruptible;
use crate::model::{_model, PyModel, new_history};
use crate::player::report_record;
use crate::state::PyState;

/// An evaluation of the states of a game that is learnt by self-play.
#[pyclass(frozen, name = "Learner", module = "agon")]
pub(crate) struct PyLearner {
    shared: Arc<Shared>,
    learner: Mutex<Learner<ScalarCircuit>>,
    seed: u64,
}

impl PyLearner {
    pub(crate) fn new(
        py: Python<'_>,
        game: &PyGame,
        seconds: Option<f64>,
        games: Option<u64>,
        options: TrainOptions,
    ) -> PyResult<PyLearner> {
        let numbers = Arc::clone(game.numbers()?);
        let budget = learning_budget(seconds, games)?;
        let seed = options.seed;
        let stop = Arc::clone(&budget.stop);
        let learner = interruptible(py, &stop, || {
            // Without a deadline, so that a pickle finds the same patterns again. Only a sample of
            // random play is looked at.
            let mut learner = Learner::new(&start(&numbers), options, None)?;
            learner.learn(&budget);
            Ok(learner)
        })?;
        PyLearner::of(game, learner, seed)
    }

    pub(crate) fn of(
        game: &PyGame,
        learner: Result<Learner<ScalarCircuit>, CannotLearn>,
        seed: u64,
    ) -> PyResult<PyLearner> {
        let learner = learner
            .map_err(|why| wrong(&format!("{} cannot be learnt: {why}", game.0.game.name())))?;
        Ok(PyLearner { shared: Arc::clone(&game.0), learner: Mutex::new(learner), seed })
    }

    fn lock(&self) -> MutexGuard<'_, Learner<ScalarCircuit>> {
        self.learner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn evaluator(&self) -> LearntEvaluator<ScalarCircuit> {
        self.lock().evaluator()
    }

    fn numbers(&self) -> &Arc<Numbers> {
        self.shared.numbers.as_ref().expect("only games with numbers are learnt")
    }
}

/// Returns the start position of a game with numbers.
pub(crate) fn start(numbers: &Numbers) -> ScalarCircuit {
    numbers.game().compiled().expect("numbered games have a circuit").start()
}

fn learning_budget(seconds: Option<f64>, games: Option<u64>) -> PyResult<Budget> {
    if seconds.is_none() && games.is_none() {
        return Err(PyValueError::new_err("give seconds or games: learning needs a limit"));
    }
    budget(seconds, games, None)
}

#[pymethods]
impl PyLearner {
    /// The game.
    #[getter]
    fn game(&self) -> PyGame {
        PyGame(Arc::clone(&self.shared))
    }

    /// The number of games of self-play so far.
    #[getter]
    fn n_games(&self) -> u64 {
        self.lock().n_games()
    }

    /// The number of steps of self-play so far.
    #[getter]
    fn n_steps(&self) -> u64 {
        self.lock().n_steps()
    }

    /// What was found out about the game before learning began.
    #[getter]
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let learner = self.lock();
        let facts = learner.facts();
        let dict = PyDict::new(py);
        dict.set_item("units", facts.n_units)?;
        dict.set_item("cells", facts.n_cells)?;
        dict.set_item("patterns", facts.n_patterns)?;
        dict.set_item("weights", facts.n_weights)?;
        dict.set_item("symmetries", facts.n_symmetries)?;
        dict.set_item("exchanges_players", facts.exchanges_players)?;
        dict.set_item("mean_length", facts.mean_length)?;
        Ok(dict)
    }

    /// Goes on learning.
    #[pyo3(signature = (*, seconds = None, games = None))]
    fn learn(&self, py: Python<'_>, seconds: Option<f64>, games: Option<u64>) -> PyResult<()> {
        let budget = learning_budget(seconds, games)?;
        let stop = Arc::clone(&budget.stop);
        interruptible(py, &stop, || self.lock().learn(&budget))
    }

    /// Returns the expected result of the first player, from 0 to 1.
    fn value(&self, state: &PyState) -> PyResult<f32> {
        let cursor = cursor(&self.shared, state)?;
        if cursor.is_terminal() {
            let payoffs = &cursor.shape().payoffs;
            let width = payoffs.end() - payoffs.start();
            let first = cursor.shape().players().next().unwrap_or(Role::new(0));
            let share =
                (cursor.payoff(first) - payoffs.start()) / if width > 0.0 { width } else { 1.0 };
            return Ok(share as f32);
        }
        Ok(self.evaluator().value(cursor.state()))
    }

    /// Returns the values of all games of a batch.
    fn values<'py>(&self, py: Python<'py>, batch: &PyBatch) -> PyResult<Bound<'py, PyArray1<f32>>> {
        need_numpy(py)?;
        if !PyGame(Arc::clone(&self.shared)).is_same(&batch.shared) {
            return Err(wrong(&"the batch belongs to another game"));
        }
        let values = py.detach(|| {
            let mut evaluator = self.evaluator();
            let mut batch = batch.lock();
            batch.states().iter().map(|state: &Bits| evaluator.value(state)).collect()
        });
        Ok(PyArray1::from_vec(py, values))
    }

    /// Returns what was learnt so far as a `Model`.
    fn model(&self, py: Python<'_>) -> PyModel {
        let game = self.game();
        let model = py.detach(|| {
            let history = new_history(&game);
            self.lock().game_model(&start(self.numbers()), history)
        });
        PyModel::new(Arc::clone(&self.shared), Arc::new(model))
    }

    /// Searches with the evaluation and returns a `Report`. At least one limit must be given.
    #[pyo3(signature = (state, *, seconds = None, nodes = None, role = None))]
    fn think<'py>(
        &self,
        py: Python<'py>,
        state: &PyState,
        seconds: Option<f64>,
        nodes: Option<u64>,
        role: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        think(py, &self.shared, self.evaluator(), state, budget(seconds, None, nodes)?, role)
    }

    /// Plays as a player of a match: thinks for most of the time that is left, or for a fixed
    /// number of nodes where there is no clock.
    fn play(&self, py: Python<'_>, view: &Bound<'_, PyAny>) -> PyResult<String> {
        play(view, |state, seconds, nodes, role| self.think(py, state, seconds, nodes, Some(role)))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let learner = slf.get();
        let make = py.import("agon._agon")?.getattr("_relearn")?;
        let saved = PyBytes::new(py, &learner.model(py).bytes(py)?);
        (make, (learner.game(), learner.seed, saved)).into_pyobject(py)
    }

    fn __repr__(&self) -> String {
        format!("<agon.Learner of {}: {} games>", self.shared.game.name(), self.n_games())
    }
}

/// Number of nodes of a search in a match without a clock.
const MATCH_NODES: u64 = 20_000;

/// Makes a learner again from what one has saved, for pickles. It has one thread.
#[pyfunction]
pub(crate) fn _relearn(
    py: Python<'_>,
    game: &PyGame,
    seed: u64,
    saved: &[u8],
) -> PyResult<PyLearner> {
    let model = _model(game, saved)?.model;
    let start = start(game.numbers()?);
    let options = TrainOptions { seed, ..TrainOptions::default() };
    let made = py.detach(move || model.learner(&start, options));
    PyLearner::of(game, made, seed)
}

/// Searches with an evaluation and returns a `Report`.
pub(crate) fn think<'py>(
    py: Python<'py>,
    shared: &Arc<Shared>,
    evaluator: LearntEvaluator<ScalarCircuit>,
    state: &PyState,
    budget: Budget,
    role: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut position = cursor(shared, state)?;
    state.check_running()?;
    if !Minimax::<ScalarCircuit, LearntEvaluator<ScalarCircuit>>::suits(&position) {
        return Err(wrong(&"it is not proved that the players take turns: use Game.player"));
    }
    let shape = position.shape().clone();
    let role = match role {
        Some(role) => role_of(&shape, role)?,
        None => {
            let mut choosers = shape.players().filter(|r| position.legal_moves(*r).len() > 1);
            choosers.next().or_else(|| shape.players().next()).unwrap_or(Role::new(0))
        }
    };
    let stop = Arc::clone(&budget.stop);
    let report = interruptible(py, &stop, || {
        let mut search = Minimax::new(MinimaxOptions::default(), evaluator);
        let report = search.think(&mut position, role, &budget);
        let text = |m| position.move_text(m);
        agon::Report {
            best_move: text(&report.best),
            role,
            value: report.value,
            is_proven: report.is_proven,
            considered: report
                .candidates
                .iter()
                .map(|candidate| Considered {
                    text: text(&candidate.m),
                    visits: candidate.visits,
                    value: candidate.value,
                    probability: candidate.probability,
                    is_proven: candidate.is_proven,
                    line: Vec::new(),
                })
                .collect(),
            line: report.lines.first().map_or_else(Vec::new, |line| {
                line.joints.iter().map(|joint| joint.iter().map(text).collect()).collect()
            }),
            iterations: report.iterations,
            nodes: report.nodes,
            playouts: report.playouts,
            error: None,
        }
    })?;
    report_record(py, &shape, &report)
}

/// Plays as a player of a match. `think` gets the state, the seconds or the nodes, and the role.
pub(crate) fn play<'py>(
    view: &Bound<'py, PyAny>,
    think: impl FnOnce(
        &PyState,
        Option<f64>,
        Option<u64>,
        &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<String> {
    let state = view.getattr("state")?;
    let state = state.cast::<PyState>()?.get();
    let role = view.getattr("role")?;
    let seconds: Option<f64> = view.getattr("seconds")?.extract()?;
    let nodes = seconds.is_none().then_some(MATCH_NODES);
    let report = think(state, seconds.map(|seconds| 0.8 * seconds), nodes, &role)?;
    report.getattr("best_move")?.extract()
}

/// Returns the position of a state of a game with numbers, for searches.
fn cursor(shared: &Arc<Shared>, state: &PyState) -> PyResult<ScalarCircuit> {
    let game = PyGame(Arc::clone(shared));
    game.check_own(state)?;
    let mut cursor = start(game.numbers()?);
    match &*state.lock() {
        Inner::Numbered(position) => cursor.go_to(position.bits()),
        Inner::Text(_) => return Err(wrong(&"the state has no numbers")),
    }
    Ok(cursor)
}
