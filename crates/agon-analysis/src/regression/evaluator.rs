//! A network that follows play: after a step only what it has changed is worked out, and only where it is asked for (003, 4.4.2).

use std::sync::Arc;

use agon_game::Role;

use super::network::{Literal, NO_NODE, Network, UNKNOWN};

/// A network standing at one state. What a move is worth is worked out when it is asked for, and kept until a fluent on which
/// it depends changes.
///
/// A conjunction is worked out operand by operand, and no further than to one that counts 0: what comes after it is left as it
/// is. So a value that is there stands on operands that are there, all of them or one that counts 0, and if one of those
/// changes the value is forgotten.
#[derive(Clone)]
pub struct Evaluator {
    network: Arc<Network>,
    /// The fluents that hold, as bits.
    state: Vec<u64>,
    /// By literal: what it counts. Not a number if that has to be worked out.
    values: Vec<f64>,
    forgotten: Vec<u32>,
    open: Vec<Open>,
}

/// A conjunction that is being worked out.
#[derive(Copy, Clone)]
struct Open {
    node: u32,
    /// The next operand.
    at: u32,
    so_far: f64,
}

impl Evaluator {
    /// At the state in which no fluent holds.
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
            forgotten: Vec::new(),
            open: Vec::new(),
            network,
        }
    }

    /// The network.
    pub fn network(&self) -> &Arc<Network> {
        &self.network
    }

    /// Goes to a state: a bit for each fluent, 64 to a word, the lowest first.
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

    /// Goes to the state that differs in this fluent. One that there is not, is nowhere read.
    pub fn set(&mut self, fluent: usize, holds: bool) {
        let Some(&node) = self.network.node_of_fluent.get(fluent) else { return };
        let (word, bit) = (&mut self.state[fluent / 64], 1 << (fluent % 64));
        if (*word & bit != 0) == holds {
            return;
        }
        *word ^= bit;
        if node != NO_NODE {
            put(&mut self.values, node, self.network.counts[fluent][usize::from(holds)]);
            self.forget_readers(node);
        }
    }

    /// Forgets all that depends on a node.
    fn forget_readers(&mut self, node: u32) {
        let Evaluator { network, values, forgotten, .. } = self;
        forgotten.push(node);
        while let Some(node) = forgotten.pop() {
            for &reader in network.readers_of(node as usize) {
                if !values[2 * reader as usize].is_nan() {
                    put(values, reader, f64::NAN);
                    forgotten.push(reader);
                }
            }
        }
    }

    /// How near the goals a move of a role is, from 0 to 1; `None` if nothing is said of it.
    pub fn value(&mut self, role: Role, move_idx: usize) -> Option<f64> {
        let Evaluator { network, values, open, .. } = self;
        let goals = network.goals_of(role, move_idx)?;
        if let [(weight, goal)] = goals {
            return Some(weight * literal(network, values, open, *goal));
        }
        // At least one of them: not none.
        let mut none = network.logic.nothing();
        for &(weight, goal) in goals {
            let value = weight * literal(network, values, open, goal);
            none = network.logic.with(none, 1.0 - value);
            if network.logic.is_never(none) {
                break;
            }
        }
        Some(1.0 - network.logic.all(none))
    }
}

/// Writes what a node counts, and what its negation does.
#[inline]
fn put(values: &mut [f64], node: u32, value: f64) {
    let both = &mut values[2 * node as usize..2 * node as usize + 2];
    (both[0], both[1]) = (value, 1.0 - value);
}

/// What a literal counts, worked out if it has to be.
#[inline]
fn literal(network: &Network, values: &mut [f64], open: &mut Vec<Open>, literal: Literal) -> f64 {
    if values[literal.0 as usize].is_nan() {
        work_out(network, values, open, literal.node() as u32);
    }
    values[literal.0 as usize]
}

/// Works a conjunction out, and on the way what it is made of. Networks are deeper than the program's stack, so there is one here.
fn work_out(network: &Network, values: &mut [f64], open: &mut Vec<Open>, node: u32) {
    let begin = |node: u32| {
        let at = network.starts[node as usize - network.first_and];
        Open { node, at, so_far: network.logic.nothing() }
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
            now.so_far = network.logic.with(now.so_far, value);
            if network.logic.is_never(now.so_far) {
                break;
            }
            now.at += 1;
        }
        if let Some(missing) = missing {
            open.push(now);
            now = begin(missing);
            continue;
        }
        put(values, now.node, network.logic.all(now.so_far));
        match open.pop() {
            Some(before) => now = before,
            None => return,
        }
    }
}
