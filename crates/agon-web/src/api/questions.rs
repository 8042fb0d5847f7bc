//! Questions about rules and positions: properties, explanations, proofs.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use agon::explain::ExplainOptions;
use agon_board::Layout;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::Response;
use serde_json::{Value, json};

use super::positions::play_line;
use super::{blocking, stoppable};
use crate::answer::{ApiError, Request};
use crate::app::App;

/// Maximum number of moves of a role that a place is asked about.
const MAX_QUESTIONS: usize = 40;
/// Maximum length of a sentence or formula.
const MAX_SENTENCE: usize = 2000;

/// Returns what is proved and observed of a game. Proofs run in a worker process.
pub(super) async fn properties(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    stoppable(move |stop| {
        let entry = app.library.entry(&id)?;
        let arguments = ["info", "--json", "--seconds=10", "--", "-"];
        app.workers.run(&arguments, entry.source.text(), stop)
    })
    .await
}

/// Returns the report of `agon assess` for the author of a game. It runs in a worker process.
pub(super) async fn assess(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    stoppable(move |stop| {
        let entry = app.library.entry(&id)?;
        // A report has five parts with this limit each, and they must end before the worker does.
        let seconds = format!("--seconds={}", app.workers.seconds() as f64 / 8.0);
        app.workers.run(&["assess", "--json", &seconds, "--", "-"], entry.source.text(), stop)
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
        let state = position.state();
        let concepts = concepts(&explanation.json["concepts"], &state, game.layout());
        Ok(json!({"sections": sections.collect::<Vec<_>>(), "concepts": concepts}))
    })
    .await
}

/// Returns the sets of facts that are typical of won plays, by role, with their places on the board
/// and the facts that hold here.
fn concepts(learned: &Value, state: &[String], layout: &Layout) -> Vec<Value> {
    let mut found = Vec::new();
    for role in learned["roles"].as_array().into_iter().flatten() {
        for rule in role["rules"].as_array().into_iter().flatten() {
            let facts = sentences(rule["facts"].as_str().unwrap_or_default());
            let places: BTreeSet<&str> =
                facts.iter().filter_map(|fact| layout.place_id(fact)).collect();
            if places.is_empty() {
                continue;
            }
            let held: Vec<&String> = facts.iter().filter(|fact| state.contains(fact)).collect();
            found.push(json!({"role": role["role"], "value": rule["value"], "facts": facts,
                "places": places, "held": held}));
        }
    }
    found
}

/// Splits a text into its sentences: `(cell 1 1 x) over` has two.
fn sentences(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut depth = 0;
    for word in text.split_whitespace() {
        match found.last_mut() {
            Some(last) if depth > 0 => {
                last.push(' ');
                last.push_str(word);
            }
            _ => found.push(word.to_owned()),
        }
        depth += word.matches('(').count();
        depth = depth.saturating_sub(word.matches(')').count());
    }
    found
}

/// Returns what can be asked about a place of the board: the facts there, and the moves that touch
/// it, legal or not. Each is a sentence for `why`.
pub(super) async fn about_place(State(app): State<Arc<App>>, body: Bytes) -> Response {
    blocking(move || {
        let request = Request::parse(&body)?;
        let place = request.text("place")?;
        let game = app.library.open(request.text("game")?)?;
        let position = play_line(&game, request.get("moves"))?;
        let layout = game.layout();
        let shape = game.shape();
        let is_toss = game.toss().is_some();
        let mut questions = Vec::new();
        for fluent in position.state() {
            if layout.place_id(&fluent) == Some(place) {
                let sentence = if is_toss { as_atom(&fluent) } else { format!("(true {fluent})") };
                questions.push(json!({"kind": "fact", "text": fluent, "sentence": sentence}));
            }
        }
        for role in shape.players() {
            let legal = position.legal_moves(role);
            let all = match game.compiled() {
                Some(compiled) => compiled.circuit.roles[role.index()].moves.clone(),
                None => legal.clone(),
            };
            let targets = layout.targets(&all).into_iter();
            let here =
                targets.filter(|target| target.steps.iter().flatten().any(|other| other == place));
            for target in here.take(MAX_QUESTIONS) {
                let name = &shape.role_names[role.index()];
                let is_legal = legal.contains(&target.text);
                let sentence = if is_toss {
                    target.text.clone()
                } else {
                    format!("(legal {name} {})", target.text)
                };
                questions.push(json!({"kind": if is_legal { "legal" } else { "illegal" },
                    "role": name, "text": target.text, "sentence": sentence}));
            }
        }
        Ok(json!({"place": place, "questions": questions}))
    })
    .await
}

/// Writes a fluent of a structure as an atom of a formula: `(P a1)` is `P(a1)`.
fn as_atom(fluent: &str) -> String {
    let inner = fluent.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let mut words = inner.unwrap_or(fluent).split_whitespace();
    let relation = words.next().unwrap_or_default();
    format!("{relation}({})", words.collect::<Vec<_>>().join(", "))
}

/// Proves a sentence at a position, or shows the conditions that fail. In a structure rewriting
/// game the sentence is a move, a formula or a term, and the satisfying assignments are returned.
pub(super) async fn why(State(app): State<Arc<App>>, body: Bytes) -> Response {
    stoppable(move |stop| {
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
        let mut answer = without_state(app.workers.run(&arguments, entry.source.text(), stop)?);
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
