//! Lists of terms put in order again and again.

use crate::{TermBank, TermId};

/// The order of [`TermBank::compare`], remembered for the terms it was asked about: moves are listed in every state, and
/// most of them were listed before. Comparing two terms is then comparing two numbers.
#[derive(Clone, Default)]
pub struct TermOrder {
    /// All terms met so far, in order.
    sorted: Vec<TermId>,
    /// By term: its place in the order, as a number with gaps to its neighbours; 0 if it was not met yet.
    places: Vec<u64>,
    /// Room for sorting.
    keyed: Vec<(u64, TermId)>,
}

impl TermOrder {
    /// Sorts terms by the order of [`TermBank::compare`] with this order of the symbols, always the same one.
    pub fn sort(&mut self, terms: &mut [TermId], bank: &TermBank, rank: &[u32]) {
        let mut keyed = std::mem::take(&mut self.keyed);
        loop {
            keyed.clear();
            let n_known = self.sorted.len();
            for &term in terms.iter() {
                let place = self.place(term, bank, rank);
                keyed.push((place, term));
            }
            // Places once given change only where the gaps were used up, and then terms were added.
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
            self.spread();
        } else {
            self.places[index] = before + (after - before) / 2;
        }
        self.places[index]
    }

    /// Gives all terms places with equal gaps.
    fn spread(&mut self) {
        let gap = u64::MAX / (self.sorted.len() as u64 + 1);
        for (i, term) in (1..).zip(&self.sorted) {
            self.places[term.raw() as usize] = i * gap;
        }
    }
}
