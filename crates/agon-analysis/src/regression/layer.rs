//! The part of a circuit that some outputs depend on, as conjunctions of many operands, worked out into formulas: once as
//! a whole, and then for each move only where the move makes a difference.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use agon_circuit::{Circuit, Signal};

use super::formula::{Formula, Formulas};

/// Conjunctions are made no wider than this of the gates that belong to them alone.
const MAX_WIDTH: u8 = 16;

/// Whether there is enough is looked at after so many conjunctions: a look at the clock takes as long as one of them.
const LOOKED_AT: usize = 256;

/// The cone of some signals. Gates that only one conjunction reads, and plainly, are part of that conjunction.
pub(super) struct Layer {
    /// The gates of the conjunctions, ascending: operands come first.
    gates: Vec<u32>,
    /// By conjunction: where its operands start.
    starts: Vec<u32>,
    operands: Vec<Signal>,
    /// By gate: the conjunctions that read it, from `reader_starts`.
    reader_starts: Vec<u32>,
    readers: Vec<u32>,
    /// The base bits and inputs that are read, as gates.
    pub(super) leaves: Vec<usize>,
    /// Conjunctions that are read, but lie too deep to be looked into, as gates.
    pub(super) cut: Vec<usize>,
}

impl Layer {
    /// Conjunctions that are more than `max_level` readers away from every output are cut off.
    pub(super) fn new(circuit: &Circuit, outputs: &[Signal], max_level: Option<u32>) -> Layer {
        let first_and = circuit.first_and();
        let n_gates = circuit.n_gates();
        let mut in_cone = vec![false; n_gates];
        // Readers of a gate: 0, 1 plain one, or 2 for more, for an inverted one and for outputs.
        let mut n_readers = vec![0_u8; n_gates];
        for output in outputs {
            in_cone[output.gate()] = true;
            n_readers[output.gate()] = 2;
        }
        for gate in (first_and..n_gates).rev() {
            if in_cone[gate] {
                for operand in circuit.ands[gate - first_and] {
                    in_cone[operand.gate()] = true;
                    let more = if operand.is_inverted() { 2 } else { 1 };
                    n_readers[operand.gate()] = (n_readers[operand.gate()] + more).min(2);
                }
            }
        }
        // Wide conjunctions stay trees: where a move changes one of a thousand operands, only its branch is worked out again.
        let mut widths = vec![1_u8; n_gates];
        for gate in first_and..n_gates {
            if in_cone[gate] {
                let operands = circuit.ands[gate - first_and];
                let is_part = |signal: Signal, n_readers: &[u8]| {
                    signal.gate() >= first_and
                        && !signal.is_inverted()
                        && n_readers[signal.gate()] < 2
                };
                let width = |signal: Signal, n_readers: &[u8]| {
                    if is_part(signal, n_readers) { widths[signal.gate()] } else { 1 }
                };
                let mut all =
                    operands.iter().map(|&operand| width(operand, &n_readers)).sum::<u8>();
                if all > MAX_WIDTH {
                    for operand in operands {
                        if is_part(operand, &n_readers) {
                            n_readers[operand.gate()] = 2;
                        }
                    }
                    all = 2;
                }
                widths[gate] = all;
            }
        }
        let mut layer = Layer {
            gates: Vec::new(),
            starts: vec![0],
            operands: Vec::new(),
            reader_starts: Vec::new(),
            readers: Vec::new(),
            leaves: Vec::new(),
            cut: Vec::new(),
        };
        let mut left = Vec::new();
        for gate in first_and..n_gates {
            if !in_cone[gate] || n_readers[gate] < 2 {
                continue;
            }
            layer.gates.push(gate as u32);
            left.push(Signal::of_gate(gate));
            while let Some(signal) = left.pop() {
                let is_part = signal.gate() == gate
                    || signal.gate() >= first_and
                        && !signal.is_inverted()
                        && n_readers[signal.gate()] < 2;
                if is_part {
                    left.extend(circuit.ands[signal.gate() - first_and]);
                } else {
                    layer.operands.push(signal);
                }
            }
            layer.starts.push(layer.operands.len() as u32);
        }
        if let Some(max_level) = max_level {
            layer.cut_off(outputs, max_level, n_gates);
        }
        let mut is_read = vec![false; n_gates];
        let roots = outputs.iter().map(|output| output.gate());
        layer.operands.iter().map(|o| o.gate()).chain(roots).for_each(|gate| is_read[gate] = true);
        layer.leaves = (1..first_and).filter(|&gate| is_read[gate]).collect();
        let mut is_inner = vec![false; n_gates];
        layer.gates.iter().for_each(|&gate| is_inner[gate as usize] = true);
        layer.cut = (first_and..n_gates).filter(|&gate| is_read[gate] && !is_inner[gate]).collect();
        layer.find_readers(n_gates);
        layer
    }

    /// Leaves only the conjunctions that are near an output.
    fn cut_off(&mut self, outputs: &[Signal], max_level: u32, n_gates: usize) {
        let mut levels = vec![u32::MAX; n_gates];
        outputs.iter().for_each(|output| levels[output.gate()] = 1);
        for conjunction in (0..self.gates.len()).rev() {
            let level = levels[self.gates[conjunction] as usize].saturating_add(1);
            for operand in self.operands_of(conjunction) {
                levels[operand.gate()] = levels[operand.gate()].min(level);
            }
        }
        let (mut gates, mut starts, mut operands) = (Vec::new(), vec![0], Vec::new());
        for (conjunction, &gate) in self.gates.iter().enumerate() {
            if levels[gate as usize] <= max_level {
                gates.push(gate);
                operands.extend_from_slice(self.operands_of(conjunction));
                starts.push(operands.len() as u32);
            }
        }
        (self.gates, self.starts, self.operands) = (gates, starts, operands);
    }

    fn find_readers(&mut self, n_gates: usize) {
        let mut starts = vec![0_u32; n_gates + 1];
        for operand in &self.operands {
            starts[operand.gate() + 1] += 1;
        }
        for gate in 0..n_gates {
            starts[gate + 1] += starts[gate];
        }
        let mut next = starts.clone();
        let mut readers = vec![0; self.operands.len()];
        for conjunction in 0..self.gates.len() {
            for operand in self.operands_of(conjunction) {
                let place = &mut next[operand.gate()];
                readers[*place as usize] = conjunction as u32;
                *place += 1;
            }
        }
        self.readers = readers;
        self.reader_starts = starts;
    }

    /// The fluents that are read.
    pub(super) fn fluents(&self, circuit: &Circuit) -> Vec<usize> {
        self.leaves
            .iter()
            .filter(|&&gate| gate < circuit.first_input())
            .map(|&gate| gate - 1)
            .collect()
    }

    fn operands_of(&self, conjunction: usize) -> &[Signal] {
        &self.operands[self.starts[conjunction] as usize..self.starts[conjunction + 1] as usize]
    }

    fn readers_of(&self, gate: usize) -> &[u32] {
        &self.readers[self.reader_starts[gate] as usize..self.reader_starts[gate + 1] as usize]
    }

    /// Works out all conjunctions from what the leaves are, by gate. Stops early if `is_over` says so.
    pub(super) fn work_out(
        &self,
        formulas: &mut Formulas,
        values: &mut [Formula],
        is_over: &mut dyn FnMut(&Formulas) -> bool,
    ) -> bool {
        let mut list = Vec::new();
        for (conjunction, &gate) in self.gates.iter().enumerate() {
            values[gate as usize] = self.conjunction(conjunction, formulas, values, &mut list);
            if conjunction % LOOKED_AT == 0 && is_over(formulas) {
                return false;
            }
        }
        !is_over(formulas)
    }

    fn conjunction(
        &self,
        conjunction: usize,
        formulas: &mut Formulas,
        values: &[Formula],
        list: &mut Vec<Formula>,
    ) -> Formula {
        list.clear();
        for &signal in self.operands_of(conjunction) {
            match at(values, signal) {
                Formula::FALSE => return Formula::FALSE,
                Formula::TRUE => {}
                formula => list.push(formula),
            }
        }
        formulas.and(list)
    }

    /// Works out what becomes different when these gates do, and writes down what was there before. If `is_over` says so it
    /// stops early, and then neither the values nor `again` are of any use.
    pub(super) fn work_out_again(
        &self,
        formulas: &mut Formulas,
        values: &mut [Formula],
        changes: &[(usize, Formula)],
        again: &mut Again,
        is_over: &mut dyn FnMut(&Formulas) -> bool,
    ) -> bool {
        let Again { queue, is_queued, undo, list } = again;
        undo.clear();
        is_queued.resize(self.gates.len(), false);
        let push =
            |gate: usize, queue: &mut BinaryHeap<Reverse<u32>>, is_queued: &mut Vec<bool>| {
                for &reader in self.readers_of(gate) {
                    if !std::mem::replace(&mut is_queued[reader as usize], true) {
                        queue.push(Reverse(reader));
                    }
                }
            };
        for &(gate, formula) in changes {
            if values[gate] != formula {
                undo.push((gate, values[gate]));
                values[gate] = formula;
                push(gate, queue, is_queued);
            }
        }
        let mut n_done = 0;
        while let Some(Reverse(conjunction)) = queue.pop() {
            n_done += 1;
            if n_done % LOOKED_AT == 0 && is_over(formulas) {
                return false;
            }
            is_queued[conjunction as usize] = false;
            let gate = self.gates[conjunction as usize] as usize;
            let formula = self.conjunction(conjunction as usize, formulas, values, list);
            if formula != values[gate] {
                undo.push((gate, values[gate]));
                values[gate] = formula;
                push(gate, queue, is_queued);
            }
        }
        true
    }
}

/// Memory for working out again, and what to undo afterwards.
#[derive(Default)]
pub(super) struct Again {
    queue: BinaryHeap<Reverse<u32>>,
    is_queued: Vec<bool>,
    /// What the gates were that have changed.
    pub(super) undo: Vec<(usize, Formula)>,
    list: Vec<Formula>,
}

impl Again {
    /// Puts everything back.
    pub(super) fn undo(&mut self, values: &mut [Formula]) {
        // A gate changes once, since operands come first; but a leaf may have been told twice.
        for (gate, formula) in self.undo.drain(..).rev() {
            values[gate] = formula;
        }
    }
}

/// The formula of a signal.
#[inline]
pub(super) fn at(values: &[Formula], signal: Signal) -> Formula {
    values[signal.gate()].negated_if(signal.is_inverted())
}
