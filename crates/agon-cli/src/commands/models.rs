//! `agon models`: what was learnt.

use std::path::PathBuf;

use agon::learn::EloEstimate;
use agon::models::{ListedModel, Model, ModelStore, StoreError, read_model};
use serde_json::{Value, json};

use super::learn::progress_json;
use crate::failure::Failure;
use crate::provenance::date;
use crate::terminal::{self, remark, say};

/// List, show or remove the models that `agon learn` has stored
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Models are in the folder AGON_MODELS, by default agon/models in the folder for user data. A KEY may
be cut short as long as one model fits.

Examples:
  agon models
  agon models --json
  agon models show 3f2a
  agon models remove 3f2a")]
pub(crate) struct Args {
    /// Print one JSON object per model
    #[arg(long)]
    json: bool,
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(clap::Subcommand)]
enum Action {
    /// Show one model with its checkpoints
    Show {
        /// Key of the model, or the beginning of it, or the path of a model
        key: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Remove a model, and the state of learning beside it
    Remove {
        /// Key of the model, or the beginning of it
        key: String,
    },
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        match &error {
            StoreError::Key { .. } => Failure::wrong(error.to_string()),
            _ => Failure::unreadable(error.to_string()),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let folder = ModelStore::folder_of_user()
        .ok_or_else(|| Failure::unreadable("there is no folder for models: set AGON_MODELS"))?;
    let store = ModelStore::at(&folder);
    match &args.action {
        None => list(&store, args.json),
        Some(Action::Show { key, json }) => {
            let path = match PathBuf::from(key) {
                path if path.is_file() => path,
                _ => store.find(key)?,
            };
            let n_bytes = std::fs::metadata(&path).map_or(0, |facts| facts.len());
            show(&ListedModel { model: read_model(&path), path, n_bytes }, *json)
        }
        Some(Action::Remove { key }) => {
            let path = store.find(key)?;
            ModelStore::remove(&path)?;
            say!("removed {}", path.display());
            Ok(())
        }
    }
}

fn list(store: &ModelStore, json: bool) -> Result<(), Failure> {
    let listed = store.list()?;
    if listed.is_empty() && !json {
        remark!("no models in {}; `agon learn GAME` makes one", store.folder().display());
        return Ok(());
    }
    if !json {
        let heading = format!(
            "{:24}  {:10}  {:>8}  {:>10}  {:24}  {:>9}  {:10}  {}",
            "game", "key", "minutes", "games", "Elo", "size", "date", "format"
        );
        say!("{}", terminal::bold(&heading));
    }
    for listed in &listed {
        match &listed.model {
            Ok(model) if json => say!("{}", to_json(listed, model)),
            Ok(model) => {
                let history = &model.history;
                let key = agon::models::key_text(history.key);
                say!(
                    "{:24}  {:10}  {:8.1}  {:10}  {:24}  {:>9}  {:10}  {}",
                    history.game,
                    &key[..10],
                    history.seconds / 60.0,
                    history.n_games,
                    history.elo.as_ref().map_or_else(|| "-".to_owned(), elo_text),
                    size(listed.n_bytes),
                    date(history.written / 86_400),
                    Model::FORMAT
                );
            }
            Err(error) => remark!("{error}"),
        }
    }
    Ok(())
}

fn show(listed: &ListedModel, json: bool) -> Result<(), Failure> {
    let model = match &listed.model {
        Ok(model) => model,
        Err(error) => return Err(Failure::wrong(error.to_string())),
    };
    if json {
        say!("{}", to_json(listed, model));
        return Ok(());
    }
    let (history, facts) = (&model.history, model.facts());
    let elo = |elo: &EloEstimate| {
        format!("{} against the untrained player ({} matches)", elo_text(elo), elo.n_matches)
    };
    let elo = history.elo.as_ref().map_or_else(|| "not measured".to_owned(), elo);
    let rows = [
        ("game", history.game.clone()),
        ("key", agon::models::key_text(history.key)),
        ("file", listed.path.display().to_string()),
        ("size", size(listed.n_bytes)),
        ("date", date(history.written / 86_400)),
        ("format", format!("{}, by agon {}", Model::FORMAT, history.version)),
        ("learnt", format!("{} games, {:.1} minutes", history.n_games, history.seconds / 60.0)),
        ("Elo", elo),
        ("weights", format!("{} in {} patterns", model.n_weights(), facts.n_patterns)),
        ("board", format!("{} cells, {} symmetries", facts.n_cells, facts.n_symmetries)),
    ];
    for (name, value) in rows {
        say!("{}  {value}", terminal::bold(&format!("{name:8}")));
    }
    for progress in &history.progress {
        let verdict = if progress.is_kept { "kept" } else { "refuted" };
        say!(
            "{:8.1} s  {:10} games  {:27}  {verdict}",
            progress.seconds,
            progress.n_games,
            elo_text(&progress.step)
        );
    }
    Ok(())
}

fn to_json(listed: &ListedModel, model: &Model) -> Value {
    let history = &model.history;
    json!({
        "game": history.game, "key": agon::models::key_text(history.key),
        "minutes": history.seconds / 60.0, "games": history.n_games, "steps": history.n_steps,
        "elo": history.elo.as_ref().map(elo_json), "bytes": listed.n_bytes,
        "date": date(history.written / 86_400), "format": Model::FORMAT,
        "version": history.version, "weights": model.n_weights(),
        "patterns": model.facts().n_patterns, "file": listed.path.display().to_string(),
        "checkpoints": history.progress.iter().map(progress_json).collect::<Vec<_>>(),
    })
}

fn size(n_bytes: u64) -> String {
    match n_bytes {
        0..10_000 => format!("{n_bytes} B"),
        10_000..10_000_000 => format!("{} kB", n_bytes / 1000),
        _ => format!("{} MB", n_bytes / 1_000_000),
    }
}

/// Returns a difference in strength with its 95 % interval.
pub(super) fn elo_text(elo: &EloEstimate) -> String {
    let number = |elo: f64| match elo {
        elo if elo == f64::INFINITY => "+inf".to_owned(),
        elo if elo == f64::NEG_INFINITY => "-inf".to_owned(),
        elo => format!("{elo:+.0}"),
    };
    format!("{} ({} to {})", number(elo.elo), number(elo.low), number(elo.high))
}

/// Returns a difference in strength as JSON. Infinite numbers are null.
pub(super) fn elo_json(elo: &EloEstimate) -> Value {
    let number = |elo: f64| elo.is_finite().then_some(elo);
    json!({
        "elo": number(elo.elo), "low": number(elo.low), "high": number(elo.high),
        "matches": elo.n_matches,
    })
}
