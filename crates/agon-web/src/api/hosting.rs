//! Matches: create, watch, play, take back, resign, export.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use agon::Budget;
use agon_game::Role;
use axum::body::Bytes;
use axum::extract::{FromRequestParts, Path, Query, State};
use axum::http::header;
use axum::http::request::Parts;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use super::analysis::report_json;
use super::positions::play_line;
use super::{Parameters, blocking, keys, parameter, theme};
use crate::answer::{Answer, ApiError, Request};
use crate::app::App;
use crate::matches::{Hosted, Setup, Theme, Viewer, player};
use crate::secret::short_id;

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

/// Returns the id of a match with its secrets, for the person who created it. The secret of a role
/// that somebody has taken is known to that person alone.
pub(super) fn secrets(hosted: &Hosted) -> Value {
    let setup = hosted.setup();
    let open = setup.keys.iter().zip(&setup.claimed);
    let open: Vec<Option<&String>> =
        open.map(|(key, is_claimed)| key.as_ref().filter(|_| !is_claimed)).collect();
    json!({"id": hosted.id, "owner_key": setup.owner, "watch_key": setup.watch,
        "role_keys": open})
}

/// A request about one match: the id in its path, the secrets that it carries, its parameters.
pub(super) struct About {
    app: Arc<App>,
    path: BTreeMap<String, String>,
    keys: Vec<String>,
    parameters: Vec<(String, String)>,
}

impl FromRequestParts<Arc<App>> for About {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<About, Response> {
        let bad = |what: String| ApiError::bad(what).into_response();
        let Path(path) = Path::from_request_parts(parts, app)
            .await
            .map_err(|error| bad(format!("the address: {error}")))?;
        let Query(parameters): Parameters = Query::from_request_parts(parts, app)
            .await
            .map_err(|error| bad(format!("the parameters: {error}")))?;
        let keys = keys(&parts.headers, &parameters);
        Ok(About { app: Arc::clone(app), path, keys, parameters })
    }
}

impl About {
    /// Finds the match and who looks at it.
    fn find(&self) -> Result<(Arc<Hosted>, Viewer), ApiError> {
        let hosted = self.app.find_match(self.path.get("id").map_or("", String::as_str))?;
        let viewer = hosted.viewer(&self.keys);
        Ok((hosted, viewer))
    }

    /// Returns the theme of pictures.
    fn theme(&self) -> Theme {
        theme(parameter(&self.parameters, "theme"))
    }

    /// Does something with the match on behalf of the sender. A missing body is an empty object.
    async fn act(
        self,
        body: Bytes,
        act: impl FnOnce(&App, &Arc<Hosted>, &Viewer, &Request) -> Answer + Send + 'static,
    ) -> Response {
        blocking(move || {
            let body: &[u8] = if body.is_empty() { b"{}" } else { &body };
            let request = Request::parse(body)?;
            let (hosted, viewer) = self.find()?;
            act(&self.app, &hosted, &viewer, &request)
        })
        .await
    }
}

/// Shows a match as the sender may see it.
pub(super) async fn show(about: About) -> Response {
    let shown = tokio::task::spawn_blocking(move || {
        let (hosted, viewer) = about.find()?;
        let from = parameter(&about.parameters, "from").and_then(|n| n.parse().ok()).unwrap_or(0);
        hosted.view(&viewer, from, about.theme()).map(|(text, _)| text)
    })
    .await;
    match shown {
        Ok(Ok(text)) => {
            let headers =
                [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
            (headers, text).into_response()
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
pub(super) async fn events(about: About) -> Response {
    let (hosted, viewer) = match about.find() {
        Ok(found) => found,
        Err(error) => return error.into_response(),
    };
    let theme = about.theme();
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
                Event::default().event("match").id(version.to_string()).data(text)
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
pub(super) async fn position(about: About) -> Response {
    blocking(move || {
        let at = about.path.get("at").map_or("", String::as_str);
        let at =
            at.parse().map_err(|_| ApiError::bad(format!("`{at}` is not a number of steps")))?;
        let (hosted, viewer) = about.find()?;
        hosted.position(&viewer, at, about.theme())
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
pub(super) async fn make_move(about: About, body: Bytes) -> Response {
    about
        .act(body, |_, hosted, viewer, request| {
            let role = own_role(viewer, request)?;
            hosted.play(role, request.whole("step")?, request.text("move")?)?;
            Ok(json!({"accepted": true}))
        })
        .await
}

/// Exchanges the secret of an invitation for another one. The invitation is void afterwards, so a
/// role is played by the first person who opens the link, and by nobody else.
pub(super) async fn claim(about: About, body: Bytes) -> Response {
    about
        .act(body, |_, hosted, _, request| {
            let (role, key) = hosted.claim(request.text("key")?)?;
            Ok(json!({"role": role, "key": key}))
        })
        .await
}

/// Takes back the last decision of a person, once all people agree.
pub(super) async fn take_back(about: About, body: Bytes) -> Response {
    about
        .act(body, |_, hosted, viewer, _| {
            if viewer.roles.is_empty() {
                return Err(ApiError::forbidden("only a player of this match may do that"));
            }
            Ok(json!({"done": hosted.take_back(&viewer.roles)?}))
        })
        .await
}

/// Gives up.
pub(super) async fn resign(about: About, body: Bytes) -> Response {
    about
        .act(body, |_, hosted, viewer, request| {
            hosted.resign(own_role(viewer, request)?)?;
            Ok(json!({"resigned": true}))
        })
        .await
}

/// Ends a match on behalf of its owner.
pub(super) async fn abort(about: About, body: Bytes) -> Response {
    about
        .act(body, |_, hosted, viewer, _| {
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
pub(super) async fn replace(about: About, body: Bytes) -> Response {
    about
        .act(body, |app, hosted, viewer, request| {
            require_owner(viewer)?;
            let role = request.whole("role")?.ok_or_else(|| ApiError::bad("`role` is missing"))?;
            let spec = player(request.text("player")?, app.host.start_program.is_some())?;
            hosted.replace(usize::try_from(role).unwrap_or(usize::MAX), spec)?;
            Ok(secrets(hosted))
        })
        .await
}

/// Suggests a move to a person. The search knows only what the role knows.
pub(super) async fn hint(about: About, body: Bytes) -> Response {
    about
        .act(body, |app, hosted, viewer, request| {
            let role = own_role(viewer, request)?;
            if app.is_busy() {
                return Err(ApiError::busy("all processors are busy with matches; try again soon"));
            }
            let seconds = request.number("seconds", 1.0)?.clamp(0.1, MAX_HINT);
            let game = hosted.game()?;
            // As on the analysis board: a player that needs no time to prepare.
            let spec = request.optional_text("player")?.unwrap_or_else(|| game.analyst());
            player(spec, false)?;
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
pub(super) async fn record(about: About) -> Response {
    about.act(Bytes::new(), |_, hosted, _, _| hosted.record()).await
}

/// Forgets a match that is over.
pub(super) async fn delete(about: About) -> Response {
    about
        .act(Bytes::new(), |app, hosted, viewer, _| {
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
