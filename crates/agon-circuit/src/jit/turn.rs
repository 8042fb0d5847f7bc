//! Bit matrices turned over by AVX2 instructions.

use crate::Plane;

/// What [`crate::transpose::transpose`] does, three rounds at a time: eight rows stay in registers, so that each is written
/// twice instead of six times. Says whether it has.
pub(crate) fn turn(from: &[Plane; 64], to: &mut [Plane; 64]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if super::is_available() {
        // SAFETY: `is_available` has just found AVX2.
        unsafe { x86::turn(from, to) };
        return true;
    }
    let _ = (from, to);
    false
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use crate::Plane;

    #[target_feature(enable = "avx2")]
    pub(super) fn turn(from: &[Plane; 64], to: &mut [Plane; 64]) {
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

    /// Every `STRIDE`th row, eight in all.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load<const STRIDE: usize>(matrix: &[Plane; 64], first: usize) -> [__m256i; 8] {
        let mut rows = [_mm256_setzero_si256(); 8];
        let mut idx = 0;
        while idx < 8 {
            // SAFETY: a plane is 32 bytes, as is what is made of it, and any bits are a value of both.
            rows[idx] =
                unsafe { std::mem::transmute::<Plane, __m256i>(matrix[first + STRIDE * idx]) };
            idx += 1;
        }
        rows
    }

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
