//! `agon replay`: plays recorded games again and compares everything.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_game::Role;
use agon_gdl::check::check;
use agon_gdl::engine::{GdlPosition, GdlTask};

use crate::failure::{Failure, describe};
use crate::match_record;
use crate::open::{self, CaseChoice, EngineChoice, PlayOptions, RuleOptions};
use crate::terminal;
use crate::terminal::say;
use crate::trace::{Play, Trace};

/// Replay a recorded game and compare every state, every legal move and the goals.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  agon replay tic-tac-toe games/gdl/tic-tac-toe.trace.json
  agon replay --games rulesheets/ --traces traces/ --jobs 2
  agon replay match.json

The last line is `replayed P plays, S states, M mismatches`; the exit code is 0 only if M is 0.")]
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
    #[command(flatten)]
    play: PlayOptions,
}

/// What came of a replay.
#[derive(Default)]
struct Tally {
    n_plays: usize,
    n_states: usize,
    n_mismatches: usize,
    /// The first few differences, readable.
    differences: Vec<String>,
    remarks: Vec<String>,
}

/// How many differences are shown for one rulesheet.
const MAX_SHOWN: usize = 5;

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if let Some(verdict) = match_record::replay(args.rules.as_deref(), args.trace.as_deref(), &args.play)? {
        return verdict;
    }
    let total = match (&args.rules, &args.trace, &args.games, &args.traces) {
        (Some(rules), Some(trace), _, _) => {
            let trace = Trace::read(trace)?;
            let tally = replay_as_recorded(rules, &trace, args)?;
            tally.remarks.iter().for_each(|remark| say!("{remark}"));
            tally.differences.iter().for_each(|difference| say!("{difference}"));
            tally
        }
        (_, _, Some(games), Some(traces)) => replay_all(games, traces, args)?,
        _ => return Err(Failure::unreadable("give RULES and TRACE, or --games and --traces")),
    };
    say!("replayed {} plays, {} states, {} mismatches", total.n_plays, total.n_states, total.n_mismatches);
    if total.n_mismatches > 0 { Err(Failure { code: 1, message: String::new() }) } else { Ok(()) }
}

fn replay_all(games: &Path, traces: &Path, args: &Args) -> Result<Tally, Failure> {
    let listing = std::fs::read_dir(traces)
        .map_err(|error| Failure::unreadable(format!("cannot read {}: {error}", traces.display())))?;
    let mut files: Vec<PathBuf> = listing.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.ends_with(".json") || name.ends_with(".json.gz")
    });
    files.sort();
    if files.is_empty() {
        return Err(Failure::unreadable(format!("no .json or .json.gz files in {}", traces.display())));
    }
    let jobs =
        args.jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)).max(1);
    let next = AtomicUsize::new(0);
    let printer = Mutex::new(Printer { waiting: Vec::new(), n_printed: 0, total: Tally::default() });
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
    waiting: Vec<(usize, Result<Tally, String>, Duration)>,
    n_printed: usize,
    total: Tally,
}

impl Printer {
    fn print(&mut self, files: &[PathBuf]) {
        while let Some(at) = self.waiting.iter().position(|(index, ..)| *index == self.n_printed) {
            let (index, outcome, time) = self.waiting.swap_remove(at);
            let name = files[index].file_name().unwrap_or_default().to_string_lossy();
            let name = name.trim_end_matches(".gz").trim_end_matches(".json").trim_end_matches(".trace");
            let seconds = time.as_secs_f64();
            match outcome {
                Ok(tally) => {
                    let verdict = if tally.n_mismatches == 0 {
                        terminal::green("ok")
                    } else {
                        terminal::red(&format!("{} mismatches", tally.n_mismatches))
                    };
                    let (plays, states) = (tally.n_plays, tally.n_states);
                    say!("{name}: {verdict}, {plays} plays, {states} states, {seconds:.2} s");
                    tally.remarks.iter().chain(&tally.differences).for_each(|line| say!("{line}"));
                    self.total.n_plays += plays;
                    self.total.n_states += states;
                    self.total.n_mismatches += tally.n_mismatches;
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

fn replay_file(games: &Path, file: &Path, args: &Args) -> Result<Tally, String> {
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
fn replay_as_recorded(rules: &str, trace: &Trace, args: &Args) -> Result<Tally, Failure> {
    let source = open::source(rules)?;
    // A trace is short: unless told otherwise, the judge replays it.
    let engine =
        if args.play.engine == EngineChoice::Auto { EngineChoice::Interpreter } else { args.play.engine };
    let play = PlayOptions { engine, ..args.play.clone() };
    let tally = open::open_engine(Arc::clone(&source), &play)?.run(Replay(trace));
    let mixes_case =
        || check(Arc::clone(&source)).findings.0.iter().any(|f| f.code == "mixed-capitalisation");
    if tally.n_mismatches == 0 || args.play.rules.case == CaseChoice::Respected || !mixes_case() {
        return Ok(tally);
    }
    let rules = RuleOptions { case: CaseChoice::Respected, ..play.rules };
    let play = PlayOptions { rules, ..play };
    let mut with_case = open::open_engine(source, &play)?.run(Replay(trace));
    if with_case.n_mismatches > 0 {
        return Ok(tally);
    }
    with_case.remarks.push(
        "  the rulesheet mixes capitalisations and was recorded with them told apart; it replays only so \
         (--case respected)"
            .to_owned(),
    );
    Ok(with_case)
}

/// A trace to be replayed on whatever engine plays the game.
struct Replay<'a>(&'a Trace);

impl GdlTask for Replay<'_> {
    type Output = Tally;

    fn run<P: GdlPosition + 'static>(self, start: P) -> Tally {
        replay(&start, self.0)
    }
}

fn replay<P: GdlPosition>(start: &P, trace: &Trace) -> Tally {
    let mut tally = Tally::default();
    let names: Vec<String> = start.shape().role_names.iter().map(|name| name.to_lowercase()).collect();
    if names != trace.roles.iter().map(|name| name.to_lowercase()).collect::<Vec<_>>() {
        let here = names.join(" ");
        tally.differ("the roles", &format!("recorded {}, here {here}", trace.roles.join(" ")));
        return tally;
    }
    let mut position = start.clone();
    for (index, play) in trace.plays.iter().enumerate() {
        position.go_to(start.state());
        replay_play(&mut position, play, index + 1, &mut tally);
        tally.n_plays += 1;
    }
    tally
}

fn replay_play<P: GdlPosition>(position: &mut P, play: &Play, number: usize, tally: &mut Tally) {
    let roles: Vec<Role> = position.shape().roles().collect();
    for (index, step) in play.steps.iter().enumerate() {
        let place = format!("play {number}, step {}", index + 1);
        tally.n_states += 1;
        tally.compare(&format!("{place}, state"), &step.state, &position.state_text());
        if step.joint.len() != roles.len() || step.legal.len() != roles.len() {
            tally.differ(&place, "the recording has not one move for each role");
            return;
        }
        for &role in &roles {
            let legal: Vec<String> =
                position.legal_moves(role).iter().map(|m| position.move_text(m)).collect();
            let name = &position.shape().role_names[role.index()];
            tally.compare(&format!("{place}, legal moves of {name}"), &step.legal[role.index()], &legal);
        }
        let joint = roles.iter().map(|&role| position.parse_move(role, &step.joint[role.index()]));
        let Some(joint) = joint.collect::<Option<Vec<_>>>() else {
            let why = position
                .fault()
                .map(|fault| format!("; {}", describe(fault, position.shape())))
                .unwrap_or_default();
            tally.differ(
                &place,
                &format!("the recorded move {} is not legal here{why}", step.joint.join(" ")),
            );
            return;
        };
        position.advance(&joint);
    }
    let place = format!("play {number}, end");
    tally.n_states += 1;
    tally.compare(&format!("{place}, state"), &play.last, &position.state_text());
    if !play.terminal {
        return;
    }
    if !position.is_terminal() {
        tally.differ(&place, "recorded as ended, here play goes on");
    }
    for &role in &roles {
        let (recorded, here) = (play.goals.get(role.index()).copied(), position.goal_values(role));
        let same = match recorded {
            Some(Some(value)) => here == vec![value],
            Some(None) => here.len() != 1,
            None => true,
        };
        if !same {
            let recorded = recorded.flatten().map_or("none or several".to_owned(), |value| value.to_string());
            let name = &position.shape().role_names[role.index()];
            tally.differ(&place, &format!("goal of {name}: recorded {recorded}, here {here:?}"));
        }
    }
}

impl Tally {
    fn differ(&mut self, place: &str, what: &str) {
        self.n_mismatches += 1;
        if self.differences.len() < MAX_SHOWN {
            self.differences.push(format!("  {place}: {what}"));
        }
    }

    /// Compares two sets of terms.
    fn compare(&mut self, place: &str, recorded: &[String], here: &[String]) {
        let fold = |list: &[String]| list.iter().map(|term| canonical(term)).collect::<BTreeSet<_>>();
        let (recorded, here) = (fold(recorded), fold(here));
        if recorded == here {
            return;
        }
        let some = |set: Vec<&String>| {
            let more = if set.len() > 4 { format!(" and {} more", set.len() - 4) } else { String::new() };
            set.into_iter().take(4).cloned().collect::<Vec<_>>().join(" ") + &more
        };
        let missing: Vec<&String> = recorded.difference(&here).collect();
        let extra: Vec<&String> = here.difference(&recorded).collect();
        let mut parts = Vec::new();
        if !missing.is_empty() {
            parts.push(format!("missing {}", some(missing)));
        }
        if !extra.is_empty() {
            parts.push(format!("too much {}", some(extra)));
        }
        self.differ(place, &parts.join("; "));
    }
}

/// A term in lower case, with `(f)` written `f`: recorders differ in that.
fn canonical(term: &str) -> String {
    let term = term.to_lowercase();
    if !term.contains('(') {
        return term;
    }
    let mut text = String::with_capacity(term.len());
    let mut rest = term.as_str();
    while let Some(open) = rest.find('(') {
        text.push_str(&rest[..open]);
        let inner = &rest[open + 1..];
        match inner.find([' ', '(', ')']) {
            Some(end) if inner[end..].starts_with(')') => {
                text.push_str(&inner[..end]);
                rest = &inner[end + 1..];
            }
            _ => {
                text.push('(');
                rest = inner;
            }
        }
    }
    text.push_str(rest);
    text
}
