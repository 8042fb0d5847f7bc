//! Tournaments, match by match, for runners that keep the results.
//!
//! A [`TournamentPlan`] is made from the description of a tournament in TOML. It says which matches
//! are left, plays one of them as an [`Attempt`], and computes the standings. The same description
//! gives the same ids, seeds and openings in every process. With a budget of iterations a match has
//! the same moves wherever it is played. The plan has no store and no clock of its own.

mod attempt;
mod export;
mod need;

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use agon_match::tournament::{
    Entrant, EntrantKind, Fixture, Outcome, Schedule, ScheduleError, SprtState, Standings,
    Tournament, additions, schedule, sprt_state, standings,
};
use agon_players::{PlayerSource, PlayerSpec, parse_spec};
use agon_text::{Diagnostic, Source, Span, render};

pub use attempt::{Attempt, PlayedMatch};
pub use export::standings_json;
pub use need::Need;

use crate::game::Game;
use crate::match_setup::SetupError;
use crate::models::ModelStore;
use crate::open::{self, OpenError, OpenOptions, Purpose};
use crate::selection;
use crate::shipped::Shipped;

/// Why a tournament or one of its matches cannot be played.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum TournamentError {
    /// The description has errors.
    Description {
        /// What is wrong; at least one entry.
        findings: Vec<Diagnostic>,
        /// The description.
        source: Arc<Source>,
    },
    /// A game cannot be opened.
    Game {
        /// The game, as the description calls it.
        name: String,
        /// What is wrong with it.
        error: OpenError,
    },
    /// A game has no role for a player.
    NoPlayer {
        /// The game, as the description calls it.
        name: String,
    },
    /// The matches cannot be scheduled.
    Schedule(ScheduleError),
    /// A match cannot be set up.
    Setup(SetupError),
    /// Matches that were played belong to another tournament.
    Changed {
        /// What has changed; at least one entry.
        changes: Vec<String>,
    },
}

impl TournamentError {
    /// Shows the error, on a terminal that takes colours or not.
    pub fn render(&self, colour: bool) -> String {
        match self {
            TournamentError::Description { findings, source } => render(findings, source, colour),
            TournamentError::Game { name, error } => format!("{name}: {}", error.render(colour)),
            TournamentError::NoPlayer { name } => {
                format!("{name} cannot be played: it has no role for a player")
            }
            TournamentError::Schedule(why) => why.to_string(),
            TournamentError::Setup(why) => why.to_string(),
            TournamentError::Changed { changes } => format!(
                "this is not the tournament in the store:\n  {}\nOnly players, games and repeats \
                 may be added. To start again, give another store, or move the old one away.",
                changes.join("\n  ")
            ),
        }
    }
}

impl fmt::Display for TournamentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for TournamentError {}

/// Reads the description of a tournament.
///
/// # Errors
/// [`TournamentError::Description`] with all errors and their places.
pub fn read(source: &Arc<Source>) -> Result<Tournament, TournamentError> {
    agon_match::tournament::read(source.text(), &parse_entrant).map_err(|findings| {
        TournamentError::Description { findings: findings.0, source: Arc::clone(source) }
    })
}

fn parse_entrant(text: &str) -> Result<EntrantKind, Box<Diagnostic>> {
    Ok(match parse_spec(text)?.kind {
        PlayerSource::BuiltIn(..) => EntrantKind::InProcess,
        PlayerSource::Http(_) | PlayerSource::Command(_) => EntrantKind::Outside,
        PlayerSource::Human => EntrantKind::Person,
    })
}

/// Returns the specification of a player of a tournament.
pub fn spec_of(entrant: &Entrant) -> PlayerSpec {
    parse_spec(&entrant.player).expect("the tournament was read with this parser")
}

/// A tournament that is ready to be played: opened games and scheduled matches.
pub struct TournamentPlan {
    text: String,
    tournament: Tournament,
    games: Vec<PlannedGame>,
    schedule: Schedule,
}

/// A game of a tournament, opened once and shared by all its matches.
pub struct PlannedGame {
    /// The game.
    pub game: Game,
    /// The whole rulesheet.
    pub rules: String,
}

/// A game of a tournament as a store keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredGame {
    /// The game, as the description calls it.
    pub name: String,
    /// The whole rulesheet.
    pub rules: String,
    /// The names of the roles with a player.
    pub roles: Vec<String>,
}

impl PlannedGame {
    /// Opens a game for the matches of a tournament, which calls it `name`.
    ///
    /// # Errors
    /// [`TournamentError`] if the game cannot be opened, or has no role for a player.
    pub fn open(
        name: &str,
        source: Arc<Source>,
        tournament: &Tournament,
    ) -> Result<PlannedGame, TournamentError> {
        let purpose = match tournament.thinking.iterations {
            Some(_) => Purpose::ReproducibleSearch,
            None => Purpose::Search,
        };
        let options = OpenOptions { purpose, ..OpenOptions::default() };
        let rules = source.text().to_owned();
        let game = Game::from_source(source, &options)
            .map_err(|error| TournamentError::Game { name: name.to_owned(), error })?;
        if game.shape().players().next().is_none() {
            return Err(TournamentError::NoPlayer { name: name.to_owned() });
        }
        Ok(PlannedGame { game: game.with_name(name), rules })
    }

    /// Returns the names of the roles with a player.
    pub fn role_names(&self) -> Vec<String> {
        let shape = self.game.shape();
        shape.players().map(|role| shape.role_names[role.index()].clone()).collect()
    }
}

impl TournamentPlan {
    /// Reads a description in TOML whose players all run in this process, and prepares it. Paths
    /// in it are relative to `folder`. `name` is used in messages.
    ///
    /// # Errors
    /// [`TournamentError`] if the description has errors, a game cannot be opened, or a player does
    /// not run in this process.
    pub fn new(name: &str, text: &str, folder: &Path) -> Result<TournamentPlan, TournamentError> {
        let resolved = selection::resolve_spec(text, folder).map_err(|selection| {
            let source = Arc::new(Source::new(name, text));
            let why = format!("`{selection}` selects no game");
            let finding = Diagnostic::error("tournament", place(text, &selection), why)
                .hint("see `agon games` for names and tags".to_owned());
            TournamentError::Description { findings: vec![finding], source }
        })?;
        let text = resolved.as_str();
        let source = Arc::new(Source::new(name, text));
        let tournament = read(&source)?;
        if let Some(outside) = tournament.players.iter().find(|player| player.is_outside) {
            let why = format!("`{}` runs outside of this process", outside.player);
            let finding = Diagnostic::error("tournament", place(text, &outside.player), why)
                .hint("play this tournament with `agon tournament`".to_owned());
            return Err(TournamentError::Description { findings: vec![finding], source });
        }
        TournamentPlan::open(&source, tournament, folder)
    }

    /// Opens the games of a tournament and makes the schedule. Paths are relative to `folder`.
    ///
    /// # Errors
    /// [`TournamentError`] if a game cannot be opened, or the matches cannot be scheduled.
    pub fn open(
        source: &Arc<Source>,
        tournament: Tournament,
        folder: &Path,
    ) -> Result<TournamentPlan, TournamentError> {
        let mut games = Vec::new();
        for name in &tournament.games {
            // An absolute path replaces the folder.
            let location = open::located(name, folder);
            let (plain, _) = open::split_settings(&location);
            if Shipped::named(plain).is_none() && !Path::new(plain).exists() {
                return Err(no_such_game(name, source));
            }
            let rules = open::source(&location)
                .map_err(|error| TournamentError::Game { name: name.clone(), error })?;
            games.push(PlannedGame::open(name, rules, &tournament)?);
        }
        let n_roles: Vec<usize> =
            games.iter().map(|game| game.game.shape().players().count()).collect();
        let schedule = schedule(&tournament, &n_roles).map_err(TournamentError::Schedule)?;
        Ok(TournamentPlan { text: source.text().to_owned(), tournament, games, schedule })
    }

    /// Gives players the models of a store. A tournament that counts iterations has none, because
    /// its matches can be repeated on every machine.
    #[must_use]
    pub fn with_models(mut self, store: Option<&ModelStore>) -> TournamentPlan {
        let store = store.filter(|_| self.tournament.thinking.iterations.is_none());
        let with_models = |game: PlannedGame| PlannedGame {
            game: game.game.with_models(store),
            rules: game.rules,
        };
        self.games = self.games.into_iter().map(with_models).collect();
        self
    }

    /// Returns the description as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the description as it was understood.
    pub fn tournament(&self) -> &Tournament {
        &self.tournament
    }

    /// Returns the games, in the order of [`Tournament::games`].
    pub fn games(&self) -> &[PlannedGame] {
        &self.games
    }

    /// Returns the games as a store keeps them.
    pub fn stored_games(&self) -> Vec<StoredGame> {
        let games = self.games.iter().zip(&self.tournament.games);
        games
            .map(|(game, name)| StoredGame {
                name: name.clone(),
                rules: game.rules.clone(),
                roles: game.role_names(),
            })
            .collect()
    }

    /// Returns the schedule.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Returns the scheduled matches.
    pub fn fixtures(&self) -> &[Fixture] {
        &self.schedule.fixtures
    }

    /// Returns the resources that a match needs on a machine with this number of processors.
    pub fn need(&self, fixture: &Fixture, n_processors: usize) -> Need {
        let seated: Vec<&Entrant> =
            fixture.seating.iter().map(|player| &self.tournament.players[*player]).collect();
        let shape = self.games[fixture.game].game.shape();
        Need::of(&seated, shape, &self.tournament.thinking, n_processors)
    }

    /// Sets up a match, as [`Attempt::new`] does.
    ///
    /// # Errors
    /// [`TournamentError::Setup`] if the clocks are not times.
    pub fn attempt<'a>(
        &'a self,
        fixture: &'a Fixture,
        began: u64,
        is_aborted: &Arc<AtomicBool>,
    ) -> Result<Attempt<'a>, TournamentError> {
        Attempt::new(&self.tournament, &self.games[fixture.game], fixture, began, is_aborted)
    }

    /// Compares the plan with a tournament of which matches were played, by its description and
    /// its games. Returns what was added, as a text that is empty if nothing was.
    ///
    /// # Errors
    /// [`TournamentError::Changed`] if more has changed than what may be added.
    pub fn additions(&self, old: &str, games: &[StoredGame]) -> Result<String, TournamentError> {
        let old = read(&Arc::new(Source::new("the tournament in the store", old)))?;
        let (mut parts, mut changes) = (Vec::new(), Vec::new());
        match additions(&old, &self.tournament) {
            Ok(growth) => {
                if !growth.players.is_empty() {
                    parts.push(format!("players {}", growth.players.join(", ")));
                }
                if !growth.games.is_empty() {
                    parts.push(format!("games {}", growth.games.join(", ")));
                }
                if growth.repeats > 0 {
                    parts.push(format!("{} repeats", growth.repeats));
                }
            }
            Err(error) => changes = error.changes,
        }
        for stored in games {
            let here = self.tournament.games.iter().position(|name| *name == stored.name);
            if here.is_some_and(|at| self.games[at].rules != stored.rules) {
                changes.push(format!("the rules of `{}` have changed", stored.name));
            }
        }
        if changes.is_empty() {
            Ok(parts.join("; "))
        } else {
            Err(TournamentError::Changed { changes })
        }
    }

    /// Returns, by fixture, the outcome of its match among those played so far, by id.
    pub fn outcomes(&self, played: &BTreeMap<String, Outcome>) -> Vec<Option<Outcome>> {
        let of_fixture = |fixture: &Fixture| played.get(&fixture.id.to_string()).cloned();
        self.fixtures().iter().map(of_fixture).collect()
    }

    /// Computes points with intervals and Elo ratings from the outcomes so far, by fixture.
    pub fn standings(&self, outcomes: &[Option<Outcome>]) -> Standings {
        standings(&self.tournament, &self.schedule, outcomes)
    }

    /// Returns the state of the sequential test, if the tournament has one. Once it has decided,
    /// the remaining matches need not be played.
    pub fn sprt_state(&self, outcomes: &[Option<Outcome>]) -> Option<SprtState> {
        sprt_state(&self.tournament, &self.schedule, outcomes)
    }
}

/// Returns the place of a quoted text in a description.
fn place(text: &str, quoted: &str) -> Span {
    let at = ['"', '\''].iter().find_map(|mark| text.find(&format!("{mark}{quoted}{mark}")));
    at.map_or(Span::new(0, 0), |at| Span::new(at + 1, at + 1 + quoted.len()))
}

/// Returns the error for an unknown game, with its place in the description.
fn no_such_game(name: &str, source: &Arc<Source>) -> TournamentError {
    let span = place(source.text(), name);
    let finding = Diagnostic::error("tournament", span, format!("there is no game `{name}`"));
    let finding = match open::closest(name) {
        Some(other) => finding.hint(format!("did you mean the shipped game `{other}`?")),
        None => finding.hint(
            "give the name of a shipped game (see `agon games`), or a path relative to this file",
        ),
    };
    TournamentError::Description { findings: vec![finding], source: Arc::clone(source) }
}

#[cfg(test)]
mod tests;
