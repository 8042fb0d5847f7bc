//! The transposition table, which all threads of a search share without locks.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::score::Score;

/// How a stored score relates to the true one.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Exact,
    AtLeast,
    AtMost,
}

/// The result of the search of a position.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) score: Score,
    pub(super) bound: Bound,
    pub(super) depth: u8,
    /// The index of the best move among the children.
    pub(super) best: u16,
}

/// A table from keys to entries.
///
/// An entry is two words: the packed entry, and the key combined with it by exclusive or. If two
/// threads write the same slot at the same time, key and entry do not fit together, and the slot
/// counts as empty (Hyatt & Mann 2002).
pub(super) struct Table {
    slots: Vec<[AtomicU64; 2]>,
    age: AtomicU8,
}

/// Number of slots that are looked at for a key. They share a cache line.
const BUCKET: usize = 4;

impl Table {
    /// Returns an empty table of at most `max_entries` entries.
    pub(super) fn new(max_entries: usize) -> Table {
        let n_slots = 1_usize << max_entries.max(BUCKET).ilog2();
        let mut slots = Vec::new();
        slots.resize_with(n_slots, || [AtomicU64::new(0), AtomicU64::new(0)]);
        Table { slots, age: AtomicU8::new(0) }
    }

    /// Marks the beginning of another search. Older entries are replaced first.
    pub(super) fn next_generation(&self) {
        self.age.store((self.age.load(Ordering::Relaxed) + 1) & 63, Ordering::Relaxed);
    }

    /// Returns the entry of a key.
    pub(super) fn get(&self, key: u64) -> Option<Entry> {
        self.bucket(key).iter().find_map(|[check, data]| {
            let data = data.load(Ordering::Relaxed);
            let is_here = check.load(Ordering::Relaxed) ^ data == key && data != 0;
            is_here.then(|| unpack(data))
        })
    }

    /// Stores an entry, in place of one of the same key, or else of an old or shallow one.
    pub(super) fn put(&self, key: u64, entry: Entry) {
        let age = self.age.load(Ordering::Relaxed);
        let worth = |[check, data]: &[AtomicU64; 2]| {
            let data = data.load(Ordering::Relaxed);
            if data == 0 || check.load(Ordering::Relaxed) ^ data == key {
                return -1;
            }
            let is_old = (data >> 42 & 63) as u8 != age;
            i32::from(unpack(data).depth) - if is_old { 1000 } else { 0 }
        };
        let slot = self.bucket(key).iter().min_by_key(|slot| match worth(slot) {
            -1 => i32::MIN,
            worth => worth,
        });
        let [check, data] = slot.expect("a bucket has slots");
        let packed = pack(entry, age);
        check.store(key ^ packed, Ordering::Relaxed);
        data.store(packed, Ordering::Relaxed);
    }

    fn bucket(&self, key: u64) -> &[[AtomicU64; 2]] {
        // The high bits select, because engines may use the low ones elsewhere.
        let first = (key >> 20) as usize & (self.slots.len() - 1) & !(BUCKET - 1);
        &self.slots[first..first + BUCKET]
    }
}

/// Packs an entry. The result is never 0.
fn pack(entry: Entry, age: u8) -> u64 {
    let bound = match entry.bound {
        Bound::Exact => 1,
        Bound::AtLeast => 2,
        Bound::AtMost => 3,
    };
    u64::from(entry.score.for_table() as u16)
        | u64::from(entry.best) << 16
        | u64::from(entry.depth) << 32
        | bound << 40
        | u64::from(age) << 42
}

fn unpack(data: u64) -> Entry {
    Entry {
        score: Score::of_table(data as u16 as i16),
        best: (data >> 16) as u16,
        depth: (data >> 32) as u8,
        bound: match data >> 40 & 3 {
            1 => Bound::Exact,
            2 => Bound::AtLeast,
            _ => Bound::AtMost,
        },
    }
}
