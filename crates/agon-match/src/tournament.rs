//! Tournaments as pure state: which matches are played, and what their results mean. This module
//! uses no files, no clock and no threads.
//!
//! [`read`] parses the specification that a user wrote into a [`Tournament`]. [`schedule`] lists
//! its matches in blocks that share a seed and an opening. [`opening`] draws the moves with which a
//! match begins. [`standings`] computes points with intervals and Elo ratings from the [`Outcome`]s
//! so far, for each game and overall. [`Sprt`] decides when two players need not play on.
//!
//! The id of a match depends on names alone, so a tournament can grow by players, games and repeats
//! without changing the matches that were played. All statistics count blocks as observations,
//! because the matches of one block are not independent.
//!
//! The caller plays the matches and stores the outcomes. Nothing else has to be stored: the matches
//! left to play are the schedule without the stored ones.

mod additions;
mod block_result;
mod elo;
mod estimate;
mod opening;
mod points;
mod read;
mod schedule;
mod sprt;
mod standings;

pub use additions::{Additions, ChangeError, additions};
pub use block_result::Outcome;
pub use elo::{Game as EloGame, Rating, Ratings, elo_of_points, points_of_elo, rate};
pub use estimate::Estimate;
pub use opening::opening;
pub use points::points;
pub use read::read;
pub use schedule::{Block, Fixture, MatchId, Schedule, ScheduleError, schedule};
pub use sprt::{Decision, Sprt, SprtState};
pub use standings::{Row, Standings, Table, sprt_state, standings};

/// The specification of a tournament.
///
/// Invariants, established by [`read`]: there are at least one game and two players, names are
/// unique, no player is a person, and clocks are above zero. With [`Sprt`] there are exactly two
/// players.
#[derive(Clone, Debug, PartialEq)]
pub struct Tournament {
    /// The name of the tournament.
    pub name: String,
    /// The seed from which all seeds and openings are derived.
    pub seed: u64,
    /// How often each pair of players meets in each game. Each time they play in every seating.
    pub repeats: u64,
    /// Number of random joint moves with which a match begins.
    pub openings: usize,
    /// How long players think.
    pub thinking: Thinking,
    /// Maximum number of steps of a match. A longer match is aborted.
    pub max_steps: usize,
    /// The games, by the names that the user gave.
    pub games: Vec<String>,
    /// The players.
    pub players: Vec<Entrant>,
    /// The sequential test that ends the tournament early, if there is one.
    pub sprt: Option<Sprt>,
}

/// A player of a tournament.
#[derive(Clone, Debug, PartialEq)]
pub struct Entrant {
    /// The name that tables show.
    pub name: String,
    /// The player as the user specified it, such as `mcts(c=0.4)`.
    pub player: String,
    /// Whether the player runs outside of this process: over HTTP, or as a separate program.
    pub is_outside: bool,
    /// Number of processors that the player uses when it thinks, if the user gave it.
    pub threads: Option<usize>,
}

/// Where a specified player runs; the answer of the parser that [`read`] is given.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum EntrantKind {
    /// In this process.
    InProcess,
    /// Over HTTP, or as a separate program.
    Outside,
    /// A person at the terminal, who cannot take part in a tournament.
    Person,
}

/// Parses the specification of a player. Spans of the error are relative to the text.
pub type ParseEntrant<'a> = &'a dyn Fn(&str) -> Result<EntrantKind, Box<agon_text::Diagnostic>>;

/// How long players think.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Thinking {
    /// Number of iterations that built-in players make for each move, if they do not use the clock.
    pub iterations: Option<u64>,
    /// Seconds before the first move.
    pub start_clock: f64,
    /// Seconds for each move.
    pub play_clock: f64,
    /// Seconds of the play clock that built-in players leave unused. `None` means the default for
    /// the clock.
    pub margin: Option<f64>,
    /// Whether built-in players that use the clock think while other players choose.
    pub ponder: bool,
}

#[cfg(test)]
mod tests;
