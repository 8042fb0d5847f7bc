use agon_circuit::ScalarCircuit;
use agon_game::{Budget, Notation as _, Position, Rng, Role};
use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Options};
use agon_search::EvaluateChildren as _;
use rand::{RngExt as _, SeedableRng as _};

use crate::network::Scratch;
use crate::train::Turn;
use crate::{CannotLearn, Learner, TrainOptions};

fn start(name: &str) -> ScalarCircuit {
    let path = agon_testkit::files::repository().join(format!("games/gdl/{name}.kif"));
    let rules = check(agon_testkit::files::source(&path)).rules.expect("shipped games are right");
    let game =
        Game::open(rules, Options::default()).unwrap_or_else(|finding| panic!("{finding:?}"));
    game.compile(&CircuitLimits::default()).unwrap_or_else(|why| panic!("{name}: {why}")).start()
}

fn learner(name: &str) -> Learner<ScalarCircuit> {
    Learner::new(&start(name), TrainOptions::default(), None).expect("the game can be learnt")
}

#[test]
fn boards_turns_and_symmetries_of_shipped_games() {
    // By game: cells, symmetries of the board, whether players can be exchanged.
    for (name, n_cells, n_symmetries, exchanges) in [
        ("breakthrough", 64, 1, true),
        ("knightthrough", 64, 1, true),
        ("othello", 64, 7, true),
        ("tic-tac-toe", 9, 7, true),
        ("gomoku", 225, 7, true),
    ] {
        let learner = learner(name);
        let facts = learner.facts();
        assert!(facts.has_turn_fact, "{name}");
        assert_eq!(
            (facts.n_cells, facts.n_symmetries, facts.exchanges_players),
            (n_cells, n_symmetries, exchanges),
            "{name}"
        );
    }
}

#[test]
fn other_kinds_of_games_are_refused() {
    for name in ["eight-puzzle", "three-way-tic-tac-toe", "four-way-tron"] {
        let refused = Learner::new(&start(name), TrainOptions::default(), None).err();
        assert_eq!(refused, Some(CannotLearn::Kind), "{name}");
    }
}

/// The value of a child from what changed is the value of the child as a whole.
#[test]
fn differences_give_the_same_sums() {
    for name in ["breakthrough", "othello", "checkers", "connect-four", "nine-board-tic-tac-toe"] {
        let mut learner = learner(name);
        learner.learn(&Budget::iterations(64));
        let mut evaluator = learner.evaluator();
        let mut whole = learner.evaluator();
        let mut rng = Rng::seed_from_u64(3);
        let mut position = start(name);
        let (mut joint, mut largest) = (Vec::new(), 0.0_f32);
        for _ in 0..60 {
            if position.is_terminal() {
                position = start(name);
            }
            evaluator.set_parent(position.state());
            let here = position.state().clone();
            for _ in 0..5 {
                position.draw(&mut rng, &mut joint);
                position.advance(&joint);
                let value = (evaluator.child_value(position.state()) + 1.0) / 2.0;
                largest = largest.max((value - 0.5).abs());
                let difference = (value - whole.value(position.state())).abs();
                assert!(difference < 1e-4, "{name}: {difference}");
                position.go_to(&here);
            }
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
        }
        assert!(largest > 0.01, "{name} has learnt something");
    }
}

/// A position and its image with the players exchanged have opposite values.
#[test]
fn exchanged_players_have_opposite_values() {
    let mut learner = learner("breakthrough");
    learner.learn(&Budget::iterations(200));
    let mut evaluator = learner.evaluator();
    let start = start("breakthrough");
    let texts = start.feature_texts();
    let image = |text: &str| {
        let words: Vec<&str> = text.trim_matches(['(', ')']).split(' ').collect();
        let other = |name: &str| if name == "white" { "black" } else { "white" }.to_owned();
        match words[..] {
            ["control", role] => format!("(control {})", other(role)),
            [name, x, y, role] => {
                let y: u32 = y.parse().expect("rows are numbers");
                format!("({name} {x} {} {})", 9 - y, other(role))
            }
            _ => panic!("{text}"),
        }
    };
    let mut position = start.clone();
    let mut rng = Rng::seed_from_u64(5);
    let mut joint = Vec::new();
    for _ in 0..30 {
        position.draw(&mut rng, &mut joint);
        position.advance(&joint);
        if position.is_terminal() {
            break;
        }
        let words = ScalarCircuit::state_words(position.state()).expect("states are bits");
        let mut mapped = vec![0_u64; words.len()];
        for (fact, text) in texts.iter().enumerate() {
            if words[fact / 64] >> (fact % 64) & 1 == 1 {
                let to = texts.iter().position(|other| *other == image(text)).expect(text);
                mapped[to / 64] |= 1 << (to % 64);
            }
        }
        let mapped = start.state_of_words(&mapped).expect("as many words");
        let sum = evaluator.value(position.state()) + evaluator.value(&mapped);
        assert!((sum - 1.0).abs() < 1e-4, "{sum}");
    }
}

/// Greedy play by the learnt value beats random play.
#[test]
fn learning_helps() {
    for (name, n_games, least) in [("breakthrough", 1500, 0.9), ("othello", 1500, 0.85)] {
        let mut learner = learner(name);
        learner.learn(&Budget::iterations(n_games));
        let mut evaluator = learner.evaluator();
        let mut rng = Rng::seed_from_u64(9);
        let start = start(name);
        let n_matches = 60;
        let mut score = 0.0;
        for number in 0..n_matches {
            let own = Role::new(number % 2);
            let mut position = start.clone();
            let mut joint = Vec::new();
            while !position.is_terminal() {
                position.draw(&mut rng, &mut joint);
                if position.legal_moves(own).len() > 1 {
                    joint[own.index()] = greedy(&mut position, own, &joint, &mut evaluator);
                }
                position.advance(&joint);
            }
            score += position.payoff(own) / 100.0 / n_matches as f64;
        }
        assert!(score >= least, "{name}: {score}");
    }
}

fn greedy(
    position: &mut ScalarCircuit,
    own: Role,
    joint: &[agon_circuit::Input],
    evaluator: &mut crate::LearntEvaluator<ScalarCircuit>,
) -> agon_circuit::Input {
    let here = position.state().clone();
    let mut best = (f64::NEG_INFINITY, joint[own.index()]);
    for m in position.legal_moves(own).to_vec() {
        let mut joint = joint.to_vec();
        joint[own.index()] = m;
        position.advance(&joint);
        let value = if position.is_terminal() {
            position.payoff(own) / 50.0 - 0.5
        } else {
            let value = f64::from(evaluator.value(position.state()));
            if own.index() == 0 { value } else { 1.0 - value }
        };
        position.go_to(&here);
        if value > best.0 {
            best = (value, m);
        }
    }
    best.1
}

/// Learning with equal seeds and numbers of games gives equal weights.
#[test]
fn learning_is_repeatable() {
    let values = || {
        let mut learner = learner("connect-four");
        learner.learn(&Budget::iterations(300));
        let mut evaluator = learner.evaluator();
        let mut position = start("connect-four");
        let mut rng = Rng::seed_from_u64(1);
        let mut joint = Vec::new();
        let mut values = Vec::new();
        for _ in 0..6 {
            values.push(evaluator.value(position.state()).to_bits());
            position.draw(&mut rng, &mut joint);
            position.advance(&joint);
        }
        values
    };
    assert_eq!(values(), values());
}

/// States in which two facts of a unit hold are evaluated without a panic.
#[test]
fn impossible_states_do_no_harm() {
    let mut learner = learner("breakthrough");
    learner.learn(&Budget::iterations(64));
    let mut evaluator = learner.evaluator();
    let start = start("breakthrough");
    let n_words = ScalarCircuit::state_words(start.state()).expect("states are bits").len();
    let n_facts = start.feature_texts().len();
    let mut rng = Rng::seed_from_u64(1);
    for _ in 0..100 {
        let mut words: Vec<u64> = (0..n_words).map(|_| rng.random()).collect();
        if !n_facts.is_multiple_of(64) {
            words[n_words - 1] &= (1 << (n_facts % 64)) - 1;
        }
        let state = start.state_of_words(&words).expect("as many words");
        assert!(evaluator.value(&state).is_finite());
        let mut scratch = Scratch::default();
        scratch.set_parent(&words);
    }
}

/// Players who choose at the same time follow an equilibrium of the values.
#[test]
fn both_choose_by_an_equilibrium() {
    let joints = [["a", "x"], ["a", "y"], ["b", "x"], ["b", "y"]];
    let joint = |child: usize| &joints[child][..];
    let mut rng = Rng::seed_from_u64(3);
    let mut count = |values: [f32; 4], roles: [usize; 2]| {
        let mut counts = [0; 4];
        for _ in 0..4000 {
            let turn = Turn::of(&values, &[false; 4], roles, joint, &mut rng);
            assert!((turn.value - 0.5).abs() < 1e-6, "{}", turn.value);
            counts[turn.chosen] += 1;
        }
        counts
    };
    // Matching pennies: all four are equally likely.
    let pennies = count([1.0, 0.0, 0.0, 1.0], [0, 1]);
    assert!(pennies.iter().all(|n| (900..1100).contains(n)), "{pennies:?}");
    // A saddle point, for either order of the roles.
    assert_eq!(count([0.5, 0.75, 0.25, 0.0], [0, 1]), [4000, 0, 0, 0]);
    assert_eq!(count([0.5, 0.25, 0.75, 1.0], [1, 0]), [4000, 0, 0, 0]);
}

#[test]
fn simultaneous_games_are_learnt() {
    let values = [0; 2].map(|_| {
        let mut learner = learner("blocker");
        learner.learn(&Budget::iterations(500));
        assert!(learner.n_games() >= 500);
        learner.evaluator().value(start("blocker").state())
    });
    assert_eq!(values[0], values[1]);
    assert!((0.01..0.99).contains(&values[0]), "{values:?}");
}

#[test]
fn what_was_learnt_can_be_saved() {
    let mut first = learner("tic-tac-toe");
    first.learn(&Budget::iterations(300));
    let saved = first.save();
    let mut second = learner("tic-tac-toe");
    second.restore(&saved).expect("it is of the same game");
    assert_eq!((second.n_games(), second.n_steps()), (first.n_games(), first.n_steps()));
    let state = start("tic-tac-toe").state().clone();
    assert_eq!(second.evaluator().value(&state), first.evaluator().value(&state));
    assert_eq!(second.save(), saved);
    second.learn(&Budget::iterations(100));
    assert!(second.n_games() > first.n_games());
    assert!(learner("othello").restore(&saved).is_err());
    assert!(second.restore(&saved[..saved.len() - 1]).is_err());
}
