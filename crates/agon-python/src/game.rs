//! Opened games, and questions about rules.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use agon::assess::{AssessOptions, assess};
use agon::numbered::Numbers;
use agon::open::{
    self, Case, EngineChoice, GoalPolicy, Language, OpenLimits, OpenOptions, Purpose, Settings,
};
use agon::reports;
use agon::shipped::header;
use agon::survey::survey;
use agon::{Budget, Game, Role};
use agon_learn::{ModelKind, TrainOptions};
use agon_search::solve::HiddenGames;
use agon_text::Source;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use serde_json::Value;

use crate::batch::PyBatch;
use crate::convert::{record, role_of, to_python};
use crate::error::{not_opened, wrong};
use crate::interrupt::{abandonable, interruptible};
use crate::learn::PyLearner;
use crate::model::{_model, PyModel, checked_threads};
use crate::player::PyPlayer;
use crate::rules::{source_of, translated};
use crate::state::PyState;

/// What all Python objects of one opened game share.
pub(crate) struct Shared {
    pub(crate) game: Game,
    pub(crate) numbers: Result<Arc<Numbers>, String>,
    pub(crate) source: Arc<Source>,
    pub(crate) engine: &'static str,
}

/// A game that is ready to be played.
#[pyclass(frozen, name = "Game", module = "agon")]
pub(crate) struct PyGame(pub(crate) Arc<Shared>);

fn engine_named(name: &str) -> PyResult<(EngineChoice, &'static str)> {
    match name {
        "auto" => Ok((EngineChoice::Auto, "auto")),
        "circuit" => Ok((EngineChoice::Circuit, "circuit")),
        "interpreter" => Ok((EngineChoice::Interpreter, "interpreter")),
        _ => Err(PyValueError::new_err(format!(
            "engine: `{name}` is not `auto`, `circuit` or `interpreter`"
        ))),
    }
}

fn open_game(py: Python<'_>, source: Arc<Source>, name: &str, engine: &str) -> PyResult<PyGame> {
    let (choice, engine) = engine_named(engine)?;
    let stop = Arc::new(AtomicBool::new(false));
    // Not by a time limit, because the numbers of moves must be the same in every process.
    let options = OpenOptions {
        engine: choice,
        purpose: Purpose::ReproducibleSearch,
        case: Case::Ignored,
        goals: GoalPolicy::Highest,
        limits: OpenLimits { stop: Some(Arc::clone(&stop)), ..OpenLimits::default() },
        settings: Settings::new(),
        models: None,
    };
    let opened = interruptible(py, &stop, || {
        let game = Game::from_source(Arc::clone(&source), &options)?.with_name(name);
        let numbers = Numbers::of(&game).map_err(|why| why.to_string());
        Ok((game, numbers))
    })?;
    let (game, numbers) = opened.map_err(|error| not_opened(py, &error))?;
    Ok(PyGame(Arc::new(Shared { game, numbers, source, engine })))
}

/// Opens a game: the name of a shipped game, the path of a rulesheet, or the text of the rules.
/// `set` has values of the parameters of the rules.
#[pyfunction]
#[pyo3(signature = (game, *, engine = "auto", set = None))]
pub(crate) fn load(
    py: Python<'_>,
    game: &Bound<'_, PyAny>,
    engine: &str,
    set: Option<Settings>,
) -> PyResult<PyGame> {
    let (source, name) = source_of(py, game, &set.unwrap_or_default())?;
    open_game(py, source, &name, engine)
}

/// Opens a game from its text again, with its model; used by pickle.
#[pyfunction]
#[pyo3(signature = (source_name, text, name, engine, model = None))]
pub(crate) fn _reopen(
    py: Python<'_>,
    source_name: &str,
    text: &str,
    name: &str,
    engine: &str,
    model: Option<&[u8]>,
) -> PyResult<PyGame> {
    let game = open_game(py, Arc::new(Source::new(source_name, text)), name, engine)?;
    match model {
        Some(bytes) => game.with_model(Some(&_model(&game, bytes)?)),
        None => Ok(game),
    }
}

/// Returns a time that Python gives in seconds.
pub(crate) fn duration(name: &str, seconds: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(seconds)
        .map_err(|_| PyValueError::new_err(format!("{name}: {seconds} is not a number of seconds")))
}

/// Returns the budget of a search. At least one limit must be given.
pub(crate) fn budget(
    seconds: Option<f64>,
    iterations: Option<u64>,
    nodes: Option<u64>,
) -> PyResult<Budget> {
    let mut budget = Budget { iterations, nodes, ..Budget::default() };
    if let Some(seconds) = seconds {
        budget.deadline = Instant::now().checked_add(duration("seconds", seconds)?);
    }
    if seconds.is_none() && iterations.is_none() && nodes.is_none() {
        return Err(PyValueError::new_err(
            "give seconds, iterations or nodes: a search needs a limit",
        ));
    }
    Ok(budget)
}

impl PyGame {
    fn language(&self) -> &'static str {
        match open::language(&self.0.source) {
            Language::Toss => "Toss",
            Language::Gdl if self.0.game.gdl().is_some_and(|game| game.rules().is_gdl2()) => {
                "GDL-II"
            }
            Language::Gdl => "GDL",
        }
    }

    pub(crate) fn numbers(&self) -> PyResult<&Arc<Numbers>> {
        self.0.numbers.as_ref().map_err(|why| wrong(why))
    }

    fn state_or_start(&self, state: Option<&PyState>) -> PyResult<agon::Position> {
        match state {
            None => Ok(self.0.game.start()),
            Some(state) => {
                self.check_own(state)?;
                Ok(state.position())
            }
        }
    }

    /// Raises an exception if a state belongs to another game.
    pub(crate) fn check_own(&self, state: &PyState) -> PyResult<()> {
        if self.is_same(&state.shared) {
            return Ok(());
        }
        Err(wrong(&format!(
            "the state belongs to the game {}, not to {}",
            state.shared.game.name(),
            self.0.game.name()
        )))
    }

    /// Returns whether another game has the same rules and engine.
    pub(crate) fn is_same(&self, other: &Arc<Shared>) -> bool {
        Arc::ptr_eq(&self.0, other)
            || (self.0.source.text() == other.source.text() && self.0.engine == other.engine)
    }
}

#[pymethods]
impl PyGame {
    /// The name of the game, or the path of its rules.
    #[getter]
    fn name(&self) -> &str {
        self.0.game.name()
    }

    /// All roles in the order of the rules, including nature.
    #[getter]
    fn roles(&self) -> Vec<String> {
        self.0.game.shape().role_names.clone()
    }

    /// The roles without nature.
    #[getter]
    fn players(&self) -> Vec<String> {
        let shape = self.0.game.shape();
        shape.players().map(|role| shape.role_names[role.index()].clone()).collect()
    }

    /// The role that moves by chance, if there is one.
    #[getter]
    fn nature(&self) -> Option<String> {
        let shape = self.0.game.shape();
        shape.nature.map(|role| shape.role_names[role.index()].clone())
    }

    /// The language of the rules: `GDL`, `GDL-II` or `Toss`.
    #[getter(language)]
    fn get_language(&self) -> &'static str {
        self.language()
    }

    /// What plays the game: `circuit` or `interpreter`.
    #[getter]
    fn engine(&self) -> &'static str {
        self.0.game.engine().name()
    }

    /// What was remarkable when the game was opened.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.0.game.notes().to_vec()
    }

    /// The title in the comments of the rules.
    #[getter]
    fn title(&self) -> Option<String> {
        header(self.0.source.text(), "title")
    }

    /// The summary in the comments of the rules.
    #[getter]
    fn summary(&self) -> Option<String> {
        header(self.0.source.text(), "summary")
    }

    /// The text of the rules.
    #[getter]
    fn rules(&self) -> &str {
        self.0.source.text()
    }

    /// Whether roles perceive only a part of what happens.
    #[getter]
    fn is_hidden(&self) -> bool {
        self.0.game.shape().hidden
    }

    /// Whether at most one player has a choice at a time, by a proof.
    #[getter]
    fn is_turn_taking(&self) -> bool {
        let shape = self.0.game.shape();
        let is_proved = self.0.numbers.as_ref().is_ok_and(|numbers| numbers.is_turn_taking());
        is_proved || shape.turn_taking || shape.players().count() == 1
    }

    /// The sum of all goals at the end of play, if it is proved to be always the same.
    #[getter]
    fn constant_sum(&self) -> Option<f64> {
        self.0.game.shape().constant_sum
    }

    /// The lowest and the highest goal.
    #[getter]
    fn payoff_range(&self) -> (f64, f64) {
        let payoffs = &self.0.game.shape().payoffs;
        (*payoffs.start(), *payoffs.end())
    }

    /// Whether moves and fluents have fixed numbers. Otherwise a number is an index among the legal
    /// moves.
    #[getter]
    fn has_numbers(&self) -> bool {
        self.0.numbers.is_ok()
    }

    /// The moves of players; the place in the list is the number of a move.
    #[getter]
    fn actions(&self) -> PyResult<Vec<String>> {
        Ok(self.numbers()?.actions().to_vec())
    }

    /// The moves of nature; the place in the list is the number of a move.
    #[getter]
    fn nature_moves(&self) -> PyResult<Vec<String>> {
        Ok(self.numbers()?.nature_moves().to_vec())
    }

    /// The facts that may hold, in the order of `State.tensor` and `State.bits`.
    #[getter]
    fn fluents(&self) -> PyResult<Vec<String>> {
        Ok(self.numbers()?.fluents().to_vec())
    }

    /// Returns everything that a role may perceive.
    fn percepts_of(&self, role: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let role = role_of(self.0.game.shape(), role)?;
        Ok(self.numbers()?.percepts(role).map(str::to_owned).collect())
    }

    /// Returns the number of a move.
    fn action(&self, role: &Bound<'_, PyAny>, text: &str) -> PyResult<u32> {
        let role = role_of(self.0.game.shape(), role)?;
        let found = self.numbers()?.action(role, text);
        found.ok_or_else(|| {
            let name = &self.0.game.shape().role_names[role.index()];
            wrong(&format!("`{text}` is not a move of {name} anywhere in the game"))
        })
    }

    /// Returns the text of a move by its number.
    fn action_text(&self, role: &Bound<'_, PyAny>, action: u32) -> PyResult<String> {
        let role: Role = role_of(self.0.game.shape(), role)?;
        let text = self.numbers()?.text(role, action).map(str::to_owned);
        text.ok_or_else(|| {
            let name = &self.0.game.shape().role_names[role.index()];
            wrong(&format!("{action} is not the number of a move of {name}"))
        })
    }

    /// Returns the initial state. `seed` decides the moves of nature.
    #[pyo3(signature = (*, seed = 1))]
    fn start(&self, seed: u64) -> PyState {
        PyState::start(Arc::clone(&self.0), seed)
    }

    /// Returns a built-in player, such as `mcts` or `alphabeta(depth=4)`; `agon.players()` lists
    /// them.
    #[pyo3(signature = (spec = "auto", *, seed = 1))]
    pub(crate) fn player(&self, spec: &str, seed: u64) -> PyResult<PyPlayer> {
        PyPlayer::new(Arc::clone(&self.0), spec, seed)
    }

    /// Starts `n` games that are stepped together, in numpy arrays.
    #[pyo3(signature = (n, *, seed = 1, auto_reset = true))]
    fn batch(&self, py: Python<'_>, n: usize, seed: u64, auto_reset: bool) -> PyResult<PyBatch> {
        PyBatch::new(py, self, n, seed, auto_reset)
    }

    /// Plays each state out `n` times at random and returns the means of the goals.
    #[pyo3(signature = (states, n, *, seed = 1, max_steps = 10_000))]
    fn playouts<'py>(
        &self,
        py: Python<'py>,
        states: Vec<PyRef<'py, PyState>>,
        n: u64,
        seed: u64,
        max_steps: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        crate::playouts::playouts(py, self, &states, n, seed, max_steps)
    }

    /// Returns what is proved and what was observed about the game.
    #[pyo3(signature = (*, seconds = 10.0))]
    fn properties<'py>(&self, py: Python<'py>, seconds: f64) -> PyResult<Bound<'py, PyAny>> {
        let time = duration("seconds", seconds)?;
        let game = self.0.game.clone();
        let found = abandonable(py, move || reports::properties(&game, time))?;
        let mut facts = reports::shape_json(self.0.game.shape());
        facts["language"] = Value::String(self.language().to_owned());
        match found {
            Ok(properties) => facts["properties"] = properties,
            Err(why) => facts["refused"] = Value::String(why.to_string()),
        }
        to_python(py, &facts)
    }

    /// Explains what a position is worth and which moves matter, by default the initial one.
    #[pyo3(signature = (state = None, *, parts = 8, seconds = 30.0))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        state: Option<&PyState>,
        parts: usize,
        seconds: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let position = self.state_or_start(state)?;
        let time = duration("seconds", seconds)?;
        let options = agon::explain::ExplainOptions { n_parts: parts, time };
        let game = self.0.game.clone();
        let explained = abandonable(py, move || game.explain_with(&position, &options))?;
        let explained = explained.map_err(|why| wrong(&why))?;
        let fields = PyDict::new(py);
        fields.set_item("text", explained.to_string())?;
        let sections: Vec<(String, Vec<(String, String)>)> = explained
            .sections
            .iter()
            .map(|section| {
                let lines = section.lines.iter().map(|l| (l.label.clone(), l.text.clone()));
                (section.title.clone(), lines.collect())
            })
            .collect();
        fields.set_item("sections", sections)?;
        fields.set_item("data", to_python(py, &Value::Object(explained.json))?)?;
        record(py, "Explanation", &fields)
    }

    /// Proves a sentence of the rules rule by rule, or shows what fails. `does` is the joint move
    /// that is assumed.
    #[pyo3(signature = (sentence, state = None, *, does = None))]
    fn why<'py>(
        &self,
        py: Python<'py>,
        sentence: &str,
        state: Option<&PyState>,
        does: Option<Vec<String>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let position = self.state_or_start(state)?;
        let sentence = sentence.to_owned();
        let answer = abandonable(py, move || reports::why(&position, &sentence, does.as_deref()))?;
        to_python(py, &answer.map_err(|why| wrong(&why))?)
    }

    /// Returns the value of perfect play, or the bounds that are known at the limit.
    #[pyo3(signature = (
        state = None, *, seconds = 60.0, nodes = None, megabytes = 1024, as_if_open = false
    ))]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        state: Option<&PyState>,
        seconds: f64,
        nodes: Option<u64>,
        megabytes: usize,
        as_if_open: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let position = self.state_or_start(state)?;
        let budget = budget(Some(seconds), None, nodes)?;
        let hidden = if as_if_open { HiddenGames::AsIfOpen } else { HiddenGames::Refuse };
        let stop = Arc::clone(&budget.stop);
        let solved = interruptible(py, &stop, move || {
            reports::solution(&position, &budget, megabytes, hidden)
        })?;
        let fields = to_python(py, &solved.map_err(|why| wrong(&why))?)?.cast_into::<PyDict>()?;
        record(py, "Solution", &fields)
    }

    /// Looks at all states of a small game; None if there are more than `max_states`.
    #[pyo3(signature = (*, max_states = 20_000))]
    fn survey<'py>(
        &self,
        py: Python<'py>,
        max_states: usize,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let numbers = Arc::clone(self.numbers()?);
        let Some(found) = abandonable(py, move || survey(&numbers, max_states))? else {
            return Ok(None);
        };
        let fields = PyDict::new(py);
        fields.set_item("n_states", found.n_states)?;
        fields.set_item("n_steps", found.n_steps)?;
        fields.set_item("is_turn_taking", found.is_turn_taking)?;
        fields.set_item("constant_sum", found.constant_sum)?;
        fields.set_item("longest", found.longest)?;
        Ok(Some(record(py, "Survey", &fields)?))
    }

    /// Returns the rules in another language: `toss`, `gdl`, `infix`, `dot` or `asp`.
    #[pyo3(signature = (to, *, seconds = 120.0, horizon = 20))]
    fn translate(
        &self,
        py: Python<'_>,
        to: &str,
        seconds: f64,
        horizon: usize,
    ) -> PyResult<String> {
        translated(py, &self.0.source, to, seconds, horizon)
    }

    /// Tells an author how the game plays. `seconds` limits each part.
    #[pyo3(signature = (
        *, plays = 500, matches = 20, weak = 30, strong = 600, seconds = 20.0, max_steps = 1000,
        seed = 1
    ))]
    #[allow(clippy::too_many_arguments, reason = "all are optional keywords")]
    fn assess<'py>(
        &self,
        py: Python<'py>,
        plays: usize,
        matches: usize,
        weak: u64,
        strong: u64,
        seconds: f64,
        max_steps: usize,
        seed: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let time = duration("seconds", seconds)?;
        let options = AssessOptions { plays, matches, weak, strong, time, max_steps, seed };
        let game = self.0.game.clone();
        let assessed = abandonable(py, move || assess(&game, &options, &mut |_| ()))?;
        let fields = PyDict::new(py);
        fields.set_item("text", assessed.to_string())?;
        fields.set_item("data", to_python(py, &assessed.to_json())?)?;
        record(py, "Assessment", &fields)
    }

    /// Learns an evaluation by self-play. `form` is `tables` or `network`. With one thread and a
    /// number of games, the seed decides the result.
    #[pyo3(signature = (*, seconds = None, games = None, seed = 1, form = "tables", threads = 1))]
    fn learn(
        &self,
        py: Python<'_>,
        seconds: Option<f64>,
        games: Option<u64>,
        seed: u64,
        form: &str,
        threads: usize,
    ) -> PyResult<PyLearner> {
        let kind = match form {
            "tables" => ModelKind::Tables,
            "network" => ModelKind::Network,
            _ => {
                let message = format!("form: `{form}` is not `tables` or `network`");
                return Err(PyValueError::new_err(message));
            }
        };
        let threads = checked_threads(threads)?;
        let is_open = self.0.game.is_open();
        let options = TrainOptions { kind, seed, threads, is_open, ..TrainOptions::default() };
        PyLearner::new(py, self, seconds, games, options)
    }

    /// The model that players of this game use, or None.
    #[getter]
    fn model(&self) -> Option<PyModel> {
        let model = self.0.game.model()?;
        Some(PyModel::new(Arc::clone(&self.0), Arc::clone(model)))
    }

    /// Returns the same game with a model that its players use, or without one.
    pub(crate) fn with_model(&self, model: Option<&PyModel>) -> PyResult<PyGame> {
        self.numbers()?;
        if let Some(model) = model {
            model.check_game(self)?;
        }
        let model = model.map(|model| Arc::clone(&model.model));
        Ok(PyGame(Arc::new(Shared {
            game: self.0.game.using_model(model),
            numbers: self.0.numbers.clone(),
            source: Arc::clone(&self.0.source),
            engine: self.0.engine,
        })))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let shared = &slf.get().0;
        let reopen = py.import("agon._agon")?.getattr("_reopen")?;
        let model = slf.get().model().map(|model| model.bytes(py)).transpose()?;
        let model = model.map(|bytes| PyBytes::new(py, &bytes));
        let arguments =
            (shared.source.name(), shared.source.text(), shared.game.name(), shared.engine, model);
        (reopen, arguments).into_pyobject(py)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyGame>().is_ok_and(|other| self.is_same(&other.get().0))
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        self.0.source.text().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let roles = self.0.game.shape().role_names.join(", ");
        format!("<agon.Game {}: {}, roles {roles}>", self.0.game.name(), self.language())
    }
}
