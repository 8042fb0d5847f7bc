//! Symmetric moves get equal values.
//!
//! A cut below a level, or rules that count cell by cell, can make the formulas of symmetric moves
//! unlike. Where a symmetry of the game, proved or observed, maps the state onto itself, the values
//! of moves that it maps onto each other are replaced by their mean.

use agon_game::Role;

/// A symmetry of a game: a permutation of fluents and of moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateSymmetry {
    /// By fluent: its image.
    pub fluents: Vec<u32>,
    /// By role and move: its image.
    pub moves: Vec<Vec<u32>>,
}

impl StateSymmetry {
    /// Returns whether the symmetry maps a state onto itself. Bits of a state are in words of 64,
    /// lowest bit first.
    fn fixes(&self, state: &[u64]) -> bool {
        let holds = |fluent: usize| {
            state.get(fluent / 64).is_some_and(|word| word >> (fluent % 64) & 1 == 1)
        };
        // A permutation that maps the true fluents into themselves maps them onto themselves.
        state.iter().enumerate().all(|(at, &word)| {
            let mut left = word;
            while left != 0 {
                let fluent = 64 * at + left.trailing_zeros() as usize;
                left &= left - 1;
                if self.fluents.get(fluent).is_some_and(|&image| !holds(image as usize)) {
                    return false;
                }
            }
            true
        })
    }
}

/// Replaces the values of symmetric moves of a role by their mean. `moves` are the indices of the
/// moves, `None` for moves without a formula.
pub fn equalise(
    symmetries: &[StateSymmetry],
    state: &[u64],
    role: Role,
    moves: &[Option<usize>],
    values: &mut [f64],
) {
    let mut class: Vec<usize> = (0..moves.len()).collect();
    let mut is_changed = false;
    for symmetry in symmetries.iter().filter(|symmetry| symmetry.fixes(state)) {
        for (at, m) in moves.iter().enumerate() {
            let image = m.and_then(|m| symmetry.moves[role.index()].get(m));
            let image = image.and_then(|&to| moves.iter().position(|m| *m == Some(to as usize)));
            let Some(image) = image else { continue };
            let (from, to) = (class[at].min(class[image]), class[at].max(class[image]));
            if from != to {
                is_changed = true;
                class.iter_mut().filter(|class| **class == to).for_each(|class| *class = from);
            }
        }
    }
    if !is_changed {
        return;
    }
    for of in 0..class.len() {
        let members: Vec<usize> = (0..class.len()).filter(|&at| class[at] == of).collect();
        if members.len() > 1 {
            let mean = members.iter().map(|&at| values[at]).sum::<f64>() / members.len() as f64;
            members.iter().for_each(|&at| values[at] = mean);
        }
    }
}
