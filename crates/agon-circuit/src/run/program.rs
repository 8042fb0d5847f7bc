//! Lowering: from a graph to straight-line code.
//!
//! The input is a graph with the signals that are wanted. The result is a [`Program`], in which
//! each value is computed and stored once. Three things are decided here:
//!
//! - **Polarity.** A gate with two inverted operands is stored inverted, as OR. So every gate is
//!   one instruction, and no negation is executed.
//! - **XOR.** `!(a & b) & !(!a & !b)` is recognised and becomes one instruction. It absorbs the
//!   polarity of its operands.
//! - **Order.** Depth first from the outputs, the deeper operand first, so that values are live for
//!   a short time.

use crate::Signal;

/// Straight-line code. Invariants: an instruction reads leaves or results of earlier instructions,
/// and every instruction is read by a later one or by an output.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Number of leaves. Value `i` below this number is leaf `i`.
    pub(crate) n_leaves: usize,
    /// The instructions. Instruction `i` computes value `n_leaves + i`.
    pub(crate) instructions: Vec<Instruction>,
    /// The outputs.
    pub(crate) outputs: Vec<Output>,
}

/// A value of a program: a leaf or the result of an instruction. Dense.
pub(crate) type Value = u32;

/// One operation on two values.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    /// The operation.
    pub(crate) operation: Operation,
    /// The left operand.
    pub(crate) a: Value,
    /// The right operand.
    pub(crate) b: Value,
}

/// The operation of an instruction, bit by bit.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// `a & b`
    And,
    /// `!a & b`
    AndNot,
    /// `a | b`
    Or,
    /// `a ^ b`
    Xor,
}

/// The source of an output of a program.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Output {
    /// A constant.
    Constant(bool),
    /// A value, or its negation if `inverted`.
    Value {
        /// The value.
        value: Value,
        /// Whether the output is its negation.
        inverted: bool,
    },
}

/// The operation that drives a gate, after XORs are recognised.
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

/// Returns the program that computes the roots, in their order, from the leaves of a graph with
/// these AND gates.
pub(crate) fn lower(n_leaves: usize, ands: &[[Signal; 2]], roots: &[Signal]) -> Program {
    let first_and = n_leaves + 1;
    let drivers = recognise(first_and, ands);
    // The depth of the logic below each gate. The deeper operand is computed first.
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

/// Finds what drives each gate.
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

/// A program while it is built.
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

    /// Returns the value behind a signal, and whether the signal is its negation.
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
