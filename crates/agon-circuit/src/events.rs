//! One game at a time by propagating changes: what a step does not touch is not computed again.
//!
//! The circuit becomes a net of AND gates of any width. A gate counts its false inputs and is true when there are none, so a
//! changed input costs one addition. Changes run through the net level by level, so that a gate is settled when its turn
//! comes and nothing is computed twice.

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
    /// By node: where its output bits start; `outputs` names bits, doubled, plus one if the output is the inverse.
    output_starts: Vec<u32>,
    outputs: Vec<u32>,
    /// By level: where its part of the queue starts.
    level_starts: Vec<u32>,
    /// What a desk starts with: all leaves false.
    cells: Vec<Cell>,
    words: Vec<u64>,
    n_next_words: usize,
}

#[derive(Copy, Clone, Default)]
struct Cell {
    /// False inputs; for leaves 1 or 0.
    n_false: i32,
    level: u16,
    value: bool,
    is_queued: bool,
}

/// What one position knows of the net.
#[derive(Clone)]
pub(crate) struct EventDesk {
    cells: Vec<Cell>,
    /// Gates to look at, level by level, and how many there are of each.
    queue: Vec<u32>,
    n_queued: Vec<u32>,
    lowest: usize,
    words: Vec<u64>,
    /// Edges followed so far: a measure of the work.
    pub(crate) n_followed: u64,
    /// The base bits as they are set.
    known: Vec<u64>,
    /// The inputs that are set.
    joint: Vec<u32>,
}

/// Nets with more levels than a cell can tell are not made.
const MAX_LEVELS: usize = u16::MAX as usize;

impl EventNet {
    /// The net of a circuit, unless it is too deep.
    pub(crate) fn new(circuit: &Circuit) -> Option<EventNet> {
        let n_leaves = circuit.first_and() - 1;
        let roots: Vec<Signal> =
            circuit.outputs.next.iter().copied().chain(circuit.outputs.state_signals()).collect();
        let wanted = circuit.cone(roots.iter().copied());
        let is_own = own_gates(circuit, &roots, &wanted);

        // Node numbers: leaf `gate - 1`; gates that are their own in order.
        let mut node_of = vec![u32::MAX; circuit.n_gates()];
        (0..n_leaves).for_each(|leaf| node_of[leaf + 1] = leaf as u32);
        let mut n_nodes = n_leaves;
        let mut links: Vec<[u32; 2]> = Vec::new();
        let mut cells = vec![Cell { n_false: 1, ..Cell::default() }; n_leaves];
        let mut stack = Vec::new();
        for (gate, _) in (circuit.first_and()..).zip(&circuit.ands) {
            if !wanted[gate] || !is_own[gate] {
                continue;
            }
            node_of[gate] = n_nodes as u32;
            let mut cell = Cell::default();
            stack.extend(circuit.ands[gate - circuit.first_and()]);
            while let Some(signal) = stack.pop() {
                let from = signal.gate();
                if signal.is_constant() {
                    cell.n_false += i32::from(signal == Signal::FALSE);
                    continue;
                }
                if !is_own[from] && !signal.is_inverted() {
                    stack.extend(circuit.ands[from - circuit.first_and()]);
                    continue;
                }
                let source = &cells[node_of[from] as usize];
                cell.level = cell.level.max(source.level.checked_add(1)?);
                cell.n_false += i32::from(source.value == signal.is_inverted());
                links.push([node_of[from], (n_nodes as u32) << 1 | u32::from(signal.is_inverted())]);
            }
            cell.value = cell.n_false == 0;
            cells.push(cell);
            n_nodes += 1;
        }

        let n_levels = cells.iter().map(|cell| usize::from(cell.level)).max().unwrap_or(0) + 1;
        if n_levels > MAX_LEVELS {
            return None;
        }
        let mut level_starts = vec![0_u32; n_levels + 1];
        cells.iter().for_each(|cell| level_starts[usize::from(cell.level) + 1] += 1);
        (0..n_levels).for_each(|level| level_starts[level + 1] += level_starts[level]);

        let n_next_words = circuit.base.len().div_ceil(64);
        let n_words = n_next_words + (roots.len() - circuit.base.len()).div_ceil(64);
        let mut words = vec![0; n_words];
        let mut taps: Vec<[u32; 2]> = Vec::new();
        for (idx, root) in roots.iter().enumerate() {
            let bit =
                if idx < circuit.base.len() { idx } else { 64 * n_next_words + idx - circuit.base.len() };
            let value = if root.is_constant() {
                *root == Signal::TRUE
            } else {
                let node = node_of[root.gate()];
                taps.push([node, (bit as u32) << 1 | u32::from(root.is_inverted())]);
                cells[node as usize].value != root.is_inverted()
            };
            words[bit / 64] |= u64::from(value) << (bit % 64);
        }
        let (edge_starts, edges) = by_source(n_nodes, &links);
        let (output_starts, outputs) = by_source(n_nodes, &taps);
        Some(EventNet {
            n_base: circuit.base.len(),
            n_leaves,
            edge_starts,
            edges,
            output_starts,
            outputs,
            level_starts,
            cells,
            words,
            n_next_words,
        })
    }

    /// A desk with all leaves false.
    pub(crate) fn desk(&self) -> EventDesk {
        EventDesk {
            cells: self.cells.clone(),
            queue: vec![0; self.cells.len()],
            n_queued: vec![0; self.level_starts.len()],
            lowest: usize::MAX,
            words: self.words.clone(),
            n_followed: 0,
            known: vec![0; self.n_next_words],
            joint: Vec::new(),
        }
    }
}

impl EventDesk {
    /// Legal moves, the end, goals: as bits.
    pub(crate) fn answers(&self) -> &[u64] {
        &self.words[self.known.len()..]
    }

    /// The next state, if the moves that are set are made.
    pub(crate) fn next(&self) -> &[u64] {
        &self.words[..self.known.len()]
    }

    /// Makes the base bits those of a state. To be followed by [`EventDesk::settle`].
    pub(crate) fn set_state(&mut self, net: &EventNet, state: &[u64]) {
        for (idx, &word) in state.iter().enumerate() {
            let changed = std::mem::replace(&mut self.known[idx], word) ^ word;
            self.toggle_bits(net, idx, changed);
        }
    }

    #[inline(always)]
    fn toggle_bits(&mut self, net: &EventNet, word_idx: usize, mut changed: u64) {
        while changed != 0 {
            self.toggle_leaf(net, 64 * word_idx + changed.trailing_zeros() as usize);
            changed &= changed - 1;
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
        let value = !self.cells[node].value;
        self.cells[node].value = value;
        let edges = &net.edges[net.edge_starts[node] as usize..net.edge_starts[node + 1] as usize];
        self.n_followed += edges.len() as u64;
        for &edge in edges {
            let gate = edge >> 1;
            let cell = &mut self.cells[gate as usize];
            // The input that the gate sees has become true, or false.
            cell.n_false += if value != (edge & 1 == 1) { -1 } else { 1 };
            if !cell.is_queued && (cell.n_false == 0) != cell.value {
                cell.is_queued = true;
                let level = usize::from(cell.level);
                let n_queued = &mut self.n_queued[level];
                self.queue[(net.level_starts[level] + *n_queued) as usize] = gate;
                *n_queued += 1;
                self.lowest = self.lowest.min(level);
            }
        }
        for &output in &net.outputs[net.output_starts[node] as usize..net.output_starts[node + 1] as usize] {
            let bit = (output >> 1) as usize;
            self.words[bit / 64] ^= 1 << (bit % 64);
        }
    }

    /// Lets all changes run through the net.
    pub(crate) fn settle(&mut self, net: &EventNet) {
        for level in self.lowest..net.level_starts.len() - 1 {
            let start = net.level_starts[level] as usize;
            // Gates only queue gates of higher levels.
            for idx in start..start + self.n_queued[level] as usize {
                let gate = self.queue[idx] as usize;
                let cell = &mut self.cells[gate];
                cell.is_queued = false;
                // It may have changed back before its turn came.
                if (cell.n_false == 0) != cell.value {
                    self.toggle(net, gate);
                }
            }
            self.n_queued[level] = 0;
        }
        self.lowest = usize::MAX;
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
