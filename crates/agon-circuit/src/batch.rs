//! 256 games at once.
//!
//! In go start states and how many playouts are wanted from each, out come the sums of what they paid. Each lane plays
//! its own game; a lane whose game has ended starts the next one, and every playout that is started is played to its end
//! and counted, so that short games are not favoured.

mod expand;
mod lanes;

use std::sync::Arc;

use agon_game::{Batch, Children, Order, Shape, Tally};

use crate::kernel::{Backend, Kernel};
use crate::playout::{PlayoutStep, Restart, Turns};
use crate::random::PlaneRng;
use crate::{Bits, Circuit, Input};

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
    from_initial: Option<Playout>,
    from_anywhere: Option<Playout>,
    expander: Option<expand::Expander>,
}

/// A step of playouts, ready to run.
struct Playout {
    step: PlayoutStep,
    kernel: Kernel,
}

impl BatchCircuit {
    /// Prepares a circuit, which should be an optimised one. Of the shape, only turn-taking is used.
    pub fn new(circuit: Arc<Circuit>, shape: Shape, options: BatchOptions) -> BatchCircuit {
        let rng = PlaneRng::new(options.seed);
        BatchCircuit { circuit, shape, options, rng, from_initial: None, from_anywhere: None, expander: None }
    }

    /// How many operations one step of 256 playouts takes, and how many machine instructions and bytes of code that is
    /// if it is native code.
    pub fn playout_size(&mut self) -> (usize, Option<(usize, usize)>) {
        let playout = self.playout(Restart::Initial);
        (playout.step.program.instructions.len(), playout.kernel.native_size())
    }

    fn playout(&mut self, restart: Restart) -> &mut Playout {
        let BatchCircuit { circuit, shape, options, .. } = self;
        let place = match restart {
            Restart::Initial => &mut self.from_initial,
            Restart::Planes => &mut self.from_anywhere,
        };
        place.get_or_insert_with(|| {
            let step = PlayoutStep::new(circuit, shape, options.turns.as_ref(), restart);
            let kernel = Kernel::new(&step.program, step.kept.len(), options.backend);
            Playout { step, kernel }
        })
    }
}

impl Batch for BatchCircuit {
    type State = Bits;
    type Move = Input;

    fn play_out(&mut self, orders: &[Order<Bits>], max_steps: u64) -> Vec<Tally> {
        let is_initial = |order: &Order<Bits>| {
            self.circuit.initial.iter().enumerate().all(|(bit, &v)| order.state.get(bit) == v)
        };
        let restart = if orders.iter().all(is_initial) { Restart::Initial } else { Restart::Planes };
        let mut rng = self.rng.clone();
        let n_roles = self.circuit.roles.len();
        let Playout { step, kernel } = self.playout(restart);
        let tallies = lanes::Lanes::new(step, orders, restart, n_roles, max_steps).run(kernel, &mut rng);
        self.rng = rng;
        tallies
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
