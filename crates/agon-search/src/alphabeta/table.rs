//! The transposition table: bounded, and deeper searches are kept.

/// The result of the search of one position.
#[derive(Clone, Debug)]
pub(super) struct Entry<T> {
    key: u64,
    pub(super) depth: u32,
    /// The number of the search that wrote the entry. Older entries are replaced first.
    age: u32,
    pub(super) found: T,
}

/// A table from keys to results. A bucket has two entries: the first keeps the deeper search, the
/// second takes every other result.
#[derive(Clone, Debug)]
pub(super) struct Table<T> {
    slots: Vec<Option<Entry<T>>>,
    max_slots: usize,
    n_used: usize,
    age: u32,
}

/// Number of slots of a new table.
const FIRST_SLOTS: usize = 1 << 10;

impl<T> Table<T> {
    /// Returns an empty table that never has more than `max_entries` entries.
    pub(super) fn new(max_entries: usize) -> Table<T> {
        let max_slots = 1 << max_entries.max(FIRST_SLOTS).ilog2();
        let mut table = Table { slots: Vec::new(), max_slots, n_used: 0, age: 0 };
        table.slots.resize_with(FIRST_SLOTS, || None);
        table
    }

    /// Removes all entries.
    pub(super) fn clear(&mut self) {
        self.slots.fill_with(|| None);
        self.n_used = 0;
    }

    /// Marks the beginning of another search.
    pub(super) fn next_generation(&mut self) {
        self.age += 1;
    }

    /// Returns the entry of a key.
    pub(super) fn get(&self, key: u64) -> Option<&Entry<T>> {
        let first = self.bucket(key);
        let slots = &self.slots[first..first + 2];
        slots.iter().flatten().find(|entry| entry.key == key)
    }

    /// Stores the result of a search.
    pub(super) fn put(&mut self, key: u64, depth: u32, found: T) {
        if self.n_used * 2 > self.slots.len() && self.slots.len() < self.max_slots {
            let n_slots = self.slots.len() * 2;
            let before = std::mem::take(&mut self.slots);
            self.slots.resize_with(n_slots, || None);
            self.n_used = 0;
            for entry in before.into_iter().flatten() {
                self.place(entry);
            }
        }
        self.place(Entry { key, depth, age: self.age, found });
    }

    fn place(&mut self, entry: Entry<T>) {
        let first = self.bucket(entry.key);
        let is_replaceable = |slot: &Option<Entry<T>>| {
            slot.as_ref().is_none_or(|old| {
                old.key == entry.key || old.age < entry.age || old.depth <= entry.depth
            })
        };
        let is_second = |table: &Table<T>| {
            table.slots[first + 1].as_ref().is_some_and(|old| old.key == entry.key)
        };
        let index =
            if is_replaceable(&self.slots[first]) && !is_second(self) { first } else { first + 1 };
        self.n_used += usize::from(self.slots[index].is_none());
        self.slots[index] = Some(entry);
    }

    fn bucket(&self, key: u64) -> usize {
        (key as usize & (self.slots.len() - 1)) & !1
    }
}
