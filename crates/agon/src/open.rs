//! From the name, path or text of a game to an opened [`Game`](crate::Game).

mod settings;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use agon_circuit::{Compiled, Deadline};
use agon_datalog::StopFlag;
use agon_game::Shape;
use agon_gdl::check::Checked;
use agon_gdl::interpreter as gdl;
pub use agon_gdl::interpreter::GoalPolicy;
pub use agon_gdl::params::{Param, Settings};
pub use agon_gdl::symbols::Case;
use agon_reals::interrupt::Interrupt;
use agon_text::{Diagnostic, Severity, Source, did_you_mean, render};
use agon_toss::circuit::NoCircuit;
use agon_toss::interpreter as toss;

pub use settings::{expanded, located, params, setting, split_settings, with_settings};

use crate::engine::Engine;
use crate::models::ModelStore;
use crate::shipped::{SHIPPED, Shipped};

/// Maximum size of a rulesheet in bytes. The largest public one has 70 kB.
pub const MAX_BYTES: u64 = 64 << 20;

/// Time that the automatic choice of an engine spends on making a circuit, in seconds.
const AUTO_SECONDS: u64 = 2;
/// Maximum number of gates of a circuit made by the automatic choice.
const AUTO_GATES: usize = 1_000_000;
/// Maximum number of gates, and of steps of grounding, of a circuit made for single games. Making
/// it takes a second or two, and the choice must not depend on the clock.
const SINGLE_GATES: usize = 150_000;
const SINGLE_STEPS: u64 = 20_000_000;
/// Maximum number of findings shown for rules that cannot be opened. The first ones are usually the
/// cause of the others.
const MAX_SHOWN: usize = 100;

/// How a game is opened.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// The engine that plays.
    pub engine: EngineChoice,
    /// How names that differ only in capitalisation are read.
    pub case: Case,
    /// The payoff of a role to which the rules give several goal values.
    pub goals: GoalPolicy,
    /// The kind of play for which [`EngineChoice::Auto`] chooses the engine.
    pub purpose: Purpose,
    /// Limits on opening and playing, for rules from strangers.
    pub limits: OpenLimits,
    /// Values of the parameters of the rules, in place of the declared ones.
    pub settings: Settings,
    /// The store of models that players use, if they use one.
    pub models: Option<ModelStore>,
}

/// Limits on the time and memory of a game. By default there is no deadline, and the memory is that
/// of the engines' own limits.
#[derive(Clone, Debug, Default)]
pub struct OpenLimits {
    /// Time at which opening must have ended. It does not limit play.
    pub deadline: Option<Instant>,
    /// Time at which every evaluation of the game ends with a refusal, in opening and in play. For
    /// programs that look at a game for a while, not for those that play it.
    pub until: Option<Instant>,
    /// Cancels opening and every evaluation of the game when it is set.
    pub stop: Option<Arc<AtomicBool>>,
    /// Maximum number of bytes that the interpreter uses for one state, and the grounder for the
    /// rules.
    pub bytes: Option<usize>,
    /// Maximum number of evaluation steps of the interpreter for one state.
    pub steps: Option<u64>,
}

impl OpenLimits {
    /// Returns the flag that cancels work.
    pub fn stop_flag(&self) -> StopFlag {
        self.stop.clone().map_or(StopFlag::NEVER, StopFlag::new)
    }
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions {
            engine: EngineChoice::Auto,
            case: Case::Ignored,
            goals: GoalPolicy::Highest,
            purpose: Purpose::Search,
            limits: OpenLimits::default(),
            settings: Settings::new(),
            models: None,
        }
    }
}

/// Which engine plays a game.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum EngineChoice {
    /// The engine that suits the game and the [`Purpose`].
    Auto,
    /// The rules as they stand: slow and simple, the oracle of every other engine.
    Interpreter,
    /// A circuit made by grounding the rules.
    Circuit,
}

/// What an opened game is used for. It decides which engine [`EngineChoice::Auto`] takes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Single games: a circuit if one can be made within a small fixed size. The choice does not
    /// depend on the clock, so it is the same on every machine.
    Single,
    /// Search: a circuit if one is made in two seconds. Searches run hundreds of games at once on
    /// it, so a trial of single games would be misleading.
    Search,
    /// Search under an iteration budget: a circuit if one can be made within a fixed size. No time
    /// limit, because a search on another engine would choose other moves.
    ReproducibleSearch,
}

/// The rule language of a text.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Language {
    /// GDL or GDL-II.
    Gdl,
    /// Structure rewriting, in the language of Toss.
    Toss,
}

/// Returns the rule language of a source, by the ending of its name or by its first word.
pub fn language(source: &Source) -> Language {
    if agon_toss::read::is_game(source) { Language::Toss } else { Language::Gdl }
}

/// Why a game could not be opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no such shipped game or file, or the file cannot be read as text.
    Unreadable {
        /// The name or path that was given.
        name: String,
        /// What went wrong, with a hint.
        reason: String,
    },
    /// The rules have errors.
    Rules {
        /// What is wrong with the rules; at least one entry.
        findings: Vec<Diagnostic>,
        /// The text that the findings point into.
        source: Arc<Source>,
    },
    /// The operation is for GDL only.
    NotGdl {
        /// The name of the game.
        name: String,
    },
    /// A circuit was asked for and could not be made.
    NoCircuit {
        /// What prevents it.
        reason: String,
    },
}

/// Shows the first findings of rules, and how many more there are.
pub fn render_first(findings: &[Diagnostic], source: &Source, colour: bool) -> String {
    let first = &findings[..findings.len().min(MAX_SHOWN)];
    let mut shown = render(first, source, colour);
    if findings.len() > first.len() {
        let more = findings.len() - first.len();
        shown.push_str(&format!("… and {more} more (`agon check --json` shows all)\n"));
    }
    shown
}

impl OpenError {
    /// Shows the error, on a terminal that takes colours or not.
    pub fn render(&self, colour: bool) -> String {
        match self {
            OpenError::Unreadable { reason, .. } => reason.clone(),
            OpenError::Rules { findings, source } => {
                let shown = render_first(findings, source, colour);
                format!("{shown}{} cannot be played as it stands", source.name())
            }
            OpenError::NotGdl { name } => {
                format!("{name} is a structure rewriting game; this works on GDL alone so far")
            }
            OpenError::NoCircuit { reason } => {
                format!("no circuit could be made of the game: {reason}")
            }
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for OpenError {}

/// Reads the text of a shipped game by its name, or of a file by its path. The name may end with
/// values of parameters, as in `hex(size=9)`. The text is that of plain rules without parameters.
///
/// # Errors
/// [`OpenError::Unreadable`] if there is neither, or the file is too large or not text, and
/// [`OpenError::Rules`] if a parameter cannot have its value.
pub fn source(game: &str) -> Result<Arc<Source>, OpenError> {
    let (source, settings) = raw_source(game)?;
    expanded(source, &settings)
}

/// Reads the text of a game like [`source`], but as it was written. Returns the values of
/// parameters that the name has.
///
/// # Errors
/// [`OpenError::Unreadable`] if there is no such game, or the file is too large or not text.
pub fn raw_source(game: &str) -> Result<(Arc<Source>, Settings), OpenError> {
    let (plain, settings) = split_settings(game);
    match settings.is_empty() || Path::new(game).is_file() {
        true => Ok((read_source(game)?, Settings::new())),
        false => Ok((read_source(plain)?, settings)),
    }
}

fn read_source(game: &str) -> Result<Arc<Source>, OpenError> {
    if let Some(shipped) = Shipped::named(game) {
        return Ok(Arc::new(Source::new(shipped.path, shipped.text)));
    }
    let mut file = std::fs::File::open(game).map_err(|error| unreadable(game, &error))?;
    source_from(game, &mut file)
}

/// Reads the text of a game from a reader. `name` is used in messages.
///
/// # Errors
/// [`OpenError::Unreadable`] if reading fails, or the input is too large or not text.
pub fn source_from(name: &str, reader: &mut dyn std::io::Read) -> Result<Arc<Source>, OpenError> {
    use std::io::Read as _;
    let fail = |reason: String| OpenError::Unreadable { name: name.to_owned(), reason };
    let mut bytes = Vec::new();
    reader.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(fail(format!("{name} is larger than {} MiB", MAX_BYTES >> 20)));
    }
    if bytes.iter().take(1024).any(|&byte| byte == 0) {
        return Err(fail(format!("{name} is not a text file")));
    }
    Ok(Arc::new(Source::from_bytes(name, &bytes)))
}

fn unreadable(name: &str, error: &std::io::Error) -> OpenError {
    let hint = match closest(name) {
        Some(shipped) => format!("; did you mean the shipped game `{shipped}`?"),
        None if Path::new(name).components().count() == 1 => {
            "; `agon games` lists the shipped games".to_owned()
        }
        None => String::new(),
    };
    let reason = format!("cannot read {name}: {error}{hint}");
    OpenError::Unreadable { name: name.to_owned(), reason }
}

/// Returns the shipped game whose name is most similar to the given one, if any is similar.
pub fn closest(name: &str) -> Option<&'static str> {
    did_you_mean(name, SHIPPED.iter().map(|game| game.name))
}

/// Opens a GDL game for the interpreter.
///
/// # Errors
/// [`OpenError::Rules`] if the rules are wrong, [`OpenError::NotGdl`] if they are not GDL.
pub fn open_gdl(source: Arc<Source>, options: &OpenOptions) -> Result<Arc<gdl::Game>, OpenError> {
    if language(&source) == Language::Toss {
        return Err(OpenError::NotGdl { name: source.name().to_owned() });
    }
    let source = expanded(source, &options.settings)?;
    let Checked { rules, findings } =
        agon_gdl::check::check_with(Arc::clone(&source), &options.case.into());
    let Some(rules) = rules else {
        return Err(OpenError::Rules { findings: errors(findings.0), source });
    };
    let defaults = agon_datalog::Limits::default();
    let limits = agon_datalog::Limits {
        bytes: options.limits.bytes.unwrap_or(defaults.bytes),
        steps: options.limits.steps.unwrap_or(defaults.steps),
        deadline: options.limits.until,
        stop: options.limits.stop_flag(),
        ..defaults
    };
    let gdl_options =
        gdl::Options { limits, goal_policy: options.goals, deadline: options.limits.deadline };
    gdl::Game::open(rules, gdl_options)
        .map_err(|finding| OpenError::Rules { findings: vec![*finding], source })
}

/// Opens a structure rewriting game for the interpreter.
///
/// # Errors
/// [`OpenError::Rules`] if the rules are wrong.
pub fn open_toss(source: Arc<Source>, options: &OpenOptions) -> Result<Arc<toss::Game>, OpenError> {
    let source = expanded(source, &options.settings)?;
    let agon_toss::check::Checked { arena, findings } =
        agon_toss::check::check(Arc::clone(&source));
    let Some(arena) = arena else {
        return Err(OpenError::Rules { findings: errors(findings.0), source });
    };
    toss::Game::open(arena, toss_options(&options.limits))
        .map_err(|finding| OpenError::Rules { findings: vec![*finding], source })
}

/// Returns the options of a structure rewriting game with limits.
fn toss_options(limits: &OpenLimits) -> toss::Options {
    let mut options = toss::Options {
        interrupt: Interrupt { deadline: limits.until, stop: limits.stop.clone() },
        deadline: limits.deadline,
        ..toss::Options::default()
    };
    if let Some(bytes) = limits.bytes {
        // A cell of a relation has four bytes, and a few relations are held at a time.
        options.limits.cells = options.limits.cells.min(bytes / 16);
    }
    if let Some(steps) = limits.steps {
        options.state_steps = options.state_steps.min(steps);
    }
    options
}

fn errors(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    findings.into_iter().filter(|finding| finding.severity == Severity::Error).collect()
}

/// Adds what is proved of the payoffs to a circuit of a GDL game, for searches to use.
#[must_use]
pub fn with_proofs(mut compiled: Compiled) -> Compiled {
    let sum = agon_analysis::properties::prove_constant_sum(&compiled);
    let constant_sum = sum.map(|sum| sum as f64);
    compiled.set_shape(Shape { constant_sum, ..compiled.shape().clone() });
    compiled
}

/// Opens a game with the engine that the options ask for. The notes say what the user should know,
/// such as why the interpreter plays although a circuit would be faster.
pub(crate) fn open_engine(
    source: Arc<Source>,
    options: &OpenOptions,
) -> Result<(Engine, Vec<String>), OpenError> {
    match language(&source) {
        Language::Gdl => open_gdl_engine(source, options),
        Language::Toss => open_toss_engine(source, options),
    }
}

fn auto_deadline(purpose: Purpose) -> Option<Instant> {
    match purpose {
        Purpose::Search => Some(Instant::now() + Duration::from_secs(AUTO_SECONDS)),
        Purpose::Single | Purpose::ReproducibleSearch => None,
    }
}

fn open_gdl_engine(
    source: Arc<Source>,
    options: &OpenOptions,
) -> Result<(Engine, Vec<String>), OpenError> {
    let game = open_gdl(source, options)?;
    let mut limits = agon_gdl::circuit::CircuitLimits::default();
    match options.engine {
        EngineChoice::Interpreter => return Ok((Engine::GdlInterpreter(game), Vec::new())),
        EngineChoice::Circuit => {
            let compiled = game
                .compile(&limits)
                .map_err(|why| OpenError::NoCircuit { reason: why.to_string() })?;
            return Ok((Engine::GdlCircuit(game, Arc::new(compiled)), Vec::new()));
        }
        EngineChoice::Auto => {}
    }
    let deadlines = [auto_deadline(options.purpose), options.limits.deadline];
    limits.ground.deadline = deadlines.into_iter().flatten().min();
    limits.ground.stop = options.limits.stop_flag();
    limits.gates = AUTO_GATES;
    if options.purpose == Purpose::Single {
        limits.gates = SINGLE_GATES;
        limits.ground.steps = SINGLE_STEPS;
    }
    match (game.compile(&limits), options.purpose) {
        (Ok(compiled), Purpose::Single) => {
            Ok((Engine::GdlCircuit(game, Arc::new(compiled)), Vec::new()))
        }
        (Ok(compiled), Purpose::Search | Purpose::ReproducibleSearch) => {
            Ok((Engine::GdlCircuit(game, Arc::new(with_proofs(compiled))), Vec::new()))
        }
        (Err(why), _) => {
            let note = format!("played by the interpreter, because no circuit was made: {why}");
            Ok((Engine::GdlInterpreter(game), vec![note]))
        }
    }
}

fn open_toss_engine(
    source: Arc<Source>,
    options: &OpenOptions,
) -> Result<(Engine, Vec<String>), OpenError> {
    use agon_toss::circuit::CircuitLimits;
    let game = open_toss(source, options)?;
    let limits = &options.limits;
    let interrupt = Interrupt { deadline: limits.until, stop: limits.stop.clone() };
    let interrupt = interrupt.no_later_than(limits.deadline);
    // A circuit is taken whenever one is made within modest limits: the interpreter of formulas is
    // much slower in every game that has a circuit.
    let compiled = match options.engine {
        EngineChoice::Interpreter => return Ok((Engine::TossInterpreter(game), Vec::new())),
        EngineChoice::Auto => {
            let at = interrupt.no_later_than(auto_deadline(options.purpose)).deadline;
            let deadline = Deadline::new(at).or_when(interrupt.stop.as_deref());
            let limits = CircuitLimits { interrupt: interrupt.clone(), ..CircuitLimits::modest() };
            game.compile(&limits, deadline)
        }
        EngineChoice::Circuit => {
            let deadline = Deadline::new(interrupt.deadline).or_when(interrupt.stop.as_deref());
            let limits = CircuitLimits { interrupt: interrupt.clone(), ..CircuitLimits::default() };
            game.compile(&limits, deadline)
        }
    };
    match compiled {
        Ok(compiled) => Ok((Engine::TossCircuit(game, Arc::new(compiled)), Vec::new())),
        // A changing universe is part of the game, not a limitation the user can act on.
        Err(NoCircuit::UniverseChanges | NoCircuit::Continuous)
            if options.engine == EngineChoice::Auto =>
        {
            Ok((Engine::TossInterpreter(game), Vec::new()))
        }
        Err(why) if options.engine == EngineChoice::Auto => {
            let note = format!("played by the interpreter, because no circuit was made: {why}");
            Ok((Engine::TossInterpreter(game), vec![note]))
        }
        Err(why) => Err(OpenError::NoCircuit { reason: why.to_string() }),
    }
}
