//! The laws of `fuzz/` on mutated copies of good and faulty rulesheets: what fuzzing does, for a
//! few seconds, on any compiler. `AGON_FUZZ_CASES` sets the number of mutated texts per law.

use std::path::PathBuf;

use agon_game::Rng;
use agon_testkit::{files, fuzz};
use rand::{RngExt as _, SeedableRng as _};

#[path = "../../../../fuzz/laws.rs"]
mod laws;

/// Maximum length of a seed. Longer rulesheets make each case slow and find nothing more.
const MAX_BYTES: usize = 3000;

#[test]
fn readers() {
    try_law("read", 12_000, laws::read);
}

#[test]
fn checks() {
    try_law("check", 5000, laws::check);
}

#[test]
fn play() {
    try_law("play", 5000, laws::play);
}

#[test]
fn opening_can_be_cancelled() {
    try_law("open_cancelled", 1000, laws::open_cancelled);
}

#[test]
fn circuits() {
    try_law("circuit", 1500, laws::circuit);
}

#[test]
fn explanations() {
    let sentences = [
        "(legal ?r ?m)",
        "terminal",
        "(next ?f)",
        "(goal ?r 100)",
        "(true ?x)",
        "(does ?r (mark ?x 1))",
        "(p a",
    ];
    try_law("why", 4000, |text| {
        let sentence = sentences[text.len() % sentences.len()];
        laws::why(&format!("{text}\n{sentence}"));
    });
}

fn try_law(name: &str, n_cases: usize, law: impl Fn(&str)) {
    let folders = ["games/gdl", "games/gdl2", "tests/rejects/gdl", "tests/hostile"];
    let below =
        |folder| files::with_extension(&files::repository().join(folder), &["kif", "infix"]);
    let mut paths: Vec<PathBuf> = folders.into_iter().flat_map(below).collect();
    paths.sort();
    let mut rng = Rng::seed_from_u64(7);
    let mutate = |seeds: &[String]| mutate(seeds, &mut rng);
    fuzz::try_law(name, &fuzz::seeds(&paths, MAX_BYTES), n_cases, mutate, law);
}

/// Returns a seed with one to five mutations: flipped bits, and tokens or clauses that are removed,
/// copied, exchanged or taken from another seed.
fn mutate(seeds: &[String], rng: &mut Rng) -> String {
    let pick = |rng: &mut Rng| seeds[rng.random_range(0..seeds.len())].clone();
    let mut text = pick(rng);
    for _ in 0..rng.random_range(1..6) {
        let mut tokens = tokens(&text);
        if tokens.is_empty() {
            return text;
        }
        let (a, b) = (rng.random_range(0..tokens.len()), rng.random_range(0..tokens.len()));
        match rng.random_range(0..7) {
            0 => {
                let mut bytes = text.into_bytes();
                let at = rng.random_range(0..bytes.len());
                bytes[at] ^= 1 << rng.random_range(0..8);
                text = String::from_utf8_lossy(&bytes).into_owned();
                continue;
            }
            1 => tokens.swap(a, b),
            2 => drop(tokens.remove(a)),
            3 => tokens[a] = tokens[b].clone(),
            4 => {
                let other = self::tokens(&pick(rng));
                tokens.insert(a, other[rng.random_range(0..other.len())].clone());
            }
            5 => {
                let clause = clause(&tokens, a);
                let copy = tokens[clause.clone()].to_vec();
                tokens.splice(clause.end..clause.end, copy);
            }
            _ => {
                let clause = clause(&tokens, a);
                let other = self::tokens(&pick(rng));
                let from = self::clause(&other, rng.random_range(0..other.len()));
                tokens.splice(clause, other[from].to_vec());
            }
        }
        text = tokens.concat();
    }
    text
}

/// Splits a text into parentheses, blanks and words. Their concatenation is the text.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let is_word = |c: char| !c.is_whitespace() && !"();,.".contains(c);
    for c in text.chars() {
        match tokens.last_mut() {
            Some(last) if is_word(c) && last.ends_with(is_word) => last.push(c),
            _ => tokens.push(c.to_string()),
        }
    }
    tokens
}

/// Returns the tokens of the list that starts at or after the token `at`.
fn clause(tokens: &[String], at: usize) -> std::ops::Range<usize> {
    let start = (at..tokens.len()).find(|&i| tokens[i] == "(").unwrap_or(at);
    let mut depth = 0;
    for (end, token) in tokens.iter().enumerate().skip(start) {
        match token.as_str() {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth <= 0 {
            return start..end + 1;
        }
    }
    start..tokens.len()
}
