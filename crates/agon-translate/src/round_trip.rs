//! Round trips: a structure rewriting game is written in GDL, and the result is translated back.
//!
//! The returned game has a different text, with one rule for each case, but the same plays.
//! Lockstep random play with the original checks this.

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use agon_game::Role;
use agon_game::laws::Plan;
use agon_game::lockstep::{Agreement, Difference, Options, Payoffs};
use agon_text::{Severity, Source};
use agon_toss::interpreter::{Game, Interpreter};

use crate::to_gdl::{self, lockstep_options, to_gdl};
use crate::to_toss::{self, ToTossError, to_toss};

/// A structure rewriting game, its GDL translation, and the translation of that back.
#[derive(Debug)]
pub struct RoundTrip {
    /// The game in GDL.
    pub there: to_gdl::Translation,
    /// The GDL game as a structure rewriting game.
    pub back: to_toss::Translation,
}

/// Reason why a round trip failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RoundTripError {
    /// The game cannot be written in GDL.
    There(to_gdl::ToGdlError),
    /// The generated rulesheet is rejected by the GDL checker. This is a defect of the translator.
    Text(String),
    /// The generated rulesheet cannot be translated back.
    Back(ToTossError),
}

impl fmt::Display for RoundTripError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RoundTripError::There(why) => write!(f, "the game cannot be written in GDL: {why}"),
            RoundTripError::Text(why) => write!(f, "the generated rulesheet is invalid: {why}"),
            RoundTripError::Back(why) => {
                write!(f, "the generated rulesheet cannot be translated back: {why}")
            }
        }
    }
}

impl std::error::Error for RoundTripError {}

/// Writes a game in GDL and translates the result back.
///
/// # Errors
/// Returns an error if one of the two translations fails.
pub fn round_trip(
    game: &Game,
    limits: to_gdl::ToGdlLimits,
    options: &to_toss::ToTossOptions,
) -> Result<RoundTrip, RoundTripError> {
    let there = to_gdl(game.arena(), limits).map_err(RoundTripError::There)?;
    let rulesheet = Arc::new(Source::new("translated.kif", there.text.as_str()));
    let checked = agon_gdl::check::check(rulesheet);
    let Some(rules) = checked.rules else {
        let error =
            checked.findings.0.into_iter().find(|finding| finding.severity == Severity::Error);
        return Err(RoundTripError::Text(
            error.map_or_else(String::new, |finding| finding.message),
        ));
    };
    let gdl = agon_gdl::interpreter::Game::open(rules, agon_gdl::interpreter::Options::default())
        .map_err(|finding| RoundTripError::Text(finding.message))?;
    let back = to_toss(&gdl, options).map_err(RoundTripError::Back)?;
    Ok(RoundTrip { there, back })
}

impl RoundTrip {
    /// Returns the move of the original game that a move of the returned game stands for, in lower
    /// case.
    fn original_move(&self, role: usize, text: &str) -> Option<String> {
        Some(self.there.toss_move(&self.back.gdl_move(role, text)?))
    }

    /// Plays the original and the returned game in lockstep with the same random moves.
    ///
    /// # Errors
    /// Returns the first difference.
    pub fn compare(&self, original: &Arc<Game>, plan: &Plan) -> Result<Agreement, Difference> {
        let back = self.open_back();
        let second_move = |role: Role, text: &str| self.original_move(role.index(), text);
        let first_payoffs = |position: &Interpreter, role| self.there.goal(position, role);
        let options = Options {
            plan: plan.clone(),
            payoffs: Payoffs::AtEnd,
            ..lockstep_options(&second_move, &first_payoffs)
        };
        to_gdl::compare(original, &back.start(), &options)
    }

    fn open_back(&self) -> Arc<Game> {
        to_toss::open(&self.back.text, None).expect("`to_toss` has opened the translation before")
    }
}
