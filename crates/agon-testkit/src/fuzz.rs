//! Laws tried on texts and on mutated copies of them: what fuzzing does, for a few seconds, on any
//! compiler.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// Reads the texts of at most `max_bytes` bytes among the files. Long texts make every case slow.
///
/// # Panics
/// If a file cannot be read.
pub fn seeds(files: &[PathBuf], max_bytes: usize) -> Vec<String> {
    let texts = files.iter().map(|path| std::fs::read(path).expect("the file can be read"));
    texts
        .filter(|bytes| bytes.len() <= max_bytes)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect()
}

/// Tries a law on every seed and on `n_cases` texts that `mutate` makes of them.
///
/// The environment variable `AGON_FUZZ_CASES` overrides `n_cases`.
///
/// # Panics
/// If the law panics. The message shows the text.
pub fn try_law(
    name: &str,
    seeds: &[String],
    n_cases: usize,
    mut mutate: impl FnMut(&[String]) -> String,
    law: impl Fn(&str),
) {
    let n_cases = match std::env::var("AGON_FUZZ_CASES") {
        Ok(number) => number.parse().expect("AGON_FUZZ_CASES is a number"),
        Err(_) => n_cases,
    };
    let mutated: Vec<String> = (0..n_cases).map(|_| mutate(seeds)).collect();
    for text in seeds.iter().chain(&mutated) {
        if catch_unwind(AssertUnwindSafe(|| law(text))).is_err() {
            panic!("the law `{name}` is broken by:\n{text}");
        }
    }
}
