//! A short run of the fuzz targets about what the command reads: the laws of `fuzz/cli_laws.rs` on
//! damaged recordings and calls. `AGON_FUZZ_CASES` sets the number of cases for each law.

use agon_game::Rng;
use agon_testkit::{files, fuzz};
use rand::{RngExt as _, SeedableRng as _};

use crate::cli_laws;

fn seeds_of(target: &str) -> Vec<String> {
    let folder = files::repository().join("fuzz/seeds").join(target);
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the target has seeds")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    paths.sort();
    fuzz::seeds(&paths, 100_000)
}

/// Replaces, removes or repeats values of a JSON text.
fn damage(rng: &mut Rng) -> impl FnMut(&[String]) -> String + '_ {
    |seeds| {
        let text = &seeds[rng.random_range(0..seeds.len())];
        let mut parts: Vec<&str> = text.split_inclusive([':', ',', '[', '{', '\n']).collect();
        let values = ["null,", "-1,", "1e300,", "{},", "[],", "\"x\",", "18446744073709551615,"];
        for _ in 0..rng.random_range(1..3) {
            let (at, other) = (rng.random_range(0..parts.len()), rng.random_range(0..parts.len()));
            match rng.random_range(0..4) {
                0 if parts.len() > 1 => drop(parts.remove(at)),
                1 => parts.swap(at, other),
                2 => parts[at] = parts[other],
                _ => parts[at] = values[rng.random_range(0..values.len())],
            }
        }
        parts.concat()
    }
}

#[test]
fn recordings() {
    let mut rng = Rng::seed_from_u64(1);
    fuzz::try_law("trace", &seeds_of("trace"), 2000, damage(&mut rng), cli_laws::trace);
}

#[test]
fn calls() {
    let mut rng = Rng::seed_from_u64(2);
    fuzz::try_law("engine", &seeds_of("engine"), 200, damage(&mut rng), cli_laws::engine);
}
