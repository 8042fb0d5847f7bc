//! Measures evaluation functions derived from goals: by the formula evaluator, by gates at one
//! state, and by gates at 256 states.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_analysis::goal_formulas::{
    GoalCircuit, GoalCircuitLimits, GoalEvaluator, GoalLanes, GoalOptions, GoalState, Method,
    RewritingGame, goal_terms,
};
use agon_game::{Position as _, Rng};
use agon_toss::interpreter::State;
use rand::SeedableRng as _;
use serde_json::{Value, json};

use super::Args;
use crate::failure::Failure;
use crate::open::{self, Language, RuleOptions};
use crate::terminal::say;

/// The methods, with their names as in `alphabeta(eval=...)`.
const METHODS: [(&str, Method); 3] = [
    ("tnf", Method::Existential),
    ("descriptions", Method::Descriptions),
    ("rule-conditions", Method::RuleConditions),
];

/// Measures every method on every game.
pub(super) fn run(args: &Args, time: Duration) -> Result<(), Failure> {
    if !args.json {
        say!(
            "{:24} {:16} {:>14} {:>14} {:>14} {:>8} {:>8}",
            "game",
            "method",
            "evaluator /s",
            "one state /s",
            "256 states /s",
            "gates",
            "facts"
        );
    }
    for name in &args.games {
        let source = open::source(name)?;
        if open::language(&source) != Language::Toss {
            return Err(Failure::wrong(format!(
                "{name} is in GDL, and --evaluation is for structure rewriting games; \
                 hint: `agon translate {name} --to toss`"
            )));
        }
        let game = open::open_toss(source, &RuleOptions::default())?;
        let states = sample(&game, args.seed);
        for (word, method) in METHODS {
            let measured = measure(&game, method, &states, time).map_err(|why| why.to_string());
            if args.json {
                say!("{}", to_json(name, word, measured));
            } else {
                print(name, word, measured);
            }
        }
    }
    Ok(())
}

/// Returns states of random plays, as many as one pass of the gates takes.
fn sample(game: &Arc<RewritingGame>, seed: u64) -> Vec<State> {
    let mut rng = Rng::seed_from_u64(seed);
    let (mut position, mut joint, mut states) = (game.start(), Vec::new(), Vec::new());
    let start = position.state().clone();
    while states.len() < GoalLanes::LANES {
        if position.is_terminal() {
            position.go_to(&start);
        }
        states.push(position.state().clone());
        if !position.is_terminal() {
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
        }
    }
    states
}

/// Evaluations per second. Values for several players of one state count once.
struct Measured {
    evaluator: f64,
    one: f64,
    many: f64,
    gates: usize,
    facts: usize,
}

fn measure(
    game: &Arc<RewritingGame>,
    method: Method,
    states: &[State],
    time: Duration,
) -> Result<Measured, Box<dyn std::error::Error>> {
    let terms = goal_terms(game.arena(), method, &GoalOptions::default())?;
    let mut slow = GoalEvaluator::new(game, &terms)?;
    let circuit = Arc::new(GoalCircuit::new(game, &terms, GoalCircuitLimits::default())?);
    // The evaluator may take a second for a few states, so the clock is read after each state.
    let (began, mut n_evaluated) = (Instant::now(), 0_u32);
    for state in states.iter().cycle() {
        let _ = black_box(slow.value(state.structure(), state.location(), 0));
        n_evaluated += 1;
        if began.elapsed() >= time {
            break;
        }
    }
    let evaluator = f64::from(n_evaluated) / began.elapsed().as_secs_f64();
    // Reading the facts of a state is part of the measured work in both cases.
    let mut facts = Vec::new();
    let mut single = GoalState::new(&circuit);
    let one = rate(time, || {
        for state in states {
            circuit.read(state.structure(), &mut facts);
            single.go_to(&facts);
            black_box(single.value(state.location(), 0));
        }
    });
    let mut together = GoalLanes::new(&circuit);
    let mut sums = [0; GoalLanes::LANES];
    let locations: std::collections::BTreeSet<_> = states.iter().map(State::location).collect();
    let many = rate(time, || {
        together.clear();
        for (lane, state) in states.iter().enumerate() {
            circuit.read(state.structure(), &mut facts);
            together.set(lane, &facts);
        }
        together.evaluate();
        for &location in &locations {
            black_box(together.values(location, 0, &mut sums));
        }
    });
    Ok(Measured { evaluator, one, many, gates: circuit.n_gates(), facts: circuit.n_facts() })
}

/// Returns the states per second of work that processes all states, repeated for the given time.
fn rate(time: Duration, mut work: impl FnMut()) -> f64 {
    let began = Instant::now();
    let mut n_rounds = 0_u64;
    loop {
        work();
        n_rounds += 1;
        let elapsed = began.elapsed();
        if elapsed >= time {
            return n_rounds as f64 * GoalLanes::LANES as f64 / elapsed.as_secs_f64();
        }
    }
}

fn to_json(game: &str, method: &str, measured: Result<Measured, String>) -> Value {
    match measured {
        Ok(measured) => json!({
            "game": game, "method": method, "evaluator_per_s": measured.evaluator,
            "one_state_per_s": measured.one, "lanes_per_s": measured.many,
            "gates": measured.gates, "facts": measured.facts,
        }),
        Err(why) => json!({"game": game, "method": method, "refused": why}),
    }
}

fn print(game: &str, method: &str, measured: Result<Measured, String>) {
    match measured {
        Ok(measured) => say!(
            "{game:24} {method:16} {:>14.0} {:>14.0} {:>14.0} {:>8} {:>8}",
            measured.evaluator,
            measured.one,
            measured.many,
            measured.gates,
            measured.facts
        ),
        Err(why) => say!("{game:24} {method:16} {why}"),
    }
}
