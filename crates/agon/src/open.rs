//! From what the user calls a game to a game that can be played.

use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_analysis::properties::prove_constant_sum;
use agon_game::Rng;
use agon_gdl::check::{Checked, check_as};
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::engine as gdl;
use agon_gdl::interpreter::{Game, GoalPolicy, Options};
use agon_gdl::symbols::Case;
use agon_text::{Severity, Source, render};
use clap::ValueEnum as _;
use rand::SeedableRng as _;

use crate::engine::{GamePosition, GameTask, Opened};
use crate::failure::Failure;
use crate::shipped::{SHIPPED, Shipped};
use crate::terminal::remark;

/// Rulesheets beyond this are not read: the largest public one has 70 kB.
const MAX_BYTES: u64 = 64 << 20;

/// How a game is played.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum EngineChoice {
    /// Whatever suits the game best.
    Auto,
    /// By the rules as they stand: slow, obvious, the judge of every other.
    Interpreter,
    /// Grounded and made into a circuit.
    Circuit,
}

/// Options of commands that leave it to the user which engine plays.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct PlayOptions {
    /// The engine that plays
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) engine: EngineChoice,
    #[command(flatten)]
    pub(crate) rules: RuleOptions,
}

/// How rules are read and what they pay: options of every command that opens a game.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct RuleOptions {
    /// Whether names that differ only in capitalisation are the same
    #[arg(long, value_enum, default_value = "ignored")]
    pub(crate) case: CaseChoice,
    /// What counts where the rules give a role several goal values
    #[arg(long, value_enum, default_value = "highest")]
    pub(crate) goals: GoalChoice,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum CaseChoice {
    /// They are the same.
    Ignored,
    /// They are different, as for the players of ggp-base.
    Respected,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum GoalChoice {
    /// The highest; none counts as 0.
    Highest,
    /// The lowest; none counts as 0.
    Lowest,
    /// Anything but exactly one value counts as 0.
    ExactlyOne,
}

impl Default for RuleOptions {
    fn default() -> RuleOptions {
        RuleOptions { case: CaseChoice::Ignored, goals: GoalChoice::Highest }
    }
}

impl RuleOptions {
    pub(crate) fn case(&self) -> Case {
        match self.case {
            CaseChoice::Ignored => Case::Ignored,
            CaseChoice::Respected => Case::Respected,
        }
    }

    /// The same as it would be typed.
    pub(crate) fn as_arguments(&self) -> [String; 4] {
        let name = |value: Option<clap::builder::PossibleValue>| {
            value.expect("no choice is hidden").get_name().to_owned()
        };
        let (case, goals) = (self.case.to_possible_value(), self.goals.to_possible_value());
        ["--case".to_owned(), name(case), "--goals".to_owned(), name(goals)]
    }

    fn options(&self) -> Options {
        let goal_policy = match self.goals {
            GoalChoice::Highest => GoalPolicy::Highest,
            GoalChoice::Lowest => GoalPolicy::Lowest,
            GoalChoice::ExactlyOne => GoalPolicy::ExactlyOne,
        };
        Options { goal_policy, ..Options::default() }
    }
}

/// The text of a game: a shipped game's name, a path, or `-` for standard input.
pub(crate) fn source(game: &str) -> Result<Arc<Source>, Failure> {
    if let Some(shipped) = Shipped::named(game) {
        return Ok(Arc::new(Source::new(shipped.path, shipped.text)));
    }
    let read = |reader: &mut dyn std::io::Read| -> std::io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        reader.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let path = Path::new(game);
    let bytes = if game == "-" {
        read(&mut std::io::stdin().lock())
    } else {
        std::fs::File::open(path).and_then(|mut file| read(&mut file))
    };
    let bytes = bytes.map_err(|error| {
        let hint = match closest(game) {
            Some(name) => format!("; did you mean the shipped game `{name}`?"),
            None if path.components().count() == 1 => {
                "; `agon games` lists the shipped games".to_owned()
            }
            None => String::new(),
        };
        Failure::unreadable(format!("cannot read {game}: {error}{hint}"))
    })?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Failure::unreadable(format!("{game} is larger than {} MiB", MAX_BYTES >> 20)));
    }
    if bytes.iter().take(1024).any(|&byte| byte == 0) {
        return Err(Failure::unreadable(format!("{game} is not a text file")));
    }
    Ok(Arc::new(Source::from_bytes(game, &bytes)))
}

/// The shipped game whose name is most like another, if any is.
pub(crate) fn closest(name: &str) -> Option<&'static str> {
    let distance = |game: &Shipped| strsim::damerau_levenshtein(game.name, &name.to_lowercase());
    let best = SHIPPED.iter().min_by_key(|game| distance(game))?;
    (distance(best) <= 1 + name.len() / 4).then_some(best.name)
}

/// A game ready to be played. If its rules are wrong, the failure shows what is wrong with them.
pub(crate) fn open(game: &str, play: &RuleOptions) -> Result<Arc<Game>, Failure> {
    open_source(source(game)?, play)
}

/// The same from text at hand.
pub(crate) fn open_source(source: Arc<Source>, play: &RuleOptions) -> Result<Arc<Game>, Failure> {
    if language(&source) == Language::Toss {
        let name = source.name();
        return Err(Failure::wrong(format!(
            "{name} is a structure rewriting game; this works on GDL alone so far"
        )));
    }
    let Checked { rules, findings } = check_as(Arc::clone(&source), play.case());
    let Some(rules) = rules else {
        let errors: Vec<_> =
            findings.0.into_iter().filter(|finding| finding.severity == Severity::Error).collect();
        let shown = render(&errors, &source, crate::terminal::colour_on_stderr());
        return Err(Failure::wrong(format!(
            "{shown}{} cannot be played as it stands",
            source.name()
        )));
    };
    Game::open(rules, play.options()).map_err(|finding| {
        Failure::wrong(render(&[*finding], &source, crate::terminal::colour_on_stderr()))
    })
}

/// The family of rules that a text is written in.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Language {
    /// GDL or GDL-II.
    Gdl,
    /// Structure rewriting.
    Toss,
}

/// Which it is, by the ending of the file or by the first word.
pub(crate) fn language(source: &Source) -> Language {
    let ending = Path::new(source.name()).extension().unwrap_or_default();
    if ending == "toss" || (ending != "kif" && agon_toss::read::is_like(source.text())) {
        Language::Toss
    } else {
        Language::Gdl
    }
}

/// A structure rewriting game ready to be played. If its rules are wrong, the failure shows what is wrong with them.
pub(crate) fn open_toss(source: Arc<Source>) -> Result<Arc<agon_toss::interpreter::Game>, Failure> {
    let agon_toss::check::Checked { arena, findings } =
        agon_toss::check::check(Arc::clone(&source));
    let Some(arena) = arena else {
        let errors: Vec<_> =
            findings.0.into_iter().filter(|finding| finding.severity == Severity::Error).collect();
        let shown = render(&errors, &source, crate::terminal::colour_on_stderr());
        return Err(Failure::wrong(format!(
            "{shown}{} cannot be played as it stands",
            source.name()
        )));
    };
    agon_toss::interpreter::Game::open(arena, agon_toss::interpreter::Options::default()).map_err(
        |finding| Failure::wrong(render(&[*finding], &source, crate::terminal::colour_on_stderr())),
    )
}

/// The same with the engine that was asked for. Left to choose, it is a circuit whenever one is made within modest limits: the
/// interpreter of formulas is slower by far in every game that has one.
fn open_toss_engine(
    source: Arc<Source>,
    engine: EngineChoice,
    deadline: Option<Instant>,
) -> Result<Opened, Failure> {
    use agon_circuit::Deadline;
    use agon_toss::circuit::{CircuitLimits, NoCircuit};
    use agon_toss::engine as toss;
    let game = open_toss(source)?;
    let compiled = match engine {
        EngineChoice::Interpreter => return Ok(Opened::Toss(toss::Opened::Interpreter(game))),
        EngineChoice::Auto => game.compile(&CircuitLimits::modest(), Deadline::new(deadline)),
        EngineChoice::Circuit => game.compile(&CircuitLimits::default(), Deadline::NEVER),
    };
    match compiled {
        Ok(compiled) => Ok(Opened::Toss(toss::Opened::Circuit(game, Arc::new(compiled)))),
        Err(why) if engine == EngineChoice::Auto => {
            // That elements come and go is in the nature of a game, and nothing to wonder at.
            if why != NoCircuit::UniverseChanges {
                remark!("played by the interpreter, because no circuit was made: {why}");
            }
            Ok(Opened::Toss(toss::Opened::Interpreter(game)))
        }
        Err(why) => Err(Failure::wrong(format!("no circuit could be made of the game: {why}"))),
    }
}

/// What the automatic choice spends on making a circuit, and how large it may be.
const AUTO_SECONDS: u64 = 2;
const AUTO_GATES: usize = 1_000_000;

/// How long each engine is tried before one is chosen.
const TRIAL: Duration = Duration::from_millis(40);

/// A game with the engine that was asked for. Left to choose: a circuit if one is made quickly and plays faster than
/// the interpreter in a short trial. All engines list the same moves in the same order, so the choice changes
/// nothing but the speed.
pub(crate) fn open_engine(source: Arc<Source>, play: &PlayOptions) -> Result<Opened, Failure> {
    if language(&source) == Language::Toss {
        return open_toss_engine(
            source,
            play.engine,
            Some(Instant::now() + Duration::from_secs(AUTO_SECONDS)),
        );
    }
    let game = open_source(source, &play.rules)?;
    let mut limits = CircuitLimits::default();
    match play.engine {
        EngineChoice::Interpreter => return Ok(Opened::Gdl(gdl::Opened::Interpreter(game))),
        EngineChoice::Circuit => {
            let compiled = game.compile(&limits);
            let compiled = compiled.map_err(|why| {
                Failure::wrong(format!("no circuit could be made of the game: {why}"))
            })?;
            return Ok(Opened::Gdl(gdl::Opened::Circuit(game, Arc::new(compiled))));
        }
        EngineChoice::Auto => {}
    }
    limits.ground.deadline = Some(Instant::now() + Duration::from_secs(AUTO_SECONDS));
    limits.gates = AUTO_GATES;
    match game.compile(&limits) {
        Ok(compiled) => {
            let circuit = Opened::Gdl(gdl::Opened::Circuit(Arc::clone(&game), Arc::new(compiled)));
            let interpreter = Opened::Gdl(gdl::Opened::Interpreter(game));
            let is_faster = circuit.run(Trial) >= interpreter.run(Trial);
            Ok(if is_faster { circuit } else { interpreter })
        }
        Err(why) => {
            remark!(
                "played by the interpreter, because no circuit was made in {AUTO_SECONDS} s: {why}"
            );
            Ok(Opened::Gdl(gdl::Opened::Interpreter(game)))
        }
    }
}

/// A game for a match. Left to choose, it is a circuit whenever one can be made: searches play out hundreds of games at once
/// by it, which no trial of single games would tell. If iterations are counted, nothing depends on time, since a search by another
/// engine would come to other moves.
pub(crate) fn open_for_match(
    source: Arc<Source>,
    play: &PlayOptions,
    is_counted: bool,
) -> Result<Opened, Failure> {
    let soon = Instant::now() + Duration::from_secs(AUTO_SECONDS);
    let deadline = if is_counted { None } else { Some(soon) };
    if language(&source) == Language::Toss {
        return open_toss_engine(source, play.engine, deadline);
    }
    if play.engine != EngineChoice::Auto {
        return open_engine(source, play);
    }
    let game = open_source(source, &play.rules)?;
    let mut limits = CircuitLimits { gates: AUTO_GATES, ..CircuitLimits::default() };
    limits.ground.deadline = deadline;
    match game.compile(&limits) {
        Ok(compiled) => {
            Ok(Opened::Gdl(gdl::Opened::Circuit(game, Arc::new(with_proofs(compiled)))))
        }
        Err(why) => {
            remark!("played by the interpreter, because no circuit was made: {why}");
            Ok(Opened::Gdl(gdl::Opened::Interpreter(game)))
        }
    }
}

/// A circuit with what is proved of its payoffs, for searches to use.
pub(crate) fn with_proofs(mut compiled: gdl::Compiled) -> gdl::Compiled {
    compiled.shape.constant_sum = prove_constant_sum(&compiled).map(|sum| sum as f64);
    compiled
}

/// Random play for a moment; gives states per second.
struct Trial;

impl GameTask for Trial {
    type Output = f64;

    fn run<P: GamePosition + 'static>(self, start: P) -> f64 {
        let mut rng = Rng::seed_from_u64(0);
        let mut position = start.clone();
        let (began, mut n_states) = (Instant::now(), 0);
        while began.elapsed() < TRIAL {
            if position.is_terminal() {
                position.go_to(start.state());
            }
            // A few steps at a time: one playout of a long game may take longer than the whole trial.
            n_states += 1 + position.play_out(&mut rng, 8);
        }
        n_states as f64 / began.elapsed().as_secs_f64()
    }
}
