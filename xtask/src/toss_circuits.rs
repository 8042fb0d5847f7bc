//! Measures the circuits of the shipped games: size, compile time, and random plays per second of
//! processor time by batch circuit, circuit and interpreter.
//!
//! `cargo xtask toss-circuits [NAME...]`

use std::time::{Duration, Instant};

use agon_circuit::Deadline;
use agon_game::{PlayoutRequest, Position, Rng};
use agon_testkit::files;
use agon_toss::check::check;
use agon_toss::circuit::CircuitLimits;
use agon_toss::interpreter::{Game, Options};
use rand::SeedableRng as _;

use crate::clock::process_seconds;

pub(crate) fn run(wanted: Vec<String>) {
    println!(
        "{:<24} {:>9} {:>9} {:>6} {:>8} {:>12} {:>12} {:>12}",
        "game", "raw gates", "gates", "exact", "made s", "lanes/s", "circuit/s", "interpr./s"
    );
    for path in files::games("toss") {
        let name = files::stem(&path);
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let Some(arena) = check(files::source(&path)).arena else {
            println!("{name:<24} has errors");
            continue;
        };
        let game = match Game::open(arena, Options::default()) {
            Ok(game) => game,
            Err(finding) => {
                println!("{name:<24} {}", finding.message);
                continue;
            }
        };
        let start = Instant::now();
        let limit = Deadline::new(Some(start + Duration::from_secs(120)));
        match game.compile(&CircuitLimits::default(), limit) {
            Ok(compiled) => {
                let made = start.elapsed().as_secs_f64();
                let lanes = in_lanes(&compiled.start());
                let fast = plays(&compiled.start());
                let slow = plays(&game.start());
                let (raw, gates) = (compiled.n_raw_gates, compiled.circuit.n_gates());
                let exact = if compiled.circuit.is_exact() { "yes" } else { "no" };
                println!(
                    "{name:<24} {raw:>9} {gates:>9} {exact:>6} {made:>8.1} {lanes:>12.0} \
                     {fast:>12.1} {slow:>12.1}"
                );
            }
            Err(why) => println!("{name:<24} {why} (after {:.1} s)", start.elapsed().as_secs_f64()),
        }
    }
}

/// Returns random plays per second, 256 at a time, over at least two seconds.
fn in_lanes<P: Position>(start: &P) -> f64 {
    let Some(mut batch) = start.batch(1) else { return 0.0 };
    let requests = |n_playouts| {
        [PlayoutRequest { state: start.state().clone(), n_playouts, expected_steps: 0 }]
    };
    batch.play_out(&requests(256), 10_000);
    let (began, cpu) = (Instant::now(), process_seconds());
    let mut n_plays = 0;
    while began.elapsed() < Duration::from_secs(2) {
        n_plays += batch.play_out(&requests(2048), 10_000)[0].n_playouts;
    }
    n_plays as f64 / (process_seconds() - cpu)
}

/// Returns random plays per second, over at least two seconds. Plays are cut off at 1000 steps.
fn plays<P: Position>(start: &P) -> f64 {
    let mut rng = Rng::seed_from_u64(1);
    let mut position = start.clone();
    let (began, cpu) = (Instant::now(), process_seconds());
    let mut n_plays = 0;
    while began.elapsed() < Duration::from_secs(2) {
        position.go_to(start.state());
        position.play_out(&mut rng, 1000);
        n_plays += 1;
    }
    f64::from(n_plays) / (process_seconds() - cpu)
}
