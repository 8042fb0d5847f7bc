//! Relations in the form that the evaluator reads, and what is kept of them from one structure to
//! the next.

use std::sync::{Arc, Mutex, OnceLock};

use crate::structure::{Element, RelationId, Structure, Tuples};

use super::incremental::Delta;
use super::program::{Dependencies, Program};
use super::table::{Index, changes, merged};

/// The sorted tuples of a relation, with the indexes that have been requested.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) width: usize,
    pub(super) n_rows: usize,
    pub(super) cells: Vec<u32>,
    /// The indexes by the set of known columns, as a bit mask. The mutex is only needed so that
    /// evaluators can move between threads.
    indexes: Mutex<Vec<(u64, Arc<Index>)>>,
}

impl Rows {
    /// Creates rows from sorted cells.
    pub(super) fn new(width: usize, n_rows: usize, cells: Vec<u32>) -> Rows {
        Rows { width, n_rows, cells, indexes: Mutex::default() }
    }

    pub(super) fn of(tuples: &Tuples) -> Rows {
        Rows::new(
            tuples.arity(),
            tuples.len(),
            tuples.cells().iter().map(|element| element.id()).collect(),
        )
    }

    /// Returns the rows after a small change, as [`merged`] computes it. Indexes are updated too,
    /// so that small changes never rebuild them.
    pub(super) fn updated(&self, added: &[u32], removed: &[u32], id_bound: usize) -> Rows {
        let cells = merged(self.width, &self.cells, added, removed);
        self.with_changes(cells, added, removed, id_bound)
    }

    fn with_changes(
        &self,
        cells: Vec<u32>,
        added: &[u32],
        removed: &[u32],
        id_bound: usize,
    ) -> Rows {
        let n_rows = cells.len() / self.width;
        let few = added.len() + removed.len() <= cells.len() / 8 + 16 * self.width;
        let indexes = self.indexes.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let kept = indexes.iter().filter(|_| few);
        let kept =
            kept.map(|(mask, index)| (*mask, Arc::new(index.updated(added, removed, id_bound))));
        let indexes = Mutex::new(kept.collect());
        Rows { width: self.width, n_rows, cells, indexes }
    }

    fn has_indexes(&self) -> bool {
        !self.indexes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).is_empty()
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

    /// Returns the index by some columns, which is built once.
    pub(super) fn index(&self, known: &[usize], rest: &[usize], id_bound: usize) -> Arc<Index> {
        // Relations with more than 64 columns have no cached indexes. They do not occur in
        // practice.
        let mask = known
            .iter()
            .fold(0u64, |mask, &place| mask | 1u64.checked_shl(place as u32).unwrap_or(0));
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

/// The data known for the last structure. Parts that a later structure shares are not computed
/// again, because in a game most relations never change.
#[derive(Clone, Default)]
pub(super) struct Store {
    relations: Vec<Option<Known>>,
    /// The last two versions, so that queries about two alternating structures find what they
    /// share.
    defined: Vec<[Option<Known>; 2]>,
    elements: Option<(Structure, Arc<[u32]>)>,
    now: Option<Arc<Snapshot>>,
    /// The changes since a snapshot from which several formulas are updated.
    pub(super) delta: Option<Delta>,
}

/// Rows, and the structure to which they belong.
type Known = (Structure, Arc<Rows>);

/// A structure with the defined relations that were computed in it: the starting point of updates.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) structure: Structure,
    defined: Vec<OnceLock<Arc<Rows>>>,
}

impl Snapshot {
    pub(super) fn defined(&self, place: usize) -> Option<&Arc<Rows>> {
        self.defined.get(place)?.get()
    }
}

impl Store {
    pub(super) fn relation(&mut self, structure: &Structure, id: RelationId) -> Arc<Rows> {
        if self.relations.len() <= id.index() {
            self.relations.resize(structure.vocabulary().n_relations().max(id.index() + 1), None);
        }
        let entry = &mut self.relations[id.index()];
        if let Some((at, rows)) = entry
            && at.shares_relation(structure, id)
        {
            // The universe may have grown, but ids unknown to the indexes are in no row.
            return rows.clone();
        }
        let mut rows = Rows::of(structure.tuples(id));
        if let Some((_, before)) = entry
            && rows.width > 0
            && before.has_indexes()
        {
            let (added, removed) = changes(rows.width, &before.cells, &rows.cells);
            rows = before.with_changes(rows.cells, &added, &removed, structure.id_bound());
        }
        let rows = Arc::new(rows);
        *entry = Some((structure.clone(), rows.clone()));
        rows
    }

    pub(super) fn defined(
        &self,
        structure: &Structure,
        place: usize,
        depends_on: &Dependencies,
    ) -> Option<Arc<Rows>> {
        let is_same = |at: &Structure| {
            at.shares_universe(structure)
                && depends_on.relations.iter().all(|&id| at.shares_relation(structure, id))
                && (!depends_on.functions || at.shares_functions(structure))
                && (!depends_on.constants || at.shares_constants(structure))
        };
        let known = self.defined.get(place)?.iter().flatten();
        known.filter(|(at, _)| is_same(at)).map(|(_, rows)| rows.clone()).next()
    }

    pub(super) fn keep_defined(&mut self, structure: &Structure, place: usize, rows: Arc<Rows>) {
        if let Some(now) = &self.now
            && let Some(entry) = now.defined.get(place)
            && now.structure.shares_all(structure)
        {
            // If the entry is set already, it has the same rows.
            let _ = entry.set(rows.clone());
        }
        if self.defined.len() <= place {
            self.defined.resize(place + 1, [None, None]);
        }
        let entry = &mut self.defined[place];
        if !entry[0].as_ref().is_some_and(|(at, _)| at.shares_all(structure)) {
            entry.swap(0, 1);
        }
        entry[0] = Some((structure.clone(), rows));
    }

    /// Returns the ids of all elements.
    pub(super) fn elements(&mut self, structure: &Structure) -> Arc<[u32]> {
        match &self.elements {
            Some((at, elements)) if at.shares_universe(structure) => elements.clone(),
            _ => {
                let elements: Arc<[u32]> = structure.elements().map(Element::id).collect();
                self.elements = Some((structure.clone(), elements.clone()));
                elements
            }
        }
    }

    /// Returns the snapshot of the structure. Relations computed later are added to it until
    /// another structure is used.
    pub(super) fn snapshot(&mut self, structure: &Structure, program: &Program) -> Arc<Snapshot> {
        if let Some(now) = &self.now
            && now.defined.len() == program.defined.len()
            && now.structure.shares_all(structure)
        {
            return now.clone();
        }
        let known = |(place, defined): (usize, &super::program::Defined)| {
            let known = self.defined(structure, place, &defined.depends_on);
            known.map_or_else(OnceLock::new, OnceLock::from)
        };
        let defined = program.defined.iter().enumerate().map(known).collect();
        let now = Arc::new(Snapshot { structure: structure.clone(), defined });
        self.now = Some(now.clone());
        now
    }
}
