//! Alpha-beta agrees with plain minimax, proves what it claims, and does the same every time.

use agon_game::{Position, Role, joint_moves};
use proptest::prelude::*;

use super::*;
use crate::Playouts;
use crate::sample::{Kind, RandomGame, max_n, minimax, shipped};

const EVERYTHING: u64 = 10_000_000;

fn options() -> AlphaBetaOptions {
    AlphaBetaOptions { table_entries: 1 << 12, ..AlphaBetaOptions::default() }
}

fn think<P: Position>(position: &mut P, us: Role, nodes: u64) -> Report<P::Move> {
    AlphaBeta::new(options()).think(position, us, &Budget::nodes(nodes))
}

/// Without the time it took.
fn timeless<M>(report: Report<M>) -> Report<M> {
    Report { seconds: 0.0, ..report }
}

proptest! {
    #![proptest_config(crate::sample::seeded(256))]

    #[test]
    fn finds_the_value_of_minimax(seed: u64, us in 0_usize..2, n_labels in 3_u64..60, chance: bool) {
        let n_steps = if chance { 4 } else { 6 };
        let mut game = RandomGame::new(seed, Kind { n_labels, chance, n_steps, ..Kind::TURNS });
        let us = Role::new(us);
        let judge = minimax(&mut game, us);
        let report = think(&mut game, us, EVERYTHING);
        prop_assert!(report.is_proven);
        prop_assert!((report.value - judge).abs() < 1e-9, "{} {judge}", report.value);
        // The move is worth it, whatever the others do.
        if !chance {
            let home = *game.state();
            let mut least = f64::INFINITY;
            for joint in joint_moves(&game) {
                if joint[us.index()] == report.best {
                    game.advance(&joint);
                    least = least.min(minimax(&mut game, us));
                    game.go_to(&home);
                }
            }
            prop_assert_eq!(least, judge);
        }
    }

    /// With any budget: what is said to be proved is true, and the report is the same again.
    #[test]
    fn claims_nothing_that_is_not_so(seed: u64, nodes in 1_u64..200, us in 0_usize..2) {
        let mut game = RandomGame::new(seed, Kind::TURNS);
        let us = Role::new(us);
        let report = think(&mut game, us, nodes);
        prop_assert!(game.is_legal(us, &report.best));
        if report.is_proven {
            prop_assert_eq!(report.value, minimax(&mut game, us));
        }
        for candidate in report.candidates.iter().filter(|candidate| candidate.is_proven) {
            let home = *game.state();
            let mut least = f64::INFINITY;
            for joint in joint_moves(&game).iter().filter(|joint| joint[us.index()] == candidate.m) {
                game.advance(joint);
                least = least.min(minimax(&mut game, us));
                game.go_to(&home);
            }
            prop_assert_eq!(least, candidate.value);
        }
        let again = think(&mut game, us, nodes);
        prop_assert_eq!(timeless(again), timeless(report));
    }

    /// The same game with more to be had at its ends is never proved to be worth less, by any of the searches.
    #[test]
    fn a_better_position_is_never_proved_worse(seed: u64, nodes in 20_u64..2000) {
        let us = Role::new(0);
        let [plain, better] = [0, 1].map(|bonus| RandomGame::new(seed, Kind { bonus, ..Kind::TURNS }));
        let alpha_beta = [&plain, &better].map(|game| think(&mut game.clone(), us, nodes));
        let best_first = [&plain, &better].map(|game| {
            crate::BestFirst::new(Default::default()).think(&mut game.clone(), us, &Budget::nodes(nodes))
        });
        for [plain, better] in [&alpha_beta, &best_first] {
            prop_assert!(!(plain.is_proven && better.is_proven) || plain.value <= better.value);
        }
        let solved = [&plain, &better].map(|game| {
            crate::solve::solve(game, &Budget::nodes(100_000), &Default::default()).expect("it is small").values[0]
        });
        prop_assert!(solved[0] <= solved[1]);
    }

    #[test]
    fn everybody_for_themselves(seed: u64, us in 0_usize..3) {
        let mut game = RandomGame::new(seed, Kind { n_players: 3, constant_sum: false, ..Kind::TURNS });
        let us = Role::new(us);
        let judge = max_n(&mut game);
        let report = think(&mut game, us, EVERYTHING);
        prop_assert_eq!(report.value, judge[us.index()]);
        prop_assert!(report.is_proven);
    }

    /// Where players move at once, what is proved for a role is no more than it can make sure of.
    #[test]
    fn simultaneous_moves_are_taken_pessimistically(seed: u64) {
        let kind = Kind { simultaneous: true, n_steps: 3, ..Kind::TURNS };
        let mut game = RandomGame::new(seed, kind);
        let solution = crate::solve::solve(&game, &Budget::nodes(100_000), &Default::default());
        let value = solution.expect("it is small").values[0];
        let report = think(&mut game, Role::new(0), EVERYTHING);
        prop_assert!(report.value <= value + 1e-9);
        prop_assert!(!report.is_proven || (report.value - value).abs() < 1e-9);
    }

    /// A won game is won, whatever the other does: no step gives the proved win away.
    #[test]
    fn a_proven_win_is_never_given_away(seed: u64, play: u64) {
        let mut game = RandomGame::new(seed, Kind { n_steps: 8, ..Kind::TURNS });
        let us = Role::new(0);
        let mut search = AlphaBeta::new(options());
        let mut is_won = false;
        let mut step = 0;
        while !game.is_terminal() {
            let report = search.think(&mut game, us, &Budget::nodes(60));
            is_won |= report.is_proven && report.value == 100.0;
            if is_won {
                prop_assert_eq!(report.value, 100.0);
            }
            let theirs = game.legal_moves(Role::new(1));
            let reply = theirs[(crate::hash::fold(play, step) % theirs.len() as u64) as usize];
            game.advance(&[report.best, reply]);
            step += 1;
        }
        prop_assert!(!is_won || game.payoff(us) == 100.0);
    }
}

#[test]
fn shipped_games_are_searched_to_the_end() {
    for (name, value) in [("tic-tac-toe", 50.0), ("nim", 0.0), ("connect-three", 100.0)] {
        let mut position = shipped(name);
        let report = AlphaBeta::new(AlphaBetaOptions::default()).think(
            &mut position,
            Role::new(0),
            &Budget::nodes(2_000_000),
        );
        assert!(
            report.is_proven && report.value == value,
            "{name}: {} {}",
            report.value,
            report.nodes
        );
    }
}

#[test]
fn playouts_as_evaluation_are_repeatable() {
    let mut position = shipped("breakthrough");
    let mut think = || {
        let evaluator = Playouts::new(8, 200, 3);
        let options = AlphaBetaOptions { max_extension: 0, ..options() };
        let mut search = AlphaBeta::with_evaluator(options, evaluator);
        timeless(search.think(&mut position, Role::new(0), &Budget::nodes(300)))
    };
    assert_eq!(think(), think());
}

#[test]
fn it_copes_with_every_shipped_kind() {
    for name in
        ["skirmish", "four-way-tron", "prisoners-dilemma", "dice-race", "peg-solitaire", "pursuit"]
    {
        let mut position = shipped(name);
        for us in position.shape().players().collect::<Vec<_>>() {
            let before = position.key();
            let report = AlphaBeta::new(options()).think(&mut position, us, &Budget::nodes(2000));
            assert!(position.is_legal(us, &report.best), "{name}");
            assert_eq!(position.key(), before, "{name}: it stands where it stood");
        }
    }
}
