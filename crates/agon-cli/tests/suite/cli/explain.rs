//! `agon explain`, and the properties of `agon info`.

use serde_json::Value;

use super::games::Scratch;
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
        "in brackets the degree of truth of a condition",
        "goal 100 [",
        "at least one of these 8",
        "line 61",
        "(cell 2 2 x) holds, (cell 2 1 x) and (cell 2 3 x) are missing",
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

/// Every heuristic is measured beside their combination, and players use it.
#[test]
fn heuristics_are_combined() {
    let args = ["explain", "connect-three", "--combined", "--plays", "40", "--seconds", "600"];
    let text = agon(&args).succeeds().out;
    for part in ["fuzzy goals", "mobility", "number of ", "combined  ", "positions of 32 plays"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    let args = ["explain", "connect-three", "--combined=boosting", "--plays", "40", "--json"];
    let whole = json(&agon(&[&args[..], &["--seconds", "600"]].concat()).succeeds());
    assert_eq!(whole["method"], "boosting");
    let names = whole["heuristics"].as_array().expect("a list");
    assert!(names.iter().any(|one| one["name"] == "regressed goals"), "{whole}");
    let late = ["explain", "connect-three", "--combined", "--seconds", "0"];
    agon(&late).complains(1, "give more time with --seconds");
    agon(&["explain", "connect-three", "--plays", "40"]).complains(2, "--combined");
    let play = |players: &str| {
        let options = ["--iterations", "10", "--json"];
        agon(&[&["match", "connect-three", "--players", players], &options[..]].concat()).succeeds()
    };
    let players = "alphabeta(eval=combined(plays=20)),\
                   mcts(leaf-evaluation=heuristics,combined-plays=20,combined-weights=boosting)";
    assert_eq!(play(players).out, play(players).out, "matches that count can be repeated");
    let warned = play("alphabeta(eval=combined(heuristics=only-terms,plays=20)),random");
    assert!(warned.err.contains("are for structure rewriting games"), "{}", warned.err);
}

/// Concepts are found, written, and measured on another board. Positions are counted, and the limit
/// of time is never reached, so what is found depends neither on the machine nor on its load.
#[test]
fn concepts_are_formulas() {
    let scratch = Scratch::new("formulas");
    let file = scratch.path("concepts");
    let file = file.to_str().expect("the path is text");
    let find = |game: &str, positions: &str, more: &[&str]| {
        let few = ["--formulas", "--formulas-count", "1", "--formulas-positions", positions];
        agon(&[&["explain", game, "--seconds", "100000"], &few[..], more].concat())
    };
    let found = find("pawn-whopping", "160", &["--formulas-out", file]).succeeds();
    for part in ["of these gets ", "For example at (", "measured at 80 of other plays"] {
        assert!(found.out.contains(part), "no `{part}` in\n{}{}", found.out, found.err);
    }
    let written = std::fs::read_to_string(file).expect("it was written");
    assert_eq!(written.lines().count(), 1, "{written}");
    let matches = ["--formulas-elo=4", "--formulas-iterations", "20"];
    let played = find("pawn-whopping", "160", &matches).succeeds();
    for part in ["As a feature: ", " Elo (4 matches)", "search 20 positions a move", "by material"]
    {
        assert!(played.out.contains(part), "no `{part}` in\n{}{}", played.out, played.err);
    }
    let from = ["--formulas-from", file, "--json"];
    let measured = find("connect-three", "40", &[&from[..], &matches].concat()).succeeds();
    let measured = json(&measured);
    assert_eq!(measured["concepts"][0]["elo"]["matches"], 4, "{measured}");
    assert_eq!(measured["worth"]["base"], "material", "{measured}");
    assert_eq!(measured["worth"]["is_cut"], false, "{measured}");
    assert_eq!(measured["concepts"][0]["concept"], written.trim_end(), "{measured}");
    assert_eq!(measured["is_late"], false, "{measured}");
}

#[test]
fn concepts_have_clear_errors() {
    let scratch = Scratch::new("formulas-wrong");
    let wrong = scratch.file("concepts", "(own (step north (own)))");
    let right = scratch.file("right", "(own (step up (empty)))");
    let find = |game: &str, more: &[&str]| agon(&[&["explain", game, "--formulas"], more].concat());
    find("connect-three", &["--formulas-from", &wrong]).complains(2, "`north` is not one of right");
    find("eight-puzzle", &[]).complains(1, "it is not a game of two players alone");
    agon(&["explain", "othello", "--formulas-count", "1"]).complains(2, "--formulas");
    find("connect-three", &["--formulas-elo=1"]).complains(2, "--formulas-elo");
    find("connect-three", &["--formulas-iterations", "9"]).complains(2, "--formulas-elo");
    find("connect-three", &["--formulas-base", "combined"]).complains(2, "--formulas-elo");
    find("connect-three", &["--formulas-count", "0"]).complains(2, "--formulas-count");
    find("connect-three", &["--formulas-positions", "3"]).complains(2, "--formulas-positions");
    // So few positions cannot pay for any description.
    let none = ["--formulas-positions", "20", "--formulas-on", "connect-three"];
    find("tic-tac-toe", &none).complains(1, "gave no concepts that could be measured");
    // A limit that is longer than clocks count is none.
    let forever = ["--seconds", "18446744073709551615", "--formulas-positions", "20"];
    find("connect-three", &forever).succeeds();
    let combined = ["explain", "connect-three", "--combined", "--plays", "20"];
    agon(&[&combined[..], &forever[..2]].concat()).succeeds();
    for more in [&["--formulas-from", &right][..], &[]] {
        let late = find("connect-three", &[&["--seconds", "0"], more].concat());
        late.complains(1, "give more time with --seconds");
    }
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

/// The explanation of a rewriting game is in words: the term of one method with what its parts are
/// worth here, and no formula.
#[test]
fn explain_of_a_rewriting_game_is_in_words() {
    let text = agon(&["explain", "toss/breakthrough"]).succeeds().out;
    for part in [
        "B and W: elements enter and leave them",
        "R and C: never change",
        "What a position is worth by the goals (eval=descriptions)",
        "50 times, 1 if no x1 has B(x1)",
        "the same parts count with the opposite sign as for white",
        "by eval=tnf, white: 50 here; black: 50 here",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert!(!text.contains("Sum ("), "{text}");
}

/// What `agon info` prints is meant for people, not for the authors of the reasoner.
#[test]
fn info_has_no_internal_words() {
    let text = agon(&["info", "connect-four"]).succeeds().out;
    for part in [
        "red and yellow wait with noop (proved)",
        "once true, always true: (disc ?x ?y ?z) (proved)",
        "exactly one (control ?x) holds (proved)",
        "red and yellow: 0, 50, 100",
        "arguments 1 and 2 of free and disc form a board of 7 by 6",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    for word in ["procedures", "indexes", "stratified", "normal form", "(+", "marked +"] {
        assert!(!text.contains(word), "`{word}` in\n{text}");
    }
}
