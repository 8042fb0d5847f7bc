//! Move ordering by what moves did elsewhere: killers and history.

/// Number of entries of the history. Moves are hashed into it.
const N_HISTORY: usize = 1 << 12;
/// Greatest history of a move.
const MAX_HISTORY: i32 = 1 << 14;

/// Moves that caused cutoffs at other positions. Moves are given by their hashes.
pub(super) struct Ordering {
    /// By ply: the two moves that caused the last cutoffs there.
    killers: Vec<[u32; 2]>,
    /// By hash of a move: how often it caused cutoffs, less how often it did not.
    history: Vec<i32>,
}

impl Ordering {
    pub(super) fn new() -> Ordering {
        Ordering { killers: Vec::new(), history: vec![0; N_HISTORY] }
    }

    /// Prepares for another root: forgets the killers and lowers the history.
    pub(super) fn next_root(&mut self) {
        self.killers.clear();
        self.history.iter_mut().for_each(|count| *count /= 4);
    }

    /// Returns the bonus of a move in units of scores.
    pub(super) fn bonus(&self, ply: usize, m: u32) -> i32 {
        let killer = match self.killers.get(ply) {
            Some(killers) if killers[0] == m => 1500,
            Some(killers) if killers[1] == m => 1000,
            _ => 0,
        };
        killer + self.history[m as usize % N_HISTORY] / 8
    }

    /// Records that a move caused a cutoff, after others that did not.
    pub(super) fn reward(&mut self, ply: usize, depth: u32, m: u32, tried: &[u32]) {
        if self.killers.len() <= ply {
            self.killers.resize(ply + 1, [u32::MAX; 2]);
        }
        let killers = &mut self.killers[ply];
        if killers[0] != m {
            *killers = [m, killers[0]];
        }
        let amount = (depth * depth).min(400) as i32;
        self.change(m, amount);
        tried.iter().for_each(|&other| self.change(other, -amount));
    }

    /// Moves a history towards its limit. Large values change less, so that old ones fade.
    fn change(&mut self, m: u32, amount: i32) {
        let count = &mut self.history[m as usize % N_HISTORY];
        *count += amount - *count * amount.abs() / MAX_HISTORY;
    }
}
