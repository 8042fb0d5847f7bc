//! Everything worked out anew at each state.

use super::Input;
use crate::interpret::{Interpreter, Word};
use crate::jit::Native;
use crate::program::lower;
use crate::{Bits, Circuit, Plane, Signal};

/// The two programs: from a state to what it says, and from state and moves to the next state.
pub(super) struct Full {
    code: Code,
    n_base: usize,
    n_leaves: usize,
    n_look: usize,
}

enum Code {
    Native { look: Native, step: Native },
    Levelled { look: Interpreter, step: Interpreter },
}

/// Circuits with more gates than this are not made into native code for single steps: it would take longer to make than
/// it saves.
const MAX_NATIVE_GATES: usize = 400_000;

/// The memory that programs work on, in words or, for native code, in planes of which one lane is used.
#[derive(Clone)]
pub(super) struct FullDesk {
    sheets: Sheets,
    /// The state that the leaves hold.
    known: Vec<u64>,
    answers: Vec<u64>,
}

#[derive(Clone)]
enum Sheets {
    Words { leaves: Vec<u64>, results: Vec<u64> },
    Planes { leaves: Vec<Plane>, results: Vec<Plane>, scratch: Vec<Plane> },
}

impl Full {
    pub(super) fn new(circuit: &Circuit, is_native: bool) -> Full {
        let n_base = circuit.base.len();
        let n_leaves = n_base + circuit.n_inputs();
        let look: Vec<Signal> = circuit.outputs.state_signals().collect();
        let look_program = lower(n_leaves, &circuit.ands, &look);
        let step_program = lower(n_leaves, &circuit.ands, &circuit.outputs.next);
        let native = || {
            let look = Native::new(&look_program, n_base).ok()?;
            Some(Code::Native { look, step: Native::new(&step_program, n_base).ok()? })
        };
        let levelled = || Code::Levelled {
            look: Interpreter::new(&look_program),
            step: Interpreter::new(&step_program),
        };
        let is_native = is_native && circuit.n_gates() <= MAX_NATIVE_GATES;
        let code = if is_native { native().unwrap_or_else(levelled) } else { levelled() };
        Full { code, n_base, n_leaves, n_look: look.len() }
    }

    pub(super) fn is_native(&self) -> bool {
        matches!(self.code, Code::Native { .. })
    }

    pub(super) fn desk(&self) -> FullDesk {
        let n_results = self.n_look.max(self.n_base);
        let sheets = match &self.code {
            Code::Native { look, step } => Sheets::Planes {
                leaves: vec![Plane::ZERO; self.n_leaves],
                results: vec![Plane::ZERO; n_results],
                scratch: vec![Plane::ZERO; look.n_scratch().max(step.n_scratch())],
            },
            Code::Levelled { .. } => {
                Sheets::Words { leaves: vec![0; self.n_leaves], results: vec![0; n_results] }
            }
        };
        FullDesk {
            sheets,
            known: vec![0; self.n_base.div_ceil(64)],
            answers: vec![0; self.n_look.div_ceil(64)],
        }
    }

    /// Works out what a state says.
    pub(super) fn look(&self, desk: &mut FullDesk, state: &Bits) {
        let FullDesk { sheets, known, answers } = desk;
        match (sheets, &self.code) {
            (Sheets::Words { leaves, results }, Code::Levelled { look, .. }) => {
                load(state, known, leaves);
                look.run(leaves, &mut results[..self.n_look]);
                gather(&results[..self.n_look], answers);
            }
            (Sheets::Planes { leaves, results, scratch }, Code::Native { look, .. }) => {
                load(state, known, leaves);
                look.run(&leaves[..self.n_base], &leaves[self.n_base..], results, scratch);
                gather(&results[..self.n_look], answers);
            }
            _ => unreachable!("a desk goes with its code"),
        }
    }

    /// Works out the next state. The base bits are still where `look` put them: programs never write to their leaves.
    pub(super) fn step(&self, desk: &mut FullDesk, joint: &[Input], state: &mut Bits) {
        let n_base = self.n_base;
        match (&mut desk.sheets, &self.code) {
            (Sheets::Words { leaves, results }, Code::Levelled { step, .. }) => {
                set_joint(joint, &mut leaves[n_base..], u64::ONES);
                step.run(leaves, &mut results[..n_base]);
                set_joint(joint, &mut leaves[n_base..], 0);
                gather(&results[..n_base], state.words_mut());
            }
            (Sheets::Planes { leaves, results, scratch }, Code::Native { step, .. }) => {
                set_joint(joint, &mut leaves[n_base..], Plane::ONES);
                step.run(&leaves[..n_base], &leaves[n_base..], results, scratch);
                set_joint(joint, &mut leaves[n_base..], Plane::ZERO);
                gather(&results[..n_base], state.words_mut());
            }
            _ => unreachable!("a desk goes with its code"),
        }
    }
}

impl FullDesk {
    pub(super) fn answers(&self) -> &[u64] {
        &self.answers
    }
}

/// Sets the inputs of a joint move, or takes them back: between steps all inputs are zero, so that a step touches few.
fn set_joint<W: Word>(joint: &[Input], inputs: &mut [W], value: W) {
    for input in joint {
        inputs[input.0 as usize] = value;
    }
}

/// Spreads a state over leaves, one bit each; only what differs from the state known there is touched.
fn load<W: Word>(state: &Bits, known: &mut [u64], leaves: &mut [W]) {
    for (idx, (known, &word)) in known.iter_mut().zip(state.words()).enumerate() {
        let mut changed = std::mem::replace(known, word) ^ word;
        while changed != 0 {
            let bit = changed.trailing_zeros() as usize;
            changed &= changed - 1;
            leaves[64 * idx + bit] = if word >> bit & 1 == 1 { W::ONES } else { W::ZERO };
        }
    }
}

/// Packs results into words.
fn gather<W: Word>(results: &[W], words: &mut [u64]) {
    for (word, results) in words.iter_mut().zip(results.chunks(64)) {
        let mut packed = 0;
        for (bit, result) in results.iter().enumerate() {
            packed |= u64::from(result.is_set()) << bit;
        }
        *word = packed;
    }
}
