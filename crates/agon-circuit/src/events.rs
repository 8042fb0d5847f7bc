//! One game at a time by propagating changes: what a step does not touch is not computed again.
//!
//! The circuit becomes a net of AND gates of any width. A gate counts its false inputs and is true when there are none, so a
//! changed input costs one addition. Gates that have to change are marked, and the marks are worked off in the order of the
//! gates, in which every gate comes after its inputs: a gate is settled when its turn comes and nothing is computed twice.
//!
//! Following an edge takes no branch: whether a gate has to change is anybody's guess, and wrong guesses cost more than all the rest.

use crate::{Circuit, Signal};

/// The net, shared by all positions of a game.
///
/// Nodes are numbered: first the leaves (base bits, then inputs), then the gates that are left, each after its inputs.
///
/// Outputs are bits: the next state, then from a new word on the legal moves of all roles, the end, and the goals.
pub(crate) struct EventNet {
    n_base: usize,
    n_leaves: usize,
    /// By node: where its edges start; `edges` names gates, doubled, plus one if the gate reads the inverse.
    edge_starts: Vec<u32>,
    edges: Vec<u32>,
    /// By node: where its output bits start.
    output_starts: Vec<u32>,
    outputs: Vec<u32>,
    /// What a desk starts with: all leaves false.
    cells: Vec<Cell>,
    words: Vec<u64>,
    n_next_words: usize,
}

/// How many inputs of a node are false, doubled, plus one if the node is true. Leaves count nothing.
#[derive(Copy, Clone, Default)]
struct Cell(i32);

impl Cell {
    #[inline(always)]
    fn value(self) -> bool {
        self.0 & 1 == 1
    }

    /// Whether the value is not what the inputs say.
    #[inline(always)]
    fn has_to_change(self) -> bool {
        (self.0 >> 1 == 0) != self.value()
    }
}

/// What one position knows of the net.
#[derive(Clone)]
pub(crate) struct EventDesk {
    cells: Vec<Cell>,
    /// By node, a bit: it has to change. `marked_words` has a bit for each word of `marked` that may have one.
    marked: Vec<u64>,
    marked_words: Vec<u64>,
    words: Vec<u64>,
    /// Edges followed so far: a measure of the work.
    pub(crate) n_followed: u64,
    /// The base bits as they are set.
    known: Vec<u64>,
    /// The inputs that are set.
    joint: Vec<u32>,
}

impl EventNet {
    pub(crate) fn new(circuit: &Circuit) -> EventNet {
        let n_leaves = circuit.first_and() - 1;
        let roots: Vec<Signal> =
            circuit.outputs.next.iter().copied().chain(circuit.outputs.state_signals()).collect();
        let wanted = circuit.cone(roots.iter().copied());
        let is_own = own_gates(circuit, &roots, &wanted);

        let mut node_of = vec![u32::MAX; circuit.n_gates()];
        (0..n_leaves).for_each(|leaf| node_of[leaf + 1] = leaf as u32);
        let mut links: Vec<[u32; 2]> = Vec::new();
        let mut cells = vec![Cell::default(); n_leaves];
        let mut stack = Vec::new();
        for gate in circuit.first_and()..circuit.n_gates() {
            if !wanted[gate] || !is_own[gate] {
                continue;
            }
            let node = cells.len() as u32;
            node_of[gate] = node;
            let mut n_false = 0;
            stack.extend(circuit.ands[gate - circuit.first_and()]);
            while let Some(signal) = stack.pop() {
                let from = signal.gate();
                if signal.is_constant() {
                    n_false += i32::from(signal == Signal::FALSE);
                    continue;
                }
                if !is_own[from] && !signal.is_inverted() {
                    stack.extend(circuit.ands[from - circuit.first_and()]);
                    continue;
                }
                n_false += i32::from(cells[node_of[from] as usize].value() == signal.is_inverted());
                links.push([node_of[from], node << 1 | u32::from(signal.is_inverted())]);
            }
            cells.push(Cell(n_false << 1 | i32::from(n_false == 0)));
        }

        let n_next_words = circuit.base.len().div_ceil(64);
        let mut words = vec![0; n_next_words + (roots.len() - circuit.base.len()).div_ceil(64)];
        let mut taps: Vec<[u32; 2]> = Vec::new();
        for (idx, root) in roots.iter().enumerate() {
            let bit =
                if idx < circuit.base.len() { idx } else { 64 * n_next_words + idx - circuit.base.len() };
            let value = if root.is_constant() {
                *root == Signal::TRUE
            } else {
                let node = node_of[root.gate()];
                taps.push([node, bit as u32]);
                cells[node as usize].value() != root.is_inverted()
            };
            words[bit / 64] |= u64::from(value) << (bit % 64);
        }
        let (edge_starts, edges) = by_source(cells.len(), &links);
        let (output_starts, outputs) = by_source(cells.len(), &taps);
        EventNet {
            n_base: circuit.base.len(),
            n_leaves,
            edge_starts,
            edges,
            output_starts,
            outputs,
            cells,
            words,
            n_next_words,
        }
    }

    /// A desk with all leaves false.
    pub(crate) fn desk(&self) -> EventDesk {
        let n_marked = self.cells.len().div_ceil(64);
        EventDesk {
            cells: self.cells.clone(),
            marked: vec![0; n_marked],
            marked_words: vec![0; n_marked.div_ceil(64)],
            words: self.words.clone(),
            n_followed: 0,
            known: vec![0; self.n_next_words],
            joint: Vec::new(),
        }
    }
}

impl EventDesk {
    /// The next state, if the moves that are set are made.
    pub(crate) fn next(&self) -> &[u64] {
        &self.words[..self.known.len()]
    }

    /// Legal moves, the end, goals: as bits.
    pub(crate) fn answers(&self) -> &[u64] {
        &self.words[self.known.len()..]
    }

    /// Makes the base bits those of a state. To be followed by [`EventDesk::settle`].
    pub(crate) fn set_state(&mut self, net: &EventNet, state: &[u64]) {
        for (idx, &word) in state.iter().enumerate() {
            let mut changed = std::mem::replace(&mut self.known[idx], word) ^ word;
            while changed != 0 {
                self.toggle_leaf(net, 64 * idx + changed.trailing_zeros() as usize);
                changed &= changed - 1;
            }
        }
    }

    /// Sets the inputs of a joint move and no others. To be followed by [`EventDesk::settle`].
    pub(crate) fn set_joint(&mut self, net: &EventNet, joint: impl Iterator<Item = u32> + Clone) {
        let before = std::mem::take(&mut self.joint);
        for &input in before.iter().filter(|&&input| !joint.clone().any(|new| new == input)) {
            self.toggle_leaf(net, net.n_base + input as usize);
        }
        for input in joint.clone().filter(|input| !before.contains(input)) {
            self.toggle_leaf(net, net.n_base + input as usize);
        }
        self.joint = before;
        self.joint.clear();
        self.joint.extend(joint);
    }

    fn toggle_leaf(&mut self, net: &EventNet, leaf: usize) {
        debug_assert!(leaf < net.n_leaves, "only leaves are set from outside");
        self.toggle(net, leaf);
    }

    /// A node takes its other value, and tells all who read it.
    #[inline(always)]
    fn toggle(&mut self, net: &EventNet, node: usize) {
        self.cells[node].0 ^= 1;
        // What readers of the plain value add to their counts, doubled; the others subtract it.
        let plain = 2 - 4 * i32::from(self.cells[node].value());
        let edges = &net.edges[net.edge_starts[node] as usize..net.edge_starts[node + 1] as usize];
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
        for &bit in &net.outputs[net.output_starts[node] as usize..net.output_starts[node + 1] as usize] {
            self.words[bit as usize / 64] ^= 1 << (bit % 64);
        }
    }

    /// Lets all changes run through the net. Every gate marks only gates after it.
    pub(crate) fn settle(&mut self, net: &EventNet) {
        for high in 0..self.marked_words.len() {
            while self.marked_words[high] != 0 {
                let low = self.marked_words[high].trailing_zeros() as usize;
                let word = 64 * high + low;
                while self.marked[word] != 0 {
                    let bit = self.marked[word].trailing_zeros() as usize;
                    self.marked[word] &= self.marked[word] - 1;
                    self.toggle(net, 64 * word + bit);
                }
                self.marked_words[high] &= !(1 << low);
            }
        }
    }
}

/// By gate: whether it is a node of its own. The others are ANDs that only one other AND reads, as they are: that one takes
/// over their inputs.
fn own_gates(circuit: &Circuit, roots: &[Signal], wanted: &[bool]) -> Vec<bool> {
    let mut n_readers = vec![0_u32; circuit.n_gates()];
    let mut is_own = vec![false; circuit.n_gates()];
    is_own[..circuit.first_and()].fill(true);
    for (_, signals) in (circuit.first_and()..).zip(&circuit.ands).filter(|&(gate, _)| wanted[gate]) {
        for signal in signals {
            n_readers[signal.gate()] += 1;
            is_own[signal.gate()] |= signal.is_inverted();
        }
    }
    roots.iter().for_each(|root| is_own[root.gate()] = true);
    is_own.iter_mut().zip(n_readers).for_each(|(own, n_readers)| *own |= n_readers != 1);
    is_own
}

/// Pairs of source and target as lists of targets by source, in order.
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
