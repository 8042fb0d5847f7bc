//! The portable executor of programs: the oracle of the generated code, and its replacement where
//! there is none.

use crate::Plane;
use crate::run::program::{Instruction, Operation, Output, Program, Value};

/// A machine word of any width on which programs are run, bit by bit.
pub(crate) trait Word:
    Copy
    + Default
    + std::ops::BitAnd<Output = Self>
    + std::ops::BitXor<Output = Self>
    + std::ops::Not<Output = Self>
{
    const ZERO: Self;
    const ONES: Self;

    /// Returns itself if the mask is all ones, or zero if the mask is zero.
    fn masked(self, mask: u64) -> Self;
}

impl Word for u64 {
    const ZERO: u64 = 0;
    const ONES: u64 = !0;

    #[inline(always)]
    fn masked(self, mask: u64) -> u64 {
        self & mask
    }
}

impl Word for u128 {
    const ZERO: u128 = 0;
    const ONES: u128 = !0;

    #[inline(always)]
    fn masked(self, mask: u64) -> u128 {
        self & (u128::from(mask) << 64 | u128::from(mask))
    }
}

impl Word for Plane {
    const ZERO: Plane = Plane::ZERO;
    const ONES: Plane = Plane::ONES;

    #[inline(always)]
    fn masked(self, mask: u64) -> Plane {
        Plane(self.0.map(|word| word & mask))
    }
}

/// Returns masks for `a & b`, `a` and `b`: every operation is the XOR of the masked terms.
///
/// There is no branch to mispredict, which made this three times as fast.
fn masks(operation: Operation) -> [u64; 3] {
    match operation {
        Operation::And => [!0, 0, 0],
        Operation::AndNot => [!0, 0, !0],
        Operation::Or => [!0, !0, !0],
        Operation::Xor => [0, !0, !0],
    }
}

/// A program whose values share slots where their lifetimes allow it, so that they stay in the
/// first level of cache.
///
/// Invariant: every slot is below `n_slots`. The first slots are the leaves.
#[derive(Clone, Debug)]
pub(crate) struct Interpreter {
    n_leaves: usize,
    n_slots: usize,
    steps: Vec<Step>,
    outputs: Vec<Output>,
}

/// An instruction on slots. Slots below `n_leaves` are the leaves.
#[derive(Copy, Clone, Debug)]
struct Step {
    operation: Operation,
    a: u32,
    b: u32,
    to: u32,
}

impl Interpreter {
    /// Assigns slots to the values of a program.
    pub(crate) fn new(program: &Program) -> Interpreter {
        let Program { n_leaves, instructions, outputs } = program;
        let last_use = last_uses(program);
        let mut slot_of: Vec<u32> = (0..(n_leaves + instructions.len()) as u32).collect();
        let mut free = Vec::new();
        let mut n_slots = *n_leaves as u32;
        let mut steps = Vec::with_capacity(instructions.len());
        for (idx, &Instruction { operation, a, b }) in instructions.iter().enumerate() {
            let value = n_leaves + idx;
            let (slot_a, slot_b) = (slot_of[a as usize], slot_of[b as usize]);
            for operand in [a, b] {
                let is_last =
                    operand as usize >= *n_leaves && last_use[operand as usize] == value as Value;
                if is_last && !(operand == b && a == b) {
                    free.push(slot_of[operand as usize]);
                }
            }
            let to = free.pop().unwrap_or_else(|| {
                n_slots += 1;
                n_slots - 1
            });
            slot_of[value] = to;
            steps.push(Step { operation, a: slot_a, b: slot_b, to });
        }
        let outputs = outputs
            .iter()
            .map(|&output| match output {
                Output::Constant(value) => Output::Constant(value),
                Output::Value { value, inverted } => {
                    Output::Value { value: slot_of[value as usize], inverted }
                }
            })
            .collect();
        Interpreter { n_leaves: *n_leaves, n_slots: n_slots as usize, steps, outputs }
    }

    /// Runs the program. `slots` begins with the leaves and is grown to hold the rest. The outputs
    /// are written in order.
    pub(crate) fn run<W: Word>(&self, slots: &mut Vec<W>, outputs: &mut [W]) {
        debug_assert!(slots.len() >= self.n_leaves, "all leaves are given");
        if slots.len() < self.n_slots {
            slots.resize(self.n_slots, W::ZERO);
        }
        let slots = &mut slots[..];
        let table = [Operation::And, Operation::AndNot, Operation::Or, Operation::Xor].map(masks);
        for step in &self.steps {
            let (a, b) = (slots[step.a as usize], slots[step.b as usize]);
            let [both, left, right] = table[step.operation as usize];
            slots[step.to as usize] = (a & b).masked(both) ^ a.masked(left) ^ b.masked(right);
        }
        for (output, to) in self.outputs.iter().zip(outputs) {
            *to = match *output {
                Output::Constant(false) => W::ZERO,
                Output::Constant(true) => !W::ZERO,
                Output::Value { value, inverted: false } => slots[value as usize],
                Output::Value { value, inverted: true } => !slots[value as usize],
            };
        }
    }
}

/// Returns, by value, the value of the last instruction that reads it. `Value::MAX` if an output
/// does, 0 if it is not read.
pub(crate) fn last_uses(program: &Program) -> Vec<Value> {
    let mut last = vec![0; program.n_leaves + program.instructions.len()];
    for (idx, instruction) in program.instructions.iter().enumerate() {
        let value = (program.n_leaves + idx) as Value;
        last[instruction.a as usize] = value;
        last[instruction.b as usize] = value;
    }
    for output in &program.outputs {
        if let Output::Value { value, .. } = *output {
            last[value as usize] = Value::MAX;
        }
    }
    last
}
