//! `agon models`: what was learnt.

use std::path::{Path, PathBuf};

use agon::learn::{EloEstimate, ModelKind, curve};
use agon::models::{
    ListedModel, Model, ModelStore, OnnxError, StoreError, fit, from_onnx, read_model,
    remove_training_states, to_onnx, write_model,
};
use serde_json::{Value, json};

use super::learn::{progress_json, stored_path};
use crate::clock;
use crate::curve::chart;
use crate::failure::Failure;
use crate::open::{PlayOptions, open_to_learn};
use crate::provenance::date;
use crate::terminal::{self, remark, say};

/// List, show, export, import or remove the models that `agon learn` has stored
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Models are in the folder AGON_MODELS, by default agon/models in the folder for user data. A KEY may
be cut short as long as one model fits.

Examples:
  agon models
  agon models --json
  agon models show breakthrough
  agon models remove 3f2a
  agon models export breakthrough net.onnx     # for programs that learn elsewhere
  agon models import breakthrough net.onnx --replace")]
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
        /// Name of the game, key of the model or the beginning of it, or path of a model
        #[arg(value_name = "GAME or KEY")]
        key: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Write the network of a game as an ONNX file
    Export {
        /// Name of a shipped game, or path of a rulesheet
        game: String,
        /// The file to write
        file: PathBuf,
        /// The model, instead of the one in the store
        #[arg(long, value_name = "FILE")]
        model: Option<PathBuf>,
        #[command(flatten)]
        play: PlayOptions,
    },
    /// Store a network that was trained elsewhere: an ONNX file with two layers over the facts
    Import {
        /// Name of a shipped game, or path of a rulesheet
        game: String,
        /// The ONNX file
        file: PathBuf,
        /// Write the model to a file instead of the store
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Replace a model that is there already
        #[arg(long)]
        replace: bool,
        #[command(flatten)]
        play: PlayOptions,
    },
    /// Remove a model, and the state of learning beside it
    Remove {
        /// Name of the game, or key of the model or the beginning of it
        #[arg(value_name = "GAME or KEY")]
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
    match &args.action {
        Some(Action::Export { game, file, model, play }) => {
            return export(game, file, model.as_deref(), play);
        }
        Some(Action::Import { game, file, out, replace, play }) => {
            return import(game, file, out.as_deref(), *replace, play);
        }
        _ => {}
    }
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
        Some(Action::Export { .. } | Action::Import { .. }) => {
            unreachable!("they are done above, because they may do without the folder")
        }
        Some(Action::Remove { key }) => {
            let path = store.find(key)?;
            ModelStore::remove(&path)?;
            say!("removed {}", path.display());
            Ok(())
        }
    }
}

fn export(
    game: &str,
    file: &Path,
    model: Option<&Path>,
    play: &PlayOptions,
) -> Result<(), Failure> {
    let mut name = game.to_owned();
    play.rules.params.add_to(&mut name);
    let game = open_to_learn(&name, play)?;
    let path = model.map_or_else(|| stored_path(&game), |path| Ok(path.to_owned()))?;
    if model.is_none() && !path.exists() {
        return Err(Failure::wrong(format!(
            "{name} was not learnt yet; `agon learn {name} --form network --minutes 1` does that"
        )));
    }
    let wrong = |why: &dyn std::fmt::Display| Failure::wrong(format!("{}: {why}", path.display()));
    let model = read_model(&path)?;
    let model = fit(&game, &model).map_err(|error| wrong(&error))?;
    let bytes = to_onnx(&game, &model).map_err(|error| match error {
        OnnxError::Tables => wrong(&format!("{error}; `agon learn --form network` makes one")),
        error => wrong(&error),
    })?;
    std::fs::write(file, &bytes)
        .map_err(|error| Failure::unreadable(format!("{}: {error}", file.display())))?;
    say!("wrote {} ({})", file.display(), size(bytes.len() as u64));
    Ok(())
}

fn import(
    game: &str,
    file: &Path,
    out: Option<&Path>,
    replace: bool,
    play: &PlayOptions,
) -> Result<(), Failure> {
    let mut name = game.to_owned();
    play.rules.params.add_to(&mut name);
    let game = open_to_learn(&name, play)?;
    let bytes = agon::files::read(file, agon::open::MAX_BYTES)
        .map_err(|error| Failure::cannot_read(file, &error))?;
    let path = out.map_or_else(|| stored_path(&game), |path| Ok(path.to_owned()))?;
    if path.exists() && !replace {
        let message = format!("{} is there already; --replace replaces it", path.display());
        return Err(Failure::unreadable(message));
    }
    let model = from_onnx(&game, &bytes, clock::now() / 1000)
        .map_err(|error| Failure::wrong(format!("{}: {error}", file.display())))?;
    write_model(&path, &model)?;
    remove_training_states(&path)?;
    let n_hidden = model.facts().n_patterns;
    say!("{} weights, {n_hidden} hidden units: {}", model.n_weights(), path.display());
    Ok(())
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
    let weights = match model.kind() {
        ModelKind::Tables => format!("{} in {} patterns", model.n_weights(), facts.n_patterns),
        ModelKind::Network => format!("{}, {} hidden units", model.n_weights(), facts.n_patterns),
    };
    let rows = [
        ("game", history.game.clone()),
        ("key", agon::models::key_text(history.key)),
        ("file", listed.path.display().to_string()),
        ("size", size(listed.n_bytes)),
        ("date", date(history.written / 86_400)),
        ("format", format!("{}, by agon {}", Model::FORMAT, history.version)),
        ("learnt", format!("{} games, {:.1} minutes", history.n_games, history.seconds / 60.0)),
        ("Elo", elo),
        ("form", model.kind().name().to_owned()),
        ("weights", weights),
        ("board", format!("{} cells, {} symmetries", facts.n_cells, facts.n_symmetries)),
    ];
    for (name, value) in rows {
        say!("{}  {value}", terminal::bold(&format!("{name:8}")));
    }
    let elos = curve(history);
    for (progress, elo) in history.progress.iter().zip(&elos) {
        let verdict = if progress.is_kept { "kept" } else { "refuted" };
        say!(
            "{:8.1} s  {:10} games  {:7}  {:+6.0}  {:27}  {verdict}",
            progress.seconds,
            progress.n_games,
            progress.kind.name(),
            elo.round() + 0.0,
            elo_text(&progress.step)
        );
    }
    let points: Vec<(f64, f64)> =
        history.progress.iter().map(|progress| progress.seconds).zip(elos).collect();
    for line in chart(&points) {
        say!("{line}");
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
        "form": model.kind().name(), "curve": curve(history),
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
        // Without the sum, small negative numbers would be shown as -0.
        elo => format!("{:+.0}", elo.round() + 0.0),
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
