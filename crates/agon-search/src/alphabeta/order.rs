//! Move ordering: killer moves and the history heuristic.

use agon_game::Role;

use crate::hash::Map;

/// Moves that caused cutoffs at other positions: killers by ply, and a history over all positions.
#[derive(Debug)]
pub(super) struct Ordering<M> {
    /// By ply: the two moves that caused the last cutoffs there.
    killers: Vec<[Option<M>; 2]>,
    /// By move: its index in `counts`, so that all counts can be changed without visiting the map.
    history: Map<(Role, M), u32>,
    counts: Vec<u32>,
}

impl<M: Clone + Eq + std::hash::Hash> Ordering<M> {
    pub(super) fn new() -> Ordering<M> {
        Ordering { killers: Vec::new(), history: Map::default(), counts: Vec::new() }
    }

    /// Prepares for another root: forgets the killers and lowers the history counts.
    pub(super) fn next_root(&mut self) {
        self.killers.clear();
        for count in &mut self.counts {
            *count /= 8;
        }
    }

    /// Records that a move caused a cutoff.
    pub(super) fn reward(&mut self, role: Role, m: &M, ply: usize, depth: u32) {
        if self.killers.len() <= ply {
            self.killers.resize_with(ply + 1, || [None, None]);
        }
        let killers = &mut self.killers[ply];
        if killers[0].as_ref() != Some(m) {
            killers.swap(0, 1);
            killers[0] = Some(m.clone());
        }
        let counts = &mut self.counts;
        let index = *self.history.entry((role, m.clone())).or_insert_with(|| {
            counts.push(0);
            counts.len() as u32 - 1
        });
        let count = &mut counts[index as usize];
        *count = count.saturating_add((depth + 1) * (depth + 1));
    }

    /// Returns the indices of the moves, the most promising first, and equal ones in the given
    /// order.
    pub(super) fn sorted(
        &self,
        role: Role,
        moves: &[M],
        first: Option<&M>,
        ply: usize,
    ) -> Vec<usize> {
        let killers = self.killers.get(ply);
        let rank = |&index: &usize| {
            let m = &moves[index];
            let class = if first == Some(m) {
                3
            } else if killers.is_some_and(|killers| killers[0].as_ref() == Some(m)) {
                2
            } else if killers.is_some_and(|killers| killers[1].as_ref() == Some(m)) {
                1
            } else {
                0
            };
            let history = self
                .history
                .get(&(role, m.clone()))
                .map_or(0, |&index| self.counts[index as usize]);
            std::cmp::Reverse((class, history))
        };
        let mut indices: Vec<usize> = (0..moves.len()).collect();
        indices.sort_by_cached_key(rank);
        indices
    }
}
