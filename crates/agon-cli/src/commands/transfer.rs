//! `agon transfer`: starts the learning of a game with the model of another one.

use std::path::PathBuf;

use agon::learn::{TransferOptions, transfer};
use agon::models::{read_model, training_path};
use serde_json::json;

use super::learn::{LearnerOptions, stored_path};
use super::models::{elo_json, elo_text};
use crate::clock;
use crate::failure::Failure;
use crate::open::{self, EngineChoice, PlayOptions, RuleOptions};
use crate::terminal::say;

/// Start learning a game with the model of the same game on another board
#[derive(clap::Args)]
#[command(after_help = "\
Patterns of cells correspond if they have the same contents in the same arrangement, wherever they
are. `agon learn B` goes on from what was transferred.

Examples:
  agon learn reversi-6x6 --minutes 5
  agon transfer reversi-6x6 othello
  agon learn othello --minutes 5")]
pub(crate) struct Args {
    /// Game that was learnt
    from: String,
    /// Game that is learnt next
    to: String,
    /// Model of the first game [default: the one in the store]
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    #[command(flatten)]
    learner: LearnerOptions,
    /// Replace what was learnt of the second game before
    #[arg(long)]
    fresh: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let play = PlayOptions { engine: EngineChoice::Auto, rules: RuleOptions::default() };
    let [from, to] = [&args.from, &args.to].map(|game| open::open_to_learn(game, &play));
    let (from, to) = (from?, to?);
    let model = match &args.model {
        Some(path) => path.clone(),
        None => stored_path(&from)?,
    };
    if !model.exists() {
        return Err(Failure::wrong(format!(
            "there is no model of {}: learn it first, as in `agon learn {} --minutes 5`",
            args.from, args.from
        )));
    }
    let model = read_model(&model)?;
    let out = args.learner.path(&to)?;
    if !args.fresh && (out.exists() || training_path(&out).exists()) {
        return Err(Failure::wrong(format!(
            "{} was learnt before; --fresh replaces the state of learning",
            args.to
        )));
    }
    let options = TransferOptions {
        threads: args.learner.n_threads(),
        seed: args.learner.seed,
        now: || clock::now() / 1000,
    };
    let report = transfer(&from, &model, &to, &out, &options)
        .map_err(|error| Failure::wrong(error.to_string()))?;
    let (n_filled, n_tables) = (report.transferred.n_filled, report.transferred.n_tables);
    if args.json {
        say!(
            "{}",
            json!({
                "from": args.from, "to": args.to, "tables": n_tables, "filled": n_filled,
                "elo": elo_json(&report.elo), "model": out.display().to_string(),
            })
        );
    } else {
        say!(
            "{n_filled} of {n_tables} tables of {} start with weights of {}: {} Elo against the \
             untrained player ({} matches); `agon learn {}` goes on from there",
            args.to,
            args.from,
            elo_text(&report.elo),
            report.elo.n_matches,
            args.to
        );
    }
    Ok(())
}
