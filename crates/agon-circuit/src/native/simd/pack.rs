//! Packing the results of a single game into words.

use crate::native::is_available;

/// Packs the highest bit of each result, 64 to a word.
///
/// Results that do not fill a word are left out, and words without 64 results are not written.
#[inline]
pub(crate) fn pack_signs(results: &[u32], words: &mut [u64]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;

        #[target_feature(enable = "avx2")]
        fn pack(results: &[[u32; 64]], words: &mut [u64]) {
            for (word, results) in words.iter_mut().zip(results) {
                let mut packed = 0;
                for (idx, eight) in results.as_chunks::<8>().0.iter().enumerate() {
                    // SAFETY: both types have 32 bytes, and any bits are a value of the second.
                    let eight = unsafe { std::mem::transmute::<[u32; 8], __m256>(*eight) };
                    packed |= u64::from(_mm256_movemask_ps(eight) as u32) << (8 * idx);
                }
                *word = packed;
            }
        }
        if is_available() {
            // SAFETY: `is_available` has just found AVX2.
            unsafe { pack(results.as_chunks::<64>().0, words) };
            return;
        }
    }
    for (word, results) in words.iter_mut().zip(results.as_chunks::<64>().0) {
        *word =
            results.iter().rev().fold(0, |packed, result| packed << 1 | u64::from(result >> 31));
    }
}
