//! `agon diff`: do two rulesheets define the same game?

use std::time::Duration;

use agon::diff::{Diff, DiffOptions, diff};
use agon::prove::ProveLimits;

use crate::failure::Failure;
use crate::open::{self, PlayOptions};
use crate::terminal::{self, say};

/// Compare two rulesheets: do they define the same game?
#[derive(clap::Args)]
#[command(after_help = "\
Plays both games at random with the same moves, then looks for a proof: both circuits as one, and a
SAT solver. Compared are roles, legal moves, the end, the points at the end, and percepts. Fluents
and the order of moves may differ. The first difference is shown as a line of play.

Exit code 0: the same game, proved; 1: different games; 3: no difference was found.

Examples:
  agon diff my-game.kif my-game-new.kif
  agon diff connect-four connect-four-cells --plays 1000
  agon diff old.kif new.kif --seconds 60 --json")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) first: String,
    /// The game to compare it with
    pub(super) second: String,
    /// Number of random plays
    #[arg(long, default_value_t = 100, value_name = "N")]
    plays: usize,
    /// Maximum number of steps of a play
    #[arg(long, default_value_t = 500, value_name = "N")]
    max_steps: usize,
    /// Only play, and look for no proof
    #[arg(long)]
    no_proof: bool,
    /// Time limit of the proof, in seconds
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
    /// Maximum number of steps of the plays that the solver looks for
    #[arg(long, default_value_t = 60, value_name = "N")]
    bound: usize,
    /// Seed of the random plays
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub(super) play: PlayOptions,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let time = Duration::try_from_secs_f64(args.seconds).map_err(|_| {
        Failure::unreadable(format!("--seconds: {} is not a number of seconds", args.seconds))
    })?;
    let first = open::open_engine(&args.first, &args.play.within(args.seconds))?;
    let second = open::open_engine(&args.second, &args.play.within(args.seconds))?;
    let limits = ProveLimits { time, steps: args.bound, seed: args.seed, ..Default::default() };
    let options =
        DiffOptions { plays: args.plays, max_steps: args.max_steps, limits, proof: !args.no_proof };
    let spinner = terminal::spinner("comparing");
    let found = diff(&first, &second, &options);
    spinner.finish_and_clear();
    if args.json {
        say!("{}", found.to_json());
    } else {
        say!("{found}");
    }
    match found {
        Diff::Same { .. } => Ok(()),
        Diff::Differ { .. } => Err(Failure::reported()),
        Diff::Unknown { .. } => Err(Failure { code: 3, message: String::new() }),
    }
}
