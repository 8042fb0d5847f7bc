//! Measures the interpreter on games whose universe grows: states per second of processor time with
//! embeddings computed from scratch, updated incrementally, and chosen automatically. 200 states
//! are played from each start.
//!
//! `cargo xtask growing`

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_game::{Position as _, Rng};
use agon_text::Source;
use agon_toss::check::check;
use agon_toss::interpreter::{EmbeddingSearch, Game, Options};
use rand::SeedableRng as _;

use crate::clock::process_seconds;

/// Returns a forest in which twigs grow and fall, and twigs between the same leaves may be tied.
fn forest(n_trees: usize) -> String {
    let roots: Vec<String> = (0..n_trees).map(|tree| format!("r{tree}")).collect();
    let twigs: Vec<String> =
        (0..n_trees).map(|tree| format!("(r{tree}, s{tree}); (r{tree}, t{tree})")).collect();
    format!(
        "PLAYERS gardener
REL Leaf(x) = ex y E(y, x) and not ex y E(x, y)
REL Siblings(x, y) = ex z (E(z, x) and E(z, y)) and x != y
RULE Grow: [a | Leaf(a) | -] -> [a, b, c | E {{(a, b); (a, c)}} | -]
RULE Fall: [a, b, c | E {{(a, b); (a, c)}} | -] -> [a | - | -] pre Leaf(b) and Leaf(c) and not Root(a)
RULE Tie: [a, b | Leaf {{a; b}} | -] -> [a, b | T(a, b) | -]
  pre Siblings(a, b) and not T(a, b) and not T(b, a)
LOC 0 {{ PLAYER gardener PAYOFF {{ gardener: 0 }} MOVES [Grow -> 0]; [Fall -> 0]; [Tie -> 0] }}
START [ | Root {{{}}}; E {{{}}}; T:2 {{}} | - ]
",
        roots.join("; "),
        twigs.join("; ")
    )
}

pub(crate) fn run(_: Vec<String>) {
    println!(
        "{:>10} {:>10} {:>12} {:>12} {:>12}",
        "elements", "moves", "scratch/s", "updated/s", "auto/s"
    );
    for n_trees in [5, 20, 80, 320, 1280] {
        let text = forest(n_trees);
        let mut rates = Vec::new();
        let (mut n_elements, mut n_moves) = (0, 0);
        for embeddings in
            [EmbeddingSearch::FromScratch, EmbeddingSearch::Incremental, EmbeddingSearch::Auto]
        {
            let arena = check(Arc::new(Source::new("forest.toss", &*text)))
                .arena
                .expect("the game is correct");
            let options = Options { embeddings, ..Options::default() };
            let game =
                Game::open(arena, options).unwrap_or_else(|finding| panic!("{}", finding.message));
            let start = game.start();
            let mut position = start.clone();
            let mut rng = Rng::seed_from_u64(1);
            let mut joint = Vec::new();
            let (began, cpu, mut n_states) = (Instant::now(), process_seconds(), 0_u32);
            while began.elapsed() < Duration::from_secs(3) {
                if n_states.is_multiple_of(200) || position.is_terminal() {
                    position.go_to(start.state());
                }
                position.draw(&mut rng, &mut joint);
                position.advance(&joint);
                n_states += 1;
                if n_states == 199 {
                    n_moves = position.legal_moves(agon_game::Role::new(0)).len();
                    n_elements = position.state().structure().n_elements();
                }
            }
            rates.push(f64::from(n_states) / (process_seconds() - cpu));
        }
        println!(
            "{n_elements:>10} {n_moves:>10} {:>12.0} {:>12.0} {:>12.0}",
            rates[0], rates[1], rates[2]
        );
    }
}
