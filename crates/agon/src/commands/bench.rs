//! `agon bench`: how fast random games are played, engine by engine.
//!
//! Each game is measured with each engine in a process of its own, so that the memory told is that of this game and
//! engine alone, and no measurement finds the memory that another has left behind.

mod measure;

use std::ffi::OsString;
use std::time::Duration;

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::fresh::{self, Outcome};
use crate::open;
use crate::terminal::say;
use crate::usage::peak_mb;
use measure::{Rate, Work, measure};

/// Measure random playouts per second, engine by engine, one thread.
#[derive(clap::Args)]
#[command(after_help = "\
Engines: interpreter (the rules as they stand), circuit (one game at a time, by native, levelled or events,
whichever suits the game), native (everything anew by native code), levelled (the same without native code), events (only what
changes), lanes (256 games at a time, native code where the processor has AVX2), portable (256 games at a time, without
native code); all is interpreter, circuit and lanes. Rates are per second of processor time.

Examples:
  agon bench connect-four breakthrough
  agon bench connect-four --engine lanes --seconds 5 --json")]
pub(crate) struct Args {
    /// Shipped games' names or paths of rulesheets
    #[arg(required = true)]
    games: Vec<String>,
    /// The engine to measure
    #[arg(long, value_enum, default_value = "all")]
    engine: Choice,
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
    /// Measure in this very process: what each of the processes is told, and of use under a profiler
    #[arg(long, hide = true)]
    here: bool,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Choice {
    /// Interpreter, circuit and lanes.
    All,
    /// The rules as they stand.
    Interpreter,
    /// One game at a time.
    Circuit,
    /// One game at a time, everything anew by native code.
    Native,
    /// One game at a time, everything anew without native code.
    Levelled,
    /// One game at a time, only what changes.
    Events,
    /// 256 games at a time.
    Lanes,
    /// 256 games at a time, without native code.
    Portable,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Measured {
    Interpreter,
    Circuit,
    Native,
    Levelled,
    Events,
    Lanes,
    Portable,
}

impl Choice {
    fn engines(self) -> &'static [Measured] {
        match self {
            Choice::All => &[Measured::Interpreter, Measured::Circuit, Measured::Lanes],
            Choice::Interpreter => &[Measured::Interpreter],
            Choice::Circuit => &[Measured::Circuit],
            Choice::Native => &[Measured::Native],
            Choice::Levelled => &[Measured::Levelled],
            Choice::Events => &[Measured::Events],
            Choice::Lanes => &[Measured::Lanes],
            Choice::Portable => &[Measured::Portable],
        }
    }
}

impl Measured {
    fn name(self) -> &'static str {
        match self {
            Measured::Interpreter => "interpreter",
            Measured::Circuit => "circuit",
            Measured::Native => "native",
            Measured::Levelled => "levelled",
            Measured::Events => "events",
            Measured::Lanes => "lanes",
            Measured::Portable => "portable",
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let time = Duration::try_from_secs_f64(args.seconds)
        .map_err(|error| Failure::unreadable(format!("--seconds: {error}")))?;
    if !args.json {
        let (length, build, cpu) = ("length", "build s", "cpu s");
        say!(
            "{:24} {:12} {:>14} {:>14} {length:>8} {build:>9} {:>9} {cpu:>9} {:>8}",
            "game",
            "engine",
            "playouts/s",
            "states/s",
            "gates",
            "peak MB"
        );
    }
    for game in &args.games {
        // Standard input can be read once; each process is given the text again.
        let input =
            if game == "-" && !args.here { open::source(game)?.text().to_owned() } else { String::new() };
        for &engine in args.engine.engines() {
            let result = if args.here {
                measure(game, engine, time, args)?.map_or_else(
                    |why| refused(game, engine, &why.to_string()),
                    |rate| told(game, engine, &rate),
                )
            } else {
                elsewhere(game, engine, &input, args)?
            };
            show(&result, args.json);
        }
    }
    Ok(())
}

/// The result of a process of its own.
fn elsewhere(game: &str, engine: Measured, input: &str, args: &Args) -> Result<Value, Failure> {
    let numbers = [args.seconds.to_string(), args.seed.to_string(), args.max_steps.to_string()];
    let [seconds, seed, max_steps] = &numbers;
    let command = [
        ["bench", "--here"],
        ["--json", "--engine"],
        [engine.name(), "--seconds"],
        [seconds, "--seed"],
        [seed, "--max-steps"],
        [max_steps, "--"],
    ];
    let mut command: Vec<OsString> = command.into_iter().flatten().map(OsString::from).collect();
    command.push(game.into());
    match fresh::run(&command, input)? {
        Outcome::Answered(result) => Ok(result),
        Outcome::Failed(failure) => Err(failure),
        Outcome::Ended(why) => Ok(refused(game, engine, &why)),
    }
}

fn refused(game: &str, engine: Measured, why: &str) -> Value {
    json!({"game": game, "engine": engine.name(), "reason": why})
}

fn told(game: &str, engine: Measured, rate: &Rate) -> Value {
    let Work::Playouts { n_playouts, n_steps } = rate.work;
    let (n_playouts, n_steps) = (n_playouts as f64, n_steps as f64);
    json!({
        "game": game, "engine": engine.name(),
        "playouts_per_s": n_playouts / rate.seconds, "states_per_s": n_steps / rate.seconds,
        "mean_length": n_steps / n_playouts.max(1.0),
        "build_s": rate.build.seconds, "peak_mb": peak_mb(), "gates": rate.build.n_gates,
        "build_cpu_s": rate.build.cpu_seconds,
    })
}

fn show(result: &Value, as_json: bool) {
    if as_json {
        say!("{result}");
        return;
    }
    let text = |key: &str| result[key].as_str().unwrap_or_default();
    let number = |key: &str| result[key].as_f64().unwrap_or(0.0);
    let name = text("game").rsplit('/').next().unwrap_or_default();
    if result.get("reason").is_some() {
        say!("{name:24} {:12} {}", text("engine"), text("reason"));
        return;
    }
    say!(
        "{name:24} {:12} {:14.0} {:14.0} {:8.2} {:9.3} {:9} {:9.3} {:8}",
        text("engine"),
        number("playouts_per_s"),
        number("states_per_s"),
        number("mean_length"),
        number("build_s"),
        number("gates"),
        number("build_cpu_s"),
        number("peak_mb")
    );
}
