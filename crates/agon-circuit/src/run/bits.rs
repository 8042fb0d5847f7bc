//! States as bits.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A state: the base bits, 64 to a word. Bits after the last one are zero.
///
/// Small states are stored inline, so that making many allocates nothing. Large ones are shared, so
/// that copying is cheap as well.
#[derive(Clone)]
pub struct Bits(Form);

#[derive(Clone)]
enum Form {
    Inline { n_words: u8, words: [u64; Bits::MAX_INLINE] },
    Shared(Arc<[u64]>),
}

impl Bits {
    /// Maximum number of words that are stored inline. 256 bits are enough for most board games.
    pub(crate) const MAX_INLINE: usize = 4;

    /// Packs bits into words.
    pub fn pack(bits: impl ExactSizeIterator<Item = bool>) -> Bits {
        let mut packed = Bits::zero(bits.len().div_ceil(64));
        let words = packed.words_mut();
        for (bit, value) in bits.enumerate() {
            words[bit / 64] |= u64::from(value) << (bit % 64);
        }
        packed
    }

    /// Returns a state of `n_words` words of zeros.
    pub(crate) fn zero(n_words: usize) -> Bits {
        if n_words <= Bits::MAX_INLINE {
            return Bits(Form::Inline { n_words: n_words as u8, words: [0; Bits::MAX_INLINE] });
        }
        Bits(Form::Shared(vec![0; n_words].into()))
    }

    /// Sets the words of a small state.
    #[inline(always)]
    pub(crate) fn set_inline<const N: usize>(&mut self, new: [u64; N]) {
        // Word by word in place. Assembled elsewhere and moved, they would be read in larger pieces
        // than they were written, which is slow on current processors.
        let n_here = match &self.0 {
            Form::Inline { n_words, .. } => usize::from(*n_words),
            Form::Shared(_) => usize::MAX,
        };
        if n_here != N {
            *self = Bits::zero(N);
        }
        if let Form::Inline { words, .. } = &mut self.0 {
            let mut idx = 0;
            while idx < N {
                words[idx] = new[idx];
                idx += 1;
            }
        }
    }

    /// Sets the words of a large state, in place if they are not shared and have the same length.
    pub(crate) fn set_shared(&mut self, new: &[u64]) {
        debug_assert!(new.len() > Bits::MAX_INLINE, "small states are stored inline");
        if let Form::Shared(words) = &mut self.0
            && words.len() == new.len()
            && let Some(words) = Arc::get_mut(words)
        {
            words.copy_from_slice(new);
        } else {
            self.0 = Form::Shared(new.into());
        }
    }

    /// Returns the words.
    #[inline(always)]
    pub fn words(&self) -> &[u64] {
        match &self.0 {
            Form::Inline { n_words, words } => &words[..usize::from(*n_words)],
            Form::Shared(words) => words,
        }
    }

    /// Returns the words to be written. They are copied first if they are shared.
    #[inline(always)]
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        match &mut self.0 {
            Form::Inline { n_words, words } => &mut words[..usize::from(*n_words)],
            Form::Shared(words) => Arc::make_mut(words),
        }
    }

    /// Returns one bit.
    #[inline(always)]
    pub fn get(&self, bit: usize) -> bool {
        self.words()[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// Returns a hash of all bits. It is the same on every machine.
    #[inline(always)]
    pub fn key(&self) -> u64 {
        // As in wyhash: folds a full product per word. Words are few, so this is faster than
        // Zobrist tables.
        self.words().iter().fold(0x9e37_79b9_7f4a_7c15, |hash, &word| {
            let product = u128::from(hash ^ word ^ 0xa076_1d64_78bd_642f) * 0xe703_7ed1_a0b4_28db;
            (product >> 64) as u64 ^ product as u64
        })
    }
}

impl PartialEq for Bits {
    #[inline(always)]
    fn eq(&self, other: &Bits) -> bool {
        self.words() == other.words()
    }
}

impl Eq for Bits {}

impl Hash for Bits {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.words().hash(state);
    }
}

impl std::fmt::Debug for Bits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bits(")?;
        for word in self.words().iter().rev() {
            write!(f, "{word:016x}")?;
        }
        f.write_str(")")
    }
}

/// Returns the highest bit that is set within a range, counted from the start of the range.
pub(crate) fn highest_bit(words: &[u64], range: std::ops::Range<usize>) -> Option<usize> {
    let mut end = range.end;
    while end > range.start {
        let start = (end - 1) / 64 * 64;
        let word = words[start / 64] << (63 - (end - 1) % 64);
        if word != 0 {
            let bit = end - 1 - word.leading_zeros() as usize;
            return bit.checked_sub(range.start);
        }
        end = start;
    }
    None
}

/// Calls back with each bit that is set within a range, in ascending order.
#[inline(always)]
pub(crate) fn for_each_bit(
    words: &[u64],
    range: std::ops::Range<usize>,
    mut then: impl FnMut(usize),
) {
    let mut at = range.start;
    while at < range.end {
        let end = range.end.min((at / 64 + 1) * 64);
        let mut word = within(words[at / 64], at % 64, end - at);
        let first = at / 64 * 64;
        while word != 0 {
            then(first + word.trailing_zeros() as usize);
            word &= word - 1;
        }
        at = end;
    }
}

/// Returns a word with only the `n_bits` bits from `start` on kept. `n_bits` is at least 1.
#[inline(always)]
pub(crate) fn within(word: u64, start: usize, n_bits: usize) -> u64 {
    word & (!0 >> (64 - n_bits)) << start
}

/// Returns whether a bit is set.
#[inline(always)]
pub(crate) fn has_bit(words: &[u64], bit: usize) -> bool {
    words[bit / 64] >> (bit % 64) & 1 == 1
}
