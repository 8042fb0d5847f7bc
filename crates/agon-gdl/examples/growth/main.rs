//! How the stages from rules to native code grow with the game: one game at rising sizes.
//!
//! `cargo run --release -p agon-gdl --example growth [--rules] [SIZE…]`
//!
//! For each size and stage: seconds, and nanoseconds per gate and binary logarithm of the gates. Where the latter do not
//! rise from size to size, a stage takes no more than n log n. `--rules` prints the rules of the sizes instead.

mod rooks;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use agon_circuit::optimise::{PassReport, optimise};
use agon_circuit::{BatchCircuit, BatchOptions, ScalarCircuit, prove_turns};
use agon_game::Shape;
use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;

/// Eight times apart in gates; the largest has 1.4 million.
const SIZES: [usize; 3] = [9, 18, 36];

fn main() -> ExitCode {
    let (options, sizes): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with('-'));
    let sizes: Result<Vec<usize>, _> = sizes.iter().map(|text| text.parse::<usize>()).collect();
    let Ok(mut sizes) = sizes else {
        eprintln!("sizes are numbers");
        return ExitCode::from(2);
    };
    if sizes.is_empty() {
        sizes = SIZES.to_vec();
    }
    if options.iter().any(|option| option == "--rules") {
        sizes.into_iter().for_each(|n| print!("{}", rooks::rooks(n)));
        return ExitCode::SUCCESS;
    }
    let mut before: Option<Growth> = None;
    for n in sizes {
        let growth = Growth::measure(n);
        growth.print(before.as_ref());
        before = Some(growth);
    }
    ExitCode::SUCCESS
}

/// Seconds that this thread has run, where the system tells: on a busy machine the wall clock tells nothing.
fn cpu_seconds(since: Instant) -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = stat.split(' ').next().and_then(|field| field.parse::<f64>().ok());
    nanoseconds.map_or(since.elapsed().as_secs_f64(), |n| n * 1e-9)
}

/// What one size took.
struct Growth {
    n: usize,
    n_raw_gates: usize,
    n_gates: usize,
    n_inputs: usize,
    /// Whether lanes got native code: beyond some size a stage may give up, and then its time shows nothing.
    is_native: bool,
    stages: Vec<(&'static str, f64)>,
    passes: Vec<PassReport>,
}

impl Growth {
    fn measure(n: usize) -> Growth {
        let mut stages = Vec::new();
        let clock = Instant::now();
        let mut began = cpu_seconds(clock);
        let mut ends = |stage| {
            let now = cpu_seconds(clock);
            stages.push((stage, now - began));
            began = now;
        };
        let source = Arc::new(Source::new(format!("rooks-{n}"), rooks::rooks(n)));
        let rules = check(source).rules.expect("the rules have no errors");
        ends("check");
        let game =
            Game::open(rules, Options::default()).unwrap_or_else(|why| panic!("{}", why.message));
        ends("open");
        let ground = game.ground(&CircuitLimits::default());
        let ground = ground.unwrap_or_else(|refusal| panic!("{}", game.refusal_text(&refusal)));
        ends("ground");
        let (circuit, passes) = optimise(&ground.circuit);
        ends("optimise");
        let turns = prove_turns(&circuit);
        assert!(turns.is_some(), "players take turns");
        ends("turns");
        let circuit = Arc::new(circuit);
        let shape = Shape { turn_taking: true, ..game.shape().clone() };
        let batch_options = BatchOptions { turns, ..BatchOptions::default() };
        let mut batch = BatchCircuit::new(Arc::clone(&circuit), shape.clone(), batch_options);
        let is_native = batch.playout_size().1.is_some();
        ends("generate lanes");
        drop(ScalarCircuit::with_shape(Arc::clone(&circuit), shape));
        ends("generate single");
        Growth {
            n,
            n_raw_gates: ground.circuit.n_gates(),
            n_gates: circuit.n_gates(),
            n_inputs: circuit.n_inputs(),
            is_native,
            stages,
            passes,
        }
    }

    /// The gates that a stage worked on: after optimising there are fewer of them.
    fn gates_of(&self, stage: &str) -> f64 {
        let is_late = ["turns", "generate lanes", "generate single"].contains(&stage);
        (if is_late { self.n_gates } else { self.n_raw_gates }) as f64
    }

    // Logarithms may differ in the last digit from machine to machine; these are looked at, and nothing depends on them.
    #[allow(clippy::disallowed_methods)]
    fn print(&self, before: Option<&Growth>) {
        let Growth { n, n_raw_gates, n_gates, n_inputs, .. } = self;
        let code = if self.is_native { "native code" } else { "no native code" };
        println!(
            "size {n}: {n_raw_gates} raw gates, {n_gates} optimised, {n_inputs} moves, {code}"
        );
        println!("  {:16} {:>10} {:>16} {:>9}", "stage", "seconds", "ns/(gate log2)", "exponent");
        for &(stage, seconds) in &self.stages {
            let gates = self.gates_of(stage);
            let each = 1e9 * seconds / (gates * gates.log2());
            let exponent = before.and_then(|before| {
                let &(_, seconds_before) = before.stages.iter().find(|(name, _)| *name == stage)?;
                Some((seconds / seconds_before).ln() / (gates / before.gates_of(stage)).ln())
            });
            // Stages shorter than the tick of the clock have none.
            let exponent = exponent.filter(|exponent| exponent.is_finite());
            let exponent = exponent.map_or(String::new(), |exponent| format!("{exponent:.2}"));
            println!("  {stage:16} {seconds:10.4} {each:16.3} {exponent:>9}");
        }
        for pass in &self.passes {
            let (from, to) = (pass.gates_before, pass.gates_after);
            println!("    {:14} {:10.4} {from:>9} -> {to}", pass.name, pass.seconds);
        }
    }
}
