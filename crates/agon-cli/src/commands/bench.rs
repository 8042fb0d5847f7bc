//! `agon bench`: measures how fast random games are played, by engine.
//!
//! Each game is measured with each engine in a process of its own. So the reported memory is that
//! of this game and engine alone, and no measurement profits from memory that another has
//! allocated.

mod evaluation;
mod measure;
mod signature;

use std::ffi::OsString;
use std::time::Duration;

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::open::{self, ParamOptions};
use crate::resources::peak_mb;
use crate::subprocess::{self, Outcome};
use crate::terminal::say;
use measure::{Rate, Work, measure};

/// Measure random playouts per second, by engine, on one thread
#[derive(clap::Args)]
#[command(after_help = "\
The engine `all` measures interpreter, circuit and lanes. The engine `circuit` plays by native,
levelled or events, whichever suits the game. The engine `children` makes no playouts: it counts
children per second when nodes are expanded as in a search. The engine `search` (or --search) counts
the playouts of the default search from the start of the game, and compares them with `lanes`. Rates
are per second of processor time.

Examples:
  agon bench connect-four breakthrough
  agon bench connect-four --engine lanes --seconds 5 --json
  agon bench --search connect-four breakthrough
  agon bench --signature
  agon bench --evaluation toss/connect-four toss/breakthrough --seconds 2")]
pub(crate) struct Args {
    /// Names of shipped games, paths of rulesheets, or - for standard input
    #[arg(required_unless_present = "signature")]
    pub(super) games: Vec<String>,
    #[command(flatten)]
    pub(super) params: ParamOptions,
    /// Play fixed games with fixed seeds and iterations, and print one number per kind of search
    /// and one for all: any change of play changes the numbers
    #[arg(long, conflicts_with_all = ["games", "engine", "search", "evaluation"])]
    signature: bool,
    /// Engine to measure
    #[arg(long, value_enum, default_value = "all")]
    engine: Choice,
    /// Compare the playouts of the default search with those of lanes; same as --engine search
    #[arg(long, conflicts_with = "engine")]
    search: bool,
    /// Measure evaluation functions derived from the goals of structure rewriting games:
    /// evaluations per second by the formula evaluator, by gates at one state, and by gates at 256
    /// states
    #[arg(long, conflicts_with_all = ["engine", "search"])]
    evaluation: bool,
    /// Playouts from each leaf of the search [default: that of the search]
    #[arg(long, value_name = "N")]
    per_leaf: Option<u32>,
    /// Seconds for each measurement
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Seed of the random playouts
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Maximum number of steps of a playout
    #[arg(long, default_value_t = 10_000)]
    max_steps: usize,
    /// Print one JSON object per game and engine
    #[arg(long)]
    json: bool,
    /// Measure in this process instead of a new one, for the new processes and for profilers
    #[arg(long, hide = true)]
    here: bool,
}

/// The value of `--engine`.
#[derive(Copy, Clone, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Choice {
    /// Interpreter, circuit and lanes.
    All,
    /// The rules as they stand.
    Interpreter,
    /// One game at a time, by the executor that suits the game.
    Circuit,
    /// One game at a time, all gates at every step, in native code.
    Native,
    /// One game at a time, all gates at every step, without native code.
    Levelled,
    /// One game at a time, only the gates that change.
    Events,
    /// 256 games at a time, in native code if the processor has AVX2.
    Lanes,
    /// 256 games at a time, without native code.
    Portable,
    /// All children of nodes, as in a search.
    Children,
    /// Playouts of the default search, compared with lanes.
    Search,
}

/// One engine to measure.
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
    if args.signature {
        return signature::run(args);
    }
    let time = Duration::try_from_secs_f64(args.seconds)
        .map_err(|error| Failure::unreadable(format!("--seconds: {error}")))?;
    if args.evaluation {
        return evaluation::run(args, time);
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
        // Standard input can be read only once, so each process gets the text again.
        let input = if game == "-" && !args.here {
            open::source(game)?.text().to_owned()
        } else {
            String::new()
        };
        let choice = if args.search { Choice::Search } else { args.engine };
        for &engine in choice.engines() {
            let result = if args.here {
                measure(game, engine, time, args)?.map_or_else(
                    |why| refused(game, engine, &why.to_string()),
                    |rate| to_json(game, engine, &rate),
                )
            } else {
                measure_in_subprocess(game, engine, &input, args)?
            };
            if !args.json {
                print(&result);
            } else if args.here {
                say!("{result}");
            } else {
                let mut result = result;
                result["provenance"] = crate::provenance::line().into();
                say!("{result}");
            }
        }
    }
    if !args.json {
        say!("");
        say!("{}", crate::terminal::dim(&crate::provenance::line()));
    }
    Ok(())
}

/// Measures in a process of its own.
fn measure_in_subprocess(
    game: &str,
    engine: Measured,
    input: &str,
    args: &Args,
) -> Result<Value, Failure> {
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
    match subprocess::run(&command, input)? {
        Outcome::Answered(result) => Ok(result),
        Outcome::Failed(failure) => Err(failure),
        Outcome::Killed(why) => Ok(refused(game, engine, &why)),
    }
}

fn refused(game: &str, engine: Measured, why: &str) -> Value {
    json!({"game": game, "engine": engine.name(), "reason": why})
}

fn to_json(game: &str, engine: Measured, rate: &Rate) -> Value {
    let mut result = json!({"game": game, "engine": engine.name()});
    // NaN becomes null: every line has the same keys, whatever the engine does.
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

fn print(result: &Value) {
    let text = |key: &str| result[key].as_str().unwrap_or_default();
    let number = |key: &str| result[key].as_f64().unwrap_or(0.0);
    let name = text("game").rsplit('/').next().unwrap_or_default();
    if result.get("reason").is_some() {
        say!("{name:24} {:12} {}", text("engine"), text("reason"));
        return;
    }
    // Children are states, so their rate takes the columns of playouts and states.
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
