//! The kinds of players.

use agon_players::KINDS;
use axum::response::Response;
use serde_json::{Value, json};

use crate::answer::respond;

/// Lists the kinds of players with their options.
pub(super) async fn list() -> Response {
    let kinds: Vec<Value> = KINDS.iter().map(|kind| kind.to_json()).collect();
    respond(Ok(json!({"players": kinds})))
}
