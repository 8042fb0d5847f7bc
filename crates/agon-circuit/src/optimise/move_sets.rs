//! Gates that read nothing but moves are sets of moves.

use crate::{Builder, Circuit, Signal};

use super::sweep::drop_dead;

/// Sets that take at most so many gates are built anew; larger ones keep their structure, which they may share. Where the
/// line is best drawn depends on how much is shared, so all of these are tried.
const SMALL: [usize; 4] = [4, 10, 24, 60];

/// Bits of sets in all, beyond which the circuit is left as it is.
const MAX_BITS: usize = 1 << 31;

/// Rebuilds what depends on moves alone.
///
/// Exactly one move of each role is made, so a function of one role's inputs is the set of the moves for which it is true:
/// NOT is complement, and of a set and its complement the smaller one is built. An OR of such functions of several roles is a
/// set for each. This is what collapses frame axioms that say "some move was made which does not touch this cell", however
/// the OR of those hundreds of moves is shared with other cells.
pub fn move_sets(circuit: &Circuit) -> Circuit {
    let Some(sets) = Sets::of(circuit) else { return circuit.clone() };
    let tries = SMALL.into_iter().map(|small| rebuild(circuit, &sets, small));
    let best = tries.min_by_key(|rebuilt| rebuilt.ands.len()).expect("there are some to try");
    if best.ands.len() < circuit.ands.len() { best } else { circuit.clone() }
}

fn rebuild(circuit: &Circuit, sets: &Sets, small: usize) -> Circuit {
    let mut builder = Builder::like(circuit);
    let mut map = vec![Signal::FALSE; circuit.n_gates()];
    for (gate, to) in map.iter_mut().enumerate().take(circuit.first_and()).skip(1) {
        *to = Signal::of_gate(gate);
    }
    let to = |map: &[Signal], signal: Signal| map[signal.gate()].inverted_if(signal.is_inverted());
    for (gate, &[a, b]) in (circuit.first_and()..).zip(&circuit.ands) {
        map[gate] = match sets.build(gate, small, &mut builder) {
            Some(signal) => signal,
            None => builder.and(to(&map, a), to(&map, b)),
        };
    }
    drop_dead(&builder.finish(circuit.outputs.map(|signal| to(&map, signal))))
}

/// The gates that are sets of moves.
struct Sets {
    /// By gate: where the set starts in `words`, and whether it is the set of the inverted gate.
    place: Vec<Option<(usize, bool)>>,
    /// A bit for each input of all roles, set after set.
    words: Vec<u64>,
    n_words: usize,
    first_input: usize,
    /// By role: its inputs, counted over all roles.
    roles: Vec<std::ops::Range<usize>>,
}

impl Sets {
    fn of(circuit: &Circuit) -> Option<Sets> {
        let first_input = circuit.first_input();
        let roles = circuit.role_ids().map(|role| {
            let gates = circuit.inputs(role);
            gates.start - first_input..gates.end - first_input
        });
        let mut sets = Sets {
            place: vec![None; circuit.n_gates()],
            words: Vec::new(),
            n_words: circuit.n_inputs().div_ceil(64),
            first_input,
            roles: roles.collect(),
        };
        for input in 0..circuit.n_inputs() {
            let mut set = vec![0; sets.n_words];
            set[input / 64] |= 1 << (input % 64);
            sets.enter(first_input + input, &set, false)?;
        }
        for (gate, &[a, b]) in (circuit.first_and()..).zip(&circuit.ands) {
            // The gate is false where either operand is: the inverted gate is the union of the inverted operands.
            if let (Some(mut union), Some(other)) = (sets.set_of(!a), sets.set_of(!b)) {
                union.iter_mut().zip(other).for_each(|(word, other)| *word |= other);
                sets.enter(gate, &union, true)?;
            }
        }
        Some(sets)
    }

    /// `None` if that is too much.
    fn enter(&mut self, gate: usize, set: &[u64], of_inverted: bool) -> Option<()> {
        self.place[gate] = Some((self.words.len(), of_inverted));
        self.words.extend_from_slice(set);
        (self.words.len() * 64 <= MAX_BITS).then_some(())
    }

    /// The moves for which a signal is true, if it is a union of sets, one for each role.
    fn set_of(&self, signal: Signal) -> Option<Vec<u64>> {
        let (start, of_inverted) = self.place[signal.gate()]?;
        let set = self.words[start..start + self.n_words].to_vec();
        if of_inverted == signal.is_inverted() { Some(set) } else { self.complement(&set) }
    }

    /// The complement of one role's set. A union over several roles has none: its complement is an intersection.
    fn complement(&self, set: &[u64]) -> Option<Vec<u64>> {
        let mut with_moves = self.roles.iter().filter(|role| members(set, role).next().is_some());
        let role = with_moves.next()?;
        if with_moves.next().is_some() {
            return None;
        }
        let mut complement = vec![0; self.n_words];
        for input in role.clone().filter(|&input| !contains(set, input)) {
            complement[input / 64] |= 1 << (input % 64);
        }
        Some(complement)
    }

    /// The gate built from its set. `None` if it is no set, or not a small one.
    fn build(&self, gate: usize, small: usize, builder: &mut Builder) -> Option<Signal> {
        let (start, of_inverted) = self.place[gate]?;
        let set = &self.words[start..start + self.n_words];
        let sizes = self.roles.iter().map(|role| (role, members(set, role).count()));
        let sizes: Vec<(&std::ops::Range<usize>, usize)> = sizes.collect();
        if sizes.iter().map(|(role, n)| (*n).min(role.len() - n)).sum::<usize>() > small {
            return None;
        }
        let mut parts = Vec::new();
        let mut whole_roles = Vec::new();
        let input = |input: usize| Signal::of_gate(self.first_input + input);
        for (role, n) in sizes {
            if n <= role.len() - n {
                parts.extend(members(set, role).map(input));
            } else {
                let others: Vec<Signal> =
                    role.clone().filter(|&other| !contains(set, other)).map(input).collect();
                whole_roles.push(!builder.or_all(&others));
            }
        }
        parts.extend(whole_roles);
        Some(builder.or_all(&parts).inverted_if(of_inverted))
    }
}

fn contains(set: &[u64], input: usize) -> bool {
    set[input / 64] >> (input % 64) & 1 == 1
}

fn members<'s>(set: &'s [u64], role: &std::ops::Range<usize>) -> impl Iterator<Item = usize> + use<'s> {
    role.clone().filter(|&input| contains(set, input))
}
