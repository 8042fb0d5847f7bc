//! The part of a batch that does not change, with its generated code.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use agon_game::{PlayoutKind, Shape};

use super::expand::{Expander, LookAhead};
use super::foresight::{Ahead, Foresight, Players};
use super::playout::{Place, Playable, PlayoutStep, Restart};
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
    /// How far playouts look ahead if they are decisive, and if they are careful.
    decisive: OnceLock<Option<Foresight>>,
    careful: OnceLock<Option<Foresight>>,
    /// Steps that were built to learn their size.
    sized: Mutex<Vec<SizedStep>>,
    steps: Mutex<Vec<Step>>,
    expander: OnceLock<Expander>,
    ahead: OnceLock<LookAhead>,
}

/// A step that was built to learn its size: its phase, how its moves are chosen, and its logic.
type SizedStep = (usize, MoveChoice, Arc<PlayoutStep>);

/// How the moves of playouts are chosen.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MoveChoice {
    /// How far they look ahead.
    pub(super) foresight: Option<Foresight>,
    /// Whether some are preferred.
    pub(super) has_levels: bool,
}

/// A step of playouts, ready to run. A clone shares the code.
#[derive(Clone)]
pub(super) struct Step {
    pub(super) phase: usize,
    pub(super) place: Place,
    pub(super) choice: MoveChoice,
    pub(super) step: Arc<PlayoutStep>,
    pub(super) kernel: Kernel,
}

impl Step {
    /// Returns whether it is the step of this phase at this place, with moves of this kind.
    pub(super) fn is(&self, phase: usize, place: Place, choice: MoveChoice) -> bool {
        (self.phase, self.place, self.choice) == (phase, place, choice)
    }
}

/// Maximum size of a step that looks ahead, as a multiple of a step that does not.
const MAX_RATIO: f64 = 3.0;

/// Maximum number of gates of all phases of a game whose playouts look ahead.
const MAX_GATES: usize = 300_000;

/// The place of the steps of a search, which are built to learn their size.
const SEARCH: Place = Place { restart: Restart::Planes, is_gate: true };

/// Number of operations that a step may have in addition.
const FREE: usize = 500;

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
            decisive: OnceLock::new(),
            careful: OnceLock::new(),
            sized: Mutex::new(Vec::new()),
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

    /// Returns how far playouts of a kind look ahead: as far as the logic does not become too large.
    pub(super) fn foresight(&self, kind: PlayoutKind) -> Option<Foresight> {
        match kind {
            PlayoutKind::Uniform => None,
            PlayoutKind::Decisive => {
                *self.decisive.get_or_init(|| self.affordable(&[Foresight::Wins]))
            }
            PlayoutKind::Careful => *self.careful.get_or_init(|| {
                let safe = self.affordable(&[Foresight::Safe]);
                safe.or_else(|| self.foresight(PlayoutKind::Decisive))
            }),
        }
    }

    /// Returns the first of these that is not too large, in all phases together: the roles are
    /// treated alike.
    fn affordable(&self, wanted: &[Foresight]) -> Option<Foresight> {
        let playable = self.playable();
        if playable.may_reject {
            // A winning move might be rejected.
            return None;
        }
        let n_gates: usize =
            playable.phases.circuits.iter().map(|circuit| circuit.ands.len()).sum();
        if n_gates > MAX_GATES {
            return None;
        }
        let size = |foresight, max_gates| {
            (0..playable.phases.circuits.len()).try_fold(0, |sum, phase| {
                let choice = MoveChoice { foresight, has_levels: false };
                let step = self.program(phase, SEARCH, choice, max_gates)?;
                Some(sum + step.program.instructions.len())
            })
        };
        let plain = size(None, 0).expect("uniform moves are always possible");
        let max = MAX_RATIO * plain as f64 + FREE as f64;
        // Some gates of the graph are not part of the program.
        let max_gates = 8 * max as usize;
        wanted.iter().copied().find(|&foresight| {
            size(Some(foresight), max_gates).is_some_and(|size| size as f64 <= max)
        })
    }

    /// Returns a copy of the step of a phase.
    pub(super) fn step(&self, phase: usize, place: Place, choice: MoveChoice) -> Step {
        // A panic while code is generated leaves the list as it was.
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let known = steps.iter().find(|step| step.is(phase, place, choice));
        if let Some(step) = known {
            return step.clone();
        }
        let step = self
            .program(phase, place, choice, usize::MAX)
            .or_else(|| self.program(phase, place, MoveChoice { foresight: None, ..choice }, 0))
            .expect("uniform moves are always possible");
        let kernel = Kernel::new(&step.program, self.playable().kept.len() + 1, self.backend);
        let step = Step { phase, place, choice, step, kernel };
        steps.push(step.clone());
        step
    }

    /// Returns the logic of a step, or `None` if looking ahead takes too much of it.
    fn program(
        &self,
        phase: usize,
        place: Place,
        choice: MoveChoice,
        max_gates: usize,
    ) -> Option<Arc<PlayoutStep>> {
        let mut sized = self.sized.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            sized.iter().find(|(of, by, _)| place == SEARCH && (*of, *by) == (phase, choice));
        if let Some((_, _, step)) = known {
            return Some(Arc::clone(step));
        }
        let step = Arc::new(self.build_program(phase, place, choice, max_gates)?);
        if place == SEARCH {
            sized.push((phase, choice, Arc::clone(&step)));
        }
        Some(step)
    }

    fn build_program(
        &self,
        phase: usize,
        place: Place,
        MoveChoice { foresight, has_levels }: MoveChoice,
        max_gates: usize,
    ) -> Option<PlayoutStep> {
        let playable = self.playable();
        // Where the circuit is cut into phases, the phase tells which roles wait.
        let is_cut = playable.phases.circuits.len() > 1;
        let turns = self.turns.as_ref().filter(|_| !is_cut);
        let take_turns = self.shape.turn_taking || self.turns.is_some();
        let players = Players { take_turns, turns };
        let ahead =
            foresight.map(|foresight| Ahead { playable, phase, foresight, players, max_gates });
        let shape = Shape { turn_taking: self.shape.turn_taking && !is_cut, ..self.shape.clone() };
        let by = (ahead.as_ref(), has_levels);
        PlayoutStep::with_choice(playable, phase, (&shape, turns), place, by)
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
