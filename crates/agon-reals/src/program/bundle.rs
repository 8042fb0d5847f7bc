//! Programs of one form that differ in their constants, run side by side.

use super::{Instruction, Program};

/// Programs of one form, one in each lane. The parameters of a move are constants of its equations,
/// so moves that differ in their parameters have programs of one form.
#[derive(Clone, Debug)]
pub(crate) struct Bundle<const LANES: usize> {
    form: Program,
    /// By register: the constants of the lanes. Those of other instructions are not used.
    constants: Vec<[f64; LANES]>,
}

impl Program {
    /// Returns whether two programs are equal apart from the values of their constants.
    pub(crate) fn has_form_of(&self, other: &Program) -> bool {
        self.values == other.values
            && self.truths == other.truths
            && self.instructions.len() == other.instructions.len()
            && self
                .instructions
                .iter()
                .zip(&other.instructions)
                .all(|(a, b)| a == b || (a.constant().is_some() && b.constant().is_some()))
    }
}

impl Instruction {
    fn constant(self) -> Option<f64> {
        match self {
            Instruction::Number(_, near) => Some(near),
            Instruction::Constant(interval) => Some(interval.midpoint()),
            _ => None,
        }
    }
}

impl<const LANES: usize> Bundle<LANES> {
    /// Returns a bundle with one program in all lanes.
    pub(crate) fn new(program: &Program) -> Bundle<LANES> {
        let constant = |instruction: &Instruction| [instruction.constant().unwrap_or(0.0); LANES];
        let constants = program.instructions.iter().map(constant).collect();
        Bundle { form: program.clone(), constants }
    }

    /// Puts a program of the same form into a lane.
    pub(crate) fn set_lane(&mut self, lane: usize, program: &Program) {
        debug_assert!(self.form.has_form_of(program), "lanes have programs of one form");
        for (constants, instruction) in self.constants.iter_mut().zip(&program.instructions) {
            constants[lane] = instruction.constant().unwrap_or(0.0);
        }
    }

    /// Computes all terms and conditions, in each lane like [`Program::run_f64`].
    pub(crate) fn run(
        &self,
        variables: &[[f64; LANES]],
        time: [f64; LANES],
        results: &mut [[f64; LANES]],
        registers: &mut Vec<[f64; LANES]>,
    ) {
        registers.clear();
        for (instruction, constants) in self.form.instructions.iter().zip(&self.constants) {
            let value = match instruction {
                Instruction::Number(..) | Instruction::Constant(_) => *constants,
                other => other.lanes(registers, variables, time),
            };
            registers.push(value);
        }
        let outputs = self.form.values.iter().chain(&self.form.truths);
        for (result, register) in results.iter_mut().zip(outputs) {
            *result = registers[*register as usize];
        }
    }
}
