//! From a ground circuit to a game that is ready to be played.
//!
//! Both rule languages end here. A language grounds its rules into a [`Circuit`]; [`compile`]
//! optimises it, proves what helps to make it smaller and faster, and returns a [`Compiled`] game.
//! Positions of that game share everything that does not change, including generated machine code.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use agon_game::Shape;

use crate::optimise::{PassReport, optimise, optimise_by_groups};
use crate::{Circuit, Deadline, ScalarCircuit, Turns, prove_groups, prove_turns};

/// The input of [`compile`]: a circuit that was just grounded.
#[derive(Clone, Debug)]
pub struct GroundCircuit {
    /// The circuit as the rules were grounded, not optimised.
    pub circuit: Circuit,
    /// Groups of base bits of which at most one may be true at a time. They are candidates:
    /// [`compile`] keeps those that it can prove.
    pub candidates: Vec<Vec<usize>>,
    /// The size of the ground rules, for reports.
    pub grounding: Grounding,
}

/// The size of a ground rule set and the time to make it. All zero if the language does not count.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Grounding {
    /// Ground atoms.
    pub n_atoms: usize,
    /// Rule instances.
    pub n_rules: usize,
    /// Time to ground.
    pub time: Duration,
}

/// A game as an optimised circuit, with the facts proved on the way.
#[non_exhaustive]
pub struct Compiled {
    /// The optimised circuit.
    pub circuit: Arc<Circuit>,
    /// The moves that are waiting moves, if the players provably take turns.
    pub turns: Option<Turns>,
    /// Groups of base bits of which provably at most one is true at every reachable state.
    pub groups: Vec<Vec<usize>>,
    /// Gates and time of each pass of the optimiser.
    pub passes: Vec<PassReport>,
    /// Gates before optimisation.
    pub n_raw_gates: usize,
    /// The size of the ground rules.
    pub grounding: Grounding,
    /// Time to optimise and to prove.
    pub optimise_time: Duration,
    shape: Shape,
    /// The initial position. Built by the first call of `start`, because not every compiled game is
    /// played. In a mutex because a position has scratch memory with interior mutability.
    prototype: OnceLock<Mutex<ScalarCircuit>>,
}

/// Optimises the circuit of a game and proves facts about it.
///
/// `shape` computes the shape of the game from the proof that the players take turns, if there is
/// one. When the deadline passes, the result is the smallest circuit found until then.
pub fn compile(
    ground: GroundCircuit,
    deadline: Deadline<'_>,
    shape: impl FnOnce(Option<&Turns>) -> Shape,
) -> Compiled {
    let start = Instant::now();
    let GroundCircuit { circuit: raw, candidates, grounding } = ground;
    let (mut circuit, mut passes) = optimise(&raw, deadline);
    // Some groups are easier to prove before optimisation and some after it. Either proof is valid
    // for both circuits.
    let mut groups = prove_groups(&raw, candidates.clone(), deadline);
    groups.extend(prove_groups(&circuit, candidates, deadline));
    groups.sort();
    groups.dedup();
    if let Some(smaller) = optimise_by_groups(&circuit, &groups, deadline, &mut passes) {
        circuit = smaller;
    }
    // The proof names signals of the circuit that is played, so it comes last.
    let turns = prove_turns(&circuit);
    let shape = shape(turns.as_ref());
    Compiled {
        circuit: Arc::new(circuit),
        turns,
        groups,
        passes,
        n_raw_gates: raw.n_gates(),
        grounding,
        optimise_time: start.elapsed(),
        shape,
        prototype: OnceLock::new(),
    }
}

impl Compiled {
    /// Returns the shape of the game, with the facts proved so far.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Replaces the shape of the game, for example after more has been proved.
    ///
    /// Positions that were started before keep the old shape.
    pub fn set_shape(&mut self, shape: Shape) {
        self.shape = shape;
        self.prototype = OnceLock::new();
    }

    /// Returns a position at the initial state.
    ///
    /// The first call chooses an executor and may generate machine code. Later calls copy scratch
    /// memory only: all positions of a compiled game share the code.
    pub fn start(&self) -> ScalarCircuit {
        let build = || {
            let circuit = Arc::clone(&self.circuit);
            Mutex::new(ScalarCircuit::with_shape(circuit, self.shape.clone()))
        };
        let prototype = self.prototype.get_or_init(build);
        prototype.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
