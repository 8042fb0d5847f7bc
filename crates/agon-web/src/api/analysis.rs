//! Analysis: a search whose report is sent again and again while it runs.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use agon::{Budget, Game, Position, Report};
use agon_game::Role;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::sync::mpsc::{Sender, channel};

use super::positions::play_line;
use crate::answer::{ApiError, Request};
use crate::app::App;
use crate::matches::player;

/// How long the search runs before its first report.
const FIRST: f64 = 0.15;
/// How long the search runs between two reports.
const INTERVAL: f64 = 0.4;
/// The longest time between two reports, of a search that makes no progress in shorter ones.
const MAX_SLICE: f64 = 6.4;
/// How long an analysis waits before it looks again whether a processor is free.
const WAIT: Duration = Duration::from_millis(100);
/// Maximum number of moves in a report.
const MAX_CONSIDERED: usize = 40;

/// Counts a running analysis.
struct Slot(Arc<App>);

impl Slot {
    fn take(app: &Arc<App>) -> Result<Slot, ApiError> {
        let limit = app.config.limits.cores.max(1) * 2;
        let n_before = app.n_analyses.fetch_add(1, Ordering::Relaxed);
        let slot = Slot(Arc::clone(app));
        if n_before >= limit {
            return Err(ApiError::busy(format!(
                "{limit} analyses are running, which is the limit: stop one of them"
            )));
        }
        Ok(slot)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.n_analyses.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Analyses a position and streams reports as server-sent events. It ends when the time is up, the
/// value is proved, or the client closes the connection.
pub(super) async fn analyse(State(app): State<Arc<App>>, body: Bytes) -> Response {
    let prepared = tokio::task::spawn_blocking(move || prepare(&app, &body)).await;
    let search = match prepared {
        Ok(Ok(search)) => search,
        Ok(Err(error)) => return error.into_response(),
        Err(error) => return ApiError::broken(format!("a failure: {error}")).into_response(),
    };
    let (sender, receiver) = channel::<Value>(4);
    let spawned =
        std::thread::Builder::new().name("analysis".to_owned()).spawn(move || search.run(&sender));
    if let Err(error) = spawned {
        return ApiError::busy(format!("no thread is left: {error}")).into_response();
    }
    let stream = futures_util::stream::unfold(receiver, |mut receiver| async move {
        let value = receiver.recv().await?;
        let event = Event::default().event("report").data(value.to_string());
        Some((Ok::<Event, Infallible>(event), receiver))
    });
    Sse::new(stream).keep_alive(KeepAlive::default()).into_response()
}

/// A search that is ready to run.
struct Search {
    app: Arc<App>,
    game: Game,
    position: Position,
    role: Role,
    spec: String,
    seconds: f64,
    _slot: Slot,
}

fn prepare(app: &Arc<App>, body: &[u8]) -> Result<Search, ApiError> {
    let request = Request::parse(body)?;
    let slot = Slot::take(app)?;
    let game = app.library.open(request.text("game")?)?;
    let position = play_line(&game, request.get("moves"))?;
    let spec = request.optional_text("player")?.unwrap_or_else(|| game.analyst()).to_owned();
    player(&spec, false)?;
    let max = app.config.limits.analysis_seconds;
    let seconds = request.number("seconds", 30.0)?.clamp(0.1, max);
    let role = match request.whole("role")? {
        Some(role) => usize::try_from(role).unwrap_or(usize::MAX),
        None => position.choosers().first().map_or(0, |role| role.index()),
    };
    if role >= game.shape().role_names.len() {
        return Err(ApiError::bad("there is no such role"));
    }
    if position.is_terminal() {
        return Err(ApiError::conflict("play has ended"));
    }
    let role = Role::new(role);
    Ok(Search { app: Arc::clone(app), game, position, role, spec, seconds, _slot: slot })
}

impl Search {
    /// Searches in slices, so that the client hears of progress and running matches come first.
    fn run(self, sender: &Sender<Value>) {
        let mut player = match self.game.player(&self.spec) {
            Ok(player) => player,
            Err(error) => {
                let _ = sender.blocking_send(json!({"error": error.to_string()}));
                return;
            }
        };
        let began = Instant::now();
        let mut slice = FIRST;
        // The nodes, playouts and iterations of all slices.
        let mut done = [0_u64; 3];
        loop {
            while self.app.is_busy() {
                // The clocks of matches are protected: an analysis waits for a free processor.
                if sender.is_closed() || began.elapsed().as_secs_f64() > self.seconds {
                    return;
                }
                std::thread::sleep(WAIT);
            }
            let stop = Arc::new(AtomicBool::new(false));
            let budget = Budget { stop, ..Budget::seconds(slice) };
            let mut report = player.think_as(self.role, &self.position, budget);
            // A search whose memory is full tidies it up first, if there is time for that. A slice
            // without progress is too short.
            let is_stuck = report.iterations == 0;
            done[0] += report.nodes;
            done[1] += report.playouts;
            if report.playouts > 0 || is_stuck {
                // Searches without playouts count depths, which do not add up.
                done[2] += report.iterations;
                report.iterations = done[2];
            }
            (report.nodes, report.playouts) = (done[0], done[1]);
            let spent = began.elapsed().as_secs_f64();
            let is_last = spent >= self.seconds || report.is_proven || report.error.is_some();
            let mut value = report_json(&report, &self.game, spent, is_last);
            value["player"] = json!(self.spec);
            if sender.blocking_send(value).is_err() || is_last {
                return;
            }
            slice = if is_stuck { (2.0 * slice).min(MAX_SLICE) } else { slice.max(INTERVAL) };
        }
    }
}

/// Returns a report as JSON. The value of each role is given where it is known.
pub(crate) fn report_json(report: &Report, game: &Game, seconds: f64, is_last: bool) -> Value {
    let shape = game.shape();
    let considered = report.considered.iter().take(MAX_CONSIDERED).map(|move_| {
        json!({
            "move": move_.text, "visits": move_.visits, "value": move_.value,
            "probability": move_.probability, "proven": move_.is_proven, "line": move_.line,
        })
    });
    let has_value = !report.considered.is_empty() || report.is_proven;
    let targets = game.layout().targets(
        &report.considered.iter().take(MAX_CONSIDERED).map(|m| m.text.clone()).collect::<Vec<_>>(),
    );
    json!({
        "role": report.role.index(), "role_name": shape.role_names[report.role.index()],
        "best": report.best_move, "value": has_value.then_some(report.value),
        "proven": report.is_proven, "considered": considered.collect::<Vec<_>>(),
        "targets": targets, "line": report.line, "iterations": report.iterations,
        "nodes": report.nodes, "playouts": report.playouts, "seconds": seconds,
        "last": is_last, "error": report.error.as_ref().map(ToString::to_string),
    })
}
