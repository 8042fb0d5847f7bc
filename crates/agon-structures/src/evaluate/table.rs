//! Sets of assignments.

use super::program::Var;

/// A set of assignments to some variables.
///
/// Invariants: `columns` has no repetitions, `cells` holds `n_rows` rows of `columns.len()` ids,
/// and rows are distinct. Rows and columns are not ordered, because most operations keep rows
/// distinct without an order.
#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) columns: Vec<Var>,
    pub(super) n_rows: usize,
    pub(super) cells: Vec<u32>,
}

impl Table {
    /// Returns the table with the one assignment to no variables.
    pub(super) fn unit() -> Table {
        Table { columns: Vec::new(), n_rows: 1, cells: Vec::new() }
    }

    pub(super) fn empty(columns: Vec<Var>) -> Table {
        Table { columns, n_rows: 0, cells: Vec::new() }
    }

    pub(super) fn width(&self) -> usize {
        self.columns.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.n_rows == 0
    }

    pub(super) fn column(&self, variable: Var) -> Option<usize> {
        self.columns.iter().position(|&column| column == variable)
    }

    pub(super) fn row(&self, place: usize) -> &[u32] {
        &self.cells[place * self.width()..(place + 1) * self.width()]
    }

    /// Projects the rows to the columns at these places, in this order, and removes duplicates.
    pub(super) fn projected(&self, places: &[usize]) -> Table {
        let columns = places.iter().map(|&place| self.columns[place]).collect();
        if places.len() == self.width() {
            // No column is lost, so rows stay distinct.
            return Table { columns, n_rows: self.n_rows, cells: self.picked(places) };
        }
        let (n_rows, cells) = sorted_distinct(places.len(), self.n_rows, self.picked(places));
        Table { columns, n_rows, cells }
    }

    fn picked(&self, places: &[usize]) -> Vec<u32> {
        if places.iter().copied().eq(0..self.width()) {
            return self.cells.clone();
        }
        let mut cells = Vec::with_capacity(self.n_rows * places.len());
        for row in 0..self.n_rows {
            let row = self.row(row);
            cells.extend(places.iter().map(|&place| row[place]));
        }
        cells
    }

    /// Returns the union of two tables with the same columns in any order.
    pub(super) fn united(self, other: &Table) -> Table {
        if other.is_empty() {
            return self;
        }
        let places: Vec<usize> = self
            .columns
            .iter()
            .map(|&column| other.column(column).expect("united tables have the same columns"))
            .collect();
        let mut cells = self.cells;
        cells.extend(other.picked(&places));
        let (n_rows, cells) = sorted_distinct(places.len(), self.n_rows + other.n_rows, cells);
        Table { columns: self.columns, n_rows, cells }
    }

    /// Returns the same rows sorted, with the columns in their present order.
    pub(super) fn sorted(self) -> Table {
        let (n_rows, cells) = sorted_distinct(self.columns.len(), self.n_rows, self.cells);
        Table { columns: self.columns, n_rows, cells }
    }
}

/// Sorts rows and removes duplicates.
pub(super) fn sorted_distinct(width: usize, n_rows: usize, cells: Vec<u32>) -> (usize, Vec<u32>) {
    match width {
        0 => (n_rows.min(1), cells),
        1 => {
            let mut cells = cells;
            cells.sort_unstable();
            cells.dedup();
            (cells.len(), cells)
        }
        // Two ids fit into one number, and numbers sort much faster than slices.
        2 => {
            let mut rows: Vec<u64> = cells
                .chunks_exact(2)
                .map(|row| u64::from(row[0]) << 32 | u64::from(row[1]))
                .collect();
            rows.sort_unstable();
            rows.dedup();
            (rows.len(), rows.iter().flat_map(|&row| [(row >> 32) as u32, row as u32]).collect())
        }
        3 | 4 => {
            let mut rows: Vec<u128> = cells
                .chunks_exact(width)
                .map(|row| row.iter().fold(0, |number, &id| number << 32 | u128::from(id)))
                .collect();
            rows.sort_unstable();
            rows.dedup();
            let shifts: Vec<usize> = (0..width).rev().map(|place| place * 32).collect();
            let cells =
                rows.iter().flat_map(|&row| shifts.iter().map(move |&shift| (row >> shift) as u32));
            (rows.len(), cells.collect())
        }
        5..=8 => {
            let number =
                |ids: &[u32]| ids.iter().fold(0, |number, &id| number << 32 | u128::from(id));
            let mut rows: Vec<(u128, u128)> = cells
                .chunks_exact(width)
                .map(|row| (number(&row[..4]), number(&row[4..])))
                .collect();
            rows.sort_unstable();
            rows.dedup();
            let mut cells = Vec::with_capacity(rows.len() * width);
            for &(first, second) in &rows {
                cells.extend((0..4).rev().map(|place| (first >> (32 * place)) as u32));
                cells.extend((0..width - 4).rev().map(|place| (second >> (32 * place)) as u32));
            }
            (rows.len(), cells)
        }
        _ => {
            let mut order: Vec<&[u32]> = cells.chunks_exact(width).collect();
            order.sort_unstable();
            order.dedup();
            (order.len(), order.concat())
        }
    }
}

/// Returns the rows of `after` that are not in `before`, and those of `before` that are not in
/// `after`. Both must be sorted. Common rows are skipped in blocks.
pub(super) fn changes<T: Ord + Copy>(width: usize, before: &[T], after: &[T]) -> (Vec<T>, Vec<T>) {
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    let block = 32 * width;
    let (mut old, mut new) = (0, 0);
    while old < before.len() && new < after.len() {
        if old + block <= before.len()
            && new + block <= after.len()
            && before[old..old + block] == after[new..new + block]
        {
            (old, new) = (old + block, new + block);
            continue;
        }
        // The next difference is within a block, so there are few rounds.
        for _ in 0..32 {
            if old >= before.len() || new >= after.len() {
                break;
            }
            let (gone, come) = (&before[old..old + width], &after[new..new + width]);
            match gone.cmp(come) {
                std::cmp::Ordering::Equal => (old, new) = (old + width, new + width),
                std::cmp::Ordering::Less => {
                    removed.extend_from_slice(gone);
                    old += width;
                }
                std::cmp::Ordering::Greater => {
                    added.extend_from_slice(come);
                    new += width;
                }
            }
        }
    }
    removed.extend_from_slice(&before[old..]);
    added.extend_from_slice(&after[new..]);
    (added, removed)
}

/// Adds and removes rows of a sorted list. Added rows must be new, removed rows present, and both
/// sorted. Unchanged rows are copied in long pieces.
pub(super) fn merged(width: usize, cells: &[u32], added: &[u32], removed: &[u32]) -> Vec<u32> {
    let mut merged = Vec::with_capacity(cells.len() + added.len());
    let (mut come, mut go, mut at) = (0, 0, 0);
    while come < added.len() || go < removed.len() {
        let is_coming = go == removed.len()
            || (come < added.len() && added[come..come + width] < removed[go..go + width]);
        let row = if is_coming { &added[come..come + width] } else { &removed[go..go + width] };
        let n_left = (cells.len() - at) / width;
        let place = at
            + width
                * partition(n_left, |place| {
                    &cells[at + place * width..at + (place + 1) * width] < row
                });
        merged.extend_from_slice(&cells[at..place]);
        at = place;
        if is_coming {
            merged.extend_from_slice(row);
            come += width;
        } else {
            debug_assert_eq!(&cells[at..at + width], row, "what goes was there");
            at += width;
            go += width;
        }
    }
    merged.extend_from_slice(&cells[at..]);
    merged
}

/// An index that finds rows by some of their columns.
///
/// Invariants: `cells` holds the rows, sorted, with the known columns first as `order` says.
/// `starts[id]` is the first row whose first cell is `id` or more, unless there are so few rows
/// that `starts` is empty.
#[derive(Clone, Debug)]
pub(super) struct Index {
    order: Vec<usize>,
    n_known: usize,
    cells: Vec<u32>,
    starts: Vec<u32>,
}

impl Index {
    /// Builds an index by the columns at `known`, of which there is at least one. `rest` are the
    /// other columns.
    pub(super) fn new(
        cells: &[u32],
        width: usize,
        known: &[usize],
        rest: &[usize],
        id_bound: usize,
    ) -> Index {
        let order: Vec<usize> = known.iter().chain(rest).copied().collect();
        let (n_rows, cells) =
            sorted_distinct(width, cells.len() / width, turned(cells, width, &order));
        // A table of all ids would cost more than it saves.
        let starts =
            if n_rows * 8 < id_bound { Vec::new() } else { starts(&cells, width, id_bound) };
        debug_assert!(
            starts.last().is_none_or(|&last| last as usize == n_rows),
            "each row begins with an id below the bound"
        );
        Index { order, n_known: known.len(), cells, starts }
    }

    /// Returns the index after a few rows were added and removed.
    pub(super) fn updated(&self, added: &[u32], removed: &[u32], id_bound: usize) -> Index {
        let width = self.order.len();
        let sorted = |rows: &[u32]| {
            sorted_distinct(width, rows.len() / width, turned(rows, width, &self.order)).1
        };
        let (added, removed) = (sorted(added), sorted(removed));
        let cells = merged(width, &self.cells, &added, &removed);
        let mut starts = self.starts.clone();
        if let Some(&last) = starts.last() {
            starts.resize(starts.len().max(id_bound + 1), last);
            for row in added.chunks_exact(width) {
                starts[row[0] as usize + 1..].iter_mut().for_each(|start| *start += 1);
            }
            for row in removed.chunks_exact(width) {
                starts[row[0] as usize + 1..].iter_mut().for_each(|start| *start -= 1);
            }
        } else if cells.len() / width * 8 >= id_bound {
            starts = self::starts(&cells, width, id_bound);
        }
        Index { order: self.order.clone(), n_known: self.n_known, cells, starts }
    }

    /// Returns the rows that begin with the key: the key, then the rest.
    pub(super) fn find(&self, key: &[u32]) -> impl Iterator<Item = &[u32]> + '_ {
        let width = self.order.len();
        let first = key[0] as usize;
        let (mut low, mut high) = match self.starts.get(first + 1) {
            Some(&end) => (self.starts[first] as usize, end as usize),
            None if self.starts.is_empty() => (0, self.cells.len() / width),
            None => (0, 0),
        };
        let is_sure = self.n_known == 1 && !self.starts.is_empty();
        if !is_sure && high > low {
            let row = |place: usize| &self.cells[place * width..place * width + self.n_known];
            let (start, end) = (low, high);
            low = start + partition(end - start, |place| row(start + place) < key);
            high = low + partition(end - low, |place| row(low + place) <= key);
        }
        self.cells[low * width..high * width].chunks_exact(width)
    }

    /// Returns whether a row begins with the key.
    pub(super) fn has(&self, key: &[u32]) -> bool {
        self.find(key).next().is_some()
    }
}

/// Returns the first place of `0..length` where the test fails. It must fail for all later places.
fn partition(length: usize, test: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, length);
    while low < high {
        let middle = (low + high) / 2;
        if test(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

fn turned(cells: &[u32], width: usize, order: &[usize]) -> Vec<u32> {
    let mut turned = Vec::with_capacity(cells.len());
    for row in cells.chunks_exact(width) {
        turned.extend(order.iter().map(|&place| row[place]));
    }
    turned
}

fn starts(cells: &[u32], width: usize, id_bound: usize) -> Vec<u32> {
    let mut starts = vec![0u32; id_bound + 1];
    for row in cells.chunks_exact(width) {
        starts[row[0] as usize + 1] += 1;
    }
    for id in 0..id_bound {
        starts[id + 1] += starts[id];
    }
    starts
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{Index, changes, merged};
    use crate::tests::seeded;

    fn set(cells: &[u32], width: usize) -> BTreeSet<Vec<u32>> {
        cells.chunks_exact(width).map(<[u32]>::to_vec).collect()
    }

    fn flat(rows: &BTreeSet<Vec<u32>>) -> Vec<u32> {
        rows.iter().flatten().copied().collect()
    }

    proptest! {
        #![proptest_config(seeded(400))]

        #[test]
        fn rows_and_indexes_follow_their_changes(
            width in 1..10usize,
            cells in prop::collection::vec(0..60u32, 0..500),
            gone in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
            come in prop::collection::vec(0..80u32, 0..40),
            by in any::<prop::sample::Index>(),
        ) {
            let before = set(&cells, width);
            let rows: Vec<Vec<u32>> = before.iter().cloned().collect();
            let mut after = before.clone();
            if !rows.is_empty() {
                gone.iter().for_each(|at| {
                    after.remove(at.get(&rows));
                });
            }
            after.extend(set(&come, width));
            let (added, removed) = changes(width, &flat(&before), &flat(&after));
            prop_assert_eq!(set(&added, width), &after - &before);
            prop_assert_eq!(set(&removed, width), &before - &after);
            prop_assert_eq!(merged(width, &flat(&before), &added, &removed), flat(&after));
            // By one or more columns, with or without the last ones first.
            let known: Vec<usize> = (by.index(width)..width).collect();
            let rest: Vec<usize> = (0..known[0]).collect();
            let old = Index::new(&flat(&before), width, &known, &rest, 60);
            let updated = old.updated(&added, &removed, 80);
            let rebuilt = Index::new(&flat(&after), width, &known, &rest, 80);
            for row in before.iter().chain(&after).chain([&vec![81; width]]) {
                let key: Vec<u32> = known.iter().map(|&place| row[place]).collect();
                let expected: Vec<&[u32]> = rebuilt.find(&key).collect();
                prop_assert_eq!(updated.find(&key).collect::<Vec<_>>(), expected);
                let fits = |row: &&Vec<u32>| {
                    known.iter().zip(&key).all(|(&place, &cell)| row[place] == cell)
                };
                prop_assert_eq!(rebuilt.find(&key).count(), after.iter().filter(fits).count());
            }
        }
    }
}
