//! Fair random bits, 256 at a time.

use rand::{Rng as _, SeedableRng};
use rand_xoshiro::SplitMix64;

use crate::Plane;

/// Four generators xoshiro256+ side by side (Blackman and Vigna, "Scrambled linear pseudorandom number generators",
/// 2021), one per word of a plane.
#[derive(Clone, Debug)]
pub(crate) struct PlaneRng {
    s: [Plane; 4],
}

impl PlaneRng {
    pub(crate) fn new(seed: u64) -> PlaneRng {
        let mut seeds = SplitMix64::seed_from_u64(seed);
        PlaneRng { s: std::array::from_fn(|_| Plane(std::array::from_fn(|_| seeds.next_u64()))) }
    }

    /// Fills planes with random bits.
    pub(crate) fn fill(&mut self, planes: &mut [Plane]) {
        if !crate::jit::fill_random(&mut self.s, planes) {
            fill_portable(&mut self.s, planes);
        }
    }
}

/// One step of all four generators per plane: the judge of the faster ways.
pub(crate) fn fill_portable(s: &mut [Plane; 4], planes: &mut [Plane]) {
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
