//! Openings of tournaments are legal and repeatable, and play goes on after them.

use agon_match::MatchOptions;
use agon_match::tournament::opening;

use super::games::{name, open, rulesheets, run, seats, shipped, table};

#[test]
fn no_opening_ends_a_game() {
    for path in rulesheets() {
        let game = open(&path);
        let start = table(game.start());
        for seed in 0..3 {
            let moves = opening(start.as_ref(), 2, seed);
            assert_eq!(
                moves,
                opening(start.as_ref(), 2, seed),
                "{}: not deterministic",
                name(&path)
            );
            let mut here = start.clone();
            for joint in &moves {
                let texts: Vec<&str> = joint.iter().map(String::as_str).collect();
                here.advance(&texts).unwrap_or_else(|why| panic!("{}: {why}", name(&path)));
            }
            assert!(!here.is_terminal(), "{}: {moves:?}", name(&path));
        }
    }
}

#[test]
fn seeds_differ_and_short_games_have_short_openings() {
    let start = table(shipped("connect-four").start());
    let first = opening(start.as_ref(), 4, 1);
    assert_eq!(first.len(), 4);
    assert!((2..20).any(|seed| opening(start.as_ref(), 4, seed) != first));
    let short = table(shipped("matching-pennies").start());
    let moves = opening(short.as_ref(), 1000, 1);
    assert!(moves.len() < 1000, "{}", moves.len());
}

#[test]
fn players_follow_an_opening() {
    for game in ["connect-four", "kuhn-poker", "four-way-tron"] {
        let game = shipped(game);
        let moves = opening(table(game.start()).as_ref(), 2, 9);
        let options = MatchOptions {
            seed: 3,
            max_steps: 300,
            opening: moves.clone(),
            ..MatchOptions::default()
        };
        let played = run(&game, seats(&game, &["mcts"], 3), options);
        let made: Vec<&Vec<String>> =
            played.steps().iter().map(|step| &step.joint).take(moves.len()).collect();
        assert_eq!(made, moves.iter().collect::<Vec<_>>());
        assert!(
            played.steps().iter().all(|step| step.errors.iter().all(Option::is_none)),
            "all players follow"
        );
    }
}
