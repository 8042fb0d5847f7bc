//! Steps from many states at once, with a different joint move in each lane.

mod answers;
mod inputs;
mod look_ahead;
mod rejected;

use agon_game::{Children, TerminalChildren};

use crate::native::{Work, with_wide_registers};
use crate::run::kernel::{Backend, Kernel};
use crate::run::program::lower;
use crate::run::transpose;
use crate::{Bits, Circuit, Input, Plane, Signal};
use answers::{Answers, write_states};
use inputs::LaneInputs;
use look_ahead::Look;
pub(super) use look_ahead::LookAhead;
use rejected::Rejected;

/// Two kernels, one after the other: from a state and moves to the next state, and from a state to
/// its legal moves, goals and end of play. A clone shares the code.
#[derive(Clone)]
pub(super) struct Expander {
    step: Kernel,
    look: Kernel,
    lanes: LaneInputs,
    next: Vec<Plane>,
    answers: Answers,
    /// Where steps may be rejected.
    rejected: Option<Rejected>,
    /// Transposed: next states, and the legal moves of the states to be expanded.
    state_rows: Vec<[Plane; 64]>,
    own_rows: Vec<[Plane; 64]>,
    /// Made when it is first needed, because code takes time and memory.
    ahead: Option<Box<LookAhead>>,
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
            lanes: LaneInputs::new(circuit),
            // The last one says whether the step is rejected.
            next: vec![Plane::ZERO; n_base + 1],
            rejected: Rejected::new(circuit, backend),
            answers: Answers::new(circuit),
            state_rows: vec![[Plane::ZERO; 64]; n_base.div_ceil(64)],
            own_rows: vec![[Plane::ZERO; 64]; n_inputs.div_ceil(64)],
            ahead: None,
            children: None,
        }
    }

    pub(super) fn n_base(&self) -> usize {
        self.lanes.state.len()
    }

    pub(super) fn n_roles(&self) -> usize {
        self.lanes.n_roles
    }

    pub(super) fn advance_all(
        &mut self,
        steps: &[(&Bits, &[Input])],
        children: &mut Children<Bits, Input>,
    ) {
        self.begin(children);
        for steps in steps.chunks(Plane::LANES) {
            self.lanes.add_all(steps, &mut children.joints);
            self.pass(children);
        }
        children.child_ends.extend(1..=steps.len());
        self.finish(children);
        self.drop_rejected_moves(children);
    }

    pub(super) fn expand(&mut self, states: &[&Bits], children: &mut Children<Bits, Input>) {
        self.expand_once(states, children);
        self.drop_rejected_moves(children);
    }

    /// Does what `expand` does, but where steps may be rejected only the states of the children and
    /// the moves that lead to them are valid.
    pub(super) fn expand_once(&mut self, states: &[&Bits], children: &mut Children<Bits, Input>) {
        self.begin(children);
        for states in states.chunks(Plane::LANES) {
            with_wide_registers(Expand { expander: self, states, children });
        }
        self.pass(children);
        self.finish(children);
        if let Some(rejected) = &mut self.rejected {
            rejected.drop_rejected(self.lanes.n_roles, children);
        }
    }

    /// Finds the children that are terminal. `build` makes the kernel when it is first needed.
    pub(super) fn look_ahead(
        &mut self,
        build: impl FnOnce() -> LookAhead,
        states: &[&Bits],
        ends: &mut TerminalChildren,
    ) {
        if self.rejected.is_some() {
            // Whether play has ended depends on rejected steps, too.
            let mut children =
                self.children.take().unwrap_or_else(|| Children::new(self.lanes.n_roles));
            self.expand(states, &mut children);
            ends.collect_from(&children);
            self.children = Some(children);
            return;
        }
        let mut ahead = self.ahead.take().unwrap_or_else(|| Box::new(build()));
        ends.clear();
        self.lanes.n_before = 0;
        for states in states.chunks(Plane::LANES) {
            with_wide_registers(Look { expander: self, ahead: &mut ahead, states, ends });
        }
        self.ahead = Some(ahead);
    }

    /// Computes which moves are legal at these states, at most 256, as rows by lane. Returns the
    /// lanes in which play has ended.
    #[inline(always)]
    fn look_at(&mut self, states: &[&Bits]) -> Plane {
        let n_base = self.lanes.state.len();
        transpose::load(states.len(), |lane| states[lane].words(), &mut self.next[..n_base]);
        // This kernel does not read the moves.
        self.look.run(&self.next, &self.lanes.inputs, &mut self.answers.planes);
        transpose::unload(self.answers.legal(), &mut self.own_rows);
        self.answers.ended()
    }

    /// Leaves the children only those legal moves whose step is not rejected.
    fn drop_rejected_moves(&mut self, children: &mut Children<Bits, Input>) {
        if let Some(rejected) = &mut self.rejected {
            rejected.drop_rejected_moves(children);
        }
    }

    /// Prepares buffers to be overwritten. Their memory is reused.
    fn begin(&mut self, children: &mut Children<Bits, Input>) {
        self.lanes.n_before = 0;
        self.answers.begin(children);
        children.child_ends.clear();
        if let Some(rejected) = &mut self.rejected {
            rejected.begin();
        }
    }

    fn finish(&self, children: &mut Children<Bits, Input>) {
        let n = self.lanes.n_before;
        children.states.truncate(n);
        children.joints.truncate(n * self.lanes.n_roles);
        self.answers.finish(n, children);
    }

    /// Makes the steps in the lanes in use, and frees the lanes.
    fn pass(&mut self, children: &mut Children<Bits, Input>) {
        if self.lanes.n > 0 {
            with_wide_registers(Pass { expander: self, children });
        }
    }
}

/// Expands at most 256 states. The last children stay in their lanes until all lanes are full.
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
                let Expander { lanes, own_rows, answers, .. } = &mut *expander;
                lanes.list_moves(own_rows, lane, answers.role_ends());
                let mut next = 0;
                while next < expander.lanes.n_joints {
                    let first = next;
                    next = expander.lanes.add_joints(state.words(), first);
                    expander.lanes.write_joints(first..next, &mut children.joints);
                    if expander.lanes.n == Plane::LANES {
                        expander.pass(children);
                    }
                }
            }
            children.child_ends.push(expander.lanes.n_before + expander.lanes.n);
        }
    }
}

/// Makes the steps in all lanes and writes the children.
struct Pass<'e> {
    expander: &'e mut Expander,
    children: &'e mut Children<Bits, Input>,
}

impl Work for Pass<'_> {
    #[inline(always)]
    fn work(self) {
        let Pass { expander, children } = self;
        let Expander { step, look, lanes, next, answers, state_rows, rejected, .. } = expander;
        let n_base = lanes.state.len();
        step.run(&lanes.state, &lanes.inputs, next);
        look.run(next, &lanes.inputs, &mut answers.planes);
        transpose::unload(&next[..n_base], state_rows);
        if let Some(rejected) = rejected {
            rejected.note(next[n_base], lanes.n);
        }
        let written = lanes.n_before..lanes.n_before + lanes.n;
        write_states(state_rows, written.clone(), &mut children.states);
        answers.write(written, children);
        lanes.clear();
    }
}
