//! `agon learn`: learns an evaluation of a game by self-play and stores it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agon::Game;
use agon::learn::{
    EloEstimate, Forms, LearnError, LearnEvent, LearnFrom, LearnOptions, Learnt, ModelKind,
    Progress, Targets, learn,
};
use agon::models::ModelStore;
use serde_json::{Value, json};

use super::models::{elo_json, elo_text};
use crate::clock;
use crate::curve;
use crate::failure::Failure;
use crate::open::{self, PlayOptions};
use crate::terminal::{self, remark, say};

/// Learn an evaluation of a game by self-play, and store it for players
#[derive(clap::Args)]
#[command(after_help = "\
The evaluation is tested at checkpoints by short matches against the best one so far, and kept unless
it is refuted. Players `auto` and `minimax` use it from then on, also if the game has other names or
another order of rules. Ctrl-C saves and ends; the same command goes on from there. `agon models`
lists what was learnt.

Examples:
  agon learn breakthrough --minutes 10
  agon learn connect-four --seconds 30 --threads 1
  agon learn my-game.kif --minutes 60 --out my-game.agon-model
  agon learn othello --games 2000 --threads 1 --seed 7 --fresh --json
  agon learn connect-four --check       # the stored model at positions that are solved exactly")]
#[command(group = clap::ArgGroup::new("limit").required(true).multiple(true)
    .args(["minutes", "seconds", "games", "check"]))]
pub(crate) struct Args {
    /// Name of a shipped game, path of a rulesheet, or - for standard input
    pub(super) game: String,
    /// Minutes of learning, matches included
    #[arg(long, value_name = "M", allow_negative_numbers = true)]
    minutes: Option<f64>,
    /// Seconds of learning, matches included; added to the minutes
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    seconds: Option<f64>,
    /// Number of games to learn from; with one thread the seed alone decides what is learnt
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    games: Option<u64>,
    /// What is learnt: pattern tables, a neural network, or both in turns until one wins a match
    #[arg(long, value_name = "FORM", default_value = "tables")]
    #[arg(value_parser = ["tables", "network", "both"])]
    form: String,
    /// What values are moved towards: td, or search:N for searches of N positions
    #[arg(long, value_name = "TARGETS", default_value = "td", value_parser = targets)]
    targets: Targets,
    /// Learn nothing; measure the model at positions near the end whose moves are solved exactly
    #[arg(long, conflicts_with_all = ["minutes", "seconds", "games", "resume", "fresh"])]
    check: bool,
    #[command(flatten)]
    truth: super::learn_check::CheckOptions,
    #[command(flatten)]
    pub(super) learner: LearnerOptions,
    /// Go on where learning ended; an error if there is nothing to go on from
    #[arg(long, conflicts_with = "fresh")]
    resume: bool,
    /// Begin again; what was learnt before is replaced
    #[arg(long)]
    fresh: bool,
    /// Print one JSON object per line: the start, each checkpoint, the result
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) play: PlayOptions,
}

/// Options of commands that learn.
#[derive(clap::Args)]
pub(super) struct LearnerOptions {
    /// Write the model to a file instead of the store
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Number of threads [default: all processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Seed of the random number generators
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
}

impl LearnerOptions {
    pub(super) fn n_threads(&self) -> usize {
        let all = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.map_or_else(all, usize::from)
    }

    /// Returns the file of the model of a game.
    pub(super) fn path(&self, game: &Game) -> Result<PathBuf, Failure> {
        let path = match &self.out {
            Some(path) => path.clone(),
            None => stored_path(game)?,
        };
        // A device would be read for ever, and lost when the model is written.
        if path.exists() && !path.is_file() {
            let what = if path.is_dir() { "a folder" } else { "not a file" };
            return Err(Failure::unreadable(format!("--out: {} is {what}", path.display())));
        }
        Ok(path)
    }
}

/// Returns the file of the model of a game in the store.
pub(super) fn stored_path(game: &Game) -> Result<PathBuf, Failure> {
    let folder = ModelStore::folder_of_user().ok_or_else(|| {
        Failure::unreadable("there is no folder for models: set AGON_MODELS or give --out")
    })?;
    Ok(ModelStore::at(&folder).path(game.key().key))
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    if args.check {
        return super::learn_check::run(args, &args.truth);
    }
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    crate::signals::on_interrupt(move || {
        // The second Ctrl-C ends the process at once. The last checkpoint is on disk.
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    let options = LearnOptions {
        seconds: seconds(args)?,
        n_games: args.games,
        threads: args.learner.n_threads(),
        seed: args.learner.seed,
        from: match (args.resume, args.fresh) {
            (true, _) => LearnFrom::Saved,
            (false, true) => LearnFrom::Nothing,
            (false, false) => LearnFrom::Whatever,
        },
        forms: match args.form.as_str() {
            "tables" => Forms::One(ModelKind::Tables),
            "network" => Forms::One(ModelKind::Network),
            _ => Forms::Both,
        },
        targets: args.targets,
        stop,
        now: || clock::now() / 1000,
    };
    let game = open::open_to_learn(&args.game, &args.play)?;
    if game.compiled().is_none() {
        let message = format!("{} cannot be learnt: the game has no circuit", game.name());
        return Err(Failure::wrong(message));
    }
    let path = args.learner.path(&game)?;
    let show = if args.json { show_json } else { show_text };
    let learnt = learn(&game, &path, &options, &mut |event| show(event)).map_err(failure)?;
    if args.json {
        say!("{}", result_json(&learnt, &game.key().text()));
    } else {
        say!("{}", result_text(&learnt));
    }
    if learnt.is_interrupted {
        let message = "stopped; the same command goes on from here".to_owned();
        return Err(Failure { code: 130, message });
    }
    Ok(())
}

/// Reads the targets of learning.
fn targets(text: &str) -> Result<Targets, String> {
    let nodes = |text: &str| text.parse().ok().filter(|n| (1..=10_000_000).contains(n));
    match text.split_once(':') {
        None if text == "td" => Ok(Targets::Differences),
        None if text == "search" => Ok(Targets::Search(SEARCH_NODES)),
        Some(("search", n)) if nodes(n).is_some() => {
            Ok(Targets::Search(nodes(n).unwrap_or(SEARCH_NODES)))
        }
        _ => Err("give td, search, or search:N with N from 1 to 10000000".to_owned()),
    }
}

/// Number of positions of a search that gives a target.
const SEARCH_NODES: u64 = 300;

fn seconds(args: &Args) -> Result<Option<f64>, Failure> {
    if args.minutes.is_none() && args.seconds.is_none() {
        return Ok(None);
    }
    let total = 60.0 * args.minutes.unwrap_or(0.0) + args.seconds.unwrap_or(0.0);
    let is_good = |value: Option<f64>| value.is_none_or(|value| value.is_finite() && value >= 0.0);
    if !is_good(args.minutes) || !is_good(args.seconds) || total <= 0.0 || total > 1e8 {
        return Err(Failure::unreadable(
            "--minutes, --seconds: give a time above zero, such as --minutes 10",
        ));
    }
    Ok(Some(total))
}

fn failure(error: LearnError) -> Failure {
    let message = error.to_string();
    match error {
        LearnError::Cannot(_) => Failure::wrong(message),
        LearnError::NothingSaved(_) => {
            Failure::unreadable(format!("{message}; leave --resume out to begin"))
        }
        _ => Failure::unreadable(message),
    }
}

fn show_text(event: &LearnEvent<'_>) {
    match event {
        LearnEvent::Warning(text) => remark!("{text}"),
        LearnEvent::Begun { facts, resumed } => {
            if let Some(history) = resumed {
                remark!(
                    "goes on after {} games and {:.1} minutes; --fresh begins again",
                    history.n_games,
                    history.seconds / 60.0
                );
            }
            say!(
                "{} cells, {} patterns, {} weights, {} symmetries",
                facts.n_cells,
                facts.n_patterns,
                facts.n_weights,
                facts.n_symmetries
            );
            let heading = format!(
                "{:>8}  {:>10}  {:7}  {:>6}  {:27}  {:7}",
                "seconds", "games", "form", "Elo", "against the best before", "verdict"
            );
            say!("{}", terminal::bold(&heading));
        }
        LearnEvent::Checkpoint { progress, elo } => {
            let Progress { seconds, n_games, step, is_kept, kind } = progress;
            let verdict = if *is_kept { "kept" } else { "refuted" };
            let bar = curve::bar(*elo);
            let (kind, step) = (kind.name(), elo_text(step));
            let elo = elo.round() + 0.0;
            say!(
                "{seconds:8.1}  {n_games:10}  {kind:7}  {elo:+6.0}  {step:27}  {verdict:7}  {bar}"
            );
        }
        LearnEvent::Chosen { kind, elo } => {
            let name = kind.name();
            say!(
                "{name} chosen to go on: {} Elo against the other form ({} matches)",
                elo_text(elo),
                elo.n_matches
            );
        }
    }
}

fn show_json(event: &LearnEvent<'_>) {
    match event {
        LearnEvent::Warning(text) => remark!("{text}"),
        LearnEvent::Begun { facts, resumed } => say!(
            "{}",
            json!({
                "type": "start", "cells": facts.n_cells, "patterns": facts.n_patterns,
                "weights": facts.n_weights, "symmetries": facts.n_symmetries,
                "resumed_games": resumed.map(|history| history.n_games),
            })
        ),
        LearnEvent::Checkpoint { progress, elo } => {
            let mut line = progress_json(progress);
            line["type"] = json!("checkpoint");
            line["elo"] = json!(elo);
            say!("{line}");
        }
        LearnEvent::Chosen { kind, elo } => {
            say!("{}", json!({ "type": "chosen", "form": kind.name(), "elo": elo_json(elo) }));
        }
    }
}

/// Returns a checkpoint as JSON.
pub(super) fn progress_json(progress: &Progress) -> Value {
    json!({
        "seconds": progress.seconds, "games": progress.n_games,
        "step": elo_json(&progress.step), "kept": progress.is_kept,
        "form": progress.kind.name(),
    })
}

fn result_json(learnt: &Learnt, key: &str) -> Value {
    let Learnt { history, path, n_bytes, is_interrupted } = learnt;
    json!({
        "type": "result", "game": history.game, "key": key, "games": history.n_games,
        "steps": history.n_steps, "seconds": history.seconds,
        "elo": history.elo.as_ref().map(elo_json), "checkpoints": history.progress.len(),
        "model": path.display().to_string(), "bytes": n_bytes, "interrupted": is_interrupted,
    })
}

fn result_text(learnt: &Learnt) -> String {
    let Learnt { history, path, .. } = learnt;
    let elo = |elo: &EloEstimate| {
        format!("{} Elo against the untrained player ({} matches)", elo_text(elo), elo.n_matches)
    };
    format!(
        "learnt from {} games in {:.1} minutes: {}; the model is {}",
        history.n_games,
        history.seconds / 60.0,
        history.elo.as_ref().map_or_else(|| "strength not measured".to_owned(), elo),
        path.display()
    )
}
