//! Tournaments, match by match: for runners that play the matches in other processes.
//!
//! A [`TournamentPlan`] is made from the same description as `agon tournament SPEC.toml`, and its
//! matches have the same ids, seeds and openings. With a budget of iterations a match has the same
//! moves wherever it is played. The plan has no store and no clock of its own.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use agon_match::tournament::{
    Decision, EntrantKind, Estimate, Fixture, Outcome, Rating, Schedule, Standings, Table,
    Tournament, opening, read, schedule, standings,
};
use agon_match::{Ending, Match};
use agon_players::{PlayerSource, parse_spec};
use agon_text::{Diagnostic, Source, render};
use serde_json::{Value, json};

use crate::game::Game;
use crate::match_setup::{MatchLimits, MatchSetup, NoOutsidePlayers};
use crate::open::{self, OpenOptions, Purpose};
use crate::selection;

/// Why a tournament or one of its matches cannot be played, as a text for the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentError(String);

impl fmt::Display for TournamentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TournamentError {}

fn fail(why: &dyn fmt::Display) -> TournamentError {
    TournamentError(why.to_string())
}

/// A tournament that is ready to be played: opened games and scheduled matches.
pub struct TournamentPlan {
    text: String,
    tournament: Tournament,
    games: Vec<PlannedGame>,
    schedule: Schedule,
}

/// A game of a tournament.
pub struct PlannedGame {
    /// The game, opened once and shared by all its matches.
    pub game: Game,
    /// The whole rulesheet.
    pub rules: String,
}

impl PlannedGame {
    /// Returns the names of the roles with a player.
    pub fn role_names(&self) -> Vec<String> {
        let shape = self.game.shape();
        shape.players().map(|role| shape.role_names[role.index()].clone()).collect()
    }
}

/// A finished match of a tournament.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayedMatch {
    /// The id: twelve hexadecimal digits.
    pub id: String,
    /// The game, as the description calls it.
    pub game: String,
    /// Number of the repeat, from 0.
    pub repeat: u64,
    /// By role with a player: the name of the player.
    pub players: Vec<String>,
    /// The seed of the match.
    pub seed: u64,
    /// Joint moves that were made before the players were asked.
    pub opening: Vec<Vec<String>>,
    /// `finished`, `fault`, `too-long` or `stopped`.
    pub status: &'static str,
    /// Payoffs, errors, steps and seconds.
    pub outcome: Outcome,
    /// The record in the JSON format of ggp.org.
    pub record: String,
    /// The joint moves of the whole match.
    pub moves: Vec<Vec<String>>,
}

impl TournamentPlan {
    /// Reads a description in TOML, opens its games and makes the schedule. Paths in it are
    /// relative to `folder`. `name` is used in messages.
    ///
    /// # Errors
    /// [`TournamentError`] if the description has errors, a game cannot be opened, or a player does
    /// not run in this process.
    pub fn new(name: &str, text: &str, folder: &Path) -> Result<TournamentPlan, TournamentError> {
        let text = selection::resolve_spec(text, folder)
            .map_err(|selection| fail(&format!("`{selection}` selects no game")))?;
        let text = text.as_str();
        let source = Source::new(name, text);
        let tournament = read(source.text(), &parse_entrant)
            .map_err(|findings| TournamentError(render(&findings.0, &source, false)))?;
        let purpose = match tournament.thinking.iterations {
            Some(_) => Purpose::ReproducibleSearch,
            None => Purpose::Search,
        };
        let options = OpenOptions { purpose, ..OpenOptions::default() };
        let mut games = Vec::new();
        for name in &tournament.games {
            let place = open::located(name, folder);
            let wrong = |why: &dyn fmt::Display| TournamentError(format!("{name}: {why}"));
            let source = open::source(&place).map_err(|why| wrong(&why))?;
            let rules = source.text().to_owned();
            let game = Game::from_source(source, &options).map_err(|why| wrong(&why))?;
            let game = game.with_name(name);
            if game.shape().players().next().is_none() {
                return Err(wrong(&"it has no role for a player"));
            }
            games.push(PlannedGame { game, rules });
        }
        let n_roles: Vec<usize> =
            games.iter().map(|game| game.game.shape().players().count()).collect();
        let schedule = schedule(&tournament, &n_roles).map_err(|error| fail(&error))?;
        Ok(TournamentPlan { text: text.to_owned(), tournament, games, schedule })
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

    /// Returns the scheduled matches.
    pub fn fixtures(&self) -> &[Fixture] {
        &self.schedule.fixtures
    }

    /// Plays one match. Returns `None` if it was aborted. `token` identifies the record, and `now`
    /// returns the time in milliseconds since 1970; neither has an influence on play.
    ///
    /// # Errors
    /// [`TournamentError`] if a player cannot be made.
    pub fn play(
        &self,
        fixture: &Fixture,
        token: String,
        now: &dyn Fn() -> u64,
        is_aborted: &Arc<AtomicBool>,
    ) -> Result<Option<PlayedMatch>, TournamentError> {
        let tournament = &self.tournament;
        let game = &self.games[fixture.game].game;
        let thinking = &tournament.thinking;
        let limits = MatchLimits {
            start_clock: thinking.start_clock,
            play_clock: thinking.play_clock,
            margin: thinking.margin,
            iterations: thinking.iterations,
            ponder: thinking.ponder,
            seed: fixture.seed,
            max_steps: tournament.max_steps,
        };
        let entrants: Vec<_> =
            fixture.seating.iter().map(|player| &tournament.players[*player]).collect();
        let parse = |text: &String| parse_spec(text).expect("it was parsed with the description");
        let specs = entrants.iter().map(|entrant| parse(&entrant.player)).collect();
        let moves = opening(game.table().as_ref(), tournament.openings, fixture.opening_seed);
        let mut setup =
            MatchSetup::new(game.clone(), specs, limits).map_err(|error| fail(&error))?;
        setup.id = format!("agon.{}.{}", fixture.id, now());
        setup.is_aborted = Arc::clone(is_aborted);
        let since = Instant::now();
        let seated = setup.seat(&NoOutsidePlayers).map_err(|error| fail(&error))?;
        let finished = setup.play(seated, moves.clone(), now, &mut |_, _| {});
        let status = match finished.ending() {
            None | Some(Ending::Aborted) => return Ok(None),
            Some(Ending::Finished(_)) => "finished",
            Some(Ending::Fault(_)) => "fault",
            Some(Ending::TooLong) => "too-long",
            Some(Ending::Stopped(_)) => "stopped",
        };
        let seconds = since.elapsed().as_secs_f64();
        let roles: Vec<usize> = finished.shape().players().map(agon_game::Role::index).collect();
        let players: Vec<String> = entrants.iter().map(|entrant| entrant.name.clone()).collect();
        let mut record = setup.record(&finished, token);
        for (role, name) in roles.iter().zip(&players) {
            record.player_names[*role].clone_from(name);
        }
        Ok(Some(PlayedMatch {
            id: fixture.id.to_string(),
            game: tournament.games[fixture.game].clone(),
            repeat: fixture.repeat,
            players,
            seed: fixture.seed,
            opening: moves,
            status,
            outcome: outcome(&finished, &roles, seconds),
            record: record.to_json().to_string(),
            moves: finished.steps().iter().map(|step| step.joint.clone()).collect(),
        }))
    }

    /// Computes points with intervals and Elo ratings from the matches so far, by id.
    pub fn standings(&self, played: &BTreeMap<String, Outcome>) -> Standings {
        let of_fixture = |fixture: &Fixture| played.get(&fixture.id.to_string()).cloned();
        let outcomes: Vec<Option<Outcome>> = self.fixtures().iter().map(of_fixture).collect();
        standings(&self.tournament, &self.schedule, &outcomes)
    }

    /// Returns standings as JSON, with the keys of `agon tournament --json`.
    pub fn standings_json(&self, standings: &Standings) -> Value {
        let sprt = standings.sprt.map(|state| {
            let decision = state.decision.map(|decision| match decision {
                Decision::First => "elo0",
                Decision::Second => "elo1",
            });
            json!({
                "llr": state.llr, "lower": state.lower, "upper": state.upper,
                "blocks": state.n_blocks, "decision": decision,
            })
        });
        let games: Vec<Value> = standings.games.iter().map(|table| self.table(table)).collect();
        json!({
            "name": self.tournament.name, "seed": self.tournament.seed,
            "matches": standings.n_matches, "played": standings.n_played,
            "is_complete": standings.n_played == standings.n_matches,
            "sprt": sprt, "overall": self.table(&standings.overall), "games": games,
        })
    }

    fn table(&self, table: &Table) -> Value {
        let name = |player: usize| self.tournament.players[player].name.as_str();
        let estimate = |e: &Estimate| json!({"mean": e.mean, "low": e.low, "high": e.high, "observations": e.n});
        let rating =
            |r: &Rating| json!({"elo": r.elo, "low": r.elo - r.half, "high": r.elo + r.half});
        let players = table.rows.iter().enumerate().map(|(player, row)| {
            let against = table.cross[player].iter().enumerate().filter_map(|(other, points)| {
                let mut entry = estimate(points.as_ref()?);
                entry["player"] = json!(name(other));
                let difference = table.ratings.difference(player, other);
                entry["elo_difference"] = json!(difference.as_ref().map(rating));
                Some(entry)
            });
            json!({
                "player": name(player), "spec": self.tournament.players[player].player,
                "points": row.points.as_ref().map(estimate),
                "rating": table.ratings.ratings[player].as_ref().map(rating),
                "mean_goal": row.mean_goal, "matches": row.n_matches, "broken": row.n_broken,
                "wins": row.wins, "draws": row.draws, "losses": row.losses,
                "slips": row.n_errors, "against": against.collect::<Vec<_>>(),
            })
        });
        json!({
            "game": table.game.map(|game| self.tournament.games[game].as_str()),
            "ratings_are_bounded": table.ratings.is_bounded,
            "players": players.collect::<Vec<_>>(),
        })
    }
}

fn parse_entrant(text: &str) -> Result<EntrantKind, Box<Diagnostic>> {
    let spec = parse_spec(text)?;
    match spec.kind {
        PlayerSource::BuiltIn(..) => Ok(EntrantKind::InProcess),
        PlayerSource::Human => Ok(EntrantKind::Person),
        PlayerSource::Http(_) | PlayerSource::Command(_) => {
            let all = agon_text::Span::new(0, text.len());
            let why = "this player runs outside of the process";
            let finding = Diagnostic::error("tournament", all, why.to_owned());
            Err(Box::new(finding.hint("play this tournament with `agon tournament`".to_owned())))
        }
    }
}

fn outcome(game: &Match, roles: &[usize], seconds: f64) -> Outcome {
    let goals = match game.ending() {
        Some(Ending::Finished(payoffs)) => Some(roles.iter().map(|role| payoffs[*role]).collect()),
        Some(Ending::Fault(_) | Ending::TooLong | Ending::Stopped(_) | Ending::Aborted) | None => {
            None
        }
    };
    let n_errors = |role: &usize| {
        let in_play = game.steps().iter().filter(|step| step.errors[*role].is_some()).count();
        in_play + usize::from(!game.start_errors()[*role].is_empty())
    };
    Outcome {
        goals,
        n_steps: game.steps().len(),
        n_errors: roles.iter().map(n_errors).collect(),
        seconds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: &str = "games = [\"tic-tac-toe\"]\nrepeats = 2\nopenings = 2\niterations = 20\n\
                        [players]\na = \"mcts\"\nb = \"random\"\n";

    #[test]
    fn a_match_is_the_same_wherever_it_is_played() {
        let plans =
            [0, 1].map(|_| TournamentPlan::new("spec", SPEC, Path::new("")).expect("it is sound"));
        assert_eq!(plans[0].fixtures(), plans[1].fixtures());
        let mut played = BTreeMap::new();
        for fixture in plans[0].fixtures().iter().rev() {
            let [first, second] = [0, 1].map(|plan: usize| {
                let aborted = Arc::default();
                plans[plan].play(fixture, "token".to_owned(), &|| 0, &aborted)
            });
            let first = first.expect("players are built-in").expect("nothing aborts it");
            let second = second.expect("players are built-in").expect("nothing aborts it");
            assert_eq!((&first.moves, &first.record), (&second.moves, &second.record));
            assert_eq!(first.status, "finished");
            played.insert(first.id, first.outcome);
        }
        let standings = plans[0].standings(&played);
        assert_eq!((standings.n_played, standings.n_matches), (4, 4));
    }

    #[test]
    fn descriptions_with_errors_are_refused() {
        for (text, part) in [
            ("games = 1", "games"),
            (&SPEC.replace("tic-tac-toe", "no-such-game"), "no-such-game"),
            (&SPEC.replace("\"random\"", "\"cmd:x\""), "outside"),
        ] {
            let error = TournamentPlan::new("spec", text, Path::new("")).err();
            let error = error.expect("it has an error").to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
