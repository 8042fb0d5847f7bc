//! The program as a user sees it: output, exit codes and error messages of each command.

mod bench;
mod draw;
mod editing;
mod engine;
mod evaluation_games;
mod experiment;
mod explain;
mod exploding;
mod hostile;
mod learn;
mod matches;
mod mistakes;
mod network;
mod repeatable;
mod rule_tools;
mod run;
mod serve;
mod signature;
mod solve;
mod tournament;
mod traces;
mod translate;

use serde_json::Value;

use super::games::{self, Scratch, rulesheets};
use run::{Run, agon, agon_reading};

/// A correct rulesheet, for tests that change one thing in it.
const COIN: &str = "\
(role chooser)
(init (open))
(<= (legal chooser (call heads)) (true open))
(<= (legal chooser (call tails)) (true open))
(<= (next (called ?side)) (does chooser (call ?side)))
(<= terminal (not (true open)))
(<= (goal chooser 100) (true (called heads)))
(<= (goal chooser 0) (not (true (called heads))))
";

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.out))
}

#[track_caller]
fn has_keys(object: &Value, keys: &[&str]) {
    let missing: Vec<&&str> = keys.iter().filter(|key| object.get(**key).is_none()).collect();
    assert!(missing.is_empty(), "{missing:?} missing in {object}");
}

#[test]
fn help_lists_all_commands_and_has_examples() {
    let help = agon(&[]);
    assert_eq!(help.code, 2);
    assert!(
        help.err.contains("Usage: agon") && help.err.contains("agon simulate connect-four"),
        "{}",
        help.err
    );
    let commands = [
        "games",
        "info",
        "show",
        "check",
        "fmt",
        "lsp",
        "explain",
        "explain-code",
        "why",
        "simulate",
        "solve",
        "perft",
        "record",
        "replay",
        "match",
        "tournament",
        "evaluation-games",
        "play",
        "players",
        "player",
        "host",
        "experiment",
        "translate",
        "ground",
        "bench",
        "gdl-perf",
        "draw",
        "serve",
        "assess",
    ];
    for command in commands {
        assert!(help.err.contains(&format!("\n  {command}")), "{command} is not in the help");
        let page = agon(&[command, "--help"]).succeeds();
        assert!(page.out.contains("Usage: agon ") && page.out.contains("Example"), "{}", page.out);
    }
    assert!(agon(&["--version"]).succeeds().out.starts_with("agon 0."));
}

#[test]
fn games_lists_every_shipped_game() {
    let folder = games::root().join("games");
    let n_rewriting = std::fs::read_dir(folder.join("toss"))
        .expect("structure rewriting games ship")
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|ending| ending == "toss"))
        .count();
    let n_games = rulesheets(&folder).len() + n_rewriting;
    let list = agon(&["games"]).succeeds();
    assert_eq!(list.out.lines().count(), n_games);
    assert!(
        list.out.lines().any(|line| line.starts_with("kuhn-poker ") && line.contains("GDL-II")),
        "{}",
        list.out
    );
    let objects = agon(&["games", "--json"]).succeeds();
    assert_eq!(objects.out.lines().count(), n_games);
    for line in objects.out.lines() {
        let game: Value = serde_json::from_str(line).expect("one object to a line");
        has_keys(&game, &["name", "title", "summary", "language", "players", "path"]);
        assert!(game["players"].as_u64().is_some_and(|n| n > 0), "{line}");
        assert!(games::root().join(game["path"].as_str().unwrap_or_default()).is_file(), "{line}");
    }
}

#[test]
fn info_has_all_facts() {
    let text = agon(&["info", "kuhn-poker"]).succeeds().out;
    for part in ["Kuhn Poker", "opener, dealer, random", "GDL-II", "hidden"] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    let facts = json(&agon(&["info", "kuhn-poker", "--json", "--plays", "5"]).succeeds());
    has_keys(
        &facts,
        &[
            "game",
            "title",
            "language",
            "syntax",
            "roles",
            "nature",
            "hidden_information",
            "keywords",
            "clauses",
            "rules",
            "relations",
            "initial_fluents",
            "proved",
            "observed",
        ],
    );
    assert_eq!(facts["roles"], serde_json::json!(["opener", "dealer", "random"]));
    assert_eq!(facts["observed"]["plays"], 5);
}

#[test]
fn show_has_every_stage() {
    let at = |stage: &str| agon(&["show", "tic-tac-toe", "--stage", stage]).succeeds().out;
    assert!(at("source").starts_with(";; title: Tic-Tac-Toe"));
    assert!(at("rules").contains("(role xplayer)"));
    assert!(at("kif").contains("(role xplayer)"));
    assert!(at("infix").contains("role(xplayer)."));
    assert!(at("checked").contains("(<= terminal"));
    assert!(
        at("relations")
            .lines()
            .any(|line| line.starts_with("opponent ") && line.ends_with("never"))
    );
    assert_eq!(at("initial").lines().count(), 10, "nine cells and whose turn it is");
    let unknown = agon(&["show", "tic-tac-toe", "--stage", "nonsense"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("possible values"), "{}", unknown.err);
}

#[test]
fn exit_code_of_check_is_that_of_the_worst_finding() {
    let scratch = Scratch::new("check");
    let clean = scratch.file("clean.kif", COIN.replace("(open)", "open"));
    let run = agon(&["check", &clean]).succeeds();
    assert_eq!(run.out.lines().last(), Some(format!("{clean}: no errors, no warnings").as_str()));
    let warned = scratch.file("warned.kif", format!("{COIN}(<= unused (true open))\n"));
    assert!(agon(&["check", &warned]).succeeds().out.contains("warning[unused-relation]"));
    let wrong = scratch.file("wrong.kif", format!("{COIN}(<= p (not q))\n(<= q (not p))\n"));
    let run = agon(&["check", &wrong]).fails_with(1);
    assert!(
        run.out.contains("error[unstratified]") && run.out.contains("wrong.kif:9:"),
        "{}",
        run.out
    );
    agon(&["check", &wrong, &scratch.path("missing.kif").to_string_lossy()]).fails_with(2);
    agon(&["check", &clean, &wrong]).fails_with(1);
}

#[test]
fn check_writes_json() {
    let scratch = Scratch::new("check-json");
    let wrong = scratch
        .file("wrong.kif", format!("{COIN}(<= (next (called ?x)) (not (true (called ?x))))\n"));
    let run = agon(&["check", &wrong, "--json"]).fails_with(1);
    let report = json(&run);
    has_keys(&report, &["file", "errors", "warnings", "findings"]);
    assert_eq!(report["errors"], 1);
    let finding = report["findings"]
        .as_array()
        .and_then(|list| list.iter().find(|f| f["severity"] == "error"));
    let finding = finding.expect("an error was counted");
    has_keys(
        finding,
        &[
            "severity",
            "code",
            "message",
            "line",
            "column",
            "end_line",
            "end_column",
            "notes",
            "hints",
            "fix",
        ],
    );
    assert_eq!((&finding["code"], &finding["line"]), (&"unsafe-variable".into(), &9.into()));
}

#[test]
fn check_with_plays_finds_errors_in_play() {
    let scratch = Scratch::new("check-plays");
    let stuck =
        COIN.replace("(<= terminal (not (true open)))", "(<= terminal (true (called heads)))");
    let stuck = scratch.file("stuck.kif", stuck);
    agon(&["check", &stuck]).succeeds();
    let run = agon(&["check", &stuck, "--plays", "20", "--seed", "3"]).fails_with(1);
    assert!(run.out.contains("error[play-no-legal-move]"), "{}", run.out);
}

#[test]
fn fix_changes_the_file_once() {
    let scratch = Scratch::new("fix");
    let path = scratch.file("fixable.kif", COIN);
    let before = std::fs::read_to_string(&path).expect("just written");
    let dry = agon(&["check", &path, "--fix", "--dry-run"]).succeeds();
    assert!(dry.out.contains("-(init (open))") && dry.out.contains("+(init open)"), "{}", dry.out);
    assert_eq!(
        std::fs::read_to_string(&path).ok().as_deref(),
        Some(before.as_str()),
        "a dry run writes nothing"
    );
    let report = agon(&["check", &path, "--fix", "--dry-run", "--json"]).succeeds();
    let report: serde_json::Value = serde_json::from_str(&report.out).expect("JSON");
    assert_eq!(report["written"], false);
    let fixes = report["fixes"].as_array().expect("a list");
    assert!(
        !fixes.is_empty()
            && fixes.iter().all(|fix| fix["line"].is_u64() && fix["title"].is_string())
    );
    let fixed = agon(&["check", &path, "--fix"]).succeeds();
    assert!(
        fixed.out.contains("-(init (open))") && fixed.out.contains("+(init open)"),
        "{}",
        fixed.out
    );
    let after = std::fs::read_to_string(&path).expect("still there");
    assert_eq!(after, before.replace("(open)", "open"));
    let again = agon(&["check", &path, "--fix"]).succeeds();
    assert!(!again.out.contains("+(init open)"), "{}", again.out);
    assert_eq!(std::fs::read_to_string(&path).ok(), Some(after), "nothing is left to fix");
    let left: Vec<_> = std::fs::read_dir(scratch.path("")).expect("a folder").flatten().collect();
    assert_eq!(left.len(), 1, "no other file is left behind");
}

#[test]
fn explain_code_has_a_page_for_each_code() {
    let list = agon(&["explain-code"]).succeeds();
    let n_codes = agon_gdl::codes::pages().len() + agon_toss::codes::pages().len();
    assert_eq!(list.out.lines().count(), n_codes);
    assert!(
        agon(&["explain-code", "unsafe-variable"]).succeeds().out.starts_with("# unsafe-variable")
    );
    let unknown = agon(&["explain-code", "unsave-variable"]).fails_with(2);
    assert!(unknown.err.contains("did you mean `unsafe-variable`?"), "{}", unknown.err);
}

#[test]
fn why_proves_and_refutes() {
    let proof = agon(&["why", "tic-tac-toe", "(legal xplayer (mark 1 1))"]).succeeds().out;
    assert!(proof.starts_with("(legal xplayer (mark 1 1)) holds\n"), "{proof}");
    assert!(
        proof.contains("rule, games/gdl/tic-tac-toe.kif:") && proof.contains("in the state"),
        "{proof}"
    );
    let after = ["--after", "(mark 1 1) (mark 2 2)"];
    let refutation =
        agon(&["why", "tic-tac-toe", after[0], after[1], "(legal xplayer (mark 1 1))"])
            .succeeds()
            .out;
    assert!(refutation.starts_with("(legal xplayer (mark 1 1)) does not hold\n"), "{refutation}");
    assert!(refutation.contains("✗ (true (cell 1 1 blank))"), "{refutation}");
    let both =
        agon(&["why", "tic-tac-toe", "--after", "(mark 1 1) noop noop (mark 2 2)", "terminal"])
            .succeeds()
            .out;
    assert!(both.starts_with("terminal does not hold"), "{both}");
    let next = agon(&["why", "tic-tac-toe", "--does", "(mark 1 1) noop", "(next (cell 1 1 x))"])
        .succeeds()
        .out;
    assert!(next.contains("the move made"), "{next}");
    let answers = json(&agon(&["why", "tic-tac-toe", "(legal ?who ?what)", "--json"]).succeeds());
    assert_eq!((&answers["holds"], &answers["ways"]), (&true.into(), &10.into()));
    has_keys(&answers["proofs"][0], &["sentence", "by", "line", "because"]);
    let refuted = json(&agon(&["why", "tic-tac-toe", "terminal", "--json"]).succeeds());
    assert_eq!(refuted["holds"], false);
    has_keys(&refuted["why_not"], &["sentence", "remark", "rules"]);
}

#[test]
fn simulate_counts_and_repeats() {
    let text = agon(&["simulate", "nim", "-n", "20", "--seed", "7"]).succeeds().out;
    assert!(text.starts_with("nim: 20 plays at random, seed 7\n"), "{text}");
    let run = || {
        let mut object = json(
            &agon(&["simulate", "kuhn-poker", "-n", "30", "--seed", "7", "--json"]).succeeds(),
        );
        // Only times may differ.
        let object_map = object.as_object_mut().expect("an object");
        assert!(
            object_map.remove("seconds").is_some() && object_map.remove("states_per_s").is_some()
        );
        object
    };
    let first = run();
    has_keys(
        &first,
        &[
            "game",
            "seed",
            "plays",
            "ended",
            "states",
            "mean_length",
            "shortest",
            "longest",
            "players",
            "faults",
        ],
    );
    assert_eq!(first, run());
    assert_eq!((&first["plays"], &first["faults"]), (&30.into(), &0.into()));
    assert_eq!(first["players"].as_array().map(Vec::len), Some(2), "nature gets no points");
}

#[test]
fn perft_counts_plays() {
    let counted = agon(&["perft", "kuhn-poker", "--depth", "4"]).succeeds().out;
    assert_eq!(counted, "perft 1 6\nperft 2 12\nperft 3 24\nended 3 18\nperft 4 12\nended 4 30\n");
    let objects = agon(&["perft", "nim", "-d", "2", "--json"]).succeeds().out;
    assert_eq!(
        objects,
        "{\"depth\":1,\"perft\":16,\"ended\":0}\n{\"depth\":2,\"perft\":206,\"ended\":0}\n"
    );
}

#[test]
fn rules_are_read_from_standard_input() {
    let checked = agon_reading(&["check", "-"], COIN.replace("(open)", "open")).succeeds();
    assert_eq!(checked.out, "-: no errors, no warnings\n");
    agon_reading(&["simulate", "-", "-n", "3"], COIN).succeeds();
    let infix = agon_reading(&["show", "-", "--stage", "infix"], COIN).succeeds().out;
    let again = agon_reading(&["show", "-", "--stage", "initial"], &infix).succeeds().out;
    assert_eq!(again, "open\n", "infix is read from standard input as well");
}

/// Starts the program with pipes that can be closed.
fn start(args: &[&str]) -> std::process::Child {
    let piped = std::process::Stdio::piped;
    games::program().args(args).stdout(piped()).stderr(piped()).spawn().expect("the program runs")
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    for args in
        [vec!["games"], vec!["show", "checkers"], vec!["explain-code"], vec!["record", "othello"]]
    {
        let mut child = start(&args);
        // The output is closed, as after `| head -0`.
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the program ends");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(errors, "", "{args:?}");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}

#[test]
fn a_closed_standard_error_is_not_an_error() {
    let scratch = Scratch::new("aside");
    let (empty, wrong) = (scratch.file("empty.kif", ""), scratch.file("wrong.kif", "(role a"));
    for args in
        [vec!["translate", &empty, "--to", "gdl"], vec!["translate", &wrong, "--to", "toss"]]
    {
        let mut child = start(&args);
        drop(child.stderr.take());
        let output = child.wait_with_output().expect("the program ends");
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn a_pipe_gets_no_colours() {
    let scratch = Scratch::new("colours");
    let wrong = scratch.file("wrong.kif", "(role a");
    for args in
        [vec!["games"], vec!["info", "nim"], vec!["check", &wrong], vec!["simulate", &wrong]]
    {
        let run = agon(&args);
        assert!(
            !run.out.contains('\x1b') && !run.err.contains('\x1b'),
            "{args:?}: {}{}",
            run.out,
            run.err
        );
    }
}
