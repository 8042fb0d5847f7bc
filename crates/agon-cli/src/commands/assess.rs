//! `agon assess`: tells an author how a game plays.

use std::time::Duration;

use agon::assess::{AssessOptions, assess};

use crate::failure::Failure;
use crate::open::{self, ModelOptions, PlayOptions};
use crate::terminal::{self, say};

/// Assess a game for its author: fairness, length, endings, unused rules, value
#[derive(clap::Args)]
#[command(after_help = "\
Plays the game at random, with weak and with strong players that play against themselves, looks for
proofs that it ends, for moves that are never legal and for rules without effect, and tries to solve
it. Intervals are 95 % intervals of the mean.

Examples:
  agon assess connect-four
  agon assess my-game.kif --matches 50 --seconds 60 --json")]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) game: String,
    /// Number of random plays
    #[arg(long, default_value_t = 500, value_name = "N")]
    plays: usize,
    /// Number of matches of weak and of strong players
    #[arg(long, default_value_t = 20, value_name = "N")]
    matches: usize,
    /// Iterations per move of weak players
    #[arg(long, default_value_t = 30, value_name = "N")]
    weak: u64,
    /// Iterations per move of strong players
    #[arg(long, default_value_t = 600, value_name = "N")]
    strong: u64,
    /// Time limit in seconds of each part: plays at each strength, proofs, solving
    #[arg(long, default_value_t = 20.0)]
    seconds: f64,
    /// Seed of the random number generators
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
    let source = open::source(&args.game)?;
    let play = args.play.within(args.seconds);
    let game = open::open_for_match(&args.game, source, &play, &ModelOptions::none(), None)?;
    let options = AssessOptions {
        plays: args.plays,
        matches: args.matches,
        weak: args.weak,
        strong: args.strong,
        time,
        seed: args.seed,
        ..AssessOptions::default()
    };
    let spinner = terminal::spinner("assessing");
    let found = assess(&game, &options, &mut |what| spinner.set_message(what.to_owned()));
    spinner.finish_and_clear();
    if args.json {
        say!("{}", found.to_json());
    } else {
        say!("{found}");
        say!("");
        say!("{}", crate::terminal::dim(&crate::provenance::line()));
    }
    Ok(())
}
