//! Lockstep play of a structure rewriting game and its GDL translation.
//!
//! The comparison is that of [`agon_game::lockstep`]. This module maps the moves and the payoffs of
//! one game to those of the other.

use std::sync::Arc;

use agon_game::laws::Plan;
use agon_game::lockstep::{
    self, Agreement, Chances, Difference, Faults, MoveOrder, MoveTexts, Options, PayoffValues,
    Payoffs,
};
use agon_game::{Notation, Role};
use agon_gdl::interpreter as gdl;
use agon_toss::interpreter as toss;

use super::Translation;

impl Translation {
    /// Plays the structure rewriting game and the opened translation with the same random moves.
    /// Ends of play, legal moves, chances and payoffs must be the same at every step.
    ///
    /// # Errors
    /// Returns the first difference.
    pub fn compare(
        &self,
        toss: &Arc<toss::Game>,
        gdl: &Arc<gdl::Game>,
        plan: &Plan,
    ) -> Result<Agreement, Difference> {
        self.compare_until(toss, gdl, plan, &|| false)
    }

    /// Compares like [`Translation::compare`], until `stop` returns true.
    ///
    /// # Errors
    /// Returns the first difference.
    pub fn compare_until(
        &self,
        toss: &Arc<toss::Game>,
        gdl: &Arc<gdl::Game>,
        plan: &Plan,
        stop: &dyn Fn() -> bool,
    ) -> Result<Agreement, Difference> {
        let second_move = |_: Role, text: &str| Some(self.toss_move(text));
        let first_payoffs = |position: &toss::Interpreter, role| self.goal(position, role);
        let second_payoffs = |position: &gdl::Interpreter, role| {
            Some(position.goal_values(role).iter().map(|&value| value as f64).collect())
        };
        let options = Options {
            plan: plan.clone(),
            stop: Some(stop),
            second_payoffs: Some(&second_payoffs),
            ..lockstep_options(&second_move, &first_payoffs)
        };
        compare(toss, &gdl.start(), &options)
    }

    /// Returns the goal value for the payoff of a role, or `None` if the payoff has no value.
    pub(crate) fn goal(&self, position: &toss::Interpreter, role: Role) -> Option<Vec<f64>> {
        let payoffs = position.exact_payoffs().ok()?;
        Some(vec![self.payoffs.goal(payoffs[role.index()]) as f64])
    }
}

/// Returns the options for comparing a structure rewriting game with a game that came from it.
///
/// `second_move` returns the normalised move of the first game for a move of the second, and
/// `first_payoffs` the payoff that the second game should have.
pub(crate) fn lockstep_options<'o, B: Notation>(
    second_move: &'o dyn Fn(Role, &str) -> Option<String>,
    first_payoffs: PayoffValues<'o, toss::Interpreter>,
) -> Options<'o, toss::Interpreter, B> {
    Options {
        first_move: Some(&|_, text| normalise(text)),
        second_move: Some(second_move),
        move_order: MoveOrder::Any,
        chances: Chances::Compared,
        states: false,
        payoffs: Payoffs::Always,
        first_payoffs: Some(first_payoffs),
        faults: Faults::Rejected,
        ..Options::default()
    }
}

/// Plays a structure rewriting game and a game that came from it in lockstep.
///
/// # Errors
/// Returns the first difference.
pub(crate) fn compare<B: Notation>(
    toss: &Arc<toss::Game>,
    second: &B,
    options: &Options<'_, toss::Interpreter, B>,
) -> Result<Agreement, Difference> {
    // Where rules create elements, the same move has different texts in different states.
    let keeps_texts = toss.arena().keeps_universe();
    let move_texts = if keeps_texts { MoveTexts::Fixed } else { MoveTexts::ByPosition };
    lockstep::compare(&toss.start(), second, &Options { move_texts, ..options.clone() })
}

/// Returns a move in lower case with single spaces.
fn normalise(text: &str) -> String {
    super::joined(super::words(text).iter().map(String::as_str))
}
