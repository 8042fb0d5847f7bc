//! Learns concepts from a game and writes them down: `cargo run --release -p agon-analysis --example learn_concepts -- FILE WINS SEED`.

use std::sync::Arc;

use agon_analysis::concepts::{Endings, learn_concepts, write_concepts};
use agon_gdl::check::check;
use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().expect("a rulesheet");
    let n_wins = arguments.get(1).map_or(10_000, |text| text.parse().expect("how many wins"));
    let seed = arguments.get(2).map_or(1, |text| text.parse().expect("a seed"));
    let text = std::fs::read_to_string(path).expect("the rulesheet can be read");
    let rules =
        check(Arc::new(Source::new(path.as_str(), text))).rules.expect("the rulesheet is right");
    let game = Game::open(rules, Options::default())
        .unwrap_or_else(|finding| panic!("{}", finding.message));
    let endings = Endings::play(&game.start(), n_wins, seed);
    let name = std::path::Path::new(path)
        .file_stem()
        .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    println!("; learnt from {name}: {n_wins} random plays won by each player, seed {seed}");
    print!("{}", write_concepts(&learn_concepts(&endings, 3)));
}
