//! Dense numbers for positions, by their keys.

use hashbrown::HashTable;

/// A map from keys to dense numbers in the order of insertion. Keys are hashes already.
#[derive(Default)]
pub(crate) struct Numbering {
    table: HashTable<u32>,
    keys: Vec<u64>,
}

impl Numbering {
    /// Returns the number of a key and whether it is new.
    pub(crate) fn number(&mut self, key: u64) -> (u32, bool) {
        let keys = &self.keys;
        let entry =
            self.table.entry(mix(key), |&n| keys[n as usize] == key, |&n| mix(keys[n as usize]));
        match entry {
            hashbrown::hash_table::Entry::Occupied(entry) => (*entry.get(), false),
            hashbrown::hash_table::Entry::Vacant(entry) => {
                let number =
                    u32::try_from(keys.len()).expect("memory is exhausted before 2^32 positions");
                entry.insert(number);
                self.keys.push(key);
                (number, true)
            }
        }
    }

    /// Returns the number of a known key.
    pub(crate) fn find(&self, key: u64) -> Option<u32> {
        self.table.find(mix(key), |&n| self.keys[n as usize] == key).copied()
    }

    /// Returns the number of keys.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Bytes per position, including unused slots of the table.
    pub(crate) const BYTES: usize = 24;
}

/// Mixes the bits of a key, because the table uses the high bits and keys may vary in others.
fn mix(key: u64) -> u64 {
    (key ^ key >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
