//! Random playouts of tic-tac-toe per second, by every way of running them.
//!
//! `cargo run --release -p agon-circuit --example playouts [SECONDS]`

#[path = "../src/tests/games.rs"]
mod games;

use std::sync::Arc;
use std::time::Instant;

use agon_circuit::optimise::optimise;
use agon_circuit::{Backend, Batch, BatchCircuit, BatchOptions, Order, ScalarCircuit, Turns};
use agon_game::{Position, Rng, Role};
use rand::SeedableRng;

fn main() {
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
    let (clock, mut n, mut n_steps) = (Instant::now(), 0_u64, 0);
    let mut position = start.clone();
    while clock.elapsed().as_secs_f64() < seconds {
        position.go_to(start.state());
        n_steps += position.play_out(&mut rng, 100);
        n += 1;
    }
    let elapsed = clock.elapsed().as_secs_f64();
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
            let clock = Instant::now();
            let mut batch = BatchCircuit::new(Arc::clone(&circuit), shape, options);
            let (n_operations, native) = batch.playout_size();
            let build = clock.elapsed().as_secs_f64();
            let mut order = Order { state: start.state().clone(), n_playouts: 100_000 };
            let (mut elapsed, mut tally) = (0.0, None);
            while elapsed < seconds {
                order.n_playouts *= 2;
                let clock = Instant::now();
                tally = batch.play_out(std::slice::from_ref(&order), 1000).pop();
                elapsed = clock.elapsed().as_secs_f64();
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
