//! Four random number generators side by side.

use crate::Plane;
use crate::native::is_available;

/// Fills planes with random bits by four generators xoshiro256+ side by side, whose states are `s`.
///
/// Compilers turn the portable loop into single words, which takes three times as long as the
/// vector instructions.
pub(crate) fn fill_random(s: &mut [Plane; 4], planes: &mut [Plane]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::*;

        #[target_feature(enable = "avx2")]
        fn fill(s: &mut [Plane; 4], planes: &mut [Plane]) {
            // SAFETY: both types have 32 bytes, and any bits are a value of both.
            let [mut s0, mut s1, mut s2, mut s3] =
                s.map(|plane| unsafe { std::mem::transmute::<Plane, __m256i>(plane) });
            for plane in planes {
                // SAFETY: as above.
                *plane = unsafe { std::mem::transmute::<__m256i, Plane>(_mm256_add_epi64(s0, s3)) };
                let t = _mm256_slli_epi64::<17>(s1);
                s2 = _mm256_xor_si256(s2, s0);
                s3 = _mm256_xor_si256(s3, s1);
                s1 = _mm256_xor_si256(s1, s2);
                s0 = _mm256_xor_si256(s0, s3);
                s2 = _mm256_xor_si256(s2, t);
                s3 = _mm256_or_si256(_mm256_slli_epi64::<45>(s3), _mm256_srli_epi64::<19>(s3));
            }
            // SAFETY: as above.
            *s = [s0, s1, s2, s3]
                .map(|vector| unsafe { std::mem::transmute::<__m256i, Plane>(vector) });
        }
        if is_available() {
            // SAFETY: `is_available` has just found AVX2.
            unsafe { fill(s, planes) };
            return;
        }
    }
    fill_random_portably(s, planes);
}

/// Does what [`fill_random`] does, word by word: one step of all four generators per plane.
pub(crate) fn fill_random_portably(s: &mut [Plane; 4], planes: &mut [Plane]) {
    for plane in planes {
        for i in 0..4 {
            let [s0, s1, s2, s3] = s.each_mut().map(|plane| &mut plane.0[i]);
            plane.0[i] = s0.wrapping_add(*s3);
            let t = *s1 << 17;
            *s2 ^= *s0;
            *s3 ^= *s1;
            *s1 ^= *s2;
            *s0 ^= *s3;
            *s2 ^= t;
            *s3 = s3.rotate_left(45);
        }
    }
}
