//! Random plays of the games that ship by all engines side by side: every state, every legal move, every payoff.
//!
//! `cargo run --release -p agon-toss --example agree -- [PLAYS [NAME...]]`: so many plays of each game, 1000 by default. It ends with a
//! panic at the first difference.

#[path = "../tests/agreement/mod.rs"]
mod engines;

use std::time::Instant;

use engines::{Compared, Plan, compare, open, shipped};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let n_plays: u64 = arguments.next().map_or(1000, |n| n.parse().expect("the number of plays"));
    let wanted: Vec<String> = arguments.collect();
    println!(
        "{:<24} {:>8} {:>10} {:>10} {:>10} {:>9} {:>8}",
        "game", "plays", "states", "by circuit", "by naive", "too long", "seconds"
    );
    for path in shipped() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let began = Instant::now();
        let plan = Plan { seeds: 0..n_plays, max_steps: 10_000, naive_every: 97, naive_steps: 1_000_000 };
        let Compared { n_plays, n_states, n_by_circuit, n_naive, n_too_long } = compare(&open(&path), &plan);
        let seconds = began.elapsed().as_secs_f64();
        println!(
            "{name:<24} {n_plays:>8} {n_states:>10} {n_by_circuit:>10} {n_naive:>10} {n_too_long:>9} {seconds:>8.1}"
        );
    }
}
