//! Compares all engines on random plays of the shipped games: every state, every legal move, every
//! payoff.
//!
//! `cargo xtask agree [PLAYS [NAME...]]` makes this number of plays of each game, 2000 by default,
//! or those with seeds in a range, `500..1000`. It panics at the first difference.
//!
//! The interpreter, the circuit with two executors and the batch circuit are compared at every
//! state. The naive evaluator is slow, so it is compared at a random sample of states: one of as
//! many as the board has elements, or of `EVERY` if that environment variable is set. It gives up
//! on a state after a million steps. Both are counted. `EVERY=500` is recommended for 2000 plays of
//! chess.

// The comparison is that of the tests. This task runs more of it.
#[path = "../../crates/agon-toss/tests/suite/engines.rs"]
mod engines;

use std::time::Instant;

use agon_game::Position as _;
use agon_testkit::files;
use engines::{Compared, Plan, compare, open};

pub(crate) fn run(args: Vec<String>) {
    let mut arguments = args.into_iter();
    let plays = arguments.next().unwrap_or_else(|| "2000".to_owned());
    let (first, end) = plays.split_once("..").unwrap_or(("0", &plays));
    let [first, end] =
        [first, end].map(|n| n.parse::<u64>().expect("plays are a number, or `500..1000`"));
    let every: Option<u32> =
        std::env::var("EVERY").ok().map(|n| n.parse().expect("EVERY is a number"));
    let wanted: Vec<String> = arguments.collect();
    println!("plays, compared states, and queries that the naive evaluator answered or gave up:");
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
    for path in files::games("toss") {
        let name = files::stem(&path);
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let began = Instant::now();
        let game = open(&path);
        // Continuous games have one engine: neither circuits nor the naive evaluator know time.
        if game.start().shape().continuous {
            continue;
        }
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
                compared.n_by_batch,
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
