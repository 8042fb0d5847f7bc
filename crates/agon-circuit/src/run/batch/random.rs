//! Fair random bits, 256 at a time.

use rand::{Rng as _, SeedableRng};
use rand_xoshiro::SplitMix64;

use crate::Plane;
use crate::native::simd::fill_random;

/// Four generators xoshiro256+ side by side, one per word of a plane (Blackman and Vigna,
/// "Scrambled linear pseudorandom number generators", 2021).
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
        fill_random(&mut self.s, planes);
    }
}
