//! Whether a tournament that was begun may go on with what is asked for now.

use super::Tournament;

/// What is new in a tournament that goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Growth {
    /// Players that were added.
    pub players: Vec<String>,
    /// Games that were added.
    pub games: Vec<String>,
    /// Repeats that were added.
    pub repeats: u64,
}

impl Growth {
    /// Whether nothing is new.
    pub fn is_empty(&self) -> bool {
        *self == Growth::default()
    }
}

/// Compares a tournament with what it was when it was begun. More players, games and repeats only add matches; anything else
/// would make matches that were played mean something else.
///
/// # Errors
/// What has changed and may not, each in words.
pub fn change(old: &Tournament, new: &Tournament) -> Result<Growth, Vec<String>> {
    let mut wrong = Vec::new();
    let mut same = |what: &str, old: String, new: String| {
        if old != new {
            wrong.push(format!("{what} was {old} and is now {new}"));
        }
    };
    let optional = |x: Option<String>| x.unwrap_or_else(|| "not given".to_owned());
    same("seed", old.seed.to_string(), new.seed.to_string());
    same("openings", old.openings.to_string(), new.openings.to_string());
    same("max_steps", old.max_steps.to_string(), new.max_steps.to_string());
    let (was, is) = (&old.thinking, &new.thinking);
    same(
        "iterations",
        optional(was.iterations.map(|n| n.to_string())),
        optional(is.iterations.map(|n| n.to_string())),
    );
    same("play_clock", was.play_clock.to_string(), is.play_clock.to_string());
    same("start_clock", was.start_clock.to_string(), is.start_clock.to_string());
    same(
        "margin",
        optional(was.margin.map(|x| x.to_string())),
        optional(is.margin.map(|x| x.to_string())),
    );
    let test =
        |t: &Tournament| {
            optional(t.sprt.map(|s| {
                format!("elo0 {} elo1 {} alpha {} beta {}", s.elo0, s.elo1, s.alpha, s.beta)
            }))
        };
    same("sprt", test(old), test(new));
    if new.repeats < old.repeats {
        same("repeats", old.repeats.to_string(), format!("{}, which is fewer", new.repeats));
    }
    for player in &old.players {
        match new.players.iter().find(|other| other.name == player.name) {
            None => wrong.push(format!("the player `{}` is gone", player.name)),
            Some(other) if other.spec.text != player.spec.text => wrong.push(format!(
                "the player `{}` was {} and is now {}",
                player.name, player.spec.text, other.spec.text
            )),
            Some(_) => {}
        }
    }
    let gone = old.games.iter().filter(|game| !new.games.contains(game));
    wrong.extend(gone.map(|game| format!("the game `{game}` is gone")));
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let known = |name: &String| old.players.iter().any(|player| player.name == *name);
    Ok(Growth {
        players: new
            .players
            .iter()
            .map(|player| player.name.clone())
            .filter(|name| !known(name))
            .collect(),
        games: new.games.iter().filter(|game| !old.games.contains(game)).cloned().collect(),
        repeats: new.repeats - old.repeats,
    })
}
