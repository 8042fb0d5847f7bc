//! Which moves that are legal at first sight are refused when it is seen what comes of them.
//!
//! Many moves are tried at once, one in each lane. That takes one pass however many there are, up to 256, which is why conditions on
//! what comes of a step need not be part of what is legal.

use crate::kernel::{Backend, Kernel};
use crate::program::lower;
use crate::{Circuit, Input, Plane};

/// Lanes with a state and a joint move each, and the question whether the step is rejected.
#[derive(Clone)]
pub(crate) struct Sieve {
    kernel: Kernel,
    state: Vec<Plane>,
    inputs: Vec<Plane>,
    /// What is not zero of the state and of the inputs: all else need not be cleared.
    set_state: Vec<u32>,
    set_inputs: Vec<u32>,
    /// How many lanes are taken.
    n: usize,
}

impl Sieve {
    /// `None` if no step is ever rejected.
    pub(crate) fn new(circuit: &Circuit, backend: Backend) -> Option<Sieve> {
        if circuit.is_exact() {
            return None;
        }
        let (n_base, n_inputs) = (circuit.base.len(), circuit.n_inputs());
        let program = lower(n_base + n_inputs, &circuit.ands, &[circuit.outputs.rejected]);
        Some(Sieve {
            kernel: Kernel::new(&program, n_base, backend),
            state: vec![Plane::ZERO; n_base],
            inputs: vec![Plane::ZERO; n_inputs],
            set_state: Vec::new(),
            set_inputs: Vec::new(),
            n: 0,
        })
    }

    /// How many lanes are taken.
    pub(crate) fn n_seated(&self) -> usize {
        self.n
    }

    /// Seats a state with each of these moves of one role in a lane of its own, together with the moves of the others. Returns how
    /// many found room.
    pub(crate) fn seat(&mut self, state: &[u64], moves: &[Input], others: &[Input]) -> usize {
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

    /// The lanes whose step is rejected; then all lanes are free again.
    pub(crate) fn rejected(&mut self) -> Plane {
        let mut rejected = [Plane::ZERO];
        self.kernel.run(&self.state, &self.inputs, &mut rejected);
        self.set_state.drain(..).for_each(|bit| self.state[bit as usize] = Plane::ZERO);
        self.set_inputs.drain(..).for_each(|input| self.inputs[input as usize] = Plane::ZERO);
        rejected[0] & Plane::range(0..std::mem::take(&mut self.n))
    }
}
