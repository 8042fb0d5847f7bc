//! The laws of `fuzz/text_laws.rs` and `fuzz/file_laws.rs` on damaged copies of texts and files.
//! `AGON_FUZZ_CASES` sets the number of copies.

use agon::Rng;
use agon_testkit::{files, fuzz};
use rand::{RngExt as _, SeedableRng as _};

#[path = "../../../../fuzz/file_laws.rs"]
mod file_laws;
#[path = "../../../../fuzz/text_laws.rs"]
mod text_laws;

/// Exchanges, removes or repeats a few parts of a text that end with one of `ends`.
fn damage<'a>(rng: &'a mut Rng, ends: &'a [char]) -> impl FnMut(&[String]) -> String + 'a {
    move |seeds| {
        let mut text = seeds[rng.random_range(0..seeds.len())].clone();
        for _ in 0..rng.random_range(1..4) {
            let parts: Vec<&str> = text.split_inclusive(ends).collect();
            if parts.is_empty() {
                break;
            }
            let (a, b) = (rng.random_range(0..parts.len()), rng.random_range(0..parts.len()));
            let mut changed = parts.clone();
            match rng.random_range(0..3) {
                0 => changed.swap(a, b),
                1 => drop(changed.remove(a)),
                _ => changed[a] = parts[b],
            }
            text = changed.concat();
        }
        text
    }
}

#[test]
fn player_specifications() {
    let seeds = [
        "mcts,random",
        "alphabeta(eval=fuzzy,depth=3), uct(mast,rave)",
        "http://localhost:9147, cmd:python3 'a b.py' \"x\"",
        "mcts(threads=2,playout-moves=careful),minimax(seconds=0.5)",
    ]
    .map(str::to_owned);
    let mut rng = Rng::seed_from_u64(1);
    let mutate = damage(&mut rng, &[',', '(', ')', '=', ' ', ':']);
    fuzz::try_law("players", &seeds, 2000, mutate, text_laws::players);
}

#[test]
fn tournaments() {
    let paths = files::with_extension(&files::repository().join("examples"), &["toml"]);
    let seeds = fuzz::seeds(&paths, 5000);
    assert!(!seeds.is_empty(), "there are examples");
    let mut rng = Rng::seed_from_u64(2);
    let mutate = damage(&mut rng, &['\n', ' ', '=', '"', ',', '[']);
    fuzz::try_law("tournament", &seeds, 500, mutate, text_laws::tournament);
}

#[test]
fn pictures() {
    let mut paths = files::with_extension(&files::repository().join("games/gdl"), &["kif"]);
    paths.sort();
    let mut seeds = fuzz::seeds(&paths, 1600);
    assert!(!seeds.is_empty(), "there are small games");
    seeds.truncate(6);
    seeds.push("board = \"hex rows=1 columns=0\"\n[pieces]\nwP = \"♙ white\"\n".to_owned());
    let mut rng = Rng::seed_from_u64(3);
    let mutate = damage(&mut rng, &[' ', '\n', ')', '=']);
    fuzz::try_law("board", &seeds, 60, mutate, text_laws::board);
}

/// Tries a law on files and on copies of them in which some bytes are changed, lost or repeated.
fn try_bytes(name: &str, files: &[Vec<u8>], n_cases: usize, law: fn(&[u8])) {
    let n_cases = match std::env::var("AGON_FUZZ_CASES") {
        Ok(number) => number.parse().expect("AGON_FUZZ_CASES is a number"),
        Err(_) => n_cases,
    };
    let mut rng = Rng::seed_from_u64(4);
    for case in 0..n_cases {
        let mut bytes = files[case % files.len()].clone();
        for _ in 0..case.min(4) {
            let at = rng.random_range(0..=bytes.len());
            let end = (at + rng.random_range(0..9)).min(bytes.len());
            match rng.random_range(0..4) {
                0 => drop(bytes.drain(at..end)),
                1 => bytes.splice(at..at, [0xff; 9]).for_each(drop),
                2 => {
                    let piece = bytes[at..end].to_vec();
                    bytes.splice(at..at, piece);
                }
                _ => {
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 1 << rng.random_range(0..8);
                    }
                }
            }
        }
        let outcome = std::panic::catch_unwind(|| law(&bytes));
        assert!(outcome.is_ok(), "the law `{name}` is broken by {bytes:?}");
    }
}

/// Returns the seeds of a fuzz target.
fn seeds_of(target: &str) -> Vec<Vec<u8>> {
    let folder = files::repository().join("fuzz/seeds").join(target);
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the target has seeds")
        .map(|entry| entry.expect("it can be read").path())
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("it can be read")).collect()
}

fn texts_of(target: &str) -> Vec<String> {
    seeds_of(target).iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect()
}

#[test]
fn models_and_tables() {
    try_bytes("model", &seeds_of("model"), 2000, file_laws::model);
    try_bytes("onnx", &seeds_of("onnx"), 2000, file_laws::onnx);
    try_bytes("endgames", &seeds_of("endgames"), 1000, file_laws::endgames);
}

#[test]
fn stylesheets() {
    let mut rng = Rng::seed_from_u64(5);
    let mutate = damage(&mut rng, &['<', '>', '"', '(', ')', '/', ' ']);
    fuzz::try_law("stylesheet", &texts_of("stylesheet"), 500, mutate, file_laws::stylesheet);
}

#[test]
fn experiments() {
    let mut rng = Rng::seed_from_u64(6);
    let mutate = damage(&mut rng, &['\n', ' ', '=', '"', ',', '[']);
    fuzz::try_law("experiment", &texts_of("experiment"), 1000, mutate, file_laws::experiment);
}

#[test]
fn parameters() {
    let mut rng = Rng::seed_from_u64(7);
    let mutate = damage(&mut rng, &['{', '}', ':', '.', ' ', '(', ')', '+', '*', '-']);
    fuzz::try_law("params", &texts_of("params"), 3000, mutate, file_laws::params);
}

#[test]
fn formulas_and_concepts() {
    let mut rng = Rng::seed_from_u64(8);
    let mutate = damage(&mut rng, &[' ', '(', ')', ',', '\n', '|', '[', ']', ':']);
    fuzz::try_law("formulas", &texts_of("formulas"), 5000, mutate, file_laws::formulas);
}

#[test]
fn evaluation_games() {
    let mut rng = Rng::seed_from_u64(9);
    let mutate = damage(&mut rng, &[' ', '\n', '(', ')', '{', '}', '|']);
    fuzz::try_law("evaluation", &texts_of("evaluation"), 200, mutate, file_laws::evaluation);
}
