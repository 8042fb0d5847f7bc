//! Evaluating positions in a batch gives the same values as evaluating each of them alone.

use std::sync::Arc;
use std::time::Duration;

use agon_circuit::ScalarCircuit;
use agon_game::{Notation, Position as _, Rng};
use agon_gdl::circuit::CircuitLimits;
use rand::SeedableRng as _;

use super::super::*;
use super::shipped;
use crate::Analysis;

/// Plays randomly in all lanes, with some plays ahead of others, and compares the values of all
/// legal moves. Returns the number of values that were not 0.
fn compare<P: Notation + 'static>(
    start: &P,
    heuristics: &ActionHeuristics,
    n_steps: usize,
) -> usize {
    let network = Arc::new(Network::new(heuristics, Logic::PRODUCT));
    let reader = Reader::new(start, heuristics);
    let mut batch = BatchEvaluator::new(&network).expect("it is not too large");
    let mut alone = Evaluator::new(network);
    let mut seen = Vec::new();
    let mut rng = Rng::seed_from_u64(3);
    let mut joint = Vec::new();
    let mut positions: Vec<P> = vec![start.clone(); BatchEvaluator::LANES];
    for (n, position) in positions.iter_mut().enumerate() {
        position.play_out(&mut rng, n % 7);
    }
    let mut n_nonzero = 0;
    for _ in 0..n_steps {
        for role in start.shape().roles() {
            let asked: Vec<&P> =
                positions.iter().filter(|position| position.legal_moves(role).len() > 1).collect();
            reader.update_lanes(asked.iter().copied(), role, &mut batch);
            batch.evaluate(role, asked.len());
            for (lane, position) in asked.iter().enumerate() {
                reader.update_evaluator(*position, &mut seen, &mut alone);
                for m in position.legal_moves(role) {
                    let at = reader.move_idx(*position, role, m).expect("it is a move of the role");
                    let value = batch.lane(role, lane).value(at);
                    assert_eq!(value, alone.value(role, at), "{}", position.move_text(m));
                    n_nonzero += usize::from(value.is_some_and(|value| value > 0.0));
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
    }
    n_nonzero
}

#[test]
fn a_batch_of_positions_has_the_values_of_single_evaluations() {
    for name in [
        "tic-tac-toe",
        "connect-four",
        "breakthrough",
        "bidding-tic-tac-toe",
        "sheep-and-wolf",
        "blocker",
    ] {
        let game = shipped(name);
        let compiled =
            Arc::new(game.compile(&CircuitLimits::default()).expect("shipped games are compiled"));
        let analysis = Analysis::new(Arc::clone(&game), Some(Arc::clone(&compiled)));
        let heuristics =
            analysis.action_heuristics(HeuristicRequest::default(), Duration::from_secs(600));
        let heuristics = heuristics.unwrap_or_else(|why| panic!("{name}: {why}"));
        let start: ScalarCircuit = compiled.start();
        assert!(compare(&start, &heuristics, 60) > 0, "{name}");
        let mut later = start.clone();
        later.play_out(&mut Rng::seed_from_u64(1), 4);
        if !later.is_terminal() {
            let mut state = Vec::new();
            Reader::new(&later, &heuristics).state(&later, &mut state);
            let folded = heuristics.folded(&|fluent| state[fluent / 64] >> (fluent % 64) & 1 == 1);
            compare(&later, &folded, 30);
        }
        // States of the interpreter are read as text.
        compare(&game.start(), &heuristics, 3);
    }
}
