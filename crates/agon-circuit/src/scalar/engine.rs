//! One way or another to work out a step: what single positions are made of.

use super::full::{Full, FullDesk};
use super::{Executor, Input};
use crate::events::{EventDesk, EventNet};
use crate::{Bits, Circuit, Signal};

/// What is asked of a circuit, a bit each. Moves that are never legal are left out: with the circuit cut up, those are at
/// least the moves of all who wait.
pub(super) struct Questions {
    /// Which moves the first answers are about, role after role.
    pub(super) inputs: Vec<Input>,
    /// By role: where its moves end in `inputs`.
    pub(super) input_ends: Vec<u32>,
    /// Whether those moves are legal, and at the end whether play has ended.
    pub(super) look: Vec<Signal>,
    /// Goals, by role and value. They are asked apart, for on the way to the end nobody wants to know.
    pub(super) goals: Vec<Signal>,
}

impl Questions {
    pub(super) fn of(circuit: &Circuit) -> Questions {
        let outputs = &circuit.outputs;
        let goals = outputs.goals.iter().flatten().map(|&(_, signal)| signal).collect();
        let mut questions =
            Questions { inputs: Vec::new(), input_ends: Vec::new(), look: Vec::new(), goals };
        let mut first = 0;
        for legal in &outputs.legal {
            let possible = (first..).zip(legal).filter(|&(_, &signal)| signal != Signal::FALSE);
            for (input, &signal) in possible {
                questions.inputs.push(Input(input));
                questions.look.push(signal);
            }
            questions.input_ends.push(questions.inputs.len() as u32);
            first += legal.len() as u32;
        }
        questions.look.push(outputs.terminal);
        questions
    }
}

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
    pub(super) fn new(circuit: &Circuit, questions: &Questions, executor: Executor) -> Engine {
        match executor {
            Executor::Events => {
                Engine::Events(EventNet::new(circuit, &questions.look, &questions.goals))
            }
            Executor::Auto | Executor::Native => Engine::Full(Full::new(circuit, questions, true)),
            Executor::Levelled => Engine::Full(Full::new(circuit, questions, false)),
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
            (Engine::Events(net), Desk::Events(desk)) => desk.look(net, state.words()),
            _ => unreachable!("a desk goes with its engine"),
        }
    }

    /// The same for a state that somebody comes back to, and perhaps not for the last time.
    pub(super) fn look_again(&self, desk: &mut Desk, state: &Bits) {
        match (self, desk) {
            (Engine::Full(full), Desk::Full(desk)) => full.look_again(desk, state),
            (Engine::Events(net), Desk::Events(desk)) => desk.look(net, state.words()),
            _ => unreachable!("a desk goes with its engine"),
        }
    }

    /// Works out the goals at the state that was looked at last: see [`Desk::goals`].
    pub(super) fn value(&self, desk: &mut Desk) {
        match (self, desk) {
            (Engine::Full(full), Desk::Full(desk)) => full.value(desk),
            (Engine::Events(net), Desk::Events(desk)) => desk.value(net),
            _ => unreachable!("a desk goes with its engine"),
        }
    }

    /// Makes a joint move at the state that was looked at last.
    #[inline]
    pub(super) fn step(&self, desk: &mut Desk, joint: &[Input], state: &mut Bits) {
        match (self, desk) {
            (Engine::Full(full), Desk::Full(desk)) => full.step(desk, joint, state),
            (Engine::Events(net), Desk::Events(desk)) => {
                desk.step(net, joint.iter().map(|input| input.0));
                state.words_mut().copy_from_slice(desk.next());
            }
            _ => unreachable!("a desk goes with its engine"),
        }
    }
}

impl Desk {
    /// What the circuit says of the state that was looked at last, a bit for each question of [`Questions::look`].
    #[inline]
    pub(super) fn answers(&self) -> &[u64] {
        match self {
            Desk::Full(desk) => desk.answers(),
            Desk::Events(desk) => desk.answers(),
        }
    }

    /// The goals that were worked out last, a bit for each question of [`Questions::goals`].
    pub(super) fn goals(&self) -> &[u64] {
        match self {
            Desk::Full(desk) => desk.goals(),
            Desk::Events(desk) => desk.goals(),
        }
    }

    /// The work done so far by propagation, in gates that native code evaluates in the same time.
    pub(super) fn work(&self) -> u64 {
        match self {
            Desk::Full(_) => 0,
            Desk::Events(desk) => desk.work(),
        }
    }
}
