//! Evaluates a circuit at one state for 64 joint moves at once.

use agon_circuit::{Circuit, Signal};

/// The values of all gates, with one bit for each joint move.
pub(super) struct Evaluator<'a> {
    circuit: &'a Circuit,
    values: Vec<u64>,
}

/// A state as packed bits.
pub(super) type State = Box<[u64]>;

impl<'a> Evaluator<'a> {
    pub(super) fn new(circuit: &'a Circuit) -> Evaluator<'a> {
        Evaluator { circuit, values: vec![0; circuit.n_gates()] }
    }

    /// Returns the initial state.
    pub(super) fn initial(&self) -> State {
        let initial = &self.circuit.initial;
        pack(initial.len(), |bit| initial[bit])
    }

    /// Goes to a state, without moves. Signals that depend on the state alone have their values.
    pub(super) fn go_to(&mut self, state: &State) {
        let first_input = self.circuit.first_input();
        for bit in 0..self.circuit.base.len() {
            let is_set = state[bit / 64] >> (bit % 64) & 1 == 1;
            self.values[1 + bit] = if is_set { u64::MAX } else { 0 };
        }
        self.values[first_input..self.circuit.first_and()].fill(0);
        self.run();
    }

    /// Makes up to 64 joint moves at the current state. Each is a list of move numbers by role.
    pub(super) fn moves(&mut self, joints: &[Vec<usize>]) {
        debug_assert!(joints.len() <= 64, "there is one bit for each joint move");
        let first_input = self.circuit.first_input();
        self.values[first_input..self.circuit.first_and()].fill(0);
        for (lane, joint) in joints.iter().enumerate() {
            for (role, &choice) in self.circuit.role_ids().zip(joint) {
                self.values[self.circuit.inputs(role).start + choice] |= 1 << lane;
            }
        }
        self.run();
    }

    fn run(&mut self) {
        let first_and = self.circuit.first_and();
        for (index, &[a, b]) in self.circuit.ands.iter().enumerate() {
            self.values[first_and + index] = self.lanes(a) & self.lanes(b);
        }
    }

    fn lanes(&self, signal: Signal) -> u64 {
        let value = self.values[signal.gate()];
        if signal.is_inverted() { !value } else { value }
    }

    /// Returns the value of a signal that depends on the state alone.
    pub(super) fn holds(&self, signal: Signal) -> bool {
        self.lanes(signal) & 1 == 1
    }

    /// Returns the state after the joint move of this number.
    pub(super) fn next(&self, lane: usize) -> State {
        let next = &self.circuit.outputs.next;
        pack(next.len(), |bit| self.lanes(next[bit]) >> lane & 1 == 1)
    }

    /// Returns the numbers of the legal moves of each role.
    pub(super) fn legal(&self) -> Vec<Vec<usize>> {
        let of_role = |legal: &Vec<Signal>| {
            (0..legal.len()).filter(|&choice| self.holds(legal[choice])).collect()
        };
        self.circuit.outputs.legal.iter().map(of_role).collect()
    }

    /// Returns the texts of a joint move.
    pub(super) fn texts(&self, joint: &[usize]) -> Vec<String> {
        let roles = self.circuit.roles.iter();
        roles.zip(joint).map(|(role, &choice)| role.moves[choice].clone()).collect()
    }
}

fn pack(n_bits: usize, is_set: impl Fn(usize) -> bool) -> State {
    let mut words = vec![0; n_bits.div_ceil(64).max(1)].into_boxed_slice();
    for bit in (0..n_bits).filter(|&bit| is_set(bit)) {
        words[bit / 64] |= 1 << (bit % 64);
    }
    words
}
