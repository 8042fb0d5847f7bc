//! The part of a batch that does not change, with its generated code.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agon_game::Shape;

use super::expand::{Expander, LookAhead};
use super::playout::{Place, Playable, PlayoutStep};
use crate::run::kernel::{Backend, Kernel};
use crate::{Bits, Circuit, Turns};

/// A circuit prepared for batches, shared by all batches of a game.
///
/// Every part is built when it is first needed, because code takes time and memory, and only once:
/// a batch gets a copy that shares the code and has scratch memory of its own.
pub(crate) struct BatchCode {
    circuit: Arc<Circuit>,
    initial: Bits,
    shape: Shape,
    backend: Backend,
    turns: Option<Turns>,
    playable: OnceLock<Playable>,
    steps: Mutex<Vec<Step>>,
    expander: OnceLock<Expander>,
    ahead: OnceLock<LookAhead>,
}

/// A step of playouts, ready to run. A clone shares the code.
#[derive(Clone)]
pub(super) struct Step {
    pub(super) phase: usize,
    pub(super) place: Place,
    pub(super) step: Arc<PlayoutStep>,
    pub(super) kernel: Kernel,
}

impl BatchCode {
    pub(crate) fn new(
        circuit: Arc<Circuit>,
        shape: Shape,
        backend: Backend,
        turns: Option<Turns>,
    ) -> BatchCode {
        BatchCode {
            initial: Bits::pack(circuit.initial.iter().copied()),
            circuit,
            shape,
            backend,
            turns,
            playable: OnceLock::new(),
            steps: Mutex::new(Vec::new()),
            expander: OnceLock::new(),
            ahead: OnceLock::new(),
        }
    }

    pub(super) fn circuit(&self) -> &Circuit {
        &self.circuit
    }

    /// Returns the initial state.
    pub(super) fn initial(&self) -> &Bits {
        &self.initial
    }

    /// Returns the circuit prepared for playouts.
    #[inline]
    pub(super) fn playable(&self) -> &Playable {
        self.playable.get_or_init(|| Playable::new(&self.circuit))
    }

    /// Returns a copy of the step of a phase.
    pub(super) fn step(&self, phase: usize, place: Place) -> Step {
        // A panic while code is generated leaves the list as it was.
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let known = steps.iter().find(|step| (step.phase, step.place) == (phase, place));
        if let Some(step) = known {
            return step.clone();
        }
        let step = self.build_step(phase, place);
        steps.push(step.clone());
        step
    }

    fn build_step(&self, phase: usize, place: Place) -> Step {
        let playable = self.playable();
        // Where the circuit is cut into phases, the phase tells which roles wait.
        let step = if playable.phases.circuits.len() > 1 {
            let shape = Shape { turn_taking: false, ..self.shape.clone() };
            PlayoutStep::new(playable, phase, &shape, None, place)
        } else {
            PlayoutStep::new(playable, phase, &self.shape, self.turns.as_ref(), place)
        };
        let kernel = Kernel::new(&step.program, playable.kept.len() + 1, self.backend);
        Step { phase, place, step: Arc::new(step), kernel }
    }

    /// Returns a copy of the expander.
    pub(super) fn expander(&self) -> Expander {
        self.expander.get_or_init(|| Expander::new(&self.circuit, self.backend)).clone()
    }

    /// Returns a copy of the kernel that looks one step ahead.
    pub(super) fn ahead(&self) -> LookAhead {
        self.ahead.get_or_init(|| LookAhead::new(&self.circuit, self.backend)).clone()
    }
}
