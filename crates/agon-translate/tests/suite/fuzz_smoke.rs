//! The law of `fuzz/translate_laws.rs` on damaged copies of games of both languages.
//! `AGON_FUZZ_CASES` sets the number of copies.

use agon_game::Rng;
use agon_testkit::{files, fuzz};
use rand::{RngExt as _, SeedableRng as _};

#[path = "../../../../fuzz/translate_laws.rs"]
mod translate_laws;

/// Maximum length of a seed. Longer rulesheets make each case slow and find nothing more.
const MAX_BYTES: usize = 2500;

#[test]
fn translations() {
    let folders = ["games/gdl", "games/toss", "tests/hostile"];
    let below = |folder| files::with_extension(&files::repository().join(folder), &["kif", "toss"]);
    let mut paths: Vec<_> = folders.into_iter().flat_map(below).collect();
    paths.sort();
    let seeds = fuzz::seeds(&paths, MAX_BYTES);
    let mut rng = Rng::seed_from_u64(7);
    let mutate = |seeds: &[String]| {
        let mut text = seeds[rng.random_range(0..seeds.len())].clone();
        for _ in 0..rng.random_range(1..4) {
            let words: Vec<&str> = text.split(' ').collect();
            let (a, b) = (rng.random_range(0..words.len()), rng.random_range(0..words.len()));
            let mut changed = words.clone();
            match rng.random_range(0..3) {
                0 => changed.swap(a, b),
                1 => drop(changed.remove(a)),
                _ => changed[a] = words[b],
            }
            text = changed.join(" ");
        }
        text
    };
    fuzz::try_law("translate", &seeds, 60, mutate, translate_laws::translate);
}
