//! Rebuilds gates that read nothing but moves, as sets of moves.

use crate::{Builder, Circuit, Deadline, Signal};

use super::input_sets::{InputSets, Members, SetId};
use super::sweep::drop_dead;

/// Sizes below which a set is rebuilt. Larger sets keep their structure, which they may share. The
/// best threshold depends on how much is shared, so all of these are tried.
const SMALL: [usize; 4] = [4, 10, 24, 60];

/// Maximum number of nodes of sets visited per gate, on average. Beyond it no more sets are
/// computed. None of the public games examined takes more than 7.
const WORK_PER_GATE: usize = 32;

/// Maximum number of nodes visited in all. Each may take about 50 bytes.
const MAX_WORK: usize = 1 << 23;

/// Rebuilds gates that depend on moves alone.
///
/// Exactly one move of each role is made. So a function of one role's inputs is the set of the
/// moves for which it is true. NOT is the complement, and the smaller one of a set and its
/// complement is built. An OR of such functions of several roles is one set per role. This pass
/// collapses frame axioms of the form "some move was made which does not affect this cell", however
/// the OR of those hundreds of moves is shared with other cells.
pub(crate) fn move_sets(circuit: &Circuit, deadline: Deadline<'_>) -> Option<Circuit> {
    let sets = Sets::of(circuit, deadline)?;
    let mut best = None;
    let mut n_built = 0;
    for small in SMALL {
        // If no more sets are built than with the last threshold, the circuit is the same.
        let n_to_build =
            sets.place.iter().flatten().filter(|place| place.n_inputs <= small).count();
        if n_to_build == std::mem::replace(&mut n_built, n_to_build) {
            continue;
        }
        // At the deadline, the result of earlier thresholds is kept.
        let Some(rebuilt) = rebuild(circuit, &sets, small, deadline) else { break };
        if rebuilt.ands.len() < best.as_ref().unwrap_or(circuit).ands.len() {
            best = Some(rebuilt);
        }
    }
    Some(best.unwrap_or_else(|| circuit.clone()))
}

fn rebuild(
    circuit: &Circuit,
    sets: &Sets,
    small: usize,
    deadline: Deadline<'_>,
) -> Option<Circuit> {
    let mut builder = Builder::like(circuit);
    let mut map = vec![Signal::FALSE; circuit.n_gates()];
    for (gate, to) in map.iter_mut().enumerate().take(circuit.first_and()).skip(1) {
        *to = Signal::of_gate(gate);
    }
    let to = |map: &[Signal], signal: Signal| map[signal.gate()].inverted_if(signal.is_inverted());
    for (gate, &[a, b]) in (circuit.first_and()..).zip(&circuit.ands) {
        if deadline.has_passed_at(gate) {
            return None;
        }
        map[gate] = match sets.build(gate, small, &mut builder) {
            Some(signal) => signal,
            None => builder.and(to(&map, a), to(&map, b)),
        };
    }
    Some(drop_dead(&builder.finish(circuit.outputs.map(|signal| to(&map, signal)))))
}

/// The gates that are sets of moves.
struct Sets {
    /// By gate: its set, if it is one.
    place: Vec<Option<Place>>,
    sets: InputSets,
    first_input: usize,
}

/// A gate as a set.
#[derive(Copy, Clone)]
struct Place {
    set: SetId,
    /// Whether it is the set of the inverted gate.
    of_inverted: bool,
    /// Number of inputs needed to build it: the smaller one of the set and its complement, summed
    /// over roles.
    n_inputs: usize,
}

impl Sets {
    /// Finds the sets. Returns `None` if the deadline passes.
    fn of(circuit: &Circuit, deadline: Deadline<'_>) -> Option<Sets> {
        let first_input = circuit.first_input();
        let roles = circuit.role_ids().map(|role| {
            let gates = circuit.inputs(role);
            gates.start - first_input..gates.end - first_input
        });
        let mut sets = Sets {
            place: vec![None; circuit.n_gates()],
            sets: InputSets::new(roles.collect(), MAX_WORK.min(WORK_PER_GATE * circuit.n_gates())),
            first_input,
        };
        for input in 0..circuit.n_inputs() {
            let set = sets.sets.single(input);
            sets.enter(first_input + input, set, false);
        }
        for (gate, &[a, b]) in (circuit.first_and()..).zip(&circuit.ands) {
            if deadline.has_passed_at(gate) {
                return None;
            }
            // The gate is false where either operand is. So the inverted gate is the union of the
            // inverted operands.
            if let (Some(a), Some(b)) = (sets.set_of(!a), sets.set_of(!b))
                && let Some(union) = sets.sets.union(a, b)
            {
                sets.enter(gate, union, true);
            }
        }
        Some(sets)
    }

    fn enter(&mut self, gate: usize, set: SetId, of_inverted: bool) {
        let n_inputs = self.sets.n_to_build(set);
        self.place[gate] = Some(Place { set, of_inverted, n_inputs });
    }

    /// Returns the moves for which a signal is true, if it is known to be a union of one set per
    /// role. The complement of a union over several roles is not: it is an intersection.
    fn set_of(&mut self, signal: Signal) -> Option<SetId> {
        let Place { set, of_inverted, .. } = self.place[signal.gate()]?;
        if of_inverted == signal.is_inverted() { Some(set) } else { self.sets.complement(set) }
    }

    /// Builds a gate from its set. Returns `None` if it is not a set, or not a small one.
    fn build(&self, gate: usize, small: usize, builder: &mut Builder) -> Option<Signal> {
        let Place { set, of_inverted, n_inputs } = self.place[gate]?;
        if n_inputs > small {
            return None;
        }
        let signals = |inputs: Vec<usize>| {
            inputs.into_iter().map(|input| Signal::of_gate(self.first_input + input))
        };
        let mut parts = Vec::new();
        let mut whole_roles = Vec::new();
        for members in self.sets.members(set) {
            match members {
                Members::Just(inputs) => parts.extend(signals(inputs)),
                Members::AllBut(inputs) => {
                    let others: Vec<Signal> = signals(inputs).collect();
                    whole_roles.push(!builder.or_all(&others));
                }
            }
        }
        parts.extend(whole_roles);
        Some(builder.or_all(&parts).inverted_if(of_inverted))
    }
}
