//! Matches: create, watch, play, take back, resign, export, import.

use std::convert::Infallible;
use std::sync::Arc;

use agon::{Budget, Game};
use agon_game::Role;
use agon_ggp::Record;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::analysis::report_json;
use super::positions::play_line;
use super::{Parameters, blocking, keys, parameter, theme};
use crate::answer::{Answer, ApiError, Request, joint_moves, json_response};
use crate::app::App;
use crate::matches::{Frames, Hosted, Setup, Theme, Viewer, player};
use crate::secret::{now, short_id};
use crate::store::StoredStep;

/// Maximum time for a hint, in seconds.
const MAX_HINT: f64 = 10.0;

/// Lists the matches, the newest first.
pub(super) async fn list(State(app): State<Arc<App>>) -> Response {
    blocking(move || {
        let matches = app.matches();
        let matches: Vec<Value> = matches.iter().take(500).map(|hosted| hosted.summary()).collect();
        Ok(json!({"matches": matches}))
    })
    .await
}

/// Creates a match and starts it. The answer has the secrets of the owner and of each person.
pub(super) async fn create(State(app): State<Arc<App>>, body: Bytes) -> Response {
    blocking(move || {
        let request = Request::parse(&body)?;
        let entry = app.library.entry(request.text("game")?)?;
        let game = app.library.open(&entry.id)?;
        let title = entry.title();
        let names = (entry.id.as_str(), title.as_str(), entry.source.name(), entry.source.text());
        let allows_commands = app.host.start_program.is_some();
        let mut setup = Setup::from_request(&request, names, game.shape(), allows_commands)?;
        app.check_room(setup.people().is_empty())?;
        // The opening is checked and completed before anybody is invited.
        let opening = play_line(&game, request.get("opening"))?;
        if opening.is_terminal() {
            return Err(ApiError::conflict("play has ended at this position"));
        }
        setup.opening = opening.history().map(<[String]>::to_vec).collect();
        let hosted = Hosted::create(&app.host, short_id()?, setup, Vec::new(), None)?;
        if let Err(error) = hosted.start() {
            let _ = app.host.store.delete_match(&hosted.id);
            return Err(error);
        }
        app.add_match(&hosted);
        Ok(secrets(&hosted))
    })
    .await
}

/// Returns the id of a match with its secrets, for the person who created it.
fn secrets(hosted: &Hosted) -> Value {
    let setup = hosted.setup();
    json!({"id": hosted.id, "owner_key": setup.owner, "watch_key": setup.watch,
        "role_keys": setup.keys})
}

/// Imports a record of ggp.org or a trace. Every move is checked by the rules.
pub(super) async fn import(State(app): State<Arc<App>>, body: Bytes) -> Response {
    blocking(move || {
        let request = Request::parse(&body)?;
        let record = request.get("record");
        let (moves, named, players) = if Record::is_like(record) {
            let read = Record::from_json(record)
                .map_err(|error| ApiError::bad(format!("not a record of ggp.org: {error}")))?;
            let named = read.game_key().map(str::to_owned);
            (read.moves, named, read.player_names)
        } else if let Some(play) = record["plays"].get(0) {
            let steps = play["steps"].as_array().into_iter().flatten();
            let moves: Vec<Value> = steps.map(|step| step["move"].clone()).collect();
            let moves = joint_moves(&json!(moves))
                .ok_or_else(|| ApiError::bad("the trace has a step without moves"))?;
            let name = record["game"].as_str().unwrap_or_default();
            let stem = std::path::Path::new(name).file_stem().unwrap_or_default();
            (moves, Some(stem.to_string_lossy().into_owned()), Vec::new())
        } else {
            return Err(ApiError::bad("`record` is neither a record of ggp.org nor a trace"));
        };
        let id = request.optional_text("game")?.map(str::to_owned).or(named);
        let id = id.ok_or_else(|| ApiError::bad("the record names no game: give `game`"))?;
        let entry = app.library.entry(&id)?;
        let game = app.library.open(&entry.id)?;
        let (steps, ending) = replay(&game, &moves)?;
        let title = entry.title();
        let names = (entry.id.as_str(), title.as_str(), entry.source.name(), entry.source.text());
        let none = Request::parse(b"{\"players\": []}")?;
        let mut setup = Setup::from_request(&none, names, game.shape(), false)?;
        for (role, spec) in game.shape().players().zip(&mut setup.players) {
            if let Some(name) = players.get(role.index()) {
                // The name is shown; nobody plays.
                spec.text = name.chars().take(60).collect();
            }
        }
        let hosted = Hosted::create(&app.host, short_id()?, setup, steps, Some(ending))?;
        app.add_match(&hosted);
        Ok(secrets(&hosted))
    })
    .await
}

/// Plays the moves of a record and returns the steps and the ending.
fn replay(game: &Game, moves: &[Vec<String>]) -> Result<(Vec<StoredStep>, Value), ApiError> {
    let steps = json!(moves);
    let position = play_line(game, &steps)?;
    let n_roles = game.shape().role_names.len();
    let time = now();
    let stored = position.history().map(|joint| StoredStep {
        joint: joint.to_vec(),
        errors: vec![String::new(); n_roles],
        decided: Vec::new(),
        thoughts: json!({}),
        time,
    });
    let ending = if position.is_terminal() {
        let payoffs: Vec<f64> = game.shape().roles().map(|role| position.payoff(role)).collect();
        json!({"kind": "finished", "payoffs": payoffs, "imported": true})
    } else {
        json!({"kind": "aborted", "text": "the record ends here", "imported": true})
    };
    debug_assert!(
        Frames::replay(game, &[], 1, position.history()).is_ok(),
        "a line that was played can be played again"
    );
    Ok((stored.collect(), ending))
}

/// Finds a match and who looks at it.
fn find(
    app: &App,
    id: &str,
    headers: &HeaderMap,
    parameters: &[(String, String)],
) -> Result<(Arc<Hosted>, Viewer), ApiError> {
    let hosted = app.find_match(id)?;
    let viewer = hosted.viewer(&keys(headers, parameters));
    Ok((hosted, viewer))
}

/// Shows a match as the sender may see it.
pub(super) async fn show(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Query(parameters): Parameters,
    headers: HeaderMap,
) -> Response {
    let shown = tokio::task::spawn_blocking(move || {
        let (hosted, viewer) = find(&app, &id, &headers, &parameters)?;
        let theme = theme(parameter(&parameters, "theme"));
        let from = parameter(&parameters, "from").and_then(|n| n.parse().ok()).unwrap_or(0);
        hosted.view(&viewer, from, theme).map(|(text, _)| text)
    })
    .await;
    match shown {
        Ok(Ok(text)) => {
            let headers =
                [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
            (headers, text.to_string()).into_response()
        }
        Ok(Err(error)) => error.into_response(),
        Err(error) => ApiError::broken(format!("a failure: {error}")).into_response(),
    }
}

/// A client that follows a match.
struct Follower {
    hosted: Arc<Hosted>,
    viewer: Viewer,
    theme: Theme,
    changes: tokio::sync::watch::Receiver<u64>,
    /// Number of steps that the client has seen.
    n_seen: usize,
    is_first: bool,
}

/// Streams the match as server-sent events: first everything, then what changes. Each event has the
/// steps from `from` on; a client forgets its own steps from there on, because moves may have been
/// taken back.
pub(super) async fn events(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    Query(parameters): Parameters,
    headers: HeaderMap,
) -> Response {
    let (hosted, viewer) = match find(&app, &id, &headers, &parameters) {
        Ok(found) => found,
        Err(error) => return error.into_response(),
    };
    let theme = theme(parameter(&parameters, "theme"));
    let changes = hosted.changes();
    let follower = Follower { hosted, viewer, theme, changes, n_seen: 0, is_first: true };
    let stream = futures_util::stream::unfold(follower, |mut follower| async move {
        if !follower.is_first && follower.changes.changed().await.is_err() {
            return None;
        }
        follower.is_first = false;
        let version = *follower.changes.borrow_and_update();
        let (hosted, viewer) = (Arc::clone(&follower.hosted), follower.viewer.clone());
        let (n_seen, theme) = (follower.n_seen, follower.theme);
        let view = tokio::task::spawn_blocking(move || hosted.view(&viewer, n_seen, theme)).await;
        let event = match view {
            Ok(Ok((text, n_steps))) => {
                follower.n_seen = n_steps;
                Event::default().event("match").id(version.to_string()).data(text.as_ref())
            }
            Ok(Err(error)) => {
                // JSON, because a text with a carriage return cannot be sent as it is.
                let text = Value::String(error.message).to_string();
                Event::default().event("failure").data(text)
            }
            Err(_) => return None,
        };
        Some((Ok::<Event, Infallible>(event), follower))
    });
    Sse::new(stream).keep_alive(KeepAlive::default()).into_response()
}

/// Shows an earlier position of a match.
pub(super) async fn position(
    State(app): State<Arc<App>>,
    Path((id, at)): Path<(String, usize)>,
    Query(parameters): Parameters,
    headers: HeaderMap,
) -> Response {
    blocking(move || {
        let (hosted, viewer) = find(&app, &id, &headers, &parameters)?;
        hosted.position(&viewer, at, theme(parameter(&parameters, "theme")))
    })
    .await
}

/// Does something with a match on behalf of a person who plays in it.
async fn act(
    app: Arc<App>,
    id: String,
    headers: HeaderMap,
    body: Bytes,
    act: impl FnOnce(&App, &Arc<Hosted>, &Viewer, &Request) -> Answer + Send + 'static,
) -> Response {
    blocking(move || {
        let request = if body.is_empty() { Request::parse(b"{}")? } else { Request::parse(&body)? };
        let (hosted, viewer) = find(&app, &id, &headers, &[])?;
        act(&app, &hosted, &viewer, &request)
    })
    .await
}

/// Returns the role for which a person acts: the given one, or the only one.
fn own_role(viewer: &Viewer, request: &Request) -> Result<usize, ApiError> {
    let given = request.whole("role")?.map(|role| usize::try_from(role).unwrap_or(usize::MAX));
    match (given, viewer.roles.as_slice()) {
        (Some(role), roles) if roles.contains(&role) => Ok(role),
        (None, [only]) => Ok(*only),
        (None, [_, ..]) => Err(ApiError::bad("you play several roles: give `role`")),
        (_, []) => Err(ApiError::forbidden("only a player of this match may do that")),
        (Some(_), _) => Err(ApiError::forbidden("this role is played by somebody else")),
    }
}

/// Makes a move.
pub(super) async fn make_move(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    act(app, id, headers, body, |_, hosted, viewer, request| {
        let role = own_role(viewer, request)?;
        hosted.play(role, request.whole("step")?, request.text("move")?)?;
        Ok(json!({"accepted": true}))
    })
    .await
}

/// Exchanges the secret of an invitation for another one. The invitation is void afterwards, so a
/// role is played by the first person who opens the link, and by nobody else.
pub(super) async fn claim(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    act(app, id, headers, body, |_, hosted, _, request| {
        let (role, key) = hosted.claim(request.text("key")?)?;
        Ok(json!({"role": role, "key": key}))
    })
    .await
}

/// Takes back the last decision of a person, once all people agree.
pub(super) async fn take_back(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    act(app, id, headers, body, |_, hosted, viewer, _| {
        if viewer.roles.is_empty() {
            return Err(ApiError::forbidden("only a player of this match may do that"));
        }
        Ok(json!({"done": hosted.take_back(&viewer.roles)?}))
    })
    .await
}

/// Gives up.
pub(super) async fn resign(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    act(app, id, headers, body, |_, hosted, viewer, request| {
        hosted.resign(own_role(viewer, request)?)?;
        Ok(json!({"resigned": true}))
    })
    .await
}

/// Ends a match on behalf of its owner.
pub(super) async fn abort(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    act(app, id, headers, body, |_, hosted, viewer, _| {
        require_owner(viewer)?;
        hosted.abort()?;
        Ok(json!({"aborted": true}))
    })
    .await
}

fn require_owner(viewer: &Viewer) -> Result<(), ApiError> {
    if viewer.is_owner {
        return Ok(());
    }
    Err(ApiError::forbidden("only the person who created the match may do that"))
}

/// Gives a role to another player.
pub(super) async fn replace(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    act(app, id, headers, body, |app, hosted, viewer, request| {
        require_owner(viewer)?;
        let role = request.whole("role")?.ok_or_else(|| ApiError::bad("`role` is missing"))?;
        let spec = player(request.text("player")?, app.host.start_program.is_some())?;
        hosted.replace(usize::try_from(role).unwrap_or(usize::MAX), spec)?;
        Ok(secrets(hosted))
    })
    .await
}

/// Suggests a move to a person. The search knows only what the role knows.
pub(super) async fn hint(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    act(app, id, headers, body, |app, hosted, viewer, request| {
        let role = own_role(viewer, request)?;
        if app.is_busy() {
            return Err(ApiError::busy("all processors are busy with matches; try again soon"));
        }
        let seconds = request.number("seconds", 1.0)?.clamp(0.1, MAX_HINT);
        let spec = request.optional_text("player")?.unwrap_or("auto");
        player(spec, false)?;
        let game = hosted.game()?;
        let position = play_line(&game, &json!(hosted.moves()))?;
        if position.is_terminal() {
            return Err(ApiError::conflict("play has ended"));
        }
        let mut thinker = game.player(spec).map_err(ApiError::bad)?;
        let report = thinker.think_as(Role::new(role), &position, Budget::seconds(seconds));
        let mut hint = report_json(&report, &game, seconds, true);
        if game.shape().hidden {
            // A line of play names moves of others, which a role may not know.
            hint["line"] = json!([]);
        }
        Ok(hint)
    })
    .await
}

/// Returns the record of a match in the format of ggp.org.
pub(super) async fn record(State(app): State<Arc<App>>, Path(id): Path<String>) -> Response {
    let record = tokio::task::spawn_blocking(move || app.find_match(&id)?.record()).await;
    match record {
        Ok(Ok(record)) => json_response(axum::http::StatusCode::OK, &record),
        Ok(Err(error)) => error.into_response(),
        Err(error) => ApiError::broken(format!("a failure: {error}")).into_response(),
    }
}

/// Forgets a match that is over.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    act(app, id, headers, Bytes::new(), |app, hosted, viewer, _| {
        require_owner(viewer)?;
        if hosted.is_running() {
            return Err(ApiError::conflict("the match is being played: end it first"));
        }
        app.host.store.delete_match(&hosted.id).map_err(ApiError::broken)?;
        app.remove_match(&hosted.id);
        Ok(json!({"deleted": true}))
    })
    .await
}
