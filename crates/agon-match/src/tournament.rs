//! Tournaments as pure state: what is to be played, and what the results mean. No files, no clock, no threads.
//!
//! [`read`] makes a [`Tournament`] of what a user wrote, [`schedule`] lists its matches, each with a stable [`MatchId`] and its
//! seed, [`opening`] draws the moves that a match begins with. Of the [`Outcome`]s so far come [`standings`]: points with intervals
//! and Elo, game by game and overall; [`Sprt`] tells when two players need not play on.

mod change;
mod elo;
mod estimate;
mod meeting;
mod opening;
mod points;
mod read;
mod schedule;
mod sprt;
mod standings;

pub use change::{Growth, change};
pub use elo::{Game as EloGame, Rating, Ratings, elo_of_points, points_of_elo, rate};
pub use estimate::Estimate;
pub use meeting::{Meeting, Outcome, meetings};
pub use opening::opening;
pub use points::points;
pub use read::read;
pub use schedule::{Block, Fixture, MatchId, Schedule, schedule};
pub use sprt::{Decision, Sprt, SprtState};
pub use standings::{Row, Standings, Table, sprt_state, standings};

use crate::Spec;

/// What a user wants to be played.
///
/// Invariants, established by [`read`]: at least one game and two players, no name twice, nobody is a person; clocks are
/// above zero; with [`Sprt`] there are exactly two players.
#[derive(Clone, Debug, PartialEq)]
pub struct Tournament {
    /// What it is called.
    pub name: String,
    /// Decides every seed and every opening.
    pub seed: u64,
    /// How often each two players meet in each game, each time in every seating.
    pub repeats: u64,
    /// How many random joint moves a match begins with.
    pub openings: usize,
    /// How long players think.
    pub thinking: Thinking,
    /// A match longer than this is broken off.
    pub max_steps: usize,
    /// The games as the user calls them.
    pub games: Vec<String>,
    /// Who plays.
    pub players: Vec<Entrant>,
    /// When two players need not play on.
    pub sprt: Option<Sprt>,
}

/// A player of a tournament.
#[derive(Clone, Debug, PartialEq)]
pub struct Entrant {
    /// What it is called in tables.
    pub name: String,
    /// What it is.
    pub spec: Spec,
    /// How many processors it keeps busy when it thinks, where the user says so.
    pub threads: Option<usize>,
}

/// How long players think.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Thinking {
    /// Our own players think so many iterations, however long it takes.
    pub iterations: Option<u64>,
    /// Seconds before the first move.
    pub start_clock: f64,
    /// Seconds for each move.
    pub play_clock: f64,
    /// Seconds of the play clock that our own players leave unused; none: what suits the clock.
    pub margin: Option<f64>,
}

#[cfg(test)]
mod tests;
