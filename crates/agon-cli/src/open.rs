//! The options of commands that open a game, and functions that open a game for them.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon::Game;
use agon::engine::Engine;
use agon::models::ModelStore;
use agon::open::{self, Case, GoalPolicy, OpenError, OpenLimits, OpenOptions, Purpose, Settings};
pub(crate) use agon::open::{Language, language, split_settings};
use agon_circuit::Deadline;
use agon_structures::interrupt::Interrupt;
use agon_text::Source;
use clap::ValueEnum as _;

use crate::failure::Failure;
use crate::terminal::remark;

/// The engine that plays a game.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum EngineChoice {
    /// The engine that suits the game.
    Auto,
    /// The rules as they stand: slow and simple, the oracle of every other engine.
    Interpreter,
    /// A circuit made by grounding the rules.
    Circuit,
}

/// Options of commands that let the user choose the engine.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct PlayOptions {
    /// Engine that plays the game
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) engine: EngineChoice,
    #[command(flatten)]
    pub(crate) rules: RuleOptions,
}

/// Whether players use what was learnt before.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct ModelOptions {
    /// Play without the models that `agon learn` has made; AGON_NO_MODELS=1 does the same
    #[arg(long)]
    no_models: bool,
}

impl ModelOptions {
    /// Returns the choice of no models.
    pub(crate) fn none() -> ModelOptions {
        ModelOptions { no_models: true }
    }

    /// Returns the store of models, if players use it.
    pub(crate) fn store(&self) -> Option<ModelStore> {
        if self.no_models { None } else { ModelStore::of_user() }
    }
}

/// How rules are read: options of every command that opens a game.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct RuleOptions {
    /// Whether names that differ only in capitalisation are the same name
    #[arg(long, value_enum, default_value = "ignored")]
    pub(crate) case: CaseChoice,
    /// Which goal value counts where the rules give a role none or several
    #[arg(long, value_enum, default_value = "highest")]
    pub(crate) goals: GoalChoice,
    #[command(flatten)]
    pub(crate) params: ParamOptions,
    /// When evaluating the rules ends with a refusal.
    #[arg(skip)]
    pub(crate) until: Option<Instant>,
}

/// Values of the parameters of the rules.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct ParamOptions {
    /// Value of a parameter of the rules, such as size=9; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = parse_setting)]
    set: Vec<(String, i64)>,
}

fn parse_setting(text: &str) -> Result<(String, i64), String> {
    open::setting(text).ok_or_else(|| "write a name and a whole number: size=9".to_owned())
}

impl ParamOptions {
    /// Refuses values where the rules come from somewhere else.
    pub(crate) fn refuse(&self, why: &str) -> Result<(), Failure> {
        if self.set.is_empty() { Ok(()) } else { Err(Failure::wrong(format!("--set: {why}"))) }
    }

    /// Adds the values to the name of a game.
    pub(crate) fn add_to(&self, game: &mut String) {
        if !self.set.is_empty() {
            *game = open::with_settings(game, &self.set.iter().cloned().collect());
        }
    }
}

/// How names that differ only in capitalisation are read.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum CaseChoice {
    /// The names are the same.
    Ignored,
    /// The names are different, as in ggp-base.
    Respected,
}

/// Which goal value counts where the rules give a role none or several.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum GoalChoice {
    /// The highest value; no value counts as 0.
    Highest,
    /// The lowest value; no value counts as 0.
    Lowest,
    /// The only value; none or several count as 0.
    ExactlyOne,
}

impl Default for RuleOptions {
    fn default() -> RuleOptions {
        RuleOptions {
            case: CaseChoice::Ignored,
            goals: GoalChoice::Highest,
            params: ParamOptions::default(),
            until: None,
        }
    }
}

/// Time in seconds that a command may take beyond twice its own limit, before evaluating the rules
/// is refused. Most commands check their limit between states.
const GRACE: f64 = 10.0;

impl RuleOptions {
    /// Returns the options for a command that looks at a game for some seconds. Rules that take
    /// much longer are refused, whatever the command is doing.
    pub(crate) fn within(&self, seconds: f64) -> RuleOptions {
        let time = Duration::try_from_secs_f64(2.0 * seconds + GRACE).ok();
        let until = time.and_then(|time| Instant::now().checked_add(time));
        RuleOptions { until, ..self.clone() }
    }

    pub(crate) fn case(&self) -> Case {
        match self.case {
            CaseChoice::Ignored => Case::Ignored,
            CaseChoice::Respected => Case::Respected,
        }
    }

    /// Returns the options as they would be typed.
    pub(crate) fn as_arguments(&self) -> [String; 4] {
        let name = |value: Option<clap::builder::PossibleValue>| {
            value.expect("no choice is hidden").get_name().to_owned()
        };
        let (case, goals) = (self.case.to_possible_value(), self.goals.to_possible_value());
        ["--case".to_owned(), name(case), "--goals".to_owned(), name(goals)]
    }

    pub(crate) fn options(&self) -> OpenOptions {
        let goals = match self.goals {
            GoalChoice::Highest => GoalPolicy::Highest,
            GoalChoice::Lowest => GoalPolicy::Lowest,
            GoalChoice::ExactlyOne => GoalPolicy::ExactlyOne,
        };
        let limits = OpenLimits { until: self.until, ..OpenLimits::default() };
        OpenOptions { case: self.case(), goals, limits, ..OpenOptions::default() }
    }
}

impl PlayOptions {
    /// Returns the options for a command that looks at a game for some seconds, like
    /// [`RuleOptions::within`].
    pub(crate) fn within(&self, seconds: f64) -> PlayOptions {
        PlayOptions { engine: self.engine, rules: self.rules.within(seconds) }
    }

    fn options(&self, purpose: Purpose) -> OpenOptions {
        let engine = match self.engine {
            EngineChoice::Auto => open::EngineChoice::Auto,
            EngineChoice::Interpreter => open::EngineChoice::Interpreter,
            EngineChoice::Circuit => open::EngineChoice::Circuit,
        };
        OpenOptions { engine, purpose, ..self.rules.options() }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Failure {
        let message = error.render(crate::terminal::colour_on_stderr());
        match error {
            OpenError::Unreadable { .. } => Failure::unreadable(message),
            _ => Failure::wrong(message),
        }
    }
}

/// Reads the text of a game: a shipped game's name, a path, or `-` for standard input.
/// Parameters have their values.
pub(crate) fn source(game: &str) -> Result<Arc<Source>, Failure> {
    let (source, settings) = raw_source(game)?;
    Ok(open::expanded(source, &settings)?)
}

/// Reads the text of a game as it was written, and the values of parameters that its name has.
pub(crate) fn raw_source(game: &str) -> Result<(Arc<Source>, Settings), Failure> {
    match split_settings(game) {
        ("-", settings) => Ok((open::source_from("-", &mut std::io::stdin().lock())?, settings)),
        _ => Ok(open::raw_source(game)?),
    }
}

/// Replaces the text of a rulesheet on disk.
///
/// The text is written to another file first, so that an interruption cannot leave half a
/// rulesheet.
pub(crate) fn replace_file(file: &str, text: &str) -> Result<(), Failure> {
    if !Path::new(file).is_file() {
        return Err(Failure::unreadable(format!(
            "{file} is not a file, so it cannot be written; `--help` says how to see the changes"
        )));
    }
    let temporary = format!("{file}.agon-new");
    std::fs::write(&temporary, text)
        .and_then(|()| std::fs::rename(&temporary, file))
        .map_err(|error| Failure::unreadable(format!("cannot write {file}: {error}")))
}

/// Opens a GDL game for the interpreter, by its name.
pub(crate) fn open(
    game: &str,
    play: &RuleOptions,
) -> Result<Arc<agon_gdl::interpreter::Game>, Failure> {
    open_source(source(game)?, play)
}

/// Opens a GDL game for the interpreter.
pub(crate) fn open_source(
    source: Arc<Source>,
    play: &RuleOptions,
) -> Result<Arc<agon_gdl::interpreter::Game>, Failure> {
    Ok(open::open_gdl(source, &play.options())?)
}

/// Opens a structure rewriting game for the interpreter.
pub(crate) fn open_toss(
    source: Arc<Source>,
    play: &RuleOptions,
) -> Result<Arc<agon_toss::interpreter::Game>, Failure> {
    Ok(open::open_toss(source, &play.options())?)
}

/// Opens a game of either language for the interpreter.
pub(crate) fn open_interpreter(source: Arc<Source>, play: &RuleOptions) -> Result<Engine, Failure> {
    Ok(match language(&source) {
        Language::Gdl => Engine::GdlInterpreter(open_source(source, play)?),
        Language::Toss => Engine::TossInterpreter(open_toss(source, play)?),
    })
}

/// The reason why a game has no circuit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NoCircuit(String);

impl fmt::Display for NoCircuit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoCircuit {}

/// Makes the circuit of a game that was opened for the interpreter, and returns the engine that
/// plays by it.
pub(crate) fn compile(engine: &Engine, deadline: Option<Instant>) -> Result<Engine, NoCircuit> {
    match engine {
        Engine::GdlInterpreter(game) | Engine::GdlCircuit(game, _) => {
            let mut limits = agon_gdl::circuit::CircuitLimits::default();
            limits.ground.deadline = deadline;
            let compiled = game.compile(&limits).map_err(|why| NoCircuit(why.to_string()))?;
            Ok(Engine::GdlCircuit(Arc::clone(game), Arc::new(compiled)))
        }
        Engine::TossInterpreter(game) | Engine::TossCircuit(game, _) => {
            let limits = agon_toss::circuit::CircuitLimits {
                interrupt: Interrupt::at(deadline),
                ..Default::default()
            };
            let compiled = game
                .compile(&limits, Deadline::new(deadline))
                .map_err(|why| NoCircuit(why.to_string()))?;
            Ok(Engine::TossCircuit(Arc::clone(game), Arc::new(compiled)))
        }
    }
}

/// Opens a game for single plays, with the engine that the user asked for.
pub(crate) fn open_engine(game: &str, play: &PlayOptions) -> Result<Game, Failure> {
    opened(game, source(game)?, &play.options(Purpose::Single))
}

/// Opens a game for a match. With a budget of iterations, the choice of the engine does not depend
/// on the clock.
pub(crate) fn open_for_match(
    game: &str,
    source: Arc<Source>,
    play: &PlayOptions,
    models: &ModelOptions,
    iterations: Option<u64>,
) -> Result<Game, Failure> {
    let purpose = match iterations {
        Some(_) => Purpose::ReproducibleSearch,
        None => Purpose::Search,
    };
    let options = OpenOptions { models: models.store(), ..play.options(purpose) };
    opened(game, source, &options)
}

/// Opens a game to learn it.
pub(crate) fn open_to_learn(game: &str, play: &PlayOptions) -> Result<Game, Failure> {
    opened(game, source(game)?, &play.options(Purpose::ReproducibleSearch))
}

/// Opens a game whose model is looked at.
pub(crate) fn open_rules_to_learn(game: &str, rules: &RuleOptions) -> Result<Game, Failure> {
    let options = OpenOptions { purpose: Purpose::ReproducibleSearch, ..rules.options() };
    opened(game, source(game)?, &options)
}

fn opened(name: &str, source: Arc<Source>, options: &OpenOptions) -> Result<Game, Failure> {
    let game = Game::from_source(source, options)?.with_name(name);
    game.notes().iter().for_each(|note| remark!("{note}"));
    Ok(game)
}

/// Returns every `.kif` file below a folder, in alphabetical order.
pub(crate) fn rulesheets_below(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let listed =
            std::fs::read_dir(&folder).map_err(|error| Failure::cannot_read(&folder, &error))?;
        for entry in listed.flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "kif") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
