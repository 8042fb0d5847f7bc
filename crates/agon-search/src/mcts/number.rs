//! Dense numbers for the moves that are met, so that what is learnt about them can be kept in flat tables.

use std::hash::{Hash, Hasher};

use agon_game::Role;
use hashbrown::HashTable;

/// Moves of roles, numbered in the order in which they are first met.
#[derive(Clone, Debug)]
pub(super) struct Numbering<M> {
    moves: Vec<(Role, M)>,
    index: HashTable<u32>,
}

impl<M: Clone + Eq + Hash> Numbering<M> {
    pub(super) fn new() -> Numbering<M> {
        Numbering { moves: Vec::new(), index: HashTable::new() }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.moves.len()
    }

    /// Whose move a number stands for.
    pub(super) fn role(&self, number: u32) -> Role {
        self.moves[number as usize].0
    }

    /// The number of a move, which is given one if it has none.
    pub(super) fn number(&mut self, role: Role, m: &M) -> u32 {
        let moves = &self.moves;
        let is_same = |&number: &u32| {
            let (known_role, known) = &moves[number as usize];
            *known_role == role && known == m
        };
        if let Some(&number) = self.index.find(hash_of(role, m), is_same) {
            return number;
        }
        let number = self.moves.len() as u32;
        self.moves.push((role, m.clone()));
        let moves = &self.moves;
        self.index.insert_unique(hash_of(role, m), number, |&known| {
            let (role, m) = &moves[known as usize];
            hash_of(*role, m)
        });
        number
    }
}

fn hash_of<M: Hash>(role: Role, m: &M) -> u64 {
    let mut hasher = Mixer::default();
    role.hash(&mut hasher);
    m.hash(&mut hasher);
    hasher.finish()
}

/// Spreads the bits of a number over a word.
#[inline]
pub(super) fn mix(word: u64) -> u64 {
    let product = u128::from(word ^ 0xa076_1d64_78bd_642f) * 0xe703_7ed1_a0b4_28db;
    (product >> 64) as u64 ^ product as u64
}

/// A hasher that is the same in every run.
#[derive(Default)]
pub(super) struct Mixer(u64);

impl Mixer {
    /// Begins with what a number stands for.
    pub(super) fn new(seed: u64) -> Mixer {
        Mixer(mix(seed))
    }
}

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, i: u8) {
        self.write_u64(i.into());
    }

    fn write_u16(&mut self, i: u16) {
        self.write_u64(i.into());
    }

    fn write_u32(&mut self, i: u32) {
        self.write_u64(i.into());
    }

    fn write_u64(&mut self, i: u64) {
        self.0 = (self.0.rotate_left(5) ^ i).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn write_usize(&mut self, i: usize) {
        self.write_u64(i as u64);
    }

    fn finish(&self) -> u64 {
        mix(self.0)
    }
}
