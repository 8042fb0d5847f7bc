//! Every shipped game played as a circuit, step by step beside the interpreter, which judges.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_circuit::{BatchCircuit, BatchOptions, Bits, Executor, ScalarCircuit};
use agon_game::{
    Batch as _, Children, Ends, Hidden as _, Notation as _, Order, Position as _, Rng, Role, laws,
};
use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::engine::{Compiled, GdlPosition};
use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;
use rand::SeedableRng as _;

fn rulesheets() -> Vec<PathBuf> {
    let games = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games");
    let mut found = Vec::new();
    for family in ["gdl", "gdl2"] {
        let listing = std::fs::read_dir(games.join(family)).expect("games/ is part of the project");
        found.extend(listing.map(|entry| entry.expect("it can be listed").path()));
    }
    found.retain(|path| path.extension().is_some_and(|ending| ending == "kif"));
    found.sort();
    assert!(found.len() >= 30, "the shipped games are there");
    found
}

fn open(path: &Path) -> (Arc<Game>, Compiled) {
    let text = std::fs::read_to_string(path).expect("it can be read");
    let checked = check(Arc::new(Source::new(path.to_string_lossy(), text)));
    let game = Game::open(checked.rules.expect("shipped games are right"), Options::default());
    let game = game.unwrap_or_else(|finding| panic!("{}: {}", path.display(), finding.message));
    let compiled = game.compile(&CircuitLimits::default());
    let compiled = compiled.unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    (game, compiled)
}

/// What a position says of itself, as text.
#[derive(Debug, PartialEq, Eq)]
struct Answers {
    state: Vec<String>,
    legal: Vec<Vec<String>>,
    terminal: bool,
    goals: Vec<Vec<i64>>,
}

fn answers<P: GdlPosition>(position: &P) -> Answers {
    let roles: Vec<Role> = position.shape().roles().collect();
    let texts =
        |role: &Role| position.legal_moves(*role).iter().map(|m| position.move_text(m)).collect();
    Answers {
        state: position.state_text(),
        legal: roles.iter().map(texts).collect(),
        terminal: position.is_terminal(),
        goals: roles.iter().map(|&role| position.goal_values(role)).collect(),
    }
}

#[test]
fn circuits_agree_with_the_interpreter_step_by_step() {
    for path in rulesheets() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (game, compiled) = open(&path);
        let mut judge = game.start();
        let mut circuits: Vec<ScalarCircuit> =
            [Executor::Native, Executor::Levelled, Executor::Events]
                .into_iter()
                .map(|executor| {
                    let circuit = Arc::clone(&compiled.circuit);
                    ScalarCircuit::with_executor(circuit, compiled.shape.clone(), executor)
                })
                .collect();
        let (judge_start, circuit_start) = (judge.state().clone(), circuits[0].state().clone());
        let mut rng = Rng::seed_from_u64(11);
        let mut joint = Vec::new();
        for play in 0..3 {
            judge.go_to(&judge_start);
            circuits.iter_mut().for_each(|circuit| circuit.go_to(&circuit_start));
            for step in 0..120 {
                let expected = answers(&judge);
                for circuit in &circuits {
                    let executor = circuit.executor();
                    assert_eq!(
                        answers(circuit),
                        expected,
                        "{name}, {executor:?}, play {play}, step {step}"
                    );
                }
                if judge.is_terminal() {
                    break;
                }
                judge.draw(&mut rng, &mut joint);
                let same: Vec<_> = judge
                    .shape()
                    .roles()
                    .map(|role| {
                        let text = judge.move_text(&joint[role.index()]);
                        circuits[0].parse_move(role, &text).expect("both list the same moves")
                    })
                    .collect();
                if judge.shape().hidden {
                    for role in judge.shape().players() {
                        let seen =
                            (judge.percepts(&joint, role), circuits[0].percepts(&same, role));
                        assert_eq!(seen.0, seen.1, "{name}, percepts, step {step}");
                    }
                }
                judge.advance(&joint);
                circuits.iter_mut().for_each(|circuit| circuit.advance(&same));
            }
        }
    }
}

#[test]
fn circuits_keep_the_laws_of_play() {
    for path in rulesheets() {
        let (_, compiled) = open(&path);
        let plan = laws::Plan { plays: 2, max_steps: 60, ..laws::Plan::default() };
        if let Err(violation) = laws::check(&compiled.start(), &plan) {
            panic!("{}: {violation}", path.display());
        }
    }
}

#[test]
fn all_children_at_once_are_the_children_one_by_one() {
    for path in rulesheets() {
        let (_, compiled) = open(&path);
        let mut batch = BatchCircuit::new(
            Arc::clone(&compiled.circuit),
            compiled.shape.clone(),
            BatchOptions::default(),
        );
        let mut position = compiled.start();
        let mut rng = Rng::seed_from_u64(5);
        let mut joint = Vec::new();
        let mut children = Children::new(compiled.circuit.roles.len());
        for _ in 0..6 {
            if position.is_terminal() {
                break;
            }
            let here = position.state().clone();
            batch.expand(&[&here], &mut children);
            let (mut ends, mut expected) = (Ends::default(), Ends::default());
            batch.look_ahead(&[&here], &mut ends);
            expected.note(&children);
            assert_eq!(ends, expected, "{}", path.display());
            for child in 0..children.len().min(300) {
                position.go_to(&here);
                position.advance(children.joint(child));
                assert_eq!(&children.states[child], position.state(), "{}", path.display());
                assert_eq!(children.ended[child], position.is_terminal(), "{}", path.display());
                for role in position.shape().roles() {
                    let mut legal = Vec::new();
                    children.list_legal(child, role, &mut legal);
                    assert_eq!(legal, position.legal_moves(role), "{}", path.display());
                    assert_eq!(children.payoffs(child)[role.index()], position.payoff(role));
                }
            }
            position.go_to(&here);
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
        }
    }
}

/// Playouts in lanes have the same mean length and payoffs as the interpreter's, within five standard errors. The
/// seeds are fixed, so this either holds or does not.
#[test]
fn playouts_in_lanes_have_the_statistics_of_the_interpreter() {
    for name in [
        "tic-tac-toe",
        "connect-three",
        "nim",
        "kuhn-poker",
        "bidding-tic-tac-toe",
        "four-way-tron",
    ] {
        let path =
            rulesheets().into_iter().find(|path| path.file_stem().is_some_and(|stem| stem == name));
        let (game, compiled) = open(&path.expect("it ships"));
        let start = game.start();
        let mut position = start.clone();
        let mut rng = Rng::seed_from_u64(3);
        let mut samples: Vec<Vec<f64>> = Vec::new();
        for _ in 0..1500 {
            position.go_to(start.state());
            let n_steps = position.play_out(&mut rng, 1000);
            let payoffs = start.shape().players().map(|role| position.payoff(role));
            samples.push(std::iter::once(n_steps as f64).chain(payoffs).collect());
        }
        let options =
            BatchOptions { seed: 9, turns: compiled.turns.clone(), ..BatchOptions::default() };
        let mut batch =
            BatchCircuit::new(Arc::clone(&compiled.circuit), compiled.shape.clone(), options);
        let state = Bits::pack(compiled.circuit.initial.iter().copied());
        let tally = batch
            .play_out(&[Order { state, n_playouts: 200_000, expected_steps: 0 }], 1000)
            .remove(0);
        assert_eq!(tally.n_playouts, 200_000, "{name}: every playout is counted");
        let players = start.shape().players().map(|role| tally.mean_payoff(role));
        let lanes: Vec<f64> = std::iter::once(tally.mean_length()).chain(players).collect();
        for (i, lane_mean) in lanes.into_iter().enumerate() {
            let n = samples.len() as f64;
            let mean = samples.iter().map(|sample| sample[i]).sum::<f64>() / n;
            let variance =
                samples.iter().map(|sample| (sample[i] - mean) * (sample[i] - mean)).sum::<f64>()
                    / n;
            let error = (variance / n).sqrt() + 1e-9;
            assert!(
                (lane_mean - mean).abs() < 5.0 * error,
                "{name}, quantity {i}: {lane_mean} against {mean} ± {error}"
            );
        }
    }
}

#[test]
fn turn_taking_is_proved_where_a_token_goes_round_and_never_claimed_falsely() {
    let mut proved = Vec::new();
    for path in rulesheets() {
        let (game, compiled) = open(&path);
        if compiled.turns.is_none() {
            continue;
        }
        proved.push(path.file_stem().unwrap_or_default().to_string_lossy().into_owned());
        let mut position = game.start();
        let mut rng = Rng::seed_from_u64(2);
        let mut joint = Vec::new();
        for _ in 0..60 {
            if position.is_terminal() {
                break;
            }
            let players = position.shape().players();
            let n_choosers = players.filter(|&role| position.legal_moves(role).len() > 1).count();
            assert!(n_choosers <= 1, "{}: two players have a choice", path.display());
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
        }
    }
    for name in ["tic-tac-toe", "connect-four", "breakthrough"] {
        assert!(
            proved.iter().any(|known| known == name),
            "{name} is not among the proved: {proved:?}"
        );
    }
}
