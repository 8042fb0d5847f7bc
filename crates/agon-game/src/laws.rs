//! The laws of [`crate::Position`], tested on any engine by seeded random games.
//!
//! The input is a start position and a [`Plan`]. The result is a count of what was tested, or the
//! first broken law and its place. The engine under test is not trusted: moves are drawn here
//! rather than by its `draw`, and answers are compared rather than keys. Random games can miss a
//! broken law, but they never report a law that holds.

mod answers;
mod at_position;
mod families;
mod in_play;

use std::fmt;

use crate::{Continuous, Hidden, Notation};

/// Plays random games from `start` and tests every law of [`crate::Position`] and [`Notation`].
///
/// # Errors
/// The first broken law.
pub fn check<P: Notation>(start: &P, plan: &Plan) -> Result<Summary, Violation> {
    in_play::Inspection::new(start, plan, None).run()
}

/// Plays random games from `start` and tests every law, including that of [`Hidden`].
///
/// # Errors
/// The first broken law.
pub fn check_hidden<P: Hidden>(start: &P, plan: &Plan) -> Result<Summary, Violation> {
    in_play::Inspection::new(start, plan, Some(P::percepts)).run()
}

/// Plays random games from `start` and tests every law, including those of [`Continuous`].
///
/// # Errors
/// The first broken law.
pub fn check_continuous<P: Continuous>(start: &P, plan: &Plan) -> Result<Summary, Violation> {
    in_play::Inspection::new(start, plan, None).with_families(families::check).run()
}

/// A number of random games to play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The seed. Equal seeds give equal games.
    pub seed: u64,
    /// Number of games.
    pub plays: usize,
    /// Maximum number of steps of a game. A longer game is abandoned.
    pub max_steps: usize,
}

impl Default for Plan {
    /// Returns a plan that finds most mistakes in games of common length within seconds.
    fn default() -> Plan {
        Plan { seed: 1, plays: 10, max_steps: 200 }
    }
}

/// What was tested without finding a broken law.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Games played.
    pub plays: usize,
    /// Games that ended within the plan's steps, including those that ended in a fault.
    pub finished: usize,
    /// Games that ended in a fault.
    pub faults: usize,
    /// Joint moves made in all games.
    pub steps: usize,
    /// Positions with different keys.
    pub positions: usize,
}

/// A law of play. The numbers are those in the docs of [`crate::Position`], [`Notation`],
/// [`Hidden`] and [`Continuous`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// Every role has a legal move until play ends and none afterwards; a fault ends play.
    Moves = 1,
    /// `advance` depends on the state and the joint move alone.
    Advance = 2,
    /// After `go_to(s)` every answer is what it was when `state()` returned `s`.
    Return = 3,
    /// Equal keys mean equal answers, and states with equal texts have equal keys.
    Key = 4,
    /// Nature's chances add up to 1, and a move that is not legal has chance 0.
    Chance = 5,
    /// The claims of the shape hold: bounds of payoffs, constant sum, turn taking. The shape is the
    /// same everywhere. Payoffs at a fault stay within the bounds, but need not have the sum.
    Shape = 6,
    /// A legal move is listed once, and `is_legal` returns true for exactly the listed moves. In a
    /// continuous game the list is a sample of them.
    Listing = 7,
    /// Overridden provided methods behave like the defaults.
    Provided = 8,
    /// Every legal move can be written and read back with any spacing and case, no other move can
    /// be read, and the parts of a state are sorted. In a continuous game this includes the moves
    /// that `draw` gives, which need not be listed.
    Notation = 9,
    /// Percepts are sorted and depend on the state and the joint move alone.
    Percepts = 10,
    /// Every listed move is a member of exactly one family, or there are no families.
    Families = 11,
    /// `coordinates` inverts `member`, which gives legal moves within the intervals and nothing
    /// outside of them.
    Members = 12,
}

impl Law {
    /// Returns the number of the law in the docs.
    pub fn number(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "law {}", self.number())
    }
}

/// A law that an engine breaks. This is a mistake of the engine, never of the rules that it plays.
/// The same plan finds it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The law.
    pub law: Law,
    /// The seed of the plan.
    pub seed: u64,
    /// The game, counted from 0.
    pub play: usize,
    /// Number of joint moves from the start of the game to the position.
    pub step: usize,
    /// What was found, as a sentence for the author of the engine.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { law, seed, play, step, what } = self;
        write!(f, "{law} is broken at step {step} of play {play}, seed {seed}: {what}")
    }
}

impl std::error::Error for Violation {}

/// A broken law without its place.
struct Breach {
    law: Law,
    what: String,
}

fn breach(law: Law, what: impl Into<String>) -> Breach {
    Breach { law, what: what.into() }
}
