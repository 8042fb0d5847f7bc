//! Circuits of the games that ship: how large, how long to make, and random plays per second of processor time by lanes, circuit and
//! interpreter.
//!
//! `cargo run --release -p agon-toss --example circuits [-- NAME...]`

use std::sync::Arc;
use std::time::{Duration, Instant};

#[path = "clock/mod.rs"]
mod clock;

use agon_circuit::Deadline;
use agon_game::{Order, Position, Rng};
use agon_text::Source;
use agon_toss::check::check;
use agon_toss::circuit::CircuitLimits;
use agon_toss::interpreter::{Game, Options};
use rand::SeedableRng as _;

fn main() {
    let folder = format!("{}/../../games/toss", env!("CARGO_MANIFEST_DIR"));
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .expect("the games are there")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "toss"))
        .collect();
    paths.sort();
    println!(
        "{:<24} {:>9} {:>9} {:>6} {:>8} {:>12} {:>12} {:>12}",
        "game", "raw gates", "gates", "exact", "made s", "lanes/s", "circuit/s", "interpr./s"
    );
    for path in paths {
        let name =
            path.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().into_owned());
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("the game can be read");
        let Some(arena) = check(Arc::new(Source::new(&name, &text))).arena else {
            println!("{name:<24} does not check");
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
                    "{name:<24} {raw:>9} {gates:>9} {exact:>6} {made:>8.1} {lanes:>12.0} {fast:>12.1} {slow:>12.1}"
                );
            }
            Err(why) => println!("{name:<24} {why} (after {:.1} s)", start.elapsed().as_secs_f64()),
        }
    }
}

/// Random plays per second, 256 at a time, over two seconds at least.
fn in_lanes<P: Position>(start: &P) -> f64 {
    let Some(mut batch) = start.batch(1) else { return 0.0 };
    let order =
        |n_playouts| [Order { state: start.state().clone(), n_playouts, expected_steps: 0 }];
    batch.play_out(&order(256), 10_000);
    let (began, cpu) = (Instant::now(), clock::cpu_seconds());
    let mut n_plays = 0;
    while began.elapsed() < Duration::from_secs(2) {
        n_plays += batch.play_out(&order(2048), 10_000)[0].n_playouts;
    }
    n_plays as f64 / (clock::cpu_seconds() - cpu)
}

/// Random plays per second, over two seconds at least; plays are cut at 1000 steps.
fn plays<P: Position>(start: &P) -> f64 {
    let mut rng = Rng::seed_from_u64(1);
    let mut position = start.clone();
    let (began, cpu) = (Instant::now(), clock::cpu_seconds());
    let mut n_plays = 0;
    while began.elapsed() < Duration::from_secs(2) {
        position.go_to(start.state());
        position.play_out(&mut rng, 1000);
        n_plays += 1;
    }
    f64::from(n_plays) / (clock::cpu_seconds() - cpu)
}
