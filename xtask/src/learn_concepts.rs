//! Learns concepts from random plays of a game and prints them:
//! `cargo xtask learn-concepts FILE [WINS [SEED]]`.

use std::path::Path;

use agon_analysis::concepts::{EndingOptions, Endings, learn_concepts, write_concepts};
use agon_testkit::files;

use crate::rulesheets;

pub(crate) fn run(args: Vec<String>) {
    let path = Path::new(args.first().expect("the first argument is a rulesheet"));
    let n_wins = args.get(1).map_or(10_000, |text| text.parse().expect("WINS is a number"));
    let seed = args.get(2).map_or(1, |text| text.parse().expect("SEED is a number"));
    let game = rulesheets::open(path).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    let endings =
        Endings::play(&game.start(), &EndingOptions { n_wins, seed, ..EndingOptions::default() });
    let name = files::stem(path);
    println!("; learned from {name}: {n_wins} random plays won by each player, seed {seed}");
    print!("{}", write_concepts(&learn_concepts(&endings, 3)));
}
