//! Prints what playouts that look ahead cost.

use agon_circuit::ScalarCircuit;
use agon_game::{PlayoutKind, PlayoutRequest, Position, Role};

use super::Plan;
use crate::clock::thread_seconds;
use crate::rulesheets::shipped;

/// Prints for each game and kind of playout: the kind that is used, the seconds to build its code,
/// playouts per second of processor time and the ratio to uniform ones, the mean length, and the
/// mean payoff of the first role.
pub(super) fn kinds(plan: &Plan) {
    println!(
        "{:24} {:9} {:9} {:>7} {:>10} {:>6} {:>7} {:>7}",
        "game", "kind", "used", "build s", "playouts/s", "times", "length", "payoff"
    );
    for name in &plan.games {
        let start = shipped(name);
        let mut plain = 0.0;
        for kind in [PlayoutKind::Uniform, PlayoutKind::Decisive, PlayoutKind::Careful] {
            let cost = measure(&start, kind, plan.ms as f64 / 1000.0);
            if kind == PlayoutKind::Uniform {
                plain = cost.rate;
            }
            println!(
                "{name:24} {:9} {:9} {:7.2} {:10.0} {:6.2} {:7.1} {:7.1}",
                format!("{kind:?}"),
                format!("{:?}", cost.used),
                cost.build_seconds,
                cost.rate,
                cost.rate / plain,
                cost.length,
                cost.payoff
            );
        }
    }
}

struct Cost {
    used: PlayoutKind,
    build_seconds: f64,
    rate: f64,
    length: f64,
    payoff: f64,
}

fn measure(start: &ScalarCircuit, kind: PlayoutKind, seconds: f64) -> Cost {
    let mut batch = start.batch(1).expect("circuits play in batches");
    let began = thread_seconds();
    let used = batch.set_playouts(kind);
    // Two states, so that the code is that of a search.
    let mut other = start.clone();
    let joint: Vec<_> = start.shape().roles().map(|role| start.legal_moves(role)[0]).collect();
    other.advance(&joint);
    let request = |position: &ScalarCircuit, n_playouts| PlayoutRequest {
        state: position.state().clone(),
        n_playouts,
        expected_steps: 0,
    };
    batch.play_out(&[request(start, 256), request(&other, 1)], 1000);
    let build_seconds = thread_seconds() - began;
    let (began, mut n_playouts, mut n_steps, mut payoff) = (thread_seconds(), 0, 0, 0.0);
    while thread_seconds() - began < seconds {
        let stats = batch.play_out(&[request(start, 8192), request(&other, 1)], 1000).remove(0);
        n_playouts += stats.n_playouts;
        n_steps += stats.n_steps;
        payoff += stats.payoff_sums[Role::new(0).index()];
    }
    let n = n_playouts as f64;
    let rate = n / (thread_seconds() - began);
    Cost { used, build_seconds, rate, length: n_steps as f64 / n, payoff: payoff / n }
}
