//! The part of a circuit that some outputs depend on, as n-ary conjunctions. It is computed into
//! formulas once as a whole, and then for each move only where the move makes a difference.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use agon_circuit::{Circuit, Signal};

use super::formula::{Formula, Formulas};

/// Maximum width of a conjunction that gates with a single reader are merged into.
const MAX_WIDTH: u8 = 16;

/// Number of conjunctions between two checks of the limits: reading the clock takes as long as
/// computing one.
const CHECK_INTERVAL: usize = 256;

/// The cone of some signals. A gate with a single reader that reads it without negation is merged
/// into its reader.
pub(super) struct Layer {
    /// The gates of the conjunctions in ascending order: operands come first.
    gates: Vec<u32>,
    /// By conjunction: where its operands start.
    starts: Vec<u32>,
    operands: Vec<Signal>,
    /// By gate: where the conjunctions that read it start in `readers`.
    reader_starts: Vec<u32>,
    readers: Vec<u32>,
    /// The base bits and inputs that are read, as gates.
    pub(super) leaves: Vec<usize>,
    /// Conjunctions that are read but not computed because they are too deep, as gates.
    pub(super) cut: Vec<usize>,
}

impl Layer {
    /// Builds the layer of some outputs. Conjunctions that are more than `max_level` readers away
    /// from every output are cut off.
    pub(super) fn new(circuit: &Circuit, outputs: &[Signal], max_level: Option<u32>) -> Layer {
        let first_and = circuit.first_and();
        let n_gates = circuit.n_gates();
        let cone = Cone::new(circuit, outputs);
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
            if !cone.in_cone[gate] || cone.n_readers[gate] < 2 {
                continue;
            }
            layer.gates.push(gate as u32);
            left.push(Signal::of_gate(gate));
            while let Some(signal) = left.pop() {
                if signal.gate() == gate || cone.is_part(signal, first_and) {
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

    /// Removes the conjunctions that are too far from every output.
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

    /// Returns the fluents that are read.
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

    /// Computes all conjunctions from the formulas of the leaves, by gate. Returns `false` if
    /// `is_over` stopped it.
    pub(super) fn compute(
        &self,
        formulas: &mut Formulas,
        values: &mut [Formula],
        is_over: &mut dyn FnMut(&Formulas) -> bool,
    ) -> bool {
        let mut list = Vec::new();
        for (conjunction, &gate) in self.gates.iter().enumerate() {
            values[gate as usize] = self.conjunction(conjunction, formulas, values, &mut list);
            if conjunction % CHECK_INTERVAL == 0 && is_over(formulas) {
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

    /// Recomputes what changes if these gates change, and records the previous formulas. Returns
    /// `false` if `is_over` stopped it; the values and `again` are then unusable.
    pub(super) fn recompute(
        &self,
        formulas: &mut Formulas,
        values: &mut [Formula],
        changes: &[(usize, Formula)],
        again: &mut Recomputation,
        is_over: &mut dyn FnMut(&Formulas) -> bool,
    ) -> bool {
        let Recomputation { queue, is_queued, undo, list } = again;
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
            if n_done % CHECK_INTERVAL == 0 && is_over(formulas) {
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

/// The gates that some outputs depend on.
struct Cone {
    in_cone: Vec<bool>,
    /// By gate: 0 without a reader, 1 with a single reader without negation, 2 otherwise and for
    /// outputs. Gates with 1 are merged into their reader.
    n_readers: Vec<u8>,
}

impl Cone {
    fn new(circuit: &Circuit, outputs: &[Signal]) -> Cone {
        let first_and = circuit.first_and();
        let n_gates = circuit.n_gates();
        let mut cone = Cone { in_cone: vec![false; n_gates], n_readers: vec![0; n_gates] };
        for output in outputs {
            cone.in_cone[output.gate()] = true;
            cone.n_readers[output.gate()] = 2;
        }
        for gate in (first_and..n_gates).rev() {
            if cone.in_cone[gate] {
                for operand in circuit.ands[gate - first_and] {
                    cone.in_cone[operand.gate()] = true;
                    let more = if operand.is_inverted() { 2 } else { 1 };
                    let n_readers = &mut cone.n_readers[operand.gate()];
                    *n_readers = (*n_readers + more).min(2);
                }
            }
        }
        cone.split_wide(circuit);
        cone
    }

    /// Keeps gates with a single reader separate where the merged conjunction would be too wide.
    ///
    /// Wide conjunctions stay trees: if a move changes one of a thousand operands, only its branch
    /// is recomputed.
    fn split_wide(&mut self, circuit: &Circuit) {
        let first_and = circuit.first_and();
        let mut widths = vec![1_u8; circuit.n_gates()];
        for gate in (first_and..circuit.n_gates()).filter(|&gate| self.in_cone[gate]) {
            let operands = circuit.ands[gate - first_and];
            let is_part = operands.map(|operand| self.is_part(operand, first_and));
            let width = |(operand, is_part): (&Signal, &bool)| {
                if *is_part { widths[operand.gate()] } else { 1 }
            };
            let mut all = operands.iter().zip(&is_part).map(width).sum::<u8>();
            if all > MAX_WIDTH {
                for (operand, _) in operands.iter().zip(is_part).filter(|(_, is_part)| *is_part) {
                    self.n_readers[operand.gate()] = 2;
                }
                all = 2;
            }
            widths[gate] = all;
        }
    }

    /// Returns whether an operand is merged into its reader.
    fn is_part(&self, operand: Signal, first_and: usize) -> bool {
        operand.gate() >= first_and && !operand.is_inverted() && self.n_readers[operand.gate()] < 2
    }
}

/// Scratch memory for recomputation, and the log for undoing it.
#[derive(Default)]
pub(super) struct Recomputation {
    queue: BinaryHeap<Reverse<u32>>,
    is_queued: Vec<bool>,
    /// The gates that have changed, with their previous formulas.
    pub(super) undo: Vec<(usize, Formula)>,
    list: Vec<Formula>,
}

impl Recomputation {
    /// Restores the previous formulas.
    pub(super) fn undo(&mut self, values: &mut [Formula]) {
        // A gate changes only once, because operands come first. A leaf, however, may be in the
        // list of changes twice.
        for (gate, formula) in self.undo.drain(..).rev() {
            values[gate] = formula;
        }
    }
}

/// Returns the formula of a signal.
#[inline]
pub(super) fn at(values: &[Formula], signal: Signal) -> Formula {
    values[signal.gate()].negated_if(signal.is_inverted())
}
