//! The index from keys to nodes.

use hashbrown::HashTable;

use super::node::NodeId;
use crate::mcts::hashing::mix;

/// The number of hash tables. A table that is full is copied to a larger one while all threads
/// wait; several small ones are not full at the same time.
const N_TABLES: usize = 64;

/// The nodes by key.
///
/// Most lookups are for keys that no node has. A part of each key is stored beside the number of
/// its node, so that the nodes themselves, which are spread over memory, are read only when they
/// match.
pub(crate) struct Index {
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
        self.tables[table_of(part)].insert_unique(
            hash_of_part(part),
            Entry { part, id },
            |entry| hash_of_part(entry.part),
        );
    }

    /// Returns the nodes with a key, and perhaps others.
    pub(super) fn candidates(&self, key: u64) -> impl Iterator<Item = NodeId> {
        let part = mix(key) as u32;
        let found = self.tables[table_of(part)].iter_hash(hash_of_part(part));
        found.filter(move |entry| entry.part == part).map(|entry| entry.id)
    }

    pub(super) fn clear(&mut self) {
        self.tables.iter_mut().for_each(HashTable::clear);
    }
}

/// Repeats the part of a key, because hash tables use both ends of a hash.
fn hash_of_part(part: u32) -> u64 {
    u64::from(part) << 32 | u64::from(part)
}

/// Chooses a table by bits that the tables do not use before they are large.
fn table_of(part: u32) -> usize {
    (part >> 19) as usize % N_TABLES
}
