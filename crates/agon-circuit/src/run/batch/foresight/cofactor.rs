//! Logic that is evaluated under many assignments of its leaves that differ little from each other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Signal;
use crate::form::graph::{Graph, cone};

/// The limits of building, so that logic which is too large is given up early.
#[derive(Copy, Clone, Debug)]
pub(super) struct Effort {
    /// Maximum number of gates of the graph.
    pub(super) max_gates: usize,
    /// Number of gates that may still be evaluated.
    pub(super) left: usize,
}

/// Signals of a graph that are assumed to be constant.
#[derive(Default)]
pub(super) struct Known {
    /// By gate of the graph: its value, or `None` if it is not known.
    values: Vec<Option<bool>>,
    /// The gates that are known, in the order in which they were added.
    gates: Vec<usize>,
}

impl Known {
    /// Assumes that a signal is true, and with it all signals of which it is the conjunction.
    pub(super) fn assume(&mut self, graph: &Graph, signal: Signal) {
        let mut stack = vec![signal];
        while let Some(signal) = stack.pop() {
            let gate = signal.gate();
            if self.values.len() <= gate {
                self.values.resize(gate + 1, None);
            }
            if signal.is_constant() || self.values[gate].is_some() {
                continue;
            }
            self.values[gate] = Some(!signal.is_inverted());
            self.gates.push(gate);
            if !signal.is_inverted() {
                stack.extend(graph.operands(signal).into_iter().flatten());
            }
        }
    }

    /// Returns the number of gates that are known, for [`Known::forget`].
    pub(super) fn n_gates(&self) -> usize {
        self.gates.len()
    }

    /// Forgets what was added after the first `n_gates` gates.
    pub(super) fn forget(&mut self, n_gates: usize) {
        for gate in self.gates.drain(n_gates..) {
            self.values[gate] = None;
        }
    }

    /// Returns the constant in place of a signal that is known.
    #[inline]
    fn apply(&self, signal: Signal) -> Signal {
        match self.values.get(signal.gate()) {
            Some(&Some(value)) => Signal::constant(value != signal.is_inverted()),
            _ => signal,
        }
    }
}

/// Logic in a graph that is evaluated again where its leaves change, and nowhere else.
///
/// Gate 0 is the constant false, then come the leaves, then AND gates, as in a circuit.
pub(super) struct Cofactor<'l> {
    first_and: usize,
    ands: &'l [[Signal; 2]],
    /// By gate: whether a root depends on it.
    is_wanted: Vec<bool>,
    /// By gate: where its readers begin in `readers`.
    starts: Vec<u32>,
    readers: Vec<u32>,
    /// By gate: its signal in the graph if no leaf has changed.
    unchanged: Vec<Signal>,
    /// By gate: its signal in the graph.
    now: Vec<Signal>,
    changed: Vec<usize>,
    /// The gates to be evaluated, the lowest first.
    queue: BinaryHeap<Reverse<usize>>,
    is_queued: Vec<bool>,
}

impl<'l> Cofactor<'l> {
    /// Adds the logic of the roots to a graph. `leaves` has the signals of gate 0 and all leaves.
    pub(super) fn new(
        graph: &mut Graph,
        ands: &'l [[Signal; 2]],
        leaves: Vec<Signal>,
        roots: impl Iterator<Item = Signal>,
    ) -> Cofactor<'l> {
        let first_and = leaves.len();
        let is_wanted = cone(first_and, ands, roots);
        let mut unchanged = leaves;
        unchanged.resize(first_and + ands.len(), Signal::FALSE);
        let mut starts = vec![0_u32; unchanged.len() + 1];
        for (gate, &[a, b]) in (first_and..).zip(ands) {
            if is_wanted[gate] {
                let [x, y] =
                    [a, b].map(|signal| unchanged[signal.gate()].inverted_if(signal.is_inverted()));
                unchanged[gate] = graph.and(x, y);
                starts[a.gate() + 1] += 1;
                starts[b.gate() + 1] += 1;
            }
        }
        for gate in 1..starts.len() {
            starts[gate] += starts[gate - 1];
        }
        let mut ends = starts.clone();
        let mut readers = vec![0; starts.last().map_or(0, |&n| n as usize)];
        for (gate, operands) in (first_and..).zip(ands) {
            if is_wanted[gate] {
                for operand in operands {
                    let end = &mut ends[operand.gate()];
                    readers[*end as usize] = gate as u32;
                    *end += 1;
                }
            }
        }
        Cofactor {
            first_and,
            ands,
            is_queued: vec![false; unchanged.len()],
            is_wanted,
            starts,
            readers,
            now: unchanged.clone(),
            unchanged,
            changed: Vec::new(),
            queue: BinaryHeap::new(),
        }
    }

    /// Returns whether a root depends on a gate.
    pub(super) fn is_wanted(&self, gate: usize) -> bool {
        self.is_wanted[gate]
    }

    /// Gives a leaf another signal.
    pub(super) fn set(&mut self, leaf: usize, signal: Signal) {
        debug_assert!(leaf < self.first_and, "only leaves are set");
        if self.is_wanted[leaf] {
            self.change(leaf, signal);
        }
    }

    fn change(&mut self, gate: usize, signal: Signal) {
        if self.now[gate] == signal {
            return;
        }
        self.now[gate] = signal;
        self.changed.push(gate);
        for &reader in &self.readers[self.starts[gate] as usize..self.starts[gate + 1] as usize] {
            let reader = reader as usize;
            if !std::mem::replace(&mut self.is_queued[reader], true) {
                self.queue.push(Reverse(reader));
            }
        }
    }

    /// Evaluates the gates that depend on changed leaves. Returns `None` if that is too much.
    pub(super) fn evaluate(
        &mut self,
        graph: &mut Graph,
        known: &Known,
        effort: &mut Effort,
    ) -> Option<()> {
        while let Some(Reverse(gate)) = self.queue.pop() {
            self.is_queued[gate] = false;
            let [a, b] =
                self.ands[gate - self.first_and].map(|operand| self.signal(operand, known));
            let signal = graph.and(a, b);
            self.change(gate, known.apply(signal));
            effort.left = effort.left.checked_sub(1)?;
        }
        (graph.ands().len() <= effort.max_gates).then_some(())
    }

    /// Returns a signal of the logic in the graph.
    pub(super) fn signal(&self, signal: Signal, known: &Known) -> Signal {
        known.apply(self.now[signal.gate()].inverted_if(signal.is_inverted()))
    }

    /// Returns a signal of the logic in the graph if no leaf has changed.
    pub(super) fn unchanged(&self, signal: Signal) -> Signal {
        self.unchanged[signal.gate()].inverted_if(signal.is_inverted())
    }

    /// Gives all leaves their first signals again.
    pub(super) fn reset(&mut self) {
        for gate in self.changed.drain(..) {
            self.now[gate] = self.unchanged[gate];
        }
    }
}
