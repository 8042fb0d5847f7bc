//! One state at a time by propagating changes: what a step does not change is not computed again.
//!
//! The circuit becomes a net of AND gates of any width. A gate counts its false inputs and is true
//! if there are none, so a changed input costs one addition. Gates that have to change are marked,
//! and marked gates are processed in topological order. So all inputs of a gate are final when the
//! gate is processed, and no gate is computed twice.
//!
//! Gates that legality needs come first, then those that only goals need, then those that only the
//! next state needs. Each kind is brought up to date when its results are requested and keeps its
//! marks until then. A playout does not request goals on its way, and the next state is not
//! requested where play has ended.
//!
//! Following an edge takes no branch. Whether a gate has to change is unpredictable, and
//! mispredictions would cost more than all the rest.
//!
//! [`Net`] and [`NetState`] are the mechanism. [`EventNet`] and [`EventState`] use it for the steps
//! of a game; [`crate::weighted`] uses it for weighted sums.

use crate::form::graph::cone;
use crate::{Circuit, Signal};

/// An event-driven net, shared by all states that are evaluated with it.
///
/// Nodes are numbered: first the leaves, then the gates that are left, each after its inputs, kind
/// by kind. Every kind begins with a new word of marks.
#[derive(Debug)]
pub(crate) struct Net {
    n_leaves: usize,
    /// By node: where its edges start. `edges` names gates, doubled, plus one if the gate reads the
    /// inverse.
    edge_starts: Vec<u32>,
    edges: Vec<u32>,
    /// By node: where its taps start. `taps` are the roots that it drives.
    tap_starts: Vec<u32>,
    taps: Vec<u32>,
    /// The cells of a state in which all leaves are false.
    cells: Vec<Cell>,
    /// By [`Kind`]: where its words of marks end.
    kind_ends: [usize; 4],
}

/// The outputs that a gate is needed for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// For the answers at every state.
    Look,
    /// For goals as well as for the next state.
    GoalsAndNext,
    /// For goals alone.
    Goals,
    /// For the next state alone.
    Next,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Look, Kind::GoalsAndNext, Kind::Goals, Kind::Next];
}

/// The number of false inputs of a node, doubled, plus one if the node is true. The count of a leaf
/// is not used.
#[derive(Copy, Clone, Debug, Default)]
struct Cell(i32);

impl Cell {
    #[inline(always)]
    fn value(self) -> bool {
        self.0 & 1 == 1
    }

    /// Returns whether the value is not what the inputs say.
    #[inline(always)]
    fn has_to_change(self) -> bool {
        (self.0 >> 1 == 0) != self.value()
    }
}

/// The logic that a net is built from: the AND gates of a graph over its leaves, and its outputs.
pub(crate) struct Logic<'a> {
    pub(crate) n_leaves: usize,
    pub(crate) ands: &'a [[Signal; 2]],
    /// The outputs, each with the number by which its changes are reported.
    pub(crate) roots: &'a [(Signal, u32)],
}

/// A receiver of the changes of a net's outputs.
pub(crate) trait Sink {
    /// Notes that the node behind the output of this number has changed to `value`. The output
    /// itself has the inverse value if it reads the node inverted.
    fn changed(&mut self, root: u32, value: bool);
}

impl Net {
    /// Builds a net and computes its outputs where all leaves are false.
    ///
    /// `kind` says by gate what it is needed for; gates without a kind are left out.
    pub(crate) fn new(logic: &Logic<'_>, kind: impl Fn(usize) -> Option<Kind>) -> (Net, Vec<bool>) {
        let Logic { n_leaves, ands, roots } = *logic;
        let first_and = n_leaves + 1;
        let is_own = own_gates(logic, |gate| kind(gate).is_some());
        let gates = || (first_and..first_and + ands.len()).filter(|&gate| is_own[gate]);

        let mut node_of = vec![u32::MAX; first_and + ands.len()];
        (0..n_leaves).for_each(|leaf| node_of[leaf + 1] = leaf as u32);
        let mut links: Vec<[u32; 2]> = Vec::new();
        let mut cells = vec![Cell::default(); n_leaves];
        let mut stack = Vec::new();
        let kind_ends = Kind::ALL.map(|wanted| {
            for gate in gates().filter(|&gate| kind(gate) == Some(wanted)) {
                let node = cells.len() as u32;
                node_of[gate] = node;
                let mut n_false = 0;
                stack.extend(ands[gate - first_and]);
                while let Some(signal) = stack.pop() {
                    let from = signal.gate();
                    if signal.is_constant() {
                        n_false += i32::from(signal == Signal::FALSE);
                        continue;
                    }
                    if !is_own[from] && !signal.is_inverted() {
                        stack.extend(ands[from - first_and]);
                        continue;
                    }
                    n_false +=
                        i32::from(cells[node_of[from] as usize].value() == signal.is_inverted());
                    links.push([node_of[from], node << 1 | u32::from(signal.is_inverted())]);
                }
                cells.push(Cell(n_false << 1 | i32::from(n_false == 0)));
            }
            cells.resize(cells.len().next_multiple_of(64), Cell::default());
            cells.len() / 64
        });

        let mut taps: Vec<[u32; 2]> = Vec::new();
        let values = roots.iter().map(|&(root, number)| {
            if root.is_constant() {
                return root == Signal::TRUE;
            }
            let node = node_of[root.gate()];
            taps.push([node, number]);
            cells[node as usize].value() != root.is_inverted()
        });
        let values = values.collect();
        let (edge_starts, edges) = by_source(cells.len(), &links);
        let (tap_starts, taps) = by_source(cells.len(), &taps);
        (Net { n_leaves, edge_starts, edges, tap_starts, taps, cells, kind_ends }, values)
    }

    /// Returns the state in which all leaves are false.
    pub(crate) fn state(&self) -> NetState {
        let n_marked = self.cells.len().div_ceil(64);
        NetState {
            cells: self.cells.clone(),
            marked: vec![0; n_marked],
            marked_words: vec![0; n_marked.div_ceil(64)],
            n_followed: 0,
            n_toggled: 0,
        }
    }
}

/// The values of all nodes of a net, for one state.
#[derive(Clone, Debug)]
pub(crate) struct NetState {
    cells: Vec<Cell>,
    /// By node, a bit: it has to change. `marked_words` has a bit for each word of `marked` that
    /// may have one.
    marked: Vec<u64>,
    marked_words: Vec<u64>,
    /// Edges followed and nodes toggled so far: a measure of the work.
    n_followed: u64,
    n_toggled: u64,
}

impl NetState {
    /// Returns the work done so far, in gates that native code evaluates in the same time.
    ///
    /// With these weights, all but a few of 43 games that were timed both ways are assigned to the
    /// faster executor; the few are near the boundary.
    fn work(&self) -> u64 {
        10 * self.n_followed + 40 * self.n_toggled
    }

    /// Sets the first leaves to the bits of `state`. `known` holds the bits that they have now and
    /// becomes equal to `state`.
    #[inline(always)]
    pub(crate) fn go_to(
        &mut self,
        net: &Net,
        known: &mut [u64],
        state: &[u64],
        sink: &mut impl Sink,
    ) {
        for (idx, &word) in state.iter().enumerate() {
            let mut changed = std::mem::replace(&mut known[idx], word) ^ word;
            while changed != 0 {
                self.toggle_leaf(net, 64 * idx + changed.trailing_zeros() as usize, sink);
                changed &= changed - 1;
            }
        }
    }

    pub(crate) fn toggle_leaf(&mut self, net: &Net, leaf: usize, sink: &mut impl Sink) {
        debug_assert!(leaf < net.n_leaves, "only leaves are set from outside");
        self.toggle(net, leaf, sink);
    }

    /// Gives a node its other value and updates the counts of all gates that read it.
    #[inline(always)]
    fn toggle(&mut self, net: &Net, node: usize, sink: &mut impl Sink) {
        self.cells[node].0 ^= 1;
        let value = self.cells[node].value();
        // What readers of the plain value add to their counts, doubled; the others subtract it.
        let plain = 2 - 4 * i32::from(value);
        let edges = &net.edges[net.edge_starts[node] as usize..net.edge_starts[node + 1] as usize];
        self.n_toggled += 1;
        self.n_followed += edges.len() as u64;
        for &edge in edges {
            let gate = (edge >> 1) as usize;
            let inverted = -((edge & 1) as i32);
            let cell = &mut self.cells[gate];
            cell.0 += (plain ^ inverted) - inverted;
            let mark = u64::from(cell.has_to_change());
            let marked = &mut self.marked[gate / 64];
            *marked = *marked & !(1 << (gate % 64)) | mark << (gate % 64);
            self.marked_words[gate / 4096] |= mark << (gate / 64 % 64);
        }
        for &root in &net.taps[net.tap_starts[node] as usize..net.tap_starts[node + 1] as usize] {
            sink.changed(root, value);
        }
    }

    /// Propagates changes through the gates of a kind. Every gate marks only gates after it.
    pub(crate) fn propagate(&mut self, net: &Net, kind: Kind, sink: &mut impl Sink) {
        let start = (kind as usize).checked_sub(1).map_or(0, |before| net.kind_ends[before]);
        let end = net.kind_ends[kind as usize];
        for high in start / 64..end.div_ceil(64) {
            // Some of the words may belong to other kinds.
            let mut own = !0;
            if high == start / 64 {
                own &= !0 << (start % 64);
            }
            if high == end / 64 {
                own &= !(!0 << (end % 64));
            }
            loop {
                let words = self.marked_words[high] & own;
                if words == 0 {
                    break;
                }
                let low = words.trailing_zeros() as usize;
                let word = 64 * high + low;
                while self.marked[word] != 0 {
                    let bit = self.marked[word].trailing_zeros() as usize;
                    self.marked[word] &= self.marked[word] - 1;
                    self.toggle(net, 64 * word + bit, sink);
                }
                self.marked_words[high] &= !(1 << low);
            }
        }
    }
}

/// The net of a game's circuit, shared by all positions.
///
/// Its leaves are the base bits, then the inputs. Its outputs are bits: the next state, then from a
/// new word on the answers, then from a new word on the goals.
pub(crate) struct EventNet {
    net: Net,
    n_base: usize,
    /// The outputs where all leaves are false.
    words: Vec<u64>,
    n_next_words: usize,
    n_answer_words: usize,
}

/// The values of an [`EventNet`] at one position.
#[derive(Clone)]
pub(crate) struct EventState {
    state: NetState,
    words: Vec<u64>,
    n_answer_words: usize,
    /// The base bits as they are set.
    known: Vec<u64>,
    /// The inputs that are set.
    joint: Vec<u32>,
}

/// Outputs as bits of words.
struct Words<'a>(&'a mut [u64]);

impl Sink for Words<'_> {
    #[inline(always)]
    fn changed(&mut self, root: u32, _value: bool) {
        self.0[root as usize / 64] ^= 1 << (root % 64);
    }
}

impl EventNet {
    /// Builds a net that computes answers and goals from a state, and the next state from a state
    /// and moves.
    pub(crate) fn new(circuit: &Circuit, look: &[Signal], goals: &[Signal]) -> EventNet {
        let next = &circuit.outputs.next;
        let n_next_words = next.len().div_ceil(64);
        let n_answer_words = look.len().div_ceil(64);
        let bits = (0..next.len())
            .chain(64 * n_next_words..64 * n_next_words + look.len())
            .chain(64 * (n_next_words + n_answer_words)..);
        let roots: Vec<(Signal, u32)> = next
            .iter()
            .chain(look)
            .chain(goals)
            .zip(bits)
            .map(|(&root, bit)| (root, bit as u32))
            .collect();
        let first_and = circuit.first_and();
        let [in_next, in_look, in_goals] = [&next[..], look, goals]
            .map(|roots| cone(first_and, &circuit.ands, roots.iter().copied()));
        let kind = |gate: usize| match (in_look[gate], in_goals[gate], in_next[gate]) {
            (true, ..) => Some(Kind::Look),
            (false, true, true) => Some(Kind::GoalsAndNext),
            (false, true, false) => Some(Kind::Goals),
            (false, false, true) => Some(Kind::Next),
            (false, false, false) => None,
        };
        let logic = Logic { n_leaves: first_and - 1, ands: &circuit.ands, roots: &roots };
        let (net, values) = Net::new(&logic, kind);
        let mut words = vec![0; n_next_words + n_answer_words + goals.len().div_ceil(64)];
        for (&(_, bit), value) in roots.iter().zip(values) {
            words[bit as usize / 64] |= u64::from(value) << (bit % 64);
        }
        EventNet { net, n_base: circuit.base.len(), words, n_next_words, n_answer_words }
    }

    /// Returns the state in which all base bits and inputs are false.
    pub(crate) fn state(&self) -> EventState {
        EventState {
            state: self.net.state(),
            words: self.words.clone(),
            n_answer_words: self.n_answer_words,
            known: vec![0; self.n_next_words],
            joint: Vec::new(),
        }
    }
}

impl EventState {
    /// Returns the work done so far, in gates that native code evaluates in the same time.
    pub(crate) fn work(&self) -> u64 {
        self.state.work()
    }

    /// Returns the next state by the last step.
    pub(crate) fn next(&self) -> &[u64] {
        &self.words[..self.known.len()]
    }

    /// Returns the answers by the last look, as bits.
    pub(crate) fn answers(&self) -> &[u64] {
        &self.words[self.known.len()..self.known.len() + self.n_answer_words]
    }

    /// Returns the goals that were computed last, as bits.
    pub(crate) fn goals(&self) -> &[u64] {
        &self.words[self.known.len() + self.n_answer_words..]
    }

    /// Computes the answers at a state.
    pub(crate) fn look(&mut self, net: &EventNet, state: &[u64]) {
        let mut sink = Words(&mut self.words);
        self.state.go_to(&net.net, &mut self.known, state, &mut sink);
        self.state.propagate(&net.net, Kind::Look, &mut sink);
    }

    /// Computes the goals at the state that was looked at last.
    pub(crate) fn value(&mut self, net: &EventNet) {
        let mut sink = Words(&mut self.words);
        self.state.propagate(&net.net, Kind::GoalsAndNext, &mut sink);
        self.state.propagate(&net.net, Kind::Goals, &mut sink);
    }

    /// Computes the next state from the state that was looked at last and a joint move.
    pub(crate) fn step(&mut self, net: &EventNet, joint: impl Iterator<Item = u32> + Clone) {
        let before = std::mem::take(&mut self.joint);
        let mut sink = Words(&mut self.words);
        for &input in before.iter().filter(|&&input| !joint.clone().any(|new| new == input)) {
            self.state.toggle_leaf(&net.net, net.n_base + input as usize, &mut sink);
        }
        for input in joint.clone().filter(|input| !before.contains(input)) {
            self.state.toggle_leaf(&net.net, net.n_base + input as usize, &mut sink);
        }
        self.state.propagate(&net.net, Kind::GoalsAndNext, &mut sink);
        self.state.propagate(&net.net, Kind::Next, &mut sink);
        self.joint = before;
        self.joint.clear();
        self.joint.extend(joint);
    }
}

/// Returns, by gate, whether it is a node of its own.
///
/// The others are ANDs that only one other AND reads, not inverted: that one takes over their
/// inputs.
fn own_gates(logic: &Logic<'_>, is_wanted: impl Fn(usize) -> bool) -> Vec<bool> {
    let Logic { n_leaves, ands, roots } = *logic;
    let first_and = n_leaves + 1;
    let mut n_readers = vec![0_u32; first_and + ands.len()];
    let mut is_own = vec![false; first_and + ands.len()];
    is_own[..first_and].fill(true);
    for (_, signals) in (first_and..).zip(ands).filter(|&(gate, _)| is_wanted(gate)) {
        for signal in signals {
            n_readers[signal.gate()] += 1;
            is_own[signal.gate()] |= signal.is_inverted();
        }
    }
    roots.iter().for_each(|(root, _)| is_own[root.gate()] = true);
    is_own.iter_mut().zip(n_readers).for_each(|(own, n_readers)| *own |= n_readers != 1);
    is_own
}

/// Groups pairs of source and target: returns where the targets of each source start, and all
/// targets in order.
fn by_source(n_sources: usize, pairs: &[[u32; 2]]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0_u32; n_sources + 1];
    pairs.iter().for_each(|[source, _]| starts[*source as usize + 1] += 1);
    (0..n_sources).for_each(|source| starts[source + 1] += starts[source]);
    let mut at = starts.clone();
    let mut targets = vec![0; pairs.len()];
    for [source, target] in pairs {
        let place = &mut at[*source as usize];
        targets[*place as usize] = *target;
        *place += 1;
    }
    (starts, targets)
}
