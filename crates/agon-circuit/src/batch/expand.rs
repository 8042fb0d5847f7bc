//! Steps from many states at once, a different move in each lane.

mod ahead;
mod answers;
mod refuse;
mod seats;

use agon_game::{Children, Ends};

use crate::jit::{Work, with_wide_registers};
use crate::kernel::{Backend, Kernel};
use crate::program::lower;
use crate::{Bits, Circuit, Input, Plane, Signal, transpose};
use ahead::{Ahead, Look};
use answers::{Answers, write_states};
use refuse::Refused;
use seats::Seats;

/// Two kernels, one after the other: from state and moves to the next state, and from a state to what it says.
pub(super) struct Expander {
    step: Kernel,
    look: Kernel,
    seats: Seats,
    next: Vec<Plane>,
    answers: Answers,
    /// Where steps may be rejected.
    refused: Option<Refused>,
    /// Next states turned over, and the legal moves of the nodes to be expanded.
    state_rows: Vec<[Plane; 64]>,
    own_rows: Vec<[Plane; 64]>,
    /// Made when first needed, as code takes time and memory.
    ahead: Option<Box<Ahead>>,
    /// For looking ahead where steps may be rejected.
    children: Option<Children<Bits, Input>>,
}

impl Expander {
    pub(super) fn new(circuit: &Circuit, backend: Backend) -> Expander {
        let (n_base, n_inputs) = (circuit.base.len(), circuit.n_inputs());
        let mut results = circuit.outputs.next.clone();
        results.push(circuit.outputs.rejected);
        let step = lower(n_base + n_inputs, &circuit.ands, &results);
        let roots: Vec<Signal> = circuit.outputs.state_signals().collect();
        let look = lower(n_base + n_inputs, &circuit.ands, &roots);
        Expander {
            step: Kernel::new(&step, n_base, backend),
            look: Kernel::new(&look, n_base, backend),
            seats: Seats::new(circuit),
            // And whether the step is rejected.
            next: vec![Plane::ZERO; n_base + 1],
            refused: Refused::new(circuit, backend),
            answers: Answers::new(circuit),
            state_rows: vec![[Plane::ZERO; 64]; n_base.div_ceil(64)],
            own_rows: vec![[Plane::ZERO; 64]; n_inputs.div_ceil(64)],
            ahead: None,
            children: None,
        }
    }

    pub(super) fn n_base(&self) -> usize {
        self.seats.state.len()
    }

    pub(super) fn n_roles(&self) -> usize {
        self.seats.n_roles
    }

    pub(super) fn advance_all(
        &mut self,
        steps: &[(&Bits, &[Input])],
        children: &mut Children<Bits, Input>,
    ) {
        self.begin(children);
        for steps in steps.chunks(Plane::LANES) {
            self.seats.seat_all(steps, &mut children.joints);
            self.pass(children);
        }
        children.family_ends.extend(1..=steps.len());
        self.finish(children);
        self.sift_moves(children);
    }

    pub(super) fn expand(&mut self, states: &[&Bits], children: &mut Children<Bits, Input>) {
        self.expand_once(states, children);
        self.sift_moves(children);
    }

    /// The same, but where steps may be rejected nothing is known of the children but their states and the moves that led to them.
    pub(super) fn expand_once(&mut self, states: &[&Bits], children: &mut Children<Bits, Input>) {
        self.begin(children);
        for states in states.chunks(Plane::LANES) {
            with_wide_registers(Expand { expander: self, states, children });
        }
        self.pass(children);
        self.finish(children);
        if let Some(refused) = &mut self.refused {
            refused.drop_rejected(self.seats.n_roles, children);
        }
    }

    /// Which moves end play at once.
    pub(super) fn look_ahead(
        &mut self,
        circuit: &Circuit,
        backend: Backend,
        states: &[&Bits],
        ends: &mut Ends,
    ) {
        if self.refused.is_some() {
            // Whether play has ended depends on what is rejected, too.
            let mut children =
                self.children.take().unwrap_or_else(|| Children::new(self.seats.n_roles));
            self.expand(states, &mut children);
            ends.note(&children);
            self.children = Some(children);
            return;
        }
        let mut ahead = self.ahead.take().unwrap_or_else(|| Box::new(Ahead::new(circuit, backend)));
        ends.clear();
        self.seats.n_before = 0;
        for states in states.chunks(Plane::LANES) {
            with_wide_registers(Look { expander: self, ahead: &mut ahead, states, ends });
        }
        self.ahead = Some(ahead);
    }

    /// Sees which moves are legal at these states, at most 256: rows of them, by lane. Returns where play has ended.
    #[inline(always)]
    fn look_at(&mut self, states: &[&Bits]) -> Plane {
        let n_base = self.seats.state.len();
        transpose::load(states.len(), |lane| states[lane].words(), &mut self.next[..n_base]);
        // What goes in as moves is not looked at.
        self.look.run(&self.next, &self.seats.inputs, &mut self.answers.planes);
        transpose::unload(self.answers.legal(), &mut self.own_rows);
        self.answers.ended()
    }

    /// Leaves the children only those legal moves whose step is not rejected.
    fn sift_moves(&mut self, children: &mut Children<Bits, Input>) {
        if let Some(refused) = &mut self.refused {
            refused.sift_moves(children);
        }
    }

    /// What the buffers held is written over, so that nothing is given back and made anew.
    fn begin(&mut self, children: &mut Children<Bits, Input>) {
        self.seats.n_before = 0;
        self.answers.begin(children);
        children.family_ends.clear();
        if let Some(refused) = &mut self.refused {
            refused.begin();
        }
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
        let ended = expander.look_at(states);
        for (lane, state) in states.iter().enumerate() {
            if !ended.lane(lane) {
                let Expander { seats, own_rows, answers, .. } = &mut *expander;
                seats.list_moves(own_rows, lane, answers.role_ends());
                let mut next = 0;
                while next < expander.seats.n_joints {
                    let first = next;
                    next = expander.seats.seat(state.words(), first);
                    expander.seats.write_joints(first..next, &mut children.joints);
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
        let Expander { step, look, seats, next, answers, state_rows, refused, .. } = expander;
        let n_base = seats.state.len();
        step.run(&seats.state, &seats.inputs, next);
        look.run(next, &seats.inputs, &mut answers.planes);
        transpose::unload(&next[..n_base], state_rows);
        if let Some(refused) = refused {
            refused.note(next[n_base], seats.n);
        }
        let written = seats.n_before..seats.n_before + seats.n;
        write_states(state_rows, written.clone(), &mut children.states);
        answers.write(written, children);
        seats.clear();
    }
}
