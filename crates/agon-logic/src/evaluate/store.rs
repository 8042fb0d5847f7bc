//! Relations as the evaluator reads them, and what is kept of them from one structure to the next.

use std::sync::{Arc, Mutex};

use crate::structure::{RelationId, Structure};

use super::program::Needs;
use super::table::Index;

/// The tuples of a relation, sorted, with the indexes that were asked for.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) width: usize,
    pub(super) n_rows: usize,
    pub(super) cells: Vec<u32>,
    /// By the set of known columns, as bits. A mutex only so that evaluators can move between threads.
    indexes: Mutex<Vec<(u64, Arc<Index>)>>,
}

impl Rows {
    /// From cells that are sorted already.
    pub(super) fn new(width: usize, n_rows: usize, cells: Vec<u32>) -> Rows {
        Rows { width, n_rows, cells, indexes: Mutex::default() }
    }

    pub(super) fn contains(&self, row: &[u32]) -> bool {
        if self.width == 0 {
            return self.n_rows > 0;
        }
        let (mut low, mut high) = (0, self.n_rows);
        while low < high {
            let middle = (low + high) / 2;
            match self.cells[middle * self.width..(middle + 1) * self.width].cmp(row) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        false
    }

    /// The index by some columns; made once.
    pub(super) fn index(&self, known: &[usize], rest: &[usize], id_bound: usize) -> Arc<Index> {
        // Relations of more than 64 columns share no indexes; no one has them.
        let mask = known.iter().fold(0u64, |mask, &place| mask | 1u64.checked_shl(place as u32).unwrap_or(0));
        let mut indexes = self.indexes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if self.width <= 64
            && let Some((_, index)) = indexes.iter().find(|entry| entry.0 == mask)
        {
            return index.clone();
        }
        let index = Arc::new(Index::new(&self.cells, self.width, known, rest, id_bound));
        if self.width <= 64 {
            indexes.push((mask, index.clone()));
        }
        index
    }
}

/// What is known of the structure seen last. Parts that a later structure shares are not worked out again: in a game,
/// most relations never change.
#[derive(Clone, Default)]
pub(super) struct Store {
    relations: Vec<Option<Known>>,
    /// The last and the one before it, so that several formulas can follow the same change.
    defined: Vec<[Option<Known>; 2]>,
}

/// Rows, and the structure in which they are so.
type Known = (Structure, Arc<Rows>);

impl Store {
    pub(super) fn relation(&mut self, structure: &Structure, id: RelationId) -> Arc<Rows> {
        if self.relations.len() <= id.index() {
            self.relations.resize(structure.vocabulary().n_relations().max(id.index() + 1), None);
        }
        let entry = &mut self.relations[id.index()];
        if let Some((at, rows)) = entry
            && at.shares_relation(structure, id)
        {
            // The universe may have grown: ids that the indexes do not know are in no row.
            return rows.clone();
        }
        let tuples = structure.tuples(id);
        let cells = tuples.cells().iter().map(|element| element.id()).collect();
        let rows = Arc::new(Rows::new(tuples.arity(), tuples.len(), cells));
        *entry = Some((structure.clone(), rows.clone()));
        rows
    }

    pub(super) fn defined(&self, structure: &Structure, place: usize, needs: &Needs) -> Option<Arc<Rows>> {
        let is_same = |at: &Structure| {
            at.shares_universe(structure)
                && needs.relations.iter().all(|&id| at.shares_relation(structure, id))
                && (!needs.functions || at.shares_functions(structure))
                && (!needs.constants || at.shares_constants(structure))
        };
        let known = self.defined.get(place)?.iter().flatten();
        known.filter(|(at, _)| is_same(at)).map(|(_, rows)| rows.clone()).next()
    }

    pub(super) fn keep_defined(&mut self, structure: &Structure, place: usize, rows: Arc<Rows>) {
        if self.defined.len() <= place {
            self.defined.resize(place + 1, [None, None]);
        }
        let entry = &mut self.defined[place];
        let is_known = entry[0].as_ref().is_some_and(|(at, _)| {
            at.shares_universe(structure)
                && at.shares_functions(structure)
                && at.shares_constants(structure)
                && structure.vocabulary().relations().all(|id| at.shares_relation(structure, id))
        });
        if !is_known {
            entry.swap(0, 1);
        }
        entry[0] = Some((structure.clone(), rows));
    }
}
