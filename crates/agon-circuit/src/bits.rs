//! A state as bits.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A state: the base bits, 64 to a word. Bits after the last one are zero.
///
/// Small states lie in the value itself, so that making many allocates nothing; large ones are shared, so that copying one is
/// cheap all the same.
#[derive(Clone)]
pub struct Bits(Form);

#[derive(Clone)]
enum Form {
    Here { n_words: u8, words: [u64; Bits::MAX_HERE] },
    Shared(Arc<[u64]>),
}

impl Bits {
    /// As many words lie in the value itself. 256 bits: most board games.
    pub(crate) const MAX_HERE: usize = 4;

    /// Packs bits into words.
    pub fn pack(bits: impl ExactSizeIterator<Item = bool>) -> Bits {
        let mut packed = Bits::zero(bits.len().div_ceil(64));
        let words = packed.words_mut();
        for (bit, value) in bits.enumerate() {
            words[bit / 64] |= u64::from(value) << (bit % 64);
        }
        packed
    }

    /// So many words of zeros.
    pub(crate) fn zero(n_words: usize) -> Bits {
        if n_words <= Bits::MAX_HERE {
            return Bits(Form::Here { n_words: n_words as u8, words: [0; Bits::MAX_HERE] });
        }
        Bits(Form::Shared(vec![0; n_words].into()))
    }

    /// Takes over these few words.
    #[inline(always)]
    pub(crate) fn set_here<const N: usize>(&mut self, new: [u64; N]) {
        // Word by word into their places: built up elsewhere and moved, they would be read in larger pieces than written,
        // which processors do slowly.
        let n_here = match &self.0 {
            Form::Here { n_words, .. } => usize::from(*n_words),
            Form::Shared(_) => usize::MAX,
        };
        if n_here != N {
            *self = Bits::zero(N);
        }
        if let Form::Here { words, .. } = &mut self.0 {
            let mut idx = 0;
            while idx < N {
                words[idx] = new[idx];
                idx += 1;
            }
        }
    }

    /// Takes over these many words, where it had as many before if nobody else knows them.
    pub(crate) fn set_shared(&mut self, new: &[u64]) {
        debug_assert!(new.len() > Bits::MAX_HERE, "few words lie in the value itself");
        if let Form::Shared(words) = &mut self.0
            && words.len() == new.len()
            && let Some(words) = Arc::get_mut(words)
        {
            words.copy_from_slice(new);
        } else {
            self.0 = Form::Shared(new.into());
        }
    }

    /// The words.
    #[inline(always)]
    pub fn words(&self) -> &[u64] {
        match &self.0 {
            Form::Here { n_words, words } => &words[..usize::from(*n_words)],
            Form::Shared(words) => words,
        }
    }

    /// The words, to be written to; copied first if somebody else knows them.
    #[inline(always)]
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        match &mut self.0 {
            Form::Here { n_words, words } => &mut words[..usize::from(*n_words)],
            Form::Shared(words) => Arc::make_mut(words),
        }
    }

    /// One bit.
    #[inline(always)]
    pub fn get(&self, bit: usize) -> bool {
        self.words()[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// A hash of all bits, the same on every machine.
    #[inline(always)]
    pub fn key(&self) -> u64 {
        // As in wyhash: fold a full product per word; words are few and this is not the place for Zobrist tables.
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
