//! Transposing bit matrices.

use crate::Plane;
use crate::native::is_available;

/// Transposes four matrices of 64 by 64 bits: in each quarter, bit `j` of row `i` becomes bit `i`
/// of row `j`.
///
/// With AVX2 three rounds are done at a time. Eight rows stay in registers, so each row is written
/// twice instead of six times.
pub(crate) fn transpose(from: &[Plane; 64], to: &mut [Plane; 64]) {
    #[cfg(target_arch = "x86_64")]
    if is_available() {
        // SAFETY: `is_available` has just found AVX2.
        unsafe { x86::transpose(from, to) };
        return;
    }
    transpose_portably(from, to);
}

/// Does what [`transpose`] does, by six rounds of swapping blocks (Warren, "Hacker's Delight",
/// 7-3).
pub(crate) fn transpose_portably(from: &[Plane; 64], to: &mut [Plane; 64]) {
    *to = *from;
    round::<32>(to, 0x0000_0000_ffff_ffff);
    round::<16>(to, 0x0000_ffff_0000_ffff);
    round::<8>(to, 0x00ff_00ff_00ff_00ff);
    round::<4>(to, 0x0f0f_0f0f_0f0f_0f0f);
    round::<2>(to, 0x3333_3333_3333_3333);
    round::<1>(to, 0x5555_5555_5555_5555);
}

fn round<const SIZE: usize>(matrix: &mut [Plane; 64], mask: u64) {
    let mut row = 0;
    while row < 64 {
        let (upper, lower) = (matrix[row], matrix[row + SIZE]);
        let mut word = 0;
        while word < 4 {
            let swapped = (upper.0[word] >> SIZE ^ lower.0[word]) & mask;
            matrix[row].0[word] = upper.0[word] ^ swapped << SIZE;
            matrix[row + SIZE].0[word] = lower.0[word] ^ swapped;
            word += 1;
        }
        row = (row + SIZE + 1) & !SIZE;
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use crate::Plane;

    #[target_feature(enable = "avx2")]
    pub(super) fn transpose(from: &[Plane; 64], to: &mut [Plane; 64]) {
        let low_bytes = _mm256_set1_epi16(0x00ff);
        for first in 0..8 {
            let mut rows = load::<8>(from, first);
            for (i, j) in [(0, 4), (1, 5), (2, 6), (3, 7)] {
                let (a, b) = (rows[i], rows[j]);
                rows[i] = _mm256_blend_epi32::<0b1010_1010>(a, _mm256_slli_epi64::<32>(b));
                rows[j] = _mm256_blend_epi32::<0b1010_1010>(_mm256_srli_epi64::<32>(a), b);
            }
            for (i, j) in [(0, 2), (1, 3), (4, 6), (5, 7)] {
                let (a, b) = (rows[i], rows[j]);
                rows[i] = _mm256_blend_epi16::<0b1010_1010>(a, _mm256_slli_epi32::<16>(b));
                rows[j] = _mm256_blend_epi16::<0b1010_1010>(_mm256_srli_epi32::<16>(a), b);
            }
            for (i, j) in [(0, 1), (2, 3), (4, 5), (6, 7)] {
                let (a, b) = (rows[i], rows[j]);
                rows[i] = _mm256_blendv_epi8(_mm256_slli_epi16::<8>(b), a, low_bytes);
                rows[j] = _mm256_blendv_epi8(b, _mm256_srli_epi16::<8>(a), low_bytes);
            }
            store::<8>(to, first, rows);
        }
        for first in (0..64).step_by(8) {
            let mut rows = load::<1>(to, first);
            for (i, j) in [(0, 4), (1, 5), (2, 6), (3, 7)] {
                (rows[i], rows[j]) = swap::<4>(rows[i], rows[j], _mm256_set1_epi8(0x0f));
            }
            for (i, j) in [(0, 2), (1, 3), (4, 6), (5, 7)] {
                (rows[i], rows[j]) = swap::<2>(rows[i], rows[j], _mm256_set1_epi8(0x33));
            }
            for (i, j) in [(0, 1), (2, 3), (4, 5), (6, 7)] {
                (rows[i], rows[j]) = swap::<1>(rows[i], rows[j], _mm256_set1_epi8(0x55));
            }
            store::<1>(to, first, rows);
        }
    }

    /// Swaps the high halves of blocks of the upper row with the low halves of those of the lower.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn swap<const SIZE: i32>(upper: __m256i, lower: __m256i, mask: __m256i) -> (__m256i, __m256i) {
        let moved = _mm256_xor_si256(_mm256_srli_epi64::<SIZE>(upper), lower);
        let moved = _mm256_and_si256(moved, mask);
        (_mm256_xor_si256(upper, _mm256_slli_epi64::<SIZE>(moved)), _mm256_xor_si256(lower, moved))
    }

    /// Loads every `STRIDE`th row, eight in all.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load<const STRIDE: usize>(matrix: &[Plane; 64], first: usize) -> [__m256i; 8] {
        let mut rows = [_mm256_setzero_si256(); 8];
        let mut idx = 0;
        while idx < 8 {
            // SAFETY: both types have 32 bytes, and any bits are a value of both.
            rows[idx] =
                unsafe { std::mem::transmute::<Plane, __m256i>(matrix[first + STRIDE * idx]) };
            idx += 1;
        }
        rows
    }

    /// Stores every `STRIDE`th row, eight in all.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn store<const STRIDE: usize>(matrix: &mut [Plane; 64], first: usize, rows: [__m256i; 8]) {
        let mut idx = 0;
        while idx < 8 {
            // SAFETY: as above.
            matrix[first + STRIDE * idx] =
                unsafe { std::mem::transmute::<__m256i, Plane>(rows[idx]) };
            idx += 1;
        }
    }
}
