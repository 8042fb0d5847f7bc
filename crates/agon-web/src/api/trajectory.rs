//! The values of numbers while time passes in a step of a continuous game.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_board::Scene;
use agon_board::scene::BoardKind;
use agon_board::svg::{SvgOptions, UNIT, svg};
use axum::body::Bytes;
use axum::extract::State;
use axum::response::Response;
use serde_json::{Value, json};

use super::positions::{complete, play_line};
use super::{blocking, theme};
use crate::answer::{ApiError, Request};
use crate::app::App;

/// Number of points of a step that are sent if the request does not say how many.
const DEFAULT_POINTS: u64 = 48;
/// Maximum number of points of a step.
const MAX_POINTS: u64 = 240;

/// Returns what happens during the last step of a line: the values over time, the times of events,
/// pictures, and where the points of planes and lines are in them.
pub(super) async fn trajectory(State(app): State<Arc<App>>, body: Bytes) -> Response {
    blocking(move || {
        let request = Request::parse(&body)?;
        let game = app.library.open(request.text("game")?)?;
        let n_points = request.whole("points")?.unwrap_or(DEFAULT_POINTS).clamp(2, MAX_POINTS);
        let steps = request.get("moves").as_array();
        let Some((last, before)) = steps.and_then(|steps| steps.split_last()) else {
            return Err(ApiError::bad("`moves` must have at least one step"));
        };
        let mut position = play_line(&game, &Value::Array(before.to_vec()))?;
        let bad = |what: String| ApiError::bad(format!("step {}: {what}", before.len() + 1));
        let given = last.as_array().ok_or_else(|| bad("a list of moves is needed".to_owned()))?;
        let joint = complete(&position, given, before.len() as u64 + 1).map_err(bad)?;
        let joint: Vec<&str> = joint.iter().map(String::as_str).collect();
        let passage = position.passage(&joint, n_points as usize);
        let start = position.state();
        position.play_joint(&joint).map_err(|error| bad(error.to_string()))?;
        let Some(passage) = passage else {
            return Ok(json!({"duration": 0, "times": [], "events": [], "values": [],
                "frames": [], "places": {}}));
        };
        let mut states = passage.states(&start);
        // The state after the step is inside of the view, too, but it is not a picture of its own.
        states.push(position.state());
        let mut scenes = game.layout().scenes_along(&states);
        scenes.pop();
        let theme = theme(request.optional_text("theme")?);
        let options = SvgOptions { theme, transparent: true, ..SvgOptions::default() };
        let frames: Vec<String> = scenes.iter().map(|scene| svg(scene, &options)).collect();
        let values = passage.values.iter().map(|value| {
            json!({"function": value.function, "element": value.element,
                "samples": value.samples})
        });
        Ok(json!({
            "duration": passage.duration, "times": passage.times, "events": passage.events,
            "values": values.collect::<Vec<Value>>(), "frames": frames,
            "places": places(&scenes),
        }))
    })
    .await
}

/// Returns for each point of a plane or line its pixels in the pictures, one after the other.
fn places(scenes: &[Scene]) -> BTreeMap<&str, Vec<[f64; 2]>> {
    let mut places: BTreeMap<&str, Vec<[f64; 2]>> = BTreeMap::new();
    for scene in scenes {
        let planes = scene.boards.iter().filter(|board| board.kind == BoardKind::Plane);
        for place in planes.flat_map(|board| &board.places) {
            places.entry(&place.id).or_default().push([place.x * UNIT, place.y * UNIT]);
        }
    }
    places.retain(|_, list| list.len() == scenes.len());
    places
}
