//! Finds the moves whose step is rejected, although they are legal by what the state shows.
//!
//! Many moves are tried at once, one in each lane. One pass takes up to 256 moves, which is why
//! conditions on the state after a step need not be part of legality.

use crate::run::kernel::{Backend, Kernel};
use crate::run::program::lower;
use crate::{Circuit, Input, Plane};

/// Lanes with a state and a joint move each, and a kernel that computes which steps are rejected.
#[derive(Clone)]
pub(crate) struct RejectionTest {
    kernel: Kernel,
    state: Vec<Plane>,
    inputs: Vec<Plane>,
    /// The base bits and the inputs that are not zero: only these have to be cleared.
    set_state: Vec<u32>,
    set_inputs: Vec<u32>,
    /// How many lanes are in use.
    n: usize,
}

impl RejectionTest {
    /// Prepares a circuit. Returns `None` if it never rejects a step.
    pub(crate) fn new(circuit: &Circuit, backend: Backend) -> Option<RejectionTest> {
        if circuit.is_exact() {
            return None;
        }
        let (n_base, n_inputs) = (circuit.base.len(), circuit.n_inputs());
        let program = lower(n_base + n_inputs, &circuit.ands, &[circuit.outputs.rejected]);
        Some(RejectionTest {
            kernel: Kernel::new(&program, n_base, backend),
            state: vec![Plane::ZERO; n_base],
            inputs: vec![Plane::ZERO; n_inputs],
            set_state: Vec::new(),
            set_inputs: Vec::new(),
            n: 0,
        })
    }

    /// Returns how many lanes are in use.
    pub(crate) fn n_used(&self) -> usize {
        self.n
    }

    /// Adds a state with each of these moves of one role, in a lane each, together with the moves
    /// of the other roles. Returns how many moves there were lanes for.
    pub(crate) fn add(&mut self, state: &[u64], moves: &[Input], others: &[Input]) -> usize {
        let n = moves.len().min(Plane::LANES - self.n);
        let lanes = Plane::range(self.n..self.n + n);
        for (idx, &word) in (0..).zip(state) {
            let mut word = word;
            while word != 0 {
                let bit = 64 * idx + word.trailing_zeros();
                word &= word - 1;
                let plane = &mut self.state[bit as usize];
                if plane.is_zero() {
                    self.set_state.push(bit);
                }
                *plane = *plane | lanes;
            }
        }
        for (lane, input) in (self.n..).zip(&moves[..n]) {
            self.set_inputs.push(input.0);
            self.inputs[input.0 as usize].set_lane(lane, true);
        }
        for input in others {
            self.set_inputs.push(input.0);
            let plane = &mut self.inputs[input.0 as usize];
            *plane = *plane | lanes;
        }
        self.n += n;
        n
    }

    /// Returns the lanes whose step is rejected, and frees all lanes.
    pub(crate) fn run(&mut self) -> Plane {
        let mut rejected = [Plane::ZERO];
        self.kernel.run(&self.state, &self.inputs, &mut rejected);
        self.set_state.drain(..).for_each(|bit| self.state[bit as usize] = Plane::ZERO);
        self.set_inputs.drain(..).for_each(|input| self.inputs[input as usize] = Plane::ZERO);
        rejected[0] & Plane::range(0..std::mem::take(&mut self.n))
    }
}
