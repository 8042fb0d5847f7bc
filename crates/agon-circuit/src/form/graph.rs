//! An and-inverter graph under construction. Gates are shared and simplified as they are added.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::{Circuit, Signal};

/// Two-input AND gates over leaves of any meaning.
///
/// Gate 0 is the constant false, then come the leaves, then the AND gates in topological order. See
/// [`Builder`](crate::Builder) for the simplifications.
#[derive(Clone)]
pub(crate) struct Graph {
    first_and: usize,
    ands: Vec<[Signal; 2]>,
    /// Indices into `ands`, found by operands. Invariant: every index is in it once.
    index: HashTable<u32>,
}

impl Graph {
    pub(crate) fn new(n_leaves: usize) -> Graph {
        Graph { first_and: 1 + n_leaves, ands: Vec::new(), index: HashTable::new() }
    }

    /// Returns the number of the first AND gate.
    pub(crate) fn first_and(&self) -> usize {
        self.first_and
    }

    pub(crate) fn leaf(&self, leaf: usize) -> Signal {
        debug_assert!(leaf + 1 < self.first_and, "leaves are dense");
        Signal::of_gate(1 + leaf)
    }

    pub(crate) fn ands(&self) -> &[[Signal; 2]] {
        &self.ands
    }

    pub(crate) fn into_ands(self) -> Vec<[Signal; 2]> {
        self.ands
    }

    /// Builds those AND gates of a circuit that are wanted.
    ///
    /// `map` says by gate of the circuit which signal it is here. The caller sets the entries of
    /// constants, base bits and inputs.
    pub(crate) fn embed(
        &mut self,
        circuit: &Circuit,
        map: &mut [Signal],
        is_wanted: impl Fn(usize) -> bool,
    ) {
        for (gate, &[a, b]) in (circuit.first_and()..).zip(&circuit.ands) {
            if is_wanted(gate) {
                let [a, b] =
                    [a, b].map(|signal| map[signal.gate()].inverted_if(signal.is_inverted()));
                map[gate] = self.and(a, b);
            }
        }
    }

    /// Returns the operands of the AND gate that drives a signal, inverted or not.
    #[inline]
    pub(crate) fn operands(&self, signal: Signal) -> Option<[Signal; 2]> {
        signal.gate().checked_sub(self.first_and).map(|and| self.ands[and])
    }

    /// Returns the signal that both hold.
    pub(crate) fn and(&mut self, a: Signal, b: Signal) -> Signal {
        match self.simplify(a, b) {
            Simplified::To(signal) => signal,
            Simplified::Gate(a, b) => self.hashed(a, b),
        }
    }

    /// Returns the signal that at least one holds.
    pub(crate) fn or(&mut self, a: Signal, b: Signal) -> Signal {
        !self.and(!a, !b)
    }

    /// Returns the signal that exactly one holds.
    pub(crate) fn xor(&mut self, a: Signal, b: Signal) -> Signal {
        let both = self.and(a, b);
        let neither = self.and(!a, !b);
        self.and(!both, !neither)
    }

    /// Returns the signal that is `then` if `condition` holds, else `otherwise`.
    pub(crate) fn choose(&mut self, condition: Signal, then: Signal, otherwise: Signal) -> Signal {
        let yes = self.and(condition, then);
        let no = self.and(!condition, otherwise);
        self.or(yes, no)
    }

    /// Returns the signal that all hold, as a balanced tree. True if there are none. Sorts.
    pub(crate) fn and_all(&mut self, signals: &[Signal]) -> Signal {
        let mut layer = signals.to_vec();
        layer.sort_unstable();
        layer.dedup();
        // Sorted, a wire and its negation are neighbours, and the constants come first.
        if layer.first() == Some(&Signal::FALSE) || layer.windows(2).any(|pair| pair[0] == !pair[1])
        {
            return Signal::FALSE;
        }
        while layer.len() > 1 {
            let n_pairs = layer.len() / 2;
            for pair in 0..n_pairs {
                layer[pair] = self.and(layer[2 * pair], layer[2 * pair + 1]);
            }
            if layer.len() % 2 == 1 {
                layer[n_pairs] = layer[layer.len() - 1];
            }
            layer.truncate(layer.len().div_ceil(2));
        }
        layer.pop().unwrap_or(Signal::TRUE)
    }

    /// Returns the signal that at least one holds, as a balanced tree. False if there are none.
    /// Sorts.
    pub(crate) fn or_all(&mut self, signals: &[Signal]) -> Signal {
        let negated: Vec<Signal> = signals.iter().map(|&signal| !signal).collect();
        !self.and_all(&negated)
    }

    /// Returns the gate with these operands, which is made if it does not exist.
    fn hashed(&mut self, a: Signal, b: Signal) -> Signal {
        let key = if a < b { [a, b] } else { [b, a] };
        let Graph { ands, index, first_and } = self;
        let entry = index.entry(
            hash(key[0], key[1]),
            |&and| ands[and as usize] == key,
            |&and| hash(ands[and as usize][0], ands[and as usize][1]),
        );
        let and = match entry {
            Entry::Occupied(found) => *found.get(),
            Entry::Vacant(place) => {
                let and = u32::try_from(ands.len()).expect("a circuit has fewer than 2^31 gates");
                ands.push(key);
                place.insert(and);
                and
            }
        };
        Signal::of_gate(*first_and + and as usize)
    }

    /// Simplifies a conjunction by two levels of logic.
    fn simplify(&self, mut a: Signal, mut b: Signal) -> Simplified {
        // Every iteration replaces an operand by one of a lower gate, so the loop ends.
        loop {
            if a == Signal::FALSE || b == Signal::FALSE || a == !b {
                return Simplified::To(Signal::FALSE);
            }
            if a == Signal::TRUE || a == b {
                return Simplified::To(b);
            }
            if b == Signal::TRUE {
                return Simplified::To(a);
            }
            let (below_a, below_b) = (self.operands(a), self.operands(b));
            let step = [(a, b, below_b), (b, a, below_a)]
                .into_iter()
                .find_map(|(x, y, below)| one_sided(x, y, below?))
                .or_else(|| two_sided(a, b, below_a?, below_b?));
            match step {
                None => return Simplified::Gate(a, b),
                Some(Step::To(signal)) => return Simplified::To(signal),
                Some(Step::Again(x, y)) => (a, b) = (x, y),
            }
        }
    }
}

/// Returns, by gate, whether one of the roots depends on it. Linear time.
///
/// The gates are those of a graph whose first AND gate is `first_and`.
pub(crate) fn cone(
    first_and: usize,
    ands: &[[Signal; 2]],
    roots: impl Iterator<Item = Signal>,
) -> Vec<bool> {
    let mut marked = vec![false; first_and + ands.len()];
    roots.for_each(|signal| marked[signal.gate()] = true);
    for (and, [a, b]) in ands.iter().enumerate().rev() {
        if marked[first_and + and] {
            marked[a.gate()] = true;
            marked[b.gate()] = true;
        }
    }
    marked
}

/// Returns a hash of two operands: one full multiplication with both halves combined, because
/// neighbouring gates differ in low bits only.
pub(crate) fn hash(a: Signal, b: Signal) -> u64 {
    let key = (a.literal() as u64) << 32 | b.literal() as u64;
    let product = u128::from(key ^ 0x2545_f491_4f6c_dd1d) * 0x9e37_79b9_7f4a_7c15;
    (product >> 64) as u64 ^ product as u64
}

/// A simplified conjunction: an existing signal, or a gate of these operands.
enum Simplified {
    To(Signal),
    Gate(Signal, Signal),
}

/// One step of simplification: a final signal, or another conjunction.
enum Step {
    To(Signal),
    Again(Signal, Signal),
}

/// Simplifies `x & y` where `y` is driven by `p & q`.
fn one_sided(x: Signal, y: Signal, [p, q]: [Signal; 2]) -> Option<Step> {
    if y.is_inverted() {
        // x & !(x & q) = x & !q;  x & !(!x & q) = x.
        if x == p {
            return Some(Step::Again(x, !q));
        }
        if x == q {
            return Some(Step::Again(x, !p));
        }
        return (x == !p || x == !q).then_some(Step::To(x));
    }
    // x & (x & q) = x & q;  x & (!x & q) = 0.
    if x == p || x == q {
        return Some(Step::To(y));
    }
    (x == !p || x == !q).then_some(Step::To(Signal::FALSE))
}

/// Simplifies `a & b` where `a` is driven by `p & q` and `b` by `r & s`.
fn two_sided(a: Signal, b: Signal, [p, q]: [Signal; 2], [r, s]: [Signal; 2]) -> Option<Step> {
    match (a.is_inverted(), b.is_inverted()) {
        // (p & q) & (!p & s) = 0.
        (false, false) => {
            (p == !r || p == !s || q == !r || q == !s).then_some(Step::To(Signal::FALSE))
        }
        (false, true) => clash(a, [p, q], [r, s]),
        (true, false) => clash(b, [r, s], [p, q]),
        // !(p & q) & !(p & !q) = !p.
        (true, true) => {
            if (p == r && q == !s) || (p == s && q == !r) {
                Some(Step::To(!p))
            } else if (q == s && p == !r) || (q == r && p == !s) {
                Some(Step::To(!q))
            } else {
                None
            }
        }
    }
}

/// Simplifies `a & !(r & s)` where `a = p & q`: what `a` implies is dropped from the inverted side.
fn clash(a: Signal, [p, q]: [Signal; 2], [r, s]: [Signal; 2]) -> Option<Step> {
    if p == !r || p == !s || q == !r || q == !s {
        return Some(Step::To(a));
    }
    if p == r || q == r {
        return Some(Step::Again(a, !s));
    }
    (p == s || q == s).then_some(Step::Again(a, !r))
}
