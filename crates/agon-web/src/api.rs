//! The HTTP API under `/api/v1`. Everything that the page can do goes through it; `openapi.json`
//! describes it.

mod analysis;
pub(crate) mod editor;
mod experiments;
mod games;
mod hosting;
mod import;
mod players;
mod positions;
mod questions;
mod tournaments;
mod trajectory;

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Query};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::json;

use crate::answer::{Answer, ApiError, respond};
use crate::app::App;
use crate::matches::Theme;
use crate::worker::Stop;

pub(crate) use positions::{families_json, is_continuous, rules_kind};

/// The description of the API.
pub(crate) const OPENAPI: &str = include_str!("../openapi.json");

/// Query parameters of a request.
pub(crate) type Parameters = Query<Vec<(String, String)>>;

/// Returns the routes of the API.
pub(crate) fn router(app: &Arc<App>) -> Router<Arc<App>> {
    Router::new()
        .route("/api/v1", get(about))
        .route("/api/v1/openapi.json", get(openapi))
        .route("/api/v1/games", get(games::list).post(games::upload))
        .route("/api/v1/games/{id}", get(games::show))
        .route("/api/v1/games/{id}/rules", get(games::rules))
        .route("/api/v1/games/{id}/picture.svg", get(games::picture))
        .route("/api/v1/games/{id}/properties", get(questions::properties))
        .route("/api/v1/games/{id}/assess", get(questions::assess))
        .route("/api/v1/players", get(players::list))
        .route("/api/v1/check", post(games::check))
        .route("/api/v1/codes/{code}", get(games::code))
        .route("/api/v1/lsp", get(editor::connect))
        .route("/api/v1/positions", post(positions::position))
        .route("/api/v1/trajectory", post(trajectory::trajectory))
        .route("/api/v1/analysis", post(analysis::analyse))
        .route("/api/v1/explain", post(questions::explain))
        .route("/api/v1/why", post(questions::why))
        .route("/api/v1/questions", post(questions::about_place))
        .route("/api/v1/matches", get(hosting::list).post(hosting::create))
        .route("/api/v1/matches/import", post(import::import))
        .route("/api/v1/matches/{id}", get(hosting::show).delete(hosting::delete))
        .route("/api/v1/matches/{id}/events", get(hosting::events))
        .route("/api/v1/matches/{id}/positions/{at}", get(hosting::position))
        .route("/api/v1/matches/{id}/moves", post(hosting::make_move))
        .route("/api/v1/matches/{id}/claim", post(hosting::claim))
        .route("/api/v1/matches/{id}/takeback", post(hosting::take_back))
        .route("/api/v1/matches/{id}/resign", post(hosting::resign))
        .route("/api/v1/matches/{id}/abort", post(hosting::abort))
        .route("/api/v1/matches/{id}/seat", post(hosting::replace))
        .route("/api/v1/matches/{id}/hint", post(hosting::hint))
        .route("/api/v1/matches/{id}/record", get(hosting::record))
        .route("/api/v1/tournaments", get(tournaments::list).post(tournaments::create))
        .route("/api/v1/tournaments/{id}", get(tournaments::show))
        .route("/api/v1/tournaments/{id}/stop", post(tournaments::stop))
        .route("/api/v1/tournaments/{id}/resume", post(tournaments::resume))
        .route("/api/v1/tournaments/{id}/matches/{match_id}", get(tournaments::show_match))
        .route("/api/v1/experiments", get(experiments::list).post(experiments::create))
        .route("/api/v1/experiments/{id}", get(experiments::show))
        .route("/api/v1/experiments/{id}/stop", post(experiments::stop))
        .route("/api/v1/experiments/{id}/resume", post(experiments::resume))
        .route("/api/v1/experiments/{id}/matches/{match_id}", get(experiments::show_match))
        .route("/api/v1/{*rest}", get(unknown).post(unknown).delete(unknown))
        .layer(DefaultBodyLimit::max(app.config.limits.body))
}

/// Runs work that may take long in a thread of its own, so that the server stays responsive.
pub(crate) async fn blocking(work: impl FnOnce() -> Answer + Send + 'static) -> Response {
    let answer = tokio::task::spawn_blocking(work).await;
    respond(answer.unwrap_or_else(|error| Err(ApiError::broken(format!("a failure: {error}")))))
}

/// Like [`blocking`], for work that takes a while: it is told to stop when the client closes the
/// connection.
pub(crate) async fn stoppable(work: impl FnOnce(&Stop) -> Answer + Send + 'static) -> Response {
    let stop = Stop::default();
    // The server drops this future, and so the value, if the client goes.
    let _stop_on_drop = stop.on_drop();
    blocking(move || work(&stop)).await
}

/// Returns the value of a query parameter.
pub(crate) fn parameter<'a>(parameters: &'a [(String, String)], name: &str) -> Option<&'a str> {
    parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// Returns the theme that a request asks for.
pub(crate) fn theme(name: Option<&str>) -> Theme {
    if name == Some("dark") { Theme::Dark } else { Theme::Light }
}

/// Returns the secrets of matches that a request carries: the header `Agon-Key` with secrets
/// separated by commas, or the parameter `key`.
pub(crate) fn keys(headers: &HeaderMap, parameters: &[(String, String)]) -> Vec<String> {
    let header = headers.get("agon-key").and_then(|value| value.to_str().ok()).unwrap_or("");
    let given = header.split(',').chain(parameter(parameters, "key").unwrap_or("").split(','));
    given.map(str::trim).filter(|key| !key.is_empty()).map(str::to_owned).collect()
}

async fn about(axum::extract::State(app): axum::extract::State<Arc<App>>) -> Response {
    respond(Ok(json!({
        "name": "agon", "version": env!("CARGO_PKG_VERSION"), "api": "v1",
        "commands": app.config.start_program.is_some(),
        "workers": app.config.worker.is_some(),
        "stored": app.config.store.is_some(),
        "cores": app.config.limits.cores,
        "max_rules_bytes": app.config.limits.body,
        "max_analysis_seconds": app.config.limits.analysis_seconds,
    })))
}

async fn openapi() -> Response {
    use axum::response::IntoResponse as _;
    ([(axum::http::header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

async fn unknown(uri: axum::http::Uri) -> Response {
    respond(Err(ApiError::missing(format!(
        "there is no `{}` in this API; see /api/v1/openapi.json",
        uri.path()
    ))))
}
