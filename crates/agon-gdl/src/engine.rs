//! The ways to play a GDL game, behind one door.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_circuit::optimise::{PassReport, optimise_by_groups, optimise_until};
use agon_circuit::{Circuit, Deadline, ScalarCircuit, Turns, prove_groups_until, prove_turns};
use agon_datalog::Refusal;
use agon_game::{Hidden, Position as _, Role, Shape};

use crate::circuit::CircuitLimits;
use crate::interpreter::{Game, GoalPolicy, Interpreter};

/// A position of a GDL game, whichever engine plays it.
pub trait GdlPosition: Hidden {
    /// Every goal value the rules give the role here, in rising order.
    fn goal_values(&self, role: Role) -> Vec<i64>;
}

impl GdlPosition for Interpreter {
    fn goal_values(&self, role: Role) -> Vec<i64> {
        Interpreter::goal_values(self, role).to_vec()
    }
}

impl GdlPosition for ScalarCircuit {
    fn goal_values(&self, role: Role) -> Vec<i64> {
        ScalarCircuit::goal_values(self, role)
    }
}

/// Work to be done on a GDL game whatever engine plays it.
pub trait GdlTask {
    /// What comes out.
    type Output;

    /// The work.
    fn run<P: GdlPosition + 'static>(self, start: P) -> Self::Output;
}

/// A game ready to be played by one of the engines. A clone shares everything.
#[derive(Clone)]
pub enum Opened {
    /// By the rules as they stand.
    Interpreter(Arc<Game>),
    /// As a circuit.
    Circuit(Arc<Game>, Arc<Compiled>),
}

/// A game as an optimised circuit, with what it took to make it.
pub struct Compiled {
    /// The circuit.
    pub circuit: Arc<Circuit>,
    /// What is known of the game.
    pub shape: Shape,
    /// Gates before optimisation.
    pub n_raw_gates: usize,
    /// Ground atoms.
    pub n_atoms: usize,
    /// Rule instances.
    pub n_rules: usize,
    /// Who waits when, if the players provably take turns.
    pub turns: Option<Turns>,
    /// Groups of base bits of which provably at most one is true at every reachable state.
    pub groups: Vec<Vec<usize>>,
    /// What each pass of the optimiser saved.
    pub passes: Vec<PassReport>,
    /// Time to ground.
    pub ground_time: Duration,
    /// Time to optimise.
    pub optimise_time: Duration,
}

/// Why no circuit was made of a game. It plays on through the interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoCircuit {
    /// The caller asked for another goal policy than that the highest value counts, the only one that circuits know.
    GoalPolicy,
    /// The rules, grounded, are larger than the limits allow, or mean nothing.
    Refused {
        /// What was exceeded, and by which rule.
        refusal: Refusal,
        /// The same for people, with the place of the rule.
        text: String,
    },
}

impl fmt::Display for NoCircuit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoCircuit::GoalPolicy => {
                "circuits know only the policy that the highest goal value counts"
            }
            NoCircuit::Refused { text, .. } => text,
        })
    }
}

impl std::error::Error for NoCircuit {}

impl Game {
    /// Grounds the game and optimises its circuit.
    pub fn compile(&self, limits: &CircuitLimits) -> Result<Compiled, NoCircuit> {
        // Circuits pay the highest goal value that holds.
        if self.options().goal_policy != GoalPolicy::Highest {
            return Err(NoCircuit::GoalPolicy);
        }
        let began = Instant::now();
        let ground = self
            .ground(limits)
            .map_err(|refusal| NoCircuit::Refused { refusal, text: self.refusal_text(&refusal) })?;
        let ground_time = began.elapsed();
        let n_raw_gates = ground.circuit.n_gates();
        // From here on a circuit there is: when time is up, it is as small as it has become by then.
        let deadline = Deadline::new(limits.ground.deadline);
        let (mut circuit, mut passes) = optimise_until(&ground.circuit, deadline);
        let mut turns = prove_turns(&circuit);
        // Some are proved more easily before optimisation and some after it; either proof is a proof.
        let mut groups = prove_groups_until(&ground.circuit, ground.candidates.clone(), deadline);
        groups.extend(prove_groups_until(&circuit, ground.candidates, deadline));
        groups.sort();
        groups.dedup();
        if let Some(smaller) = optimise_by_groups(&circuit, &groups, deadline, &mut passes) {
            circuit = smaller;
            // What is proved of a circuit is true of the game; who waits is told by the signals of the circuit that plays.
            turns = prove_turns(&circuit);
        }
        let shape = Shape { turn_taking: turns.is_some(), ..self.shape().clone() };
        Ok(Compiled {
            circuit: Arc::new(circuit),
            shape,
            turns,
            groups,
            n_raw_gates,
            n_atoms: ground.n_atoms,
            n_rules: ground.n_rules,
            passes,
            ground_time,
            optimise_time: began.elapsed() - ground_time,
        })
    }
}

impl Compiled {
    /// A position at the initial state.
    pub fn start(&self) -> ScalarCircuit {
        ScalarCircuit::with_shape(Arc::clone(&self.circuit), self.shape.clone())
    }
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
    pub fn run<T: GdlTask>(&self, task: T) -> T::Output {
        match self {
            Opened::Interpreter(game) => task.run(game.start()),
            Opened::Circuit(_, compiled) => {
                let start = compiled.start();
                debug_assert_eq!(
                    start.shape().role_names,
                    compiled.shape.role_names,
                    "roles keep their order"
                );
                task.run(start)
            }
        }
    }
}
