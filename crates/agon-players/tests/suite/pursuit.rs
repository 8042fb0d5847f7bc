//! Play of the shipped pursuit game, whose value is known.

use std::sync::Arc;

use agon_game::{Position as _, Rng, Role};
use agon_search::continuous::{
    ContinuousOptions, ContinuousSearch, CurrentPayoffs, Method, NoEvaluationGame, draw_move,
};
use agon_search::{Budget, Search};
use agon_toss::interpreter::{Game, Interpreter, Move, Options};
use rand::SeedableRng as _;

type Chooser = Box<dyn FnMut(&mut Interpreter, Role) -> Move>;

fn start(name: &str) -> Interpreter {
    let path = format!("{}/../../games/toss/{name}.toss", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the game ships");
    let checked = agon_toss::check::check(Arc::new(agon_text::Source::new(&path, &text)));
    Game::open(checked.arena.expect("it is sound"), Options::default()).expect("it opens").start()
}

fn player(kind: &str, budget: f64, seed: u64) -> Chooser {
    let limits =
        move || if budget < 10.0 { Budget::seconds(budget) } else { Budget::nodes(budget as u64) };
    match kind {
        "random" => {
            let mut rng = Rng::seed_from_u64(seed);
            Box::new(move |position, role| draw_move(position, role, &mut rng))
        }
        "greedy" => {
            let options = ContinuousOptions { method: Method::Basic, ..Default::default() };
            let mut search = ContinuousSearch::new(options, CurrentPayoffs, seed);
            Box::new(move |position, role| search.think(position, role, &limits()).best)
        }
        _ => {
            let method = if kind == "margins" { Method::Margins } else { Method::Auto };
            let options = ContinuousOptions { method, ..Default::default() };
            let mut search = ContinuousSearch::new(options, NoEvaluationGame, seed);
            Box::new(move |position, role| {
                let r = search.think(position, role, &limits());
                if std::env::var("LOUD").is_ok() {
                    eprintln!("{role:?} value {} iter {} nodes {}", r.value, r.iterations, r.nodes);
                }
                r.best
            })
        }
    }
}

/// Returns the payoff of the first player.
fn play(start: &Interpreter, kinds: [&str; 2], budget: f64, seed: u64) -> f64 {
    let mut position = start.clone();
    let mut players = [player(kinds[0], budget, 2 * seed), player(kinds[1], budget, 2 * seed + 1)];
    while !position.is_terminal() {
        let joint: Vec<Move> =
            (0..2).map(|role| players[role](&mut position, Role::new(role))).collect();
        position.advance(&joint);
    }
    position.payoff(Role::new(0))
}

#[test]
fn explore() {
    let name = std::env::var("GAME").unwrap_or("pursuit".into());
    let start = start(&name);
    let budget: f64 = std::env::var("BUDGET").unwrap_or("4000".into()).parse().unwrap();
    let n: u64 = std::env::var("N").unwrap_or("4".into()).parse().unwrap();
    for pair in std::env::var("PAIRS").unwrap_or("auto,auto".into()).split(' ') {
        let (a, b) = pair.split_once(',').unwrap();
        let results: Vec<f64> = (0..n).map(|seed| play(&start, [a, b], budget, seed)).collect();
        let mean = results.iter().sum::<f64>() / n as f64;
        eprintln!("{pair}: mean {mean:.2} {results:.1?}");
    }
}
