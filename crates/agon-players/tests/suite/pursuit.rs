//! Play of the shipped pursuit game, whose value is known: 60 for the pursuer.

use std::sync::Arc;

use agon_game::{Position as _, Rng, Role};
use agon_search::continuous::{
    ContinuousOptions, ContinuousSearch, CurrentPayoffs, Method, NoEvaluationGame, draw_move,
};
use agon_search::{Budget, Search as _};
use agon_toss::interpreter::{Game, Interpreter, Move, Options};
use rand::SeedableRng as _;

/// What the pursuer receives if both play optimally.
const VALUE: f64 = 60.0;

/// Chooses a move of a role at a position.
type Chooser = Box<dyn FnMut(&mut Interpreter, Role) -> Move>;

fn start() -> Interpreter {
    let path = format!("{}/../../games/toss/pursuit.toss", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the game ships");
    let checked = agon_toss::check::check(Arc::new(agon_text::Source::new("pursuit", &text)));
    let arena = checked.arena.expect("the game is sound");
    Game::open(arena, Options::default()).expect("the game opens").start()
}

/// Returns a player. The searches visit `n_nodes` positions for a move, so that matches do not
/// depend on the machine.
fn player(kind: &str, n_nodes: u64, seed: u64) -> Chooser {
    match kind {
        "random" => {
            let mut rng = Rng::seed_from_u64(seed);
            Box::new(move |position, role| draw_move(position, role, &mut rng))
        }
        "greedy" => {
            let options = ContinuousOptions { method: Method::Basic, ..Default::default() };
            let mut search = ContinuousSearch::new(options, CurrentPayoffs, seed);
            Box::new(move |at, role| search.think(at, role, &Budget::nodes(n_nodes)).best)
        }
        _ => {
            let options = ContinuousOptions::default();
            let mut search = ContinuousSearch::new(options, NoEvaluationGame, seed);
            Box::new(move |at, role| search.think(at, role, &Budget::nodes(n_nodes)).best)
        }
    }
}

/// Returns the payoffs of the pursuer in matches with different seeds.
fn matches(kinds: [&str; 2], n_nodes: u64, n_matches: u64) -> Vec<f64> {
    let start = start();
    let play = |seed: u64| {
        let mut position = start.clone();
        let mut players =
            [player(kinds[0], n_nodes, 2 * seed), player(kinds[1], n_nodes, 2 * seed + 1)];
        while !position.is_terminal() {
            let joint: Vec<Move> = players
                .iter_mut()
                .enumerate()
                .map(|(role, choose)| choose(&mut position, Role::new(role)))
                .collect();
            position.advance(&joint);
        }
        position.payoff(Role::new(0))
    };
    (0..n_matches).map(play).collect()
}

/// Returns the mean of results and the half width of its 95 % interval.
fn mean(results: &[f64]) -> (f64, f64) {
    let n = results.len() as f64;
    let mean = results.iter().sum::<f64>() / n;
    let squares: f64 = results.iter().map(|result| (result - mean) * (result - mean)).sum();
    (mean, 1.96 * (squares / (n - 1.0).max(1.0) / n).sqrt())
}

/// On an idle core a second is enough for about 20,000 positions. `SLOW=1` plays 20 matches with
/// as many and prints the results.
#[test]
fn pursuit_is_played_within_five_percent_of_its_value() {
    let is_slow = std::env::var_os("SLOW").is_some();
    let (n_nodes, n_matches) = if is_slow { (20_000, 20) } else { (5_000, 2) };
    let run = |kinds: [&str; 2]| {
        let results = matches(kinds, n_nodes, n_matches);
        let (mean, width) = mean(&results);
        println!("{} pursues {}: {mean:.2} ± {width:.2} {results:.1?}", kinds[0], kinds[1]);
        mean
    };
    let both = run(["continuous", "continuous"]);
    assert!((both - VALUE).abs() <= 0.05 * VALUE, "{both} is not near {VALUE}");
    for other in ["random", "greedy"] {
        // The optimal pursuit guarantees the value against every evader, and the optimal flight
        // against every pursuer.
        let pursues = run(["continuous", other]);
        assert!(pursues >= 0.95 * VALUE && pursues > both, "against {other}: {pursues}");
        let flees = run([other, "continuous"]);
        assert!(flees <= 1.05 * VALUE && flees < both, "against {other}: {flees}");
    }
}
