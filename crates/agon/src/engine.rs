//! The engines that play a game: an interpreter or a circuit, for either rule language.

use std::sync::Arc;

use agon_circuit::{Compiled, ScalarCircuit};
use agon_game::{Continuous, Hidden, PositionTable, Role, Table};
use agon_gdl::interpreter as gdl;
use agon_toss::interpreter as toss;

/// A position of a game of either rule language, played by any engine.
pub trait GamePosition: Hidden + Continuous {
    /// Returns every whole payoff that the rules give a role here, in rising order. GDL may give
    /// several, or none.
    fn goal_values(&self, role: Role) -> Vec<i64>;
}

impl GamePosition for gdl::Interpreter {
    fn goal_values(&self, role: Role) -> Vec<i64> {
        gdl::Interpreter::goal_values(self, role).to_vec()
    }
}

impl GamePosition for ScalarCircuit {
    fn goal_values(&self, role: Role) -> Vec<i64> {
        ScalarCircuit::goal_values(self, role)
    }
}

impl GamePosition for toss::Interpreter {
    fn goal_values(&self, role: Role) -> Vec<i64> {
        self.whole_payoff(role).into_iter().collect()
    }
}

/// Work on the start position of a game, generic over the engine that plays it.
pub trait GameTask {
    /// The result of the work.
    type Output;

    /// Does the work.
    fn run<P: GamePosition + 'static>(self, start: P) -> Self::Output;
}

/// A game of one rule language with the engine that plays it. A clone shares everything.
#[derive(Clone)]
pub enum Engine {
    /// GDL, played by its rules as they stand.
    GdlInterpreter(Arc<gdl::Game>),
    /// GDL, grounded to a circuit.
    GdlCircuit(Arc<gdl::Game>, Arc<Compiled>),
    /// A structure rewriting game, played by its definition.
    TossInterpreter(Arc<toss::Game>),
    /// A structure rewriting game, grounded to a circuit.
    TossCircuit(Arc<toss::Game>, Arc<Compiled>),
}

impl Engine {
    /// Runs a task on the start position.
    pub fn run<T: GameTask>(&self, task: T) -> T::Output {
        match self {
            Engine::GdlInterpreter(game) => task.run(game.start()),
            Engine::TossInterpreter(game) => task.run(game.start()),
            Engine::GdlCircuit(_, compiled) | Engine::TossCircuit(_, compiled) => {
                task.run(compiled.start())
            }
        }
    }

    /// Returns the name of the engine: `interpreter` or `circuit`.
    pub fn name(&self) -> &'static str {
        match self {
            Engine::GdlInterpreter(_) | Engine::TossInterpreter(_) => "interpreter",
            Engine::GdlCircuit(..) | Engine::TossCircuit(..) => "circuit",
        }
    }

    /// Returns the circuit, if the engine is one.
    pub fn compiled(&self) -> Option<&Arc<Compiled>> {
        match self {
            Engine::GdlInterpreter(_) | Engine::TossInterpreter(_) => None,
            Engine::GdlCircuit(_, compiled) | Engine::TossCircuit(_, compiled) => Some(compiled),
        }
    }

    /// Returns the rules as text, in the form in which they are sent to players.
    pub fn rules_text(&self) -> String {
        match self {
            Engine::GdlInterpreter(game) | Engine::GdlCircuit(game, _) => {
                agon_gdl::print::print_kif(game.rules().sheet())
            }
            Engine::TossInterpreter(game) | Engine::TossCircuit(game, _) => {
                agon_toss::print::print_sheet(game.arena().sheet())
            }
        }
    }
}

/// Lays the start position out as a [`Table`]: text moves, checked.
pub struct ToTable;

impl GameTask for ToTable {
    type Output = Box<dyn Table>;

    fn run<P: GamePosition + 'static>(self, start: P) -> Box<dyn Table> {
        if start.shape().hidden {
            Box::new(PositionTable::hidden(start))
        } else {
            Box::new(PositionTable::open(start).with_families())
        }
    }
}
