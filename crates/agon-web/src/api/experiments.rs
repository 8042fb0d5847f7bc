//! Experiments of published papers: list, start, tables, matches.

use std::sync::Arc;

use agon::experiment::{EXPERIMENTS, Experiment, Size};
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::response::Response;
use serde_json::{Value, json};

use super::tournaments::{match_of_store, standings_of_store};
use super::{blocking, stoppable};
use crate::answer::{ApiError, Request};
use crate::app::App;
use crate::experiments::Run;
use crate::secret::short_id;

/// Lists the experiments that can be repeated, and their runs, the newest first.
pub(super) async fn list(State(app): State<Arc<App>>) -> Response {
    blocking(move || {
        let known = EXPERIMENTS.iter().filter_map(|known| {
            let experiment = Experiment::read(known.text, Size::Quick).ok()?;
            let games: Vec<&String> = experiment.games.iter().map(|game| &game.name).collect();
            Some(json!({"name": known.name, "title": experiment.title, "games": games}))
        });
        let runs = app.experiments.list().into_iter().map(|(id, run)| {
            let mut object = app.experiments.runs.status(&id);
            object["run"] = run.to_json();
            object
        });
        Ok(json!({"experiments": known.collect::<Vec<Value>>(),
            "runs": runs.collect::<Vec<Value>>()}))
    })
    .await
}

/// Starts an experiment in a process of its own.
pub(super) async fn create(State(app): State<Arc<App>>, body: Bytes) -> Response {
    blocking(move || {
        let request = Request::parse(&body)?;
        let run = Run {
            name: request.text("name")?.to_owned(),
            quick: request.flag("quick", true)?,
            iterations: request.whole("iterations")?,
            repeats: request.whole("repeats")?,
            only: request.optional_text("only")?.map(str::to_owned),
        };
        if run.iterations == Some(0) || run.repeats == Some(0) {
            return Err(ApiError::bad("`iterations` and `repeats` must be at least 1"));
        }
        run.plan()?;
        let program = app.workers.program()?;
        app.experiments.runs.check_room()?;
        let id = short_id()?;
        app.experiments.start(program, &id, &run)?;
        Ok(json!({"id": id}))
    })
    .await
}

/// Shows a run: the standings of each column, also while it is played, and the whole report at its
/// end.
pub(super) async fn show(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    stoppable(move |stop| {
        let run = app.experiments.run(&id)?;
        let plan = run.plan()?;
        let mut object = app.experiments.runs.status(&id);
        let names: Vec<&String> =
            plan.experiment.columns.iter().map(|column| &column.name).collect();
        object["run"] = run.to_json();
        object["title"] = json!(plan.experiment.title);
        object["column_names"] = json!(names);
        object["missing"] = json!(plan.missing);
        let mut columns = Vec::new();
        for (name, store) in app.experiments.columns(&id)? {
            let mut column = json!({"name": name});
            standings_of_store(&app, &store, &mut column, stop)?;
            columns.push(column);
        }
        object["columns"] = json!(columns);
        object["report"] = json!(app.experiments.report(&id));
        Ok(object)
    })
    .await
}

/// Stops a run. It can be continued.
pub(super) async fn stop(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    blocking(move || {
        app.experiments.run(&id)?;
        app.experiments.runs.stop(&id)?;
        Ok(json!({"stopped": true}))
    })
    .await
}

/// Continues a run that was stopped.
pub(super) async fn resume(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    blocking(move || {
        app.experiments.run(&id)?;
        app.experiments.runs.check_room()?;
        app.experiments.resume(app.workers.program()?, &id)?;
        Ok(json!({"resumed": true}))
    })
    .await
}

/// Returns a match of a run, whichever column it belongs to.
pub(super) async fn show_match(
    State(app): State<Arc<App>>,
    Path((id, match_id)): Path<(String, String)>,
) -> Response {
    blocking(move || {
        for (_, store) in app.experiments.columns(&id)? {
            if let Some(found) = match_of_store(&app, &store, &match_id)? {
                return Ok(found);
            }
        }
        Err(ApiError::missing(format!("there is no match `{match_id}`")))
    })
    .await
}
