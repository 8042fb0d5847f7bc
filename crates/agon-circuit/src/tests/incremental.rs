//! Playouts that are made a few steps per call.

use std::sync::Arc;

use agon_game::{Batch, Children, PlayoutRequest, PlayoutStats, Rng, SequentialBatch};
use rand::SeedableRng;

use super::batch::walks;
use super::handmade;
use super::rejecting::{fussy_walk, strict_nim};
use crate::{BatchCircuit, BatchOptions, Bits, Circuit, Input, ScalarCircuit};

/// Returns more requests than there are lanes, some of them for no playouts.
fn requests(circuit: &Circuit) -> Vec<PlayoutRequest<Bits>> {
    let states = walks(circuit, 3);
    let states = states.iter().cycle().take(300).zip(0_u64..);
    states
        .map(|(state, i)| PlayoutRequest {
            state: state.clone(),
            n_playouts: i % 7 * (i % 5),
            expected_steps: 3 * (i % 4) as u32,
        })
        .collect()
}

/// Runs playouts by `n_steps` steps per call, with other work in between. Returns the results and
/// the number of calls.
fn run_by_steps<B: Batch<State = Bits, Move = Input>>(
    batch: &mut B,
    requests: &[PlayoutRequest<Bits>],
    n_steps: u64,
    n_roles: usize,
) -> (Vec<PlayoutStats>, u64) {
    let (mut stats, mut children, mut n_calls) = (Vec::new(), Children::new(n_roles), 1);
    batch.begin(requests, 40);
    while !batch.step(n_steps) {
        batch.expand(&[&requests[0].state], &mut children);
        n_calls += 1;
    }
    assert!(batch.step(1), "a completed batch stays complete");
    batch.finish(&mut stats);
    (stats, n_calls)
}

fn circuits() -> Vec<Arc<Circuit>> {
    handmade().into_iter().chain([strict_nim(40, 3), fussy_walk()]).map(Arc::new).collect()
}

#[test]
fn batches_do_not_depend_on_steps_per_call() {
    for circuit in circuits() {
        let requests = requests(&circuit);
        let batch = || {
            let options = BatchOptions { seed: 3, ..BatchOptions::default() };
            BatchCircuit::new(Arc::clone(&circuit), circuit.shape(), options)
        };
        let at_once = batch().play_out(&requests, 40);
        assert!(
            requests
                .iter()
                .zip(&at_once)
                .all(|(request, stats)| stats.n_playouts == request.n_playouts)
        );
        for n_steps in [1, 2, 7, 1000] {
            let (stats, n_calls) =
                run_by_steps(&mut batch(), &requests, n_steps, circuit.roles.len());
            assert_eq!(stats, at_once, "{n_steps} steps per call");
            assert!(n_steps > 7 || n_calls > 2, "{n_steps} steps per call take several calls");
        }
        // New requests replace playouts that are not complete.
        let mut batch = batch();
        batch.begin(&requests, 40);
        batch.step(3);
        let few = &requests[8..9];
        assert_eq!(batch.play_out(few, 40)[0].n_playouts, few[0].n_playouts);
    }
}

#[test]
fn sequential_batches_do_not_depend_on_steps_per_call() {
    for circuit in circuits() {
        let requests = requests(&circuit);
        let batch = || {
            SequentialBatch::new(ScalarCircuit::new(Arc::clone(&circuit)), Rng::seed_from_u64(3))
        };
        let at_once = batch().play_out(&requests, 40);
        assert!(
            requests
                .iter()
                .zip(&at_once)
                .all(|(request, stats)| stats.n_playouts == request.n_playouts)
        );
        for n_steps in [1, 50] {
            let (stats, n_calls) =
                run_by_steps(&mut batch(), &requests, n_steps, circuit.roles.len());
            assert_eq!(stats, at_once, "{n_steps} steps per call");
            assert!(n_calls > 2, "{n_steps} steps per call take several calls");
        }
    }
}
