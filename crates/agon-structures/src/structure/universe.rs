//! Who lives, and what everybody is called.
//!
//! Rules make and remove an element or two at a time, and every state of a game has a universe of its own. So it is kept in pieces
//! that copies share until one of them changes its piece.

use std::sync::Arc;

use super::{Element, mixed};

/// Names in one piece. Small, so that a change copies little; not too small, since a copy counts the pieces.
const CHUNK: usize = 32;

/// As many names in one bucket as this, on average, at most.
const BUCKET: usize = 16;

/// Numbers up to this are remembered as given away; others are looked up one by one.
const MAX_NUMBER: u32 = 1 << 16;

type Chunk = [Option<Arc<str>>; CHUNK];

/// Who lives. Invariants: `chunks` has a name for each living id, none for those that are free or not below `id_bound`; `free`
/// holds the free ids below the bound, the smallest last; `buckets`, a power of two of them or none, hold the hash of each name and whose
/// it is; `numbers` are right for the stems they speak of.
#[derive(Clone, Default)]
pub(super) struct Universe {
    chunks: Vec<Arc<Chunk>>,
    id_bound: usize,
    n_living: usize,
    free: Vec<u32>,
    buckets: Vec<Arc<Vec<(u64, Element)>>>,
    /// By stem: which of `stem_1`, `stem_2`... are taken, as bits.
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

    /// A fingerprint of who is called what.
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

    /// Who has the name.
    pub(super) fn called(&self, name: &str) -> Option<Element> {
        let hash = hash(name);
        let bucket = self.buckets.get(self.bucket(hash))?;
        let is_it = |entry: &&(u64, Element)| {
            entry.0 == hash && self.name(entry.1).is_some_and(|other| **other == *name)
        };
        bucket.iter().find(is_it).map(|entry| entry.1)
    }

    /// The smallest id that is free.
    pub(super) fn next_id(&self) -> usize {
        self.free.last().map_or(self.id_bound, |&id| id as usize)
    }

    /// An element with the smallest free id comes to life. The name must be free, and the id fit.
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

    /// A living element gets another name, which must be free.
    pub(super) fn rename(&mut self, element: Element, name: Arc<str>) {
        self.strike(element);
        self.enter(element, name);
    }

    /// A living element is no more.
    pub(super) fn remove(&mut self, element: Element) {
        self.strike(element);
        self.n_living -= 1;
        let place = self.free.partition_point(|&other| other > element.id());
        self.free.insert(place, element.id());
    }

    /// The first of `stem_1`, `stem_2`... that nobody is called.
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

    /// Elements that live in one of the two only, by id.
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
        let name = chunk[element.index() % CHUNK].take().expect("who is renamed or removed lives");
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

    /// Twice as many buckets.
    fn widen(&mut self) {
        let mut wide = vec![Vec::new(); (self.buckets.len() * 2).max(1)];
        let last = wide.len() - 1;
        for entry in self.buckets.iter().flat_map(|bucket| bucket.iter()) {
            wide[entry.0 as usize & last].push(*entry);
        }
        self.buckets = wide.into_iter().map(Arc::new).collect();
    }
}

/// The number of a name that is the stem with a number, as it would be written.
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
    // FNV-1a, its bits mixed since buckets are chosen by the lowest.
    let sum = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    mixed(&[6, sum])
}
