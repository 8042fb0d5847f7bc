//! Proves that at most one of a group of base bits is true at a time.
//!
//! A cell has one content, a piece stands in one place, a counter has one value. The rules do not
//! say so, but it follows from them by induction. The invariant is proved for a set of groups
//! together:
//!
//! > at every reachable state, at most one bit of each group is true.
//!
//! For the initial state this is tested. For the step, assume that it holds at a state and that
//! every role makes one legal move. For any two bits of a group, every way in which one can become
//! true must then contradict every way in which the other can. A way is one operand of the OR that
//! drives the bit's next value. It stands for the literals that must be true with it: all literals
//! of all operands of an AND, the common literals of the operands of an OR, and for a move the
//! literals of its legality. Two ways contradict each other if one has a literal whose negation the
//! other has, if they have different moves of the same role, or different bits of the same group.
//!
//! Groups for which this fails are dropped, and the others are tested again without them, until all
//! remaining groups are proved under the assumption of just the remaining groups. So the result is
//! an invariant. Groups may be missed, because ways are compared by few literals and the work is
//! limited.

use crate::{Circuit, Deadline, Gate, Signal};

/// Maximum number of literals that are kept for a signal. Fewer prove less and cost less.
const MAX_LITERALS: usize = 64;
/// Maximum number of ways in which one bit can become true.
const MAX_WAYS: usize = 600;
/// Maximum number of comparisons of two ways for one group.
const MAX_COMPARISONS: usize = 2_000_000;
/// Maximum number of comparisons of two ways in all.
const MAX_COMPARISONS_IN_ALL: usize = 40_000_000;
/// Maximum number of gates of a circuit. It limits the literals to 100 MB.
const MAX_GATES: usize = 200_000;

/// Returns the candidates of which provably at most one base bit is true at every reachable state.
///
/// A candidate is a list of base bits, each once. Returns none if the deadline passes before the
/// proof is complete.
pub fn prove_groups(
    circuit: &Circuit,
    candidates: Vec<Vec<usize>>,
    deadline: Deadline<'_>,
) -> Vec<Vec<usize>> {
    let mut groups = candidates;
    groups.retain(|group| group.iter().filter(|&&bit| circuit.initial[bit]).count() <= 1);
    if circuit.n_gates() > MAX_GATES || groups.is_empty() {
        return Vec::new();
    }
    let Some(implied) = Implied::new(circuit, deadline) else { return Vec::new() };
    let ways: Vec<Option<Vec<Vec<u32>>>> =
        circuit.outputs.next.iter().map(|&next| ways(circuit, &implied, next)).collect();
    groups.retain(|group| {
        let n_ways: Option<usize> = group.iter().map(|&bit| ways[bit].as_ref().map(Vec::len)).sum();
        n_ways.is_some_and(|n| n * n / 2 <= MAX_COMPARISONS)
    });
    let mut n_left = MAX_COMPARISONS_IN_ALL;
    loop {
        let assumed = Assumed::new(circuit, &groups);
        let n_before = groups.len();
        groups.retain(|group| assumed.is_kept(group, &ways, deadline, &mut n_left));
        if n_left == 0 {
            return Vec::new();
        }
        if groups.len() == n_before {
            return groups;
        }
    }
}

/// For each literal of a circuit: some literals that are true whenever it is, including itself.
/// Sorted.
struct Implied {
    literals: Vec<u32>,
    starts: Vec<usize>,
}

impl Implied {
    /// Computes the literals. Returns `None` if the deadline passes.
    fn new(circuit: &Circuit, deadline: Deadline<'_>) -> Option<Implied> {
        let mut implied = Implied { literals: Vec::new(), starts: vec![0] };
        // Legality depends on no moves, so the first round, which does not know what moves imply,
        // is complete for it.
        implied.fill(circuit, deadline, &|_, _| Vec::new())?;
        let legal: Vec<Vec<u32>> = circuit
            .outputs
            .legal
            .iter()
            .flatten()
            .map(|&signal| implied.of(signal).to_vec())
            .collect();
        implied = Implied { literals: Vec::new(), starts: vec![0] };
        let first_input = circuit.first_input();
        implied.fill(circuit, deadline, &|gate, is_true| match is_true {
            true => legal[gate - first_input].clone(),
            false => Vec::new(),
        })?;
        Some(implied)
    }

    fn fill(
        &mut self,
        circuit: &Circuit,
        deadline: Deadline<'_>,
        of_input: &dyn Fn(usize, bool) -> Vec<u32>,
    ) -> Option<()> {
        for gate in 0..circuit.n_gates() {
            if deadline.has_passed_at(gate) {
                return None;
            }
            for is_true in [true, false] {
                let own = literal(Signal::of_gate(gate).inverted_if(!is_true));
                let mut all = match circuit.gate(gate) {
                    Gate::False | Gate::Base(_) => Vec::new(),
                    Gate::Input(..) => of_input(gate, is_true),
                    Gate::And(a, b) if is_true => union(self.of(a), self.of(b)),
                    Gate::And(a, b) => intersection(self.of(!a), self.of(!b)),
                };
                if let Err(place) = all.binary_search(&own) {
                    all.insert(place, own);
                }
                // Low gates are bits and moves, which prove more than the gates above them.
                all.truncate(MAX_LITERALS);
                self.literals.extend(all);
                self.starts.push(self.literals.len());
            }
        }
        Some(())
    }

    fn of(&self, signal: Signal) -> &[u32] {
        let place = signal.literal();
        &self.literals[self.starts[place]..self.starts[place + 1]]
    }
}

fn literal(signal: Signal) -> u32 {
    u32::try_from(signal.literal()).expect("signals are numbers of 32 bits")
}

fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut all = [a, b].concat();
    all.sort_unstable();
    all.dedup();
    all
}

fn intersection(a: &[u32], b: &[u32]) -> Vec<u32> {
    a.iter().copied().filter(|literal| b.binary_search(literal).is_ok()).collect()
}

/// Returns the literals of each way in which a signal can become true, or `None` if there are too
/// many.
fn ways(circuit: &Circuit, implied: &Implied, signal: Signal) -> Option<Vec<Vec<u32>>> {
    let (mut open, mut ways) = (vec![signal], Vec::new());
    while let Some(signal) = open.pop() {
        if signal == Signal::FALSE {
            continue;
        }
        match circuit.gate(signal.gate()) {
            Gate::And(a, b) if signal.is_inverted() => open.extend([!a, !b]),
            Gate::And(..) | Gate::False | Gate::Base(_) | Gate::Input(..) => {
                ways.push(implied.of(signal).to_vec());
            }
        }
        if ways.len() + open.len() > MAX_WAYS {
            return None;
        }
    }
    Some(ways)
}

/// The literals that exclude each other by assumption: bits of a group, and moves of a role.
struct Assumed {
    /// For each base bit and input: the groups and roles it belongs to, sorted.
    sets_of: Vec<Vec<u32>>,
}

impl Assumed {
    fn new(circuit: &Circuit, groups: &[Vec<usize>]) -> Assumed {
        let mut sets_of = vec![Vec::new(); circuit.first_and()];
        for (set, role) in (0..).zip(circuit.role_ids()) {
            circuit.inputs(role).for_each(|input| sets_of[input].push(set));
        }
        let n_roles = u32::try_from(circuit.roles.len()).expect("fewer than 2^32 roles");
        for (set, group) in (n_roles..).zip(groups) {
            group.iter().for_each(|&bit| sets_of[circuit.base(bit).gate()].push(set));
        }
        Assumed { sets_of }
    }

    /// Returns whether at most one bit of the group is true in the next state. `n_left` is the
    /// number of comparisons left. At 0 the proof fails.
    fn is_kept(
        &self,
        group: &[usize],
        ways: &[Option<Vec<Vec<u32>>>],
        deadline: Deadline<'_>,
        n_left: &mut usize,
    ) -> bool {
        let mut all = Vec::new();
        for &bit in group {
            let of_bit = ways[bit].iter().flatten();
            all.extend(of_bit.map(|way| Way { bit, literals: way, choices: self.choices(way) }));
        }
        for (i, way) in all.iter().enumerate() {
            for other in all[i + 1..].iter().filter(|other| other.bit != way.bit) {
                *n_left =
                    if deadline.has_passed_at(*n_left) { 0 } else { n_left.saturating_sub(1) };
                if *n_left == 0 || !way.contradicts(other) {
                    return false;
                }
            }
        }
        true
    }

    /// Returns the sets of which a way has an element, with the element. Sorted.
    fn choices(&self, way: &[u32]) -> Vec<(u32, u32)> {
        let mut choices = Vec::new();
        for &literal in way.iter().filter(|&&literal| literal & 1 == 0) {
            if let Some(sets) = self.sets_of.get(literal as usize >> 1) {
                choices.extend(sets.iter().map(|&set| (set, literal)));
            }
        }
        choices.sort_unstable();
        choices
    }
}

/// A way in which a bit can become true.
struct Way<'a> {
    bit: usize,
    /// The literals that must be true with it, sorted.
    literals: &'a [u32],
    /// The sets of which it has an element, with the element. Sorted.
    choices: Vec<(u32, u32)>,
}

impl Way<'_> {
    fn contradicts(&self, other: &Way<'_>) -> bool {
        exclude(&self.choices, &other.choices) || contradict(self.literals, other.literals)
    }
}

/// Returns whether two lists of choices have different elements of the same set.
fn exclude(a: &[(u32, u32)], b: &[(u32, u32)]) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i].0 == b[j].0 && a[i].1 != b[j].1 {
            return true;
        }
        if a[i] <= b[j] { i += 1 } else { j += 1 }
    }
    false
}

/// Returns whether one list has the negation of a literal of the other.
fn contradict(a: &[u32], b: &[u32]) -> bool {
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] ^ 1 {
            return true;
        }
        // A literal and its negation are neighbours, so a literal that is skipped has no partner
        // later.
        if a[i] >> 1 <= b[j] >> 1 { i += 1 } else { j += 1 }
    }
    false
}
