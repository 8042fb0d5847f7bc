//! Compiled games: all positions and batches share their code.

use agon_game::{Children, PlayoutRequest, Position, Rng, Shape, TerminalChildren};
use rand::SeedableRng;

use super::{games, handmade};
use crate::native::{is_available, n_generated};
use crate::{
    Circuit, Compiled, Deadline, Executor, GroundCircuit, Grounding, ScalarCircuit, compile,
    prove_turns,
};

fn compiled(circuit: &Circuit) -> Compiled {
    let circuit = circuit.clone();
    let shape = circuit.shape();
    let ground = GroundCircuit { circuit, candidates: Vec::new(), grounding: Grounding::default() };
    compile(ground, Deadline::NEVER, |turns| Shape { turn_taking: turns.is_some(), ..shape })
}

/// Uses everything for which a search generates code.
fn use_batch(position: &ScalarCircuit) -> Vec<agon_game::PlayoutStats> {
    let mut batch = position.batch(5).expect("circuits have batches");
    let mut children = Children::new(position.shape().roles().count());
    let mut ends = TerminalChildren::default();
    batch.expand(&[position.state()], &mut children);
    batch.look_ahead(&[position.state()], &mut ends);
    let starts = [position.state()].into_iter().chain(&children.states);
    let requests: Vec<_> = starts
        .map(|state| PlayoutRequest { state: state.clone(), n_playouts: 3, expected_steps: 0 })
        .collect();
    batch.play_out(&requests[..1], 1000);
    batch.play_out(&requests, 1000)
}

#[test]
fn code_is_generated_once_per_compiled_game() {
    let mut executors = Vec::new();
    for circuit in handmade() {
        let game = compiled(&circuit);
        let first = game.start();
        executors.push(first.executor());
        let results = use_batch(&first);
        let before = n_generated();
        assert!(before > 0 || !is_available(), "batches are native code where that is available");
        for _ in 0..3 {
            let mut again = game.start();
            again.play_out(&mut Rng::seed_from_u64(1), 1000);
            let start = game.start();
            assert_eq!(use_batch(&start), results);
            assert_eq!(use_batch(&start.clone()), results);
        }
        assert_eq!(n_generated(), before, "all starts and batches share the code");
    }
    let is_native = executors.contains(&Executor::Native);
    assert_eq!(is_native, is_available(), "some game is played by native code");
}

#[test]
fn positions_with_native_code_share_it() {
    let game = compiled(&games::tic_tac_toe());
    let circuit = std::sync::Arc::clone(&game.circuit);
    let start = ScalarCircuit::with_executor(circuit, game.shape().clone(), Executor::Native);
    let before = n_generated();
    let mut copy = start.clone();
    copy.play_out(&mut Rng::seed_from_u64(1), 1000);
    assert_eq!(n_generated(), before);
}

#[test]
fn a_new_shape_is_that_of_new_positions() {
    let mut game = compiled(&games::tic_tac_toe());
    let before = game.start();
    game.set_shape(Shape { constant_sum: Some(100.0), ..game.shape().clone() });
    assert_eq!(before.shape().constant_sum, None);
    assert_eq!(game.start().shape().constant_sum, Some(100.0));
    assert_eq!(game.turns, prove_turns(&game.circuit));
    assert!(game.circuit.n_gates() < game.n_raw_gates);
}
