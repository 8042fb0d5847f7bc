//! 256 games at once.
//!
//! In go start states and how many playouts are wanted from each, out come the sums of what they paid. Each lane plays
//! its own game; a lane whose game has ended starts the next one, and every playout that is started is played to its end
//! and counted, so that short games are not favoured.

mod count;
mod expand;
mod lanes;
mod late;
mod sharing;

use std::ops::Range;
use std::sync::Arc;

use agon_game::{Batch, Children, Ends, Order, Shape, Tally};

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
    initial: Bits,
    shape: Shape,
    options: BatchOptions,
    rng: PlaneRng,
    /// Made when first needed: code takes time and memory.
    playable: Option<Playable>,
    /// The steps of playouts that have been needed so far.
    steps: Vec<Step>,
    expander: Option<expand::Expander>,
    lanes: lanes::Lanes,
    ordered: Ordered,
}

/// Playouts that were ordered. Lanes are given 256 orders at a time.
struct Ordered {
    orders: Vec<Order<Bits>>,
    max_steps: u64,
    restart: Restart,
    /// By order: the phase that it starts in.
    phase_of: Vec<usize>,
    /// By order: what has come of it.
    tallies: Vec<Tally>,
    /// The orders that lanes work on: none if all has been played.
    seated: Range<usize>,
    /// The steps of a round for them: their places among all steps.
    round: Vec<usize>,
}

impl Default for Ordered {
    fn default() -> Ordered {
        Ordered {
            orders: Vec::new(),
            max_steps: 0,
            restart: Restart::Initial,
            phase_of: Vec::new(),
            tallies: Vec::new(),
            seated: 0..0,
            round: Vec::new(),
        }
    }
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
        let (lanes, ordered) = (lanes::Lanes::default(), Ordered::default());
        let initial = Bits::pack(circuit.initial.iter().copied());
        BatchCircuit {
            circuit,
            initial,
            shape,
            options,
            rng,
            playable,
            steps,
            expander,
            lanes,
            ordered,
        }
    }

    /// How many operations one step of 256 playouts takes on average, and how many machine instructions and bytes of code there
    /// are for all phases if it is native code.
    pub fn playout_size(&mut self) -> (usize, Option<(usize, usize)>) {
        let initial = self.initial.clone();
        let start = self.playable().phases.of(&initial);
        let round = self.round(start, Restart::Initial);
        let steps = round.iter().map(|&idx| &self.steps[idx]);
        let n_operations: usize =
            steps.clone().map(|step| step.step.program.instructions.len()).sum();
        let native: Option<Vec<(usize, usize)>> =
            steps.map(|step| step.kernel.native_size()).collect();
        let native = native
            .map(|sizes| sizes.iter().fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1)));
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

    fn take_orders(&mut self, orders: &[Order<Bits>], max_steps: u64) {
        let is_initial = orders.iter().all(|order| order.state == self.initial);
        self.playable();
        let Playable { phases, .. } = self.playable.as_ref().expect("it has just been made");
        let ordered = &mut self.ordered;
        ordered.orders.clear();
        ordered.orders.extend_from_slice(orders);
        ordered.phase_of.clear();
        ordered.phase_of.extend(orders.iter().map(|order| phases.of(&order.state)));
        ordered.max_steps = max_steps;
        ordered.restart = if is_initial { Restart::Initial } else { Restart::Planes };
        ordered.seated = 0..0;
        Tally::renew(&mut ordered.tallies, orders.len(), self.circuit.roles.len());
        self.seat_next();
    }

    fn go_on(&mut self, n_steps: u64) -> bool {
        let mut left = n_steps;
        while !self.ordered.seated.is_empty() {
            let BatchCircuit {
                circuit,
                options,
                playable,
                steps,
                rng,
                lanes,
                expander,
                ordered,
                ..
            } = self;
            let Playable { kept, may_reject, .. } =
                playable.as_ref().expect("orders are taken by it");
            let expander = may_reject.then(|| {
                expander.get_or_insert_with(|| expand::Expander::new(circuit, options.backend))
            });
            let mut machine = lanes::Machine { steps, round: &ordered.round, rng, expander };
            left = lanes.go_on(left, &mut machine, kept);
            if !lanes.is_done() {
                return false;
            }
            lanes.sum_up(steps, &ordered.round, &mut ordered.tallies[ordered.seated.clone()]);
            self.seat_next();
        }
        true
    }

    fn deliver(&mut self, tallies: &mut Vec<Tally>) {
        debug_assert!(self.ordered.seated.is_empty(), "all is played before it is delivered");
        std::mem::swap(tallies, &mut self.ordered.tallies);
    }

    fn advance_all(&mut self, steps: &[(&Bits, &[Input])], children: &mut Children<Bits, Input>) {
        self.expander().advance_all(steps, children);
    }

    fn expand(&mut self, states: &[&Bits], children: &mut Children<Bits, Input>) {
        self.expander().expand(states, children);
    }

    fn look_ahead(&mut self, states: &[&Bits], ends: &mut Ends) {
        let BatchCircuit { circuit, options, expander, .. } = self;
        let expander =
            expander.get_or_insert_with(|| expand::Expander::new(circuit, options.backend));
        expander.look_ahead(circuit, options.backend, states, ends);
    }
}

impl BatchCircuit {
    /// Gives the lanes the next orders, if there are any.
    fn seat_next(&mut self) {
        let Ordered { orders, phase_of, seated, restart, .. } = &mut self.ordered;
        *seated = seated.end..orders.len().min(seated.end + Plane::LANES);
        if seated.start == seated.end {
            return;
        }
        let (seated, restart) = (seated.clone(), *restart);
        let n_phases = self.playable.as_ref().map_or(1, |playable| playable.phases.circuits.len());
        // All lanes are in the same phase at any time. Those that start in another wait for theirs: let it be few.
        let phase_of = &phase_of[seated.clone()];
        let n_starting = |phase: &usize| phase_of.iter().filter(|&of| of == phase).count();
        let start = (0..n_phases).rev().max_by_key(n_starting).unwrap_or(0);
        let delays: Vec<usize> =
            phase_of.iter().map(|phase| (phase + n_phases - start) % n_phases).collect();
        self.ordered.round = self.round(start, restart);
        let BatchCircuit { playable, steps, lanes, ordered, .. } = self;
        let Playable { kept, .. } = playable.as_ref().expect("the round has made it");
        let Ordered { orders, max_steps, round, .. } = ordered;
        let job = lanes::Job {
            kept,
            orders: &orders[seated],
            delays: &delays,
            restart,
            max_steps: *max_steps,
        };
        lanes.take(&job, steps, round);
    }

    fn expander(&mut self) -> &mut expand::Expander {
        let BatchCircuit { circuit, options, .. } = self;
        self.expander.get_or_insert_with(|| expand::Expander::new(circuit, options.backend))
    }
}
