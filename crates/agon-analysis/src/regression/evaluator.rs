//! Evaluation of a network in one state: only changed values are recomputed, and only on demand
//! (Trutman 2015, 4.4.2).

use std::sync::Arc;

use agon_game::Role;

use super::network::{Literal, NO_NODE, Network, UNKNOWN};

/// An evaluator of a network in one state. The value of a move is computed on demand, and kept
/// until a fluent that it depends on changes.
///
/// A conjunction is computed operand by operand up to the first operand with value 0. Later
/// operands may be missing. Invariant: the operands that a present value was computed from are
/// present. If one of them changes, the value is discarded.
#[derive(Clone)]
pub struct Evaluator {
    network: Arc<Network>,
    /// The fluents that hold, as bits.
    state: Vec<u64>,
    /// By literal: its value. NaN if it has to be computed.
    values: Vec<f64>,
    discarded: Vec<u32>,
    open: Vec<Open>,
}

/// A conjunction whose computation is in progress.
#[derive(Copy, Clone)]
struct Open {
    node: u32,
    /// The next operand.
    at: u32,
    so_far: f64,
}

impl Evaluator {
    /// Creates an evaluator in the state in which no fluent holds.
    pub fn new(network: Arc<Network>) -> Evaluator {
        let mut values = vec![f64::NAN; 2 * network.n_nodes()];
        put(&mut values, 0, 0.0);
        put(&mut values, 1, UNKNOWN);
        for (fluent, &node) in network.node_of_fluent.iter().enumerate() {
            if node != NO_NODE {
                put(&mut values, node, network.counts[fluent][0]);
            }
        }
        let n_words = network.node_of_fluent.len().div_ceil(64);
        Evaluator {
            state: vec![0; n_words],
            values,
            discarded: Vec::new(),
            open: Vec::new(),
            network,
        }
    }

    /// Returns the network.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// Moves to a state: one bit for each fluent, 64 to a word, lowest bit first.
    pub fn go_to(&mut self, state: &[u64]) {
        for (at, &word) in state.iter().enumerate().take(self.state.len()) {
            let mut changed = self.state[at] ^ word;
            while changed != 0 {
                let bit = changed.trailing_zeros() as usize;
                changed &= changed - 1;
                self.set(64 * at + bit, word >> bit & 1 == 1);
            }
        }
    }

    /// Sets one fluent. Fluents that the network does not have are ignored.
    pub fn set(&mut self, fluent: usize, holds: bool) {
        let Some(&node) = self.network.node_of_fluent.get(fluent) else { return };
        let (word, bit) = (&mut self.state[fluent / 64], 1 << (fluent % 64));
        if (*word & bit != 0) == holds {
            return;
        }
        *word ^= bit;
        if node != NO_NODE {
            put(&mut self.values, node, self.network.counts[fluent][usize::from(holds)]);
            self.discard_readers(node);
        }
    }

    /// Discards all values that depend on a node.
    fn discard_readers(&mut self, node: u32) {
        let Evaluator { network, values, discarded, .. } = self;
        discarded.push(node);
        while let Some(node) = discarded.pop() {
            for &reader in network.readers_of(node as usize) {
                if !values[2 * reader as usize].is_nan() {
                    put(values, reader, f64::NAN);
                    discarded.push(reader);
                }
            }
        }
    }

    /// Returns how close a move brings a role to its goals, from 0 to 1. `None` if the move has no
    /// formula.
    pub fn value(&mut self, role: Role, move_idx: usize) -> Option<f64> {
        let Evaluator { network, values, open, .. } = self;
        let goals = network.goals_of(role, move_idx)?;
        if let [(weight, goal)] = goals {
            return Some(weight * literal(network, values, open, *goal));
        }
        // A disjunction is the negation of a conjunction of negations.
        let mut none = network.logic.empty();
        for &(weight, goal) in goals {
            let value = weight * literal(network, values, open, goal);
            none = network.logic.extended(none, 1.0 - value);
            if network.logic.is_zero(none) {
                break;
            }
        }
        Some(1.0 - network.logic.result(none))
    }
}

/// Stores the value of a node and of its negation.
#[inline]
fn put(values: &mut [f64], node: u32, value: f64) {
    let both = &mut values[2 * node as usize..2 * node as usize + 2];
    (both[0], both[1]) = (value, 1.0 - value);
}

/// Returns the value of a literal, computing it if necessary.
#[inline]
fn literal(network: &Network, values: &mut [f64], open: &mut Vec<Open>, literal: Literal) -> f64 {
    if values[literal.0 as usize].is_nan() {
        compute(network, values, open, literal.node() as u32);
    }
    values[literal.0 as usize]
}

/// Computes a conjunction and the missing operands below it. The stack is explicit, because
/// networks can be deeper than the stack of the thread.
fn compute(network: &Network, values: &mut [f64], open: &mut Vec<Open>, node: u32) {
    let begin = |node: u32| {
        let at = network.starts[node as usize - network.first_and];
        Open { node, at, so_far: network.logic.empty() }
    };
    let mut now = begin(node);
    open.clear();
    loop {
        let end = network.starts[now.node as usize - network.first_and + 1];
        let operands = &network.operands[now.at as usize..end as usize];
        let mut missing = None;
        for &operand in operands {
            let value = values[operand.0 as usize];
            if value.is_nan() {
                missing = Some(operand.node() as u32);
                break;
            }
            now.so_far = network.logic.extended(now.so_far, value);
            if network.logic.is_zero(now.so_far) {
                break;
            }
            now.at += 1;
        }
        if let Some(missing) = missing {
            open.push(now);
            now = begin(missing);
            continue;
        }
        put(values, now.node, network.logic.result(now.so_far));
        match open.pop() {
            Some(before) => now = before,
            None => return,
        }
    }
}
