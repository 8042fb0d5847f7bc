//! The living elements and their names.
//!
//! Rules create and delete one or two elements at a time, and every state of a game has a universe
//! of its own. Therefore a universe consists of pieces that copies share until one of them changes
//! its piece.

use std::sync::Arc;

use super::{Element, mixed};

/// Number of names in one piece. Small, so that a change copies little; not too small, because a
/// clone counts the pieces.
const CHUNK: usize = 32;

/// Maximum average number of names in one bucket.
const BUCKET: usize = 16;

/// Numbers up to this are tracked as taken; others are looked up one by one.
const MAX_NUMBER: u32 = 1 << 16;

type Chunk = [Option<Arc<str>>; CHUNK];

/// The living elements.
///
/// Invariants: `chunks` has a name for each living id, and none for ids that are free or not below
/// `id_bound`. `free` holds the free ids below the bound, the smallest last. `buckets`, whose
/// number is zero or a power of two, hold the hash of each name with its element. `numbers` are
/// correct for the stems that they contain.
#[derive(Clone, Default)]
pub(super) struct Universe {
    chunks: Vec<Arc<Chunk>>,
    id_bound: usize,
    n_living: usize,
    free: Vec<u32>,
    buckets: Vec<Arc<Vec<(u64, Element)>>>,
    /// The taken numbers of names `stem_1`, `stem_2`, … by stem, as bits.
    numbers: Vec<(Arc<str>, Arc<Vec<u64>>)>,
    key: u64,
}

impl Universe {
    pub(super) fn n_living(&self) -> usize {
        self.n_living
    }

    pub(super) fn id_bound(&self) -> usize {
        self.id_bound
    }

    /// Returns a hash of the names of the elements.
    pub(super) fn key(&self) -> u64 {
        self.key
    }

    pub(super) fn name(&self, element: Element) -> Option<&Arc<str>> {
        self.chunks.get(element.index() / CHUNK)?[element.index() % CHUNK].as_ref()
    }

    pub(super) fn elements(&self) -> impl Iterator<Item = Element> + '_ {
        let names = self.chunks.iter().flat_map(|chunk| chunk.iter()).enumerate();
        names.filter(|(_, name)| name.is_some()).map(|(id, _)| Element::new(id as u32))
    }

    /// Returns the element with this name.
    pub(super) fn element_named(&self, name: &str) -> Option<Element> {
        let hash = hash(name);
        let bucket = self.buckets.get(self.bucket(hash))?;
        let is_it = |entry: &&(u64, Element)| {
            entry.0 == hash && self.name(entry.1).is_some_and(|other| **other == *name)
        };
        bucket.iter().find(is_it).map(|entry| entry.1)
    }

    /// Returns the smallest free id.
    pub(super) fn next_id(&self) -> usize {
        self.free.last().map_or(self.id_bound, |&id| id as usize)
    }

    /// Creates an element with the smallest free id. The name must be free, and the id must fit.
    pub(super) fn add(&mut self, name: Arc<str>) -> Element {
        let element = Element::new(self.next_id() as u32);
        if self.free.pop().is_none() {
            self.id_bound += 1;
            if self.chunks.len() * CHUNK < self.id_bound {
                self.chunks.push(Arc::new(std::array::from_fn(|_| None)));
            }
        }
        self.n_living += 1;
        if self.n_living > self.buckets.len() * BUCKET {
            self.widen();
        }
        self.enter(element, name);
        element
    }

    /// Deletes a living element.
    pub(super) fn remove(&mut self, element: Element) {
        self.strike(element);
        self.n_living -= 1;
        let place = self.free.partition_point(|&other| other > element.id());
        self.free.insert(place, element.id());
    }

    /// Returns the first free number of the names `stem_1`, `stem_2`, ….
    pub(super) fn free_number(&mut self, stem: &str) -> u64 {
        let known = self.numbers.iter().position(|entry| *entry.0 == *stem);
        let place = known.unwrap_or_else(|| {
            let mut taken = Vec::new();
            for element in self.elements() {
                if let Some(number) = self.name(element).and_then(|name| number_after(name, stem)) {
                    set(&mut taken, number, true);
                }
            }
            self.numbers.push((stem.into(), Arc::new(taken)));
            self.numbers.len() - 1
        });
        let taken = &self.numbers[place].1;
        let word = taken.iter().position(|&word| word != u64::MAX).unwrap_or(taken.len());
        let bit = taken.get(word).map_or(0, |word| word.trailing_ones());
        word as u64 * 64 + u64::from(bit) + 1
    }

    /// Returns the elements that live in exactly one of the two universes, by id.
    pub(super) fn difference(&self, other: &Universe) -> Vec<Element> {
        let mut found = Vec::new();
        for place in 0..self.chunks.len().max(other.chunks.len()) {
            let (one, two) = (self.chunks.get(place), other.chunks.get(place));
            if let (Some(one), Some(two)) = (one, two)
                && Arc::ptr_eq(one, two)
            {
                continue;
            }
            for at in 0..CHUNK {
                let lives =
                    |chunk: Option<&Arc<Chunk>>| chunk.is_some_and(|chunk| chunk[at].is_some());
                if lives(one) != lives(two) {
                    found.push(Element::new((place * CHUNK + at) as u32));
                }
            }
        }
        found
    }

    fn bucket(&self, hash: u64) -> usize {
        (hash as usize) & self.buckets.len().wrapping_sub(1)
    }

    fn enter(&mut self, element: Element, name: Arc<str>) {
        let hash = hash(&name);
        let bucket = self.bucket(hash);
        Arc::make_mut(&mut self.buckets[bucket]).push((hash, element));
        self.key ^= mixed(&[5, u64::from(element.id()), hash]);
        self.note(&name, true);
        Arc::make_mut(&mut self.chunks[element.index() / CHUNK])[element.index() % CHUNK] =
            Some(name);
    }

    fn strike(&mut self, element: Element) {
        let chunk = Arc::make_mut(&mut self.chunks[element.index() / CHUNK]);
        let name = chunk[element.index() % CHUNK].take().expect("a removed element lives");
        let hash = hash(&name);
        let bucket = self.bucket(hash);
        Arc::make_mut(&mut self.buckets[bucket]).retain(|entry| entry.1 != element);
        self.key ^= mixed(&[5, u64::from(element.id()), hash]);
        self.note(&name, false);
    }

    fn note(&mut self, name: &str, taken: bool) {
        for (stem, numbers) in &mut self.numbers {
            if let Some(number) = number_after(name, stem) {
                set(Arc::make_mut(numbers), number, taken);
            }
        }
    }

    /// Doubles the number of buckets.
    fn widen(&mut self) {
        let mut wide = vec![Vec::new(); (self.buckets.len() * 2).max(1)];
        let last = wide.len() - 1;
        for entry in self.buckets.iter().flat_map(|bucket| bucket.iter()) {
            wide[entry.0 as usize & last].push(*entry);
        }
        self.buckets = wide.into_iter().map(Arc::new).collect();
    }
}

/// Returns the number of a name that consists of the stem and a number, as it would be written.
fn number_after(name: &str, stem: &str) -> Option<u32> {
    let digits = name.strip_prefix(stem)?.strip_prefix('_')?;
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
    let number: u32 = if is_plain { digits.parse().ok()? } else { return None };
    (number <= MAX_NUMBER).then_some(number)
}

fn set(bits: &mut Vec<u64>, number: u32, taken: bool) {
    let place = number as usize - 1;
    if bits.len() <= place / 64 {
        bits.resize(place / 64 + 1, 0);
    }
    let bit = 1 << (place % 64);
    if taken {
        bits[place / 64] |= bit;
    } else {
        bits[place / 64] &= !bit;
    }
}

fn hash(name: &str) -> u64 {
    // FNV-1a, with its bits mixed because buckets are selected by the lowest ones.
    let sum = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    mixed(&[6, sum])
}
