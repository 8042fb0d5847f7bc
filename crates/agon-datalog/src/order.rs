//! Repeated sorting of terms.

use crate::{TermBank, TermId};

/// The order of [`TermBank::compare`], cached for the terms seen so far. Moves are sorted in every
/// state, and most of them were sorted before. Comparing two cached terms is comparing two numbers.
#[derive(Clone, Default)]
pub struct TermOrder {
    /// All terms seen so far, in order.
    sorted: Vec<TermId>,
    /// For each term its key in the order, with gaps between neighbours. 0 if it was not seen yet.
    places: Vec<u64>,
    /// Buffer for sorting.
    keyed: Vec<(u64, TermId)>,
}

impl TermOrder {
    /// Sorts terms by [`TermBank::compare`]. The order of symbols `rank` must be the same in all
    /// calls.
    pub fn sort(&mut self, terms: &mut [TermId], bank: &TermBank, rank: &[u32]) {
        let mut keyed = std::mem::take(&mut self.keyed);
        loop {
            keyed.clear();
            let n_known = self.sorted.len();
            for &term in terms.iter() {
                let place = self.place(term, bank, rank);
                keyed.push((place, term));
            }
            // Keys change only when gaps are used up, and then terms were added.
            if self.sorted.len() == n_known {
                break;
            }
        }
        keyed.sort_unstable();
        for (term, (_, sorted)) in terms.iter_mut().zip(&keyed) {
            *term = *sorted;
        }
        self.keyed = keyed;
    }

    fn place(&mut self, term: TermId, bank: &TermBank, rank: &[u32]) -> u64 {
        let index = term.raw() as usize;
        if index >= self.places.len() {
            self.places.resize(index + 1, 0);
        }
        if self.places[index] != 0 {
            return self.places[index];
        }
        let at = self
            .sorted
            .binary_search_by(|&known| bank.compare(known, term, rank))
            .expect_err("a term that was not met yet differs from all that were");
        let before = if at == 0 { 0 } else { self.places[self.sorted[at - 1].raw() as usize] };
        let after = self.sorted.get(at).map_or(u64::MAX, |known| self.places[known.raw() as usize]);
        self.sorted.insert(at, term);
        if after - before < 2 {
            self.renumber();
        } else {
            self.places[index] = before + (after - before) / 2;
        }
        self.places[index]
    }

    /// Assigns keys with equal gaps to all terms.
    fn renumber(&mut self) {
        let gap = u64::MAX / (self.sorted.len() as u64 + 1);
        for (i, term) in (1..).zip(&self.sorted) {
            self.places[term.raw() as usize] = i * gap;
        }
    }
}
