//! The plan of a tournament: opened games and scheduled matches.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use agon::Game;
use agon::shipped::Shipped;
use agon_game::Shape;
use agon_match::tournament::{Outcome, Schedule, Tournament, additions, read, schedule};
use agon_text::{Diagnostic, Source, Span, render};

use super::store::{Played, Store, StoredGame};
use crate::failure::Failure;
use crate::open::{self, EngineChoice, PlayOptions, RuleOptions};

/// A game of a tournament, opened once and shared by all its matches.
pub(super) struct OpenedGame {
    pub(super) opened: Game,
    pub(super) shape: Shape,
    rules: String,
}

/// A tournament that is ready to be played.
pub(crate) struct Plan {
    /// The description as the user wrote it, in TOML.
    text: String,
    pub(crate) tournament: Tournament,
    pub(super) games: Vec<OpenedGame>,
    pub(crate) schedule: Schedule,
}

/// Reads the description of a tournament. A failure shows all errors with their places.
pub(crate) fn read_spec(path: &Path) -> Result<(String, Tournament), Failure> {
    let shown = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| {
        Failure::unreadable(format!(
            "cannot read {shown}: {error}; docs/tournaments.md describes the format"
        ))
    })?;
    let source = Source::from_bytes(shown.as_str(), &bytes);
    let folder = path.parent().unwrap_or(Path::new(""));
    let text = agon::selection::resolve_spec(source.text(), folder).map_err(|selection| {
        let tags: Vec<&str> = agon::selection::TAGS.iter().map(|(tag, _)| *tag).collect();
        let tags = tags.join(", ");
        Failure::unreadable(format!("{shown}: `{selection}` selects no game; the tags are {tags}"))
    })?;
    let source = Source::new(shown.as_str(), text);
    let tournament = parse(&source)?;
    Ok((source.text().to_owned(), tournament))
}

fn parse(source: &Source) -> Result<Tournament, Failure> {
    read(source.text(), &super::parse_entrant).map_err(|findings| {
        Failure::unreadable(render(&findings.0, source, crate::terminal::colour_on_stderr()))
    })
}

impl Plan {
    /// Opens the games of a tournament and makes the schedule. Paths are relative to the folder of
    /// the description.
    pub(crate) fn new(text: String, tournament: Tournament, spec: &Path) -> Result<Plan, Failure> {
        let folder = spec.parent().unwrap_or(Path::new(""));
        let mut games = Vec::new();
        for name in &tournament.games {
            // An absolute path replaces the folder.
            let place = open::located(name, folder);
            let (plain, _) = open::split_settings(&place);
            if Shipped::named(plain).is_none() && !Path::new(plain).exists() {
                return Err(no_such_game(name, &text, spec));
            }
            games.push(OpenedGame::new(name, open::source(&place)?, &tournament)?);
        }
        let n_roles: Vec<usize> = games.iter().map(|game| game.shape.players().count()).collect();
        if let Some(at) = n_roles.iter().position(|n| *n == 0) {
            return Err(Failure::wrong(format!(
                "{} cannot be played: it has no role for a player",
                tournament.games[at]
            )));
        }
        let schedule = schedule(&tournament, &n_roles)
            .map_err(|error| Failure::unreadable(error.to_string()))?;
        Ok(Plan { text, tournament, games, schedule })
    }

    /// Begins a tournament in a store, or continues the tournament in the store if it is the same.
    /// Returns the outcome of each fixture that has been played, and a message for the user if the
    /// store was not empty.
    pub(crate) fn begin(
        &self,
        store: &mut Store,
    ) -> Result<(Vec<Option<Outcome>>, Option<String>), Failure> {
        let mut found = None;
        if let Some(old) = store.spec()? {
            found = Some(self.compare(store, &old)?);
        }
        let games = self.games.iter().zip(&self.tournament.games).map(|(game, name)| StoredGame {
            name: name.clone(),
            rules: game.rules.clone(),
            roles: game.role_names(),
        });
        store.begin(&self.text, &games.collect::<Vec<_>>())?;
        let played = store.matches()?;
        let outcomes = by_fixture(&self.schedule, &played);
        let n = outcomes.iter().flatten().count();
        let found = found.map(|grown| {
            format!("continuing: {n} of {} matches are played{grown}", outcomes.len())
        });
        Ok((outcomes, found))
    }

    /// Compares the plan with the tournament in a store. Returns a text about what was added.
    fn compare(&self, store: &Store, old: &str) -> Result<String, Failure> {
        let old = parse(&Source::new("the tournament in the store", old))?;
        let mut wrong = Vec::new();
        let growth = match additions(&old, &self.tournament) {
            Ok(growth) => growth,
            Err(changes) => {
                wrong = changes.changes;
                agon_match::tournament::Additions::default()
            }
        };
        for stored in store.games()? {
            let here = self.tournament.games.iter().position(|name| *name == stored.name);
            if here.is_some_and(|at| self.games[at].rules != stored.rules) {
                wrong.push(format!("the rules of `{}` have changed", stored.name));
            }
        }
        if !wrong.is_empty() {
            return Err(Failure::unreadable(format!(
                "this is not the tournament in the store:\n  {}\nOnly players, games and repeats \
                 may be added. To start again, give another --store, or move the old one away.",
                wrong.join("\n  ")
            )));
        }
        let mut parts = Vec::new();
        if !growth.players.is_empty() {
            parts.push(format!("players {}", growth.players.join(", ")));
        }
        if !growth.games.is_empty() {
            parts.push(format!("games {}", growth.games.join(", ")));
        }
        if growth.repeats > 0 {
            parts.push(format!("{} repeats", growth.repeats));
        }
        Ok(if parts.is_empty() { String::new() } else { format!("; added: {}", parts.join("; ")) })
    }
}

impl OpenedGame {
    pub(super) fn new(
        name: &str,
        source: Arc<Source>,
        tournament: &Tournament,
    ) -> Result<OpenedGame, Failure> {
        let rules = source.text().to_owned();
        let play = PlayOptions { engine: EngineChoice::Auto, rules: RuleOptions::default() };
        let opened =
            open::open_for_match(name, source, &play, tournament.thinking.iterations).map_err(
                |failure| Failure { message: format!("{name}: {}", failure.message), ..failure },
            )?;
        let shape = opened.shape().clone();
        Ok(OpenedGame { opened, shape, rules })
    }

    /// Returns the names of the roles with a player, without nature.
    pub(super) fn role_names(&self) -> Vec<String> {
        self.shape.players().map(|role| self.shape.role_names[role.index()].clone()).collect()
    }
}

/// Returns the failure for an unknown game, with its place in the description.
fn no_such_game(name: &str, text: &str, spec: &Path) -> Failure {
    let at = ['"', '\''].iter().find_map(|mark| text.find(&format!("{mark}{name}{mark}")));
    let span = at.map_or(Span::new(0, 0), |at| Span::new(at + 1, at + 1 + name.len()));
    let finding = Diagnostic::error("tournament", span, format!("there is no game `{name}`"));
    let finding = match open::closest(name) {
        Some(other) => finding.hint(format!("did you mean the shipped game `{other}`?")),
        None => finding.hint(
            "give the name of a shipped game (see `agon games`), or a path relative to this file",
        ),
    };
    let source = Source::new(spec.display().to_string(), text);
    Failure::unreadable(render(&[finding], &source, crate::terminal::colour_on_stderr()))
}

/// A tournament that was read from its store.
pub(crate) struct Stored {
    pub(crate) tournament: Tournament,
    pub(crate) schedule: Schedule,
    /// The outcome of each fixture that has been played.
    pub(crate) outcomes: Vec<Option<Outcome>>,
    /// The finished matches, in the order in which they ended.
    pub(crate) played: Vec<Played>,
}

/// Reads a tournament and its finished matches from a store. The games are not opened.
pub(crate) fn stored(store: &Store) -> Result<Stored, Failure> {
    let text = store.spec()?.ok_or_else(|| Failure::unreadable("the store has no tournament"))?;
    let tournament = parse(&Source::new("the tournament in the store", text))?;
    let games = store.games()?;
    let n_roles: Option<Vec<usize>> = tournament
        .games
        .iter()
        .map(|name| games.iter().find(|game| game.name == *name).map(|game| game.roles.len()))
        .collect();
    let n_roles = n_roles
        .ok_or_else(|| Failure::unreadable("a game of the tournament is missing in the store"))?;
    let schedule =
        schedule(&tournament, &n_roles).map_err(|error| Failure::unreadable(error.to_string()))?;
    let played = store.matches()?;
    let outcomes = by_fixture(&schedule, &played);
    Ok(Stored { tournament, schedule, outcomes, played })
}

/// Returns the outcome of each fixture of a schedule that has been played.
fn by_fixture(schedule: &Schedule, played: &[Played]) -> Vec<Option<Outcome>> {
    let by_id: BTreeMap<&str, &Outcome> =
        played.iter().map(|played| (played.id.as_str(), &played.outcome)).collect();
    let outcome = |id: String| by_id.get(id.as_str()).map(|outcome| (*outcome).clone());
    schedule.fixtures.iter().map(|fixture| outcome(fixture.id.to_string())).collect()
}
