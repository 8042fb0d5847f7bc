//! A circuit at one state, which follows changes: positions of a search differ in a few facts from the one before.

use std::sync::Arc;

use agon_structures::rational::Rational;
use agon_toss::arena::LocationId;

use super::{Gate, GoalCircuit, Wire};

/// A circuit at one state. Invariant: `values` are those of all gates where the facts in `here` hold, and `sums` what the forms add up
/// to there.
#[derive(Clone, Debug)]
pub struct OneState {
    circuit: Arc<GoalCircuit>,
    /// By fact: its gate.
    gates_of_facts: Vec<u32>,
    /// The facts that hold.
    here: Vec<u32>,
    values: Vec<bool>,
    /// By form: its numerator.
    sums: Vec<i128>,
    /// Gates that have to be looked at again, a bit for each.
    waiting: Vec<u64>,
    /// By fact: whether it holds where we go. All false between calls.
    wanted: Vec<bool>,
}

impl OneState {
    /// At the state without facts.
    pub fn new(circuit: &Arc<GoalCircuit>) -> OneState {
        let n_gates = circuit.gates.len();
        let mut gates_of_facts = vec![0; circuit.facts.len()];
        let mut values: Vec<bool> = Vec::with_capacity(n_gates);
        for (at, gate) in circuit.gates.iter().enumerate() {
            let read = |wire: Wire| values[wire.gate()] != wire.is_negated();
            let value = match *gate {
                Gate::True => true,
                Gate::Fact(number) => {
                    gates_of_facts[number as usize] = at as u32;
                    false
                }
                // Gates come after those that they read.
                Gate::And(a, b) => read(a) && read(b),
            };
            values.push(value);
        }
        let holds = |wire: &&Wire| values[wire.gate()] != wire.is_negated();
        let sum = |form: &super::Form| {
            form.weighted.iter().fold(form.constant, |sum, (weight, wires)| {
                sum + weight * wires.iter().filter(holds).count() as i128
            })
        };
        let sums = circuit.forms.iter().map(sum).collect();
        OneState {
            circuit: Arc::clone(circuit),
            here: Vec::new(),
            wanted: vec![false; gates_of_facts.len()],
            gates_of_facts,
            values,
            sums,
            waiting: vec![0; n_gates.div_ceil(64)],
        }
    }

    /// The circuit.
    pub fn circuit(&self) -> &Arc<GoalCircuit> {
        &self.circuit
    }

    /// Goes to the state where these facts hold, and works out what changes.
    pub fn go_to(&mut self, facts: &[u32]) {
        facts.iter().for_each(|&fact| self.wanted[fact as usize] = true);
        let before = std::mem::take(&mut self.here);
        for &fact in &before {
            let gate = self.gates_of_facts[fact as usize] as usize;
            if !self.wanted[fact as usize] && self.values[gate] {
                self.flip(gate);
            }
        }
        for &fact in facts {
            // Told twice, a fact holds once.
            let is_new = std::mem::take(&mut self.wanted[fact as usize]);
            let gate = self.gates_of_facts[fact as usize] as usize;
            if is_new && !self.values[gate] {
                self.flip(gate);
            }
        }
        self.here = before;
        self.here.clear();
        self.here.extend_from_slice(facts);
        self.settle();
    }

    /// Looks at what waits, in the order of the gates: what is read is settled by then.
    fn settle(&mut self) {
        for word in 0..self.waiting.len() {
            // A gate may make a later one of the same word wait.
            while self.waiting[word] != 0 {
                let at = word * 64 + self.waiting[word].trailing_zeros() as usize;
                self.waiting[word] &= self.waiting[word] - 1;
                let Gate::And(a, b) = self.circuit.gates[at] else { continue };
                let read = |wire: Wire| self.values[wire.gate()] != wire.is_negated();
                if (read(a) && read(b)) != self.values[at] {
                    self.flip(at);
                }
            }
        }
    }

    fn flip(&mut self, gate: usize) {
        let holds = !self.values[gate];
        self.values[gate] = holds;
        for &(form, change) in self.circuit.counted.of(gate) {
            self.sums[form as usize] += if holds { change } else { -change };
        }
        for &reader in self.circuit.readers.of(gate) {
            self.waiting[reader as usize / 64] |= 1 << (reader % 64);
        }
    }

    /// What the state is worth to a player at a location.
    pub fn value(&self, location: LocationId, player: usize) -> Option<Rational> {
        let (sum, denominator) = self.sum(location, player);
        Rational::fraction(sum, denominator)
    }

    /// The same as the nearest machine number, or nearly so.
    pub fn number(&self, location: LocationId, player: usize) -> f64 {
        let (sum, denominator) = self.sum(location, player);
        sum as f64 / denominator as f64
    }

    fn sum(&self, location: LocationId, player: usize) -> (i128, i128) {
        let number = self.circuit.form_number(location, player);
        (self.sums[number], self.circuit.forms[number].denominator)
    }
}
