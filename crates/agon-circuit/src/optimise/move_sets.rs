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
    /// By gate: its set, if it is one.
    place: Vec<Option<Place>>,
    /// A bit for each input of all roles, set after set.
    words: Vec<u64>,
    n_words: usize,
    first_input: usize,
    /// By role: its inputs, counted over all roles.
    roles: Vec<std::ops::Range<usize>>,
}

/// Where a set is.
#[derive(Copy, Clone)]
struct Place {
    /// Its first word.
    start: usize,
    /// Whether it is the set of the inverted gate.
    of_inverted: bool,
    /// The inputs it takes to build it: by role the smaller one of the set and its complement, summed.
    n_inputs: usize,
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
        let n_inputs =
            self.roles.iter().map(|role| count(set, role).min(role.len() - count(set, role))).sum();
        self.place[gate] = Some(Place { start: self.words.len(), of_inverted, n_inputs });
        self.words.extend_from_slice(set);
        (self.words.len() * 64 <= MAX_BITS).then_some(())
    }

    /// The moves for which a signal is true, if it is a union of sets, one for each role.
    fn set_of(&self, signal: Signal) -> Option<Vec<u64>> {
        let Place { start, of_inverted, .. } = self.place[signal.gate()]?;
        let set = self.words[start..start + self.n_words].to_vec();
        if of_inverted == signal.is_inverted() { Some(set) } else { self.complement(&set) }
    }

    /// The complement of one role's set. A union over several roles has none: its complement is an intersection.
    fn complement(&self, set: &[u64]) -> Option<Vec<u64>> {
        let mut with_moves =
            self.roles.iter().filter(|role| words(role).any(|(word, mask)| set[word] & mask != 0));
        let role = with_moves.next()?;
        if with_moves.next().is_some() {
            return None;
        }
        let mut complement = vec![0; self.n_words];
        for (word, mask) in words(role) {
            complement[word] |= !set[word] & mask;
        }
        Some(complement)
    }

    /// The gate built from its set. `None` if it is no set, or not a small one.
    fn build(&self, gate: usize, small: usize, builder: &mut Builder) -> Option<Signal> {
        let Place { start, of_inverted, n_inputs } = self.place[gate]?;
        if n_inputs > small {
            return None;
        }
        let set = &self.words[start..start + self.n_words];
        let mut parts = Vec::new();
        let mut whole_roles = Vec::new();
        let input = |input: usize| Signal::of_gate(self.first_input + input);
        for role in &self.roles {
            let n = count(set, role);
            if n <= role.len() - n {
                parts.extend(members(set, role, 0).map(input));
            } else {
                let others: Vec<Signal> = members(set, role, !0).map(input).collect();
                whole_roles.push(!builder.or_all(&others));
            }
        }
        parts.extend(whole_roles);
        Some(builder.or_all(&parts).inverted_if(of_inverted))
    }
}

/// The inputs of a role in a set or, with all bits of `inverted` set, outside of it.
fn members<'s>(
    set: &'s [u64],
    role: &std::ops::Range<usize>,
    inverted: u64,
) -> impl Iterator<Item = usize> + use<'s> {
    words(role).flat_map(move |(word, mask)| {
        let mut left = (set[word] ^ inverted) & mask;
        std::iter::from_fn(move || {
            let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(64 * word + bit)
        })
    })
}

fn count(set: &[u64], role: &std::ops::Range<usize>) -> usize {
    words(role).map(|(word, mask)| (set[word] & mask).count_ones() as usize).sum()
}

/// The words in which a role's inputs lie, each with the bits that are the role's. Sets are as long as there are moves, and there are
/// as many of them as gates: looked at bit by bit they took most of the time of all passes.
fn words(role: &std::ops::Range<usize>) -> impl Iterator<Item = (usize, u64)> + use<> {
    let (start, end) = (role.start, role.end);
    (start / 64..end.div_ceil(64)).map(move |word| {
        let below = if 64 * word < start { !0 << (start - 64 * word) } else { !0 };
        let above = if 64 * word + 64 > end { !0 >> (64 * word + 64 - end) } else { !0 };
        (word, below & above)
    })
}
