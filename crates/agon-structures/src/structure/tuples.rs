//! The tuples of one relation.

use super::Element;

/// A set of tuples of one length. Invariant: `cells` holds the tuples one after the other, sorted
/// and distinct. A relation of arity 0 has no cells, so its only possible tuple is counted
/// separately.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tuples {
    arity: usize,
    n_tuples: usize,
    cells: Vec<Element>,
}

impl Tuples {
    /// Returns the empty set of tuples.
    pub fn new(arity: usize) -> Tuples {
        Tuples { arity, n_tuples: 0, cells: Vec::new() }
    }

    /// Creates a set from sorted cells.
    pub(crate) fn from_sorted(arity: usize, n_tuples: usize, cells: Vec<Element>) -> Tuples {
        debug_assert_eq!(cells.len(), arity * n_tuples, "as many cells as tuples need");
        Tuples { arity, n_tuples, cells }
    }

    /// Creates a set from tuples in any order, possibly with repetitions. Tuples of another length
    /// are ignored.
    pub fn of<'t>(arity: usize, tuples: impl IntoIterator<Item = &'t [Element]>) -> Tuples {
        let mut sorted: Vec<&[Element]> =
            tuples.into_iter().filter(|tuple| tuple.len() == arity).collect();
        sorted.sort_unstable();
        sorted.dedup();
        Tuples { arity, n_tuples: sorted.len(), cells: sorted.concat() }
    }

    /// Returns the length of each tuple.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// Returns the number of tuples.
    pub fn len(&self) -> usize {
        self.n_tuples
    }

    /// Returns whether there are no tuples.
    pub fn is_empty(&self) -> bool {
        self.n_tuples == 0
    }

    /// Iterates over the tuples in order.
    pub fn iter(&self) -> impl Iterator<Item = &[Element]> + '_ {
        (0..self.n_tuples).map(|place| self.tuple(place))
    }

    /// Returns whether the tuple is in the set.
    pub fn contains(&self, tuple: &[Element]) -> bool {
        tuple.len() == self.arity && self.place(tuple).is_ok()
    }

    /// Returns the elements of all tuples, one tuple after the other.
    pub fn cells(&self) -> &[Element] {
        &self.cells
    }

    /// Returns the tuples that contain one of these elements, in order. Examines blocks of cells at
    /// once, so that it takes little longer than reading the memory.
    pub fn touching(&self, elements: &[Element]) -> Vec<Vec<Element>> {
        const BLOCK: usize = 32;
        let mut found: Vec<Vec<Element>> = Vec::new();
        let mut next = 0;
        for (block, cells) in self.cells.chunks(BLOCK).enumerate() {
            let mut is_there = false;
            for &element in elements {
                is_there |=
                    cells.iter().fold(false, |is_there, &cell| is_there | (cell == element));
            }
            if !is_there {
                continue;
            }
            let end = (block * BLOCK + cells.len()).div_ceil(self.arity);
            for place in (block * BLOCK / self.arity).max(next)..end {
                let tuple = self.tuple(place);
                if tuple.iter().any(|element| elements.contains(element)) {
                    found.push(tuple.to_vec());
                }
            }
            next = end;
        }
        found
    }

    pub(super) fn insert(&mut self, tuple: &[Element]) {
        if let Err(place) = self.place(tuple) {
            let start = place * self.arity;
            self.cells.splice(start..start, tuple.iter().copied());
            self.n_tuples += 1;
        }
    }

    pub(super) fn remove(&mut self, tuple: &[Element]) {
        if let Ok(place) = self.place(tuple) {
            self.cells.drain(place * self.arity..(place + 1) * self.arity);
            self.n_tuples -= 1;
        }
    }

    fn tuple(&self, place: usize) -> &[Element] {
        &self.cells[place * self.arity..(place + 1) * self.arity]
    }

    /// Returns the place of the tuple, or the place where it would be inserted.
    fn place(&self, tuple: &[Element]) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.n_tuples);
        while low < high {
            let middle = (low + high) / 2;
            match self.tuple(middle).cmp(tuple) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }
}
