//! Rewriting, sharing and removal of dead logic, by rebuilding a circuit gate by gate.

use crate::{Builder, Circuit, Deadline, Signal};

/// Rebuilds the live gates through [`Builder`] until that saves nothing.
///
/// This propagates constants, merges duplicates, absorbs and removes dead logic to a fixed point.
pub(crate) fn sweep(circuit: &Circuit, deadline: Deadline<'_>) -> Option<Circuit> {
    let mut result = rebuild(circuit, deadline, |signal| signal)?;
    loop {
        // At the deadline, the last complete result is kept.
        let Some(again) = rebuild(&result, deadline, |signal| signal) else { return Some(result) };
        if again.ands.len() >= result.ands.len() {
            return Some(result);
        }
        result = again;
    }
}

/// Rebuilds the circuit with its leaves (base bits and inputs, plain) replaced and without dead
/// gates. Returns `None` if the deadline passes.
pub(super) fn rebuild(
    circuit: &Circuit,
    deadline: Deadline<'_>,
    mut leaf: impl FnMut(Signal) -> Signal,
) -> Option<Circuit> {
    let live = circuit.cone(circuit.outputs.signals());
    let mut builder = Builder::like(circuit);
    let mut map = vec![Signal::FALSE; circuit.n_gates()];
    for (gate, to) in map.iter_mut().enumerate().take(circuit.first_and()).skip(1) {
        *to = leaf(Signal::of_gate(gate));
    }
    let to = |map: &[Signal], signal: Signal| map[signal.gate()].inverted_if(signal.is_inverted());
    for (gate, &[a, b]) in (circuit.first_and()..).zip(&circuit.ands) {
        if deadline.has_passed_at(gate) {
            return None;
        }
        if live[gate] {
            map[gate] = builder.and(to(&map, a), to(&map, b));
        }
    }
    // Simplification may leave gates behind that are not read any more.
    Some(drop_dead(&builder.finish(circuit.outputs.map(|signal| to(&map, signal)))))
}

/// Returns the circuit without the gates that no output depends on.
pub(super) fn drop_dead(circuit: &Circuit) -> Circuit {
    let live = circuit.cone(circuit.outputs.signals());
    let first_and = circuit.first_and();
    let mut number: Vec<usize> = (0..circuit.n_gates()).collect();
    let mut ands = Vec::new();
    let to = |number: &[usize], signal: Signal| {
        Signal::of_gate(number[signal.gate()]).inverted_if(signal.is_inverted())
    };
    for (gate, &[a, b]) in (first_and..).zip(&circuit.ands) {
        if live[gate] {
            number[gate] = first_and + ands.len();
            // Numbers keep their order, so operands stay sorted.
            ands.push([to(&number, a), to(&number, b)]);
        }
    }
    Circuit { ands, outputs: circuit.outputs.map(|signal| to(&number, signal)), ..circuit.clone() }
}
