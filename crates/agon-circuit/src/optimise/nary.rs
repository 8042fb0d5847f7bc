//! AND gates with many operands: trees of two-input gates that passes treat as one gate.

use crate::{Builder, Circuit, Deadline, Signal};

/// A circuit seen as AND gates of any number of operands.
///
/// An AND gate that is read once, plain and by another AND gate is *inner*: it is part of its
/// reader. All other gates are *roots*. Invariant: each operand of a root is a leaf, the constant
/// or another root.
pub(super) struct Nary<'c> {
    circuit: &'c Circuit,
    n_readers: Vec<u32>,
    is_inner: Vec<bool>,
}

impl<'c> Nary<'c> {
    pub(super) fn new(circuit: &'c Circuit) -> Nary<'c> {
        let mut n_readers = vec![0_u32; circuit.n_gates()];
        let mut is_inner = vec![false; circuit.n_gates()];
        for operand in circuit.ands.iter().flatten() {
            n_readers[operand.gate()] += 1;
            is_inner[operand.gate()] = !operand.is_inverted();
        }
        for output in circuit.outputs.signals() {
            n_readers[output.gate()] += 1;
            is_inner[output.gate()] = false;
        }
        for (gate, inner) in is_inner.iter_mut().enumerate() {
            *inner &= gate >= circuit.first_and() && n_readers[gate] == 1;
        }
        Nary { circuit, n_readers, is_inner }
    }

    /// Returns the operands of a root that is an AND gate, from left to right.
    pub(super) fn operands(&self, root: usize) -> Vec<Signal> {
        self.first_operands(root, usize::MAX)
    }

    /// Returns at most `limit` operands of a root that is an AND gate.
    pub(super) fn first_operands(&self, root: usize, limit: usize) -> Vec<Signal> {
        let mut operands = Vec::new();
        let mut stack = self.circuit.ands[root - self.circuit.first_and()].to_vec();
        stack.reverse();
        while let Some(signal) = stack.pop() {
            if !signal.is_inverted() && self.is_inner[signal.gate()] {
                let [a, b] = self.circuit.ands[signal.gate() - self.circuit.first_and()];
                stack.extend([b, a]);
            } else if operands.len() < limit {
                operands.push(signal);
            } else {
                break;
            }
        }
        operands
    }

    /// Returns the operands of an AND gate if the signal is its negation and its only reader.
    pub(super) fn cube(&self, signal: Signal) -> Option<Vec<Signal>> {
        let gate = signal.gate();
        let is_cube =
            signal.is_inverted() && gate >= self.circuit.first_and() && self.n_readers[gate] == 1;
        is_cube.then(|| self.operands(gate))
    }

    /// Rebuilds the circuit root by root. `build` is given the root and the map from old gates to
    /// new signals. Returns `None` if the deadline passes.
    pub(super) fn rebuild(
        &self,
        deadline: Deadline<'_>,
        mut build: impl FnMut(&mut Builder, usize, &Renamed) -> Signal,
    ) -> Option<Circuit> {
        let circuit = self.circuit;
        let live = circuit.cone(circuit.outputs.signals());
        let mut builder = Builder::like(circuit);
        let mut renamed = Renamed { map: (0..circuit.n_gates()).map(Signal::of_gate).collect() };
        for (gate, &is_live) in live.iter().enumerate().skip(circuit.first_and()) {
            if deadline.has_passed_at(gate) {
                return None;
            }
            if is_live && !self.is_inner[gate] {
                renamed.map[gate] = build(&mut builder, gate, &renamed);
            }
        }
        Some(super::sweep::drop_dead(
            &builder.finish(circuit.outputs.map(|signal| renamed.of(signal))),
        ))
    }
}

/// The map from old gates to new signals, for the gates built so far.
pub(super) struct Renamed {
    map: Vec<Signal>,
}

impl Renamed {
    pub(super) fn of(&self, signal: Signal) -> Signal {
        self.map[signal.gate()].inverted_if(signal.is_inverted())
    }

    pub(super) fn all(&self, signals: &[Signal]) -> Vec<Signal> {
        signals.iter().map(|&signal| self.of(signal)).collect()
    }
}
