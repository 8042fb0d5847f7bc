//! `agon explain`, and the properties of `agon info`.

use serde_json::Value;

use super::{agon, has_keys, json};

#[test]
fn explain_has_every_key_or_a_reason() {
    let whole = json(&agon(&["explain", "tic-tac-toe", "--json"]).succeeds());
    has_keys(&whole, &["game", "state", "properties", "fuzzy", "action_heuristic"]);
    for key in ["properties", "fuzzy", "action_heuristic", "concepts"] {
        let is_there = whole.get(key).is_some();
        let is_refused = whole["refused"].get(key).is_some_and(Value::is_string);
        assert!(is_there != is_refused, "{key} is there or refused");
    }
    let fuzzy = &whole["fuzzy"];
    has_keys(fuzzy, &["goals", "nodes", "features", "moves"]);
    assert_eq!(fuzzy["features"]["persistence"], 18);
    assert!(
        fuzzy["nodes"]
            .as_array()
            .is_some_and(|nodes| nodes.iter().all(|node| node["truth"].is_number()))
    );
}

#[test]
fn explain_prints_every_section() {
    let text = agon(&["explain", "tic-tac-toe", "--after", "(mark 2 2) (mark 1 2)"]).succeeds().out;
    for part in [
        "at most one player has a choice at a time (proved)",
        "payoffs add up to 100 at the end (proved)",
        "xplayer: estimated payoff ",
        "goal 100 (18 parts)",
        "at least one of 8",
        "line 61",
        "there is (cell 2 2 x); missing (cell 2 1 x), (cell 2 3 x)",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn explain_takes_a_state() {
    let state = "(control xplayer) (cell 1 1 x) (cell 2 2 x) (cell 3 3 blank) (cell 1 2 blank)";
    let won = json(&agon(&["explain", "tic-tac-toe", "--state", state, "--json"]).succeeds());
    assert_eq!(won["fuzzy"]["moves"][0]["move"], "(mark 3 3)");
    assert_eq!(won["fuzzy"]["moves"][0]["worth"], 100.0);
    let wrong = agon(&["explain", "tic-tac-toe", "--state", "(nonsense)"]);
    assert_eq!(wrong.code, 1);
    assert!(wrong.err.contains("`(nonsense)` is not a fluent of this game"), "{}", wrong.err);
}

#[test]
fn info_distinguishes_proofs_from_observations() {
    let facts = json(&agon(&["info", "tic-tac-toe", "--json"]).succeeds());
    assert_eq!(facts["proved"]["turn_taking"], true);
    assert_eq!(facts["proved"]["constant_sum"], 100);
    assert_eq!(facts["properties"]["length"]["bound"]["steps"], 9);
    assert_eq!(facts["properties"]["modes"][0]["known"]["how"], "proved");
}

#[test]
fn fuzzy_players_play() {
    let players =
        "alphabeta(eval=fuzzy, depth=2),bestfirst(eval=fuzzy, fuzzy-norm=yager, fuzzy-order=off)";
    let run =
        agon(&["match", "connect-three", "--players", players, "--iterations", "20", "--json"]);
    assert!(run.succeeds().out.contains("connect-three"));
}

#[test]
fn explain_of_a_rewriting_game_keeps_its_time() {
    let whole =
        json(&agon(&["explain", "toss/breakthrough", "--seconds", "0", "--json"]).succeeds());
    for method in ["tnf", "descriptions", "rule-conditions"] {
        assert_eq!(whole["refused"][method], "the time is over");
    }
    let whole = json(&agon(&["explain", "toss/tic-tac-toe", "--json"]).succeeds());
    assert!(whole["goal_terms"]["tnf"].is_array());
}
