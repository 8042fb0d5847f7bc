//! Best-first minimax agrees with plain minimax, its proofs are right, and it is deterministic.

use agon_game::{Position, Role};
use proptest::prelude::*;

use super::*;
use crate::sample::{Kind, RandomGame, minimax, shipped};

fn think<P: Position + 'static>(position: &mut P, us: Role, nodes: u64) -> Report<P::Move> {
    BestFirst::new(BestFirstOptions::default()).think(position, us, &Budget::nodes(nodes))
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
        let report = think(&mut game, us, 1_000_000);
        prop_assert!((report.value - expected).abs() < 1e-9, "{} {expected}", report.value);
        prop_assert!(report.is_proven || chance, "rounding may keep bounds of averages apart");
    }

    /// With any budget and any memory limit: proved values are right, and the report is the same
    /// again.
    #[test]
    fn proved_values_are_right(seed: u64, nodes in 1_u64..100, max_nodes in 16_usize..60) {
        let mut game = RandomGame::new(seed, Kind::TURNS);
        let us = Role::new(0);
        let mut run = || {
            let mut search = BestFirst::new(BestFirstOptions { max_nodes, seed: 0 });
            Report { seconds: 0.0, ..search.think(&mut game, us, &Budget::nodes(nodes)) }
        };
        let (report, again) = (run(), run());
        prop_assert!(game.is_legal(us, &report.best));
        prop_assert!(!report.is_proven || report.value == minimax(&mut game, us));
        prop_assert_eq!(report, again);
    }

    #[test]
    fn a_proven_win_is_never_given_away(seed: u64, play: u64) {
        let mut game = RandomGame::new(seed, Kind { n_steps: 8, ..Kind::TURNS });
        let us = Role::new(0);
        let mut search = BestFirst::new(BestFirstOptions { max_nodes: 400, seed: 0 });
        let (mut is_won, mut step) = (false, 0);
        while !game.is_terminal() {
            let report = search.think(&mut game, us, &Budget::nodes(60));
            is_won |= report.is_proven && report.value == 100.0;
            prop_assert!(!is_won || report.value == 100.0);
            let theirs = game.legal_moves(Role::new(1));
            let reply = theirs[(crate::hash::fold(play, step) % theirs.len() as u64) as usize];
            game.advance(&[report.best, reply]);
            step += 1;
        }
        prop_assert!(!is_won || game.payoff(us) == 100.0);
    }

    /// Repeating positions and simultaneous moves are handled.
    #[test]
    fn repeating_positions_and_simultaneous_moves_are_handled(
        seed: u64,
        cyclic: bool,
        simultaneous: bool,
    ) {
        let kind = Kind { cyclic, simultaneous, n_steps: 4, n_labels: 12, ..Kind::TURNS };
        let mut game = RandomGame::new(seed, kind);
        let report = think(&mut game, Role::new(0), 5000);
        prop_assert!(game.is_legal(Role::new(0), &report.best));
        if simultaneous && !cyclic {
            let solution = crate::solve::solve(&game, &Budget::nodes(100_000), &Default::default());
            let value = solution.expect("it is small").values[0];
            prop_assert!(report.value <= value + 1e-9);
            prop_assert!(!report.is_proven || (report.value - value).abs() < 1e-9);
        }
    }
}

#[test]
fn shipped_games() {
    for (name, value) in [("tic-tac-toe", 50.0), ("connect-three", 100.0)] {
        let mut position = shipped(name);
        let report = think(&mut position, Role::new(0), 1_000_000);
        println!("{name}: {} nodes", report.nodes);
        assert!(
            report.is_proven && report.value == value,
            "{name}: {} after {}",
            report.value,
            report.nodes
        );
    }
    for name in ["skirmish", "four-way-tron", "dice-race", "pursuit"] {
        let mut position = shipped(name);
        let before = position.key();
        let us = Role::new(0);
        let report = think(&mut position, us, 2000);
        assert!(position.is_legal(us, &report.best) && position.key() == before, "{name}");
    }
}
