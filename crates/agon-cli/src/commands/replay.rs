//! `agon replay`: replays recorded games and compares every state, legal move and goal.

mod compare;
mod lanes;
mod sequential;
mod show;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_circuit::Backend;
use agon_gdl::check::check;
use agon_text::Source;

use crate::failure::Failure;
use crate::match_record::{self, Verdict};
use crate::open::{self, CaseChoice, EngineChoice, Language, PlayOptions, RuleOptions};
use crate::terminal;
use crate::terminal::say;
use crate::trace::Trace;
use compare::Tally;
use lanes::replay_in_lanes;
use sequential::Replay;

/// Replay recorded games and compare every state, legal move and goal
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  agon replay tic-tac-toe games/gdl/tic-tac-toe.trace.json
  agon replay --games rulesheets/ --traces traces/ --jobs 2
  agon replay match.json
  agon replay --show match.json                    # step through a match
  agon replay --games rulesheets/ --traces traces/ --engine lanes

The last line is `replayed P plays, S states, M mismatches`. The exit code is 0 only if M is 0. If
the engine cannot play some of the games, the line ends in
`; P plays of G games not taken by the engine`.")]
pub(crate) struct Args {
    /// Name of a shipped game, or path of a rulesheet; optional for a recorded match of a shipped
    /// game
    #[arg(required_unless_present = "games")]
    pub(super) rules: Option<String>,
    /// Trace or recorded match, .json or .json.gz
    trace: Option<PathBuf>,
    /// Show the positions of a recorded match one after the other, instead of comparing them
    #[arg(long, conflicts_with_all = ["games", "traces"])]
    show: bool,
    /// Folder of rulesheets, to replay a whole collection
    #[arg(long, requires = "traces", conflicts_with_all = ["rules", "trace"])]
    games: Option<PathBuf>,
    /// Folder of traces; the field `game` of each is a path below the folder of rulesheets
    #[arg(long, requires = "games")]
    traces: Option<PathBuf>,
    /// Number of rulesheets replayed at the same time [default: the number of cores]
    #[arg(long)]
    jobs: Option<usize>,
    /// Engine that replays
    #[arg(long, value_enum, default_value = "auto")]
    engine: Engine,
    /// Seconds for making the circuit of a game; after that the game counts as not taken
    #[arg(long, default_value_t = 60.0)]
    seconds: f64,
    #[command(flatten)]
    pub(super) reading: RuleOptions,
}

/// The engine that replays.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Engine {
    /// The interpreter.
    Auto,
    /// The rules as they stand: slow and simple, the oracle of the other engines.
    Interpreter,
    /// The circuit of the ground game, one play after another.
    Circuit,
    /// The circuit, all plays of a trace at once, in native code if the processor has AVX2.
    Lanes,
    /// The circuit, all plays of a trace at once, without native code.
    Portable,
}

impl Engine {
    /// Returns the batch backend, if the engine replays all plays at once.
    fn backend(self) -> Option<Backend> {
        match self {
            Engine::Auto | Engine::Interpreter | Engine::Circuit => None,
            Engine::Lanes => Some(Backend::Native),
            Engine::Portable => Some(Backend::Portable),
        }
    }
}

/// The result of a trace.
enum Outcome {
    Replayed(Tally),
    /// The engine cannot play the game.
    NotTaken {
        n_plays: usize,
        why: String,
    },
}

/// The sums over all traces.
#[derive(Default)]
struct Total {
    n_plays: usize,
    n_states: usize,
    n_mismatches: usize,
    /// Number of games that the engine cannot play.
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
    // A match is one play, so there is nothing to replay at once: the scalar circuit is used.
    let engine = match args.engine {
        Engine::Auto | Engine::Interpreter => EngineChoice::Interpreter,
        Engine::Circuit | Engine::Lanes | Engine::Portable => EngineChoice::Circuit,
    };
    let play = PlayOptions { engine, rules: args.reading.clone() };
    if args.show {
        return show::show(args.rules.as_deref(), args.trace.as_deref(), &play);
    }
    if let Some(verdict) =
        match_record::replay(args.rules.as_deref(), args.trace.as_deref(), &play)?
    {
        return match verdict {
            Verdict::Agrees => Ok(()),
            Verdict::Differs => Err(Failure::reported()),
        };
    }
    let total = match (&args.rules, &args.trace, &args.games, &args.traces) {
        (Some(rules), Some(trace), _, _) => replay_one(rules, &Trace::read(trace)?, args)?,
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
    if n_mismatches > 0 { Err(Failure::reported()) } else { Ok(()) }
}

fn replay_one(rules: &str, trace: &Trace, args: &Args) -> Result<Total, Failure> {
    let outcome = replay_as_recorded(rules, trace, args)?;
    match &outcome {
        Outcome::Replayed(tally) => {
            tally.remarks.iter().chain(&tally.differences).for_each(|line| say!("{line}"));
        }
        Outcome::NotTaken { why, .. } => say!("not taken by this engine: {why}"),
    }
    let mut total = Total::default();
    total.add(&outcome);
    Ok(total)
}

fn replay_all(games: &Path, traces: &Path, args: &Args) -> Result<Total, Failure> {
    let listing =
        std::fs::read_dir(traces).map_err(|error| Failure::cannot_read(traces, &error))?;
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

/// Prints the results in the order of the files, whatever the order in which they are finished.
struct Printer {
    waiting: Vec<(usize, Result<Outcome, Failure>, Duration)>,
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
                    let why = &why.message;
                    say!("{name}: {}, {seconds:.2} s\n{why}", terminal::red("not replayed"));
                    self.total.n_mismatches += 1;
                }
            }
            self.n_printed += 1;
        }
    }
}

fn replay_file(games: &Path, file: &Path, args: &Args) -> Result<Outcome, Failure> {
    let trace = Trace::read(file)?;
    // A trace is untrusted input: its path must stay below the folder of games.
    let below = Path::new(&trace.game);
    let is_below = below.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    if !is_below {
        return Err(Failure::unreadable(format!(
            "`game` is not a path below the folder of games: {}",
            trace.game
        )));
    }
    let rules = games.join(below);
    replay_as_recorded(&rules.to_string_lossy(), &trace, args)
}

/// Replays a trace, first with capitalisation ignored as usual.
///
/// A rulesheet that mixes capitalisations may mean something else to a reasoner that distinguishes
/// them, such as that of ggp-base. If the recording of such a rulesheet differs, the replay is
/// repeated with capitalisation respected, and a remark says so.
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
                "  the rulesheet mixes capitalisations and was recorded with names that differ in \
                 them kept apart: it agrees only with --case respected"
                    .to_owned(),
            );
            Ok(Outcome::Replayed(tally))
        }
        Outcome::Replayed(_) => Ok(outcome),
        // Whether it was recorded with capitalisation respected is unknown.
        not_taken @ Outcome::NotTaken { .. } => Ok(not_taken),
    }
}

fn replay(
    source: &Arc<Source>,
    trace: &Trace,
    reading: &RuleOptions,
    args: &Args,
) -> Result<Outcome, Failure> {
    let interpreter = open::open_interpreter(Arc::clone(source), reading)?;
    if matches!(args.engine, Engine::Auto | Engine::Interpreter) {
        return Ok(Outcome::Replayed(interpreter.run(Replay(trace))));
    }
    let time = Duration::try_from_secs_f64(args.seconds)
        .map_err(|error| Failure::unreadable(format!("--seconds: {error}")))?;
    let circuit = match open::compile(&interpreter, Instant::now().checked_add(time)) {
        Ok(circuit) => circuit,
        Err(why) => {
            return Ok(Outcome::NotTaken { n_plays: trace.plays.len(), why: why.to_string() });
        }
    };
    Ok(Outcome::Replayed(match (args.engine.backend(), circuit.compiled()) {
        (Some(backend), Some(compiled)) => replay_in_lanes(compiled, backend, trace),
        _ => circuit.run(Replay(trace)),
    }))
}
