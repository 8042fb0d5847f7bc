//! Compiles a game: grounding, wiring and optimising, with the reason if that is impossible.

use std::fmt;
use std::time::Instant;

use agon_circuit::{Compiled, Deadline, GroundCircuit, Grounding, compile};
use agon_datalog::Refusal;
use agon_game::Shape;

use super::CircuitLimits;
use crate::interpreter::{Game, GoalPolicy};

/// The reason why a game has no circuit. The interpreter can still play it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoCircuit {
    /// The game was opened with a goal policy other than [`GoalPolicy::Highest`], the only one that
    /// circuits support.
    GoalPolicy,
    /// The ground rules exceed the limits or are not stratified.
    Refused {
        /// The limit that was exceeded, and the rule.
        refusal: Refusal,
        /// A description with the place of the rule.
        text: String,
    },
}

impl fmt::Display for NoCircuit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NoCircuit::GoalPolicy => {
                "circuits support only the policy that the highest goal value counts"
            }
            NoCircuit::Refused { text, .. } => text,
        })
    }
}

impl std::error::Error for NoCircuit {}

impl Game {
    /// Grounds the game and compiles its circuit.
    ///
    /// # Errors
    /// If the ground rules exceed the limits, or circuits do not support the goal policy.
    pub fn compile(&self, limits: &CircuitLimits) -> Result<Compiled, NoCircuit> {
        // Circuits pay the highest goal value that holds.
        if self.options().goal_policy != GoalPolicy::Highest {
            return Err(NoCircuit::GoalPolicy);
        }
        let limits = &limits.within(&self.options().limits);
        let began = Instant::now();
        let ground = self
            .ground(limits)
            .map_err(|refusal| NoCircuit::Refused { refusal, text: self.refusal_text(&refusal) })?;
        let grounding =
            Grounding { n_atoms: ground.n_atoms, n_rules: ground.n_rules, time: began.elapsed() };
        let raw =
            GroundCircuit { circuit: ground.circuit, candidates: ground.candidates, grounding };
        // From here on there is a circuit. At the deadline, compilation returns the smallest one
        // found.
        let deadline = Deadline::new(limits.ground.deadline).or_when(limits.ground.stop.flag());
        Ok(compile(raw, deadline, |turns| Shape {
            turn_taking: turns.is_some(),
            ..self.shape().clone()
        }))
    }
}
