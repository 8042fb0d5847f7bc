//! Positions.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use agon::numbered::ToMove;
use agon::{Position, Rng, Role};
use numpy::PyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rand::SeedableRng as _;

use crate::convert::{need_numpy, role_of, to_python};
use crate::drawing::{self, Pixels};
use crate::error::{IllegalMoveError, wrong};
use crate::game::{PyGame, Shared};
use crate::inner::{Inner, MoveGiven};

/// A family of moves for Python: its text, and the name and interval of each parameter.
type Family = (String, Vec<(String, f64, f64)>);

/// A position of a game.
#[pyclass(frozen, name = "State", module = "agon")]
pub(crate) struct PyState {
    pub(crate) shared: Arc<Shared>,
    /// From which nature's moves are drawn where none is given.
    seed: u64,
    inner: Mutex<Inner>,
}

impl PyState {
    pub(crate) fn start(shared: Arc<Shared>, seed: u64) -> PyState {
        let inner = match &shared.numbers {
            Ok(numbers) => Inner::Numbered(Box::new(numbers.start())),
            Err(_) => Inner::Text(Box::new(shared.game.start())),
        };
        PyState { shared, seed, inner: Mutex::new(inner) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the position with text moves.
    pub(crate) fn position(&self) -> Position {
        match &*self.lock() {
            Inner::Numbered(position) => position.to_position(),
            Inner::Text(position) => (**position).clone(),
        }
    }

    pub(crate) fn duplicate(&self) -> PyState {
        let inner = self.lock().clone();
        PyState { shared: Arc::clone(&self.shared), seed: self.seed, inner: Mutex::new(inner) }
    }

    /// Raises an exception if play has ended, so that there is nothing to think about.
    pub(crate) fn check_running(&self) -> PyResult<()> {
        if self.lock().is_terminal() {
            return Err(IllegalMoveError::new_err("the game has ended: there is no move to find"));
        }
        Ok(())
    }

    /// Makes the joint move that a player observed.
    pub(crate) fn follow(&self, joint: &[String]) -> PyResult<()> {
        let joint: Vec<MoveGiven> =
            joint.iter().map(|text| MoveGiven::Text(text.clone())).collect();
        self.lock().play(&joint, self.seed)
    }

    /// Returns the exception for a game whose moves and fluents have no numbers.
    fn no_numbers(&self) -> PyErr {
        let why = self.shared.numbers.as_ref().err().cloned();
        wrong(&why.unwrap_or_default())
    }

    fn role(&self, role: Option<&Bound<'_, PyAny>>) -> PyResult<Role> {
        match role {
            Some(role) => role_of(self.shared.game.shape(), role),
            None => match self.lock().to_move() {
                ToMove::One(role) => Ok(role),
                ToMove::Ended => Ok(Role::new(0)),
                ToMove::Several => {
                    Err(wrong(&"several players move at the same time here: name a role"))
                }
            },
        }
    }

    /// Reads what Python passes to `play`: a move for each role, for each player, of the role to
    /// move, or a dictionary.
    fn joint(&self, moves: &Bound<'_, PyAny>) -> PyResult<Vec<MoveGiven>> {
        let shape = self.shared.game.shape();
        let n_roles = shape.role_names.len();
        let mut joint: Vec<MoveGiven> = (0..n_roles).map(|_| MoveGiven::Open).collect();
        if let Ok(dict) = moves.cast::<PyDict>() {
            for (role, given) in dict {
                joint[role_of(shape, &role)?.index()] = MoveGiven::of(&given)?;
            }
            return Ok(joint);
        }
        if MoveGiven::is_one(moves) {
            joint[self.mover_with_choice()?.index()] = MoveGiven::of(moves)?;
            return Ok(joint);
        }
        let given: Vec<Bound<'_, PyAny>> = moves.extract().map_err(|_| {
            PyTypeError::new_err(
                "moves are a list with one move for each role, a dictionary by role, or one move",
            )
        })?;
        let players: Vec<Role> = shape.players().collect();
        if given.len() == n_roles {
            for (place, given) in joint.iter_mut().zip(&given) {
                *place = MoveGiven::of(given)?;
            }
        } else if given.len() == players.len() {
            for (role, given) in players.iter().zip(&given) {
                joint[role.index()] = MoveGiven::of(given)?;
            }
        } else {
            return Err(IllegalMoveError::new_err(format!(
                "a joint move has one move for each role: expected {n_roles} moves ({}), got {}",
                shape.role_names.join(", "),
                given.len()
            )));
        }
        Ok(joint)
    }

    /// Returns the role to which a single move belongs.
    fn mover_with_choice(&self) -> PyResult<Role> {
        match self.lock().to_move() {
            ToMove::One(role) => Ok(role),
            ToMove::Ended => Err(IllegalMoveError::new_err("the game has ended")),
            ToMove::Several => Err(IllegalMoveError::new_err(
                "several players move at the same time here: give a move for each role",
            )),
        }
    }
}

#[pymethods]
impl PyState {
    /// The game.
    #[getter]
    fn game(&self) -> PyGame {
        PyGame(Arc::clone(&self.shared))
    }

    /// The seed from which nature's moves are drawn.
    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether play has ended.
    #[getter]
    fn is_terminal(&self) -> bool {
        self.lock().is_terminal()
    }

    /// The fault of the rules that ended play, if there is one.
    #[getter]
    fn fault(&self) -> Option<String> {
        self.lock().fault()
    }

    /// The role to move; None if several move at the same time, or if play has ended.
    #[getter]
    fn turn(&self) -> Option<String> {
        match self.lock().to_move() {
            ToMove::One(role) => Some(self.shared.game.shape().role_names[role.index()].clone()),
            ToMove::Ended | ToMove::Several => None,
        }
    }

    /// Like `turn`, as an index into `Game.roles`; -2 for several roles, -4 at the end.
    #[getter]
    fn turn_index(&self) -> i32 {
        match self.lock().to_move() {
            ToMove::One(role) => role.index() as i32,
            ToMove::Several => -2,
            ToMove::Ended => -4,
        }
    }

    /// The roles that have more than one legal move.
    #[getter]
    fn choosers(&self) -> Vec<String> {
        let inner = self.lock();
        let shape = inner.shape();
        let roles = shape.roles().filter(|role| inner.n_legal(*role) > 1);
        roles.map(|role| shape.role_names[role.index()].clone()).collect()
    }

    /// The number of steps since the start.
    #[getter]
    fn n_steps(&self) -> usize {
        self.lock().n_steps()
    }

    /// The joint moves since the start.
    #[getter]
    fn history(&self) -> Vec<Vec<String>> {
        self.lock().history()
    }

    /// By role: what it perceived of the last step.
    #[getter]
    fn percepts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let inner = self.lock();
        for role in inner.shape().roles() {
            let last = inner.observations(role).pop().map(|(_, seen)| seen).unwrap_or_default();
            dict.set_item(&inner.shape().role_names[role.index()], last)?;
        }
        Ok(dict)
    }

    /// Returns, by step, the own move of a role and what it perceived.
    fn observations(&self, role: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Vec<String>)>> {
        let role = role_of(self.shared.game.shape(), role)?;
        Ok(self.lock().observations(role))
    }

    /// Returns the legal moves of a role as texts, by default of the role to move.
    #[pyo3(signature = (role = None))]
    fn legal_moves(&self, role: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
        let role = self.role(role)?;
        Ok(self.lock().legal_texts(role))
    }

    /// Returns the moves with real parameters: text, and name and interval of each parameter.
    #[pyo3(signature = (role = None))]
    fn families(&self, role: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Family>> {
        let role = self.role(role)?;
        let families = match &*self.lock() {
            // Games with numbered moves have no real parameters.
            Inner::Numbered(_) => Vec::new(),
            Inner::Text(position) => position.families(role),
        };
        let parameters = |family: &agon_game::Family| {
            family.parameters.iter().map(|p| (p.name.clone(), p.low, p.high)).collect()
        };
        Ok(families.iter().map(|family| (family.text.clone(), parameters(family))).collect())
    }

    /// Returns the legal moves of a role as numbers, ascending.
    #[pyo3(signature = (role = None))]
    fn legal_actions(&self, role: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<u32>> {
        let role = self.role(role)?;
        Ok(self.lock().legal_actions(role))
    }

    /// Returns the legal moves of a role as ones, int8, with a place for each of `Game.actions`.
    #[pyo3(signature = (role = None))]
    fn action_mask<'py>(
        &self,
        py: Python<'py>,
        role: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<i8>>> {
        need_numpy(py)?;
        let role = self.role(role)?;
        let numbers = self.shared.numbers.as_ref().map_err(|why| wrong(why))?;
        let mut mask = vec![0; numbers.actions().len()];
        if Some(role) != numbers.shape().nature {
            for action in self.lock().legal_actions(role) {
                mask[action as usize] = 1;
            }
        }
        Ok(PyArray1::from_vec(py, mask))
    }

    /// Returns the moves of nature as numbers, with their probabilities.
    fn chances(&self) -> Vec<(u32, f64)> {
        let inner = self.lock();
        let Some(nature) = inner.shape().nature else { return Vec::new() };
        let legal = inner.legal_actions(nature);
        let n = legal.len() as f64;
        legal
            .into_iter()
            .map(|action| match &*inner {
                Inner::Numbered(position) => (action, position.chance(action)),
                Inner::Text(_) => (action, 1.0 / n),
            })
            .collect()
    }

    /// Makes a step: one move for each role, a dictionary by role, or the move of the role to move.
    /// Moves are texts or numbers. An illegal move raises `IllegalMoveError`, and nothing changes.
    fn play(&self, moves: &Bound<'_, PyAny>) -> PyResult<()> {
        let joint = self.joint(moves)?;
        self.lock().play(&joint, self.seed)
    }

    /// Returns the state after a step, like `play` on a copy.
    fn child(&self, moves: &Bound<'_, PyAny>) -> PyResult<PyState> {
        let copy = self.duplicate();
        copy.play(moves)?;
        Ok(copy)
    }

    /// Makes a step with random moves.
    #[pyo3(signature = (seed = 1))]
    fn play_random(&self, seed: u64) {
        let mut rng = Rng::seed_from_u64(seed);
        match &mut *self.lock() {
            Inner::Numbered(position) => position.play_random(&mut rng),
            Inner::Text(position) if position.is_terminal() => {}
            Inner::Text(position) => position.play_random(&mut rng),
        }
    }

    /// Returns the end of a random play from here.
    #[pyo3(signature = (seed = 1, *, max_steps = 10_000))]
    fn playout(&self, py: Python<'_>, seed: u64, max_steps: usize) -> PyResult<PyState> {
        let copy = self.duplicate();
        let mut rng = Rng::seed_from_u64(seed);
        let mut left = max_steps;
        while left > 0 && !copy.lock().is_terminal() {
            let stretch = left.min(256);
            py.detach(|| {
                let mut inner = copy.lock();
                for _ in 0..stretch {
                    match &mut *inner {
                        Inner::Numbered(position) => position.play_random(&mut rng),
                        Inner::Text(position) if position.is_terminal() => break,
                        Inner::Text(position) => position.play_random(&mut rng),
                    }
                }
            });
            left -= stretch;
            py.check_signals()?;
        }
        Ok(copy)
    }

    /// Returns the goal of each role.
    fn goals(&self) -> Vec<f64> {
        let inner = self.lock();
        inner.shape().roles().map(|role| inner.payoff(role)).collect()
    }

    /// Returns the goal of a role.
    fn goal(&self, role: &Bound<'_, PyAny>) -> PyResult<f64> {
        let role = role_of(self.shared.game.shape(), role)?;
        Ok(self.lock().payoff(role))
    }

    /// Returns the facts that hold.
    fn facts(&self) -> Vec<String> {
        self.lock().facts()
    }

    /// Returns the state as packed bits, uint64, a bit for each of `Game.fluents`.
    fn bits<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u64>>> {
        need_numpy(py)?;
        match &*self.lock() {
            Inner::Numbered(position) => Ok(PyArray1::from_slice(py, position.bits().words())),
            Inner::Text(_) => Err(self.no_numbers()),
        }
    }

    /// Returns the state as float32, with a place for each of `Game.fluents`.
    fn tensor<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        need_numpy(py)?;
        match &*self.lock() {
            Inner::Numbered(position) => {
                let mut row = vec![0.0; position.numbers().fluents().len()];
                agon::batch::write_fluents(position.bits(), 1.0, &mut row);
                Ok(PyArray1::from_vec(py, row))
            }
            Inner::Text(_) => Err(self.no_numbers()),
        }
    }

    /// A hash of the state.
    #[getter]
    fn key(&self) -> u64 {
        match &*self.lock() {
            Inner::Numbered(position) => position.key(),
            Inner::Text(position) => position.key(),
        }
    }

    /// Returns an independent copy.
    fn copy(&self) -> PyState {
        self.duplicate()
    }

    fn __copy__(&self) -> PyState {
        self.duplicate()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> PyState {
        self.duplicate()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let state = slf.get();
        let replay = py.import("agon._agon")?.getattr("_replay")?;
        (replay, (state.game(), state.seed, state.history())).into_pyobject(py)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<PyState>() else { return false };
        let other = other.get();
        std::ptr::eq(self, other)
            || (self.shared.source.text() == other.shared.source.text()
                && self.facts() == other.facts())
    }

    fn __hash__(&self) -> u64 {
        self.key()
    }

    fn __str__(&self, py: Python<'_>) -> String {
        let facts = self.facts();
        py.detach(|| drawing::text(&self.shared.game, &facts))
    }

    fn __repr__(&self) -> String {
        let what = match self.turn() {
            Some(role) => format!("{role} to move"),
            None if self.is_terminal() => "ended".to_owned(),
            None => "several to move".to_owned(),
        };
        format!("<agon.State of {}: step {}, {what}>", self.shared.game.name(), self.n_steps())
    }

    /// Returns what a picture of the state shows: boards, places, pieces, counters.
    fn scene<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let facts = self.facts();
        let scene = py.detach(|| drawing::scene(&self.shared.game, &facts));
        to_python(py, &serde_json::to_value(scene).map_err(|why| wrong(&why))?)
    }

    /// Returns a picture of the state as an SVG document.
    fn svg(&self, py: Python<'_>) -> String {
        let facts = self.facts();
        py.detach(|| drawing::svg(&self.shared.game, &facts))
    }

    /// Returns a picture of the state as an array of height, width and colour.
    #[pyo3(signature = (*, scale = 1.0))]
    fn pixels<'py>(&self, py: Python<'py>, scale: f32) -> PyResult<Bound<'py, PyAny>> {
        need_numpy(py)?;
        let facts = self.facts();
        let pixels = py.detach(|| drawing::pixels(&self.shared.game, &facts, scale));
        let Pixels { width, height, bytes } = pixels.map_err(|why| wrong(&why))?;
        PyArray1::from_vec(py, bytes).call_method1("reshape", ((height, width, 3),))
    }

    fn _repr_svg_(&self, py: Python<'_>) -> String {
        self.svg(py)
    }

    fn _repr_html_(&self, py: Python<'_>) -> String {
        self.svg(py)
    }
}

/// Plays a history again; used by pickle.
#[pyfunction]
pub(crate) fn _replay(
    game: &Bound<'_, PyGame>,
    seed: u64,
    history: Vec<Vec<String>>,
) -> PyResult<PyState> {
    let state = PyState::start(Arc::clone(&game.get().0), seed);
    let n_roles = game.get().0.game.shape().role_names.len();
    for joint in history {
        if joint.len() != n_roles {
            return Err(PyValueError::new_err("the history does not fit the game"));
        }
        state.follow(&joint)?;
    }
    Ok(state)
}
