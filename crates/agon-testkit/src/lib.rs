//! Shared parts of the tests of this workspace. Only ever a dev-dependency.
//!
//! ```
//! use agon_testkit::files;
//!
//! let shipped = files::games("gdl");
//! assert!(shipped.iter().any(|path| path.ends_with("games/gdl/tic-tac-toe.kif")));
//! ```
//!
//! # Modules, in reading order
//!
//! - [`files`]: the repository's own rule files (`games/`, `tests/`).
//! - [`rejects`]: compares the diagnostics of faulty rule files with those written inside them.
//! - [`codes`]: checks the tables that explain diagnostic codes.
//! - [`fuzz`]: tries a law on given texts and on mutated copies of them.
//! - [`growth`]: asserts how time grows with the size of an input.
//! - [`connect_four`]: a perfect solver, as the judge of players and evaluations.
//! - [`seeded`]: property tests that try the same cases in every run.
//!
//! The crate depends on `agon-text` and on no other crate of the workspace, so that every crate
//! above `agon-text` can use it without a cycle.
#![forbid(unsafe_code)]

pub mod codes;
pub mod connect_four;
pub mod files;
pub mod fuzz;
pub mod growth;
pub mod rejects;

use proptest::test_runner::{Config, RngSeed};

/// The seed of property tests where the environment does not set one.
const SEED: u64 = 7;

/// Returns a proptest configuration with `n_cases` cases that are the same in every run.
///
/// `PROPTEST_RNG_SEED` chooses other cases. Failures are not stored in files, because the cases can
/// be repeated without them.
pub fn seeded(n_cases: u32) -> Config {
    let config = Config::with_cases(n_cases);
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(SEED),
        RngSeed::Fixed(seed) => RngSeed::Fixed(seed),
    };
    Config { rng_seed, failure_persistence: None, ..config }
}
