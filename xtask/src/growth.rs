//! Measures how the stages from rules to native code grow with the game: one game at rising sizes.
//!
//! `cargo xtask growth [--rules] [SIZE…]`
//!
//! For each size and stage, prints the processor time in seconds, and in nanoseconds divided by
//! n log2 n for n gates. If the latter does not rise from size to size, the stage takes at most
//! O(n log n). `--rules` prints the rules of the sizes instead.

mod rooks;

use std::sync::Arc;

use agon_circuit::optimise::{PassReport, optimise};
use agon_circuit::{BatchCircuit, BatchOptions, Deadline, ScalarCircuit, prove_turns};
use agon_game::Shape;
use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;

use crate::clock::thread_seconds;

/// Default sizes, a factor of eight apart in gates; the largest has 1.4 million.
const SIZES: [usize; 3] = [9, 18, 36];

pub(crate) fn run(args: Vec<String>) {
    let (options, sizes): (Vec<String>, Vec<String>) =
        args.into_iter().partition(|argument| argument.starts_with('-'));
    let sizes: Result<Vec<usize>, _> = sizes.iter().map(|text| text.parse::<usize>()).collect();
    let Ok(mut sizes) = sizes else {
        eprintln!("sizes are numbers");
        std::process::exit(2);
    };
    if sizes.is_empty() {
        sizes = SIZES.to_vec();
    }
    if options.iter().any(|option| option == "--rules") {
        sizes.into_iter().for_each(|n| print!("{}", rooks::rooks(n)));
        return;
    }
    let mut before: Option<Growth> = None;
    for n in sizes {
        let growth = Growth::measure(n);
        growth.print(before.as_ref());
        before = Some(growth);
    }
}

/// The measurements of one size.
struct Growth {
    n: usize,
    n_raw_gates: usize,
    n_gates: usize,
    n_inputs: usize,
    /// Whether the batch circuit has native code. Beyond some size, code generation may be refused,
    /// and then its time says nothing.
    is_native: bool,
    stages: Vec<(&'static str, f64)>,
    passes: Vec<PassReport>,
}

impl Growth {
    fn measure(n: usize) -> Growth {
        let mut stages = Vec::new();
        let mut began = thread_seconds();
        let mut ends = |stage| {
            let now = thread_seconds();
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
        let (circuit, passes) = optimise(&ground.circuit, Deadline::NEVER);
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

    /// Returns the number of gates that a stage works on, which is smaller after optimisation.
    fn gates_of(&self, stage: &str) -> f64 {
        let is_late = ["turns", "generate lanes", "generate single"].contains(&stage);
        (if is_late { self.n_gates } else { self.n_raw_gates }) as f64
    }

    // Logarithms may differ in the last digit between machines, but they are only printed.
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
            // A stage shorter than the resolution of the clock has no exponent.
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
