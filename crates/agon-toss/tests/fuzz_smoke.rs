//! The laws of `fuzz/toss_laws.rs` on spoilt copies of good and bad games: what fuzzing does, for a few seconds, on any compiler.
//! `AGON_FUZZ_CASES` sets how many texts each law is tried on.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use agon_game::Rng;
use rand::{RngExt as _, SeedableRng as _};

#[path = "../../../fuzz/toss_laws.rs"]
mod laws;

/// Longer games are left out: they make each case slow and show nothing that short ones do not.
const MAX_BYTES: usize = 2500;

#[test]
fn readers() {
    try_law("toss_read", 6000, laws::read);
}

#[test]
fn play() {
    try_law("toss_play", 1500, laws::play);
}

/// Tries a law on every seed and on `n_cases` spoilt ones; the text that breaks it is shown.
fn try_law(name: &str, n_cases: usize, law: impl Fn(&str)) {
    let seeds = seeds();
    let n_cases = match std::env::var("AGON_FUZZ_CASES") {
        Ok(number) => number.parse().expect("AGON_FUZZ_CASES is a number"),
        Err(_) => n_cases,
    };
    let mut rng = Rng::seed_from_u64(7);
    let spoilt: Vec<String> = (0..n_cases).map(|_| spoil(&seeds, &mut rng)).collect();
    for text in seeds.iter().chain(&spoilt) {
        if catch_unwind(AssertUnwindSafe(|| law(text))).is_err() {
            panic!("the law `{name}` is broken by:\n{text}");
        }
    }
}

fn seeds() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths: Vec<_> = ["games/toss", "tests/rejects/toss"]
        .iter()
        .flat_map(|folder| {
            fs::read_dir(root.join(folder)).expect("the repository has games and rejects")
        })
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toss"))
        .collect();
    paths.sort();
    let texts = paths.iter().map(|path| fs::read_to_string(path).expect("the file can be read"));
    texts.filter(|text| text.len() <= MAX_BYTES).collect()
}

/// A seed with a few words left out, doubled, exchanged or taken from another.
fn spoil(seeds: &[String], rng: &mut Rng) -> String {
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

/// Words, signs and what is between them; together they are the text.
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
