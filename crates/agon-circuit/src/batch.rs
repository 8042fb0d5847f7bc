//! 256 games at once.
//!
//! In go start states and how many playouts are wanted from each, out come the sums of what they paid. Each lane plays
//! its own game; a lane whose game has ended starts the next one, and every playout that is started is played to its end
//! and counted, so that short games are not favoured.

mod count;
mod expand;
mod lanes;
mod late;

use std::sync::Arc;

use agon_game::{Batch, Children, Order, Shape, Tally};

use crate::kernel::{Backend, Kernel};
use crate::playout::{Place, Playable, PlayoutStep, Restart, Turns};
use crate::random::PlaneRng;
use crate::{Bits, Circuit, Input, Plane};

/// How a circuit is to be run in batches.
#[derive(Clone, Debug, Default)]
pub struct BatchOptions {
    /// What executes it.
    pub backend: Backend,
    /// The same seed gives the same playouts, whatever the backend.
    pub seed: u64,
    /// Who waits while another moves, if that is proved.
    pub turns: Option<Turns>,
}

/// A circuit run 256 games at a time. One per thread.
pub struct BatchCircuit {
    circuit: Arc<Circuit>,
    shape: Shape,
    options: BatchOptions,
    rng: PlaneRng,
    /// Made when first needed: code takes time and memory.
    playable: Option<Playable>,
    /// The steps of playouts that have been needed so far.
    steps: Vec<Step>,
    expander: Option<expand::Expander>,
    lanes: lanes::Lanes,
}

/// A step of playouts, ready to run.
struct Step {
    phase: usize,
    place: Place,
    step: PlayoutStep,
    kernel: Kernel,
}

impl BatchCircuit {
    /// Prepares a circuit, which should be an optimised one. Of the shape, only turn-taking is used.
    pub fn new(circuit: Arc<Circuit>, shape: Shape, options: BatchOptions) -> BatchCircuit {
        let rng = PlaneRng::new(options.seed);
        let (playable, steps, expander) = (None, Vec::new(), None);
        let lanes = lanes::Lanes::default();
        BatchCircuit { circuit, shape, options, rng, playable, steps, expander, lanes }
    }

    /// How many operations one step of 256 playouts takes on average, and how many machine instructions and bytes of code there
    /// are for all phases if it is native code.
    pub fn playout_size(&mut self) -> (usize, Option<(usize, usize)>) {
        let initial = Bits::pack(self.circuit.initial.iter().copied());
        let start = self.playable().phases.of(&initial);
        let round = self.round(start, Restart::Initial);
        let steps = round.iter().map(|&idx| &self.steps[idx]);
        let n_operations: usize = steps.clone().map(|step| step.step.program.instructions.len()).sum();
        let native: Option<Vec<(usize, usize)>> = steps.map(|step| step.kernel.native_size()).collect();
        let native =
            native.map(|sizes| sizes.iter().fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1)));
        (n_operations / round.len(), native)
    }

    fn playable(&mut self) -> &Playable {
        self.playable.get_or_insert_with(|| Playable::new(&self.circuit))
    }

    /// The steps of one round of the token, from this phase on: their places in `steps`. Playouts from the initial state start in this
    /// phase only, others in any.
    fn round(&mut self, start: usize, restart: Restart) -> Vec<usize> {
        let BatchCircuit { circuit, shape, options, playable, steps, .. } = self;
        let playable = playable.get_or_insert_with(|| Playable::new(circuit));
        let Playable { phases, kept, .. } = &*playable;
        let mut round = Vec::new();
        let mut phase = start;
        loop {
            let after = phases.after(phase);
            let place = Place { restart, is_gate: after == start || restart == Restart::Planes };
            let known = steps.iter().position(|step| (step.phase, step.place) == (phase, place));
            round.push(known.unwrap_or_else(|| {
                let turns = options.turns.as_ref();
                // Where the circuit is cut up, it is known without them who waits.
                let step = if phases.circuits.len() > 1 {
                    let shape = Shape { turn_taking: false, ..shape.clone() };
                    PlayoutStep::new(playable, phase, &shape, None, place)
                } else {
                    PlayoutStep::new(playable, phase, shape, turns, place)
                };
                let kernel = Kernel::new(&step.program, kept.len() + 1, options.backend);
                steps.push(Step { phase, place, step, kernel });
                steps.len() - 1
            }));
            phase = after;
            if phase == start {
                return round;
            }
        }
    }
}

impl Batch for BatchCircuit {
    type State = Bits;
    type Move = Input;

    fn tally(&mut self, orders: &[Order<Bits>], max_steps: u64, tallies: &mut Vec<Tally>) {
        Tally::renew(tallies, orders.len(), self.circuit.roles.len());
        let initial = Bits::pack(self.circuit.initial.iter().copied());
        let is_initial = orders.iter().all(|order| order.state == initial);
        let restart = if is_initial { Restart::Initial } else { Restart::Planes };
        let phases = &self.playable().phases;
        let n_phases = phases.circuits.len();
        let phase_of: Vec<usize> = orders.iter().map(|order| phases.of(&order.state)).collect();
        let chunks = orders.chunks(Plane::LANES).zip(tallies.chunks_mut(Plane::LANES));
        for ((orders, tallies), phase_of) in chunks.zip(phase_of.chunks(Plane::LANES)) {
            // All lanes are in the same phase at any time. Those that start in another wait for theirs: let it be few.
            let n_starting = |phase: &usize| phase_of.iter().filter(|&of| of == phase).count();
            let start = (0..n_phases).rev().max_by_key(n_starting).unwrap_or(0);
            let round = self.round(start, restart);
            let BatchCircuit { circuit, options, playable, steps, rng, lanes, expander, .. } = self;
            let Playable { kept, may_reject, .. } = playable.as_ref().expect("the round has made it");
            let expander = may_reject
                .then(|| expander.get_or_insert_with(|| expand::Expander::new(circuit, options.backend)));
            let delays: Vec<usize> =
                phase_of.iter().map(|phase| (phase + n_phases - start) % n_phases).collect();
            let job = lanes::Job { kept, orders, delays: &delays, restart, max_steps };
            let mut machine = lanes::Machine { steps, round: &round, rng, expander };
            lanes.run(&job, &mut machine, tallies);
        }
    }

    fn advance_all(&mut self, steps: &[(&Bits, &[Input])], children: &mut Children<Bits, Input>) {
        self.expander().advance_all(steps, children);
    }

    fn expand(&mut self, states: &[&Bits], children: &mut Children<Bits, Input>) {
        self.expander().expand(states, children);
    }
}

impl BatchCircuit {
    fn expander(&mut self) -> &mut expand::Expander {
        let BatchCircuit { circuit, options, .. } = self;
        self.expander.get_or_insert_with(|| expand::Expander::new(circuit, options.backend))
    }
}
