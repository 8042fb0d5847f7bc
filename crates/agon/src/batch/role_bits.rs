//! The moves of a role in a set of legal moves.

use agon_circuit::Input;
use agon_game::Rng;
use rand::RngExt as _;

/// The bits of a role in a set of legal moves: words, each with a mask.
pub(super) struct RoleBits {
    first_word: usize,
    masks: Vec<u64>,
}

impl RoleBits {
    pub(super) fn new(inputs: std::ops::Range<u32>) -> RoleBits {
        let first_word = inputs.start as usize / 64;
        let n_words = if inputs.is_empty() { 0 } else { (inputs.end as usize - 1) / 64 + 1 };
        let mask = |word: usize| {
            let bit = |at: usize| (64 * word + at) as u32;
            (0..64).filter(|&at| inputs.contains(&bit(at))).fold(0, |mask, at| mask | 1 << at)
        };
        RoleBits { first_word, masks: (first_word..n_words.max(first_word)).map(mask).collect() }
    }

    #[inline]
    fn words<'w>(&'w self, legal: &'w [u64]) -> impl Iterator<Item = (usize, u64)> + 'w {
        let words = legal[self.first_word..].iter().zip(&self.masks).enumerate();
        words.map(|(at, (word, mask))| (64 * (self.first_word + at), word & mask))
    }

    #[inline]
    pub(super) fn count(&self, legal: &[u64]) -> u32 {
        self.words(legal).map(|(_, word)| word.count_ones()).sum()
    }

    /// Returns the input of the set bit with this rank.
    #[inline]
    pub(super) fn nth(&self, legal: &[u64], rank: u32) -> Option<Input> {
        let mut left = rank;
        for (first, mut word) in self.words(legal) {
            let n = word.count_ones();
            if left >= n {
                left -= n;
                continue;
            }
            for _ in 0..left {
                word &= word - 1;
            }
            return Some(Input(first as u32 + word.trailing_zeros()));
        }
        None
    }

    #[inline]
    pub(super) fn for_each(&self, legal: &[u64], mut then: impl FnMut(Input)) {
        for (first, mut word) in self.words(legal) {
            while word != 0 {
                then(Input(first as u32 + word.trailing_zeros()));
                word &= word - 1;
            }
        }
    }
}

/// Draws a legal move of a role.
#[inline]
pub(super) fn draw(bits: &RoleBits, legal: &[u64], rng: &mut Rng) -> Input {
    let n = bits.count(legal);
    let rank = if n > 1 { rng.random_range(0..n) } else { 0 };
    bits.nth(legal, rank).expect("a role has a legal move where play has not ended")
}
