//! The ways to compute a step behind one interface.

use super::full::{Full, FullScratch};
use super::{Executor, Input};
use crate::run::events::{EventNet, EventState};
use crate::{Bits, Circuit, Signal};

/// The set of answers that are computed at a state, one bit each.
///
/// Moves that are never legal are left out. In a circuit that is cut into phases, those are at
/// least the moves of all roles that wait.
pub(super) struct Queries {
    /// The moves of the first answers, role after role.
    pub(super) inputs: Vec<Input>,
    /// By role: where its moves end in `inputs`.
    pub(super) input_ends: Vec<u32>,
    /// Whether those moves are legal, and at the end whether play has ended.
    pub(super) look: Vec<Signal>,
    /// Goals, by role and value. Separate, because they are not needed before the end of a playout.
    pub(super) goals: Vec<Signal>,
}

impl Queries {
    pub(super) fn of(circuit: &Circuit) -> Queries {
        let outputs = &circuit.outputs;
        let goals = outputs.goals.iter().flatten().map(|&(_, signal)| signal).collect();
        let mut queries =
            Queries { inputs: Vec::new(), input_ends: Vec::new(), look: Vec::new(), goals };
        let mut first = 0;
        for legal in &outputs.legal {
            let possible = (first..).zip(legal).filter(|&(_, &signal)| signal != Signal::FALSE);
            for (input, &signal) in possible {
                queries.inputs.push(Input(input));
                queries.look.push(signal);
            }
            queries.input_ends.push(queries.inputs.len() as u32);
            first += legal.len() as u32;
        }
        queries.look.push(outputs.terminal);
        queries
    }
}

/// A circuit prepared for single steps, shared by all positions.
pub(super) enum Engine {
    Full(Full),
    Events(EventNet),
}

/// The memory that an engine works on. Each position has its own, made by that very engine.
#[derive(Clone)]
pub(super) enum Scratch {
    Full(FullScratch),
    Events(EventState),
}

impl Engine {
    /// Prepares a circuit. `Auto` counts as `Native`, because the choice is made elsewhere.
    pub(super) fn new(circuit: &Circuit, queries: &Queries, executor: Executor) -> Engine {
        match executor {
            Executor::Events => {
                Engine::Events(EventNet::new(circuit, &queries.look, &queries.goals))
            }
            Executor::Auto | Executor::Native => Engine::Full(Full::native(circuit, queries)),
            Executor::Levelled => Engine::Full(Full::levelled(circuit, queries)),
        }
    }

    pub(super) fn scratch(&self) -> Scratch {
        match self {
            Engine::Full(full) => Scratch::Full(full.scratch()),
            Engine::Events(net) => Scratch::Events(net.state()),
        }
    }

    pub(super) fn executor(&self) -> Executor {
        match self {
            Engine::Full(full) if full.is_native() => Executor::Native,
            Engine::Full(_) => Executor::Levelled,
            Engine::Events(_) => Executor::Events,
        }
    }

    /// Computes the answers at a state: see [`Scratch::answers`].
    #[inline]
    pub(super) fn look(&self, scratch: &mut Scratch, state: &Bits) {
        match (self, scratch) {
            (Engine::Full(full), Scratch::Full(scratch)) => full.look(scratch, state),
            (Engine::Events(net), Scratch::Events(scratch)) => scratch.look(net, state.words()),
            _ => unreachable!("an engine works on the memory that it made"),
        }
    }

    /// Computes the answers at a state that is likely to be visited again, and remembers them.
    pub(super) fn look_again(&self, scratch: &mut Scratch, state: &Bits) {
        match (self, scratch) {
            (Engine::Full(full), Scratch::Full(scratch)) => full.look_again(scratch, state),
            (Engine::Events(net), Scratch::Events(scratch)) => scratch.look(net, state.words()),
            _ => unreachable!("an engine works on the memory that it made"),
        }
    }

    /// Computes the goals at the state that was looked at last: see [`Scratch::goals`].
    pub(super) fn value(&self, scratch: &mut Scratch) {
        match (self, scratch) {
            (Engine::Full(full), Scratch::Full(scratch)) => full.value(scratch),
            (Engine::Events(net), Scratch::Events(scratch)) => scratch.value(net),
            _ => unreachable!("an engine works on the memory that it made"),
        }
    }

    /// Makes a joint move at the state that was looked at last.
    #[inline]
    pub(super) fn step(&self, scratch: &mut Scratch, joint: &[Input], state: &mut Bits) {
        match (self, scratch) {
            (Engine::Full(full), Scratch::Full(scratch)) => full.step(scratch, joint, state),
            (Engine::Events(net), Scratch::Events(scratch)) => {
                scratch.step(net, joint.iter().map(|input| input.0));
                state.words_mut().copy_from_slice(scratch.next());
            }
            _ => unreachable!("an engine works on the memory that it made"),
        }
    }
}

impl Scratch {
    /// Returns the answers at the state that was looked at last, a bit for each of
    /// [`Queries::look`].
    #[inline]
    pub(super) fn answers(&self) -> &[u64] {
        match self {
            Scratch::Full(scratch) => scratch.answers(),
            Scratch::Events(scratch) => scratch.answers(),
        }
    }

    /// Returns the goals that were computed last, a bit for each of [`Queries::goals`].
    pub(super) fn goals(&self) -> &[u64] {
        match self {
            Scratch::Full(scratch) => scratch.goals(),
            Scratch::Events(scratch) => scratch.goals(),
        }
    }

    /// Returns the work done so far by propagation, in gates that native code evaluates in the same
    /// time.
    pub(super) fn work(&self) -> u64 {
        match self {
            Scratch::Full(_) => 0,
            Scratch::Events(scratch) => scratch.work(),
        }
    }
}
