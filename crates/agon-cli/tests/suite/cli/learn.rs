//! `agon learn` and `agon models`.

use std::path::Path;

use super::games::{self, Scratch};
use super::run::{Run, agon, agon_with};
use super::{has_keys, json};

fn with_store(folder: &Path, args: &[&str]) -> Run {
    let folder = folder.to_str().expect("the path is text");
    agon_with(args, &[("AGON_MODELS", folder), ("AGON_NO_MODELS", "0")])
}

#[test]
fn a_model_is_learnt_listed_used_and_removed() {
    let scratch = Scratch::new("learn");
    let store = scratch.path("models");
    let empty = with_store(&store, &["models"]).succeeds();
    assert!(empty.err.contains("no models in"), "{}", empty.err);
    let args = ["learn", "tic-tac-toe", "--games", "400", "--threads", "1", "--json"];
    let learnt = with_store(&store, &args).succeeds();
    let lines: Vec<serde_json::Value> =
        learnt.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    has_keys(&lines[0], &["type", "cells", "patterns", "weights", "resumed_games"]);
    has_keys(&lines[1], &["type", "seconds", "games", "step", "kept", "elo"]);
    let result = lines.last().expect("there is a result");
    has_keys(result, &["game", "key", "games", "seconds", "elo", "model", "bytes"]);
    assert!(result["games"].as_u64() >= Some(400), "{result}");

    let listed = json(&with_store(&store, &["models", "--json"]).succeeds());
    assert_eq!(listed["key"], result["key"]);
    assert_eq!(listed["format"], 2);
    let text = with_store(&store, &["models"]).succeeds();
    assert!(text.out.lines().nth(1).is_some_and(|line| line.starts_with("tic-tac-toe")));
    let key = listed["key"].as_str().expect("the key is text")[..8].to_owned();
    let shown = with_store(&store, &["models", "show", &key]).succeeds();
    assert!(shown.out.contains("checkpoint") || shown.out.contains("kept"), "{}", shown.out);
    let by_name = with_store(&store, &["models", "show", "tic-tac-toe"]).succeeds();
    assert_eq!(by_name.out, shown.out);
    let export = ["models", "export", "connect-three", "net.onnx"];
    with_store(&store, &export).complains(1, "`agon learn connect-three --form network");

    // The rules with other names in another order find the model.
    let rules = games::root().join("games/gdl/tic-tac-toe.kif");
    let text = std::fs::read_to_string(rules).expect("it ships");
    let scrambled = agon_ggp::Scrambler::new(&text, 5).scramble(&text);
    let file = scratch.path("other.kif");
    std::fs::write(&file, scrambled).expect("the folder is writable");
    let file = file.to_str().expect("the path is text");
    let play = ["match", file, "--players", "minimax,random", "--iterations", "50", "--json"];
    let with_model = with_store(&store, &play).succeeds();
    assert!(with_model.out.contains("the stored model of"), "{}", with_model.out);
    let mut without = play.to_vec();
    without.push("--no-models");
    let without = with_store(&store, &without).succeeds();
    assert!(!without.out.contains("the stored model of"), "{}", without.out);
    // The environment switches models off too.
    assert!(!agon(&play).succeeds().out.contains("the stored model of"));

    with_store(&store, &["models", "remove", "zz"]).complains(1, "no model is of a game");
    with_store(&store, &["models", "remove", "tic-tac-toe"]).succeeds();
    assert!(with_store(&store, &["models"]).succeeds().err.contains("no models in"));
}

#[test]
fn equal_seeds_learn_equal_models() {
    let scratch = Scratch::new("learn-seeds");
    let learn = |name: &str, seed: &str| {
        let path = scratch.path(name);
        let file = path.to_str().expect("the path is text");
        let args = ["learn", "connect-three", "--games", "200", "--threads", "1"];
        let args = [&args[..], &["--seed", seed, "--out", file]].concat();
        let learnt = agon(&args).succeeds();
        assert!(learnt.out.contains("the model is"), "{}", learnt.out);
        let shown = json(&agon(&["models", "show", file, "--json"]).succeeds());
        let checkpoints = shown["checkpoints"].as_array().expect("there are checkpoints").clone();
        let steps: Vec<String> =
            checkpoints.iter().map(|c| format!("{} {}", c["games"], c["step"])).collect();
        (steps, shown["elo"].clone())
    };
    assert_eq!(learn("one.agon-model", "7"), learn("two.agon-model", "7"));
}

#[test]
fn damaged_models_are_reported_and_ignored() {
    let scratch = Scratch::new("learn-damaged");
    let store = scratch.path("models");
    let args = ["learn", "tic-tac-toe", "--games", "64", "--threads", "1", "--json"];
    let learnt = with_store(&store, &args).succeeds();
    let last = learnt.out.lines().last().expect("there is a result");
    let result: serde_json::Value = serde_json::from_str(last).expect("JSON");
    let model = result["model"].as_str().expect("the path is text");
    let bytes = std::fs::read(model).expect("it was written");
    std::fs::write(model, &bytes[..bytes.len() / 2]).expect("the folder is writable");
    let play = ["match", "tic-tac-toe", "--players", "minimax(games=10),random", "--iterations"];
    let played = with_store(&store, &[&play[..], &["20"]].concat()).succeeds();
    assert!(played.err.contains("is ignored: it is damaged"), "{}", played.err);
    assert!(with_store(&store, &["models"]).succeeds().err.contains("is ignored"));
}

#[test]
fn learning_needs_a_limit_and_a_game_that_can_be_learnt() {
    agon(&["learn", "tic-tac-toe"]).complains(2, "--minutes");
    agon(&["learn", "tic-tac-toe", "--minutes", "0"]).complains(2, "above zero");
    agon(&["learn", "tic-tac-toe", "--minutes", "NaN"]).complains(2, "above zero");
    agon(&["learn", "tic-tac-toe", "--seconds", "-4"]).complains(2, "above zero");
    let scratch = Scratch::new("learn-refused");
    let file = scratch.path("x.agon-model");
    let file = file.to_str().expect("the path is text");
    agon(&["learn", "kuhn-poker", "--games", "10", "--out", file])
        .complains(1, "hidden information");
    // Chance that everyone sees is no secret.
    agon(&["learn", "dice-race", "--games", "200", "--out", file]).succeeds();
    agon(&["models", "show", file]).succeeds();
    std::fs::remove_file(file).expect("it was written");
    std::fs::remove_file(scratch.path("x.agon-training")).expect("it was written");
    agon(&["learn", "tic-tac-toe", "--games", "10", "--resume", "--out", file])
        .complains(2, "nothing to go on from");
    agon(&["models", "show", "no-such-key"]).complains(1, "no model is of a game");
}

#[test]
fn a_model_starts_the_next_board() {
    let scratch = Scratch::new("learn-transfer");
    let store = scratch.path("models");
    let transfer = ["transfer", "reversi-6x6", "othello", "--threads", "2", "--json"];
    with_store(&store, &transfer).complains(1, "learn it first");
    with_store(&store, &["learn", "reversi-6x6", "--games", "200"]).succeeds();
    let report = json(&with_store(&store, &transfer).succeeds());
    has_keys(&report, &["from", "to", "tables", "filled", "elo", "model"]);
    assert!(report["filled"].as_u64() > Some(0), "{report}");
    with_store(&store, &transfer).complains(1, "--fresh");
    let other = ["transfer", "reversi-6x6", "four-way-tron"];
    with_store(&store, &other).complains(1, "nothing can be transferred");
}

/// A process that is killed at any moment leaves files that can be used.
#[test]
fn learning_goes_on_after_a_kill() {
    let scratch = Scratch::new("learn-kill");
    let file = scratch.path("killed.agon-model");
    let state = file.with_extension("agon-training");
    let path = file.to_str().expect("the path is text");
    let mut child = games::program()
        .args(["learn", "breakthrough", "--seconds", "36", "--out", path])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the program runs");
    let began = std::time::Instant::now();
    while !state.exists() && began.elapsed().as_secs() < 120 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().expect("a child process can be killed");
    child.wait().expect("it was killed");
    assert!(state.exists(), "a slice was saved");
    let args = ["learn", "breakthrough", "--games", "64", "--resume", "--out", path, "--json"];
    let resumed = agon(&args).succeeds();
    let first: serde_json::Value =
        serde_json::from_str(resumed.out.lines().next().expect("a line")).expect("JSON");
    assert!(first["resumed_games"].as_u64() > Some(0), "{first}");
}
