//! One way or another to work out a step: what single positions are made of.

use super::full::{Full, FullDesk};
use super::{Executor, Input};
use crate::events::{EventDesk, EventNet};
use crate::{Bits, Circuit};

/// A circuit made ready for single steps, shared by all positions.
pub(super) enum Engine {
    Full(Full),
    Events(EventNet),
}

/// What an engine works on: one per position, and made by that very engine.
#[derive(Clone)]
pub(super) enum Desk {
    Full(FullDesk),
    Events(EventDesk),
}

impl Engine {
    /// `Auto` is not for here to decide and counts as `Native`.
    pub(super) fn new(circuit: &Circuit, executor: Executor) -> Engine {
        match executor {
            Executor::Events => Engine::Events(EventNet::new(circuit)),
            Executor::Auto | Executor::Native => Engine::Full(Full::new(circuit, true)),
            Executor::Levelled => Engine::Full(Full::new(circuit, false)),
        }
    }

    pub(super) fn desk(&self) -> Desk {
        match self {
            Engine::Full(full) => Desk::Full(full.desk()),
            Engine::Events(net) => Desk::Events(net.desk()),
        }
    }

    pub(super) fn executor(&self) -> Executor {
        match self {
            Engine::Full(full) if full.is_native() => Executor::Native,
            Engine::Full(_) => Executor::Levelled,
            Engine::Events(_) => Executor::Events,
        }
    }

    /// Works out what a state says: see [`Desk::answers`].
    #[inline]
    pub(super) fn look(&self, desk: &mut Desk, state: &Bits) {
        match (self, desk) {
            (Engine::Full(full), Desk::Full(desk)) => full.look(desk, state),
            (Engine::Events(net), Desk::Events(desk)) => {
                desk.set_state(net, state.words());
                desk.settle(net);
            }
            _ => unreachable!("a desk goes with its engine"),
        }
    }

    /// Makes a joint move at the state that was looked at last.
    #[inline]
    pub(super) fn step(&self, desk: &mut Desk, joint: &[Input], state: &mut Bits) {
        match (self, desk) {
            (Engine::Full(full), Desk::Full(desk)) => full.step(desk, joint, state),
            (Engine::Events(net), Desk::Events(desk)) => {
                desk.set_joint(net, joint.iter().map(|input| input.0));
                desk.settle(net);
                state.words_mut().copy_from_slice(desk.next());
            }
            _ => unreachable!("a desk goes with its engine"),
        }
    }
}

impl Desk {
    /// What the circuit says of the state that was looked at last, a bit each: legal moves, the end, goals.
    #[inline]
    pub(super) fn answers(&self) -> &[u64] {
        match self {
            Desk::Full(desk) => desk.answers(),
            Desk::Events(desk) => desk.answers(),
        }
    }

    /// Edges followed so far, by propagation.
    pub(super) fn n_followed(&self) -> u64 {
        match self {
            Desk::Full(_) => 0,
            Desk::Events(desk) => desk.n_followed,
        }
    }
}
