//! Regressed goals give the same values to a batch of positions as to each position by itself.

use std::sync::Arc;

use agon_analysis::Analysis;
use agon_analysis::regression::HeuristicRequest;
use agon_game::{Notation, Rng};
use agon_gdl::circuit::CircuitLimits;
use agon_search::{ActionValues, Budget};
use rand::SeedableRng as _;

use super::action_heuristic;
use crate::test_games::gdl_game;

/// Follows random playouts side by side, more of them than fit into a batch, and compares the
/// values. Returns the number of positions that have values.
fn compare<P: Notation + 'static>(
    analysis: &Analysis,
    start: &P,
    n_playouts: usize,
    n_steps: usize,
) -> usize {
    let make = || {
        let request = HeuristicRequest::default();
        action_heuristic(analysis, request, start, &Budget::iterations(1))
            .expect("the game has a heuristic")
    };
    let (mut batch, mut sequential) = (make(), make());
    let mut rng = Rng::seed_from_u64(5);
    let mut positions = vec![start.clone(); n_playouts];
    let (mut rated, mut values, mut joint) = (ActionValues::default(), Vec::new(), Vec::new());
    let mut n_rated = 0;
    for step in 0..n_steps {
        for role in start.shape().roles() {
            let asked: Vec<usize> =
                (0..n_playouts).filter(|&at| positions[at].legal_moves(role).len() > 1).collect();
            batch.values_of_many(&positions, &asked, role, &mut rated);
            assert_eq!(rated.len(), asked.len());
            for (place, &at) in asked.iter().enumerate() {
                let moves = positions[at].legal_moves(role);
                let is_rated = sequential.values(&positions[at], role, moves, &mut values);
                assert_eq!(!rated.of(place).is_empty(), is_rated);
                if is_rated {
                    n_rated += 1;
                    assert_eq!(rated.of(place).len(), values.len());
                    for (found, expected) in rated.of(place).iter().zip(&values) {
                        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
                    }
                }
            }
        }
        for position in &mut positions {
            if position.is_terminal() {
                position.go_to(start.state());
            }
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
        }
        // Both heuristics fold in what can no longer change.
        if step == n_steps / 2 && !positions[0].is_terminal() {
            let home = positions[0].clone();
            batch.commit(&home);
            sequential.commit(&home);
            positions.fill(home);
        }
    }
    n_rated
}

#[test]
fn a_batch_has_the_values_of_its_positions() {
    for name in ["tic-tac-toe", "connect-four", "breakthrough", "bidding-tic-tac-toe"] {
        let game = gdl_game(name);
        let compiled =
            Arc::new(game.compile(&CircuitLimits::default()).expect("the game can be compiled"));
        let analysis = Analysis::new(Arc::clone(&game), Some(Arc::clone(&compiled)));
        assert!(compare(&analysis, &compiled.start(), 37, 24) > 0, "{name}");
        // The interpreter is too slow for long playouts, and some openings have no values.
        compare(&analysis, &game.start(), 3, 4);
    }
}
