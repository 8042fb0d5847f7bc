//! Thousands of games at once, in numpy arrays.
//!
//! A batch owns its arrays and fills them again after each step. Python sees the same memory, so
//! nothing is copied.

use std::sync::{Arc, Mutex, PoisonError};

use agon::batch::{AtEnd, BatchError, GameBatch};
use numpy::ndarray::Dimension;
use numpy::{
    Element, PyArray, PyArray1, PyArray2, PyArray3, PyArrayDyn, PyArrayMethods as _,
    PyReadonlyArrayDyn, PyUntypedArrayMethods as _,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::convert::{need_numpy, role_of};
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
        let numbers = game.0.numbers.as_ref().map_err(|why| {
            wrong(&format!(
                "{why}; step single states (Game.start), or use agon.gymnasium.VectorEnv"
            ))
        })?;
        let at_end = if auto_reset { AtEnd::Restart } else { AtEnd::Stay };
        let batch = py.detach(|| GameBatch::new(numbers, n, seed, at_end));
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

/// Actions as 32-bit numbers in one piece.
enum GivenActions<'py> {
    Array(PyReadonlyArrayDyn<'py, i32>),
    Converted(Vec<i32>),
}

impl GivenActions<'_> {
    fn as_slice(&self) -> PyResult<&[i32]> {
        match self {
            GivenActions::Array(array) => Ok(array.as_slice()?),
            GivenActions::Converted(numbers) => Ok(numbers),
        }
    }
}

/// Reads actions. Arrays of 32-bit numbers are not copied. Other whole numbers are converted, and
/// anything else is refused, because rounded numbers would be other actions.
fn actions_of<'py>(given: &Bound<'py, PyAny>) -> PyResult<GivenActions<'py>> {
    if let Ok(array) = given.cast::<PyArrayDyn<i32>>()
        && array.is_c_contiguous()
    {
        return Ok(GivenActions::Array(array.try_readonly()?));
    }
    let py = given.py();
    let numpy = need_numpy(py)?;
    let array = numpy.call_method1("asarray", (given,))?;
    if array.getattr("size")?.extract::<usize>()? == 0 {
        return Ok(GivenActions::Converted(Vec::new()));
    }
    let dtype = array.getattr("dtype")?;
    if !numpy.call_method1("can_cast", (&dtype, "int64"))?.is_truthy()?
        || dtype.getattr("kind")?.eq("f")?
    {
        return Err(PyTypeError::new_err(format!("actions are whole numbers, not {dtype}")));
    }
    let array = numpy.call_method1("ascontiguousarray", (array, "int64"))?;
    let array = array.cast_into::<PyArrayDyn<i64>>()?;
    let array = array.try_readonly()?;
    let short = |&number: &i64| {
        i32::try_from(number).map_err(|_| {
            IllegalMoveError::new_err(format!("action {number} is not the number of a move"))
        })
    };
    let numbers: PyResult<Vec<i32>> = array.as_slice()?.iter().map(short).collect();
    Ok(GivenActions::Converted(numbers?))
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
    /// The game.
    #[getter]
    fn game(&self) -> PyGame {
        PyGame(Arc::clone(&self.shared))
    }

    fn __len__(&self) -> usize {
        self.lock().len()
    }

    /// Whether a step takes one action for each game: that of the player to move.
    #[getter]
    fn is_sequential(&self) -> bool {
        self.lock().is_sequential()
    }

    /// By game and player: the goal if the game ended in the last step, else 0. Float32.
    #[getter]
    fn rewards<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f32>> {
        self.rewards.bind(py).clone()
    }

    /// By game: whether it ended in the last step.
    #[getter]
    fn done<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<bool>> {
        self.done.bind(py).clone()
    }

    /// By game: the index in `Game.players` of the player to move; -1 if play has ended.
    #[getter]
    fn to_move<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let array = self.to_move.bind(py).clone();
        write(&array, |to_move| to_move.copy_from_slice(self.lock().to_move()))?;
        Ok(array)
    }

    /// By game: the number of steps since its start.
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

    /// The legal actions as ones, uint8: a row for each game, of the player to move. If players
    /// move at the same time, a row for each game and player.
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

    /// Returns the legal actions of a role as ones: a new array, a row for each game.
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

    /// The states as packed bits, uint64: a row for each game, a bit for each of `Game.fluents`.
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

    /// Returns the states as `float32` or `uint8`: a row for each game, a column for each of
    /// `Game.fluents`. The array is filled again by the next call.
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

    /// Makes a step in every game. `actions` has a number for each game; -1 draws a legal action.
    /// If players move at the same time, it has a number for each game and player. Returns
    /// `rewards` and `done`. An illegal action raises `IllegalMoveError`, and no game moves.
    fn step<'py>(&self, py: Python<'py>, actions: &Bound<'py, PyAny>) -> PyResult<Stepped<'py>> {
        self.act(py, actions, GameBatch::step)?;
        Ok((self.rewards(py), self.done(py)))
    }

    /// Makes `n` steps with random moves. Returns `rewards` and `done` of the last one.
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

    /// Makes the actions of a role, then random moves of the others until it is its turn again.
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

    /// Makes random moves of the others until it is this role's turn in every game.
    fn wait_for(&self, py: Python<'_>, role: &Bound<'_, PyAny>) -> PyResult<()> {
        let player = self.player(role)?;
        py.detach(|| self.lock().wait_for(player));
        self.fill(py)
    }

    /// Draws a legal action for each game, as `step` takes them: a new array.
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

    /// Restarts all games, or those marked in `mask`. `seed` starts the random numbers again.
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

    /// Sets a game of the batch to a state.
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

    /// Returns the games that ended in the last step, and the states in which they did.
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
