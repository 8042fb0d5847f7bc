//! All gates computed at each state.

use super::Input;
use super::engine::Queries;
use crate::native::NativeOne;
use crate::native::simd::pack_signs;
use crate::run::interpret::{Interpreter, Word};
use crate::run::program::{Program, lower};
use crate::{Bits, Circuit};

/// Three programs: from a state to the answers, from a state to the goals, and from a state and
/// moves to the next state.
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

/// Maximum number of gates of a circuit for which native code for single steps is generated. Above
/// it, generation takes longer than it saves.
const MAX_NATIVE_GATES: usize = 400_000;

/// The memory that programs work on.
#[derive(Clone)]
pub(super) struct FullScratch {
    values: Values,
    /// The state that the leaves hold.
    known: Vec<u64>,
    answers: Vec<u64>,
    goals: Vec<u64>,
    /// A state that was looked at before, and its answers: many playouts begin at the same state.
    home: Vec<u64>,
    home_answers: Vec<u64>,
}

/// Leaves and results. A value is zero or all ones. Results are padded to whole words of answers.
#[derive(Clone)]
enum Values {
    Levelled { leaves: Vec<u64>, results: Vec<u64> },
    Native { leaves: Vec<u128>, results: Vec<u32>, scratch: Vec<u128> },
}

impl<P> Programs<P> {
    fn map<Q>(&self, to: impl Fn(&P) -> Option<Q>) -> Option<Programs<Q>> {
        Some(Programs { look: to(&self.look)?, goals: to(&self.goals)?, step: to(&self.step)? })
    }
}

impl Full {
    /// Prepares programs as native code where that is possible and worth its time.
    pub(super) fn native(circuit: &Circuit, queries: &Queries) -> Full {
        Full::new(circuit, queries, |programs, n_base| {
            if circuit.n_gates() > MAX_NATIVE_GATES {
                return None;
            }
            programs.map(|program| NativeOne::new(program, n_base).ok())
        })
    }

    /// Prepares programs for the portable interpreter.
    pub(super) fn levelled(circuit: &Circuit, queries: &Queries) -> Full {
        Full::new(circuit, queries, |_, _| None)
    }

    fn new(
        circuit: &Circuit,
        queries: &Queries,
        native: impl FnOnce(&Programs<Program>, usize) -> Option<Programs<NativeOne>>,
    ) -> Full {
        let n_base = circuit.base.len();
        let n_leaves = n_base + circuit.n_inputs();
        let lower = |roots: &[_]| lower(n_leaves, &circuit.ands, roots);
        let programs = Programs {
            look: lower(&queries.look),
            goals: lower(&queries.goals),
            step: lower(&circuit.outputs.next),
        };
        let code = match native(&programs, n_base) {
            Some(native) => Code::Native(Box::new(native)),
            None => Code::Levelled(Box::new(Programs {
                look: Interpreter::new(&programs.look),
                goals: Interpreter::new(&programs.goals),
                step: Interpreter::new(&programs.step),
            })),
        };
        Full { code, n_base, n_leaves, n_look: queries.look.len(), n_goals: queries.goals.len() }
    }

    pub(super) fn is_native(&self) -> bool {
        matches!(self.code, Code::Native { .. })
    }

    pub(super) fn scratch(&self) -> FullScratch {
        let n_results = 64 * self.n_look.max(self.n_base).max(self.n_goals).div_ceil(64);
        let values = match &self.code {
            Code::Native(code) => {
                let n_scratch = [&code.look, &code.goals, &code.step].map(NativeOne::n_scratch);
                Values::Native {
                    leaves: vec![0; self.n_leaves],
                    results: vec![0; n_results],
                    scratch: vec![0; n_scratch.into_iter().max().unwrap_or(0)],
                }
            }
            Code::Levelled(_) => {
                Values::Levelled { leaves: vec![0; self.n_leaves], results: vec![0; n_results] }
            }
        };
        FullScratch {
            values,
            known: vec![0; self.n_base.div_ceil(64)],
            answers: vec![0; self.n_look.div_ceil(64)],
            goals: vec![0; self.n_goals.div_ceil(64)],
            home: Vec::new(),
            home_answers: Vec::new(),
        }
    }

    /// Computes the answers at a state.
    pub(super) fn look(&self, memory: &mut FullScratch, state: &Bits) {
        let FullScratch { values, known, answers, .. } = memory;
        match (values, &self.code) {
            (Values::Levelled { leaves, results }, Code::Levelled(code)) => {
                load(state, known, leaves);
                code.look.run(leaves, &mut results[..self.n_look]);
                pack(&results[..self.n_look], answers);
            }
            (Values::Native { leaves, results, scratch }, Code::Native(code)) => {
                load(state, known, leaves);
                code.look.run(&leaves[..self.n_base], &leaves[self.n_base..], results, scratch);
                pack_signs(results, answers);
            }
            _ => unreachable!("an engine works on the memory that it made"),
        }
    }

    /// Computes the answers at a state, at no cost if this is the state of the last call of this
    /// function.
    pub(super) fn look_again(&self, memory: &mut FullScratch, state: &Bits) {
        // There is always an answer, so without one there is no home yet. A state may have no bits.
        if !memory.home_answers.is_empty() && memory.home == state.words() {
            match &mut memory.values {
                Values::Levelled { leaves, .. } => load(state, &mut memory.known, leaves),
                Values::Native { leaves, .. } => load(state, &mut memory.known, leaves),
            }
            memory.answers.copy_from_slice(&memory.home_answers);
            return;
        }
        self.look(memory, state);
        memory.home.clear();
        memory.home.extend(state.words());
        memory.home_answers.clone_from(&memory.answers);
    }

    /// Computes the goals. The base bits are still where `look` put them, because programs never
    /// write to their leaves.
    pub(super) fn value(&self, memory: &mut FullScratch) {
        match (&mut memory.values, &self.code) {
            (Values::Levelled { leaves, results }, Code::Levelled(code)) => {
                code.goals.run(leaves, &mut results[..self.n_goals]);
                pack(&results[..self.n_goals], &mut memory.goals);
            }
            (Values::Native { leaves, results, scratch }, Code::Native(code)) => {
                code.goals.run(&leaves[..self.n_base], &leaves[self.n_base..], results, scratch);
                pack_signs(results, &mut memory.goals);
            }
            _ => unreachable!("an engine works on the memory that it made"),
        }
    }

    /// Computes the next state. The base bits are still there, as for `value`.
    pub(super) fn step(&self, memory: &mut FullScratch, joint: &[Input], state: &mut Bits) {
        let n_base = self.n_base;
        match (&mut memory.values, &self.code) {
            (Values::Levelled { leaves, results }, Code::Levelled(code)) => {
                set_joint(joint, &mut leaves[n_base..], !0);
                code.step.run(leaves, &mut results[..n_base]);
                set_joint(joint, &mut leaves[n_base..], 0);
                pack(&results[..n_base], state.words_mut());
            }
            (Values::Native { leaves, results, scratch }, Code::Native(code)) => {
                set_joint(joint, &mut leaves[n_base..], !0);
                code.step.run(&leaves[..n_base], &leaves[n_base..], results, scratch);
                set_joint(joint, &mut leaves[n_base..], 0);
                // The values after the last result are those of another program.
                pack_signs(results, state.words_mut());
                trim(state, n_base);
            }
            _ => unreachable!("an engine works on the memory that it made"),
        }
    }
}

impl FullScratch {
    pub(super) fn answers(&self) -> &[u64] {
        &self.answers
    }

    pub(super) fn goals(&self) -> &[u64] {
        &self.goals
    }
}

/// Sets the inputs of a joint move to a value. Between steps all inputs are zero, so a step touches
/// only a few.
fn set_joint<W: Copy>(joint: &[Input], inputs: &mut [W], value: W) {
    for input in joint {
        inputs[input.0 as usize] = value;
    }
}

/// Copies a state to leaves, one bit each. Only leaves that differ from the known state are
/// written.
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

/// Packs results into words, a bit each.
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
