//! What is known of a game beside its rules, and what follows from a move's being legal.

use agon_circuit::{Circuit, Signal, Turns};
use agon_game::Role;

/// What is proved of a game. All of it may be left empty: the heuristic is then what the rules alone give.
///
/// Fluents are numbered as the base bits of the circuit.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    /// By fluent: once true it stays true. Empty if nothing is known.
    pub persistent_true: Vec<bool>,
    /// By fluent: once false it stays false. Empty if nothing is known.
    pub persistent_false: Vec<bool>,
    /// Groups of fluents of which at most one holds at a time: what the modes of fluents say.
    pub groups: Vec<Vec<usize>>,
    /// Who waits when, if players take turns.
    pub turns: Option<Turns>,
}

impl Knowledge {
    /// Whether a fluent that holds will hold for ever.
    pub fn stays_true(&self, fluent: usize) -> bool {
        self.persistent_true.get(fluent).copied().unwrap_or(false)
    }

    /// Whether a fluent that does not hold never will.
    pub fn stays_false(&self, fluent: usize) -> bool {
        self.persistent_false.get(fluent).copied().unwrap_or(false)
    }

    /// By fluent: the groups it is in.
    pub(super) fn groups_of(&self, n_fluents: usize) -> Vec<Vec<u32>> {
        let mut groups_of = vec![Vec::new(); n_fluents];
        for (group, fluents) in self.groups.iter().enumerate() {
            for &fluent in fluents {
                groups_of[fluent].push(group as u32);
            }
        }
        groups_of
    }

    /// The move with which a role waits, if there is exactly one.
    pub(super) fn noop(&self, role: Role) -> Option<usize> {
        let waits = &self.turns.as_ref()?.waits[role.index()];
        let mut waiting = waits.iter().enumerate().filter(|(_, waits)| **waits).map(|(at, _)| at);
        let noop = waiting.next()?;
        waiting.next().is_none().then_some(noop)
    }

    /// Whether a move is one that a role makes only to wait for another.
    pub(super) fn waits(&self, role: Role, move_idx: usize) -> bool {
        self.turns.as_ref().is_some_and(|turns| turns.waits[role.index()][move_idx])
    }
}

/// Conditions of a legal move that are looked at.
const MAX_CONDITIONS: usize = 10_000;

/// The fluents whose truth follows from a signal's holding: its conjuncts that are fluents, and what their groups say.
/// Sorted by fluent. `None` if the signal cannot hold.
pub(super) fn what_must_hold(
    circuit: &Circuit,
    signal: Signal,
    groups: &[Vec<usize>],
    groups_of: &[Vec<u32>],
) -> Option<Vec<(usize, bool)>> {
    let mut facts = Vec::new();
    let mut left = vec![signal];
    let mut n_seen = 0;
    while let Some(signal) = left.pop() {
        n_seen += 1;
        if signal == Signal::FALSE {
            return None;
        }
        if n_seen > MAX_CONDITIONS || signal.is_constant() {
            continue;
        }
        let gate = signal.gate();
        if gate < circuit.first_input() {
            facts.push((gate - 1, !signal.is_inverted()));
        } else if gate >= circuit.first_and() && !signal.is_inverted() {
            left.extend(circuit.ands[gate - circuit.first_and()]);
        }
    }
    let true_ones: Vec<usize> =
        facts.iter().filter(|(_, holds)| *holds).map(|(fluent, _)| *fluent).collect();
    for fluent in true_ones {
        for &group in &groups_of[fluent] {
            let others = groups[group as usize].iter().filter(|&&other| other != fluent);
            facts.extend(others.map(|&other| (other, false)));
        }
    }
    facts.sort_unstable();
    facts.dedup();
    let is_contradiction = facts.windows(2).any(|pair| pair[0].0 == pair[1].0);
    (!is_contradiction).then_some(facts)
}
