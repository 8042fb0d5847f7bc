//! Circuits whose outputs are weighted sums, for evaluation functions over the facts of a state.
//!
//! A [`WeightedCircuit`] has base bits, gates over them, and sums: a constant plus an integer
//! weight for each of a number of signals that are true. It is built by a [`WeightedBuilder`] and
//! evaluated in two ways that give the same numbers:
//!
//! - [`WeightedState`] stands at one state and follows changes to the next one by the event-driven
//!   net that also plays single games. States of a search differ in a few bits from the one before.
//! - [`WeightedLanes`] computes 256 states at once by the same kernels as batches of games.
//!
//! Weights are exact integers. A caller with fractions brings them to a common denominator.
//!
//! ```
//! use std::sync::Arc;
//! use agon_circuit::weighted::{WeightedBuilder, WeightedState, WeightedSum};
//!
//! // 10 + 3 if both bits are true, - 2 if the second one is false.
//! let mut builder = WeightedBuilder::new();
//! let (a, b) = (builder.add_base(), builder.add_base());
//! let both = builder.and(a, b);
//! let sum = WeightedSum { constant: 10, parts: vec![(3, both), (-2, !b)] };
//! let circuit = Arc::new(builder.finish(vec![sum])?);
//!
//! let mut state = WeightedState::new(&circuit);
//! assert_eq!(state.value(0), 8);
//! state.go_to(&[0, 1]);
//! assert_eq!(state.value(0), 13);
//! # Ok::<(), agon_circuit::weighted::WeightOverflow>(())
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::form::graph::{Graph, cone};
use crate::run::events::{Kind, Logic, Net, NetState, Sink};
use crate::run::kernel::Kernel;
use crate::run::program::lower;
use crate::{Backend, Plane, Signal};

/// Maximum number of base bits. Their gates are reserved when a builder is made, so that base bits
/// may be added between gates.
const MAX_BASE: usize = 1 << 24;

/// Builds a weighted circuit gate by gate, with structural hashing and local simplification as in
/// [`Builder`](crate::Builder).
///
/// Signals are valid for the builder that made them. A base bit may be added at any time.
#[derive(Clone)]
pub struct WeightedBuilder {
    graph: Graph,
    n_base: usize,
}

/// A constant plus the weights of those signals that are true.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WeightedSum {
    /// The value if no signal is true.
    pub constant: i128,
    /// Weights with their signals. A signal may occur several times.
    pub parts: Vec<(i128, Signal)>,
}

/// The error of a sum whose absolute weights add up to more than a quarter of the range of `i128`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct WeightOverflow {
    /// The index of the sum.
    pub sum: usize,
}

impl fmt::Display for WeightOverflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the weights of sum {} are too large", self.sum)
    }
}

impl std::error::Error for WeightOverflow {}

impl Default for WeightedBuilder {
    fn default() -> WeightedBuilder {
        WeightedBuilder::new()
    }
}

impl WeightedBuilder {
    /// Returns a builder without base bits and gates.
    pub fn new() -> WeightedBuilder {
        WeightedBuilder { graph: Graph::new(MAX_BASE), n_base: 0 }
    }

    /// Adds a base bit. Base bits are numbered from 0 in the order in which they are added.
    ///
    /// # Panics
    /// If there are more than 2^24 base bits.
    pub fn add_base(&mut self) -> Signal {
        assert!(self.n_base < MAX_BASE, "a weighted circuit has at most 2^24 base bits");
        self.n_base += 1;
        self.graph.leaf(self.n_base - 1)
    }

    /// Returns the number of base bits.
    pub fn n_base(&self) -> usize {
        self.n_base
    }

    /// Returns the number of gates so far: the constant, base bits and AND gates.
    pub fn n_gates(&self) -> usize {
        1 + self.n_base + self.graph.ands().len()
    }

    /// Returns the signal that both hold.
    pub fn and(&mut self, a: Signal, b: Signal) -> Signal {
        self.graph.and(a, b)
    }

    /// Returns the signal that at least one holds.
    pub fn or(&mut self, a: Signal, b: Signal) -> Signal {
        self.graph.or(a, b)
    }

    /// Finishes the circuit.
    ///
    /// # Errors
    /// If the weights of a sum are so large that it could overflow.
    pub fn finish(self, sums: Vec<WeightedSum>) -> Result<WeightedCircuit, WeightOverflow> {
        let WeightedBuilder { graph, n_base } = self;
        let n_unused = graph.first_and() - 1 - n_base;
        let first_and = graph.first_and();
        let renumbered = |signal: Signal| match signal.gate() {
            gate if gate < first_and => signal,
            gate => Signal::of_gate(gate - n_unused).inverted_if(signal.is_inverted()),
        };
        let ands: Vec<[Signal; 2]> =
            graph.into_ands().iter().map(|operands| operands.map(renumbered)).collect();
        let merge = |(idx, sum): (usize, WeightedSum)| Form::new(idx, sum, renumbered);
        let forms = sums.into_iter().enumerate().map(merge).collect::<Result<Vec<_>, _>>()?;
        Ok(WeightedCircuit::new(n_base, ands, forms))
    }
}

/// A sum with its parts merged: each signal once, no constants, no weight of zero.
#[derive(Clone, Debug)]
struct Form {
    constant: i128,
    /// Signals by weight.
    weighted: Vec<(i128, Vec<Signal>)>,
}

impl Form {
    fn new(
        idx: usize,
        sum: WeightedSum,
        renumbered: impl Fn(Signal) -> Signal,
    ) -> Result<Form, WeightOverflow> {
        let overflow = || WeightOverflow { sum: idx };
        let mut by_signal: BTreeMap<Signal, i128> = BTreeMap::new();
        for (weight, signal) in sum.parts {
            let merged = by_signal.entry(renumbered(signal)).or_default();
            *merged = merged.checked_add(weight).ok_or_else(overflow)?;
        }
        by_signal.remove(&Signal::FALSE);
        let always = by_signal.remove(&Signal::TRUE).unwrap_or(0);
        let constant = sum.constant.checked_add(always).ok_or_else(overflow)?;
        let mut by_weight: BTreeMap<i128, Vec<Signal>> = BTreeMap::new();
        let mut bound = constant.unsigned_abs();
        for (signal, weight) in by_signal.into_iter().filter(|&(_, weight)| weight != 0) {
            bound = bound.checked_add(weight.unsigned_abs()).ok_or_else(overflow)?;
            by_weight.entry(weight).or_default().push(signal);
        }
        // Executors add without checks, and shift weights by the digits of counts.
        if bound > i128::MAX as u128 / 4 {
            return Err(overflow());
        }
        Ok(Form { constant, weighted: by_weight.into_iter().collect() })
    }
}

/// A circuit with weighted sums as outputs. Immutable: states share it through an [`Arc`].
#[derive(Debug)]
pub struct WeightedCircuit {
    n_base: usize,
    ands: Vec<[Signal; 2]>,
    forms: Vec<Form>,
    net: Net,
    /// By output of the net: the sum it counts for, and by how much the sum grows when the node
    /// behind it becomes true.
    counted: Vec<(u32, i128)>,
    /// The sums where all base bits are false.
    initial: Vec<i128>,
}

impl WeightedCircuit {
    fn new(n_base: usize, ands: Vec<[Signal; 2]>, forms: Vec<Form>) -> WeightedCircuit {
        let (mut roots, mut counted) = (Vec::new(), Vec::new());
        for (sum, form) in (0..).zip(&forms) {
            for (weight, signals) in &form.weighted {
                for &signal in signals {
                    roots.push((signal, counted.len() as u32));
                    counted.push((sum, if signal.is_inverted() { -weight } else { *weight }));
                }
            }
        }
        let used = cone(n_base + 1, &ands, roots.iter().map(|&(signal, _)| signal));
        let logic = Logic { n_leaves: n_base, ands: &ands, roots: &roots };
        let (net, values) = Net::new(&logic, |gate| used[gate].then_some(Kind::Look));
        let mut initial: Vec<i128> = forms.iter().map(|form| form.constant).collect();
        for (&(signal, root), _) in roots.iter().zip(values).filter(|&(_, value)| value) {
            let (sum, change) = counted[root as usize];
            initial[sum as usize] += if signal.is_inverted() { -change } else { change };
        }
        WeightedCircuit { n_base, ands, forms, net, counted, initial }
    }

    /// Returns the number of base bits.
    pub fn n_base(&self) -> usize {
        self.n_base
    }

    /// Returns the number of AND gates.
    pub fn n_ands(&self) -> usize {
        self.ands.len()
    }

    /// Returns the number of sums.
    pub fn n_sums(&self) -> usize {
        self.forms.len()
    }
}

/// A weighted circuit at one state, which follows changes.
///
/// Invariant: `net` has the values of all gates where the base bits in `known` are true, and `sums`
/// are the sums there.
#[derive(Clone, Debug)]
pub struct WeightedState {
    circuit: Arc<WeightedCircuit>,
    net: NetState,
    known: Vec<u64>,
    /// Memory for the state to go to. All zero between calls.
    wanted: Vec<u64>,
    sums: Vec<i128>,
}

/// Adds changed outputs to sums.
struct Sums<'a> {
    counted: &'a [(u32, i128)],
    sums: &'a mut [i128],
}

impl Sink for Sums<'_> {
    #[inline(always)]
    fn changed(&mut self, root: u32, value: bool) {
        let (sum, change) = self.counted[root as usize];
        self.sums[sum as usize] += if value { change } else { -change };
    }
}

impl WeightedState {
    /// Returns a state in which all base bits are false.
    pub fn new(circuit: &Arc<WeightedCircuit>) -> WeightedState {
        let n_words = circuit.n_base.div_ceil(64);
        WeightedState {
            net: circuit.net.state(),
            known: vec![0; n_words],
            wanted: vec![0; n_words],
            sums: circuit.initial.clone(),
            circuit: Arc::clone(circuit),
        }
    }

    /// Returns the circuit.
    pub fn circuit(&self) -> &Arc<WeightedCircuit> {
        &self.circuit
    }

    /// Goes to the state in which exactly these base bits are true, and computes what changes. A
    /// bit may be listed twice.
    pub fn go_to(&mut self, true_bits: &[u32]) {
        for &bit in true_bits {
            self.wanted[bit as usize / 64] |= 1 << (bit % 64);
        }
        let WeightedState { circuit, net, known, wanted, sums } = self;
        let mut sink = Sums { counted: &circuit.counted, sums };
        net.go_to(&circuit.net, known, wanted, &mut sink);
        net.propagate(&circuit.net, Kind::Look, &mut sink);
        wanted.fill(0);
    }

    /// Returns a sum at the current state, by its index.
    pub fn value(&self, sum: usize) -> i128 {
        self.sums[sum]
    }
}

/// A weighted circuit at 256 states.
#[derive(Clone)]
pub struct WeightedLanes {
    circuit: Arc<WeightedCircuit>,
    kernel: Kernel,
    base: Vec<Plane>,
    /// The signals of all sums, each once, sorted, and their values.
    roots: Vec<Signal>,
    values: Vec<Plane>,
    /// Memory for counting: by binary digit, the bits of all lanes' counts.
    digits: Vec<Plane>,
}

impl WeightedLanes {
    /// Prepares a circuit; with [`Backend::Native`] this generates code. All base bits are false.
    pub fn new(circuit: &Arc<WeightedCircuit>, backend: Backend) -> WeightedLanes {
        let of_forms = circuit.forms.iter().flat_map(|form| &form.weighted);
        let mut roots: Vec<Signal> = of_forms.flat_map(|(_, signals)| signals).copied().collect();
        roots.sort_unstable();
        roots.dedup();
        let program = lower(circuit.n_base, &circuit.ands, &roots);
        WeightedLanes {
            kernel: Kernel::new(&program, circuit.n_base, backend),
            base: vec![Plane::ZERO; circuit.n_base],
            values: vec![Plane::ZERO; roots.len()],
            roots,
            digits: Vec::new(),
            circuit: Arc::clone(circuit),
        }
    }

    /// Sets all base bits to false in all lanes.
    pub fn clear(&mut self) {
        self.base.fill(Plane::ZERO);
    }

    /// Sets base bits to true in one lane.
    pub fn set(&mut self, lane: usize, true_bits: &[u32]) {
        true_bits.iter().for_each(|&bit| self.base[bit as usize].set_lane(lane, true));
    }

    /// Computes all gates in all lanes.
    pub fn evaluate(&mut self) {
        self.kernel.run(&self.base, &[], &mut self.values);
    }

    /// Writes a sum, by its index, in all lanes as of the last [`WeightedLanes::evaluate`].
    pub fn values(&mut self, sum: usize, sums: &mut [i128; Plane::LANES]) {
        let form = &self.circuit.forms[sum];
        sums.fill(form.constant);
        for (weight, signals) in &form.weighted {
            self.digits.clear();
            for signal in signals {
                let root = self.roots.binary_search(signal).expect("roots are the signals of sums");
                add_to_digits(&mut self.digits, self.values[root]);
            }
            for (place, digit) in self.digits.iter().enumerate() {
                let amount = weight << place;
                digit.lanes().for_each(|lane| sums[lane] += amount);
            }
        }
    }
}

/// Adds one to the counts of the lanes in which a bit is set, all lanes at once.
fn add_to_digits(digits: &mut Vec<Plane>, mut carry: Plane) {
    for digit in digits.iter_mut() {
        if carry.is_zero() {
            return;
        }
        (*digit, carry) = (*digit ^ carry, *digit & carry);
    }
    if !carry.is_zero() {
        digits.push(carry);
    }
}
