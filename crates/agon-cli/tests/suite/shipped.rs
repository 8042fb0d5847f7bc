//! The shipped games: each has a header, no findings, play counts and recordings, and prints
//! correctly.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agon::open::Settings;
use agon_game::{Position, Role, laws};
use agon_gdl::by_play::{PlayPlan, check_by_play};
use agon_gdl::check::check;
use agon_gdl::print::print_rulesheet;
use agon_gdl::read::read;
use agon_gdl::same_rules::same_rules;
use agon_gdl::syntax::Syntax;
use agon_text::{Severity, Source, render};

use super::games::{self, Scratch, for_each, name, rulesheets};

/// Maximum number of plays of a line that is counted without `SLOW=1`.
const MAX_NODES: u64 = 60_000;

fn shipped() -> Vec<PathBuf> {
    rulesheets(&games::root().join("games"))
}

#[test]
fn are_enough() {
    let count = |family: &str| rulesheets(&games::root().join("games").join(family)).len();
    let (n_gdl, n_gdl2) = (count("gdl"), count("gdl2"));
    assert!(n_gdl >= 60, "only {n_gdl} games in GDL");
    assert!(n_gdl2 >= 19, "only {n_gdl2} games in GDL-II");
}

#[test]
fn have_header_perft_and_trace() {
    for_each(&shipped(), |path| {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        let header: Vec<&str> = text.lines().take_while(|line| line.starts_with(";;")).collect();
        let has = |key: &str| {
            let value = header.iter().find_map(|line| line.strip_prefix(&format!(";; {key}:")));
            value.is_some_and(|value| !value.trim().is_empty())
        };
        let keys = ["title", "summary", "interest", "facts"].into_iter().filter(|key| !has(key));
        let mut missing: Vec<String> =
            keys.map(|key| format!("no `;; {key}:` at the top")).collect();
        let missing_files = ["perft", "trace.json"]
            .into_iter()
            .filter(|ending| !path.with_extension(ending).is_file());
        missing.extend(missing_files.map(|ending| format!("there is no .{ending} file")));
        if missing.is_empty() {
            Ok(())
        } else {
            Err(format!("{}: {}", name(path), missing.join(", ")))
        }
    });
}

#[test]
fn have_the_usual_layout() {
    let toss = std::fs::read_dir(games::root().join("games/toss")).expect("the folder exists");
    let toss = toss.map(|entry| entry.expect("entries are readable").path());
    let mut all: Vec<PathBuf> =
        toss.filter(|path| path.extension().is_some_and(|ending| ending == "toss")).collect();
    assert!(all.len() > 20, "structure rewriting games ship");
    all.extend(shipped());
    for_each(&all, |path| {
        let source = games::raw_source(path);
        let text = agon::format::format(&source).map_err(|found| format!("{found:?}"))?;
        match text == source.text() {
            true => Ok(()),
            false => Err(format!("{}: run `agon fmt` on it", path.display())),
        }
    });
}

#[test]
fn have_no_findings() {
    for_each(&shipped(), |path| {
        let source = games::source(path);
        let mut findings = check(Arc::clone(&source)).findings;
        if let Ok(game) = games::open(Arc::clone(&source)) {
            let plan = PlayPlan { plays: 20, ..PlayPlan::default() };
            findings.0.extend(check_by_play(&game, &plan, &mut || ()).0);
        }
        findings.0.retain(|finding| finding.severity > Severity::Note);
        if findings.0.is_empty() { Ok(()) } else { Err(render(&findings.0, &source, false)) }
    });
}

#[test]
fn keep_the_laws_of_play() {
    for_each(&shipped(), |path| {
        let start = games::open(games::source(path))?.start();
        let plan = laws::Plan { seed: 1, plays: 5, max_steps: 100 };
        let outcome = if start.shape().hidden {
            laws::check_hidden(&start, &plan)
        } else {
            laws::check(&start, &plan)
        };
        match outcome {
            Err(violation) => Err(format!("{}: {violation}", name(path))),
            Ok(summary) if summary.faults > 0 => {
                Err(format!("{}: {} faults", name(path), summary.faults))
            }
            Ok(_) => Ok(()),
        }
    });
}

#[test]
fn have_the_recorded_numbers_of_plays() {
    let is_slow = std::env::var_os("SLOW").is_some();
    let n_skipped = AtomicUsize::new(0);
    for_each(&shipped(), |path| {
        let text = std::fs::read_to_string(path.with_extension("perft"))
            .map_err(|error| error.to_string())?;
        let mut wrong = Vec::new();
        for (settings, lines) in sections(&text).map_err(|why| format!("{}: {why}", name(path)))? {
            // A count of ended plays costs as much as all plays of that depth.
            let too_deep = lines
                .iter()
                .filter(|line| line.count > MAX_NODES && !is_slow)
                .map(|line| line.depth)
                .min();
            let wanted = |line: &&Line| too_deep.is_none_or(|depth| line.depth < depth);
            n_skipped
                .fetch_add(lines.iter().filter(|line| !wanted(line)).count(), Ordering::Relaxed);
            let deepest = lines.iter().filter(wanted).map(|line| line.depth).max().unwrap_or(0);
            let mut counts = Counts { reached: vec![0; deepest + 1], ended: vec![0; deepest + 1] };
            let source = agon::open::expanded(games::raw_source(path), &settings)
                .map_err(|error| error.to_string())?;
            counts.walk(&mut games::open(source)?.start(), 0);
            wrong.extend(
                lines
                    .iter()
                    .filter(wanted)
                    .map(|line| (line, counts.of(line)))
                    .filter(|(line, here)| line.count != *here)
                    .map(|(line, here)| {
                        format!("{} {settings:?}: `{}`, here {here}", name(path), line.text)
                    }),
            );
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    });
    let n_skipped = n_skipped.into_inner();
    if n_skipped > 0 {
        println!("{n_skipped} lines above {MAX_NODES} plays skipped; SLOW=1 counts them too");
    }
}

/// Reads a `.perft` file. Its lines count plays with the declared values of parameters, and those
/// after a line such as `set size=7` with other values.
fn sections(text: &str) -> Result<Vec<(Settings, Vec<Line>)>, String> {
    let mut sections = vec![(Settings::new(), Vec::new())];
    for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        if let Some(values) = line.strip_prefix("set ") {
            let settings: Option<Settings> = values.split(',').map(agon::open::setting).collect();
            let settings = settings.ok_or_else(|| format!("`{line}` is not `set NAME=VALUE`"))?;
            sections.push((settings, Vec::new()));
        } else {
            let (_, lines) = sections.last_mut().expect("there is a first section");
            lines.push(Line::read(line)?);
        }
    }
    let counts = |lines: &[Line]| lines.iter().any(|line| matches!(line.what, Counted::Reached));
    match sections.iter().all(|(_, lines)| counts(lines)) {
        true => Ok(sections),
        false => Err("a section has no perft line".to_owned()),
    }
}

/// The kind of a line of a `.perft` file.
#[derive(Copy, Clone)]
enum Counted {
    /// `perft`: plays of exactly that number of steps.
    Reached,
    /// `ended`: plays that end within that number of steps.
    Ended,
}

struct Line {
    what: Counted,
    depth: usize,
    count: u64,
    text: String,
}

impl Line {
    fn read(text: &str) -> Result<Line, String> {
        let wrong = || format!("`{text}` is not `perft DEPTH COUNT` or `ended DEPTH COUNT`");
        let words: Vec<&str> = text.split_whitespace().collect();
        let [what, depth, count] = words.as_slice() else { return Err(wrong()) };
        let what = match *what {
            "perft" => Counted::Reached,
            "ended" => Counted::Ended,
            _ => return Err(wrong()),
        };
        let (Ok(depth), Ok(count)) = (depth.parse(), count.parse()) else { return Err(wrong()) };
        Ok(Line { what, depth, count, text: text.to_owned() })
    }
}

/// Plays counted by their number of steps.
struct Counts {
    /// Plays with at least that number of steps.
    reached: Vec<u64>,
    /// Plays that end after exactly that number of steps.
    ended: Vec<u64>,
}

impl Counts {
    fn of(&self, line: &Line) -> u64 {
        match line.what {
            Counted::Reached => self.reached[line.depth],
            Counted::Ended => self.ended[..=line.depth].iter().sum(),
        }
    }

    /// Counts by plain recursion over all joint moves.
    fn walk<P: Position>(&mut self, position: &mut P, depth: usize) {
        self.reached[depth] += 1;
        if position.is_terminal() {
            self.ended[depth] += 1;
            return;
        }
        if depth + 1 == self.reached.len() {
            return;
        }
        let here = position.state().clone();
        for joint in joint_moves(position) {
            position.advance(&joint);
            self.walk(position, depth + 1);
            position.go_to(&here);
        }
    }
}

/// Returns all joint moves at a position.
pub(super) fn joint_moves<P: Position>(position: &P) -> Vec<Vec<P::Move>> {
    let roles: Vec<Role> = position.shape().roles().collect();
    roles.into_iter().fold(vec![Vec::new()], |joints, role| {
        let moves = position.legal_moves(role);
        let extend = |joint: Vec<P::Move>| {
            moves.iter().map(move |m| [joint.as_slice(), std::slice::from_ref(m)].concat())
        };
        joints.into_iter().flat_map(extend).collect()
    })
}

#[test]
fn play_as_recorded_by_every_engine() {
    let engines = ["interpreter", "circuit", "lanes", "portable"];
    let families =
        ["gdl", "gdl2"].into_iter().flat_map(|family| engines.map(|engine| (family, engine)));
    for (family, engine) in families {
        let folder = games::root().join("games").join(family);
        let replay = games::program()
            .args(["replay", "--engine", engine, "--games"])
            .arg(&folder)
            .arg("--traces")
            .arg(&folder)
            .output()
            .expect("the program runs");
        let text = String::from_utf8_lossy(&replay.stdout);
        assert!(replay.status.success(), "{text}{}", String::from_utf8_lossy(&replay.stderr));
        let last = text.lines().last().unwrap_or_default();
        assert!(last.ends_with(" states, 0 mismatches"), "{text}");
        let n_replayed = text.lines().filter(|line| line.contains(": ok, ")).count();
        assert_eq!(
            n_replayed,
            rulesheets(&folder).len(),
            "every rulesheet has a trace that names it:\n{text}"
        );
    }
}

#[test]
fn survive_printing() {
    let scratch = Scratch::new("printing");
    for_each(&shipped(), |path| {
        let (sheet, _) = read(games::source(path));
        for syntax in [Syntax::Kif, Syntax::Infix] {
            let text = print_rulesheet(&sheet, syntax);
            let (again, findings) = read(Arc::new(Source::new(name(path), text.as_str())));
            if findings.has_errors() || again.syntax != syntax || !same_rules(&sheet, &again) {
                return Err(format!("{} is not the same when printed as {syntax:?}", name(path)));
            }
            plays_alike(&scratch.file(&format!("{}-{syntax:?}", name(path)), text), path)?;
        }
        Ok(())
    });
}

/// Replays the trace of a rulesheet with other rules.
fn plays_alike(rules: &str, rulesheet: &Path) -> Result<(), String> {
    let trace = rulesheet.with_extension("trace.json");
    let replay = games::program()
        .args(["replay", rules])
        .arg(&trace)
        .output()
        .map_err(|error| error.to_string())?;
    if replay.status.success() {
        return Ok(());
    }
    let (text, errors) =
        (String::from_utf8_lossy(&replay.stdout), String::from_utf8_lossy(&replay.stderr));
    Err(format!("{rules} does not play like {}:\n{text}{errors}", name(rulesheet)))
}
