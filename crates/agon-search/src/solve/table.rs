//! A table of positions by key, for keys that are hashes already.

use hashbrown::HashTable;

/// From keys to the numbers under which the positions were met: dense, in the order of meeting.
#[derive(Default)]
pub(crate) struct Numbering {
    table: HashTable<u32>,
    keys: Vec<u64>,
}

impl Numbering {
    /// The number of a key, and whether it is new.
    pub(crate) fn number(&mut self, key: u64) -> (u32, bool) {
        let keys = &self.keys;
        let entry = self.table.entry(
            spread(key),
            |&n| keys[n as usize] == key,
            |&n| spread(keys[n as usize]),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(entry) => (*entry.get(), false),
            hashbrown::hash_table::Entry::Vacant(entry) => {
                let number = u32::try_from(keys.len()).expect("memory is used up long before");
                entry.insert(number);
                self.keys.push(key);
                (number, true)
            }
        }
    }

    /// The number of a key that was met.
    pub(crate) fn find(&self, key: u64) -> Option<u32> {
        self.table.find(spread(key), |&n| self.keys[n as usize] == key).copied()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Bytes per position, with the slack of the table.
    pub(crate) const BYTES: usize = 24;
}

/// Keys need not be spread well over all of their bits; the table wants the high ones.
fn spread(key: u64) -> u64 {
    (key ^ key >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
