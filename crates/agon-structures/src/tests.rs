//! Inputs that the tests of this crate share.

pub(crate) mod tape;

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// As many cases, the same in each run unless `PROPTEST_RNG_SEED` says otherwise.
pub(crate) fn seeded(n_cases: u32) -> ProptestConfig {
    let config = ProptestConfig::with_cases(n_cases);
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(7),
        RngSeed::Fixed(seed) => RngSeed::Fixed(seed),
    };
    ProptestConfig { rng_seed, failure_persistence: None, ..config }
}
