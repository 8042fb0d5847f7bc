//! Random playouts of tic-tac-toe per second, by every way of running them.
//!
//! `cargo run --release -p agon-circuit --example playouts [SECONDS]`

#[path = "../src/tests/games.rs"]
mod games;

use std::sync::Arc;
use std::time::Instant;

use agon_circuit::optimise::optimise;
use agon_circuit::{Backend, BatchCircuit, BatchOptions, ScalarCircuit, Turns};
use agon_game::{Batch, Order, Position, Rng, Role};
use rand::SeedableRng;

/// Seconds that this thread has run: on a busy machine the wall clock tells nothing.
fn cpu_seconds(since: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = stat.split(' ').next().and_then(|field| field.parse::<f64>().ok());
    nanoseconds.map_or(since.elapsed().as_secs_f64(), |n| n * 1e-9)
}

fn main() {
    let clock = Instant::now();
    let seconds: f64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let naive = games::tic_tac_toe();
    let (circuit, reports) = optimise(&naive);
    for report in &reports {
        println!(
            "{:10} {:6} -> {:6} gates in {:.6} s",
            report.name, report.gates_before, report.gates_after, report.seconds
        );
    }
    let circuit = Arc::new(circuit);
    let start = ScalarCircuit::new(Arc::clone(&circuit));

    let mut rng = Rng::seed_from_u64(1);
    let (start_time, mut n, mut n_steps) = (cpu_seconds(clock), 0_u64, 0);
    let mut position = start.clone();
    while cpu_seconds(clock) - start_time < seconds {
        position.go_to(start.state());
        n_steps += position.play_out(&mut rng, 100);
        n += 1;
    }
    let elapsed = cpu_seconds(clock) - start_time;
    println!(
        "{:42} {:>14.0} playouts/s, length {:.3}",
        "scalar",
        n as f64 / elapsed,
        n_steps as f64 / n as f64
    );

    let waits = vec![(0..10).map(|m| m == 9).collect(); 2];
    for backend in [Backend::Portable, Backend::Native] {
        for (name, turn_taking, turns) in [
            ("a tree per role", false, None),
            ("shared draw", true, None),
            ("shared tree", true, Some(Turns { waits: waits.clone() })),
        ] {
            let mut shape = circuit.shape();
            shape.turn_taking = turn_taking;
            let options = BatchOptions { backend, turns, seed: 1 };
            let build_start = cpu_seconds(clock);
            let mut batch = BatchCircuit::new(Arc::clone(&circuit), shape, options);
            let (n_operations, native) = batch.playout_size();
            let build = cpu_seconds(clock) - build_start;
            let mut order =
                Order { state: start.state().clone(), n_playouts: 100_000, expected_steps: 0 };
            let (mut elapsed, mut tally) = (0.0, None);
            while elapsed < seconds {
                order.n_playouts *= 2;
                let batch_start = cpu_seconds(clock);
                tally = batch.play_out(std::slice::from_ref(&order), 1000).pop();
                elapsed = cpu_seconds(clock) - batch_start;
            }
            let tally = tally.expect("one order, one tally");
            println!(
                "{:42} {:>14.0} playouts/s, length {:.3}, x {:.3}, {n_operations} operations, {native:?}, built in {build:.4} s",
                format!("{backend:?}, {name}"),
                tally.n_playouts as f64 / elapsed,
                tally.mean_length(),
                tally.mean_payoff(Role::new(0)),
            );
        }
    }
}
