//! The slow path: plays, circuits and proofs arrive when the client is idle.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::Client;
use super::{GAME, at, place};
use agon_lsp::Options;

const URI: &str = "file:///tmp/race.kif";

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
    assert!(labels.contains(&"×3"), "three moves are possible: {labels:?}");
    if cfg!(feature = "proofs") {
        let hover = client.ask("textDocument/hover", at(URI, place(GAME, "(at ?m)", 0, 1)));
        let hover = hover["contents"]["value"].as_str().unwrap_or_default();
        assert!(hover.contains("mode `at(-)`: at most one holds (proved)"), "{hover}");
    }
    let hover = client.ask("textDocument/hover", at(URI, place(GAME, "legal", 0, 1)));
    let hover = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(hover.contains("cost: 3 ground instances"), "{hover}");
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
    let uri = "file:///tmp/tic.toss";
    let path = agon_testkit::files::repository().join("games/toss/connect-four.toss");
    let text = std::fs::read_to_string(path).expect("a shipped game");
    client.open(uri, &text);
    client.wait_for("agon/analysed");
    let params = json!({"textDocument": {"uri": uri}, "range": {
        "start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}}});
    let hints = client.ask("textDocument/inlayHint", params).to_string();
    assert!(hints.contains("circuit: ") && hints.contains("different moves"), "{hints}");
}
