//! Everything worked out anew at each state.

use super::Input;
use super::engine::Questions;
use crate::interpret::{Interpreter, Word};
use crate::jit::{NativeOne, pack_signs};
use crate::program::{Program, lower};
use crate::{Bits, Circuit};

/// Three programs: from a state to what it says, from a state to the goals, and from state and moves to the next state.
pub(super) struct Full {
    code: Code,
    n_base: usize,
    n_leaves: usize,
    n_look: usize,
    n_goals: usize,
}

enum Code {
    Native(Box<Programs<NativeOne>>),
    Levelled(Box<Programs<Interpreter>>),
}

struct Programs<P> {
    look: P,
    goals: P,
    step: P,
}

/// Circuits with more gates than this are not made into native code for single steps: it would take longer to make than
/// it saves.
const MAX_NATIVE_GATES: usize = 400_000;

/// The memory that programs work on.
#[derive(Clone)]
pub(super) struct FullDesk {
    sheets: Sheets,
    /// The state that the leaves hold.
    known: Vec<u64>,
    answers: Vec<u64>,
    goals: Vec<u64>,
    /// A state that was looked at before, and what it says: many playouts begin at the same state.
    home: Vec<u64>,
    home_answers: Vec<u64>,
}

/// A value is zero or all ones. There is room for results up to whole words of answers.
#[derive(Clone)]
enum Sheets {
    Levelled { leaves: Vec<u64>, results: Vec<u64> },
    Native { leaves: Vec<u128>, results: Vec<u32>, scratch: Vec<u128> },
}

impl<P> Programs<P> {
    fn map<Q, E>(&self, to: impl Fn(&P) -> Result<Q, E>) -> Result<Programs<Q>, E> {
        Ok(Programs { look: to(&self.look)?, goals: to(&self.goals)?, step: to(&self.step)? })
    }
}

impl Full {
    pub(super) fn new(circuit: &Circuit, questions: &Questions, is_native: bool) -> Full {
        let n_base = circuit.base.len();
        let n_leaves = n_base + circuit.n_inputs();
        let lower = |roots: &[_]| lower(n_leaves, &circuit.ands, roots);
        let programs = Programs {
            look: lower(&questions.look),
            goals: lower(&questions.goals),
            step: lower(&circuit.outputs.next),
        };
        let is_native = is_native && circuit.n_gates() <= MAX_NATIVE_GATES;
        let native = is_native
            .then(|| programs.map(|program: &Program| NativeOne::new(program, n_base)).ok())
            .flatten();
        let levelled =
            |program: &Program| Ok::<_, std::convert::Infallible>(Interpreter::new(program));
        let code = match (native, programs.map(levelled)) {
            (Some(native), _) => Code::Native(Box::new(native)),
            (None, Ok(levelled)) => Code::Levelled(Box::new(levelled)),
        };
        Full {
            code,
            n_base,
            n_leaves,
            n_look: questions.look.len(),
            n_goals: questions.goals.len(),
        }
    }

    pub(super) fn is_native(&self) -> bool {
        matches!(self.code, Code::Native { .. })
    }

    pub(super) fn desk(&self) -> FullDesk {
        let n_results = 64 * self.n_look.max(self.n_base).max(self.n_goals).div_ceil(64);
        let sheets = match &self.code {
            Code::Native(code) => {
                let n_scratch = [&code.look, &code.goals, &code.step].map(NativeOne::n_scratch);
                Sheets::Native {
                    leaves: vec![0; self.n_leaves],
                    results: vec![0; n_results],
                    scratch: vec![0; n_scratch.into_iter().max().unwrap_or(0)],
                }
            }
            Code::Levelled(_) => {
                Sheets::Levelled { leaves: vec![0; self.n_leaves], results: vec![0; n_results] }
            }
        };
        FullDesk {
            sheets,
            known: vec![0; self.n_base.div_ceil(64)],
            answers: vec![0; self.n_look.div_ceil(64)],
            goals: vec![0; self.n_goals.div_ceil(64)],
            home: Vec::new(),
            home_answers: Vec::new(),
        }
    }

    /// Works out what a state says.
    pub(super) fn look(&self, desk: &mut FullDesk, state: &Bits) {
        let FullDesk { sheets, known, answers, .. } = desk;
        match (sheets, &self.code) {
            (Sheets::Levelled { leaves, results }, Code::Levelled(code)) => {
                load(state, known, leaves);
                code.look.run(leaves, &mut results[..self.n_look]);
                pack(&results[..self.n_look], answers);
            }
            (Sheets::Native { leaves, results, scratch }, Code::Native(code)) => {
                load(state, known, leaves);
                code.look.run(&leaves[..self.n_base], &leaves[self.n_base..], results, scratch);
                pack_signs(results, answers);
            }
            _ => unreachable!("a desk goes with its code"),
        }
    }

    /// The same, at no cost if this is the state that it was called with last.
    pub(super) fn look_again(&self, desk: &mut FullDesk, state: &Bits) {
        // There is always an answer, so without one there is no home yet; a state may have no bits at all.
        if !desk.home_answers.is_empty() && desk.home == state.words() {
            match &mut desk.sheets {
                Sheets::Levelled { leaves, .. } => load(state, &mut desk.known, leaves),
                Sheets::Native { leaves, .. } => load(state, &mut desk.known, leaves),
            }
            desk.answers.copy_from_slice(&desk.home_answers);
            return;
        }
        self.look(desk, state);
        desk.home.clear();
        desk.home.extend(state.words());
        desk.home_answers.clone_from(&desk.answers);
    }

    /// Works out the goals. The base bits are still where `look` put them: programs never write to their leaves.
    pub(super) fn value(&self, desk: &mut FullDesk) {
        match (&mut desk.sheets, &self.code) {
            (Sheets::Levelled { leaves, results }, Code::Levelled(code)) => {
                code.goals.run(leaves, &mut results[..self.n_goals]);
                pack(&results[..self.n_goals], &mut desk.goals);
            }
            (Sheets::Native { leaves, results, scratch }, Code::Native(code)) => {
                code.goals.run(&leaves[..self.n_base], &leaves[self.n_base..], results, scratch);
                pack_signs(results, &mut desk.goals);
            }
            _ => unreachable!("a desk goes with its code"),
        }
    }

    /// Works out the next state. The base bits are still there, as for `value`.
    pub(super) fn step(&self, desk: &mut FullDesk, joint: &[Input], state: &mut Bits) {
        let n_base = self.n_base;
        match (&mut desk.sheets, &self.code) {
            (Sheets::Levelled { leaves, results }, Code::Levelled(code)) => {
                set_joint(joint, &mut leaves[n_base..], !0);
                code.step.run(leaves, &mut results[..n_base]);
                set_joint(joint, &mut leaves[n_base..], 0);
                pack(&results[..n_base], state.words_mut());
            }
            (Sheets::Native { leaves, results, scratch }, Code::Native(code)) => {
                set_joint(joint, &mut leaves[n_base..], !0);
                code.step.run(&leaves[..n_base], &leaves[n_base..], results, scratch);
                set_joint(joint, &mut leaves[n_base..], 0);
                // What lies after the last result belongs to another program.
                pack_signs(results, state.words_mut());
                trim(state, n_base);
            }
            _ => unreachable!("a desk goes with its code"),
        }
    }
}

impl FullDesk {
    pub(super) fn answers(&self) -> &[u64] {
        &self.answers
    }

    pub(super) fn goals(&self) -> &[u64] {
        &self.goals
    }
}

/// Sets the inputs of a joint move, or takes them back: between steps all inputs are zero, so that a step touches few.
fn set_joint<W: Copy>(joint: &[Input], inputs: &mut [W], value: W) {
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
fn pack(results: &[u64], words: &mut [u64]) {
    for (word, results) in words.iter_mut().zip(results.chunks(64)) {
        *word = results.iter().rev().fold(0, |packed, result| packed << 1 | (result & 1));
    }
}

/// Clears the bits after the last base bit.
fn trim(state: &mut Bits, n_base: usize) {
    if !n_base.is_multiple_of(64)
        && let Some(last) = state.words_mut().last_mut()
    {
        *last &= (1 << (n_base % 64)) - 1;
    }
}
