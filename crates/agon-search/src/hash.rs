//! Hashing that is the same in every run, so that results are reproducible.

use std::hash::{BuildHasherDefault, Hasher};

/// A map whose order is never visible.
pub(crate) type Map<K, V> = hashbrown::HashMap<K, V, BuildHasherDefault<Fold>>;

/// A hasher that folds a full product per word, as wyhash does. It does not resist keys chosen by
/// an attacker.
#[derive(Clone, Default)]
pub(crate) struct Fold(u64);

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = fold(self.0, word);
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_u16(&mut self, word: u16) {
        self.write_u64(word.into());
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Mixes a word into a hash. The order of words matters.
pub(crate) fn fold(before: u64, word: u64) -> u64 {
    let before = before.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31);
    let product = u128::from(before ^ word ^ 0xa076_1d64_78bd_642f) * 0xe703_7ed1_a0b4_28db;
    (product >> 64) as u64 ^ product as u64
}

/// Returns the hash of a text.
pub(crate) fn of_text(text: &str) -> u64 {
    let mut fold = Fold(text.len() as u64);
    fold.write(text.as_bytes());
    fold.finish()
}

/// Returns the hash of a value.
pub(crate) fn of<T: std::hash::Hash>(thing: &T) -> u64 {
    let mut fold = Fold::default();
    thing.hash(&mut fold);
    fold.finish()
}
