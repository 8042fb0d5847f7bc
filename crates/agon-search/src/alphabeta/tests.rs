//! Alpha-beta agrees with plain minimax, its proofs are right, and it is deterministic.

use agon_game::{Notation as _, Position, Role, joint_moves};
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

/// Returns the report without its duration.
fn timeless<M>(report: Report<M>) -> Report<M> {
    Report { seconds: 0.0, ..report }
}

proptest! {
    #![proptest_config(crate::sample::seeded(256))]

    #[test]
    fn finds_the_value_of_minimax(
        seed: u64,
        us in 0_usize..2,
        n_labels in 3_u64..60,
        chance: bool,
    ) {
        let n_steps = if chance { 4 } else { 6 };
        let mut game = RandomGame::new(seed, Kind { n_labels, chance, n_steps, ..Kind::TURNS });
        let us = Role::new(us);
        let expected = minimax(&mut game, us);
        let report = think(&mut game, us, EVERYTHING);
        prop_assert!(report.is_proven);
        prop_assert!((report.value - expected).abs() < 1e-9, "{} {expected}", report.value);
        // The move guarantees the value against every reply.
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
            prop_assert_eq!(least, expected);
        }
    }

    /// With any budget: proved values are right, and the report is the same again.
    #[test]
    fn proved_values_are_right(seed: u64, nodes in 1_u64..200, us in 0_usize..2) {
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
            let joints = joint_moves(&game);
            for joint in joints.iter().filter(|joint| joint[us.index()] == candidate.m) {
                game.advance(joint);
                least = least.min(minimax(&mut game, us));
                game.go_to(&home);
            }
            prop_assert_eq!(least, candidate.value);
        }
        let again = think(&mut game, us, nodes);
        prop_assert_eq!(timeless(again), timeless(report));
    }

    /// A game with higher payoffs is never proved to be worth less, by any of the searches.
    #[test]
    fn a_better_position_is_never_proved_worse(seed: u64, nodes in 20_u64..2000) {
        let us = Role::new(0);
        let with_bonus = |bonus| RandomGame::new(seed, Kind { bonus, ..Kind::TURNS });
        let [plain, better] = [0, 1].map(with_bonus);
        let alpha_beta = [&plain, &better].map(|game| think(&mut game.clone(), us, nodes));
        let best_first = [&plain, &better].map(|game| {
            let budget = Budget::nodes(nodes);
            crate::BestFirst::new(Default::default()).think(&mut game.clone(), us, &budget)
        });
        for [plain, better] in [&alpha_beta, &best_first] {
            prop_assert!(!(plain.is_proven && better.is_proven) || plain.value <= better.value);
        }
        let solved = [&plain, &better].map(|game| {
            let budget = Budget::nodes(100_000);
            let solved = crate::solve::solve(game, &budget, &Default::default());
            solved.expect("the game is small").values[0]
        });
        prop_assert!(solved[0] <= solved[1]);
    }

    #[test]
    fn finds_the_values_of_max_n(seed: u64, us in 0_usize..3) {
        let kind = Kind { n_players: 3, constant_sum: false, ..Kind::TURNS };
        let mut game = RandomGame::new(seed, kind);
        let us = Role::new(us);
        let expected = max_n(&mut game);
        let report = think(&mut game, us, EVERYTHING);
        prop_assert_eq!(report.value, expected[us.index()]);
        prop_assert!(report.is_proven);
    }

    /// With simultaneous moves, a proved value is not more than the role can guarantee.
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

    /// A proved win is never lost, whatever the opponent plays.
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

/// Returns the texts of the moves that are chosen with these options and the seeds 0 to 19.
fn chosen(name: &str, before: &[&str], options: &AlphaBetaOptions) -> Vec<String> {
    let mut position = shipped(name);
    for text in before {
        let mut joint = Vec::new();
        for role in position.shape().roles() {
            let moves = position.legal_moves(role);
            let own = moves.iter().find(|m| position.move_text(m) == *text);
            joint.push(*own.unwrap_or(&moves[0]));
        }
        position.advance(&joint);
    }
    let us = position.choosers().next().expect("a role has a choice");
    let think = |seed| {
        let options = AlphaBetaOptions { seed, ..options.clone() };
        let mut search = AlphaBeta::new(options);
        let report = search.think(&mut position.clone(), us, &Budget::nodes(EVERYTHING));
        position.move_text(&report.best)
    };
    (0..20).map(think).collect()
}

/// With depth 1 the moves of an empty board are equal, and each is chosen with some seed.
#[test]
fn equal_moves_are_chosen_at_random_by_the_seed() {
    let with = |ties| {
        let options = AlphaBetaOptions { max_depth: 1, ties, ..options() };
        chosen("tic-tac-toe", &[], &options)
    };
    for ties in [TieBreak::Random, TieBreak::Reachable] {
        let moves = with(ties);
        let different: std::collections::BTreeSet<&String> = moves.iter().collect();
        assert!(different.len() >= 5, "{ties:?}: {moves:?}");
        assert_eq!(moves, with(ties), "the seed decides");
    }
    let first = with(TieBreak::First);
    assert!(first.iter().all(|m| *m == first[0]), "{first:?}");
}

/// Three steps before a win that needs the help of the opponent: moves that begin a line are
/// preferred, although the opponent can block all of them.
#[test]
fn equal_moves_are_told_apart_by_what_can_be_reached() {
    let options = AlphaBetaOptions { max_depth: 3, max_extension: 0, ..options() };
    let before = ["(mark 1 1)", "(mark 2 2)"];
    let moves = chosen("tic-tac-toe", &before, &options);
    let begin_a_line = ["(mark 1 2)", "(mark 1 3)", "(mark 2 1)", "(mark 3 1)"];
    assert!(moves.iter().all(|m| begin_a_line.contains(&m.as_str())), "{moves:?}");
    let random = AlphaBetaOptions { ties: TieBreak::Random, ..options };
    let moves = chosen("tic-tac-toe", &before, &random);
    assert!(moves.iter().any(|m| !begin_a_line.contains(&m.as_str())), "{moves:?}");
}
