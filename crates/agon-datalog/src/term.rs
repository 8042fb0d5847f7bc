//! Ground terms, each stored once (hash consing).

use std::cmp::Ordering;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

use hashbrown::HashTable;

use crate::Symbol;

/// A ground term of a [`TermBank`]. Equal terms have equal ids, in all threads that share the bank.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TermId(u32);

impl TermId {
    pub(crate) fn raw(self) -> u32 {
        self.0
    }

    pub(crate) fn from_raw(raw: u32) -> TermId {
        TermId(raw)
    }
}

impl fmt::Debug for TermId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t{}", self.0)
    }
}

/// Reason why a term is rejected.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum TermRefusal {
    /// The term is nested too deeply, or takes more symbols to write than allowed.
    Depth,
    /// The bank is full, or the term has too many arguments.
    Full,
}

impl fmt::Display for TermRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TermRefusal::Depth => "the term is nested too deeply or too long",
            TermRefusal::Full => "the term bank is full",
        })
    }
}

impl std::error::Error for TermRefusal {}

/// Ground terms, each stored once and never removed. A bank is shared by all threads that play a
/// game.
///
/// An id is the index of the term's first cell. The cells are the symbol, the arity with the depth,
/// two halves of a hash that is the same in every run, and the arguments. Readers take no lock,
/// because cells are written before their id is published.
pub struct TermBank {
    chunks: Box<[OnceLock<Box<[AtomicU32]>>]>,
    known: Mutex<Known>,
    max_depth: u32,
}

struct Known {
    ids: HashTable<u32>,
    /// Index of the first free cell.
    free: usize,
}

const CHUNK_BITS: u32 = 16;
const CHUNK: usize = 1 << CHUNK_BITS;
const N_CHUNKS: usize = 1 << 12;
const HEADER: usize = 5;

/// Maximum number of symbols for writing a term. Terms are shared, so a term that repeatedly
/// contains a subterm twice takes little memory, but its text is exponentially long.
const MAX_SIZE: u32 = 100_000;
const DEPTH_SHIFT: u32 = 16;

impl TermBank {
    /// Creates an empty bank that rejects terms nested deeper than `max_depth`. A constant has
    /// depth 1.
    pub fn new(max_depth: u32) -> TermBank {
        TermBank {
            chunks: (0..N_CHUNKS).map(|_| OnceLock::new()).collect(),
            known: Mutex::new(Known { ids: HashTable::new(), free: 0 }),
            max_depth: max_depth.min((1 << (32 - DEPTH_SHIFT)) - 1),
        }
    }

    /// Returns the term with this symbol and these arguments.
    ///
    /// # Errors
    /// Returns an error if the term is too deep or the bank is full.
    pub fn term(&self, symbol: Symbol, arguments: &[TermId]) -> Result<TermId, TermRefusal> {
        let hash = self.hash_of(symbol, arguments);
        // A panic while the lock was held cannot leave an inconsistent state, because the id is
        // entered last.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |&id: &u32| self.is(TermId(id), symbol, arguments);
        if let Some(&id) = known.ids.find(hash, same) {
            return Ok(TermId(id));
        }
        let depth = 1 + arguments.iter().map(|&a| self.depth(a)).max().unwrap_or(0);
        let n_symbols = arguments.iter().fold(1u32, |sum, &a| sum.saturating_add(self.cell(a, 4)));
        if depth > self.max_depth || n_symbols > MAX_SIZE {
            return Err(TermRefusal::Depth);
        }
        let size = HEADER + arguments.len();
        if size > CHUNK || arguments.len() >= 1 << DEPTH_SHIFT {
            return Err(TermRefusal::Full);
        }
        let mut start = known.free;
        if start % CHUNK + size > CHUNK {
            start = (start / CHUNK + 1) * CHUNK; // A term does not cross a chunk boundary.
        }
        if start + size > N_CHUNKS * CHUNK {
            return Err(TermRefusal::Full);
        }
        let chunk = self.chunks[start / CHUNK]
            .get_or_init(|| (0..CHUNK).map(|_| AtomicU32::new(0)).collect());
        let at = start % CHUNK;
        let arity = u32::try_from(arguments.len()).expect("checked above");
        chunk[at].store(symbol.raw(), Relaxed);
        chunk[at + 1].store(arity | depth << DEPTH_SHIFT, Relaxed);
        chunk[at + 2].store(hash as u32, Relaxed);
        chunk[at + 3].store((hash >> 32) as u32, Relaxed);
        chunk[at + 4].store(n_symbols, Relaxed);
        for (i, argument) in arguments.iter().enumerate() {
            chunk[at + HEADER + i].store(argument.0, Relaxed);
        }
        known.free = start + size;
        let id = u32::try_from(start).expect("the bank has fewer than 2^32 cells");
        known.ids.insert_unique(hash, id, |&id| self.hash(TermId(id)));
        Ok(TermId(id))
    }

    /// Returns the term with this symbol and these arguments, if it is in the bank.
    pub fn find(&self, symbol: Symbol, arguments: &[TermId]) -> Option<TermId> {
        let hash = self.hash_of(symbol, arguments);
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.ids.find(hash, |&id| self.is(TermId(id), symbol, arguments)).map(|&id| TermId(id))
    }

    /// Returns the symbol of a term.
    #[inline]
    pub fn symbol(&self, id: TermId) -> Symbol {
        Symbol::new(self.cell(id, 0))
    }

    /// Returns the number of arguments of a term.
    #[inline]
    pub fn arity(&self, id: TermId) -> usize {
        (self.cell(id, 1) & ((1 << DEPTH_SHIFT) - 1)) as usize
    }

    /// Returns the nesting depth of a term. It is 1 for constants.
    pub(crate) fn depth(&self, id: TermId) -> u32 {
        self.cell(id, 1) >> DEPTH_SHIFT
    }

    /// Returns a hash that depends only on the term, not on the order of insertion.
    #[inline]
    pub fn hash(&self, id: TermId) -> u64 {
        u64::from(self.cell(id, 2)) | u64::from(self.cell(id, 3)) << 32
    }

    /// Returns the argument at `index`.
    #[inline]
    pub fn argument(&self, id: TermId, index: usize) -> TermId {
        debug_assert!(index < self.arity(id), "the index is below the arity");
        TermId(self.cell(id, HEADER + index))
    }

    /// Iterates over the arguments of a term.
    pub fn arguments(&self, id: TermId) -> impl ExactSizeIterator<Item = TermId> {
        (0..self.arity(id)).map(move |i| self.argument(id, i))
    }

    /// Returns whether a term has this symbol and arity.
    #[inline]
    pub fn has_form(&self, id: TermId, symbol: Symbol, arity: usize) -> bool {
        self.symbol(id) == symbol && self.arity(id) == arity
    }

    /// Compares terms, given an order of the symbols. The result does not depend on the order of
    /// insertion.
    pub fn compare(&self, mut a: TermId, mut b: TermId, rank: &[u32]) -> Ordering {
        // A loop, because terms may be nested deeper than the stack allows.
        while a != b {
            let by_name = rank[self.symbol(a).index()].cmp(&rank[self.symbol(b).index()]);
            let by_form = by_name.then_with(|| self.arity(a).cmp(&self.arity(b)));
            if by_form != Ordering::Equal {
                return by_form;
            }
            let Some(differs) = self.arguments(a).zip(self.arguments(b)).find(|(x, y)| x != y)
            else {
                break;
            };
            (a, b) = differs;
        }
        Ordering::Equal
    }

    /// Returns the number of bytes of all terms.
    pub fn bytes(&self) -> usize {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).free * 4
    }

    #[inline]
    fn cell(&self, id: TermId, offset: usize) -> u32 {
        let at = id.0 as usize + offset;
        let chunk =
            self.chunks[at >> CHUNK_BITS].get().expect("an id points into a chunk that exists");
        chunk[at & (CHUNK - 1)].load(Relaxed)
    }

    fn is(&self, id: TermId, symbol: Symbol, arguments: &[TermId]) -> bool {
        self.has_form(id, symbol, arguments.len())
            && arguments.iter().enumerate().all(|(i, &argument)| self.argument(id, i) == argument)
    }

    fn hash_of(&self, symbol: Symbol, arguments: &[TermId]) -> u64 {
        let mut hash = mix(0x9e37_79b9_7f4a_7c15, u64::from(symbol.raw()) + 1);
        for &argument in arguments {
            hash = mix(hash, self.hash(argument));
        }
        hash
    }
}

/// Mixes two numbers by one multiply-and-fold round of wyhash, which uses both halves of the
/// product.
#[inline]
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0xa076_1d64_78bd_642f) * u128::from(b ^ 0xe703_7ed1_a0b4_28db);
    (product as u64) ^ (product >> 64) as u64
}

/// Returns the hash of a key of an index or a table.
#[inline]
pub(crate) fn hash_key(key: &[u32]) -> u64 {
    key.iter().fold(key.len() as u64, |hash, &part| mix(hash, u64::from(part) + 1))
}
