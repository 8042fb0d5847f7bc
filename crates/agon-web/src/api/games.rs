//! The library of games, and checks of rules.

use std::sync::Arc;

use agon_text::Source;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::{Parameters, blocking, parameter, stoppable, theme};
use crate::answer::{ApiError, Request, respond};
use crate::app::App;
use crate::diagnostics::{check as check_rules, counts, findings_json};
use crate::library::upload_id;
use crate::secret::now;

/// Lists the games.
pub(super) async fn list(State(app): State<Arc<App>>) -> Response {
    blocking(move || {
        let games: Vec<Value> = app.library.list().iter().map(|entry| entry.to_json()).collect();
        Ok(json!({"games": games}))
    })
    .await
}

/// Shows a game: what the list has, the engine that plays it, and how it is drawn.
pub(super) async fn show(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    blocking(move || {
        let entry = app.library.entry(&id)?;
        let mut object = entry.to_json();
        match app.library.open(&id) {
            Ok(game) => {
                let shape = game.shape();
                object["engine"] = json!(game.engine().name());
                object["notes"] = json!(game.notes());
                object["layout"] = json!(game.layout().kind());
                object["nature"] = json!(shape.nature.map(agon_game::Role::index));
                object["turn_taking"] = json!(shape.turn_taking);
                object["constant_sum"] = json!(shape.constant_sum);
            }
            Err(error) => object["problem"] = json!(error.message),
        }
        Ok(object)
    })
    .await
}

/// Returns the text of the rules.
pub(super) async fn rules(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    match app.library.entry(&id) {
        Ok(entry) => {
            let headers = [(header::CONTENT_TYPE, "text/plain; charset=utf-8")];
            (headers, entry.source.text().to_owned()).into_response()
        }
        Err(error) => error.into_response(),
    }
}

/// Returns a picture of the start position as SVG.
pub(super) async fn picture(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Query(parameters): Parameters,
) -> Response {
    let theme = theme(parameter(&parameters, "theme"));
    // A page asks for dozens of pictures at once, which must not take all threads.
    let Ok(_permit) = app.drawing.acquire().await else {
        return ApiError::busy("the server is ending").into_response();
    };
    let drawer = Arc::clone(&app);
    let draw = move || drawer.library.picture(&id, theme, &drawer.host.store);
    let picture = tokio::task::spawn_blocking(draw).await;
    match picture {
        Ok(Ok(svg)) => {
            let headers = [
                (header::CONTENT_TYPE, "image/svg+xml"),
                (header::CACHE_CONTROL, "private, max-age=300"),
            ];
            (headers, svg.to_string()).into_response()
        }
        Ok(Err(error)) => error.into_response(),
        Err(error) => ApiError::broken(format!("a failure: {error}")).into_response(),
    }
}

/// Adds a rulesheet to the library. The rules are played in a worker process first, so that rules
/// that never end are refused before the server opens them. A draft is forgotten after some time,
/// and no list shows it.
pub(super) async fn upload(State(app): State<Arc<App>>, body: Bytes) -> Response {
    stoppable(move |stop| {
        let request = Request::parse(&body)?;
        let rules = request.text("rules")?;
        let name = file_name(request.optional_text("name")?.unwrap_or("rules"));
        let source = Arc::new(Source::new(name.as_str(), rules));
        let findings = check_rules(&source);
        let (n_errors, n_warnings) = counts(&findings.0);
        let shown = findings_json(&findings.0, &source);
        if n_errors > 0 {
            let errors = if n_errors == 1 { "error" } else { "errors" };
            let message = format!("{name} has {n_errors} {errors} and cannot be played");
            return Err(ApiError::bad(message).with(json!({"findings": shown})));
        }
        if app.workers.program().is_ok() {
            let arguments = ["check", "--json", "--plays=2", "--max-steps=200", "--", "-"];
            let checked = app.workers.run(&arguments, rules, stop)?;
            if checked["errors"].as_u64().unwrap_or(0) > 0 {
                let first = &checked["findings"][0]["message"];
                let message = format!("{name} fails in play: {}", first.as_str().unwrap_or(""));
                return Err(ApiError::bad(message).with(json!({"played": checked["findings"]})));
            }
        }
        let id = upload_id(rules);
        let limits = &app.config.limits;
        let entry = if request.flag("draft", false)? {
            app.library.add_draft(id.clone(), source, limits.drafts)
        } else {
            let entry = app.library.add_upload(id.clone(), source, limits.uploads)?;
            app.host.store.save_upload(&id, &name, rules, now()).map_err(ApiError::broken)?;
            entry
        };
        app.library.open(&id)?;
        let mut object = entry.to_json();
        object["warnings"] = json!(n_warnings);
        object["findings"] = json!(shown);
        Ok(object)
    })
    .await
}

/// Returns the last part of a path that was sent, without characters that have a meaning.
fn file_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = last.chars().filter(|c| !c.is_control()).take(80).collect();
    if clean.trim().is_empty() { "rules".to_owned() } else { clean }
}

/// Checks rules without playing them: what is wrong, where, and how to fix it.
pub(super) async fn check(body: Bytes) -> Response {
    blocking(move || {
        let request = Request::parse(&body)?;
        let name = file_name(request.optional_text("name")?.unwrap_or("rules"));
        let source = Arc::new(Source::new(name, request.text("rules")?));
        let findings = check_rules(&source);
        let (n_errors, n_warnings) = counts(&findings.0);
        Ok(json!({
            "errors": n_errors, "warnings": n_warnings,
            "findings": findings_json(&findings.0, &source),
        }))
    })
    .await
}

/// Explains a code of a finding.
pub(super) async fn code(Path(code): Path<String>) -> Response {
    let mut pages = agon_gdl::codes::pages().iter().chain(agon_toss::codes::pages());
    let found = pages.find(|page| page.code == code);
    respond(match found {
        Some(page) => Ok(json!({"code": page.code, "summary": page.summary, "text": page.page})),
        None => Err(ApiError::missing(format!("there is no code `{code}`"))),
    })
}
