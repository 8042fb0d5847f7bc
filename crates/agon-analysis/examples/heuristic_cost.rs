//! What it costs to judge moves by regressed goals: `cargo run --release -p agon-analysis --example heuristic_cost -- FILE...`
//!
//! Random plays are followed, without and with judging the legal moves of every role that has a choice: one position after the other, and
//! 16 plays side by side.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_analysis::Subject;
use agon_analysis::regression::{Abreast, Evaluator, Logic, Network, Reader, Wanted};
use agon_circuit::{ScalarCircuit, Wide};
use agon_game::{Position as _, Rng, Role};
use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Options};
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
        let network = Arc::new(Network::new(&made, Logic::PRODUCT));
        let abreast = Abreast::new(&Network::for_many(&made, Logic::PRODUCT));
        let mut evaluator = Evaluator::new(network);
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
                                sum += place
                                    .and_then(|place| evaluator.value(role, place))
                                    .unwrap_or(0.0);
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
        if let Some(mut abreast) = abreast {
            let n_factors: Vec<usize> = (0..evaluator.network().n_roles())
                .map(|role| abreast.n_factors(Role::new(role)))
                .collect();
            let [(plain, _, _), (judged, n_asked, sum)] =
                [false, true].map(|judges| side_by_side(&start, &reader, &mut abreast, judges));
            println!(
                "  side by side: {n_factors:?} factors; {plain:.0} ns for a step, {judged:.0} with moves judged, {:.0} for each time, sum {sum:.6}",
                (judged - plain) * n_steps as f64 / n_asked.max(1) as f64,
            );
        }
    }
}

/// Nanoseconds for a step of many plays side by side, how often moves were judged, and the sum of what was said.
fn side_by_side(
    start: &ScalarCircuit,
    reader: &Reader,
    abreast: &mut Abreast,
    judges: bool,
) -> (f64, u64, f64) {
    let mut rng = Rng::seed_from_u64(1);
    let mut positions = vec![start.clone(); Wide::LANES];
    let (mut joint, mut waiting) = (Vec::new(), Vec::new());
    let (mut n_steps, mut n_asked, mut sum) = (0, 0, 0.0);
    let began = Instant::now();
    while n_steps < N_STEPS {
        for role in (0..start.shape().role_names.len()).map(Role::new) {
            waiting.clear();
            waiting.extend(
                (0..positions.len())
                    .filter(|&at| judges && positions[at].legal_moves(role).len() > 1),
            );
            if !waiting.is_empty() {
                reader.lead_lanes(waiting.iter().map(|&at| &positions[at]), role, abreast);
                abreast.work_out(role, waiting.len());
            }
            n_asked += waiting.len() as u64;
            for (lane, &at) in waiting.iter().enumerate() {
                for m in positions[at].legal_moves(role) {
                    let place = reader.move_idx(&positions[at], role, m);
                    sum += place
                        .and_then(|place| abreast.lane(role, lane).value(place))
                        .unwrap_or(0.0);
                }
            }
        }
        for position in &mut positions {
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
            n_steps += 1;
            if position.is_terminal() {
                position.go_to(start.state());
            }
        }
    }
    (1e9 * began.elapsed().as_secs_f64() / n_steps as f64, n_asked, sum)
}
