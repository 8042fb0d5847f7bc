//! Answer tables: one table for each procedure, one entry for each set of known values that it was
//! called with.

use hashbrown::HashTable;

use crate::term::hash_key;

/// Progress of an entry's evaluation.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// Under evaluation, at this depth of calls.
    Open { depth: u32 },
    /// Evaluated in `round`, and dependent on the open entry at `depth`.
    Incomplete { depth: u32, round: u64 },
    /// All answers are known.
    Complete,
}

#[derive(Clone, Debug)]
pub(crate) struct Table {
    n_inputs: usize,
    n_outputs: usize,
    by_key: HashTable<u32>,
    keys: Vec<u32>,
    entries: Vec<Entry>,
    /// Number of entries in use. The others are kept for their memory.
    n_entries: usize,
}

#[derive(Clone, Debug)]
struct Entry {
    status: Status,
    answers: Vec<u32>,
    n_answers: usize,
    /// Used if there are too many answers for a linear search.
    seen: HashTable<u32>,
}

/// Maximum number of answers that are searched linearly for duplicates.
const MAX_LINEAR_SEARCH: usize = 12;

impl Table {
    pub(crate) fn new(n_inputs: usize, n_outputs: usize) -> Table {
        Table {
            n_inputs,
            n_outputs,
            by_key: HashTable::new(),
            keys: Vec::new(),
            entries: Vec::new(),
            n_entries: 0,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.by_key.clear();
        self.keys.clear();
        self.n_entries = 0;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.n_entries == 0
    }

    #[inline]
    pub(crate) fn find(&self, key: &[u32]) -> Option<u32> {
        let width = self.n_inputs;
        if width == 0 {
            return (self.n_entries > 0).then_some(0);
        }
        let same = |&entry: &u32| &self.keys[entry as usize * width..][..width] == key;
        self.by_key.find(hash_key(key), same).copied()
    }

    /// Adds an entry with a new key.
    pub(crate) fn insert(&mut self, key: &[u32], status: Status) -> u32 {
        let width = self.n_inputs;
        let entry =
            u32::try_from(self.n_entries).expect("limits on memory allow fewer than 2^32 entries");
        if self.n_entries == self.entries.len() {
            self.entries.push(Entry {
                status,
                answers: Vec::new(),
                n_answers: 0,
                seen: HashTable::new(),
            });
        } else {
            let reused = &mut self.entries[self.n_entries];
            reused.status = status;
            reused.answers.clear();
            if reused.n_answers > MAX_LINEAR_SEARCH {
                reused.seen.clear();
            }
            reused.n_answers = 0;
        }
        self.n_entries += 1;
        if width > 0 {
            self.keys.extend_from_slice(key);
            let keys = &self.keys;
            self.by_key.insert_unique(hash_key(key), entry, |&e| {
                hash_key(&keys[e as usize * width..][..width])
            });
        }
        entry
    }

    pub(crate) fn status(&self, entry: u32) -> Status {
        self.entries[entry as usize].status
    }

    pub(crate) fn set_status(&mut self, entry: u32, status: Status) {
        self.entries[entry as usize].status = status;
    }

    #[inline]
    pub(crate) fn n_answers(&self, entry: u32) -> usize {
        self.entries[entry as usize].n_answers
    }

    #[inline]
    pub(crate) fn answer(&self, entry: u32, index: usize) -> &[u32] {
        &self.entries[entry as usize].answers[index * self.n_outputs..][..self.n_outputs]
    }

    /// Adds an answer. Returns whether it is new.
    pub(crate) fn add(&mut self, entry: u32, answer: &[u32]) -> bool {
        let width = self.n_outputs;
        let entry = &mut self.entries[entry as usize];
        if width == 0 {
            let is_new = entry.n_answers == 0;
            entry.n_answers = 1;
            return is_new;
        }
        if entry.n_answers <= MAX_LINEAR_SEARCH {
            if entry.answers.chunks_exact(width).any(|known| known == answer) {
                return false;
            }
        } else {
            let answers = &entry.answers;
            let same = |&i: &u32| &answers[i as usize * width..][..width] == answer;
            if entry.seen.find(hash_key(answer), same).is_some() {
                return false;
            }
        }
        entry.answers.extend_from_slice(answer);
        entry.n_answers += 1;
        // When the limit is exceeded, all answers so far are entered, and afterwards each new one.
        let first_unseen =
            if entry.n_answers == MAX_LINEAR_SEARCH + 1 { 0 } else { entry.n_answers - 1 };
        if entry.n_answers > MAX_LINEAR_SEARCH {
            let answers = &entry.answers;
            let hash_at = |i: usize| hash_key(&answers[i * width..][..width]);
            for i in first_unseen..entry.n_answers {
                let index =
                    u32::try_from(i).expect("limits on facts allow fewer than 2^32 answers");
                entry.seen.insert_unique(hash_at(i), index, |&i| hash_at(i as usize));
            }
        }
        true
    }
}
