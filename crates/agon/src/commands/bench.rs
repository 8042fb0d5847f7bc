//! `agon bench`: how fast random games are played, engine by engine.
//!
//! Each game is measured with each engine in a process of its own, so that the memory told is that of this game and
//! engine alone, and no measurement finds the memory that another has left behind.

mod evaluation;
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
native code); all is interpreter, circuit and lanes. The engine children makes no playouts: it counts the children per second
when all children of nodes are made at once, as a search does. The engine search (or --search) counts the playouts inside the default
search from the start of the game, beside those of lanes on their own. Rates are per second of processor time.

Examples:
  agon bench connect-four breakthrough
  agon bench connect-four --engine lanes --seconds 5 --json
  agon bench --search connect-four breakthrough
  agon bench --evaluation toss/connect-four toss/breakthrough --seconds 2")]
pub(crate) struct Args {
    /// Shipped games' names or paths of rulesheets
    #[arg(required = true)]
    games: Vec<String>,
    /// The engine to measure
    #[arg(long, value_enum, default_value = "all")]
    engine: Choice,
    /// Playouts inside the default search, on one thread, beside those of the bare lanes engine: the same as --engine search
    #[arg(long, conflicts_with = "engine")]
    search: bool,
    /// Evaluations per second of the terms made of the goals of structure rewriting games, by each method: by the evaluator, by gates
    /// at one state, by gates at 256 states
    #[arg(long, conflicts_with_all = ["engine", "search"])]
    evaluation: bool,
    /// Playouts from each leaf of the search, instead of the default
    #[arg(long, value_name = "N")]
    per_leaf: Option<u32>,
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
    /// All children of nodes at once.
    Children,
    /// Inside the default search, beside lanes.
    Search,
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
    Children,
    Search,
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
            Choice::Children => &[Measured::Children],
            Choice::Search => &[Measured::Search],
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
            Measured::Children => "children",
            Measured::Search => "search",
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let time = Duration::try_from_secs_f64(args.seconds)
        .map_err(|error| Failure::unreadable(format!("--seconds: {error}")))?;
    if args.evaluation {
        return evaluation::run(&args.games, time, args.seed, args.json);
    }
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
        let input = if game == "-" && !args.here {
            open::source(game)?.text().to_owned()
        } else {
            String::new()
        };
        let choice = if args.search { Choice::Search } else { args.engine };
        for &engine in choice.engines() {
            let result = if args.here {
                measure(game, engine, time, args)?.map_or_else(
                    |why| refused(game, engine, &why),
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
    if let Some(n) = args.per_leaf {
        command.splice(1..1, ["--per-leaf".into(), n.to_string().into()]);
    }
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
    let mut result = json!({"game": game, "engine": engine.name()});
    // What an engine does not do is null, so that every line has the same keys.
    let (playouts, states, length) = match rate.work {
        Work::Playouts { n_playouts, n_steps } => {
            let (n_playouts, n_steps) = (n_playouts as f64, n_steps as f64);
            (n_playouts / rate.seconds, n_steps / rate.seconds, n_steps / n_playouts.max(1.0))
        }
        Work::Children { .. } => (f64::NAN, f64::NAN, f64::NAN),
        Work::Search { bare, .. } => (bare, f64::NAN, f64::NAN),
    };
    result["playouts_per_s"] = json!(playouts);
    result["states_per_s"] = json!(states);
    result["mean_length"] = json!(length);
    result["build_s"] = json!(rate.build.seconds);
    result["peak_mb"] = json!(peak_mb());
    result["gates"] = json!(rate.build.n_gates);
    result["build_cpu_s"] = json!(rate.build.cpu_seconds);
    if let Work::Children { per_second, per_second_one_by_one } = rate.work {
        result["children_per_s"] = json!(per_second);
        result["children_per_s_one_node_at_a_time"] = json!(per_second_one_by_one);
    }
    if let Work::Search { bare, search } = rate.work {
        result["search_playouts_per_s"] = json!(search);
        result["ratio"] = json!(search / bare);
    }
    result
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
    // Children stand under the states, which they are; the column of playouts stays empty.
    if result.get("children_per_s").is_some() {
        let (children, none) = (format!("{:.0} children/s", number("children_per_s")), "");
        say!(
            "{name:24} {:12} {children:>29} {none:8} {:9.3} {:9} {:9.3} {:8}",
            text("engine"),
            number("build_s"),
            number("gates"),
            number("build_cpu_s"),
            number("peak_mb")
        );
        return;
    }
    if result.get("ratio").is_some() {
        let share = format!("{:.2} of {:.0}", number("ratio"), number("playouts_per_s"));
        say!(
            "{name:24} {:12} {:14.0} {share:>23} {:9.3} {:9} {:9.3} {:8}",
            text("engine"),
            number("search_playouts_per_s"),
            number("build_s"),
            number("gates"),
            number("build_cpu_s"),
            number("peak_mb")
        );
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
