//! Tests that puzzles are solved and plans are followed.

use agon_game::{Position, Role};
use proptest::prelude::*;

use super::*;
use crate::sample::{Kind, RandomGame, minimax, shipped};

/// Plays a puzzle to its end. Returns the payoff and the number of positions of the first search.
fn play<P: Position>(start: &P, nodes: u64) -> (f64, u64) {
    let us = Role::new(0);
    let mut search = Puzzle::new(PuzzleOptions::default());
    let mut position = start.clone();
    let mut first = None;
    while !position.is_terminal() {
        let report = search.think(&mut position, us, &Budget::nodes(nodes));
        assert!(position.is_legal(us, &report.best));
        if first.is_some() && report.value == 100.0 {
            assert_eq!(report.nodes, 0, "a plan is followed without search");
        }
        first.get_or_insert(report.nodes);
        position.advance(&[report.best]);
    }
    (position.payoff(us), first.unwrap_or(0))
}

#[test]
fn shipped_puzzles_are_solved() {
    for (name, nodes) in [
        ("hanoi", 50_000),
        ("peg-solitaire", 50_000),
        ("knights-tour", 3_000_000),
        ("eight-puzzle", 2_000_000),
        ("lights-out", 60_000_000),
    ] {
        let (payoff, n_nodes) = play(&shipped(name), nodes);
        println!("{name}: {payoff} after {n_nodes} nodes");
        assert_eq!(payoff, 100.0, "{name}");
    }
}

proptest! {
    #![proptest_config(crate::sample::seeded(256))]

    #[test]
    fn finds_the_best(seed: u64) {
        let kind = Kind { n_players: 1, constant_sum: false, ..Kind::TURNS };
        let mut game = RandomGame::new(seed, kind);
        let expected = minimax(&mut game, Role::new(0));
        let mut think = || {
            let mut search = Puzzle::new(PuzzleOptions::default());
            let report = search.think(&mut game, Role::new(0), &Budget::nodes(100_000));
            Report { seconds: 0.0, ..report }
        };
        let (report, again) = (think(), think());
        prop_assert_eq!(&report, &again);
        prop_assert!(report.is_proven);
        prop_assert_eq!(report.value, expected);
        prop_assert_eq!(play(&game, 100_000).0, expected);
    }

    /// Puzzles without an end are handled.
    #[test]
    fn repeating_positions_are_handled(seed: u64) {
        let kind = Kind { n_players: 1, constant_sum: false, ..Kind::TURNS };
        let kind = Kind { cyclic: true, n_labels: 12, ..kind };
        let mut game = RandomGame::new(seed, kind);
        let mut search = Puzzle::new(PuzzleOptions::default());
        let report = search.think(&mut game, Role::new(0), &Budget::nodes(500));
        prop_assert!(game.is_legal(Role::new(0), &report.best));
    }
}
