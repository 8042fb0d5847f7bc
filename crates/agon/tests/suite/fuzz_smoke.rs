//! The laws of `fuzz/text_laws.rs` on damaged copies of texts. `AGON_FUZZ_CASES` sets the number of
//! copies.

use agon::Rng;
use agon_testkit::{files, fuzz};
use rand::{RngExt as _, SeedableRng as _};

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
