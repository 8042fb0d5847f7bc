//! Measures what it costs to evaluate moves by regressed goals:
//! `cargo xtask heuristic-cost FILE...`
//!
//! The same random plays are made without and with an evaluation of the legal moves of every role
//! that has a choice. First one play is made after the other, then [`Wide::LANES`] plays in
//! parallel with the batch evaluator.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_analysis::Analysis;
use agon_analysis::regression::{
    BatchEvaluator, Evaluator, HeuristicRequest, Logic, Network, Reader,
};
use agon_circuit::{ScalarCircuit, Wide};
use agon_game::{Position as _, Rng, Role};
use agon_gdl::circuit::CircuitLimits;
use rand::SeedableRng as _;

use crate::rulesheets;

/// Minimum number of steps of a measurement.
const N_STEPS: u64 = 100_000;

/// Time limit for regressing the goals.
const TIME: Duration = Duration::from_secs(30);

pub(crate) fn run(args: Vec<String>) {
    for path in args {
        if let Err(why) = measure(Path::new(&path)) {
            println!("{path}: {why}");
        }
    }
}

/// Measures a rulesheet and prints the results, or returns why there are none.
fn measure(path: &Path) -> Result<(), String> {
    let game = rulesheets::open(path)?;
    let compiled = game.compile(&CircuitLimits::default()).map_err(|why| why.to_string())?;
    let compiled = Arc::new(compiled);
    let analysis = Analysis::new(game, Some(Arc::clone(&compiled)));
    let heuristics = analysis.action_heuristics(HeuristicRequest::default(), TIME);
    let heuristics = heuristics.map_err(|why| why.to_string())?.pruned();
    let start = compiled.start();
    let reader = Reader::new(&start, &heuristics);
    let mut evaluator = Evaluator::new(Arc::new(Network::new(&heuristics, Logic::PRODUCT)));
    let [plain, evaluated] = [Evaluate::Nothing, Evaluate::Moves]
        .map(|evaluate| play_singly(&start, &reader, &mut evaluator, evaluate));
    println!(
        "{}: {} nodes, {} operands; {:.1} moves per evaluation; {}",
        path.display(),
        evaluator.network().n_nodes(),
        evaluator.network().n_operands(),
        evaluated.n_moves as f64 / evaluated.n_evaluations.max(1) as f64,
        Cost::text(&plain, &evaluated),
    );
    let batch = BatchEvaluator::new(&Network::for_batch(&heuristics, Logic::PRODUCT));
    let Some(mut batch) = batch else { return Ok(()) };
    let n_roles = evaluator.network().n_roles();
    let n_factors: Vec<usize> = (0..n_roles).map(|role| batch.n_factors(Role::new(role))).collect();
    let [plain, evaluated] = [Evaluate::Nothing, Evaluate::Moves]
        .map(|evaluate| play_in_lanes(&start, &reader, &mut batch, evaluate));
    println!("  in lanes: {n_factors:?} factors; {}", Cost::text(&plain, &evaluated));
    Ok(())
}

/// What is evaluated during the random plays.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Evaluate {
    Nothing,
    Moves,
}

/// What random plays took.
#[derive(Default)]
struct Cost {
    seconds: f64,
    n_steps: u64,
    /// Number of evaluations, each of all moves of a role.
    n_evaluations: u64,
    n_moves: u64,
    /// The sum of all values, so that the evaluation cannot be optimised away.
    sum: f64,
}

impl Cost {
    fn nanoseconds_per_step(&self) -> f64 {
        1e9 * self.seconds / self.n_steps as f64
    }

    /// Compares plays without and with evaluation.
    fn text(plain: &Cost, evaluated: &Cost) -> String {
        let (without, with) = (plain.nanoseconds_per_step(), evaluated.nanoseconds_per_step());
        let each =
            (with - without) * evaluated.n_steps as f64 / evaluated.n_evaluations.max(1) as f64;
        format!(
            "{without:.0} ns per step, {with:.0} ns with evaluation, {each:.0} ns per evaluation, \
             sum {:.6}",
            evaluated.sum
        )
    }
}

/// Makes one random play after the other.
fn play_singly(
    start: &ScalarCircuit,
    reader: &Reader,
    evaluator: &mut Evaluator,
    evaluate: Evaluate,
) -> Cost {
    let mut rng = Rng::seed_from_u64(1);
    let (mut joint, mut seen) = (Vec::new(), Vec::new());
    let mut position = start.clone();
    let mut cost = Cost::default();
    let began = Instant::now();
    while cost.n_steps < N_STEPS {
        position.go_to(start.state());
        while !position.is_terminal() {
            for role in start.shape().roles() {
                let moves = position.legal_moves(role);
                if evaluate == Evaluate::Nothing || moves.len() < 2 {
                    continue;
                }
                reader.update_evaluator(&position, &mut seen, evaluator);
                cost.n_evaluations += 1;
                cost.n_moves += moves.len() as u64;
                for m in moves {
                    let index = reader.move_idx(&position, role, m);
                    let value = index.and_then(|index| evaluator.value(role, index));
                    cost.sum += value.unwrap_or(0.0);
                }
            }
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
            cost.n_steps += 1;
        }
    }
    cost.seconds = began.elapsed().as_secs_f64();
    cost
}

/// Makes as many random plays in parallel as the batch evaluator has lanes.
fn play_in_lanes(
    start: &ScalarCircuit,
    reader: &Reader,
    batch: &mut BatchEvaluator,
    evaluate: Evaluate,
) -> Cost {
    let mut rng = Rng::seed_from_u64(1);
    let mut positions = vec![start.clone(); Wide::LANES];
    let (mut joint, mut waiting) = (Vec::new(), Vec::new());
    let mut cost = Cost::default();
    let began = Instant::now();
    while cost.n_steps < N_STEPS {
        for role in start.shape().roles() {
            waiting.clear();
            if evaluate == Evaluate::Moves {
                let has_choice = |&at: &usize| positions[at].legal_moves(role).len() > 1;
                waiting.extend((0..positions.len()).filter(has_choice));
            }
            if !waiting.is_empty() {
                reader.update_lanes(waiting.iter().map(|&at| &positions[at]), role, batch);
                batch.evaluate(role, waiting.len());
            }
            cost.n_evaluations += waiting.len() as u64;
            for (lane, &at) in waiting.iter().enumerate() {
                for m in positions[at].legal_moves(role) {
                    let index = reader.move_idx(&positions[at], role, m);
                    let value = index.and_then(|index| batch.lane(role, lane).value(index));
                    cost.sum += value.unwrap_or(0.0);
                }
            }
        }
        for position in &mut positions {
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
            cost.n_steps += 1;
            if position.is_terminal() {
                position.go_to(start.state());
            }
        }
    }
    cost.seconds = began.elapsed().as_secs_f64();
    cost
}
