//! Imports records of ggp.org and traces of `agon record`.

use std::sync::Arc;

use agon::Game;
use agon_ggp::Record;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use serde_json::{Value, json};

use super::blocking;
use super::hosting::secrets;
use super::positions::play_line;
use crate::answer::{ApiError, Request, joint_moves, texts};
use crate::app::App;
use crate::library::Entry;
use crate::matches::{Hosted, Setup};
use crate::secret::{now, short_id};
use crate::store::StoredStep;

/// Maximum number of plays that are imported from a trace.
const MAX_PLAYS: usize = 20;

/// Maximum number of games of one name that are tried.
const MAX_CANDIDATES: usize = 12;

/// What a file says: the game by name, and its plays.
struct Import {
    named: Option<String>,
    plays: Vec<Record>,
}

/// Imports a record of ggp.org, or all plays of a trace. Every move is checked by the rules, and
/// states and goals are compared with those of the file.
pub(super) async fn import(State(app): State<Arc<App>>, body: Bytes) -> Response {
    blocking(move || {
        let request = Request::parse(&body)?;
        let import = read(request.get("record"))?;
        let candidates = match request.optional_text("game")? {
            Some(id) => vec![app.library.entry(id)?],
            None => {
                let named = import.named.as_deref().filter(|name| !name.is_empty());
                let name = named
                    .ok_or_else(|| ApiError::bad("the file names no game: choose one (`game`)"))?;
                app.library.called(name)?
            }
        };
        let (entry, game, plays) = best(&app, &candidates, &import.plays)?;
        let mut ids = Vec::new();
        let mut first = None;
        for (record, (steps, ending)) in import.plays.iter().zip(plays) {
            let hosted = add(&app, &entry, &game, record, steps, ending)?;
            ids.push(hosted.id.clone());
            first.get_or_insert_with(|| secrets(&hosted));
        }
        let mut answer = first.ok_or_else(|| ApiError::bad("the trace has no plays"))?;
        answer["ids"] = json!(ids);
        Ok(answer)
    })
    .await
}

/// Reads a record of ggp.org or a trace.
fn read(record: &Value) -> Result<Import, ApiError> {
    if Record::is_like(record) {
        let read = Record::from_json(record)
            .map_err(|error| ApiError::bad(format!("not a record of ggp.org: {error}")))?;
        let named = read.game_key().map(str::to_owned);
        return Ok(Import { named, plays: vec![read] });
    }
    let Some(plays) = record["plays"].as_array() else {
        return Err(ApiError::bad("the file is neither a record of ggp.org nor a trace"));
    };
    if plays.is_empty() {
        return Err(ApiError::bad("the trace has no plays"));
    }
    let plays = plays.iter().take(MAX_PLAYS).enumerate().map(|(at, play)| {
        let bad = |why: &str| ApiError::bad(format!("play {} of the trace: {why}", at + 1));
        let steps = play["steps"].as_array().ok_or_else(|| bad("`steps` is not a list"))?;
        let moves: Vec<Value> = steps.iter().map(|step| step["move"].clone()).collect();
        let moves = joint_moves(&json!(moves)).filter(|moves| moves.iter().all(|m| !m.is_empty()));
        let moves = moves.ok_or_else(|| bad("a step has no list of moves"))?;
        let states = steps.iter().map(|step| &step["state"]).chain([&play["final"]]);
        let states = states.map(|state| texts(state).map(|facts| format!("({})", facts.join(" "))));
        let states: Option<Vec<String>> = states.collect();
        let states = states.ok_or_else(|| bad("a state is not a list of facts"))?;
        // A recording that was cut off has goals, but not those of an end.
        let is_over = play["terminal"].as_bool() != Some(false);
        let goals = play["goals"].as_array().filter(|goals| goals.iter().all(Value::is_i64));
        let goals = goals.filter(|_| is_over);
        let object = json!({"states": states, "moves": moves, "goalValues": goals});
        Record::from_json(&object).map_err(|error| bad(&error.to_string()))
    });
    let plays = plays.collect::<Result<Vec<Record>, ApiError>>()?;
    let name = record["game"].as_str().unwrap_or_default();
    let stem = std::path::Path::new(name).file_stem().unwrap_or_default();
    Ok(Import { named: Some(stem.to_string_lossy().into_owned()), plays })
}

type Replayed = (Vec<StoredStep>, Value);

/// Finds the game that the plays are of: the one in which states and goals are the same, or else
/// the first one in which all moves are legal. Names of games are not unique.
fn best(
    app: &App,
    candidates: &[Arc<Entry>],
    plays: &[Record],
) -> Result<(Arc<Entry>, Game, Vec<Replayed>), ApiError> {
    let mut found = None;
    let mut refusal = None;
    for entry in candidates.iter().take(MAX_CANDIDATES) {
        let replayed = app.library.open(&entry.id).and_then(|game| {
            let replayed: Result<Vec<Replayed>, ApiError> =
                plays.iter().map(|record| replay(&game, record)).collect();
            Ok((game, replayed?))
        });
        match replayed {
            Ok((game, plays)) => {
                let is_same = plays.iter().all(|(_, ending)| ending["note"].is_null());
                if is_same {
                    return Ok((Arc::clone(entry), game, plays));
                }
                found.get_or_insert((Arc::clone(entry), game, plays));
            }
            Err(error) => {
                refusal.get_or_insert((entry.id.clone(), error));
            }
        }
    }
    found.ok_or_else(|| match refusal {
        Some((id, error)) => {
            let message = format!("by the rules of `{id}`: {}", error.message);
            ApiError { message, ..error }
        }
        None => ApiError::bad("there is no game to replay it with"),
    })
}

/// Plays the moves of a record and returns the steps and the ending, which notes how the record
/// differs from the rules here.
fn replay(game: &Game, record: &Record) -> Result<Replayed, ApiError> {
    let position = play_line(game, &json!(record.moves))?;
    let n_roles = game.shape().role_names.len();
    let time = now();
    let stored = position.history().map(|joint| StoredStep {
        joint: joint.to_vec(),
        errors: vec![String::new(); n_roles],
        decided: Vec::new(),
        thoughts: json!({}),
        time,
    });
    let mut ending = if position.is_terminal() {
        let payoffs: Vec<f64> = game.shape().roles().map(|role| position.payoff(role)).collect();
        json!({"kind": "finished", "payoffs": payoffs, "imported": true})
    } else {
        json!({"kind": "aborted", "text": "the record ends here", "imported": true})
    };
    let mut table = game.table();
    let verdict = record.verify(&mut *table);
    if let Some(difference) = verdict.differences.first() {
        ending["note"] = json!(format!("the record differs from these rules: {difference}"));
    }
    Ok((stored.collect(), ending))
}

/// Stores an imported play as a match.
fn add(
    app: &App,
    entry: &Entry,
    game: &Game,
    record: &Record,
    steps: Vec<StoredStep>,
    ending: Value,
) -> Result<Arc<Hosted>, ApiError> {
    let title = entry.title();
    let names = (entry.id.as_str(), title.as_str(), entry.source.name(), entry.source.text());
    let none = Request::parse(b"{\"players\": []}")?;
    let mut setup = Setup::from_request(&none, names, game.shape(), false)?;
    for (role, spec) in game.shape().players().zip(&mut setup.players) {
        // The name is shown; nobody plays.
        let name = record.player_names.get(role.index()).map_or("unknown", String::as_str);
        spec.text = name.chars().take(60).collect();
    }
    let hosted = Hosted::create(&app.host, short_id()?, setup, steps, Some(ending))?;
    app.add_match(&hosted);
    Ok(hosted)
}
