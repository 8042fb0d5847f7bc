//! Tournaments: start, standings, matches.

use std::sync::Arc;

use agon::shipped::Shipped;
use agon_ggp::Record;
use agon_match::tournament::{EntrantKind, Tournament, read};
use agon_players::{PlayerSource, parse_spec};
use agon_text::Source;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::Response;
use serde_json::{Value, json};

use super::{blocking, stoppable};
use crate::answer::{ApiError, Request};
use crate::app::App;
use crate::diagnostics::findings_json;
use crate::library::upload_id;
use crate::secret::short_id;
use crate::store::tournament_match;
use crate::worker::Stop;

/// Lists the tournaments, the newest first.
pub(super) async fn list(State(app): State<Arc<App>>) -> Response {
    blocking(move || {
        let all = app.tournaments.runs.list().into_iter().map(|(id, spec)| {
            let mut object = app.tournaments.runs.status(&id);
            if let Ok(tournament) = parse(&spec) {
                object["name"] = json!(tournament.name);
                object["games"] = json!(tournament.games);
                let players = tournament.players.iter().map(|entrant| &entrant.name);
                object["players"] = json!(players.collect::<Vec<_>>());
            }
            object
        });
        Ok(json!({"tournaments": all.collect::<Vec<_>>()}))
    })
    .await
}

fn parse(spec: &str) -> Result<Tournament, agon_text::Diagnostics> {
    read(spec, &|text| {
        Ok(match parse_spec(text)?.kind {
            PlayerSource::BuiltIn(..) => EntrantKind::InProcess,
            PlayerSource::Http(_) | PlayerSource::Command(_) => EntrantKind::Outside,
            PlayerSource::Human => EntrantKind::Person,
        })
    })
}

/// Starts a tournament from its description in TOML. Games are shipped ones, or games of the
/// library by their id with the ending of their language.
pub(super) async fn create(State(app): State<Arc<App>>, body: Bytes) -> Response {
    blocking(move || {
        let request = Request::parse(&body)?;
        let spec = request.text("spec")?;
        let program = app.workers.program()?.clone();
        let tournament = parse(spec).map_err(|findings| {
            let source = Source::new("tournament.toml", spec);
            let first = findings.0.first().map_or("", |finding| finding.message.as_str());
            ApiError::bad(format!("the description has errors: {first}"))
                .with(json!({"findings": findings_json(&findings.0, &source)}))
        })?;
        for entrant in &tournament.players {
            crate::matches::player(&entrant.player, app.host.start_program.is_some())?;
        }
        let mut files = Vec::new();
        for name in &tournament.games {
            if Shipped::named(name).is_some() {
                continue;
            }
            let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
            let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
            let entry = app.library.entry(stem)?;
            if !is_plain || !(name.ends_with(".kif") || name.ends_with(".toss")) {
                return Err(ApiError::bad(format!(
                    "`{name}`: give the id of a game with the ending .kif or .toss"
                )));
            }
            files.push((name.clone(), entry.source.text().to_owned()));
        }
        app.tournaments.runs.check_room()?;
        let id = short_id()?;
        // One processor is left for people who play meanwhile.
        let cores = (app.config.limits.cores.max(2) - 1).max(1);
        app.tournaments.start(&program, &id, spec, &files, cores)?;
        Ok(json!({"id": id}))
    })
    .await
}

/// Shows the standings of a tournament, also while it is played.
pub(super) async fn show(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    stoppable(move |stop| {
        let store = app.tournaments.store(&id)?;
        let mut object = app.tournaments.runs.status(&id);
        if store.is_file() {
            standings_of_store(&app, &store, &mut object, stop)?;
        }
        Ok(object)
    })
    .await
}

/// Adds the standings of a file of matches to an object, and the matches without their records, the
/// newest first.
///
/// # Errors
/// [`ApiError`] if the file cannot be read.
pub(super) fn standings_of_store(
    app: &App,
    store: &std::path::Path,
    object: &mut Value,
    stop: &Stop,
) -> Result<(), ApiError> {
    let path = format!("--store={}", store.display());
    if let Ok(standings) = app.workers.run(&["tournament", "show", "--json", &path], "", stop) {
        let matches = crate::store::tournament_matches(store).map_err(ApiError::broken)?;
        object["standings"] = standings;
        object["matches"] = json!(matches);
    }
    Ok(())
}

/// Stops a tournament. It can be continued.
pub(super) async fn stop(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    blocking(move || {
        app.tournaments.store(&id)?;
        app.tournaments.runs.stop(&id)?;
        Ok(json!({"stopped": true}))
    })
    .await
}

/// Continues a tournament that was stopped.
pub(super) async fn resume(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    blocking(move || {
        app.tournaments.store(&id)?;
        let program = app.workers.program()?.clone();
        app.tournaments.runs.check_room()?;
        let cores = (app.config.limits.cores.max(2) - 1).max(1);
        app.tournaments.resume(&program, &id, cores)?;
        Ok(json!({"resumed": true}))
    })
    .await
}

/// Returns a match of a tournament: its moves, and the id of its game in the library.
pub(super) async fn show_match(
    State(app): State<Arc<App>>,
    Path((id, match_id)): Path<(String, String)>,
) -> Response {
    blocking(move || {
        let store = app.tournaments.store(&id)?;
        let found = match_of_store(&app, &store, &match_id)?;
        found.ok_or_else(|| ApiError::missing(format!("there is no match `{match_id}`")))
    })
    .await
}

/// Returns a match of a file of matches, if it is there.
///
/// # Errors
/// [`ApiError`] if the file or the record cannot be read.
pub(super) fn match_of_store(
    app: &App,
    store: &std::path::Path,
    match_id: &str,
) -> Result<Option<Value>, ApiError> {
    let found = tournament_match(store, match_id).map_err(ApiError::broken)?;
    let Some((record, rules, name)) = found else { return Ok(None) };
    let value: Value =
        serde_json::from_str(&record).map_err(|_| ApiError::broken("the record cannot be read"))?;
    let record = Record::from_json(&value).map_err(ApiError::broken)?;
    let entry = match Shipped::named(&name) {
        Some(shipped) => app.library.entry(shipped.name)?,
        None => {
            let source = Arc::new(Source::new(name.as_str(), rules.as_str()));
            app.library.add_upload(upload_id(&rules), source, app.config.limits.uploads)?
        }
    };
    Ok(Some(json!({
        "id": match_id, "game": entry.id, "title": entry.title(), "moves": record.moves,
        "players": record.player_names, "goals": record.goal_values, "errors": record.errors,
    })))
}
