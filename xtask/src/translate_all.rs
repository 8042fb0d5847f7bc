//! Translates every rulesheet below a folder to a structure rewriting game, plays both in lockstep,
//! and prints the result: `cargo xtask translate-all DIR [PLAYS [NAME ...]]`.
//!
//! Environment variables: `SHOW=1` prints the translations, and `SECONDS=n` limits the processor
//! time of each game.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use agon_testkit::files;
use agon_translate::to_toss::{self, to_toss};

use crate::rulesheets;

/// Default limit on the processor time of one game, in seconds.
const DEFAULT_SECONDS: u64 = 60;

pub(crate) fn run(args: Vec<String>) {
    let mut arguments = args.into_iter();
    let Some(directory) = arguments.next() else {
        eprintln!("usage: cargo xtask translate-all DIR [PLAYS [NAME ...]]");
        return;
    };
    let time_limit = Duration::from_secs(time_limit());
    if directory == "--one" {
        let path = arguments.next().unwrap_or_default();
        let plays = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(100);
        let (kind, line) = compare_one(Path::new(&path), plays);
        println!("{kind}\n{}", line.replace('\n', " "));
        return;
    }
    let plays: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(100);
    let wanted: Vec<String> = arguments.collect();
    let mut totals: BTreeMap<String, usize> = BTreeMap::new();
    for path in files::with_extension(Path::new(&directory), &["kif"]) {
        let name = files::stem(&path);
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let began = Instant::now();
        let (kind, line) = in_a_process(&path, plays, time_limit);
        println!("{name}: {line} [{:.1}s]", began.elapsed().as_secs_f64());
        let _ = std::io::stdout().flush();
        *totals.entry(kind).or_default() += 1;
    }
    println!();
    for (kind, n) in totals {
        println!("{n:4} {kind}");
    }
}

/// Runs [`compare_one`] in a process of its own, which is killed at the time limit. Returns the
/// category of the result and the line to print.
fn in_a_process(path: &Path, plays: usize, time_limit: Duration) -> (String, String) {
    let failed = |why: &str| (why.to_owned(), why.to_owned());
    let Ok(own) = std::env::current_exe() else { return failed("no process") };
    let mut command = Command::new(own);
    command
        .args(["translate-all", "--one"])
        .arg(path)
        .arg(plays.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else { return failed("no process") };
    let (Some(mut output), Some(mut errors)) = (child.stdout.take(), child.stderr.take()) else {
        return failed("no process");
    };
    let stages = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = errors.read_to_string(&mut text);
        text
    });
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = output.read_to_string(&mut text);
        text
    });
    let began = Instant::now();
    // Other processes must not influence the result, so the limit is one of processor time. The
    // wall-clock limit only ends processes that hang.
    let is_within = |pid: u32| {
        began.elapsed() < time_limit * 8 && cpu_time(pid).is_none_or(|time| time < time_limit)
    };
    while is_within(child.id()) && !reader.is_finished() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let is_late = !reader.is_finished();
    if is_late {
        let _ = child.kill();
    }
    let _ = child.wait();
    let (text, stages) = (reader.join().unwrap_or_default(), stages.join().unwrap_or_default());
    let last = stages.lines().last().unwrap_or_default();
    if is_late {
        return ("out of time".to_owned(), format!("out of time, last {last}"));
    }
    let mut lines: Vec<&str> = text.lines().collect();
    let (Some(line), Some(kind)) = (lines.pop(), lines.pop()) else {
        return ("PANIC".to_owned(), format!("PANIC: {last}"));
    };
    lines.iter().for_each(|shown| println!("{shown}"));
    (kind.to_owned(), line.to_owned())
}

/// Returns the processor time of a process, where the system reports it.
fn cpu_time(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may contain spaces. User and system time are the 12th and 13th field
    // after it.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    // A tick is 10 ms on Linux, whatever the frequency of the kernel.
    Some(Duration::from_millis(10 * ticks))
}

/// Translates and compares one game. Returns the category of the result and the line to print.
fn compare_one(path: &Path, plays: usize) -> (String, String) {
    let refused = |kind: &str, why: String| (kind.to_owned(), why);
    let game = match rulesheets::open(path) {
        Ok(game) => game,
        Err(why) => return refused("not GDL", why),
    };
    let began = Instant::now();
    let options = to_toss::ToTossOptions {
        progress: Some(show_progress),
        ..to_toss::ToTossOptions::default()
    };
    let translation = match to_toss(&game, &options) {
        Ok(translation) => translation,
        Err(refusal) => {
            return refused(
                &format!("refused: {:?}", refusal.construct),
                format!("refused: {refusal}"),
            );
        }
    };
    let took = began.elapsed().as_secs_f64();
    if std::env::var_os("SHOW").is_some() {
        println!("{}", translation.text);
    }
    let size = translation.text.len();
    show_progress("opening the translation again");
    let check = match to_toss::TranslationCheck::new(&game, &translation, None) {
        Ok(check) => check,
        Err(refusal) => return refused("fault", refusal.to_string()),
    };
    let n_rules = check.n_rules();
    let engine = if check.has_circuit() { "circuit" } else { "interpreter" };
    let plan = agon_game::laws::Plan { plays, max_steps: 500, seed: 7 };
    let began = Instant::now();
    show_progress("lockstep play again");
    match check.play(&plan, None) {
        Ok(agreement) => (
            "translated".to_owned(),
            format!(
                "translated in {took:.1}s, {size} bytes, {n_rules} rules; \
                 identical over {} plays, {} states, {} ended, {:.1}s by {engine}",
                agreement.plays,
                agreement.states,
                agreement.ended,
                began.elapsed().as_secs_f64()
            ),
        ),
        Err(difference) => ("differs".to_owned(), format!("differs: {difference}")),
    }
}

/// Prints the stage and the processor time so far on standard error.
fn show_progress(stage: &str) {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    let began = BEGAN.get_or_init(Instant::now);
    let time = cpu_time(std::process::id()).unwrap_or_else(|| began.elapsed());
    eprintln!("{:.1}s {stage}", time.as_secs_f64());
}

/// Returns the limit on the processor time of one game, in seconds.
fn time_limit() -> u64 {
    std::env::var("SECONDS").ok().and_then(|n| n.parse().ok()).unwrap_or(DEFAULT_SECONDS)
}
