//! Every shipped game is played, and the record of the match is replayed.

use agon_ggp::Record;
use agon_match::{Ending, Match};
use agon_players::KINDS;

use super::games::{name, open, play, record, rulesheets, shipped, table};

/// Plays a match, writes its record, reads the record and replays it.
fn plays_and_replays(
    game: &std::sync::Arc<agon_gdl::interpreter::Game>,
    what: &str,
    players: &[&str],
    seed: u64,
) -> Match {
    let played = play(game, players, seed);
    match played.ending() {
        Some(Ending::Finished(_) | Ending::TooLong) => {}
        other => panic!("{what}: {other:?}"),
    }
    for (index, step) in played.steps().iter().enumerate() {
        assert!(
            step.errors.iter().all(Option::is_none),
            "{what}, step {}: {:?}",
            index + 1,
            step.errors
        );
    }
    let text = record(&played).to_json().to_string();
    let value = serde_json::from_str(&text).expect("the record is JSON");
    let read = Record::from_json(&value).unwrap_or_else(|why| panic!("{what}: {why}"));
    let verdict = read.verify(table(game.start()).as_mut());
    assert!(verdict.differences.is_empty(), "{what}: {:?}", verdict.differences);
    assert_eq!(verdict.n_states, played.steps().len() + 1, "{what}");
    played
}

#[test]
fn forty_matches_of_each_kind_of_game() {
    let kinds = [
        ("tic-tac-toe", "turns"),
        ("rock-paper-scissors", "simultaneous"),
        ("prisoners-dilemma", "simultaneous, not constant-sum"),
        ("three-way-tic-tac-toe", "three players"),
        ("hanoi", "one player"),
        ("dice-race", "chance"),
        ("monty-hall", "chance and one player, hidden"),
        ("kuhn-poker", "hidden"),
        ("krieg-tic-tac-toe", "hidden moves"),
    ];
    for (name, kind) in kinds {
        let game = shipped(name);
        let mut lengths = std::collections::BTreeSet::new();
        for seed in 0..40 {
            let players: &[&str] =
                if seed % 2 == 0 { &["random"] } else { &["random", "greedy", "legal"] };
            let played =
                plays_and_replays(&game, &format!("{name} ({kind}), seed {seed}"), players, seed);
            assert!(matches!(played.ending(), Some(Ending::Finished(_))), "{name}, seed {seed}");
            lengths.insert(played.states().to_vec());
        }
        assert!(lengths.len() > 1, "{name}: matches depend on the seed");
    }
}

#[test]
fn every_game_is_played() {
    for path in rulesheets() {
        let game = open(&path);
        plays_and_replays(&game, &name(&path), &["random"], 3);
    }
}

#[test]
fn every_built_in_player_plays() {
    for game in
        ["tic-tac-toe", "rock-paper-scissors", "kuhn-poker", "eight-puzzle", "four-way-tron"]
    {
        let opened = shipped(game);
        for kind in KINDS.iter().filter(|kind| kind.is_built_in()) {
            plays_and_replays(&opened, &format!("{} at {game}", kind.name), &[kind.name], 1);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_match() {
    for name in
        ["connect-three", "rock-paper-scissors", "dice-race", "krieg-tic-tac-toe", "four-way-tron"]
    {
        let game = shipped(name);
        let texts = |seed| record(&play(&game, &["auto", "random"], seed)).to_json().to_string();
        assert_eq!(texts(5), texts(5), "{name}");
        assert!((6..12).any(|seed| texts(seed) != texts(5)), "{name}: matches depend on the seed");
    }
}

#[test]
fn greedy_makes_a_winning_move() {
    // The first player can complete a line at once.
    let game = shipped("tic-tac-toe");
    let opening = ["(mark 1 1)", "(mark 3 3)", "(mark 1 2)", "(mark 3 1)"];
    let joints = opening.iter().enumerate().map(|(i, m)| {
        let noop = "noop".to_owned();
        if i % 2 == 0 { vec![(*m).to_owned(), noop] } else { vec![noop, (*m).to_owned()] }
    });
    let options = agon_match::MatchOptions {
        opening: joints.collect(),
        ..agon_match::MatchOptions::default()
    };
    let played =
        super::games::run(&game, super::games::seats(&game, &["greedy", "legal"], 1), options);
    assert_eq!(played.steps().len(), 5);
    assert_eq!(played.steps()[4].joint[0], "(mark 1 3)");
    assert_eq!(played.ending(), Some(&Ending::Finished(vec![100.0, 0.0])));
}
