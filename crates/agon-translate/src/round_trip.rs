//! There and back: a structure rewriting game in GDL, and that as a structure rewriting game again.
//!
//! What comes back is another game in the text, with rules case by case, and the same in play: joint random play with the original is the judge.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use agon_game::Position as _;
use agon_text::{Severity, Source};
use agon_toss::interpreter::{Game, Interpreter};

use crate::to_gdl::joint::{Agreement, Disagreement, Plan, Reading, play_reading};
use crate::to_gdl::{self, to_gdl};
use crate::to_toss::{self, Untranslatable, to_toss};

/// A game that went through GDL.
#[derive(Debug)]
pub struct RoundTrip {
    /// The game in GDL.
    pub there: to_gdl::Translation,
    /// That as a structure rewriting game.
    pub back: to_toss::Translation,
}

/// Why a game did not come back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// It is not written in GDL.
    There(to_gdl::Refusal),
    /// What is written is not taken: a fault of the translator.
    Text(String),
    /// The rulesheet is not written as a structure rewriting game.
    Back(Untranslatable),
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lost::There(why) => write!(f, "not written in GDL: {why}"),
            Lost::Text(why) => write!(f, "what was written is not taken: {why}"),
            Lost::Back(why) => {
                write!(f, "the rulesheet is not written as a structure rewriting game: {why}")
            }
        }
    }
}

impl std::error::Error for Lost {}

/// Writes a game in GDL and that as a structure rewriting game.
///
/// # Errors
/// If one of the two cannot be.
pub fn round_trip(
    game: &Game,
    limits: to_gdl::Limits,
    options: &to_toss::Options,
) -> Result<RoundTrip, Lost> {
    let there = to_gdl(game.arena(), limits).map_err(Lost::There)?;
    let rulesheet = Arc::new(Source::new("translated.kif", there.text.as_str()));
    let checked = agon_gdl::check::check(rulesheet);
    let Some(rules) = checked.rules else {
        let error =
            checked.findings.0.into_iter().find(|finding| finding.severity == Severity::Error);
        return Err(Lost::Text(error.map_or_else(String::new, |finding| finding.message)));
    };
    let gdl = agon_gdl::interpreter::Game::open(rules, agon_gdl::interpreter::Options::default())
        .map_err(|finding| Lost::Text(finding.message))?;
    let back = to_toss(&gdl, options).map_err(Lost::Back)?;
    Ok(RoundTrip { there, back })
}

impl RoundTrip {
    /// The move of the original that a role's move of the game that came back stands for, in lower case.
    pub fn original_move(&self, role: usize, text: &str) -> Option<String> {
        Some(self.there.toss_move(&self.back.gdl_move(role, text)?))
    }

    /// Plays the original and what came back with the same random moves.
    ///
    /// # Errors
    /// The first difference.
    pub fn play_jointly(
        &self,
        original: &Arc<Game>,
        plan: Plan,
    ) -> Result<Agreement, Disagreement> {
        let differ = |what: String| Disagreement { play: 0, step: 0, what };
        let back = to_toss::open(&self.back.text).map_err(|why| differ(why.to_string()))?;
        let toss_move = |role: usize, text: &str| self.original_move(role, text);
        play_reading(original, &back.start(), &self.reading(&toss_move), plan)
    }

    fn reading<'r>(
        &'r self,
        toss_move: &'r dyn Fn(usize, &str) -> Option<String>,
    ) -> Reading<'r, Interpreter> {
        Reading {
            toss_move,
            goals: &|there, role| vec![there.payoff(role)],
            payoffs: &self.there.payoffs,
            is_paid_at_ends_alone: true,
        }
    }
}
