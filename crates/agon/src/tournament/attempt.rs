//! One match of a tournament: set up, played, and as a row of a store.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use agon_match::tournament::{Fixture, Outcome, Tournament, opening};
use agon_match::{Ending, Match};

use super::{PlannedGame, TournamentError, spec_of};
use crate::match_setup::{MatchLimits, MatchSetup, OutsidePlayers};

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
    pub status: String,
    /// When it began, in milliseconds since 1970.
    pub began: u64,
    /// Payoffs, errors, steps and seconds.
    pub outcome: Outcome,
    /// The record in the JSON format of ggp.org.
    pub record: String,
}

/// A match of a tournament that is about to be played.
pub struct Attempt<'a> {
    /// The match as it will be played.
    pub setup: MatchSetup,
    tournament: &'a Tournament,
    fixture: &'a Fixture,
    opening: Vec<Vec<String>>,
    began: u64,
}

impl<'a> Attempt<'a> {
    /// Sets up a match. `began` is the time in milliseconds since 1970. It is part of the name of
    /// the match, because players over HTTP may know of an earlier attempt that was aborted; it has
    /// no influence on play.
    ///
    /// # Errors
    /// [`TournamentError::Setup`] if the clocks are not times.
    pub fn new(
        tournament: &'a Tournament,
        game: &PlannedGame,
        fixture: &'a Fixture,
        began: u64,
        is_aborted: &Arc<AtomicBool>,
    ) -> Result<Attempt<'a>, TournamentError> {
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
        let seated = fixture.seating.iter().map(|player| &tournament.players[*player]);
        let specs = seated.map(spec_of).collect();
        let opening =
            opening(game.game.table().as_ref(), tournament.openings, fixture.opening_seed);
        let mut setup =
            MatchSetup::new(game.game.clone(), specs, limits).map_err(TournamentError::Setup)?;
        setup.id = format!("agon.{}.{began}", fixture.id);
        setup.is_aborted = Arc::clone(is_aborted);
        Ok(Attempt { setup, tournament, fixture, opening, began })
    }

    /// Plays the match. Returns `None` if it was aborted. `token` identifies the record, and `now`
    /// returns the time in milliseconds since 1970; neither has an influence on play. `warn` is
    /// called with what the user should know about the players.
    ///
    /// # Errors
    /// [`TournamentError::Setup`] if a player cannot be made.
    pub fn play(
        self,
        outside: &dyn OutsidePlayers,
        token: String,
        now: &dyn Fn() -> u64,
        warn: &mut dyn FnMut(&str),
    ) -> Result<Option<(PlayedMatch, Match)>, TournamentError> {
        let Attempt { setup, tournament, fixture, opening, began } = self;
        let since = Instant::now();
        let seated = setup.seat(outside).map_err(TournamentError::Setup)?;
        seated.warnings.iter().for_each(|warning| warn(warning));
        let finished = setup.play(seated, opening.clone(), now, &mut |_, _| {});
        let status = match finished.ending() {
            None | Some(Ending::Aborted) => return Ok(None),
            Some(Ending::Finished(_)) => "finished",
            Some(Ending::Fault(_)) => "fault",
            Some(Ending::TooLong) => "too-long",
            Some(Ending::Stopped(_)) => "stopped",
        };
        let seconds = since.elapsed().as_secs_f64();
        let roles: Vec<usize> = finished.shape().players().map(agon_game::Role::index).collect();
        let names = fixture.seating.iter().map(|player| tournament.players[*player].name.clone());
        let players: Vec<String> = names.collect();
        let mut record = setup.record(&finished, token);
        for (role, name) in roles.iter().zip(&players) {
            record.player_names[*role].clone_from(name);
        }
        let played = PlayedMatch {
            id: fixture.id.to_string(),
            game: tournament.games[fixture.game].clone(),
            repeat: fixture.repeat,
            players,
            seed: fixture.seed,
            opening,
            status: status.to_owned(),
            began,
            outcome: outcome(&finished, &roles, seconds),
            record: record.to_json().to_string(),
        };
        Ok(Some((played, finished)))
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
