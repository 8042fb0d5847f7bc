//! Steps from many states at once, a different move in each lane.

mod answers;
mod seats;

use agon_game::Children;

use crate::jit::{Work, with_wide_registers};
use crate::kernel::{Backend, Kernel};
use crate::program::lower;
use crate::{Bits, Circuit, Input, Plane, Signal, transpose};
use answers::{Answers, write_states};
use seats::Seats;

/// Two kernels, one after the other: from state and moves to the next state, and from a state to what it says.
pub(super) struct Expander {
    step: Kernel,
    look: Kernel,
    seats: Seats,
    next: Vec<Plane>,
    answers: Answers,
    /// Next states turned over, and the legal moves of the nodes to be expanded.
    state_rows: Vec<[Plane; 64]>,
    own_rows: Vec<[Plane; 64]>,
}

impl Expander {
    pub(super) fn new(circuit: &Circuit, backend: Backend) -> Expander {
        let (n_base, n_inputs) = (circuit.base.len(), circuit.n_inputs());
        let step = lower(n_base + n_inputs, &circuit.ands, &circuit.outputs.next);
        let roots: Vec<Signal> = circuit.outputs.state_signals().collect();
        let look = lower(n_base + n_inputs, &circuit.ands, &roots);
        Expander {
            step: Kernel::new(&step, n_base, backend),
            look: Kernel::new(&look, n_base, backend),
            seats: Seats::new(circuit),
            next: vec![Plane::ZERO; n_base],
            answers: Answers::new(circuit),
            state_rows: vec![[Plane::ZERO; 64]; n_base.div_ceil(64)],
            own_rows: vec![[Plane::ZERO; 64]; n_inputs.div_ceil(64)],
        }
    }

    pub(super) fn advance_all(&mut self, steps: &[(&Bits, &[Input])], children: &mut Children<Bits, Input>) {
        self.begin(children);
        for steps in steps.chunks(Plane::LANES) {
            self.seats.seat_all(steps, &mut children.joints);
            self.pass(children);
        }
        children.family_ends.extend(1..=steps.len());
        self.finish(children);
    }

    pub(super) fn expand(&mut self, states: &[&Bits], children: &mut Children<Bits, Input>) {
        self.begin(children);
        for states in states.chunks(Plane::LANES) {
            with_wide_registers(Expand { expander: self, states, children });
        }
        self.pass(children);
        self.finish(children);
    }

    /// What the buffers held is written over, so that nothing is given back and made anew.
    fn begin(&mut self, children: &mut Children<Bits, Input>) {
        self.seats.n_before = 0;
        self.answers.begin(children);
        children.family_ends.clear();
    }

    fn finish(&self, children: &mut Children<Bits, Input>) {
        let n = self.seats.n_before;
        children.states.truncate(n);
        children.joints.truncate(n * self.seats.n_roles);
        self.answers.finish(n, children);
    }

    /// Does what the seats say, and gives them up.
    fn pass(&mut self, children: &mut Children<Bits, Input>) {
        if self.seats.n > 0 {
            with_wide_registers(Pass { expander: self, children });
        }
    }
}

/// Expands at most 256 states, but for the children that do not fill all lanes.
struct Expand<'e, 's> {
    expander: &'e mut Expander,
    states: &'e [&'s Bits],
    children: &'e mut Children<Bits, Input>,
}

impl Work for Expand<'_, '_> {
    #[inline(always)]
    fn work(self) {
        let Expand { expander, states, children } = self;
        transpose::load(states.len(), |lane| states[lane].words(), &mut expander.next);
        // What goes in as moves is not looked at.
        expander.look.run(&expander.next, &expander.seats.inputs, &mut expander.answers.planes);
        transpose::unload(expander.answers.legal(), &mut expander.own_rows);
        let ended = expander.answers.ended();
        for (lane, state) in states.iter().enumerate() {
            if !ended.lane(lane) {
                let Expander { seats, own_rows, answers, .. } = &mut *expander;
                seats.list_moves(own_rows, lane, answers.role_ends());
                let mut next = 0;
                while next < expander.seats.n_joints {
                    next = expander.seats.seat(state.words(), next, &mut children.joints);
                    if expander.seats.n == Plane::LANES {
                        expander.pass(children);
                    }
                }
            }
            children.family_ends.push(expander.seats.n_before + expander.seats.n);
        }
    }
}

struct Pass<'e> {
    expander: &'e mut Expander,
    children: &'e mut Children<Bits, Input>,
}

impl Work for Pass<'_> {
    #[inline(always)]
    fn work(self) {
        let Pass { expander, children } = self;
        let Expander { step, look, seats, next, answers, state_rows, .. } = expander;
        step.run(&seats.state, &seats.inputs, next);
        look.run(next, &seats.inputs, &mut answers.planes);
        transpose::unload(next, state_rows);
        let written = seats.n_before..seats.n_before + seats.n;
        write_states(state_rows, written.clone(), &mut children.states);
        answers.write(written, children);
        seats.clear();
    }
}
