//! Positions of plays that go on side by side are judged as each of them is by itself.

use std::sync::Arc;
use std::time::Duration;

use agon_circuit::ScalarCircuit;
use agon_game::{Notation, Position as _, Rng};
use agon_gdl::circuit::CircuitLimits;
use rand::SeedableRng as _;

use super::super::*;
use super::shipped;
use crate::Subject;

/// Plays at random side by side, some plays further on than others, and compares what is said of all legal moves. Returns how many
/// values were not 0.
fn compare<P: Notation + 'static>(
    start: &P,
    heuristics: &ActionHeuristics,
    n_ticks: usize,
) -> usize {
    let network = Arc::new(Network::new(heuristics, Logic::PRODUCT));
    let reader = Reader::new(start, heuristics);
    let mut abreast = Abreast::new(&network).expect("it is not too large");
    let mut alone = Evaluator::new(network);
    let mut seen = Vec::new();
    let mut rng = Rng::seed_from_u64(3);
    let mut joint = Vec::new();
    let mut positions: Vec<P> = vec![start.clone(); Abreast::LANES];
    for (n, position) in positions.iter_mut().enumerate() {
        position.play_out(&mut rng, n % 7);
    }
    let mut n_told = 0;
    for _ in 0..n_ticks {
        for role in start.shape().roles() {
            let asked: Vec<&P> =
                positions.iter().filter(|position| position.legal_moves(role).len() > 1).collect();
            reader.lead_lanes(asked.iter().copied(), role, &mut abreast);
            abreast.work_out(role, asked.len());
            for (lane, position) in asked.iter().enumerate() {
                reader.lead(*position, &mut seen, &mut alone);
                for m in position.legal_moves(role) {
                    let at = reader.move_idx(*position, role, m).expect("it is a move of the role");
                    let value = abreast.lane(role, lane).value(at);
                    assert_eq!(value, alone.value(role, at), "{}", position.move_text(m));
                    n_told += usize::from(value.is_some_and(|value| value > 0.0));
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
    n_told
}

#[test]
fn positions_of_many_games_are_judged_side_by_side_as_alone() {
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
        let subject = Subject::new(Arc::clone(&game), Some(Arc::clone(&compiled)));
        let heuristics = subject.action_heuristics(Wanted::default(), Duration::from_secs(600));
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
        // The interpreter's states are read as text.
        compare(&game.start(), &heuristics, 3);
    }
}
