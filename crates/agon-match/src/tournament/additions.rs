//! Whether a tournament that was begun may go on with a new specification.

use std::fmt;

use super::Tournament;

/// What a new specification adds to a tournament that was begun.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Additions {
    /// Players that were added.
    pub players: Vec<String>,
    /// Games that were added.
    pub games: Vec<String>,
    /// Number of repeats that were added.
    pub repeats: u64,
}

impl Additions {
    /// Returns whether nothing was added.
    pub fn is_empty(&self) -> bool {
        *self == Additions::default()
    }
}

/// Changes to the specification of a tournament that would give its stored matches another meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeError {
    /// The changes, one sentence each; at least one.
    pub changes: Vec<String>,
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.changes.join("; "))
    }
}

impl std::error::Error for ChangeError {}

/// Compares the specification of a tournament with the one it was begun with. Only players, games
/// and repeats may be added, because these only add matches.
///
/// # Errors
/// [`ChangeError`] if anything else has changed.
pub fn additions(old: &Tournament, new: &Tournament) -> Result<Additions, ChangeError> {
    let mut changes = changed_settings(old, new);
    for player in &old.players {
        match new.players.iter().find(|other| other.name == player.name) {
            None => changes.push(format!("the player `{}` is gone", player.name)),
            Some(other) if other.player != player.player => changes.push(format!(
                "the player `{}` was {} and is now {}",
                player.name, player.player, other.player
            )),
            Some(_) => {}
        }
    }
    let gone = old.games.iter().filter(|game| !new.games.contains(game));
    changes.extend(gone.map(|game| format!("the game `{game}` is gone")));
    if !changes.is_empty() {
        return Err(ChangeError { changes });
    }
    let is_old = |name: &String| old.players.iter().any(|player| player.name == *name);
    let players = new.players.iter().map(|player| player.name.clone());
    Ok(Additions {
        players: players.filter(|name| !is_old(name)).collect(),
        games: new.games.iter().filter(|game| !old.games.contains(game)).cloned().collect(),
        repeats: new.repeats - old.repeats,
    })
}

/// Returns a sentence for each setting that has changed, other than players and games.
fn changed_settings(old: &Tournament, new: &Tournament) -> Vec<String> {
    let mut changes = Vec::new();
    let mut compare = |what: &str, old: String, new: String| {
        if old != new {
            changes.push(format!("{what} was {old} and is now {new}"));
        }
    };
    let optional = |x: Option<String>| x.unwrap_or_else(|| "not given".to_owned());
    compare("seed", old.seed.to_string(), new.seed.to_string());
    compare("openings", old.openings.to_string(), new.openings.to_string());
    compare("max_steps", old.max_steps.to_string(), new.max_steps.to_string());
    let (was, is) = (&old.thinking, &new.thinking);
    compare(
        "iterations",
        optional(was.iterations.map(|n| n.to_string())),
        optional(is.iterations.map(|n| n.to_string())),
    );
    compare("play_clock", was.play_clock.to_string(), is.play_clock.to_string());
    compare("start_clock", was.start_clock.to_string(), is.start_clock.to_string());
    compare(
        "margin",
        optional(was.margin.map(|x| x.to_string())),
        optional(is.margin.map(|x| x.to_string())),
    );
    compare("ponder", was.ponder.to_string(), is.ponder.to_string());
    let sprt = |tournament: &Tournament| {
        optional(tournament.sprt.map(|sprt| {
            let (elo0, elo1) = (sprt.elo0, sprt.elo1);
            format!("elo0 {elo0} elo1 {elo1} alpha {} beta {}", sprt.alpha, sprt.beta)
        }))
    };
    compare("sprt", sprt(old), sprt(new));
    if new.repeats < old.repeats {
        compare("repeats", old.repeats.to_string(), format!("{}, which is fewer", new.repeats));
    }
    changes
}
