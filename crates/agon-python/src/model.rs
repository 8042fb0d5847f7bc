//! Models: learnt evaluations that players use, and networks as arrays.

use std::path::PathBuf;
use std::sync::Arc;

use agon::Role;
use agon::learn::positions::{PlayedBy, PositionOptions, collect_positions};
use agon::models::{
    GameModel, Labels, Model, ModelKind, ModelStore, fit, from_onnx, read_model,
    remove_training_states, to_onnx, write_model,
};
use agon_circuit::{Bits, ScalarCircuit};
use agon_game::Position as _;
use agon_learn::{Exchange, Layers, LearntEvaluator, ModelHistory, TrainOptions};
use numpy::{
    PyArray1, PyArray2, PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods as _,
};
use pyo3::exceptions::{PyFileExistsError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::batch::PyBatch;
use crate::convert::need_numpy;
use crate::error::wrong;
use crate::game::{PyGame, Shared, budget};
use crate::inner::Inner;
use crate::interrupt::interruptible;
use crate::learn::{PyLearner, start, think};
use crate::play::now;
use crate::player::PyPlayer;
use crate::state::PyState;

/// A learnt evaluation of a game. Immutable.
#[pyclass(frozen, name = "Model", module = "agon")]
pub(crate) struct PyModel {
    shared: Arc<Shared>,
    pub(crate) model: Arc<GameModel>,
}

impl PyModel {
    pub(crate) fn new(shared: Arc<Shared>, model: Arc<GameModel>) -> PyModel {
        PyModel { shared, model }
    }

    /// Fits a stored model to a game.
    fn fitted(game: &PyGame, model: &Model) -> PyResult<PyModel> {
        game.numbers()?;
        let fitted = fit(&game.0.game, model).map_err(|why| wrong(&why))?;
        Ok(PyModel::new(Arc::clone(&game.0), Arc::new(fitted)))
    }

    /// Raises an exception if a game has other rules.
    pub(crate) fn check_game(&self, game: &PyGame) -> PyResult<()> {
        if game.is_same(&self.shared) {
            return Ok(());
        }
        Err(wrong(&format!(
            "the model is one of {}, not of {}",
            self.shared.game.name(),
            game.0.game.name()
        )))
    }

    fn start(&self) -> ScalarCircuit {
        start(self.shared.numbers.as_ref().expect("models are of games with numbers"))
    }

    fn evaluator(&self) -> LearntEvaluator<ScalarCircuit> {
        self.model.evaluator(&self.start()).expect("the model was fitted to the game")
    }

    /// Returns the model for files, with labels that make it fit other names, or as it is.
    pub(crate) fn stored(&self, labels: &Labels) -> PyResult<Model> {
        let model = self.model.to_model(&self.start(), labels);
        model.ok_or_else(|| wrong(&"a name of the game has no label"))
    }

    /// Returns the bytes from which [`_model`] makes the same model of the same game.
    pub(crate) fn bytes(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        py.detach(|| Ok(self.stored(&Labels::exact())?.to_bytes()))
    }
}

/// Returns the history of a model that is made now.
pub(crate) fn new_history(game: &PyGame) -> ModelHistory {
    ModelHistory {
        game: game.0.game.name().to_owned(),
        key: game.0.game.key().key,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        written: now() / 1000,
        ..ModelHistory::default()
    }
}

/// Returns the values of states, by state and output.
fn evaluate<'s>(
    mut evaluator: LearntEvaluator<ScalarCircuit>,
    states: impl Iterator<Item = &'s Bits>,
) -> Vec<f32> {
    let n = evaluator.n_values();
    states
        .flat_map(|state| (0..n).map(|at| evaluator.value_of(at, state)).collect::<Vec<_>>())
        .collect()
}

#[pymethods]
impl PyModel {
    /// The game.
    #[getter]
    fn game(&self) -> PyGame {
        PyGame(Arc::clone(&self.shared))
    }

    /// The form of the evaluation: `tables` or `network`.
    #[getter]
    fn form(&self) -> &'static str {
        self.model.kind().name()
    }

    /// The number of games of self-play that it was learnt from.
    #[getter]
    fn n_games(&self) -> u64 {
        self.model.history().n_games
    }

    /// The number of values of a state: one for the first of two players alone, otherwise one for
    /// each player.
    #[getter]
    fn n_values(&self) -> usize {
        self.evaluator().n_values()
    }

    /// Returns the expected result of each player at a state, from 0 to 1.
    fn value(&self, state: &PyState) -> PyResult<Vec<f32>> {
        self.game().check_own(state)?;
        let mut position = self.start();
        match &*state.lock() {
            Inner::Numbered(numbered) => position.go_to(numbered.bits()),
            Inner::Text(_) => return Err(wrong(&"the state has no numbers")),
        }
        let shape = position.shape();
        let players: Vec<Role> = shape.players().collect();
        if position.is_terminal() {
            let (least, most) = (*shape.payoffs.start(), *shape.payoffs.end());
            let range = if most > least { most - least } else { 1.0 };
            let part = |&role: &Role| ((position.payoff(role) - least) / range) as f32;
            return Ok(players.iter().map(part).collect());
        }
        let values = evaluate(self.evaluator(), std::iter::once(position.state()));
        Ok(match values[..] {
            [value] if players.len() == 2 => vec![value, 1.0 - value],
            _ => values,
        })
    }

    /// Returns the values of many states: float32, by state and output. `states` is a `Batch`, or
    /// an array of zeros and ones with a column for each of `Game.fluents`.
    fn values<'py>(
        &self,
        py: Python<'py>,
        states: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let numpy = need_numpy(py)?;
        let n_values = self.n_values();
        let values = if let Ok(batch) = states.cast::<PyBatch>() {
            let batch = batch.get();
            self.check_game(&PyGame(Arc::clone(&batch.shared)))?;
            py.detach(|| evaluate(self.evaluator(), batch.lock().states().iter()))
        } else {
            let array = numpy.call_method1("asarray", (states,))?;
            let n_facts = self.game().numbers()?.fluents().len();
            let shape: Vec<usize> = array.getattr("shape")?.extract()?;
            if shape.len() != 2 || shape[1] != n_facts {
                return Err(wrong(&format!(
                    "states have the shape {shape:?}, and it should be (n, {n_facts}): a column for \
                     each of Game.fluents"
                )));
            }
            let ones = array.call_method1("__eq__", (1,))?;
            let zeros = array.call_method1("__eq__", (0,))?;
            let all: bool =
                ones.call_method1("__or__", (zeros,))?.call_method0("all")?.extract()?;
            if !all {
                return Err(wrong(&"states consist of zeros and ones"));
            }
            let ones = numpy.call_method1("ascontiguousarray", (ones,))?;
            let ones: PyReadonlyArray2<'_, bool> = ones.extract()?;
            let rows = ones.as_slice()?;
            py.detach(|| {
                let start = self.start();
                let states: Vec<Bits> = rows
                    .chunks_exact(n_facts)
                    .map(|row| {
                        let mut words = vec![0_u64; n_facts.div_ceil(64)];
                        for (fact, _) in row.iter().enumerate().filter(|(_, holds)| **holds) {
                            words[fact / 64] |= 1 << (fact % 64);
                        }
                        start.state_of_words(&words).expect("states of circuits are words")
                    })
                    .collect();
                evaluate(self.evaluator(), states.iter())
            })
        };
        PyArray1::from_vec(py, values).reshape([states.len()?, n_values])
    }

    /// Returns a built-in player that uses the model.
    #[pyo3(signature = (spec = "minimax", *, seed = 1))]
    fn player(&self, spec: &str, seed: u64) -> PyResult<PyPlayer> {
        self.game().with_model(Some(self))?.player(spec, seed)
    }

    /// Returns a learner that goes on where the model ends.
    #[pyo3(signature = (*, seed = 1, threads = 1))]
    fn learner(&self, py: Python<'_>, seed: u64, threads: usize) -> PyResult<PyLearner> {
        let options =
            TrainOptions { seed, threads: checked_threads(threads)?, ..TrainOptions::default() };
        let made = py.detach(|| self.model.learner(&self.start(), options));
        PyLearner::of(&self.game(), made, seed)
    }

    /// Searches with the model and returns a `Report`. At least one limit must be given.
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
        crate::learn::play(view, |state, seconds, nodes, role| {
            self.think(py, state, seconds, nodes, Some(role))
        })
    }

    /// Returns the weights of a network as arrays.
    fn network<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        need_numpy(py)?;
        let layers = self.model.layers().ok_or_else(|| {
            wrong(&"the model has tables, not a network: Game.learn(form=\"network\") makes one")
        })?;
        let Layers { n_facts, n_hidden, n_outputs, .. } = layers;
        let fields = PyDict::new(py);
        fields.set_item("hidden_biases", PyArray1::from_vec(py, layers.hidden_biases))?;
        fields.set_item("output_biases", PyArray1::from_vec(py, layers.output_biases))?;
        let hidden = PyArray1::from_vec(py, layers.hidden_weights).reshape([n_facts, n_hidden])?;
        fields.set_item("hidden_weights", hidden)?;
        let output = PyArray1::from_vec(py, layers.output_weights);
        fields.set_item("output_weights", output.reshape([n_hidden, n_outputs])?)?;
        fields.set_item("ceiling", layers.ceiling)?;
        let classes = py.import("agon.learn")?;
        if let Some(Exchange { turn, images }) = layers.exchange {
            let images = PyArray1::from_iter(py, images.into_iter().map(i64::from));
            fields.set_item("exchange", classes.getattr("Exchange")?.call1((turn, images))?)?;
        }
        classes.getattr("Network")?.call((), Some(&fields))
    }

    /// Writes the network as an ONNX file, and returns the path.
    fn export_onnx<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        let bytes = py.detach(|| to_onnx(&self.shared.game, &self.model));
        std::fs::write(&path, bytes.map_err(|why| wrong(&why))?)?;
        py.import("pathlib")?.getattr("Path")?.call1((path,))
    }

    /// Writes the model to a file, or into the user's store of models, and returns the path.
    #[pyo3(signature = (path = None, *, replace = false))]
    fn save<'py>(
        &self,
        py: Python<'py>,
        path: Option<PathBuf>,
        replace: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let path = match path {
            Some(path) => path,
            None => store()?.path(self.shared.game.key().key),
        };
        if path.exists() && !replace {
            let message = format!("{} is there already: replace=True replaces it", path.display());
            return Err(PyFileExistsError::new_err(message));
        }
        py.detach(|| {
            let model = self.stored(&self.shared.game.key().labels)?.without_training_state();
            write_model(&path, &model)
                .and_then(|()| remove_training_states(&path))
                .map_err(|why| wrong(&why))
        })?;
        py.import("pathlib")?.getattr("Path")?.call1((path,))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let make = py.import("agon._agon")?.getattr("_model")?;
        let model = slf.get();
        (make, (model.game(), PyBytes::new(py, &model.bytes(py)?))).into_pyobject(py)
    }

    fn __repr__(&self) -> String {
        let name = self.shared.game.name();
        let n = self.model.facts().n_patterns;
        let size = match self.model.kind() {
            ModelKind::Tables => format!("{n} patterns"),
            ModelKind::Network => format!("{n} hidden units"),
        };
        format!("<agon.Model of {name}: {}, {size}>", self.form())
    }
}

/// Returns a number of threads if it is sensible.
pub(crate) fn checked_threads(threads: usize) -> PyResult<usize> {
    match threads {
        1..=256 => Ok(threads),
        _ => Err(PyValueError::new_err(format!("threads: {threads} is not from 1 to 256"))),
    }
}

fn store() -> PyResult<ModelStore> {
    let folder = ModelStore::folder_of_user()
        .ok_or_else(|| wrong(&"there is no folder for models: set AGON_MODELS or give a path"))?;
    Ok(ModelStore::at(&folder))
}

/// Makes a model again from its bytes, for pickles.
#[pyfunction]
pub(crate) fn _model(game: &PyGame, bytes: &[u8]) -> PyResult<PyModel> {
    game.numbers()?;
    let model = Model::from_bytes(bytes).map_err(|why| wrong(&why))?;
    let fitted = model.for_game(&start(game.numbers()?), &Labels::exact());
    Ok(PyModel::new(Arc::clone(&game.0), Arc::new(fitted.map_err(|why| wrong(&why))?)))
}

/// Reads the model of a game from a file, or from the user's store of models.
#[pyfunction]
#[pyo3(signature = (game, path = None))]
pub(crate) fn _load_model(
    py: Python<'_>,
    game: &PyGame,
    path: Option<PathBuf>,
) -> PyResult<PyModel> {
    let path = match path {
        Some(path) => path,
        None => {
            let path = store()?.path(game.0.game.key().key);
            if !path.exists() {
                let name = game.0.game.name();
                return Err(wrong(&format!(
                    "the store has no model of {name}: `agon learn {name}` or Model.save makes one"
                )));
            }
            path
        }
    };
    if !path.exists() {
        let message = format!("there is no file {}", path.display());
        return Err(pyo3::exceptions::PyFileNotFoundError::new_err(message));
    }
    let model = py.detach(|| read_model(&path)).map_err(|why| wrong(&why))?;
    PyModel::fitted(game, &model)
}

/// Reads a network from the bytes of an ONNX file.
#[pyfunction]
pub(crate) fn _model_of_onnx(py: Python<'_>, game: &PyGame, bytes: &[u8]) -> PyResult<PyModel> {
    game.numbers()?;
    let model = py.detach(|| from_onnx(&game.0.game, bytes, now() / 1000));
    PyModel::fitted(game, &model.map_err(|why| wrong(&why))?)
}

/// Makes a model of a network, given as the fields of `agon.learn.Network` without dimensions.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "they are the fields of a class of Python")]
pub(crate) fn _model_of_network(
    py: Python<'_>,
    game: &PyGame,
    hidden_weights: PyReadonlyArray1<'_, f32>,
    hidden_biases: PyReadonlyArray1<'_, f32>,
    output_weights: PyReadonlyArray1<'_, f32>,
    output_biases: PyReadonlyArray1<'_, f32>,
    ceiling: Option<f32>,
    exchange: Option<(u32, Vec<u32>)>,
) -> PyResult<PyModel> {
    let numbers = game.numbers()?;
    let (n_hidden, n_outputs) = (hidden_biases.len(), output_biases.len());
    let layers = Layers {
        n_facts: hidden_weights.len() / n_hidden.max(1),
        n_hidden,
        n_outputs,
        hidden_weights: hidden_weights.as_slice()?.to_vec(),
        hidden_biases: hidden_biases.as_slice()?.to_vec(),
        output_weights: output_weights.as_slice()?.to_vec(),
        output_biases: output_biases.as_slice()?.to_vec(),
        ceiling,
        exchange: exchange.map(|(turn, images)| Exchange { turn, images }),
    };
    let start = start(numbers);
    let made = py.detach(move || {
        let model = Model::from_layers(&layers, &start, &Labels::exact(), new_history(game));
        let model = model.map_err(|why| wrong(&why))?;
        model.for_game(&start, &Labels::exact()).map_err(|why| wrong(&why))
    })?;
    Ok(PyModel::new(Arc::clone(&game.0), Arc::new(made)))
}

/// Collects positions of plays, in the fields of `agon.learn.Positions`.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "they are the arguments of a function of Python")]
pub(crate) fn _positions<'py>(
    py: Python<'py>,
    game: &PyGame,
    n: usize,
    seed: u64,
    by: &Bound<'py, PyAny>,
    iterations: u64,
    exploration: f64,
    opening: u32,
    max_steps: usize,
    search: Option<u64>,
    dtype: &str,
) -> PyResult<Bound<'py, PyDict>> {
    need_numpy(py)?;
    if !matches!(dtype, "uint8" | "float32") {
        return Err(PyValueError::new_err("dtype is `float32` or `uint8`"));
    }
    if !(0.0..=1.0).contains(&exploration) {
        return Err(PyValueError::new_err(format!(
            "exploration: {exploration} is not from 0 to 1"
        )));
    }
    if n == 0 || iterations == 0 || max_steps == 0 || search == Some(0) {
        return Err(PyValueError::new_err("n, iterations, max_steps and search must be above 0"));
    }
    let n_facts = game.numbers()?.fluents().len();
    let options = PositionOptions {
        n,
        seed,
        exploration,
        opening,
        max_steps,
        search_iterations: search,
        ..PositionOptions::default()
    };
    let stop = Arc::clone(&options.stop);
    let rules = &game.0.game;
    let collected = if let Ok(model) = by.cast::<PyModel>() {
        let model = model.get();
        model.check_game(game)?;
        let by = PlayedBy::Model(&model.model);
        interruptible(py, &stop, || collect_positions(rules, by, &options))?
    } else if let Ok(player) = by.cast::<PyPlayer>() {
        // A player of a game with a model plays with that model.
        let player = player.get();
        if !game.is_same(&player.shared) {
            return Err(wrong(&"by: the player belongs to another game"));
        }
        let by = PlayedBy::Player { spec: &player.spec, iterations };
        interruptible(py, &stop, || collect_positions(&player.shared.game, by, &options))?
    } else {
        let spec: String = by.extract().map_err(|_| {
            PyTypeError::new_err(
                "by: give `random`, the specification of a built-in player, a Player or a Model",
            )
        })?;
        let by = match spec.trim() {
            "random" => PlayedBy::Random,
            spec => PlayedBy::Player { spec, iterations },
        };
        interruptible(py, &stop, || collect_positions(rules, by, &options))?
    };
    let found = collected.map_err(|why| wrong(&why))?;
    let n = found.len();
    let fields = PyDict::new(py);
    let states = found.words.chunks_exact(found.n_words.max(1));
    let holds = |words: &[u64], fact: usize| words[fact / 64] >> (fact % 64) & 1 == 1;
    if dtype == "uint8" {
        let bits =
            states.flat_map(|words| (0..n_facts).map(move |fact| u8::from(holds(words, fact))));
        fields.set_item("facts", PyArray1::from_iter(py, bits).reshape([n, n_facts])?)?;
    } else {
        let bits = states.flat_map(|words| {
            (0..n_facts).map(move |fact| f32::from(u8::from(holds(words, fact))))
        });
        fields.set_item("facts", PyArray1::from_iter(py, bits).reshape([n, n_facts])?)?;
    }
    let by_player = [n, found.n_players];
    let outcomes = PyArray1::from_vec(py, found.outcomes).reshape(by_player)?;
    fields.set_item("outcomes", outcomes)?;
    fields.set_item("turn", PyArray1::from_vec(py, found.movers))?;
    fields.set_item("play", PyArray1::from_iter(py, found.plays.into_iter().map(i64::from)))?;
    fields.set_item("step", PyArray1::from_iter(py, found.steps.into_iter().map(i64::from)))?;
    if search.is_some() {
        let searched = PyArray1::from_vec(py, found.searched).reshape(by_player)?;
        fields.set_item("search", searched)?;
    }
    Ok(fields)
}
