//! The laws of play, tested on any engine by playing seeded random games.
//!
//! In goes a position to start from and a plan, out comes a count of what was looked at, or the first broken law
//! and where. Nothing under test is trusted: moves are drawn here and not by `draw`, answers are compared and not
//! keys. A law that holds in every random game may still be broken elsewhere; a law found broken is broken.

mod answers;
mod moving;
mod standing;

use std::fmt;

use crate::{Hidden, Notation};

/// Plays random games from `start` and tests every law of [`crate::Position`] and [`Notation`] on the way.
///
/// # Errors
/// The first broken law.
pub fn check<P: Notation>(start: &P, plan: &Plan) -> Result<Summary, Violation> {
    moving::Inspection::new(start, plan, None).run()
}

/// As [`check`], and the law of [`Hidden`] too.
///
/// # Errors
/// The first broken law.
pub fn check_hidden<P: Hidden>(start: &P, plan: &Plan) -> Result<Summary, Violation> {
    moving::Inspection::new(start, plan, Some(P::percepts)).run()
}

/// Which random games to play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The same seed gives the same games.
    pub seed: u64,
    /// How many games.
    pub plays: usize,
    /// A game is left after so many steps.
    pub max_steps: usize,
}

impl Default for Plan {
    /// Enough for most mistakes to show in a game of common length, and still a matter of seconds.
    fn default() -> Plan {
        Plan { seed: 1, plays: 10, max_steps: 200 }
    }
}

/// What was looked at while no law was found broken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Games played.
    pub plays: usize,
    /// Games that came to an end within the plan's steps, faulty ones included.
    pub finished: usize,
    /// Games that ended in a fault.
    pub faults: usize,
    /// Joint moves made in all games.
    pub steps: usize,
    /// Different positions seen, by key.
    pub positions: usize,
}

/// A law of play. The numbers are those of the docs of [`crate::Position`], [`Notation`] and [`Hidden`].
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// Every role has a legal move until play ends and none afterwards; a fault ends play.
    Moves = 1,
    /// `advance` depends on the state and the joint move alone.
    Advance = 2,
    /// After `go_to(s)` every answer is what it was when `state()` returned `s`.
    Return = 3,
    /// Equal keys mean equal answers. The other way round, states that read the same have the same key; that is
    /// not asked of continuous games, whose text may round.
    Key = 4,
    /// Nature's chances add up to 1, and there is none for a move that is not legal.
    Chance = 5,
    /// What the shape says is so: bounds of payoffs, constant sum, taking turns; and it says the same everywhere.
    /// Payoffs at a fault stay within the bounds, but need not add up.
    Shape = 6,
    /// A legal move is listed once, and `is_legal` says yes to exactly the listed ones.
    Listing = 7,
    /// The provided methods keep their promises when they are overridden.
    Provided = 8,
    /// Every legal move can be written and read back, whatever its spacing and capitalisation, no other move can
    /// be read, and the parts of a state are sorted.
    Notation = 9,
    /// Percepts are sorted and depend on the state and the joint move alone.
    Percepts = 10,
}

impl Law {
    /// Its number in the docs.
    pub fn number(self) -> u8 {
        self as u8
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "law {}", self.number())
    }
}

/// A law that an engine breaks: the engine's fault, never that of the rules it plays. The same plan finds it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which law.
    pub law: Law,
    /// The seed of the plan.
    pub seed: u64,
    /// The game, counted from 0.
    pub play: usize,
    /// The step of that game: how many joint moves lead from the start to the position in question.
    pub step: usize,
    /// What was found, as a sentence for the engine's author.
    pub what: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { law, seed, play, step, what } = self;
        write!(f, "{law} is broken at step {step} of play {play}, seed {seed}: {what}")
    }
}

impl std::error::Error for Violation {}

/// A broken law before it is known where.
struct Breach {
    law: Law,
    what: String,
}

fn breach(law: Law, what: impl Into<String>) -> Breach {
    Breach { law, what: what.into() }
}
