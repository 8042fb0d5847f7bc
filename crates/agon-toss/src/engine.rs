//! The ways to play a structure rewriting game, behind one door.

use std::sync::Arc;

use agon_game::{Hidden, Role};

use crate::circuit::Compiled;
use crate::interpreter::{Game, Interpreter};

/// A position of a structure rewriting game, whichever engine plays it.
pub trait TossPosition: Hidden {
    /// What the role gets here if that is a whole number, else nothing: traces hold whole numbers only.
    fn whole_payoff(&self, role: Role) -> Option<i64>;
}

impl TossPosition for Interpreter {
    fn whole_payoff(&self, role: Role) -> Option<i64> {
        let payoff = self.exact_payoffs().ok()?.get(role.index())?;
        if payoff.is_whole() { i64::try_from(payoff.numerator()).ok() } else { None }
    }
}

/// Work to be done on a game whatever engine plays it.
pub trait TossTask {
    /// What comes out.
    type Output;

    /// The work.
    fn run<P: TossPosition + 'static>(self, start: P) -> Self::Output;
}

/// A game ready to be played by one of the engines. A clone shares everything.
#[derive(Clone)]
pub enum Opened {
    /// By the definition.
    Interpreter(Arc<Game>),
    /// As a circuit.
    Circuit(Arc<Game>, Arc<Compiled>),
}

impl Opened {
    /// The game.
    pub fn game(&self) -> &Arc<Game> {
        match self {
            Opened::Interpreter(game) | Opened::Circuit(game, _) => game,
        }
    }

    /// The name of the engine.
    pub fn engine(&self) -> &'static str {
        match self {
            Opened::Interpreter(_) => "interpreter",
            Opened::Circuit(..) => "circuit",
        }
    }

    /// Does the work with the engine chosen.
    pub fn run<T: TossTask>(&self, task: T) -> T::Output {
        match self {
            Opened::Interpreter(game) => task.run(game.start()),
            Opened::Circuit(_, compiled) => task.run(compiled.start()),
        }
    }
}
