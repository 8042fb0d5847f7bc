//! Every shipped game played as a circuit, step by step beside the interpreter, which is the
//! oracle.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_circuit::{BatchCircuit, BatchOptions, Bits, Executor, ScalarCircuit};
use agon_game::{
    Batch as _, Children, Hidden, PlayoutKind, PlayoutRequest, Position as _, Rng, Role,
    TerminalChildren, joint_moves, laws, lockstep, playout_moves,
};
use agon_gdl::check::check;
use agon_gdl::circuit::{CircuitLimits, Compiled};
use agon_gdl::interpreter::{Game, Options};
use agon_testkit::files;
use rand::SeedableRng as _;

fn rulesheets() -> Vec<PathBuf> {
    let found: Vec<PathBuf> =
        ["gdl", "gdl2"].iter().flat_map(|folder| files::games(folder)).collect();
    assert!(found.len() >= 30, "only {} shipped games", found.len());
    found
}

/// Opens and compiles a shipped game.
pub(super) fn open(path: &Path) -> (Arc<Game>, Compiled) {
    let rules = check(files::source(path)).rules.expect("shipped games have no errors");
    let game = Game::open(rules, Options::default());
    let game = game.unwrap_or_else(|finding| panic!("{}: {}", path.display(), finding.message));
    let compiled = game.compile(&CircuitLimits::default());
    let compiled = compiled.unwrap_or_else(|why| panic!("{}: {why}", path.display()));
    (game, compiled)
}

/// Plays an engine of a game and a circuit in lockstep and compares all answers, including percepts
/// in a game with hidden information. `goals` returns the goal values that the engine gives a role.
fn compare<P: Hidden>(
    engine: &P,
    goals: fn(&P, Role) -> Vec<i64>,
    circuit: &ScalarCircuit,
    name: &str,
) {
    // The comparison asks for players only, so the goal values of nature go with those of each.
    let nature = engine.shape().nature;
    let first_goals = |position: &P, role| {
        let roles = [Some(role), nature].into_iter().flatten();
        Some(as_floats(roles.flat_map(|role| goals(position, role)).collect()))
    };
    let second_goals = |position: &ScalarCircuit, role| {
        let roles = [Some(role), nature].into_iter().flatten();
        Some(as_floats(roles.flat_map(|role| position.goal_values(role)).collect()))
    };
    let options = lockstep::Options {
        plan: laws::Plan { seed: 11, plays: 3, max_steps: 120 },
        first_payoffs: Some(&first_goals),
        second_payoffs: Some(&second_goals),
        ..lockstep::Options::default()
    };
    let options = if engine.shape().hidden { options.with_percepts() } else { options };
    let agreement = lockstep::compare(engine, circuit, &options);
    let agreement = agreement.unwrap_or_else(|difference| panic!("{name}: {difference}"));
    assert_eq!(agreement.plays, 3, "{name}");
}

fn as_floats(values: Vec<i64>) -> Vec<f64> {
    values.into_iter().map(|value| value as f64).collect()
}

#[test]
fn circuits_agree_with_the_interpreter_step_by_step() {
    for path in rulesheets() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (game, compiled) = open(&path);
        let circuit = |executor| {
            let circuit = Arc::clone(&compiled.circuit);
            ScalarCircuit::with_executor(circuit, compiled.shape().clone(), executor)
        };
        let native = circuit(Executor::Native);
        compare(&game.start(), |p, role| p.goal_values(role).to_vec(), &native, &name);
        for executor in [Executor::Levelled, Executor::Events] {
            let name = format!("{name}, {executor:?}");
            compare(&native, ScalarCircuit::goal_values, &circuit(executor), &name);
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
fn batch_expansion_agrees_with_single_steps() {
    for path in rulesheets() {
        let (_, compiled) = open(&path);
        let mut batch = BatchCircuit::new(
            Arc::clone(&compiled.circuit),
            compiled.shape().clone(),
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
            let (mut ends, mut expected) =
                (TerminalChildren::default(), TerminalChildren::default());
            batch.look_ahead(&[&here], &mut ends);
            expected.collect_from(&children);
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

/// Playouts in lanes have the same mean length and payoffs as those of the interpreter, within five
/// standard errors. The seeds are fixed, so the test is deterministic.
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
            BatchCircuit::new(Arc::clone(&compiled.circuit), compiled.shape().clone(), options);
        let state = Bits::pack(compiled.circuit.initial.iter().copied());
        let tally = batch
            .play_out(&[PlayoutRequest { state, n_playouts: 200_000, expected_steps: 0 }], 1000)
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
fn turn_taking_is_proved_and_correct() {
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

/// Where a move wins at once, every playout that looks ahead makes it. Where every move lets the
/// other role win at once, it does.
#[test]
fn playouts_that_look_ahead_take_wins_at_once() {
    let (mut n_won, mut n_lost) = (0, 0);
    for name in [
        "tic-tac-toe",
        "connect-three",
        "connect-four",
        "breakthrough",
        "knightthrough",
        "pawn-whopping",
        "nine-board-tic-tac-toe",
    ] {
        let path =
            rulesheets().into_iter().find(|path| path.file_stem().is_some_and(|stem| stem == name));
        let (_, compiled) = open(&path.expect("it ships"));
        let mut position = compiled.start();
        let mut batch = position.batch(2).expect("circuits run in batches");
        // Where the logic of careful playouts is too large, they are decisive.
        let kind = batch.set_playouts(PlayoutKind::Careful);
        assert_ne!(kind, PlayoutKind::Uniform, "{name}");
        let mut rng = Rng::seed_from_u64(8);
        let mut joint = Vec::new();
        for _ in 0..400 {
            if position.is_terminal() {
                position.go_to(compiled.start().state());
            }
            let here = position.state().clone();
            let us = position.choosers().next();
            let n_moves = joint_moves(&position).len();
            let preferred = playout_moves(&mut position, PlayoutKind::Decisive);
            let n_preferred = preferred.len();
            let is_won = n_preferred < n_moves || {
                position.advance(&preferred[0]);
                position.is_terminal()
            };
            position.go_to(&here);
            if let Some(us) = us.filter(|_| is_won && n_moves > 1) {
                let request =
                    PlayoutRequest { state: here.clone(), n_playouts: 300, expected_steps: 0 };
                let stats = batch.play_out(&[request], 1000).remove(0);
                let best = stats.mean_payoff(us) == 100.0;
                assert_eq!(stats.n_steps, 300, "{name}: play ends at once");
                assert!(best || n_preferred == n_moves, "{name}: the best move is made");
                n_won += usize::from(best);
            } else if n_moves > 1 && kind == PlayoutKind::Careful {
                let joints = joint_moves(&position);
                let can_lose = |joint: &Vec<_>| {
                    position.go_to(&here);
                    position.advance(joint);
                    let n = joint_moves(&position).len();
                    n > 1 && playout_moves(&mut position, PlayoutKind::Decisive).len() < n
                };
                if joints.iter().all(can_lose) {
                    let request =
                        PlayoutRequest { state: here.clone(), n_playouts: 300, expected_steps: 0 };
                    let stats = batch.play_out(&[request], 1000).remove(0);
                    assert_eq!(stats.n_steps, 600, "{name}: the other role wins at once");
                    n_lost += 1;
                }
            }
            position.go_to(&here);
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
        }
    }
    assert!(n_won > 100 && n_lost > 10, "{n_won} won, {n_lost} lost");
}

/// Numbers that are written differently are the same goal value. Found by fuzzing.
#[test]
fn a_goal_value_may_be_written_in_several_ways() {
    let text = "(role a)(role b)(init (s 0))(<= (legal ?r (m 1)) (role ?r))\
        (<= (legal ?r (m 2)) (role ?r))(<= (next (s ?x)) (does a (m ?x)))\
        (<= terminal (not (true (s 0))))\
        (<= (goal a 0) (true (s 1)))(<= (goal a 00) (true (s 0)))(<= (goal a 0) (true (s 0)))\
        (<= (goal a 100) (true (s 2)))(<= (goal a 0100) (true (s 2)))\
        (<= (goal b 050) (true (s 0)))(<= (goal b 50) (true (s ?x)))";
    let source = Arc::new(agon_text::Source::new("numbers.kif", text));
    let rules = check(source).rules.expect("no errors");
    let game = Game::open(rules, Options::default()).expect("it opens");
    let compiled = game.compile(&CircuitLimits::default()).expect("it is small");
    let start = game.start();
    assert_eq!(start.goal_values(Role::new(0)), [0]);
    assert_eq!(start.goal_values(Role::new(1)), [50]);
    let goals =
        |position: &agon_gdl::interpreter::Interpreter, role| position.goal_values(role).to_vec();
    compare(&start, goals, &compiled.start(), "numbers");
}
