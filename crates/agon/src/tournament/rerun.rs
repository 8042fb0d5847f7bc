//! One match of a tournament again, compared move by move.

use std::sync::Arc;

use agon_match::tournament::Tournament;
use agon_match::{Record, SpecKind, first_term};
use agon_text::Source;
use serde_json::{Value, json};

use super::plan::{OpenedGame, Stored, stored};
use super::run::play;
use super::store::Store;
use crate::failure::Failure;
use crate::terminal::{self, say};

/// Plays a stored match again, from the rules, the seed and the opening in the store, and tells whether it came out the same.
pub(crate) fn rerun(store: &Store, id: &str, is_json: bool) -> Result<(), Failure> {
    let then = store.find(id)?;
    let Stored { tournament, schedule, .. } = stored(store)?;
    let fixture = schedule.fixtures.iter().find(|fixture| fixture.id.to_string() == then.id);
    let fixture = fixture.ok_or_else(|| {
        Failure::wrong(format!("the match {} is not part of its tournament", then.id))
    })?;
    let rules = store.games()?.into_iter().find(|game| game.name == then.game);
    let rules =
        rules.ok_or_else(|| Failure::wrong(format!("the rules of {} are gone", then.game)))?;
    let game = OpenedGame::new(
        &then.game,
        Arc::new(Source::new(then.game.as_str(), rules.rules)),
        &tournament,
    )?;
    let now = play(&tournament, &game, fixture, &Arc::default())?;
    let now = now.ok_or_else(|| Failure::wrong("the match was broken off"))?;

    let broken = |what: String| {
        Failure::wrong(format!("the record of the match {} is broken: {what}", then.id))
    };
    let old = record(&then.record).map_err(broken)?;
    let new = record(&now.record).map_err(broken)?;
    let n_steps = old.moves.len().max(new.moves.len());
    let differs = |at: &usize| {
        old.moves.get(*at) != new.moves.get(*at) || old.states.get(*at) != new.states.get(*at)
    };
    let first = (0..n_steps).find(differs);
    let is_same =
        first.is_none() && old.states == new.states && then.outcome.goals == now.outcome.goals;
    if is_json {
        say!(
            "{}",
            json!({
                "id": then.id, "game": then.game, "players": then.players, "seed": then.seed, "is_same": is_same,
                "first_difference": first.map(|at| at + 1), "then": {"goals": then.outcome.goals, "moves": old.moves},
                "now": {"goals": now.outcome.goals, "moves": new.moves},
            })
        );
    } else {
        say!(
            "{} {}: {}, seed {}, {} moves given",
            terminal::bold(&then.id),
            then.game,
            then.players.join(", "),
            then.seed,
            then.opening.len()
        );
        for at in 0..n_steps {
            tell_step(at, old.moves.get(at), new.moves.get(at));
        }
        let goals = |goals: &Option<Vec<f64>>| {
            goals.as_ref().map_or("none".to_owned(), |g| format!("{g:?}"))
        };
        say!("goals then {}, now {}", goals(&then.outcome.goals), goals(&now.outcome.goals));
    }
    if is_same {
        if !is_json {
            say!("{}", terminal::green(&format!("the same, move by move: {n_steps} steps")));
        }
        return Ok(());
    }
    let place = first.map_or("at the end".to_owned(), |at| format!("from step {} on", at + 1));
    Err(Failure::wrong(format!(
        "it came out differently {place}{}",
        excuse(&tournament, &then.players)
    )))
}

fn record(text: &str) -> Result<Record, String> {
    let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Record::from_json(&value)
}

fn tell_step(at: usize, then: Option<&Vec<String>>, now: Option<&Vec<String>>) {
    // Records have spaces within parentheses; people do not.
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

/// Why a match need not come out the same, if so.
fn excuse(tournament: &Tournament, players: &[String]) -> &'static str {
    let seated = tournament.players.iter().filter(|player| players.contains(&player.name));
    let mut specs = seated.map(|player| &player.spec.kind);
    let is_threaded = |kind: &SpecKind| matches!(kind, SpecKind::BuiltIn(kind, settings) if kind.option("threads").is_some() && settings.integer("threads") > 1);
    if tournament.thinking.iterations.is_none() {
        ": players thought by the clock, which no two matches share; `iterations` makes matches that can be repeated"
    } else if specs.clone().any(|kind| !matches!(kind, SpecKind::BuiltIn(..))) {
        ": a player lives outside of this program, which cannot make it do the same again"
    } else if specs.any(is_threaded) {
        ": a player thinks in several threads, which never meet in the same order again"
    } else {
        ", although nothing depended on time: if agon is the same as then, this is a fault of agon's"
    }
}
