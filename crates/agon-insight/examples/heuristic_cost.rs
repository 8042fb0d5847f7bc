//! What it costs to judge moves by regressed goals: `cargo run --release -p agon-insight --example heuristic_cost -- FILE...`
//!
//! Random plays are followed, with and without judging the legal moves of every role that has a choice.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_game::{Position as _, Rng, Role};
use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Options};
use agon_insight::Subject;
use agon_insight::regression::{Evaluator, Logic, Network, Reader, Wanted};
use agon_text::Source;
use rand::SeedableRng as _;

/// Steps that are made at least.
const N_STEPS: u64 = 100_000;

fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).expect("the file can be read");
        let Some(rules) = check(Arc::new(Source::new(&path, &text))).rules else {
            println!("{path}: not playable");
            continue;
        };
        let Ok(game) = Game::open(rules, Options::default()) else {
            println!("{path}: not opened");
            continue;
        };
        let Ok(compiled) = game.compile(&CircuitLimits::default()).map(Arc::new) else {
            println!("{path}: no circuit");
            continue;
        };
        let subject = Subject::new(game, Some(Arc::clone(&compiled)));
        let made = match subject.action_heuristics(Wanted::default(), Duration::from_secs(30)) {
            Ok(made) => made.pruned(),
            Err(why) => {
                println!("{path}: {why}");
                continue;
            }
        };
        let start = compiled.start();
        let reader = Reader::new(&start, &made);
        let mut evaluator = Evaluator::new(Arc::new(Network::new(&made, Logic::PRODUCT)));
        let mut seen = Vec::new();
        let mut seconds = [0.0; 2];
        let (mut n_asked, mut n_moves, mut n_steps) = (0_u64, 0_u64, 0_u64);
        let mut sum = 0.0;
        for (judges, seconds) in [false, true].into_iter().zip(&mut seconds) {
            let mut rng = Rng::seed_from_u64(1);
            let mut joint = Vec::new();
            let mut position = start.clone();
            let began = Instant::now();
            n_steps = 0;
            while n_steps < N_STEPS {
                position.go_to(start.state());
                while !position.is_terminal() {
                    for role in (0..position.shape().role_names.len()).map(Role::new) {
                        let moves = position.legal_moves(role);
                        if judges && moves.len() > 1 {
                            reader.lead(&position, &mut seen, &mut evaluator);
                            n_asked += 1;
                            n_moves += moves.len() as u64;
                            for m in moves {
                                let place = reader.move_idx(&position, role, m);
                                sum += place.and_then(|place| evaluator.value(role, place)).unwrap_or(0.0);
                            }
                        }
                    }
                    position.draw(&mut rng, &mut joint);
                    position.advance(&joint);
                    n_steps += 1;
                }
            }
            *seconds = began.elapsed().as_secs_f64();
        }
        let [plain, judged] = seconds.map(|seconds| 1e9 * seconds / n_steps as f64);
        println!(
            "{path}: {} nodes, {} operands; {plain:.0} ns for a step, {judged:.0} with moves judged, {:.0} for each time, {:.1} moves each, sum {sum:.6}",
            evaluator.network().n_nodes(),
            evaluator.network().n_operands(),
            (judged - plain) * n_steps as f64 / n_asked.max(1) as f64,
            n_moves as f64 / n_asked.max(1) as f64,
        );
    }
}
