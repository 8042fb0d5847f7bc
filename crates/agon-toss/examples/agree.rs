//! Random plays of the games that ship by all engines side by side: every state, every legal move, every payoff.
//!
//! `cargo run --release -p agon-toss --example agree -- [PLAYS [NAME...]]`: so many plays of each game, 2000 by default, or those with seeds from
//! one number to another, `500..1000`. It ends with a panic at the first difference.
//!
//! The evaluator with sets, the circuit in two ways and its lanes are compared at every state. The definition of truth takes
//! its time, so it is asked at a random sample of the states, one of as many as the board has elements or of `EVERY` if that is in the
//! environment, and gives up on a state where it takes more than a million steps; both are counted. For 2000 plays of chess `EVERY=500`
//! is advised.

#[path = "../tests/agreement/mod.rs"]
mod engines;

use std::time::Instant;

use engines::{Compared, Plan, compare, open, shipped};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let plays = arguments.next().unwrap_or_else(|| "2000".to_owned());
    let (first, end) = plays.split_once("..").unwrap_or(("0", &plays));
    let [first, end] =
        [first, end].map(|n| n.parse::<u64>().expect("plays are a number, or `500..1000`"));
    let every: Option<u32> =
        std::env::var("EVERY").ok().map(|n| n.parse().expect("EVERY is a number"));
    let wanted: Vec<String> = arguments.collect();
    println!(
        "plays, states at which engines were asked, and questions that the definition answered or gave up:"
    );
    println!(
        "{:<24} {:>6} {:>10} {:>10} {:>10} {:>10} {:>9} {:>8} {:>8}",
        "game",
        "plays",
        "by sets",
        "circuits",
        "lanes",
        "definition",
        "answered",
        "gave up",
        "seconds"
    );
    for path in shipped() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let began = Instant::now();
        let game = open(&path);
        let n_elements = game.start_structure().n_elements() as u32;
        let naive_every = every.unwrap_or(n_elements).max(1);
        let plan =
            Plan { seeds: first..end, max_steps: 10_000, naive_every, naive_steps: 1_000_000 };
        let show = |compared: &Compared| {
            format!(
                "{name:<24} {:>6} {:>10} {:>10} {:>10} {:>10} {:>9} {:>8} {:>8.1}",
                compared.n_plays,
                compared.n_states,
                compared.n_by_circuit,
                compared.n_by_lanes,
                compared.n_states_naive,
                compared.n_naive,
                compared.n_too_long,
                began.elapsed().as_secs_f64()
            )
        };
        let compared = compare(&game, &plan, |compared| {
            if compared.n_plays.is_multiple_of(100) {
                eprintln!("{}", show(compared));
            }
        });
        println!("{}", show(&compared));
    }
}
