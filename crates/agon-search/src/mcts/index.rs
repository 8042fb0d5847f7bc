//! Positions by their keys.

use hashbrown::HashTable;

use super::node::NodeId;
use super::number::mix;

/// Which positions have a key. Most questions are about keys that none has: a part of each key is kept beside the number of its
/// position, so that positions themselves, which lie all over the memory, are asked only when they are the ones.
#[derive(Default)]
pub(super) struct Index {
    table: HashTable<Entry>,
}

#[derive(Copy, Clone)]
struct Entry {
    part: u32,
    id: NodeId,
}

impl Index {
    pub(super) fn insert(&mut self, key: u64, id: NodeId) {
        let part = mix(key) as u32;
        self.table.insert_unique(spread(part), Entry { part, id }, |entry| spread(entry.part));
    }

    /// The positions with a key, and perhaps others.
    pub(super) fn candidates(&self, key: u64) -> impl Iterator<Item = NodeId> {
        let part = mix(key) as u32;
        self.table.iter_hash(spread(part)).filter(move |entry| entry.part == part).map(|entry| entry.id)
    }

    pub(super) fn clear(&mut self) {
        self.table.clear();
    }
}

/// Tables look at both ends of a word.
fn spread(part: u32) -> u64 {
    u64::from(part) << 32 | u64::from(part)
}
