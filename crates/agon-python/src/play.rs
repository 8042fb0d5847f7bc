//! Matches, with players written in Python.
//!
//! A Python player is a callable that gets a `View` and returns a move, or an object with a method
//! `play` that does. It runs in the thread of its seat and takes the interpreter lock only while
//! it thinks.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use agon::match_setup::{
    MatchLimits, MatchSetup, OutsidePlayers, OutsideSeat, SeatError, SetupError,
};
use agon::{Budget, Ending, Match};
use agon_game::{Observation, Role};
use agon_match::{Choice, Player, PlayerError, Substitute, Timing, View};
use agon_players::{PlayerSource, PlayerSpec, parse_spec};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{record, to_python};
use crate::error::wrong;
use crate::game::{PyGame, Shared, duration};
use crate::interrupt::interruptible;
use crate::player::PyPlayer;
use crate::state::PyState;

/// The first exception that a Python player has raised.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// A player written in Python.
struct Scripted {
    object: Py<PyAny>,
    shared: Arc<Shared>,
    role: Role,
    view: Box<dyn View>,
    /// What the role knows of the position, if nothing is hidden.
    state: Option<PyState>,
    observations: Vec<(String, Vec<String>)>,
    raised: Raised,
    seed: u64,
}

impl Scripted {
    fn call<T>(
        &self,
        work: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T, PlayerError> {
        Python::attach(|py| {
            work(py, self.object.bind(py)).map_err(|error| {
                let text = error.to_string();
                let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
                raised.get_or_insert(error);
                PlayerError::Broken(text)
            })
        })
    }

    fn python_view<'py>(
        &self,
        py: Python<'py>,
        legal: Vec<String>,
        budget: &Budget,
    ) -> PyResult<Bound<'py, PyAny>> {
        let fields = PyDict::new(py);
        fields.set_item("game", PyGame(Arc::clone(&self.shared)).into_pyobject(py)?)?;
        fields.set_item("role", &self.shared.game.shape().role_names[self.role.index()])?;
        let state = self.state.as_ref().map(PyState::duplicate);
        fields.set_item("state", state.map(|state| state.into_pyobject(py)).transpose()?)?;
        fields.set_item("legal_moves", legal)?;
        fields.set_item("observations", self.observations.clone())?;
        let seconds = budget
            .deadline
            .map(|deadline| deadline.saturating_duration_since(Instant::now()).as_secs_f64());
        fields.set_item("seconds", seconds)?;
        fields.set_item("seed", self.seed)?;
        record(py, "View", &fields)
    }
}

impl Player for Scripted {
    fn prepare(&mut self, _: &Budget) -> Result<(), PlayerError> {
        self.call(|py, object| {
            if object.hasattr("start")? {
                let role = &self.shared.game.shape().role_names[self.role.index()];
                let game = PyGame(Arc::clone(&self.shared)).into_pyobject(py)?;
                object.call_method1("start", (game, role))?;
            }
            Ok(())
        })
    }

    fn choose(&mut self, budget: &Budget) -> Result<Choice, PlayerError> {
        let legal = self.view.legal_moves();
        let text = self.call(|py, object| {
            let view = self.python_view(py, legal.clone(), budget)?;
            let answer = if object.hasattr("play")? {
                object.call_method1("play", (view,))?
            } else {
                object.call1((view,))?
            };
            if let Ok(text) = answer.extract::<String>() {
                return Ok(text);
            }
            let number: u32 = answer.extract().map_err(|_| {
                PyTypeError::new_err(format!("a player returns a move, not {answer:?}"))
            })?;
            let by_number = match &self.shared.numbers {
                Ok(numbers) => numbers.text(self.role, number).map(str::to_owned),
                Err(_) => legal.get(number as usize).cloned(),
            };
            by_number.ok_or_else(|| wrong(&format!("{number} is not the number of a move")))
        })?;
        Ok(Choice { text, thought: None })
    }

    fn learn(&mut self, observation: &Observation) -> Result<(), PlayerError> {
        self.observations.push((observation.own.clone(), observation.seen.clone()));
        if let Some(state) = &self.state {
            state
                .follow(&observation.seen)
                .map_err(|error| PlayerError::Broken(error.to_string()))?;
        }
        self.view.learn(observation).map_err(|error| PlayerError::Broken(error.to_string()))
    }

    fn finish(&mut self, _: Option<&Observation>, payoffs: Option<&[f64]>) {
        let _ = self.call(|_, object| {
            if object.hasattr("stop")? {
                object.call_method1("stop", (payoffs.map(<[f64]>::to_vec),))?;
            }
            Ok(())
        });
    }
}

/// Makes the Python players of a match.
struct Seats {
    shared: Arc<Shared>,
    /// By player: the object, if the player is one.
    objects: Vec<Option<Py<PyAny>>>,
    raised: Raised,
    seed: u64,
    is_timed: bool,
}

impl OutsidePlayers for Seats {
    fn seat(&self, seat: OutsideSeat<'_>) -> Result<Box<dyn Player>, SeatError> {
        let object = self.objects.get(seat.number).and_then(Option::as_ref);
        let Some(object) = object else {
            return Err(SeatError(format!(
                "`{}` runs outside of Python; play this match with `agon match`",
                seat.spec.text
            )));
        };
        let object = Python::attach(|py| object.clone_ref(py));
        let is_hidden = self.shared.game.shape().hidden;
        let state = (!is_hidden).then(|| PyState::start(Arc::clone(&self.shared), self.seed));
        Ok(Box::new(Scripted {
            object,
            shared: Arc::clone(&self.shared),
            role: seat.invitation.role,
            view: seat.view,
            state,
            observations: Vec::new(),
            raised: Arc::clone(&self.raised),
            seed: self.seed,
        }))
    }

    fn timing(&self, _: &PlayerSpec) -> Timing {
        if self.is_timed { Timing::Grace(Duration::ZERO) } else { Timing::Unlimited }
    }
}

/// The players of a match: their specifications, and the objects of those written in Python.
type ReadPlayers = (Vec<PlayerSpec>, Vec<Option<Py<PyAny>>>);

/// Reads the players: specifications, built-in players, or Python objects.
fn read_players(game: &PyGame, players: &[Bound<'_, PyAny>]) -> PyResult<ReadPlayers> {
    let (mut specs, mut objects) = (Vec::new(), Vec::new());
    for player in players {
        let built_in = player.cast::<PyPlayer>().ok();
        let built_in = built_in.map(|player| player.get().spec_for(game)).transpose()?;
        let text = built_in.or_else(|| player.extract::<String>().ok());
        if let Some(text) = text {
            let spec = agon::parse_players(&text).map_err(|why| wrong(&why))?;
            let [spec] = spec.try_into().map_err(|_| {
                PyValueError::new_err(format!("`{text}` is not one player: give a list"))
            })?;
            specs.push(spec);
            objects.push(None);
            continue;
        }
        if !player.is_callable() && !player.hasattr("play")? {
            return Err(PyTypeError::new_err(format!(
                "{player} is not a player: give a specification such as `mcts`, a callable, or an \
                 object with a method `play`"
            )));
        }
        let named = player.getattr("name").or_else(|_| player.getattr("__name__"));
        let name: String = named
            .and_then(|name| name.extract())
            .or_else(|_| player.get_type().name().map(|name| name.to_string()))?;
        let mut spec = parse_spec("cmd:python").map_err(|_| wrong(&"no such player"))?;
        debug_assert!(matches!(spec.kind, PlayerSource::Command(_)), "it is not built-in");
        spec.text = name;
        specs.push(spec);
        objects.push(Some(player.clone().unbind()));
    }
    let n_players = game.0.game.shape().players().count();
    if specs.len() > n_players {
        return Err(PyValueError::new_err(format!(
            "{} players for {n_players} roles: give fewer",
            specs.len()
        )));
    }
    Ok((specs, objects))
}

/// Returns the milliseconds since 1970, for records.
#[allow(clippy::disallowed_types, reason = "a record says when it was made; no move depends on it")]
pub(crate) fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// Returns the time to prepare if none is given: searches use all of it, so it is that of a move,
/// unless a player has a method `start`, which may have to load something.
fn start_clock(py: Python<'_>, objects: &[Option<Py<PyAny>>], seconds: Option<f64>) -> f64 {
    let mut objects = objects.iter().flatten();
    let starts = objects.any(|object| object.bind(py).hasattr("start").unwrap_or(true));
    let usual = MatchLimits::default().start_clock;
    if starts { usual } else { seconds.unwrap_or(usual) }
}

/// Plays a match. A player is a specification such as `mcts`, a built-in player, a callable that
/// gets a `View` and returns a move, or an object with such a method `play`. Its methods
/// `start(game, role)` and `stop(goals)` are called if it has them.
///
/// `seconds` is the time for a move; `iterations` is a budget of searches that repeats the same
/// match. `start_seconds` is the time to prepare: by default that of a move, or 30 if a player has
/// a method `start`.
#[pyfunction(name = "match")]
#[pyo3(signature = (
    game, players, *, seconds = None, iterations = None, start_seconds = None, seed = 1,
    max_steps = 10_000, on_error = "raise"
))]
#[allow(clippy::too_many_arguments, reason = "all but two are optional keywords")]
pub(crate) fn play_match<'py>(
    py: Python<'py>,
    game: &Bound<'py, PyGame>,
    players: Vec<Bound<'py, PyAny>>,
    seconds: Option<f64>,
    iterations: Option<u64>,
    start_seconds: Option<f64>,
    seed: u64,
    max_steps: usize,
    on_error: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let raises = match on_error {
        "raise" => true,
        "substitute" => false,
        _ => return Err(PyValueError::new_err("on_error is `raise` or `substitute`")),
    };
    if seconds.is_none() && iterations.is_none() {
        return Err(PyValueError::new_err(
            "give seconds or iterations: built-in players need to know how long to think",
        ));
    }
    for (name, given) in [("seconds", seconds), ("start_seconds", start_seconds)] {
        given.map(|given| duration(name, given)).transpose()?;
    }
    let game = game.get();
    let (specs, objects) = read_players(game, &players)?;
    let limits = MatchLimits {
        start_clock: start_seconds.unwrap_or_else(|| start_clock(py, &objects, seconds)),
        play_clock: seconds.unwrap_or(3600.0),
        iterations,
        seed,
        max_steps,
        ..MatchLimits::default()
    };
    let raised = Raised::default();
    let mut setup =
        MatchSetup::new(game.0.game.clone(), specs, limits).map_err(|why| wrong(&why))?;
    setup.substitute = Substitute::Random;
    let aborted = Arc::clone(&setup.is_aborted);
    let seats = Seats {
        shared: Arc::clone(&game.0),
        objects,
        raised: Arc::clone(&raised),
        seed,
        is_timed: seconds.is_some(),
    };
    let since = Instant::now();
    let played = interruptible(py, &aborted, || -> Result<Match, SetupError> {
        let seated = setup.seat(&seats)?;
        let flag = Arc::clone(&setup.is_aborted);
        let mut watch = |_: &Match, _: agon_match::Event<'_>| {
            let has_raised = raised.lock().unwrap_or_else(PoisonError::into_inner).is_some();
            if raises && has_raised {
                flag.store(true, Ordering::Relaxed);
            }
        };
        Ok(setup.play(seated, Vec::new(), &now, &mut watch))
    })?;
    let played = played.map_err(|why| wrong(&why))?;
    if let Some(error) = raised.lock().unwrap_or_else(PoisonError::into_inner).take()
        && raises
    {
        return Err(error);
    }
    result(py, &setup, &played, since.elapsed().as_secs_f64())
}

fn result<'py>(
    py: Python<'py>,
    setup: &MatchSetup,
    played: &Match,
    seconds: f64,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = played.shape();
    let (status, goals) = match played.ending() {
        Some(Ending::Finished(payoffs)) => ("finished", Some(payoffs.clone())),
        Some(Ending::Fault(_)) => ("fault", None),
        Some(Ending::TooLong) => ("too-long", None),
        Some(Ending::Stopped(_)) => ("stopped", None),
        Some(Ending::Aborted) | None => ("aborted", None),
    };
    let errors: Vec<(usize, String, String)> = played
        .steps()
        .iter()
        .enumerate()
        .flat_map(|(step, made)| {
            shape.roles().zip(&made.errors).filter_map(move |(role, error)| {
                let name = shape.role_names[role.index()].clone();
                Some((step, name, error.as_ref()?.to_string()))
            })
        })
        .collect();
    let fields = PyDict::new(py);
    fields.set_item("game", setup.game.name())?;
    fields.set_item("roles", &shape.role_names)?;
    let names: Vec<String> = shape.roles().map(|role| setup.player_name(role)).collect();
    fields.set_item("players", names)?;
    fields.set_item("status", status)?;
    fields.set_item("goals", goals)?;
    let moves: Vec<Vec<String>> = played.steps().iter().map(|step| step.joint.clone()).collect();
    fields.set_item("moves", moves)?;
    fields.set_item("errors", errors)?;
    fields.set_item("seconds", seconds)?;
    fields.set_item("seed", setup.limits.seed)?;
    let token = format!("{:016x}{:016x}", setup.limits.seed, played.state_times()[0]);
    fields.set_item("record", to_python(py, &setup.record(played, token).to_json())?)?;
    record(py, "MatchResult", &fields)
}
