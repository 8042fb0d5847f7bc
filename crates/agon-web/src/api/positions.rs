//! Positions of games, given by the moves that lead to them: the analysis board.

use std::sync::Arc;

use agon::{Game, Position, Rng};
use agon_board::svg::{SvgOptions, role_colour, svg};
use agon_game::{Family, Role};
use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use rand::SeedableRng as _;
use serde_json::{Value, json};

use super::{blocking, theme};
use crate::answer::{ApiError, Request};
use crate::app::App;
use crate::matches::touched;

/// Maximum number of steps of a line.
const MAX_STEPS: usize = 2000;
/// Maximum number of legal moves that are sent for a role.
const MAX_MOVES: usize = 5000;

/// Returns a position: its picture, its facts, the legal moves, the payoffs if play has ended.
pub(super) async fn position(State(app): State<Arc<App>>, body: Bytes) -> Response {
    blocking(move || {
        let request = Request::parse(&body)?;
        let entry = app.library.entry(request.text("game")?)?;
        let game = app.library.open(&entry.id)?;
        let position = play_line(&game, request.get("moves"))?;
        let theme = theme(request.optional_text("theme")?);
        let layout = game.layout();
        let state = position.state();
        let options = SvgOptions { theme, transparent: true, ..SvgOptions::default() };
        let shape = game.shape();
        let roles: Vec<Value> = shape
            .roles()
            .map(|role| {
                let mut legal = position.legal_moves(role);
                let n_moves = legal.len();
                legal.truncate(MAX_MOVES);
                json!({
                    "role": role.index(), "name": shape.role_names[role.index()],
                    "colour": role_colour(&shape.role_names[role.index()], role.index(), theme),
                    "n_moves": n_moves, "moves": layout.targets(&legal),
                    "families": families_json(&position.families(role)),
                })
            })
            .collect();
        let payoffs = position
            .is_terminal()
            .then(|| shape.roles().map(|role| position.payoff(role)).collect::<Vec<f64>>());
        let choosers: Vec<usize> = position.choosers().into_iter().map(Role::index).collect();
        let last = position.history().last().map(<[String]>::to_vec).unwrap_or_default();
        Ok(json!({
            "game": entry.id, "last": touched(layout, &last), "moves": position.history().collect::<Vec<_>>(),
            "state": state, "svg": svg(&layout.scene(&state), &options),
            "layout": layout.kind(), "roles": roles, "choosers": choosers,
            "nature": shape.nature.map(Role::index), "terminal": position.is_terminal(),
            "payoffs": payoffs, "range": [shape.payoffs.start(), shape.payoffs.end()],
            "constant_sum": shape.constant_sum, "continuous": is_continuous(&game),
        }))
    })
    .await
}

/// Returns the kind of rules of a game: `GDL`, `GDL-II` or `Toss`.
pub(crate) fn rules_kind(game: &Game) -> &'static str {
    match game.gdl() {
        Some(gdl) if gdl.rules().is_gdl2() => "GDL-II",
        Some(_) => "GDL",
        None => "Toss",
    }
}

/// Returns whether time passes in a game, and numbers change along differential equations.
pub(crate) fn is_continuous(game: &Game) -> bool {
    game.toss().is_some_and(|toss| toss.arena().is_continuous())
}

/// Returns families of moves with real parameters as JSON.
pub(crate) fn families_json(families: &[Family]) -> Value {
    let parameter = |parameter: &agon_game::Parameter| json!({ "name": parameter.name, "low": parameter.low, "high": parameter.high });
    let family = |family: &Family| {
        let parameters: Vec<Value> = family.parameters.iter().map(parameter).collect();
        json!({ "text": family.text, "parameters": parameters })
    };
    Value::Array(families.iter().map(family).collect())
}

/// Plays a line. Each step is a list with a move for each role. A missing move (null) stands for
/// the only legal move of a role, or for a move of nature that the server draws.
///
/// # Errors
/// [`ApiError`] if the line cannot be played.
pub(crate) fn play_line(game: &Game, steps: &Value) -> Result<Position, ApiError> {
    let none = Vec::new();
    let steps = match steps {
        Value::Null => &none,
        Value::Array(steps) => steps,
        _ => return Err(ApiError::bad("`moves` must be a list of joint moves")),
    };
    if steps.len() > MAX_STEPS {
        return Err(ApiError::bad(format!("a line has at most {MAX_STEPS} steps")));
    }
    let mut position = game.start();
    for (at, step) in steps.iter().enumerate() {
        let number = at + 1;
        let bad = |what: String| ApiError::bad(format!("step {number}: {what}"));
        let given = step.as_array().ok_or_else(|| bad("a list of moves is needed".to_owned()))?;
        let joint = complete(&position, given, number as u64).map_err(bad)?;
        let joint: Vec<&str> = joint.iter().map(String::as_str).collect();
        position.play_joint(&joint).map_err(|error| bad(error.to_string()))?;
    }
    Ok(position)
}

/// Completes a joint move in which moves may be missing.
pub(super) fn complete(
    position: &Position,
    given: &[Value],
    seed: u64,
) -> Result<Vec<String>, String> {
    let shape = position.shape();
    if given.len() > shape.role_names.len() {
        return Err(format!("{} moves for {} roles", given.len(), shape.role_names.len()));
    }
    let mut drawn = None;
    let mut joint = Vec::new();
    for role in shape.roles() {
        let legal = position.legal_moves(role);
        let text = match given.get(role.index()) {
            Some(Value::String(text)) => {
                position.find_move(role, text).unwrap_or_else(|| text.clone())
            }
            Some(Value::Null) | None if legal.len() == 1 => legal[0].clone(),
            Some(Value::Null) | None if Some(role) == shape.nature => {
                let drawn = drawn.get_or_insert_with(|| {
                    let mut next = position.clone();
                    next.play_random(&mut Rng::seed_from_u64(seed));
                    next.history().last().map(<[String]>::to_vec).unwrap_or_default()
                });
                drawn.get(role.index()).cloned().unwrap_or_default()
            }
            Some(Value::Null) | None if position.is_terminal() => {
                return Err("play has ended".to_owned());
            }
            Some(Value::Null) | None => {
                return Err(format!("{} has a choice: give its move", position.role_name(role)));
            }
            Some(_) => return Err("a move must be a text or null".to_owned()),
        };
        joint.push(text);
    }
    Ok(joint)
}
