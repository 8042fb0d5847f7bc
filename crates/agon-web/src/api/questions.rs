//! Questions about rules and positions: properties, explanations, proofs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use agon::explain::ExplainOptions;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::Response;
use serde_json::{Value, json};

use super::blocking;
use super::positions::play_line;
use crate::answer::{ApiError, Request};
use crate::app::App;

/// Maximum length of a sentence or formula.
const MAX_SENTENCE: usize = 2000;

/// Returns what is proved and observed of a game. Proofs run in a worker process.
pub(super) async fn properties(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    blocking(move || {
        let entry = app.library.entry(&id)?;
        let arguments = ["info", "--json", "--seconds=10", "--", "-"];
        app.workers.run(&arguments, entry.source.text())
    })
    .await
}

/// Returns the report of `agon assess` for the author of a game. It runs in a worker process.
pub(super) async fn assess(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    blocking(move || {
        let entry = app.library.entry(&id)?;
        app.workers.run(&["assess", "--json", "--", "-"], entry.source.text())
    })
    .await
}

/// Explains a position in words: what the rules say about it and why moves are good or bad.
pub(super) async fn explain(State(app): State<Arc<App>>, body: Bytes) -> Response {
    blocking(move || {
        let request = Request::parse(&body)?;
        let game = app.library.open(request.text("game")?)?;
        let position = play_line(&game, request.get("moves"))?;
        let options = ExplainOptions { time: Duration::from_secs(8), ..ExplainOptions::default() };
        let explanation = game.explain_with(&position, &options).map_err(ApiError::bad)?;
        let sections = explanation.sections.iter().map(|section| {
            let lines = section.lines.iter();
            let lines = lines.map(|line| json!({"label": line.label, "text": line.text}));
            json!({"title": section.title, "lines": lines.collect::<Vec<_>>()})
        });
        Ok(json!({"sections": sections.collect::<Vec<_>>()}))
    })
    .await
}

/// Proves a sentence at a position, or shows the conditions that fail. In a structure rewriting
/// game the sentence is a move, a formula or a term, and the satisfying assignments are returned.
pub(super) async fn why(State(app): State<Arc<App>>, body: Bytes) -> Response {
    blocking(move || {
        let request = Request::parse(&body)?;
        let sentence = request.text("sentence")?.trim();
        if sentence.is_empty() || sentence.len() > MAX_SENTENCE {
            return Err(ApiError::bad(format!(
                "`sentence` must have 1 to {MAX_SENTENCE} characters"
            )));
        }
        let entry = app.library.entry(request.text("game")?)?;
        let game = app.library.open(&entry.id)?;
        let position = play_line(&game, request.get("moves"))?;
        let after: Vec<String> = position.history().map(|joint| joint.join(" ")).collect();
        let after = format!("--after={}", after.join(" "));
        let does = request.texts("does")?;
        let does = format!("--does={}", does.join(" "));
        let mut arguments = vec!["why", "--json", after.as_str()];
        if !request.get("does").is_null() {
            arguments.push(&does);
        }
        arguments.extend(["--", "-", sentence]);
        let mut answer = without_state(app.workers.run(&arguments, entry.source.text())?);
        if answer["witnesses"].is_array() {
            answer["places"] = places_of_elements(&answer["witnesses"], &game);
        }
        Ok(answer)
    })
    .await
}

/// Returns for each element of satisfying assignments the place on the board where it is drawn.
fn places_of_elements(witnesses: &Value, game: &agon::Game) -> Value {
    let all = witnesses.as_array().into_iter().flatten();
    let names = all.filter_map(Value::as_object).flat_map(|witness| witness.values());
    let names: BTreeSet<&str> = names.filter_map(Value::as_str).collect();
    let moves: Vec<String> = names.iter().map(|name| format!("(witness {name})")).collect();
    let targets = game.layout().targets(&moves);
    let places = names.into_iter().zip(targets).filter_map(|(name, target)| {
        let place = target.steps.into_iter().next()?.into_iter().next()?;
        Some((name.to_owned(), json!(place)))
    });
    Value::Object(places.collect())
}

/// Removes the state, which the sender knows.
fn without_state(mut answer: Value) -> Value {
    if let Value::Object(object) = &mut answer {
        object.remove("state");
    }
    answer
}
