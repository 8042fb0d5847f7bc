//! `agon evaluation-games`: learning, use of what was learnt, continued training, wrong input.

use super::super::games::Scratch;
use super::run::agon;
use super::{has_keys, json};

#[test]
fn learnt_games_are_written_and_used() {
    let scratch = Scratch::new("evaluation-games");
    let [out, training] = ["out", "set.jsonl"].map(|name| scratch.path(name));
    let (out, training) = (out.to_string_lossy(), training.to_string_lossy());
    let args = ["evaluation-games", "toss/breakthrough", "--plays", "2", "--iterations", "150"];
    let places = ["--out", &out, "--training", &training, "--json"];
    let report = json(&agon(&[&args[..], &places].concat()).succeeds());
    has_keys(&report, &["game", "plays", "moves", "seconds", "games", "provenance"]);
    assert_eq!(report["plays"], 2);
    let locations = report["games"].as_array().expect("a game for each location");
    assert_eq!(locations.len(), 2, "{report}");
    for game in locations {
        has_keys(game, &["location", "file", "moves", "findings"]);
        let file = game["file"].as_str().expect("a path");
        let text = std::fs::read_to_string(file).expect("it was written");
        assert!(text.contains("DATA game: toss/breakthrough"), "{text}");
    }
    let player = format!("continuous(method=uct,evaluation=game(file={out}))");
    let players = format!("{player},continuous(method=uct)");
    let played = ["match", "toss/breakthrough", "--players", &players, "--iterations", "3"];
    agon(&played).succeeds();
    // The folder has no games for this one.
    agon(&["match", "toss/tic-tac-toe", "--players", &players]).complains(2, "DATA game:");
    // A later run goes on with the training set.
    let more = json(&agon(&[&args[..], &places].concat()).succeeds());
    assert!(more["moves"].as_u64() > report["moves"].as_u64(), "{report} {more}");
    let other = ["evaluation-games", "toss/tic-tac-toe", "--plays", "1", "--training", &training];
    agon(&[&other[..], &["--out", &out]].concat()).complains(2, "belongs to the game");
}

#[test]
fn games_in_gdl_take_part_through_their_translation() {
    let scratch = Scratch::new("evaluation-games-gdl");
    let out = scratch.path("out");
    let folder = out.to_string_lossy();
    let args = ["--plays", "2", "--iterations", "60", "--policy", "apriori", "--out", &folder];
    let run = agon(&[&["evaluation-games", "tic-tac-toe"], &args[..]].concat()).succeeds();
    assert!(out.join("tic-tac-toe.toss").is_file(), "{}", run.out);
    let rules = out.join("tic-tac-toe.toss").to_string_lossy().into_owned();
    assert!(run.out.contains(&format!("agon match {rules}")), "{}", run.out);
}

#[test]
fn wrong_input_is_explained() {
    let scratch = Scratch::new("evaluation-games-wrong");
    let spoilt = scratch.path("spoilt.jsonl");
    std::fs::write(&spoilt, "no training set\n").expect("a file");
    let (spoilt, out) = (spoilt.to_string_lossy(), scratch.path("out"));
    let out = out.to_string_lossy();
    let run = |args: &[&str]| agon(&[&["evaluation-games"], args, &["--out", &out]].concat());
    run(&["toss/tic-tac-toe", "--training", &spoilt]).complains(2, "line 1");
    run(&["toss/tic-tac-toe", "--seconds", "0"]).complains(2, "--seconds");
    run(&["toss/tic-tac-toe", "--policy", "guess"]).complains(2, "guess");
    run(&["toss/bacteria"]).complains(2, "create or delete elements");
    run(&["no-such-game"]).fails_with(2);
}
