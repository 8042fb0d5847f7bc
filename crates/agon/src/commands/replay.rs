//! `agon replay`: plays recorded games again and compares everything.

mod compare;
mod lanes;
mod one_by_one;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_circuit::{Backend, Deadline};
use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::engine as gdl;
use agon_text::Source;

use crate::engine::Opened;
use crate::failure::Failure;
use crate::match_record;
use crate::open::{self, CaseChoice, EngineChoice, Language, PlayOptions, RuleOptions};
use crate::terminal;
use crate::terminal::say;
use crate::trace::Trace;
use compare::Tally;
use lanes::{Machine, replay_in_lanes};
use one_by_one::Replay;

/// Replay a recorded game and compare every state, every legal move and the goals.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  agon replay tic-tac-toe games/gdl/tic-tac-toe.trace.json
  agon replay --games rulesheets/ --traces traces/ --jobs 2
  agon replay match.json
  agon replay --games rulesheets/ --traces traces/ --engine lanes

The last line is `replayed P plays, S states, M mismatches`; the exit code is 0 only if M is 0. Where the engine does not take
every game, it goes on `; P plays of G games not taken by the engine`.")]
pub(crate) struct Args {
    /// A shipped game's name or the path of a rulesheet; may be left out for a match of a shipped game
    #[arg(required_unless_present = "games")]
    rules: Option<String>,
    /// The recorded game or match, .json or .json.gz
    trace: Option<PathBuf>,
    /// A folder of rulesheets, for a whole collection
    #[arg(long, requires = "traces", conflicts_with_all = ["rules", "trace"])]
    games: Option<PathBuf>,
    /// A folder of traces; the field `game` of each is a path below the folder of rulesheets
    #[arg(long, requires = "games")]
    traces: Option<PathBuf>,
    /// How many rulesheets at once [default: as many as there are cores]
    #[arg(long)]
    jobs: Option<usize>,
    /// The engine that replays
    #[arg(long, value_enum, default_value = "auto")]
    engine: Engine,
    /// Give up making a circuit of a game after so many seconds; the engine then does not take it
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    #[command(flatten)]
    reading: RuleOptions,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Engine {
    /// The judge: a trace is short.
    Auto,
    /// By the rules as they stand.
    Interpreter,
    /// Grounded and made into a circuit, one play after another.
    Circuit,
    /// The circuit, all plays of a trace side by side, by native code where the processor has AVX2.
    Lanes,
    /// The same without native code.
    Portable,
}

impl Engine {
    /// What runs the lanes, if it is lanes.
    fn backend(self) -> Option<Backend> {
        match self {
            Engine::Auto | Engine::Interpreter | Engine::Circuit => None,
            Engine::Lanes => Some(Backend::Native),
            Engine::Portable => Some(Backend::Portable),
        }
    }
}

/// What came of a trace.
enum Outcome {
    Replayed(Tally),
    /// The engine does not take the game.
    NotTaken {
        n_plays: usize,
        why: String,
    },
}

/// What came of all of them.
#[derive(Default)]
struct Total {
    n_plays: usize,
    n_states: usize,
    n_mismatches: usize,
    /// Of games that the engine does not take.
    n_games_not_taken: usize,
    n_plays_not_taken: usize,
}

impl Total {
    fn add(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Replayed(tally) => {
                self.n_plays += tally.n_plays;
                self.n_states += tally.n_states;
                self.n_mismatches += tally.n_mismatches;
            }
            Outcome::NotTaken { n_plays, .. } => {
                self.n_games_not_taken += 1;
                self.n_plays_not_taken += n_plays;
            }
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    // A match is one play: the lanes have nothing to do side by side, and the circuit stands in for them.
    let engine = match args.engine {
        Engine::Auto | Engine::Interpreter => EngineChoice::Interpreter,
        Engine::Circuit | Engine::Lanes | Engine::Portable => EngineChoice::Circuit,
    };
    let play = PlayOptions { engine, rules: args.reading.clone() };
    if let Some(verdict) =
        match_record::replay(args.rules.as_deref(), args.trace.as_deref(), &play)?
    {
        return verdict;
    }
    let total = match (&args.rules, &args.trace, &args.games, &args.traces) {
        (Some(rules), Some(trace), _, _) => {
            let trace = Trace::read(trace)?;
            let outcome = replay_as_recorded(rules, &trace, args)?;
            match &outcome {
                Outcome::Replayed(tally) => {
                    tally.remarks.iter().chain(&tally.differences).for_each(|line| say!("{line}"));
                }
                Outcome::NotTaken { why, .. } => say!("not taken by this engine: {why}"),
            }
            let mut total = Total::default();
            total.add(&outcome);
            total
        }
        (_, _, Some(games), Some(traces)) => replay_all(games, traces, args)?,
        _ => return Err(Failure::unreadable("give RULES and TRACE, or --games and --traces")),
    };
    let Total { n_plays, n_states, n_mismatches, n_games_not_taken, n_plays_not_taken } = total;
    let not_taken = match n_games_not_taken {
        0 => String::new(),
        1 => format!("; {n_plays_not_taken} plays of 1 game not taken by the engine"),
        n => format!("; {n_plays_not_taken} plays of {n} games not taken by the engine"),
    };
    say!("replayed {n_plays} plays, {n_states} states, {n_mismatches} mismatches{not_taken}");
    if n_mismatches > 0 { Err(Failure { code: 1, message: String::new() }) } else { Ok(()) }
}

fn replay_all(games: &Path, traces: &Path, args: &Args) -> Result<Total, Failure> {
    let listing = std::fs::read_dir(traces).map_err(|error| {
        Failure::unreadable(format!("cannot read {}: {error}", traces.display()))
    })?;
    let mut files: Vec<PathBuf> = listing.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.ends_with(".json") || name.ends_with(".json.gz")
    });
    files.sort();
    if files.is_empty() {
        return Err(Failure::unreadable(format!(
            "no .json or .json.gz files in {}",
            traces.display()
        )));
    }
    let jobs = args
        .jobs
        .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
        .max(1);
    let next = AtomicUsize::new(0);
    let printer =
        Mutex::new(Printer { waiting: Vec::new(), n_printed: 0, total: Total::default() });
    let bar = terminal::progress(files.len() as u64, "replaying");
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(files.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(index) else { break };
                    let started = Instant::now();
                    let outcome = replay_file(games, file, args);
                    let mut printer = printer.lock().expect("printing does not panic");
                    printer.waiting.push((index, outcome, started.elapsed()));
                    bar.inc(1);
                    bar.suspend(|| printer.print(&files));
                }
            });
        }
    });
    bar.finish_and_clear();
    Ok(printer.into_inner().expect("printing does not panic").total)
}

/// Prints the rulesheets in order, whatever the order in which they are done.
struct Printer {
    waiting: Vec<(usize, Result<Outcome, String>, Duration)>,
    n_printed: usize,
    total: Total,
}

impl Printer {
    fn print(&mut self, files: &[PathBuf]) {
        while let Some(at) = self.waiting.iter().position(|(index, ..)| *index == self.n_printed) {
            let (index, outcome, time) = self.waiting.swap_remove(at);
            let name = files[index].file_name().unwrap_or_default().to_string_lossy();
            let name =
                name.trim_end_matches(".gz").trim_end_matches(".json").trim_end_matches(".trace");
            let seconds = time.as_secs_f64();
            if let Ok(outcome) = &outcome {
                self.total.add(outcome);
            }
            match outcome {
                Ok(Outcome::Replayed(tally)) => {
                    let verdict = if tally.n_mismatches == 0 {
                        terminal::green("ok")
                    } else {
                        terminal::red(&format!("{} mismatches", tally.n_mismatches))
                    };
                    let (plays, states) = (tally.n_plays, tally.n_states);
                    say!("{name}: {verdict}, {plays} plays, {states} states, {seconds:.2} s");
                    tally.remarks.iter().chain(&tally.differences).for_each(|line| say!("{line}"));
                }
                Ok(Outcome::NotTaken { n_plays, why }) => {
                    say!(
                        "{name}: not taken by this engine, {n_plays} plays, {seconds:.2} s\n  {why}"
                    );
                }
                Err(why) => {
                    say!("{name}: {}, {seconds:.2} s\n{why}", terminal::red("not replayed"));
                    self.total.n_mismatches += 1;
                }
            }
            self.n_printed += 1;
        }
    }
}

fn replay_file(games: &Path, file: &Path, args: &Args) -> Result<Outcome, String> {
    let trace = Trace::read(file).map_err(|failure| failure.message)?;
    // A trace comes from outside: it may not lead out of the folder of games.
    let below = Path::new(&trace.game);
    let is_below = below.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if !is_below {
        return Err(format!("`game` is not a path below the folder of games: {}", trace.game));
    }
    let rules = games.join(below);
    replay_as_recorded(&rules.to_string_lossy(), &trace, args).map_err(|failure| failure.message)
}

/// Replays with names read as usual. A rulesheet that mixes capitalisations means something else to a reasoner
/// that tells them apart, as ggp-base's does; where its recording differs, it is tried that way too, and said.
fn replay_as_recorded(rules: &str, trace: &Trace, args: &Args) -> Result<Outcome, Failure> {
    let source = open::source(rules)?;
    let outcome = replay(&source, trace, &args.reading, args)?;
    let mixes_case =
        || check(Arc::clone(&source)).findings.0.iter().any(|f| f.code == "mixed-capitalisation");
    let is_fine = match &outcome {
        Outcome::Replayed(tally) => tally.n_mismatches == 0,
        Outcome::NotTaken { .. } => true,
    };
    let is_gdl = open::language(&source) == Language::Gdl;
    if is_fine || !is_gdl || args.reading.case == CaseChoice::Respected || !mixes_case() {
        return Ok(outcome);
    }
    let reading = RuleOptions { case: CaseChoice::Respected, ..args.reading.clone() };
    match replay(&source, trace, &reading, args)? {
        Outcome::Replayed(mut tally) if tally.n_mismatches == 0 => {
            tally.remarks.push(
                "  the rulesheet mixes capitalisations and was recorded with them told apart; it replays only so \
                 (--case respected)"
                    .to_owned(),
            );
            Ok(Outcome::Replayed(tally))
        }
        Outcome::Replayed(_) => Ok(outcome),
        // Whether it was recorded so is not known.
        not_taken @ Outcome::NotTaken { .. } => Ok(not_taken),
    }
}

fn replay(
    source: &Arc<Source>,
    trace: &Trace,
    reading: &RuleOptions,
    args: &Args,
) -> Result<Outcome, Failure> {
    if open::language(source) == Language::Toss {
        return replay_toss(source, trace, args);
    }
    let game = open::open_source(Arc::clone(source), reading)?;
    if matches!(args.engine, Engine::Auto | Engine::Interpreter) {
        return Ok(Outcome::Replayed(
            Opened::Gdl(gdl::Opened::Interpreter(game)).run(Replay(trace)),
        ));
    }
    let mut limits = CircuitLimits::default();
    let time = Duration::try_from_secs_f64(args.seconds)
        .map_err(|error| Failure::unreadable(format!("--seconds: {error}")))?;
    limits.ground.deadline = Instant::now().checked_add(time);
    let compiled = match game.compile(&limits) {
        Ok(compiled) => compiled,
        Err(why) => {
            return Ok(Outcome::NotTaken { n_plays: trace.plays.len(), why: why.to_string() });
        }
    };
    Ok(Outcome::Replayed(match args.engine.backend() {
        Some(backend) => {
            let gdl::Compiled { circuit, shape, turns, .. } = compiled;
            replay_in_lanes(&Machine { circuit, shape, turns }, backend, trace)
        }
        None => Opened::Gdl(gdl::Opened::Circuit(game, Arc::new(compiled))).run(Replay(trace)),
    }))
}

/// The same for a structure rewriting game.
fn replay_toss(source: &Arc<Source>, trace: &Trace, args: &Args) -> Result<Outcome, Failure> {
    use agon_toss::circuit::{CircuitLimits, Compiled};
    use agon_toss::engine as toss;
    let game = open::open_toss(Arc::clone(source))?;
    if matches!(args.engine, Engine::Auto | Engine::Interpreter) {
        return Ok(Outcome::Replayed(
            Opened::Toss(toss::Opened::Interpreter(game)).run(Replay(trace)),
        ));
    }
    let time = Duration::try_from_secs_f64(args.seconds)
        .map_err(|error| Failure::unreadable(format!("--seconds: {error}")))?;
    let deadline = Deadline::new(Instant::now().checked_add(time));
    let compiled = match game.compile(&CircuitLimits::default(), deadline) {
        Ok(compiled) => compiled,
        Err(why) => {
            return Ok(Outcome::NotTaken { n_plays: trace.plays.len(), why: why.to_string() });
        }
    };
    Ok(Outcome::Replayed(match args.engine.backend() {
        Some(backend) => {
            let Compiled { circuit, shape, turns, .. } = compiled;
            replay_in_lanes(&Machine { circuit, shape, turns }, backend, trace)
        }
        None => Opened::Toss(toss::Opened::Circuit(game, Arc::new(compiled))).run(Replay(trace)),
    }))
}
