//! `agon tournament`: playing, killing, continuing, adding players, wrong input, reruns.

use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::super::games::{self, Scratch};
use super::run::{Run, agon};

const SMALL: &str = "\
games = [\"tic-tac-toe\", \"hanoi\", \"three-way-tic-tac-toe\", \"rock-paper-scissors\"]
repeats = 2
openings = 1
iterations = 20
[players]
strong = \"mcts\"
weak = \"random\"
";

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.out))
}

/// Returns the matches in a store as JSON lines, without times.
fn matches(store: &str) -> Vec<String> {
    let run = agon(&["tournament", "show", "--json", "--matches", "--store", store]).succeeds();
    let mut lines: Vec<String> = run
        .out
        .lines()
        .skip(1)
        .map(|line| {
            let mut one: Value = serde_json::from_str(line).expect("one object to a line");
            let object = one.as_object_mut().expect("it is an object");
            object.remove("began");
            object.remove("seconds");
            one.to_string()
        })
        .collect();
    lines.sort();
    lines
}

#[test]
fn a_tournament_is_played_and_written_in_every_format() {
    let scratch = Scratch::new("tournament");
    let spec = scratch.file("small.toml", SMALL);
    let (csv, html) = (scratch.file("t.csv", ""), scratch.file("t.html", ""));
    let (md, tex) = (scratch.file("t.md", ""), scratch.file("t.tex", ""));
    let svg = scratch.file("t.svg", "");
    let files = ["--csv", &csv, "--html", &html, "--markdown", &md, "--latex", &tex, "--svg", &svg];
    let run = agon(&[&["tournament", &spec][..], &files].concat()).succeeds();
    for part in [
        "tournament: 24 of 24 matches, 20 iterations a move",
        "all games",
        "points %",
        "strong",
        "hanoi",
    ] {
        assert!(run.out.contains(part), "no {part} in\n{}", run.out);
    }
    assert!(!run.out.contains('\x1b') && !run.err.contains('\x1b'), "no colours in a pipe");
    assert_eq!(run.err.lines().filter(|line| line.starts_with('[')).count(), 24, "{}", run.err);

    let store = spec.replace(".toml", ".db");
    let again = agon(&["tournament", &spec, "--json"]).succeeds();
    assert!(again.err.contains("continuing: 24 of 24 matches are played"), "{}", again.err);
    let report = json(&again);
    assert_eq!((&report["played"], &report["is_complete"]), (&24.into(), &true.into()));
    let points = |player: usize| {
        report["overall"]["players"][player]["points"]["mean"].as_f64().expect("a number")
    };
    assert!((points(0) + points(1) - 1.0).abs() < 1e-9 && points(0) > 0.5, "{report}");
    assert_eq!(report["games"].as_array().map(Vec::len), Some(4));
    let mut shown = json(&agon(&["tournament", "show", "--store", &store, "--json"]).succeeds());
    let provenance = shown["provenance"].take();
    assert!(provenance.as_str().is_some_and(|line| line.contains("tournament show")));
    shown["provenance"].clone_from(&report["provenance"]);
    assert_eq!(shown, report, "only the command differs");

    let csv = std::fs::read_to_string(csv).expect("it was written");
    let columns = csv.lines().map(|line| {
        // The provenance is the last column, and the only one with quotes.
        let (line, _) = line.split_once(",\"agon ").unwrap_or((line, ""));
        line.trim_end_matches(",provenance").split(',').count()
    });
    let columns: Vec<usize> = columns.collect();
    assert!(columns.iter().all(|n| *n == 16) && columns.len() == 1 + 5 * 4, "{csv}");
    let written = |path: &String| std::fs::read_to_string(path).expect("it was written");
    let html = written(&html);
    assert!(html.starts_with("<!doctype html>"), "{html}");
    // Each plot is there twice: for wide and for narrow screens.
    let count = |part: &str| html.matches(part).count();
    assert_eq!((count("<svg class=\"wide\""), count("<svg class=\"narrow\"")), (3, 3), "{html}");

    // All formats name the players, say how a seat does, and have the provenance at every table.
    let origin = format!("agon {}", env!("CARGO_PKG_VERSION"));
    let (md, tex, svg) = (written(&md), written(&tex), written(&svg));
    let n_tables = 6;
    assert_eq!(md.matches("\n|---|").count(), n_tables, "{md}");
    assert_eq!(tex.matches("\\end{table}").count(), n_tables, "{tex}");
    assert_eq!(md.matches(&format!("\n{origin}")).count(), n_tables, "{md}");
    assert_eq!(tex.matches(&format!("\\smallskip {origin}")).count(), n_tables, "{tex}");
    assert_eq!(csv.matches(&origin).count(), csv.lines().count() - 1, "{csv}");
    assert!(svg.contains(&format!("class=\"small\">{origin}")), "{svg}");
    for text in [&md, &tex, &html] {
        assert!(text.contains("mean goal by seat") && text.contains("Players"), "{text}");
    }
    for table in tex.split("\\begin{table}").skip(1) {
        let inner = table.split_once("\\toprule").expect("a table").1;
        let inner = inner.split_once("\\bottomrule").expect("a table").0;
        let rows = inner.lines().filter(|line| line.contains('&'));
        let n_columns: Vec<usize> = rows.map(|line| line.matches('&').count()).collect();
        assert!(n_columns.windows(2).all(|pair| pair[0] == pair[1]), "{table}");
    }
    for foreign in ["http://", "https://", "<script", "url(", "@import"] {
        assert!(!html.contains(foreign), "{foreign} in the page");
    }
    for line in agon(&["tournament", "show", "--matches", "--store", &store]).succeeds().out.lines()
    {
        let Some(id) = line.get(..12).filter(|id| id.chars().all(|c| c.is_ascii_hexdigit())) else {
            continue;
        };
        let same = agon(&["tournament", "rerun", id, "--store", &store, "--json"]).succeeds();
        let same = json(&same);
        assert_eq!((&same["is_same"], &same["id"]), (&true.into(), &id.into()), "{same}");
    }
}

/// Starts a tournament in the background.
fn begin(spec: &str) -> Child {
    let mut command = games::program();
    command
        .args(["tournament", spec, "--quiet"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().expect("the program runs")
}

#[test]
fn a_killed_tournament_loses_and_repeats_nothing() {
    let scratch = Scratch::new("tournament-killed");
    let text = SMALL.replace("repeats = 2", "repeats = 6");
    let whole = scratch.file("whole.toml", &text);
    agon(&["tournament", &whole, "--quiet"]).succeeds();
    let expected = matches(&whole.replace(".toml", ".db"));
    assert_eq!(expected.len(), 72);

    let spec = scratch.file("killed.toml", &text);
    let store = spec.replace(".toml", ".db");
    let mut found = Vec::new();
    for wait in [0, 30, 60, 120, 40, 250] {
        let mut child = begin(&spec);
        std::thread::sleep(Duration::from_millis(wait));
        // The process may have ended before.
        let _ = child.kill();
        child.wait().expect("a child process can be waited for");
        // A process that was killed early leaves an empty file.
        if !agon(&["tournament", "show", "--store", &store]).err.is_empty() {
            continue;
        }
        let now = matches(&store);
        assert!(found.iter().all(|one| now.contains(one)), "stored matches are kept");
        found = now;
    }
    agon(&["tournament", &spec, "--quiet"]).succeeds();
    assert_eq!(
        matches(&store),
        expected,
        "the same matches with the same results as without a kill"
    );
}

#[test]
fn a_store_is_locked_while_matches_are_played() {
    let scratch = Scratch::new("tournament-lock");
    // A program that never answers and ends by itself.
    let text =
        "games = [\"tic-tac-toe\"]\nplay_clock = 50\nplayers = [\"cmd:sleep 20\", \"random\"]\n";
    let spec = scratch.file("slow.toml", text);
    let mut child = begin(&spec);
    let lock = spec.replace(".toml", ".db.lock");
    while std::fs::read_to_string(&lock).unwrap_or_default().trim().is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let second = agon(&["tournament", &spec]).fails_with(2);
    child.kill().expect("a child process can be killed");
    child.wait().expect("it has ended");
    let who = format!("another agon (process {}) is playing this tournament", child.id());
    assert!(second.err.contains(&who), "{}", second.err);
}

#[test]
fn a_tournament_can_be_extended_but_not_changed() {
    let scratch = Scratch::new("tournament-grows");
    let small =
        "games = [\"tic-tac-toe\"]\niterations = 5\n[players]\na = \"random\"\nb = \"legal\"\n";
    let spec = scratch.file("t.toml", small);
    let store = spec.replace(".toml", ".db");
    agon(&["tournament", &spec]).succeeds();
    let first = matches(&store);
    assert_eq!(first.len(), 2);
    let more = small.replace("games = [", "repeats = 3\ngames = [\"nim\", ") + "c = \"greedy\"\n";
    scratch.file("t.toml", &more);
    let run = agon(&["tournament", &spec]).succeeds();
    let message = "continuing: 2 of 36 matches are played; added: players c; games nim; 2 repeats";
    assert!(run.err.contains(message), "{}", run.err);
    let grown = matches(&store);
    assert!(grown.len() == 36 && first.iter().all(|one| grown.contains(one)));

    for (change, complaint) in [
        (more.replace("iterations = 5", "iterations = 6"), "iterations was 5 and is now 6"),
        (more.replace("repeats = 3", "repeats = 2"), "repeats was 3 and is now 2"),
        (
            more.replace("b = \"legal\"", "b = \"random\""),
            "the player `b` was legal and is now random",
        ),
        (more.replace("\"nim\", ", ""), "the game `nim` is gone"),
    ] {
        scratch.file("t.toml", change);
        agon(&["tournament", &spec]).complains(2, complaint);
    }
    assert_eq!(matches(&store), grown, "the store is unchanged");
    // Changed rules are another game, but stored matches can still be rerun.
    let rules = std::fs::read_to_string(games::root().join("games/gdl/nim.kif")).expect("it ships");
    scratch.file("own.kif", &rules);
    let spec = scratch.file("own.toml", small.replace("tic-tac-toe", "own.kif"));
    agon(&["tournament", &spec]).succeeds();
    scratch.file("own.kif", format!("{rules}\n; changed\n"));
    agon(&["tournament", &spec]).complains(2, "the rules of `own.kif` have changed");
    let store = spec.replace(".toml", ".db");
    let list = agon(&["tournament", "show", "--matches", "--store", &store]).succeeds().out;
    let id = list.lines().last().and_then(|line| line.get(..12)).expect("there is a match");
    let run = agon(&["tournament", "rerun", &id[..8], "--store", &store]).succeeds();
    assert!(run.out.contains("steps are the same"), "{}", run.out);
}

#[test]
fn the_sequential_test_ends_a_tournament_early() {
    let scratch = Scratch::new("tournament-sprt");
    let text = "games = [\"tic-tac-toe\"]\nrepeats = 500\nopenings = 2\niterations = 100\n\
                [players]\nstrong = \"uct\"\nweak = \"random\"\n[sprt]\nelo0 = 0\nelo1 = 50\n";
    let spec = scratch.file("t.toml", text);
    let run = agon(&["tournament", &spec, "--quiet"]).succeeds();
    assert!(run.out.contains("strong is stronger by more than 0 Elo"), "{}", run.out);
    let report = json(&agon(&["tournament", &spec, "--quiet", "--json"]).succeeds());
    assert_eq!(report["sprt"]["decision"], "elo1");
    assert!(report["played"].as_u64().is_some_and(|n| (10..500).contains(&n)), "{report}");
}

#[test]
fn errors_are_shown_with_their_places() {
    let scratch = Scratch::new("tournament-wrong");
    for (text, complaint) in [
        ("repeets = 3\n", "did you mean `repeats`?"),
        ("players = [\"mtcs\", \"random\"]", "did you mean `mcts`?"),
        ("games = [\"x\"", "wrong.toml:1:"),
        ("", "the thinking time is missing"),
    ] {
        let spec = scratch.file("wrong.toml", text);
        agon(&["tournament", &spec]).complains(2, complaint);
    }
    let players = "iterations = 1\nplayers = [\"random\", \"legal\"]\n";
    let spec = scratch.file("wrong.toml", format!("{players}games = [\"tic-tac-to\"]"));
    agon(&["tournament", &spec]).complains(2, "did you mean the shipped game `tic-tac-toe`?");
    let bad = scratch.file("bad.kif", "(role x)\n(<= (legal x ?m) (true ?y))");
    let spec = scratch.file("wrong.toml", format!("{players}games = [\"{bad}\"]"));
    agon(&["tournament", &spec]).complains(1, "bad.kif");
    agon(&["tournament", "nowhere.toml"]).complains(2, "cannot read nowhere.toml");
    agon(&["tournament", "show", "--store", "nowhere.db"])
        .complains(2, "there is no tournament in nowhere.db");
    let text =
        scratch.file("text.db", "this is not a database, and it is longer than the header of one");
    agon(&["tournament", "show", "--store", &text]).complains(2, "is not a tournament file");
    let good = scratch.file("good.toml", format!("{players}games = [\"tic-tac-toe\"]"));
    agon(&["tournament", &good, "--store", &text]).complains(2, "is not a tournament file");
    agon(&["tournament", &good, "--quiet"]).succeeds();
    let store = good.replace(".toml", ".db");
    agon(&["tournament", "rerun", "zzz", "--store", &store])
        .complains(2, "is not the id of a match");
    agon(&["tournament", "rerun", "000000000000", "--store", &store]).complains(2, "no match in");
    let missing = scratch.file(
        "cmd.toml",
        "games = [\"tic-tac-toe\"]\nplay_clock = 1\nplayers = [\"cmd:./nothing\", \"legal\"]",
    );
    agon(&["tournament", &missing]).complains(2, "could not be played");
}
