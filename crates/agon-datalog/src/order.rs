//! Repeated sorting of terms.

use crate::{TermBank, TermId};

/// The order of [`TermBank::compare`], cached for the terms seen so far. Moves are sorted in every
/// state, and most of them were sorted before. Comparing two cached terms is comparing two numbers.
///
/// The cached terms are kept in short lists, so that a new term moves few others, and a term gets a
/// number between those of its neighbours (Bender et al., "Two simplified algorithms for
/// maintaining order in a list", 2002). Where no number is left, those of one list are assigned
/// again, and only if that fails those of all terms. So a million new terms take `n log n` steps.
#[derive(Clone, Default)]
pub struct TermOrder {
    /// All terms seen so far, in order, in lists of at most [`MAX_LIST`] terms. No list is empty.
    lists: Vec<Vec<TermId>>,
    /// Number of terms seen so far.
    n_known: usize,
    /// For each term its key in the order, with gaps between neighbours. 0 if it was not seen yet.
    places: Vec<u64>,
    /// Buffer for sorting.
    keyed: Vec<(u64, TermId)>,
}

/// Maximum number of terms in a list.
const MAX_LIST: usize = 512;

/// Distance to the neighbour of a term that is placed before or after all others. Halving the rest
/// would use up the numbers after 64 terms in rising order.
const END_GAP: u64 = 1 << 32;

impl TermOrder {
    /// Sorts terms by [`TermBank::compare`]. The order of symbols `rank` must be the same in all
    /// calls.
    pub fn sort(&mut self, terms: &mut [TermId], bank: &TermBank, rank: &[u32]) {
        let mut keyed = std::mem::take(&mut self.keyed);
        loop {
            keyed.clear();
            let n_known = self.n_known;
            for &term in terms.iter() {
                let place = self.place(term, bank, rank);
                keyed.push((place, term));
            }
            // Keys change only when gaps are used up, and then terms were added.
            if self.n_known == n_known {
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
        if self.places[index] == 0 {
            self.insert(term, bank, rank);
        }
        self.places[index]
    }

    fn insert(&mut self, term: TermId, bank: &TermBank, rank: &[u32]) {
        self.n_known += 1;
        if self.lists.is_empty() {
            self.lists.push(Vec::new());
        }
        let is_before = |known: &TermId| bank.compare(*known, term, rank).is_lt();
        let list = self.lists.partition_point(|list| list.first().is_some_and(is_before));
        let mut list = list.saturating_sub(1);
        let mut at = self.lists[list].partition_point(is_before);
        self.lists[list].insert(at, term);
        if self.lists[list].len() > MAX_LIST {
            let upper = self.lists[list].split_off(MAX_LIST / 2);
            self.lists.insert(list + 1, upper);
            if at >= MAX_LIST / 2 {
                (list, at) = (list + 1, at - MAX_LIST / 2);
            }
        }
        let index = term.raw() as usize;
        let before = match at.checked_sub(1) {
            Some(before) => Some(self.lists[list][before]),
            None => list.checked_sub(1).and_then(|before| self.lists[before].last().copied()),
        };
        let after = match self.lists[list].get(at + 1) {
            Some(after) => Some(*after),
            None => self.lists.get(list + 1).and_then(|after| after.first().copied()),
        };
        let place_of = |term: Option<TermId>| term.map(|term| self.places[term.raw() as usize]);
        let place = match (place_of(before), place_of(after)) {
            (None, None) => Some(u64::MAX / 2),
            (Some(before), None) => before.checked_add(END_GAP),
            (None, Some(after)) => after.checked_sub(END_GAP).filter(|&place| place > 0),
            (Some(before), Some(after)) => {
                (after - before >= 2).then(|| before + (after - before) / 2)
            }
        };
        match place {
            Some(place) => self.places[index] = place,
            None if self.renumber_list(list) => {}
            None => self.renumber(),
        }
    }

    /// Assigns keys with equal gaps to the terms of one list. Returns `false`, and assigns none, if
    /// there are too few numbers between the neighbours of the list.
    fn renumber_list(&mut self, list: usize) -> bool {
        let place_of = |term: &TermId| self.places[term.raw() as usize];
        let before = list.checked_sub(1).and_then(|before| self.lists[before].last());
        let after = self.lists.get(list + 1).and_then(|after| after.first());
        let low = before.map_or(0, place_of);
        let high = after.map_or(u64::MAX, place_of);
        let gap = (high - low) / (self.lists[list].len() as u64 + 1);
        // With small gaps, the list would soon be numbered again.
        if gap < MAX_LIST as u64 {
            return false;
        }
        for (i, term) in (1..).zip(&self.lists[list]) {
            self.places[term.raw() as usize] = low + i * gap;
        }
        true
    }

    /// Assigns keys with equal gaps to all terms.
    fn renumber(&mut self) {
        let gap = u64::MAX / (self.n_known as u64 + 1);
        for (i, term) in (1..).zip(self.lists.iter().flatten()) {
            self.places[term.raw() as usize] = i * gap;
        }
    }
}
