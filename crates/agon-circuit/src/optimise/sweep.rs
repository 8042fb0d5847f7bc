//! Rewriting, sharing and dead logic: a circuit built anew, gate by gate, from its outputs' point of view.

use crate::{Builder, Circuit, Deadline, Signal};

/// Rebuilds the live gates through [`Builder`] until that saves nothing: constants, duplicates, absorption and dead
/// logic to a fixpoint.
pub fn sweep(circuit: &Circuit, deadline: Deadline) -> Option<Circuit> {
    let mut result = rebuild(circuit, deadline, |signal| signal)?;
    loop {
        // Another time round is not worth losing the first.
        let Some(again) = rebuild(&result, deadline, |signal| signal) else { return Some(result) };
        if again.ands.len() >= result.ands.len() {
            return Some(result);
        }
        result = again;
    }
}

/// The circuit with its leaves (base bits and inputs, plain) replaced, without its dead gates. `None` if that takes too long.
pub(super) fn rebuild(
    circuit: &Circuit,
    deadline: Deadline,
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
    // Simplification may have left gates behind that nobody reads any more.
    Some(drop_dead(&builder.finish(circuit.outputs.map(|signal| to(&map, signal)))))
}

/// The circuit without the gates that no output depends on.
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
