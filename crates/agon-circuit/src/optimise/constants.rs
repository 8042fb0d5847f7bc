//! Replaces base bits that never change, and moves that are never legal.

use super::sweep::rebuild;
use crate::{Circuit, Deadline, Signal};

/// Replaces by constants the base bits that always keep their initial value, the inputs of moves
/// that are never legal, and the input of a role's only move.
///
/// The bits are found by propagation. At first all base bits are assumed never to change. The
/// assumption is retracted for each bit whose next value is then not known to be the initial one,
/// until nothing has to be retracted. A gate is retracted at most once, so the time is linear.
pub(crate) fn fold_constants(circuit: &Circuit, deadline: Deadline<'_>) -> Option<Circuit> {
    let known = known_values(circuit);
    let value_of = |signal: Signal| known[signal.gate()].map(|value| value != signal.is_inverted());
    let mut result =
        rebuild(circuit, deadline, |leaf| value_of(leaf).map_or(leaf, Signal::constant))?;
    for (bit, next) in result.outputs.next.iter_mut().enumerate() {
        if let Some(value) = value_of(circuit.base(bit)) {
            *next = Signal::constant(value);
        }
    }
    Some(result)
}

/// Returns, by gate, its value if that is the same at all reachable states and moves.
fn known_values(circuit: &Circuit) -> Vec<Option<bool>> {
    let n_gates = circuit.n_gates();
    let mut known: Vec<Option<bool>> = vec![None; n_gates];
    known[0] = Some(false);
    for (bit, &value) in circuit.initial.iter().enumerate() {
        known[1 + bit] = Some(value);
    }
    for role in circuit.role_ids() {
        let legal = &circuit.outputs.legal[role.index()];
        let mut possible =
            circuit.inputs(role).zip(legal).filter(|&(_, &legal)| legal != Signal::FALSE);
        let only_one = possible.next().filter(|_| possible.next().is_none());
        for (gate, &legal) in circuit.inputs(role).zip(legal) {
            if legal == Signal::FALSE {
                known[gate] = Some(false);
            } else if only_one.is_some() {
                known[gate] = Some(true);
            }
        }
    }
    for (gate, &[a, b]) in (circuit.first_and()..).zip(&circuit.ands) {
        known[gate] = conjunction(&known, a, b);
    }

    let readers = Readers::new(circuit);
    // The base bits that each gate drives.
    let mut next_of: Vec<(usize, usize)> =
        circuit.outputs.next.iter().enumerate().map(|(bit, next)| (next.gate(), bit)).collect();
    next_of.sort_unstable();

    let mut retracted: Vec<usize> = Vec::new();
    for (bit, next) in circuit.outputs.next.iter().enumerate() {
        let value = known[next.gate()].map(|value| value != next.is_inverted());
        if value != Some(circuit.initial[bit]) {
            known[1 + bit] = None;
            retracted.push(1 + bit);
        }
    }
    while let Some(gate) = retracted.pop() {
        for &reader in readers.of(gate) {
            let [a, b] = circuit.ands[reader as usize - circuit.first_and()];
            let reader = reader as usize;
            if known[reader].is_some() && conjunction(&known, a, b).is_none() {
                known[reader] = None;
                retracted.push(reader);
            }
        }
        let first = next_of.partition_point(|&(driver, _)| driver < gate);
        for &(_, bit) in next_of[first..].iter().take_while(|&&(driver, _)| driver == gate) {
            if known[1 + bit].take().is_some() {
                retracted.push(1 + bit);
            }
        }
    }
    known
}

/// Returns the conjunction in three-valued logic: false if either is false, else unknown if either
/// is unknown.
fn conjunction(known: &[Option<bool>], a: Signal, b: Signal) -> Option<bool> {
    let value = |signal: Signal| known[signal.gate()].map(|value| value != signal.is_inverted());
    match (value(a), value(b)) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        (None, _) | (_, None) => None,
    }
}

/// The AND gates that read each gate, in one flat array.
struct Readers {
    starts: Vec<u32>,
    gates: Vec<u32>,
}

impl Readers {
    fn new(circuit: &Circuit) -> Readers {
        let mut starts = vec![0_u32; circuit.n_gates() + 1];
        for operand in circuit.ands.iter().flatten() {
            starts[operand.gate() + 1] += 1;
        }
        for gate in 0..circuit.n_gates() {
            starts[gate + 1] += starts[gate];
        }
        let mut free = starts.clone();
        let mut gates = vec![0; 2 * circuit.ands.len()];
        for (gate, operands) in (circuit.first_and() as u32..).zip(&circuit.ands) {
            for operand in operands {
                gates[free[operand.gate()] as usize] = gate;
                free[operand.gate()] += 1;
            }
        }
        Readers { starts, gates }
    }

    fn of(&self, gate: usize) -> &[u32] {
        &self.gates[self.starts[gate] as usize..self.starts[gate + 1] as usize]
    }
}
