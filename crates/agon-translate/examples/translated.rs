//! Translates every rulesheet of a directory to a structure rewriting game, plays both jointly, and tells what came of it.
//!
//! `cargo run --release -p agon-translate --example translated -- DIR [PLAYS [NAME ...]]`; with `SHOW=1` translations are printed,
//! and `SECONDS=n` is what one game may take of the processor's time.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;
use agon_translate::joint::Extent;
use agon_translate::to_toss::{self, to_toss};

/// So many seconds one game may take, unless `SECONDS` says otherwise.
const PATIENCE: u64 = 60;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let Some(directory) = arguments.next() else {
        eprintln!("usage: translated DIR [PLAYS [NAME ...]]");
        return;
    };
    let patience = Duration::from_secs(patience());
    if directory == "--one" {
        let path = arguments.next().unwrap_or_default();
        let plays = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(100);
        let (kind, line) = run(Path::new(&path), plays);
        println!("{kind}\n{}", line.replace('\n', " "));
        return;
    }
    let plays: usize = arguments.next().and_then(|n| n.parse().ok()).unwrap_or(100);
    let wanted: Vec<String> = arguments.collect();
    let mut sheets = Vec::new();
    find(Path::new(&directory), &mut sheets);
    sheets.sort();
    let mut totals: BTreeMap<String, usize> = BTreeMap::new();
    for path in sheets {
        let name =
            path.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let began = Instant::now();
        let (kind, line) = in_a_process(&path, plays, patience);
        println!("{name}: {line} [{:.1}s]", began.elapsed().as_secs_f64());
        let _ = std::io::stdout().flush();
        *totals.entry(kind).or_default() += 1;
    }
    println!();
    for (kind, n) in totals {
        println!("{n:4} {kind}");
    }
}

/// A process for each game, so that one that takes for ever costs no more than its time.
fn in_a_process(path: &Path, plays: usize, patience: Duration) -> (String, String) {
    let failed = |why: &str| (why.to_owned(), why.to_owned());
    let Ok(own) = std::env::current_exe() else { return failed("no process") };
    let mut command = Command::new(own);
    command
        .arg("--one")
        .arg(path)
        .arg(plays.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else { return failed("no process") };
    let (Some(mut output), Some(mut told)) = (child.stdout.take(), child.stderr.take()) else {
        return failed("no process");
    };
    let stages = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = told.read_to_string(&mut text);
        text
    });
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = output.read_to_string(&mut text);
        text
    });
    let began = Instant::now();
    // What others do on the machine must not decide: the processor's time counts, and the clock's only in the end.
    let is_within = |pid: u32| {
        began.elapsed() < patience * 8 && worked(pid).is_none_or(|worked| worked < patience)
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

/// How long the processor has worked for a process, where the system tells.
fn worked(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may have spaces; user and system time are the 12th and 13th field after it.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    // A hundredth of a second each, whatever the kernel.
    Some(Duration::from_millis(10 * ticks))
}

fn find(directory: &Path, sheets: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, sheets);
        } else if path.extension().is_some_and(|ending| ending == "kif") {
            sheets.push(path);
        }
    }
}

/// What came of a game: a word for the totals, and the line to print.
fn run(path: &Path, plays: usize) -> (String, String) {
    let refused = |kind: &str, why: String| (kind.to_owned(), why);
    let Ok(text) = std::fs::read_to_string(path) else {
        return refused("unreadable", "not text".to_owned());
    };
    let source = Arc::new(Source::new(path.to_string_lossy(), text));
    let Some(rules) = agon_gdl::check::check(source).rules else {
        return refused("not GDL", "the rulesheet has errors".to_owned());
    };
    let game = match Game::open(rules, Options::default()) {
        Ok(game) => game,
        Err(finding) => return refused("not GDL", finding.message.clone()),
    };
    let began = Instant::now();
    let options = to_toss::Options { progress: Some(tell), ..to_toss::Options::default() };
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
    tell("opening the translation again");
    let beside = match to_toss::Beside::new(&game, &translation, None) {
        Ok(beside) => beside,
        Err(refusal) => return refused("fault", refusal.to_string()),
    };
    let n_rules = beside.n_rules();
    let engine = if beside.has_circuit() { "circuit" } else { "interpreter" };
    let extent = Extent { plays, steps: 500, seed: 7 };
    let began = Instant::now();
    tell("joint play again");
    match beside.play(&extent, None) {
        Ok(agreement) => (
            "translated".to_owned(),
            format!(
                "translated in {took:.1}s, {size} bytes, {n_rules} rules; identical over {} plays, {} states, {} ended, {:.1}s by {engine}",
                agreement.plays,
                agreement.states,
                agreement.ended,
                began.elapsed().as_secs_f64()
            ),
        ),
        Err(difference) => ("differs".to_owned(), format!("differs: {difference}")),
    }
}

/// Says on standard error what is being done, and since when.
fn tell(stage: &str) {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    let began = BEGAN.get_or_init(Instant::now);
    let time = worked(std::process::id()).unwrap_or_else(|| began.elapsed());
    eprintln!("{:.1}s {stage}", time.as_secs_f64());
}

/// What one game may take, in seconds.
fn patience() -> u64 {
    std::env::var("SECONDS").ok().and_then(|n| n.parse().ok()).unwrap_or(PATIENCE)
}
