//! Relations as the evaluator reads them, and what is kept of them from one structure to the next.

use std::sync::{Arc, Mutex, OnceLock};

use crate::structure::{Element, RelationId, Structure, Tuples};

use super::incremental::Since;
use super::program::{Needs, Program};
use super::table::{Index, changes, merged};

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

    pub(super) fn of(tuples: &Tuples) -> Rows {
        Rows::new(
            tuples.arity(),
            tuples.len(),
            tuples.cells().iter().map(|element| element.id()).collect(),
        )
    }

    /// With a few rows more and a few less, as [`merged`] has it. Indexes come along, so that they are never made anew while changes
    /// are small.
    pub(super) fn updated(&self, added: &[u32], removed: &[u32], id_bound: usize) -> Rows {
        let cells = merged(self.width, &self.cells, added, removed);
        self.moved_on(cells, added, removed, id_bound)
    }

    fn moved_on(&self, cells: Vec<u32>, added: &[u32], removed: &[u32], id_bound: usize) -> Rows {
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

    /// The index by some columns; made once.
    pub(super) fn index(&self, known: &[usize], rest: &[usize], id_bound: usize) -> Arc<Index> {
        // Relations of more than 64 columns share no indexes; no one has them.
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

/// What is known of the structure seen last. Parts that a later structure shares are not worked out again: in a game,
/// most relations never change.
#[derive(Clone, Default)]
pub(super) struct Store {
    relations: Vec<Option<Known>>,
    /// The last and the one before it, so that questions about two structures in turn find what they share.
    defined: Vec<[Option<Known>; 2]>,
    elements: Option<(Structure, Arc<[u32]>)>,
    now: Option<Arc<Moment>>,
    /// What has changed since a moment that several formulas are followed from.
    pub(super) since: Option<Since>,
}

/// Rows, and the structure in which they are so.
type Known = (Structure, Arc<Rows>);

/// A structure with those of the defined relations that were worked out there: where formulas can be followed from.
#[derive(Debug)]
pub(super) struct Moment {
    pub(super) structure: Structure,
    defined: Vec<OnceLock<Arc<Rows>>>,
}

impl Moment {
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
            // The universe may have grown: ids that the indexes do not know are in no row.
            return rows.clone();
        }
        let mut rows = Rows::of(structure.tuples(id));
        if let Some((_, before)) = entry
            && rows.width > 0
            && before.has_indexes()
        {
            let (added, removed) = changes(rows.width, &before.cells, &rows.cells);
            rows = before.moved_on(rows.cells, &added, &removed, structure.id_bound());
        }
        let rows = Arc::new(rows);
        *entry = Some((structure.clone(), rows.clone()));
        rows
    }

    pub(super) fn defined(
        &self,
        structure: &Structure,
        place: usize,
        needs: &Needs,
    ) -> Option<Arc<Rows>> {
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
        if let Some(now) = &self.now
            && let Some(entry) = now.defined.get(place)
            && now.structure.shares_all(structure)
        {
            // If it is there already it is the same.
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

    /// All elements.
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

    /// What is known of the structure now, and what will be while no other is asked for.
    pub(super) fn moment(&mut self, structure: &Structure, program: &Program) -> Arc<Moment> {
        if let Some(now) = &self.now
            && now.defined.len() == program.defined.len()
            && now.structure.shares_all(structure)
        {
            return now.clone();
        }
        let known = |(place, defined): (usize, &super::program::Defined)| {
            let known = self.defined(structure, place, &defined.needs);
            known.map_or_else(OnceLock::new, OnceLock::from)
        };
        let defined = program.defined.iter().enumerate().map(known).collect();
        let now = Arc::new(Moment { structure: structure.clone(), defined });
        self.now = Some(now.clone());
        now
    }
}
