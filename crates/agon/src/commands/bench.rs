//! `agon bench`: how fast random games are played, engine by engine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_circuit::{Backend, BatchCircuit, BatchOptions, Bits};
use agon_game::{Batch as _, Order, Position, Rng};
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::engine::Compiled;
use rand::SeedableRng as _;
use serde_json::json;

use crate::commands::ground::peak_mb;
use crate::failure::Failure;
use crate::open::{self, RuleOptions};
use crate::terminal::say;

/// Measure random playouts per second, engine by engine, one thread.
#[derive(clap::Args)]
#[command(after_help = "\
Engines: interpreter (the rules as they stand), circuit (one game at a time), lanes (256 games at a time, native code
where the processor has AVX2), portable (256 games at a time, without native code).

Examples:
  agon bench connect-four breakthrough
  agon bench connect-four --engine lanes --seconds 5 --json")]
pub(crate) struct Args {
    /// Shipped games' names or paths of rulesheets
    #[arg(required = true)]
    games: Vec<String>,
    /// The engine to measure; all of them if not given
    #[arg(long, value_enum)]
    engine: Option<Measured>,
    /// How long to measure each
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Seed of the random playouts
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Playouts longer than this are cut off
    #[arg(long, default_value_t = 10_000)]
    max_steps: usize,
    /// One JSON object per game and engine
    #[arg(long)]
    json: bool,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Measured {
    Interpreter,
    Circuit,
    Lanes,
    Portable,
}

impl Measured {
    fn name(self) -> &'static str {
        match self {
            Measured::Interpreter => "interpreter",
            Measured::Circuit => "circuit",
            Measured::Lanes => "lanes",
            Measured::Portable => "portable",
        }
    }
}

/// What was measured.
struct Rate {
    n_playouts: u64,
    n_steps: u64,
    seconds: f64,
    build_seconds: f64,
    n_gates: usize,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let time = Duration::try_from_secs_f64(args.seconds)
        .map_err(|error| Failure::unreadable(format!("--seconds: {error}")))?;
    let all = [Measured::Interpreter, Measured::Circuit, Measured::Lanes];
    let engines = args.engine.map_or(all.to_vec(), |engine| vec![engine]);
    if !args.json {
        say!(
            "{:24} {:12} {:>14} {:>14} {:>8} {:>9} {:>9}",
            "game",
            "engine",
            "playouts/s",
            "states/s",
            "length",
            "build s",
            "gates"
        );
    }
    for game in &args.games {
        for &engine in &engines {
            match measure(game, engine, time, args)? {
                Ok(rate) => show(game, engine, &rate, args.json),
                Err(why) if args.json => {
                    say!("{}", json!({"game": game, "engine": engine.name(), "reason": why}));
                }
                Err(why) => say!("{:24} {:12} {why}", short(game), engine.name()),
            }
        }
    }
    Ok(())
}

fn measure(
    game: &str,
    engine: Measured,
    time: Duration,
    args: &Args,
) -> Result<Result<Rate, String>, Failure> {
    let began = Instant::now();
    let opened = open::open(game, &RuleOptions::default())?;
    if engine == Measured::Interpreter {
        let start = opened.start();
        return Ok(Ok(play_one_by_one(start, began.elapsed(), 0, time, args)));
    }
    let compiled = match opened.compile(&CircuitLimits::default()) {
        Ok(compiled) => compiled,
        Err(why) => return Ok(Err(why.to_string())),
    };
    let n_gates = compiled.circuit.n_gates();
    Ok(Ok(match engine {
        Measured::Interpreter | Measured::Circuit => {
            play_one_by_one(compiled.start(), began.elapsed(), n_gates, time, args)
        }
        Measured::Lanes => play_in_lanes(&compiled, Backend::default(), began, time, args),
        Measured::Portable => play_in_lanes(&compiled, Backend::Portable, began, time, args),
    }))
}

fn play_one_by_one<P: Position>(
    start: P,
    build: Duration,
    n_gates: usize,
    time: Duration,
    args: &Args,
) -> Rate {
    let mut rng = Rng::seed_from_u64(args.seed);
    let mut position = start.clone();
    let (mut n_playouts, mut n_steps, mut sum) = (0, 0, 0.0);
    let began = Instant::now();
    while began.elapsed() < time {
        position.go_to(start.state());
        n_steps += position.play_out(&mut rng, args.max_steps) as u64;
        // Goals are part of the work, as in every published figure.
        sum += start.shape().players().map(|role| position.payoff(role)).sum::<f64>();
        n_playouts += 1;
    }
    std::hint::black_box(sum);
    let seconds = began.elapsed().as_secs_f64();
    Rate { n_playouts, n_steps, seconds, build_seconds: build.as_secs_f64(), n_gates }
}

fn play_in_lanes(compiled: &Compiled, backend: Backend, began: Instant, time: Duration, args: &Args) -> Rate {
    let options = BatchOptions { backend, seed: args.seed, turns: compiled.turns.clone() };
    let mut batch = BatchCircuit::new(Arc::clone(&compiled.circuit), compiled.shape.clone(), options);
    let initial = Bits::pack(compiled.circuit.initial.iter().copied());
    // A first small batch makes the code; then batches large enough that the last games of each hardly count.
    let order = |n_playouts| [Order { state: initial.clone(), n_playouts }];
    batch.play_out(&order(256), args.max_steps as u64);
    let build_seconds = began.elapsed().as_secs_f64();
    let (mut n_playouts, mut n_steps, mut size) = (0, 0, 4096);
    let began = Instant::now();
    while began.elapsed() < time {
        let tally = &batch.play_out(&order(size), args.max_steps as u64)[0];
        n_playouts += tally.n_playouts;
        n_steps += tally.n_steps;
        if began.elapsed() < time / 16 {
            size *= 2;
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    Rate { n_playouts, n_steps, seconds, build_seconds, n_gates: compiled.circuit.n_gates() }
}

fn short(game: &str) -> &str {
    game.rsplit('/').next().unwrap_or(game)
}

fn show(game: &str, engine: Measured, rate: &Rate, as_json: bool) {
    let playouts = rate.n_playouts as f64 / rate.seconds;
    let states = rate.n_steps as f64 / rate.seconds;
    let length = rate.n_steps as f64 / rate.n_playouts.max(1) as f64;
    if as_json {
        say!(
            "{}",
            json!({"game": game, "engine": engine.name(), "playouts_per_s": playouts, "states_per_s": states,
                "mean_length": length, "build_s": rate.build_seconds, "peak_mb": peak_mb(), "gates": rate.n_gates})
        );
        return;
    }
    say!(
        "{:24} {:12} {playouts:14.0} {states:14.0} {length:8.2} {:9.3} {:9}",
        short(game),
        engine.name(),
        rate.build_seconds,
        rate.n_gates
    );
}
