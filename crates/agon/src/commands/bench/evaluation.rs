//! How fast evaluation functions made of goals are: by the evaluator, by gates at one state, by gates at 256 states.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_analysis::goal_formulas::{
    GoalCircuit, GoalCircuitLimits, GoalJudge, GoalOptions, LANES, ManyStates, Method, OneState,
    RewritingGame, goal_terms,
};
use agon_game::{Position as _, Rng};
use agon_toss::interpreter::State;
use rand::SeedableRng as _;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::open::{self, Language};
use crate::terminal::say;

/// The methods, by the words of `alphabeta(eval=...)`.
const METHODS: [(&str, Method); 3] = [
    ("tnf", Method::Existential),
    ("descriptions", Method::Descriptions),
    ("rule-conditions", Method::RuleConditions),
];

/// Measures every method on every game.
pub(super) fn run(
    games: &[String],
    time: Duration,
    seed: u64,
    is_json: bool,
) -> Result<(), Failure> {
    if !is_json {
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
    for name in games {
        let source = open::source(name)?;
        if open::language(&source) != Language::Toss {
            return Err(Failure::wrong(format!(
                "{name} is in GDL, and terms made of goals are for structure rewriting games; \
                 hint: `agon translate {name} --to toss`"
            )));
        }
        let game = open::open_toss(source)?;
        let states = sampled(&game, seed);
        for (word, method) in METHODS {
            let measured = measure(&game, method, &states, time);
            report(name, word, measured, is_json);
        }
    }
    Ok(())
}

/// As many states as one pass takes, from random plays.
fn sampled(game: &Arc<RewritingGame>, seed: u64) -> Vec<State> {
    let mut rng = Rng::seed_from_u64(seed);
    let (mut position, mut joint, mut states) = (game.start(), Vec::new(), Vec::new());
    let start = position.state().clone();
    while states.len() < LANES {
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

/// Evaluations per second, one for each player of a state being one.
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
) -> Result<Measured, String> {
    let terms =
        goal_terms(game.arena(), method, &GoalOptions::default()).map_err(|why| why.to_string())?;
    let mut judge = GoalJudge::new(game, &terms).map_err(|why| why.to_string())?;
    let circuit = GoalCircuit::new(game, &terms, GoalCircuitLimits::default())
        .map_err(|why| why.to_string())?;
    let circuit = Arc::new(circuit);
    // Where open ways are many, the evaluator takes a second for a few of them: no round is waited for.
    let (began, mut n_evaluated) = (Instant::now(), 0_u32);
    for state in states.iter().cycle() {
        let _ = black_box(judge.value(state.structure(), state.location(), 0));
        n_evaluated += 1;
        if began.elapsed() >= time {
            break;
        }
    }
    let evaluator = f64::from(n_evaluated) / began.elapsed().as_secs_f64();
    // Reading the facts of a state is part of the work in both.
    let mut facts = Vec::new();
    let mut single = OneState::new(&circuit);
    let one = rate(time, || {
        for state in states {
            circuit.read(state.structure(), &mut facts);
            single.go_to(&facts);
            black_box(single.value(state.location(), 0));
        }
    });
    let mut together = ManyStates::new(&circuit);
    let mut sums = [0; LANES];
    let locations: std::collections::BTreeSet<_> = states.iter().map(State::location).collect();
    let many = rate(time, || {
        together.clear();
        for (lane, state) in states.iter().enumerate() {
            circuit.read(state.structure(), &mut facts);
            together.tell(lane, &facts);
        }
        together.work_out();
        for &location in &locations {
            black_box(together.values(location, 0, &mut sums));
        }
    });
    Ok(Measured { evaluator, one, many, gates: circuit.n_gates(), facts: circuit.n_facts() })
}

/// States per second, when the work is done on all of them again and again.
fn rate(time: Duration, mut work: impl FnMut()) -> f64 {
    let began = Instant::now();
    let mut n_rounds = 0_u64;
    loop {
        work();
        n_rounds += 1;
        let elapsed = began.elapsed();
        if elapsed >= time {
            return n_rounds as f64 * LANES as f64 / elapsed.as_secs_f64();
        }
    }
}

fn report(game: &str, method: &str, measured: Result<Measured, String>, is_json: bool) {
    if is_json {
        let object: Value = match measured {
            Ok(measured) => json!({
                "game": game, "method": method, "evaluator_per_s": measured.evaluator,
                "one_state_per_s": measured.one, "lanes_per_s": measured.many,
                "gates": measured.gates, "facts": measured.facts,
            }),
            Err(why) => json!({"game": game, "method": method, "refused": why}),
        };
        say!("{object}");
        return;
    }
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
