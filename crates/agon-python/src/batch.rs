//! Thousands of games at once, in numpy arrays.
//!
//! A batch owns its arrays and fills them again after each step. Python sees the same memory, so
//! nothing is copied.

use std::sync::{Arc, Mutex, PoisonError};

use agon::batch::{AtEnd, BatchError, GameBatch};
use agon::engine::{GamePosition, GameTask};
use agon_game::{Batch, PlayoutRequest, PlayoutStats, Rng, Role, SequentialBatch};
use numpy::ndarray::Dimension;
use numpy::{
    Element, PyArray, PyArray1, PyArray2, PyArray3, PyArrayDyn, PyArrayMethods as _,
    PyReadonlyArrayDyn, PyUntypedArrayMethods as _,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rand::SeedableRng as _;

use crate::convert::{need_numpy, record, role_of};
use crate::error::{AgonError, IllegalMoveError, wrong};
use crate::game::{PyGame, Shared};
use crate::inner::Inner;
use crate::state::PyState;

/// Maximum number of games in a batch.
const MAX_GAMES: usize = 1 << 22;

/// What a step returns: rewards by game and player, and whether each game has ended.
type Stepped<'py> = (Bound<'py, PyArray2<f32>>, Bound<'py, PyArray1<bool>>);
/// The games that have ended, and their last observations.
type LastSeen<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray2<f32>>);

/// Many games that are stepped together.
#[pyclass(frozen, name = "Batch", module = "agon")]
pub(crate) struct PyBatch {
    pub(crate) shared: Arc<Shared>,
    batch: Mutex<GameBatch>,
    rewards: Py<PyArray2<f32>>,
    done: Py<PyArray1<bool>>,
    to_move: Py<PyArray1<i32>>,
    n_steps: Py<PyArray1<u32>>,
    arrays: Mutex<Lazy>,
}

/// Arrays that are made when they are first asked for.
#[derive(Default)]
struct Lazy {
    legal: Option<Py<PyArray3<u8>>>,
    states: Option<Py<PyArray2<u64>>>,
    floats: Option<Py<PyArray2<f32>>>,
    bytes: Option<Py<PyArray2<u8>>>,
}

impl PyBatch {
    pub(crate) fn new(
        py: Python<'_>,
        game: &PyGame,
        n: usize,
        seed: u64,
        auto_reset: bool,
    ) -> PyResult<PyBatch> {
        need_numpy(py)?;
        if n == 0 || n > MAX_GAMES {
            return Err(PyValueError::new_err(format!(
                "a batch has from 1 to {MAX_GAMES} games, not {n}"
            )));
        }
        let numbers = Arc::clone(game.numbers()?);
        let at_end = if auto_reset { AtEnd::Restart } else { AtEnd::Stay };
        let batch = py.detach(|| GameBatch::new(&numbers, n, seed, at_end));
        let n_players = numbers.shape().players().count();
        let made = PyBatch {
            shared: Arc::clone(&game.0),
            rewards: PyArray2::zeros(py, [n, n_players], false).unbind(),
            done: PyArray1::zeros(py, n, false).unbind(),
            to_move: PyArray1::zeros(py, n, false).unbind(),
            n_steps: PyArray1::zeros(py, n, false).unbind(),
            arrays: Mutex::default(),
            batch: Mutex::new(batch),
        };
        made.fill(py)?;
        Ok(made)
    }

    pub(crate) fn lock(&self) -> std::sync::MutexGuard<'_, GameBatch> {
        self.batch.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fills the arrays that a step returns. The others are filled when they are asked for.
    fn fill(&self, py: Python<'_>) -> PyResult<()> {
        let batch = self.lock();
        write(self.rewards.bind(py), |rewards| rewards.copy_from_slice(batch.rewards()))?;
        write(self.done.bind(py), |done| done.copy_from_slice(batch.done()))
    }

    /// Makes a step with actions from Python, without the interpreter lock.
    fn act(
        &self,
        py: Python<'_>,
        actions: &Bound<'_, PyAny>,
        step: impl FnOnce(&mut GameBatch, &[i32]) -> Result<(), BatchError> + Send,
    ) -> PyResult<()> {
        {
            // The actions are given back before the arrays are filled, which may be the same.
            let actions = actions_of(actions)?;
            let actions = actions.as_slice()?;
            let stepped = py.detach(|| step(&mut self.lock(), actions));
            stepped.map_err(|error| IllegalMoveError::new_err(error.to_string()))?;
        }
        self.fill(py)
    }

    /// Returns the batch if it keeps what roles know.
    fn knowing(&self) -> PyResult<std::sync::MutexGuard<'_, GameBatch>> {
        let batch = self.lock();
        if !batch.knows() {
            return Err(wrong(&"this batch does not keep what roles know: see Batch.knows"));
        }
        Ok(batch)
    }

    fn player(&self, role: &Bound<'_, PyAny>) -> PyResult<usize> {
        let shape = self.shared.game.shape();
        let role = role_of(shape, role)?;
        let player = shape.players().position(|player| player == role);
        player.ok_or_else(|| wrong(&"nature does not choose its moves"))
    }
}

/// Returns actions as an array of 32-bit numbers in one piece.
fn actions_of<'py>(given: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArrayDyn<'py, i32>> {
    if let Ok(array) = given.cast::<PyArrayDyn<i32>>()
        && array.is_c_contiguous()
    {
        return Ok(array.try_readonly()?);
    }
    let numpy = need_numpy(given.py())?;
    let options = PyDict::new(given.py());
    options.set_item("dtype", numpy.getattr("int32")?)?;
    let array = numpy.call_method("ascontiguousarray", (given,), Some(&options))?;
    Ok(array.cast_into::<PyArrayDyn<i32>>()?.try_readonly()?)
}

/// Writes into an array of the batch.
fn write<T: Element, D: Dimension>(
    array: &Bound<'_, PyArray<T, D>>,
    work: impl FnOnce(&mut [T]),
) -> PyResult<()> {
    let mut borrowed = array.try_readwrite().map_err(|why| {
        AgonError::new_err(format!("an array of the batch cannot be written: {why}"))
    })?;
    work(borrowed.as_slice_mut()?);
    Ok(())
}

#[pymethods]
impl PyBatch {
    #[getter]
    fn game(&self) -> PyGame {
        PyGame(Arc::clone(&self.shared))
    }

    fn __len__(&self) -> usize {
        self.lock().len()
    }

    #[getter]
    fn is_sequential(&self) -> bool {
        self.lock().is_sequential()
    }

    #[getter]
    fn rewards<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f32>> {
        self.rewards.bind(py).clone()
    }

    #[getter]
    fn done<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        self.done.bind(py).clone()
    }

    #[getter]
    fn to_move<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let array = self.to_move.bind(py).clone();
        write(&array, |to_move| to_move.copy_from_slice(self.lock().to_move()))?;
        Ok(array)
    }

    #[getter]
    fn n_steps<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let array = self.n_steps.bind(py).clone();
        write(&array, |n_steps| n_steps.copy_from_slice(self.lock().n_steps()))?;
        Ok(array)
    }

    /// Returns whether the batch keeps what roles know of games with hidden information.
    #[getter]
    fn knows(&self) -> bool {
        self.lock().knows()
    }

    /// Returns what a role knows in each game, or what the player to move knows.
    #[pyo3(signature = (role = None))]
    fn knowledge<'py>(
        &self,
        py: Python<'py>,
        role: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let player = role.map(|role| self.player(role)).transpose()?;
        let mut batch = self.knowing()?;
        let array = PyArray2::zeros(py, [batch.len(), batch.n_knowledge(player)], false);
        write(&array, |rows| batch.write_knowledge(player, rows))?;
        Ok(array)
    }

    /// Returns the games that have ended, and what a role knew at their ends. Without a role,
    /// `movers` says for each game which player is meant.
    #[pyo3(signature = (role = None, movers = None))]
    fn final_knowledge<'py>(
        &self,
        py: Python<'py>,
        role: Option<&Bound<'py, PyAny>>,
        movers: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<LastSeen<'py>> {
        let player = role.map(|role| self.player(role)).transpose()?;
        let movers = movers.map(actions_of).transpose()?;
        let movers: &[i32] = match &movers {
            Some(movers) => movers.as_slice()?,
            None => &[],
        };
        let batch = self.knowing()?;
        let n_players = batch.numbers().shape().players().count();
        if movers.iter().any(|mover| usize::try_from(*mover).is_ok_and(|m| m >= n_players)) {
            return Err(PyValueError::new_err("movers has a player that the game has not"));
        }
        let mover = |game: usize| movers.get(game).and_then(|m| usize::try_from(*m).ok());
        let last = batch.last_knowledge(player, &|game| mover(game).unwrap_or(0));
        let width = batch.n_knowledge(player);
        let rows = PyArray2::zeros(py, [last.len(), width], false);
        write(&rows, |all| {
            let places = all.chunks_exact_mut(width.max(1));
            places.zip(&last).for_each(|(place, (_, row))| place.copy_from_slice(row));
        })?;
        let games = last.iter().map(|(game, _)| *game as i64).collect();
        Ok((PyArray1::from_vec(py, games), rows))
    }

    #[getter]
    fn legal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut arrays = self.arrays.lock().unwrap_or_else(PoisonError::into_inner);
        let mut batch = self.lock();
        let n_actions = batch.numbers().actions().len();
        let per_game = batch.n_actions_of_a_step() / batch.len().max(1);
        let shape = [batch.len(), per_game, n_actions];
        let array = arrays.legal.get_or_insert_with(|| PyArray3::zeros(py, shape, false).unbind());
        let array = array.bind(py).clone();
        write(&array, |masks| batch.write_masks(masks))?;
        if batch.is_sequential() {
            return array.call_method1("reshape", ((shape[0], shape[2]),));
        }
        Ok(array.into_any())
    }

    fn legal_of<'py>(
        &self,
        py: Python<'py>,
        role: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let player = self.player(role)?;
        let mut batch = self.lock();
        let shape = [batch.len(), batch.numbers().actions().len()];
        let array = PyArray2::zeros(py, shape, false);
        write(&array, |masks| batch.write_masks_of(player, masks))?;
        Ok(array)
    }

    #[getter]
    fn states<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u64>>> {
        let mut arrays = self.arrays.lock().unwrap_or_else(PoisonError::into_inner);
        let mut batch = self.lock();
        let shape = [batch.len(), batch.n_state_words()];
        let array = arrays.states.get_or_insert_with(|| PyArray2::zeros(py, shape, false).unbind());
        let array = array.bind(py).clone();
        write(&array, |words| batch.write_bits(words))?;
        Ok(array)
    }

    #[pyo3(signature = (dtype = "float32"))]
    fn observe<'py>(&self, py: Python<'py>, dtype: &str) -> PyResult<Bound<'py, PyAny>> {
        let mut arrays = self.arrays.lock().unwrap_or_else(PoisonError::into_inner);
        let mut batch = self.lock();
        let shape = [batch.len(), batch.numbers().fluents().len()];
        match dtype {
            "float32" => {
                let make = || PyArray2::zeros(py, shape, false).unbind();
                let array = arrays.floats.get_or_insert_with(make).bind(py).clone();
                write(&array, |rows| batch.write_fluents(1.0, rows))?;
                Ok(array.into_any())
            }
            "uint8" => {
                let make = || PyArray2::zeros(py, shape, false).unbind();
                let array = arrays.bytes.get_or_insert_with(make).bind(py).clone();
                write(&array, |rows| batch.write_fluents(1, rows))?;
                Ok(array.into_any())
            }
            _ => Err(PyValueError::new_err("dtype is `float32` or `uint8`")),
        }
    }

    fn step<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Stepped<'py>> {
        self.act(py, actions, GameBatch::step)?;
        Ok((self.rewards(py), self.done(py)))
    }

    #[pyo3(signature = (n = 1))]
    fn step_random<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Stepped<'py>> {
        let mut left = n;
        while left > 0 {
            let now = left.min(64);
            py.detach(|| self.lock().step_randomly(now));
            left -= now;
            py.check_signals()?;
        }
        self.fill(py)?;
        Ok((self.rewards(py), self.done(py)))
    }

    fn step_as<'py>(
        &self,
        py: Python<'py>,
        role: &Bound<'py, PyAny>,
        actions: &Bound<'py, PyAny>,
    ) -> PyResult<Stepped<'py>> {
        let player = self.player(role)?;
        self.act(py, actions, |batch, actions| batch.step_as(player, actions))?;
        Ok((self.rewards(py), self.done(py)))
    }

    fn wait_for(&self, py: Python<'_>, role: &Bound<'_, PyAny>) -> PyResult<()> {
        let player = self.player(role)?;
        py.detach(|| self.lock().wait_for(player));
        self.fill(py)
    }

    fn random_actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut batch = self.lock();
        let n = batch.n_actions_of_a_step();
        let array = PyArray1::zeros(py, n, false);
        write(&array, |actions| batch.draw_actions(actions))?;
        if batch.is_sequential() {
            return Ok(array.into_any());
        }
        array.call_method1("reshape", ((batch.len(), n / batch.len()),))
    }

    #[pyo3(signature = (mask = None, *, seed = None))]
    fn reset(
        &self,
        py: Python<'_>,
        mask: Option<&Bound<'_, PyArray1<bool>>>,
        seed: Option<u64>,
    ) -> PyResult<()> {
        {
            let mut batch = self.lock();
            if let Some(seed) = seed {
                batch.reseed(seed);
            }
            match mask {
                None => batch.reset(|_| true),
                Some(mask) => {
                    let mask = mask.readonly();
                    let chosen = mask.as_slice()?;
                    if chosen.len() != batch.len() {
                        return Err(PyValueError::new_err(format!(
                            "the mask has {} entries for {} games",
                            chosen.len(),
                            batch.len()
                        )));
                    }
                    batch.reset(|game| chosen[game]);
                }
            }
        }
        self.fill(py)
    }

    fn load(&self, py: Python<'_>, index: usize, state: &PyState) -> PyResult<()> {
        self.game().check_own(state)?;
        {
            let mut batch = self.lock();
            if index >= batch.len() {
                return Err(pyo3::exceptions::PyIndexError::new_err(format!(
                    "the batch has {} games",
                    batch.len()
                )));
            }
            match &*state.lock() {
                Inner::Numbered(position) => batch.load(index, position),
                Inner::Text(_) => return Err(wrong(&"the state has no numbers")),
            }
        }
        self.fill(py)
    }

    fn final_observations<'py>(&self, py: Python<'py>) -> PyResult<LastSeen<'py>> {
        let batch = self.lock();
        let last = batch.last_states();
        let n_fluents = batch.numbers().fluents().len();
        let games = last.iter().map(|(game, _)| *game as i64).collect();
        let rows = PyArray2::zeros(py, [last.len(), n_fluents], false);
        write(&rows, |all| {
            for ((_, state), row) in last.iter().zip(all.chunks_exact_mut(n_fluents.max(1))) {
                agon::batch::write_fluents(state, 1.0, row);
            }
        })?;
        Ok((PyArray1::from_vec(py, games), rows))
    }

    fn __repr__(&self) -> String {
        format!("<agon.Batch of {} games of {}>", self.lock().len(), self.shared.game.name())
    }
}

/// Plays out states and returns means, by state and role.
pub(crate) fn playouts<'py>(
    py: Python<'py>,
    game: &PyGame,
    states: &[PyRef<'py, PyState>],
    n: u64,
    seed: u64,
    max_steps: u64,
) -> PyResult<Bound<'py, PyAny>> {
    need_numpy(py)?;
    for state in states {
        game.check_own(state)?;
    }
    let histories: Vec<Vec<Vec<String>>> = states
        .iter()
        .map(|state| state.position().history().map(<[String]>::to_vec).collect())
        .collect();
    let running = py.detach(|| game.0.game.run(Start { histories, n, seed, max_steps }));
    let mut running = running.map_err(|why| wrong(&why))?;
    loop {
        let is_done = py.detach(|| running.step(STRETCH));
        py.check_signals()?;
        if is_done {
            break;
        }
    }
    let stats = running.finish();
    let n_roles = game.0.game.shape().role_names.len();
    let (means, deviations) = (
        PyArray2::<f64>::zeros(py, [stats.len(), n_roles], false),
        PyArray2::<f64>::zeros(py, [stats.len(), n_roles], false),
    );
    for (row, stats) in stats.iter().enumerate() {
        for role in (0..n_roles).map(Role::new) {
            let mean = stats.mean_payoff(role);
            let square = stats.square_sums[role.index()] / stats.n_playouts.max(1) as f64;
            means.readwrite().as_array_mut()[[row, role.index()]] = mean;
            deviations.readwrite().as_array_mut()[[row, role.index()]] =
                (square - mean * mean).max(0.0).sqrt();
        }
    }
    let fields = PyDict::new(py);
    fields.set_item("means", means)?;
    fields.set_item("deviations", deviations)?;
    let lengths = stats.iter().map(PlayoutStats::mean_length).collect();
    fields.set_item("lengths", PyArray1::from_vec(py, lengths))?;
    let cut = stats.iter().map(|stats| stats.n_cut).collect();
    fields.set_item("cut", PyArray1::from_vec(py, cut))?;
    fields.set_item("n", n)?;
    record(py, "Playouts", &fields)
}

/// Number of steps of playouts between two checks for Ctrl-C.
const STRETCH: u64 = 20_000;

/// Playouts in progress, of any engine.
trait Running: Send {
    fn step(&mut self, n_steps: u64) -> bool;
    fn finish(&mut self) -> Vec<PlayoutStats>;
}

struct RunningBatch<S, M>(Box<dyn Batch<State = S, Move = M>>);

impl<S, M> Running for RunningBatch<S, M> {
    fn step(&mut self, n_steps: u64) -> bool {
        self.0.step(n_steps)
    }

    fn finish(&mut self) -> Vec<PlayoutStats> {
        let mut stats = Vec::new();
        self.0.finish(&mut stats);
        stats
    }
}

/// Begins playouts.
struct Start {
    histories: Vec<Vec<Vec<String>>>,
    n: u64,
    seed: u64,
    max_steps: u64,
}

impl GameTask for Start {
    type Output = Result<Box<dyn Running>, String>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Self::Output {
        let mut requests = Vec::new();
        for history in &self.histories {
            let mut position = start.clone();
            for joint in history {
                let roles = position.shape().roles();
                let moves: Option<Vec<P::Move>> =
                    roles.zip(joint).map(|(role, text)| position.parse_move(role, text)).collect();
                position.advance(&moves.ok_or("a state cannot be reached again")?);
            }
            let (state, n_playouts) = (position.state().clone(), self.n);
            requests.push(PlayoutRequest { state, n_playouts, expected_steps: 0 });
        }
        let mut engine = start.batch(self.seed).unwrap_or_else(|| {
            Box::new(SequentialBatch::new(start.clone(), Rng::seed_from_u64(self.seed)))
        });
        engine.begin(&requests, self.max_steps);
        Ok(Box::new(RunningBatch(engine)))
    }
}
