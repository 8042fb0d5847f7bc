//! The kinds of players.

use agon_players::{KINDS, OptionType, PlayerKind, Value as OptionValue};
use axum::response::Response;
use serde_json::{Value, json};

use crate::answer::respond;

/// Lists the kinds of players with their options.
pub(super) async fn list() -> Response {
    let kinds: Vec<Value> = KINDS.iter().map(|kind| to_json(kind)).collect();
    respond(Ok(json!({"players": kinds})))
}

fn to_json(kind: &PlayerKind) -> Value {
    let options = kind.options().map(|option| {
        let (word, range) = match option.kind {
            OptionType::Flag => ("flag", json!(null)),
            OptionType::Integer(low, high) => ("integer", json!([low, high])),
            OptionType::Real(low, high) => ("real", json!([low, high])),
            OptionType::Word(words) => ("word", json!(words)),
            OptionType::Text => ("text", json!(null)),
        };
        let default = match &option.default {
            OptionValue::Flag(flag) => json!(flag),
            OptionValue::Integer(n) => json!(n),
            OptionValue::Real(x) => json!(x),
            OptionValue::Word(word) => json!(word),
            OptionValue::Text(text) => json!(text),
        };
        json!({"name": option.name, "type": word, "range": range, "default": default,
            "meaning": option.meaning})
    });
    json!({
        "name": kind.name, "form": kind.form, "summary": kind.summary,
        "built_in": kind.is_built_in(), "options": options.collect::<Vec<_>>(),
    })
}
