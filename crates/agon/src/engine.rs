//! A game of either family of rules, ready to be played.

use agon_circuit::ScalarCircuit;
use agon_game::{Hidden, Role};
use agon_toss::engine::TossPosition as _;

/// A position of a game, whichever language it is written in and whichever engine plays it.
pub(crate) trait GamePosition: Hidden {
    /// Every payoff the rules give the role here that is a whole number, in rising order; GDL may give several.
    fn goal_values(&self, role: Role) -> Vec<i64>;
}

impl GamePosition for agon_gdl::interpreter::Interpreter {
    fn goal_values(&self, role: Role) -> Vec<i64> {
        agon_gdl::interpreter::Interpreter::goal_values(self, role).to_vec()
    }
}

impl GamePosition for ScalarCircuit {
    fn goal_values(&self, role: Role) -> Vec<i64> {
        agon_gdl::engine::GdlPosition::goal_values(self, role)
    }
}

impl GamePosition for agon_toss::interpreter::Interpreter {
    fn goal_values(&self, role: Role) -> Vec<i64> {
        self.whole_payoff(role).into_iter().collect()
    }
}

/// Work to be done on a game whatever engine plays it.
pub(crate) trait GameTask {
    /// What comes out.
    type Output;

    /// The work.
    fn run<P: GamePosition + 'static>(self, start: P) -> Self::Output;
}

/// A game ready to be played by one of the engines of its language. A clone shares everything.
#[derive(Clone)]
pub(crate) enum Opened {
    /// GDL or GDL-II.
    Gdl(agon_gdl::engine::Opened),
    /// Structure rewriting.
    Toss(agon_toss::engine::Opened),
}

impl Opened {
    /// Does the work with the engine chosen.
    pub(crate) fn run<T: GameTask>(&self, task: T) -> T::Output {
        match self {
            Opened::Gdl(agon_gdl::engine::Opened::Interpreter(game)) => task.run(game.start()),
            Opened::Gdl(agon_gdl::engine::Opened::Circuit(_, compiled)) => {
                task.run(compiled.start())
            }
            Opened::Toss(agon_toss::engine::Opened::Interpreter(game)) => task.run(game.start()),
            Opened::Toss(agon_toss::engine::Opened::Circuit(_, compiled)) => {
                task.run(compiled.start())
            }
        }
    }

    /// The name of the engine.
    pub(crate) fn engine(&self) -> &'static str {
        match self {
            Opened::Gdl(opened) => opened.engine(),
            Opened::Toss(opened) => opened.engine(),
        }
    }

    /// The rules as they are sent to players elsewhere.
    pub(crate) fn rules_text(&self) -> String {
        match self {
            Opened::Gdl(opened) => agon_gdl::print::print_kif(opened.game().rules().sheet()),
            Opened::Toss(opened) => agon_toss::print::print_sheet(opened.game().arena().sheet()),
        }
    }
}
