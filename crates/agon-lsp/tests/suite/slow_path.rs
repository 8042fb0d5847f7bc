//! The slow path: plays, circuits and proofs arrive when the client is idle.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::Client;
use super::{GAME, at, place};
use agon_lsp::Options;

const URI: &str = "file:///rules/race.kif";

fn eager() -> Client {
    let options = Options { idle: Some(Duration::from_millis(1)), ..Options::default() };
    let refresh = json!({"workspace": {"inlayHint": {"refreshSupport": true}}});
    Client::start_with(options, refresh)
}

#[test]
fn costs_modes_and_circuit_sizes_arrive() {
    let mut client = eager();
    client.open(URI, GAME);
    client.wait_for("agon/analysed");
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let params = json!({"textDocument": {"uri": URI}, "range": range});
    let hints = client.ask("textDocument/inlayHint", params);
    let labels: Vec<&str> = hints
        .as_array()
        .expect("a list")
        .iter()
        .map(|hint| hint["label"].as_str().expect("a label"))
        .collect();
    assert!(labels[0].starts_with("circuit: "), "{labels:?}");
    let has = |start: &str| labels.iter().any(|label| label.starts_with(start));
    assert!(has("×3"), "three moves are possible: {labels:?}");
    assert!(!has("×0"), "rules outside of the circuit have no instances: {labels:?}");
    if cfg!(feature = "proofs") {
        let hover = client.ask("textDocument/hover", at(URI, place(GAME, "(at ?m)", 0, 1)));
        let hover = hover["contents"]["value"].as_str().unwrap_or_default();
        assert!(hover.contains("mode `at(-)`: at most one holds (proved)"), "{hover}");
    }
    let hover = client.ask("textDocument/hover", at(URI, place(GAME, "legal", 0, 1)));
    let hover = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(hover.contains("cost: 3 ground instances"), "{hover}");
    assert!(hover.contains("cost in the interpreter: "), "{hover}");
    let hover = client.ask("textDocument/hover", at(URI, place(GAME, "(succ ?m", 0, 1)));
    let hover = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(hover.contains("never changes; 3 facts, 0 rules"), "{hover}");
}

#[test]
fn faults_of_play_become_diagnostics_and_vanish_again() {
    let mut client = eager();
    // Without a successor of 3 the game gets stuck at 3.
    let stuck = GAME.replace("(succ 3 4)", "");
    client.open(URI, &stuck);
    client.wait_for("agon/analysed");
    let shown = client.published[URI]["diagnostics"].to_string();
    assert!(shown.contains("play-no-legal-move"), "{shown}");
    let found = client.change(URI, 2, json!([{"text": GAME}]));
    assert!(!json!(found).to_string().contains("play-no-legal-move"), "{found:?}");
    let done = client.wait_for("agon/analysed");
    assert_eq!(done["version"], 2);
}

#[test]
fn newer_versions_cancel_the_slow_path() {
    let mut client = eager();
    client.open(URI, GAME);
    for version in 2..30 {
        let text = format!("{GAME}; {version}\n");
        client.change(URI, version, json!([{"text": text}]));
    }
    loop {
        let done = client.wait_for("agon/analysed");
        if done["version"] == 29 {
            break;
        }
    }
    let params = json!({"textDocument": {"uri": URI}, "range": {
        "start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}});
    assert_ne!(client.ask("textDocument/inlayHint", params), Value::Array(Vec::new()));
}

#[test]
fn structure_rewriting_games_have_moves_in_the_circuit() {
    let mut client = eager();
    let uri = "file:///rules/tic.toss";
    let path = agon_testkit::files::repository().join("games/toss/connect-four.toss");
    let text = std::fs::read_to_string(path).expect("a shipped game");
    client.open(uri, &text);
    client.wait_for("agon/analysed");
    let params = json!({"textDocument": {"uri": uri}, "range": {
        "start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}}});
    let hints = client.ask("textDocument/inlayHint", params).to_string();
    assert!(hints.contains("circuit: ") && hints.contains("different moves"), "{hints}");
}

/// Returns the hints of a document as pairs of line and label.
fn hints(client: &mut Client, uri: &str) -> Vec<(u64, String)> {
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}});
    let params = json!({"textDocument": {"uri": uri}, "range": range});
    let hints = client.ask("textDocument/inlayHint", params);
    let of = |hint: &Value| {
        let line = hint["position"]["line"].as_u64().expect("a line");
        (line, hint["label"].as_str().expect("a label").to_owned())
    };
    hints.as_array().expect("a list").iter().map(of).collect()
}

#[test]
fn rules_and_conditions_that_play_never_uses_are_marked() {
    let mut client = eager();
    // The first position is never left for 9, so the last rule for `next` is not used.
    let rule = "(<= (next lost)\n    (does runner (run 1))\n    (true (at 9)))\n(succ 8 9)\n";
    let text = format!("{GAME}{rule}");
    let first = GAME.lines().count() as u64;
    client.open(URI, &text);
    client.wait_for("agon/analysed");
    let found = hints(&mut client, URI);
    let at = |line: u64, wanted: &str| {
        found.iter().any(|(at, label)| *at == line && label.contains(wanted))
    };
    assert!(at(first, "never used"), "{found:?}");
    assert!(at(first + 2, "never true"), "{found:?}");
    let n_unused = found.iter().filter(|(_, label)| label.contains("never used")).count();
    assert_eq!(n_unused, 1, "{found:?}");
}

#[test]
fn hints_of_parametrised_rules_stand_at_their_own_lines() {
    let mut client = eager();
    let text = "\
;; param size = 3 in 2..9: number of steps
(role a)
(init (at 1))
(index {1..size})
(succ {i=1..size-1} {i+1})
(<= (legal a (go ?n)) (true (at ?n)))
(<= (next (at ?m)) (does a (go ?n)) (succ ?n ?m))
(<= terminal (true (at {size})))
(<= (goal a 100) (true (at {size})))
(<= (goal a 0) (true (at ?n)) (index ?n) (distinct ?n {size}))
";
    client.open(URI, text);
    client.wait_for("agon/analysed");
    let found = hints(&mut client, URI);
    let labels: Vec<(u64, &str)> = found
        .iter()
        .filter(|(_, label)| label.starts_with('×'))
        .map(|(line, label)| (*line, label.split(',').next().unwrap_or_default()))
        .collect();
    assert_eq!(labels, [(5, "×3"), (6, "×2"), (7, "×1"), (8, "×1"), (9, "×2")], "{found:?}");
}

#[test]
fn relations_of_structure_rewriting_games_have_domains_and_changes() {
    let mut client = eager();
    let uri = "file:///rules/row.toss";
    let text = "PLAYERS X\n\
        RULE Go: [a, b | P(a); R(a, b) | -] -> [a, b | P(b); R(a, b) | -] emb P\n\
        RULE Never: [a | - | -] -> [a | P(a) | -] emb P pre ex x Q(x)\n\
        PAYOFF { X: 1 }\n\
        LOC 0 { PLAYER X MOVES [Go -> 0]; [Never -> 0] }\n\
        START [ | P:1 { a1 }; Q:1 {} | ] \". . .\"\n";
    client.open(uri, text);
    client.wait_for("agon/analysed");
    let mut hover = |wanted: &str| {
        let answer = client.ask("textDocument/hover", at(uri, place(text, wanted, 0, 0)));
        answer["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let changing = hover("P(a)");
    for wanted in ["relation **P**/1", "1 tuple at the start", "`a1`", "changed by Go, Never"] {
        assert!(changing.contains(wanted), "{wanted}: {changing}");
    }
    let stable = hover("R(a, b)");
    assert!(stable.contains("**R**/2") && stable.contains("never changes"), "{stable}");
    assert!(stable.contains("argument 2: {`b1`, `c1`}"), "{stable}");
    let rule = hover("Never");
    assert!(rule.contains("never used of"), "{rule}");
    let found = hints(&mut client, uri);
    let never = found.iter().find(|(line, _)| *line == 2).expect("the rule has a hint");
    assert!(never.1.contains("never used"), "{found:?}");
}
