//! Rows of ground terms, with indexes that look into the terms.

use hashbrown::HashTable;

use crate::term::hash_key;
use crate::{Symbol, TermBank, TermId};

/// A path into a row: a column, then argument positions.
pub(crate) type Path = Box<[u16]>;

/// The selection criteria of an index. Rows without the required forms are not in the index.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct IndexSpec {
    /// Required symbol and arity of the term at each path. Outer paths come before inner ones.
    pub(crate) forms: Vec<(Path, Symbol, usize)>,
    /// Paths of the terms that form the key.
    pub(crate) keys: Vec<Path>,
}

/// End of a chain of rows.
pub(crate) const END: u32 = u32::MAX;

/// A finite relation. Rows keep their insertion order. Indexes are built on first use. For example,
/// `(true (cell ?x ?y b))` is found by the key `b` among the fluents of the form `(cell _ _ _)`.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    arity: usize,
    rows: Vec<u32>,
    n_rows: usize,
    indexes: Vec<Index>,
}

#[derive(Clone, Debug, Default)]
struct Index {
    spec: IndexSpec,
    built: bool,
    groups: HashTable<u32>,
    /// Keys of all groups, concatenated.
    keys: Vec<u32>,
    /// First row of each group.
    first: Vec<u32>,
    /// Last row of each group.
    last: Vec<u32>,
    /// Next row of the same group.
    next: Vec<u32>,
    /// Number of rows with the required forms.
    n_entered: usize,
}

impl Relation {
    pub(crate) fn new(arity: usize, specs: Vec<IndexSpec>) -> Relation {
        let index = |spec| Index { spec, ..Index::default() };
        Relation {
            arity,
            rows: Vec::new(),
            n_rows: 0,
            indexes: specs.into_iter().map(index).collect(),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.n_rows = 0;
        for index in &mut self.indexes {
            if index.built {
                index.built = false;
                index.groups.clear();
                index.keys.clear();
                index.first.clear();
                index.last.clear();
                index.next.clear();
                index.n_entered = 0;
            }
        }
    }

    /// Adds a row, which must not be in the relation yet. Indexes that were built before must be
    /// updated by [`Relation::index`].
    pub(crate) fn push(&mut self, row: &[TermId]) {
        debug_assert_eq!(row.len(), self.arity, "a row has as many columns as the relation");
        debug_assert!(
            self.indexes.iter().all(|index| !index.built),
            "rows are complete before they are indexed"
        );
        self.rows.extend(row.iter().map(|t| t.raw()));
        self.n_rows += 1;
    }

    /// Adds a row and updates the indexes, for relations that grow while they are read.
    pub(crate) fn grow(&mut self, row: &[u32], bank: &TermBank) {
        debug_assert_eq!(row.len(), self.arity, "a row has as many columns as the relation");
        self.rows.extend_from_slice(row);
        self.n_rows += 1;
        let added = u32::try_from(self.n_rows - 1).expect("fewer than 2^32 rows");
        let mut key = Vec::new();
        for which in 0..self.indexes.len() {
            if self.indexes[which].built {
                let mut index = std::mem::take(&mut self.indexes[which]);
                self.enter(&mut index, added, &mut key, bank);
                self.indexes[which] = index;
            }
        }
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> u32 {
        u32::try_from(self.n_rows).expect("fewer than 2^32 rows")
    }

    /// Adds an index. Equal specifications share an index.
    pub(crate) fn add_index(&mut self, spec: IndexSpec) -> usize {
        if let Some(known) = self.indexes.iter().position(|index| index.spec == spec) {
            return known;
        }
        self.indexes.push(Index { spec, ..Index::default() });
        self.indexes.len() - 1
    }

    /// Returns the average number of rows of an index with the same key.
    pub(crate) fn fan_out(&mut self, index: usize, bank: &TermBank) -> f64 {
        if !self.indexes[index].built {
            self.build(index, bank);
        }
        let index = &self.indexes[index];
        index.n_entered as f64 / index.first.len().max(1) as f64
    }

    /// Returns a row.
    pub(crate) fn row(&self, row: u32) -> &[u32] {
        &self.rows[row as usize * self.arity..][..self.arity]
    }

    /// Returns the first row with this key, or `END`.
    #[inline]
    pub(crate) fn first(&mut self, index: usize, key: &[u32], bank: &TermBank) -> u32 {
        if !self.indexes[index].built {
            self.build(index, bank);
        }
        let index = &self.indexes[index];
        if key.is_empty() {
            return index.first.first().copied().unwrap_or(END);
        }
        let width = key.len();
        let same = |&group: &u32| &index.keys[group as usize * width..][..width] == key;
        index.groups.find(hash_key(key), same).map_or(END, |&group| index.first[group as usize])
    }

    /// Returns the row after `row` in its group, or `END`.
    #[inline]
    pub(crate) fn next(&self, index: usize, row: u32) -> u32 {
        self.indexes[index].next[row as usize]
    }

    /// Returns the term at `path` in `row`. The row must be in an index that requires the forms
    /// along the path.
    #[inline]
    pub(crate) fn at(&self, row: u32, path: &[u16], bank: &TermBank) -> u32 {
        let mut term = self.rows[row as usize * self.arity + path[0] as usize];
        for &step in &path[1..] {
            term = bank.argument(TermId::from_raw(term), step.into()).raw();
        }
        term
    }

    fn build(&mut self, which: usize, bank: &TermBank) {
        let mut index = std::mem::take(&mut self.indexes[which]);
        index.next.reserve(self.n_rows);
        let mut key = Vec::with_capacity(index.spec.keys.len());
        for row in 0..self.len() {
            self.enter(&mut index, row, &mut key, bank);
        }
        index.built = true;
        self.indexes[which] = index;
    }

    /// Adds the next row in order to an index.
    fn enter(&self, index: &mut Index, row: u32, key: &mut Vec<u32>, bank: &TermBank) {
        debug_assert_eq!(index.next.len(), row as usize, "rows are entered in order");
        index.next.push(END);
        let has_forms = index.spec.forms.iter().all(|(path, symbol, arity)| {
            bank.has_form(TermId::from_raw(self.at(row, path, bank)), *symbol, *arity)
        });
        if !has_forms {
            return;
        }
        index.n_entered += 1;
        let width = index.spec.keys.len();
        key.clear();
        key.extend(index.spec.keys.iter().map(|path| self.at(row, path, bank)));
        let hash = hash_key(key);
        let keys = &index.keys;
        let found = if width == 0 {
            (!index.first.is_empty()).then_some(0)
        } else {
            let same = |&group: &u32| keys[group as usize * width..][..width] == key[..];
            index.groups.find(hash, same).copied()
        };
        if let Some(group) = found {
            let last = &mut index.last[group as usize];
            index.next[*last as usize] = row;
            *last = row;
            return;
        }
        let group = u32::try_from(index.first.len()).expect("fewer groups than rows");
        index.keys.extend_from_slice(key);
        index.first.push(row);
        index.last.push(row);
        if width > 0 {
            let keys = &index.keys;
            index.groups.insert_unique(hash, group, |&group| {
                hash_key(&keys[group as usize * width..][..width])
            });
        }
    }
}
