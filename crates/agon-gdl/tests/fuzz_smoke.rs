//! The laws of `fuzz/` on spoilt copies of good and bad rulesheets: what fuzzing does, for a few seconds, on any
//! compiler. `AGON_FUZZ_CASES` sets how many texts each law is tried on.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use agon_game::Rng;
use rand::{RngExt as _, SeedableRng as _};

#[path = "../../../fuzz/laws.rs"]
mod laws;

/// Longer rulesheets are left out: they make each case slow and show nothing that short ones do not.
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

/// Tries a law on every seed and on `n_cases` spoilt ones; the text that breaks it is shown.
fn try_law(name: &str, n_cases: usize, law: impl Fn(&str)) {
    let seeds = seeds();
    let n_cases = match std::env::var("AGON_FUZZ_CASES") {
        Ok(number) => number.parse().expect("AGON_FUZZ_CASES is a number"),
        Err(_) => n_cases,
    };
    let mut rng = Rng::seed_from_u64(7);
    let spoilt = (0..n_cases).map(|_| spoil(&seeds, &mut rng)).collect::<Vec<_>>();
    for text in seeds.iter().chain(&spoilt) {
        if catch_unwind(AssertUnwindSafe(|| law(text))).is_err() {
            panic!("the law `{name}` is broken by:\n{text}");
        }
    }
}

fn seeds() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths: Vec<_> = ["games/gdl", "games/gdl2", "tests/rejects/gdl"]
        .iter()
        .flat_map(|folder| {
            fs::read_dir(root.join(folder)).expect("the repository has games and rejects")
        })
        .map(|entry| entry.expect("the folder can be listed").path())
        .filter(|path| {
            path.extension().is_some_and(|extension| extension == "kif" || extension == "infix")
        })
        .collect();
    paths.sort();
    let texts = paths.iter().map(|path| fs::read(path).expect("the file can be read"));
    texts
        .filter(|bytes| bytes.len() <= MAX_BYTES)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect()
}

/// A seed with a few things wrong.
fn spoil(seeds: &[String], rng: &mut Rng) -> String {
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

/// Parentheses, blanks and words; together they are the text.
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

/// The parenthesised piece that starts at or after a token.
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
