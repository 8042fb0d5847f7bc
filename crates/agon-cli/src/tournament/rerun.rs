//! Plays one match of a tournament again and compares it move by move.

use std::sync::Arc;

use agon::tournament::{PlannedGame, PlayedMatch, spec_of};
use agon_game::kif::first_term;
use agon_ggp::Record;
use agon_match::tournament::Tournament;
use agon_players::PlayerSource;
use agon_text::Source;
use serde_json::{Value, json};

use super::plan::{Stored, stored};
use super::run::play;
use super::store::Store;
use crate::failure::Failure;
use crate::terminal::{self, say};

/// The format of the result of a rerun.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum RerunFormat {
    /// One line for each step.
    Text,
    /// One JSON object.
    Json,
}

/// Plays a stored match again with the rules, the seed and the opening in the store, and prints the
/// comparison. A difference is a failure.
pub(crate) fn rerun(store: &Store, id: &str, format: RerunFormat) -> Result<(), Failure> {
    let then = store.find(id)?;
    let Stored { tournament, schedule, .. } = stored(store)?;
    let fixture = schedule.fixtures.iter().find(|fixture| fixture.id.to_string() == then.id);
    let fixture = fixture.ok_or_else(|| {
        Failure::wrong(format!("the match {} is not part of its tournament", then.id))
    })?;
    let rules = store.games()?.into_iter().find(|game| game.name == then.game);
    let rules = rules.ok_or_else(|| {
        Failure::wrong(format!("the rules of {} are missing in the store", then.game))
    })?;
    let game = PlannedGame::open(
        &then.game,
        Arc::new(Source::new(then.game.as_str(), rules.rules)),
        &tournament,
    )?;
    let now = play(&tournament, &game, fixture, &Arc::default())?;
    let now = now.ok_or_else(|| Failure::wrong("the match was aborted"))?;

    let comparison = Comparison::new(then, now)?;
    match format {
        RerunFormat::Json => say!("{}", comparison.to_json()),
        RerunFormat::Text => comparison.print(),
    }
    if comparison.is_same() {
        return Ok(());
    }
    let place = match comparison.first_difference() {
        Some(at) => format!("from step {} on", at + 1),
        None => "at the end".to_owned(),
    };
    let cause = possible_cause(&tournament, &comparison.then.players);
    Err(Failure::wrong(format!("the match differs {place}{cause}")))
}

/// A stored match and its repetition.
struct Comparison {
    then: PlayedMatch,
    now: PlayedMatch,
    old: Record,
    new: Record,
}

impl Comparison {
    fn new(then: PlayedMatch, now: PlayedMatch) -> Result<Comparison, Failure> {
        let invalid = |what: String| {
            Failure::wrong(format!("the record of the match {} is not valid: {what}", then.id))
        };
        let old = record(&then.record).map_err(invalid)?;
        let new = record(&now.record).map_err(invalid)?;
        Ok(Comparison { then, now, old, new })
    }

    fn n_steps(&self) -> usize {
        self.old.moves.len().max(self.new.moves.len())
    }

    /// Returns the first step with another state or another joint move.
    fn first_difference(&self) -> Option<usize> {
        let (old, new) = (&self.old, &self.new);
        (0..self.n_steps()).find(|&at| {
            old.moves.get(at) != new.moves.get(at) || old.states.get(at) != new.states.get(at)
        })
    }

    fn is_same(&self) -> bool {
        self.first_difference().is_none()
            && self.old.states == self.new.states
            && self.then.outcome.goals == self.now.outcome.goals
    }

    fn to_json(&self) -> Value {
        let Comparison { then, now, old, new } = self;
        json!({
            "id": then.id, "game": then.game, "players": then.players, "seed": then.seed,
            "is_same": self.is_same(),
            "first_difference": self.first_difference().map(|at| at + 1),
            "then": {"goals": then.outcome.goals, "moves": old.moves},
            "now": {"goals": now.outcome.goals, "moves": new.moves},
        })
    }

    fn print(&self) {
        let Comparison { then, now, old, new } = self;
        say!(
            "{} {}: {}, seed {}, opening of {} moves",
            terminal::bold(&then.id),
            then.game,
            then.players.join(", "),
            then.seed,
            then.opening.len()
        );
        let n_steps = self.n_steps();
        for at in 0..n_steps {
            show_step(at, old.moves.get(at), new.moves.get(at));
        }
        let goals = |goals: &Option<Vec<f64>>| {
            goals.as_ref().map_or("none".to_owned(), |g| format!("{g:?}"))
        };
        say!("goals then {}, now {}", goals(&then.outcome.goals), goals(&now.outcome.goals));
        if self.is_same() {
            say!("{}", terminal::green(&format!("all {n_steps} steps are the same")));
        }
    }
}

fn record(text: &str) -> Result<Record, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Record::from_json(&value).map_err(|error| error.to_string())
}

fn show_step(at: usize, then: Option<&Vec<String>>, now: Option<&Vec<String>>) {
    // Records have spaces inside parentheses; the usual notation has none.
    let plain = |text: &String| first_term(text).unwrap_or_else(|| text.clone());
    let text = |joint: Option<&Vec<String>>| {
        joint.map_or("nothing".to_owned(), |joint| {
            joint.iter().map(plain).collect::<Vec<_>>().join(", ")
        })
    };
    if then == now {
        say!("  {:>3}. {}", at + 1, text(now));
    } else {
        say!(
            "{}",
            terminal::red(&format!("≠ {:>3}. then {}, now {}", at + 1, text(then), text(now)))
        );
    }
}

/// Returns why a match may differ from the first time.
fn possible_cause(tournament: &Tournament, players: &[String]) -> &'static str {
    let seated = tournament.players.iter().filter(|player| players.contains(&player.name));
    let kinds: Vec<PlayerSource> = seated.map(|player| spec_of(player).kind).collect();
    let mut specs = kinds.iter();
    let is_threaded = |kind: &PlayerSource| match kind {
        PlayerSource::BuiltIn(player) => player.threads().without_clock() > 1,
        PlayerSource::Http(_) | PlayerSource::Command(_) | PlayerSource::Human => false,
    };
    if tournament.thinking.iterations.is_none() {
        ": the players used the clock, so results vary; matches under `iterations` can be repeated"
    } else if specs.clone().any(|kind| !matches!(kind, PlayerSource::BuiltIn(..))) {
        ": an external player need not play the same moves again"
    } else if specs.any(is_threaded) {
        ": a player uses several threads, and their order varies"
    } else {
        ", although nothing depends on time: if the version of agon is the same, this is a bug in \
         agon"
    }
}
