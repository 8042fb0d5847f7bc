//! Proved facts about a game, and facts implied by a move's being legal.

use agon_circuit::{Circuit, Signal, Turns};
use agon_game::Role;

/// Proved facts about a game. Every field may be empty; the heuristic then depends on the rules
/// alone.
///
/// Fluents are numbered as the base bits of the circuit.
#[derive(Clone, Debug, Default)]
pub struct Knowledge {
    /// By fluent: whether it stays true once it is true. Empty if nothing is known.
    pub persistent_true: Vec<bool>,
    /// By fluent: whether it stays false once it is false. Empty if nothing is known.
    pub persistent_false: Vec<bool>,
    /// Groups of fluents of which at most one holds at a time, as given by the fluent modes.
    pub groups: Vec<Vec<usize>>,
    /// The waiting moves of each role, if the game is turn-taking.
    pub turns: Option<Turns>,
    /// The symmetries of the game, proved or observed.
    pub symmetries: Vec<super::StateSymmetry>,
}

impl Knowledge {
    /// Returns whether the fluent stays true once it is true.
    pub(crate) fn stays_true(&self, fluent: usize) -> bool {
        self.persistent_true.get(fluent).copied().unwrap_or(false)
    }

    /// Returns whether the fluent stays false once it is false.
    pub(crate) fn stays_false(&self, fluent: usize) -> bool {
        self.persistent_false.get(fluent).copied().unwrap_or(false)
    }

    /// Returns, by fluent, the groups that contain it.
    pub(crate) fn groups_of(&self, n_fluents: usize) -> Vec<Vec<u32>> {
        let mut groups_of = vec![Vec::new(); n_fluents];
        for (group, fluents) in self.groups.iter().enumerate() {
            for &fluent in fluents {
                groups_of[fluent].push(group as u32);
            }
        }
        groups_of
    }

    /// Returns the waiting move of a role, if there is exactly one.
    pub(super) fn noop(&self, role: Role) -> Option<usize> {
        let waits = &self.turns.as_ref()?.waits[role.index()];
        let mut waiting = waits.iter().enumerate().filter(|(_, waits)| **waits).map(|(at, _)| at);
        let noop = waiting.next()?;
        waiting.next().is_none().then_some(noop)
    }

    /// Returns whether a move is one that the role makes only to wait for another role.
    pub(super) fn waits(&self, role: Role, move_idx: usize) -> bool {
        self.turns.as_ref().is_some_and(|turns| turns.waits[role.index()][move_idx])
    }
}

/// Maximum number of conditions of a legal move that are read.
const MAX_CONDITIONS: usize = 10_000;

/// Returns the fluents whose truth follows from a signal: the fluents among its conjuncts, and the
/// other members of their groups. Sorted by fluent. `None` if the signal cannot hold.
pub(super) fn implied_facts(
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
