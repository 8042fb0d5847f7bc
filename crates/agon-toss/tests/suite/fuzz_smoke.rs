//! Runs the laws of `fuzz/toss_laws.rs` on mutated copies of correct and faulty games: a few
//! seconds of fuzzing on any compiler. `AGON_FUZZ_CASES` sets the number of texts for each law.

use std::path::PathBuf;

use agon_game::Rng;
use agon_testkit::{files, fuzz};
use rand::{RngExt as _, SeedableRng as _};

#[path = "../../../../fuzz/toss_laws.rs"]
mod laws;

/// Longer games are left out, because they make each case slow and find nothing that short ones do
/// not.
const MAX_BYTES: usize = 2500;

#[test]
fn readers() {
    try_law("toss_read", 6000, laws::read);
}

#[test]
fn play() {
    try_law("toss_play", 1500, laws::play);
}

fn try_law(name: &str, n_cases: usize, law: impl Fn(&str)) {
    let below = |folder| files::with_extension(&files::repository().join(folder), &["toss"]);
    let mut paths: Vec<PathBuf> = ["games/toss", "tests/rejects/toss", "fuzz/seeds/toss_play"]
        .into_iter()
        .flat_map(below)
        .collect();
    paths.sort();
    let mut rng = Rng::seed_from_u64(7);
    let mutate = |seeds: &[String]| mutate(seeds, &mut rng);
    fuzz::try_law(name, &fuzz::seeds(&paths, MAX_BYTES), n_cases, mutate, law);
}

/// Mutates a seed: a few words are removed, doubled, exchanged or taken from another seed.
fn mutate(seeds: &[String], rng: &mut Rng) -> String {
    let pick = |rng: &mut Rng| tokens(&seeds[rng.random_range(0..seeds.len())]);
    let mut text = pick(rng);
    for _ in 0..rng.random_range(1..5) {
        if text.is_empty() {
            break;
        }
        let (a, b) = (rng.random_range(0..text.len()), rng.random_range(0..text.len()));
        match rng.random_range(0..6) {
            0 => {
                let mut bytes = text.concat().into_bytes();
                let at = rng.random_range(0..bytes.len());
                bytes[at] ^= 1 << rng.random_range(0..8);
                text = tokens(&String::from_utf8_lossy(&bytes));
            }
            1 => text.swap(a, b),
            2 => drop(text.remove(a)),
            3 => text[a] = text[b].clone(),
            4 => {
                let other = pick(rng);
                text.insert(a, other[rng.random_range(0..other.len())].clone());
            }
            // A piece of another game: a rule, a formula, half a board.
            _ => {
                let other = pick(rng);
                let start = rng.random_range(0..other.len());
                let end = (start + rng.random_range(1..30)).min(other.len());
                text.splice(a..a, other[start..end].to_vec());
            }
        }
    }
    text.concat()
}

/// Splits a text into words, signs and the text between them.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    for c in text.chars() {
        match tokens.last_mut() {
            Some(last) if is_word(c) && last.ends_with(is_word) => last.push(c),
            _ => tokens.push(c.to_string()),
        }
    }
    tokens
}
