//! Removes base bits that nothing depends on.

use super::sweep::sweep;
use crate::{Circuit, Deadline, Signal};

/// Fixes to false the base bits on which legality, rejection, the end of play and goals never
/// depend, and drops percepts.
///
/// For playouts only. Play is the same but the states differ, so this is not one of the
/// [`PASSES`](super::PASSES).
pub(crate) fn forget_unread(circuit: &Circuit) -> Circuit {
    let first_and = circuit.first_and();
    let mut read = vec![false; circuit.n_gates()];
    let asked = circuit.outputs.state_signals().chain([circuit.outputs.rejected]);
    let mut stack: Vec<usize> = asked.map(Signal::gate).collect();
    while let Some(gate) = stack.pop() {
        if std::mem::replace(&mut read[gate], true) {
            continue;
        }
        if let Some(and) = gate.checked_sub(first_and) {
            stack.extend(circuit.ands[and].iter().map(|operand| operand.gate()));
        } else if (1..circuit.first_input()).contains(&gate) {
            stack.push(circuit.outputs.next[gate - 1].gate());
        }
    }
    let mut result = circuit.clone();
    result.outputs.percepts.iter_mut().for_each(Vec::clear);
    for (bit, next) in result.outputs.next.iter_mut().enumerate() {
        if !read[1 + bit] {
            *next = Signal::FALSE;
            result.initial[bit] = false;
        }
    }
    sweep(&result, Deadline::NEVER).expect("there is no deadline")
}
