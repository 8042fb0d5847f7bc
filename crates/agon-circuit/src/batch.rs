//! 256 games at once.
//!
//! In go start states and how many playouts are wanted from each, out come the sums of what they paid. Each lane plays
//! its own game; a lane whose game has ended starts the next one, and every playout that is started is played to its end
//! and counted, so that short games are not favoured.

mod expand;
mod lanes;

use std::sync::Arc;

use agon_game::{Role, Shape};

use crate::kernel::{Backend, Kernel};
use crate::playout::{PlayoutStep, Restart, Turns};
use crate::random::PlaneRng;
use crate::{Bits, Circuit, Input};

pub use expand::Child;

/// Many independent steps and playouts at once.
pub trait Batch {
    /// A state of the game.
    type State;
    /// A move of one role.
    type Move;

    /// Plays uniformly random moves from each state to the end, as often as ordered. The answers come in the order of
    /// the orders. A playout that takes longer than `max_steps` is cut off: not before that many steps, and before twice
    /// as many.
    fn play_out(&mut self, orders: &[Order<Self::State>], max_steps: u64) -> Vec<Tally>;

    /// Makes a joint move at a state, for any number of pairs of both. The answers come in the order of the pairs. The
    /// states must not be terminal and the moves must be legal.
    fn advance_all(&mut self, steps: &[(&Self::State, &[Self::Move])]) -> Vec<Child<Self::State>>;

    /// Every legal joint move at a state that is not terminal, with what it leads to.
    fn expand(&mut self, state: &Self::State) -> Children<Self::State, Self::Move>;
}

/// Joint moves with what they lead to.
pub type Children<S, M> = Vec<(Vec<M>, Child<S>)>;

/// Playouts that are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order<S> {
    /// Where they start.
    pub state: S,
    /// How many.
    pub n_playouts: u64,
}

/// What playouts from one start came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// How many there were, those that were cut off included.
    pub n_playouts: u64,
    /// How many of them were cut off. They count with the payoffs of the state before their last step.
    pub n_cut: u64,
    /// The steps made in all of them.
    pub n_steps: u64,
    /// By role: the sum of the payoffs.
    pub payoff_sums: Vec<f64>,
}

impl Tally {
    /// The mean payoff of a role.
    pub fn mean_payoff(&self, role: Role) -> f64 {
        self.payoff_sums[role.index()] / self.n_playouts as f64
    }

    /// The mean number of steps.
    pub fn mean_length(&self) -> f64 {
        self.n_steps as f64 / self.n_playouts as f64
    }
}

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

    fn advance_all(&mut self, steps: &[(&Bits, &[Input])]) -> Vec<Child<Bits>> {
        self.expander().advance_all(steps)
    }

    fn expand(&mut self, state: &Bits) -> Children<Bits, Input> {
        self.expander().expand(state)
    }
}

impl BatchCircuit {
    fn expander(&mut self) -> &mut expand::Expander {
        let BatchCircuit { circuit, options, .. } = self;
        self.expander.get_or_insert_with(|| expand::Expander::new(circuit, options.backend))
    }
}
