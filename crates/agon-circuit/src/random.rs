//! Fair random bits, 256 at a time.

use rand::{Rng as _, SeedableRng};
use rand_xoshiro::SplitMix64;

use crate::Plane;

/// Four generators xoshiro256+ side by side (Blackman and Vigna, "Scrambled linear pseudorandom number generators",
/// 2021), one per word of a plane.
#[derive(Clone, Debug)]
pub(crate) struct PlaneRng {
    s: [[u64; 4]; 4],
}

impl PlaneRng {
    pub(crate) fn new(seed: u64) -> PlaneRng {
        let mut seeds = SplitMix64::seed_from_u64(seed);
        PlaneRng { s: std::array::from_fn(|_| std::array::from_fn(|_| seeds.next_u64())) }
    }

    /// Fills planes with random bits.
    #[inline(always)]
    pub(crate) fn fill(&mut self, planes: &mut [Plane]) {
        // Locals, so that the state stays in registers throughout.
        let [mut s0, mut s1, mut s2, mut s3] = self.s;
        for plane in planes {
            for i in 0..4 {
                plane.0[i] = s0[i].wrapping_add(s3[i]);
                let t = s1[i] << 17;
                s2[i] ^= s0[i];
                s3[i] ^= s1[i];
                s1[i] ^= s2[i];
                s0[i] ^= s3[i];
                s2[i] ^= t;
                s3[i] = s3[i].rotate_left(45);
            }
        }
        self.s = [s0, s1, s2, s3];
    }
}
