//! Positions by their keys.

use hashbrown::HashTable;

use super::node::NodeId;
use super::number::mix;

/// A table that is full is moved to a larger one, for which all threads wait: many small ones are not full at the same time.
const N_TABLES: usize = 64;

/// Which positions have a key. Most questions are about keys that none has: a part of each key is kept beside the number of its
/// position, so that positions themselves, which lie all over the memory, are asked only when they are the ones.
pub(super) struct Index {
    tables: Vec<HashTable<Entry>>,
}

#[derive(Copy, Clone)]
struct Entry {
    part: u32,
    id: NodeId,
}

impl Default for Index {
    fn default() -> Index {
        Index { tables: vec![HashTable::new(); N_TABLES] }
    }
}

impl Index {
    pub(super) fn insert(&mut self, key: u64, id: NodeId) {
        let part = mix(key) as u32;
        self.tables[table_of(part)]
            .insert_unique(spread(part), Entry { part, id }, |entry| spread(entry.part));
    }

    /// The positions with a key, and perhaps others.
    pub(super) fn candidates(&self, key: u64) -> impl Iterator<Item = NodeId> {
        let part = mix(key) as u32;
        let found = self.tables[table_of(part)].iter_hash(spread(part));
        found.filter(move |entry| entry.part == part).map(|entry| entry.id)
    }

    pub(super) fn clear(&mut self) {
        self.tables.iter_mut().for_each(HashTable::clear);
    }
}

/// Tables look at both ends of a word.
fn spread(part: u32) -> u64 {
    u64::from(part) << 32 | u64::from(part)
}

/// By digits that tables do not look at before they are large.
fn table_of(part: u32) -> usize {
    (part >> 19) as usize % N_TABLES
}
