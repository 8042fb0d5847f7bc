//! Lowering: from a graph to a straight line of instructions.
//!
//! In goes a graph with the signals that are wanted, out comes a [`Program`] over values that are computed and stored
//! once each. Three things are decided here, none of which the graph knows:
//!
//! - **Polarity.** A gate with two inverted operands is stored inverted, as OR, so every gate is one instruction and
//!   no negation is ever executed.
//! - **XOR.** `!(a & b) & !(!a & !b)` is recognised and becomes one instruction; it absorbs the polarity of its operands.
//! - **Order.** Depth first from the outputs, the deeper operand first, so that values live shortly.

use crate::Signal;

/// Straight-line code. Invariants: an instruction reads leaves or earlier instructions; every instruction is read by a
/// later one or by an output.
#[derive(Clone, Debug)]
pub struct Program {
    /// How many values go in. Value `i` below this number is leaf `i`.
    pub n_leaves: usize,
    /// The instructions. Instruction `i` makes value `n_leaves + i`.
    pub instructions: Vec<Instruction>,
    /// What comes out.
    pub outputs: Vec<Output>,
}

/// A value of a program: a leaf or the result of an instruction. Dense.
pub type Value = u32;

/// One operation on two values.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// What is done.
    pub operation: Operation,
    /// The left operand.
    pub a: Value,
    /// The right operand.
    pub b: Value,
}

/// What an instruction does, bit by bit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `a & b`
    And,
    /// `!a & b`
    AndNot,
    /// `a | b`
    Or,
    /// `a ^ b`
    Xor,
}

/// Where an output of a program comes from.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// The same for ever.
    Constant(bool),
    /// A value, or its negation if `inverted`.
    Value {
        /// Which.
        value: Value,
        /// Whether the output is its negation.
        inverted: bool,
    },
}

/// What drives a gate once XORs are recognised.
#[derive(Copy, Clone)]
enum Driver {
    Leaf,
    And(Signal, Signal),
    Xor(Signal, Signal),
}

impl Driver {
    fn operands(self) -> Option<[Signal; 2]> {
        match self {
            Driver::Leaf => None,
            Driver::And(a, b) | Driver::Xor(a, b) => Some([a, b]),
        }
    }
}

/// The program that computes the roots, in their order, from the leaves of a graph whose AND gates these are.
pub(crate) fn lower(n_leaves: usize, ands: &[[Signal; 2]], roots: &[Signal]) -> Program {
    let first_and = n_leaves + 1;
    let drivers = recognise(first_and, ands);
    // How deep the logic above each gate is: the deeper operand is worked out first.
    let mut depths = vec![0_u32; drivers.len()];
    for gate in first_and..drivers.len() {
        let [a, b] = drivers[gate].operands().expect("gates after the leaves have operands");
        depths[gate] = 1 + depths[a.gate()].max(depths[b.gate()]);
    }

    let mut lowering = Lowering {
        values: (0..drivers.len())
            .map(|gate| if gate < first_and { gate.wrapping_sub(1) as u32 } else { Value::MAX })
            .collect(),
        is_stored_inverted: vec![false; drivers.len()],
        instructions: Vec::new(),
        n_leaves: first_and - 1,
    };
    let mut stack = Vec::new();
    for root in roots {
        stack.push(root.gate());
        while let Some(&gate) = stack.last() {
            let Some(operands) = drivers[gate].operands().filter(|_| !lowering.is_done(gate))
            else {
                stack.pop();
                continue;
            };
            let [mut a, mut b] = operands.map(Signal::gate);
            if depths[a] < depths[b] {
                (a, b) = (b, a);
            }
            if !lowering.is_done(a) {
                stack.push(a);
            } else if !lowering.is_done(b) {
                stack.push(b);
            } else {
                lowering.emit(gate, drivers[gate]);
                stack.pop();
            }
        }
    }
    let outputs = roots.iter().map(|&root| lowering.output(root)).collect();
    Program { n_leaves: lowering.n_leaves, instructions: lowering.instructions, outputs }
}

fn recognise(first_and: usize, ands: &[[Signal; 2]]) -> Vec<Driver> {
    let mut drivers = vec![Driver::Leaf; first_and];
    for &[a, b] in ands {
        let below = |signal: Signal| {
            let and = signal.gate().checked_sub(first_and).filter(|_| signal.is_inverted());
            and.map(|and| ands[and])
        };
        let driver = match (below(a), below(b)) {
            // Operands are sorted, so a pair and its negation have the same order.
            (Some([p, q]), Some([r, s])) if p == !r && q == !s => Driver::Xor(p, q),
            _ => Driver::And(a, b),
        };
        drivers.push(driver);
    }
    drivers
}

struct Lowering {
    values: Vec<Value>,
    is_stored_inverted: Vec<bool>,
    instructions: Vec<Instruction>,
    n_leaves: usize,
}

impl Lowering {
    fn is_done(&self, gate: usize) -> bool {
        gate <= self.n_leaves || self.values[gate] != Value::MAX
    }

    /// The value behind a signal, and whether the signal is its negation.
    fn operand(&self, signal: Signal) -> (Value, bool) {
        (self.values[signal.gate()], signal.is_inverted() != self.is_stored_inverted[signal.gate()])
    }

    fn emit(&mut self, gate: usize, driver: Driver) {
        let (instruction, inverted) = match driver {
            Driver::Leaf => unreachable!("leaves are done from the start"),
            Driver::And(a, b) => match (self.operand(a), self.operand(b)) {
                ((a, false), (b, false)) => {
                    (Instruction { operation: Operation::And, a, b }, false)
                }
                ((a, true), (b, false)) | ((b, false), (a, true)) => {
                    (Instruction { operation: Operation::AndNot, a, b }, false)
                }
                ((a, true), (b, true)) => (Instruction { operation: Operation::Or, a, b }, true),
            },
            Driver::Xor(a, b) => {
                let ((a, a_inverted), (b, b_inverted)) = (self.operand(a), self.operand(b));
                (Instruction { operation: Operation::Xor, a, b }, a_inverted != b_inverted)
            }
        };
        self.values[gate] = (self.n_leaves + self.instructions.len()) as Value;
        self.is_stored_inverted[gate] = inverted;
        self.instructions.push(instruction);
    }

    fn output(&self, root: Signal) -> Output {
        if root.is_constant() {
            return Output::Constant(root == Signal::TRUE);
        }
        let (value, inverted) = self.operand(root);
        Output::Value { value, inverted }
    }
}
