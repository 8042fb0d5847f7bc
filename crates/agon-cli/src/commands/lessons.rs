//! `agon explain GAME --lessons`: what the learnt model says about a game.

use agon::learn::lessons::{LessonOptions, lessons};
use agon::models::{fit, read_model};
use serde_json::json;

use super::learn::stored_path;
use crate::failure::Failure;
use crate::open::{self, RuleOptions};
use crate::terminal::say;

/// Number of plays.
const N_PLAYS: usize = 1000;

pub(super) fn run(name: &str, rules: &RuleOptions, is_json: bool) -> Result<(), Failure> {
    let game = open::open_rules_to_learn(name, rules)?;
    let path = stored_path(&game)?;
    if !path.exists() {
        let message =
            format!("{name} was not learnt yet; `agon learn {name} --minutes 1` does that");
        return Err(Failure::wrong(message));
    }
    let model = read_model(&path)?;
    let fitted = fit(&game, &model)
        .map_err(|error| Failure::wrong(format!("{}: {error}", path.display())))?;
    let options = LessonOptions { n_plays: N_PLAYS, ..LessonOptions::default() };
    let found = lessons(&game, &fitted, &options)
        .map_err(|why| Failure::wrong(format!("{name} has no lessons: {why}")))?;
    let roles = &game.shape().role_names;
    if is_json {
        let listed = found.lessons.iter().map(|lesson| {
            json!({
                "condition": lesson.condition, "favours": roles[lesson.favours.index()],
                "positions": lesson.n, "result": lesson.result, "usual": lesson.usual,
            })
        });
        let line = json!({
            "game": name, "model_games": model.history.n_games, "form": model.kind().name(),
            "positions": found.n_positions, "explained": found.explained,
            "lessons": listed.collect::<Vec<_>>(),
        });
        say!("{line}");
        return Ok(());
    }
    for (number, lesson) in (1..).zip(&found.lessons) {
        say!(
            "{number:2}. {} is good for {}: {:.0} % of the points at {} positions (usual: {:.0}).",
            lesson.condition,
            roles[lesson.favours.index()],
            100.0 * lesson.result,
            lesson.n,
            100.0 * lesson.usual
        );
    }
    say!(
        "Chosen at {} positions, measured at {} of other plays; together they explain {:.0} % of \
         what the model says.",
        found.n_positions[0],
        found.n_positions[1],
        100.0 * found.explained
    );
    Ok(())
}
