use agon_circuit::ScalarCircuit;
use agon_game::{Budget, Notation as _, Position, Rng, Role};
use agon_gdl::check::check;
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Options};
use agon_search::EvaluateChildren as _;
use rand::{RngExt as _, SeedableRng as _};

use crate::network::Scratch;
use crate::train::{Players, Turn, choose_among_many};
use crate::{
    CannotLearn, EloEstimate, Labels, Learner, Model, ModelError, ModelHistory, Progress,
    TrainOptions,
};

pub(crate) fn start(name: &str) -> ScalarCircuit {
    let name = if name.contains('/') { name.to_owned() } else { format!("gdl/{name}") };
    let path = agon_testkit::files::repository().join(format!("games/{name}.kif"));
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

/// Chance that all players see is learnt, one value for each player, if the caller knows that
/// nothing is hidden.
#[test]
fn open_games_of_chance_are_learnt() {
    let start = start("gdl2/dice-race");
    let refused = Learner::new(&start, TrainOptions::default(), None).err();
    assert_eq!(refused, Some(CannotLearn::Hidden));
    let options = TrainOptions { is_open: true, ..TrainOptions::default() };
    let mut learner = Learner::new(&start, options, None).expect("its dice are even");
    learner.learn(&Budget::iterations(2000));
    let mut evaluator = learner.evaluator();
    assert_eq!(evaluator.n_values(), 2);
    let sum = evaluator.value_of(0, start.state()) + evaluator.value_of(1, start.state());
    assert!((sum - 1.0).abs() < 0.15, "one of the two wins: {sum}");
}

#[test]
fn games_with_hidden_information_are_refused() {
    let refused = Learner::new(&start("gdl2/kuhn-poker"), TrainOptions::default(), None).err();
    assert_eq!(refused, Some(CannotLearn::Hidden));
}

/// Games of one player, of several players and with chance have a value for each player.
#[test]
fn every_player_has_a_value() {
    for (name, n_players) in
        [("eight-puzzle", 1), ("three-way-tic-tac-toe", 3), ("four-way-tron", 4)]
    {
        let mut learner = learner(name);
        learner.learn(&Budget::iterations(128));
        let start = start(name);
        let mut evaluator = learner.evaluator();
        assert_eq!(evaluator.n_values(), n_players, "{name}");
        for player in 0..n_players {
            let value = evaluator.value_of(player, start.state());
            assert!((0.0..=1.0).contains(&value), "{name}: {value}");
        }
    }
}

/// Greedy play by the value of the own player beats random play among three.
#[test]
fn learning_helps_among_three_players() {
    let name = "three-way-tic-tac-toe";
    let mut learner = learner(name);
    learner.learn(&Budget::iterations(3000));
    let mut evaluator = learner.evaluator();
    let start = start(name);
    let mut score = |greedy: bool| {
        let mut rng = Rng::seed_from_u64(4);
        let n_matches = 120;
        let mut sum = 0.0;
        for number in 0..n_matches {
            let own = number % 3;
            let role = start.shape().players().nth(own).expect("there are three");
            let mut position = start.clone();
            let mut joint = Vec::new();
            while !position.is_terminal() {
                position.draw(&mut rng, &mut joint);
                let moves = position.legal_moves(role).to_vec();
                if greedy && moves.len() > 1 {
                    let here = position.state().clone();
                    let mut best = f64::NEG_INFINITY;
                    for m in moves {
                        let mut tried = joint.clone();
                        tried[role.index()] = m;
                        position.advance(&tried);
                        let value = if position.is_terminal() {
                            position.payoff(role) / 100.0
                        } else {
                            f64::from(evaluator.value_of(own, position.state()))
                        };
                        position.go_to(&here);
                        if value > best {
                            (best, joint) = (value, tried);
                        }
                    }
                }
                position.advance(&joint);
            }
            sum += position.payoff(role);
        }
        sum / f64::from(n_matches as u32)
    };
    let (random, learnt) = (score(false), score(true));
    assert!(learnt > random + 15.0, "random {random}, learnt {learnt}");
}

/// Players among several choose what is best on average; chance is drawn.
#[test]
fn choices_among_many() {
    let shape = agon_game::Shape {
        nature: Some(Role::new(2)),
        ..start("three-way-tic-tac-toe").shape().clone()
    };
    let players = Players::new(&shape);
    // The first player chooses a or b, nature x or y; the second player waits.
    let joints = [["a", "-", "x"], ["a", "-", "y"], ["b", "-", "x"], ["b", "-", "y"]];
    let joint = |child: usize| &joints[child][..];
    let values = [0.9, 0.0, 0.5, 0.6, 0.1, 0.2, 0.3, 0.4];
    let mut rng = Rng::seed_from_u64(1);
    let mut counts = [0; 4];
    for _ in 0..1000 {
        let (chosen, wins) = choose_among_many(&values, &[false; 4], &players, joint, &mut rng);
        assert!(!wins);
        counts[chosen] += 1;
    }
    assert_eq!(counts[..2], [0, 0]);
    assert!((400..600).contains(&counts[2]), "{counts:?}");
}

#[test]
fn several_threads_learn_together() {
    let options = TrainOptions { threads: 3, ..TrainOptions::default() };
    let mut learner = Learner::new(&start("breakthrough"), options, None).expect("it is learnt");
    learner.learn(&Budget::iterations(600));
    assert!((600..1000).contains(&learner.n_games()), "{}", learner.n_games());
    let one = learner.evaluator().value(start("breakthrough").state());
    assert!(one.is_finite());
    assert!(learner.save().iter().any(|&byte| byte != 0));
}

fn model(name: &str, n_games: u64) -> Model {
    let mut learner = learner(name);
    learner.learn(&Budget::iterations(n_games));
    let elo = EloEstimate { elo: 120.5, low: 80.0, high: f64::INFINITY, n_matches: 40 };
    let kind = crate::ModelKind::Tables;
    let progress = Progress { seconds: 1.5, n_games: 64, step: elo, is_kept: true, kind };
    let history = ModelHistory {
        game: name.to_owned(),
        key: 77,
        version: "1".to_owned(),
        written: 1_700_000_000,
        seconds: 2.5,
        elo: Some(elo),
        progress: vec![progress],
        ..ModelHistory::default()
    };
    learner.model(&start(name), &Labels::exact(), history).expect("exact labels always exist")
}

#[test]
fn models_are_read_as_they_were_written() {
    for name in ["tic-tac-toe", "three-way-tic-tac-toe", "checkers"] {
        let model = model(name, 200);
        assert!(model.has_training_state());
        let read = Model::from_bytes(&model.to_bytes()).expect("it was written");
        assert_eq!(read, model, "{name}");
        let old = Model::from_bytes(&model.to_bytes_of(1)).expect("version 1 is still read");
        assert_eq!(old, model, "{name}");
        let small = model.clone().without_training_state();
        let bytes = small.to_bytes();
        assert!(bytes.len() < 4 * model.n_weights() + 200_000, "{}", bytes.len());
        assert_eq!(Model::from_bytes(&bytes), Ok(small), "{name}");
    }
}

#[test]
fn damaged_models_are_refused() {
    let bytes = model("tic-tac-toe", 64).without_training_state().to_bytes();
    assert_eq!(Model::from_bytes(b""), Err(ModelError::NotAModel));
    assert_eq!(Model::from_bytes(b"GIF89a, not a model at all"), Err(ModelError::NotAModel));
    let mut other = bytes.clone();
    other[8] = 99;
    assert_eq!(Model::from_bytes(&other), Err(ModelError::Version(99)));
    for length in (1..bytes.len()).step_by(7) {
        assert!(Model::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
    }
    for at in (12..bytes.len()).step_by(3) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        assert_eq!(Model::from_bytes(&damaged), Err(ModelError::Checksum), "byte {at}");
    }
}

/// Bytes with a correct checksum and wrong contents are refused or harmless.
#[test]
fn forged_models_do_not_panic() {
    let bytes = model("tic-tac-toe", 64).without_training_state().to_bytes();
    let start = start("tic-tac-toe");
    let mut rng = Rng::seed_from_u64(2);
    let mut n_refused = 0;
    for _ in 0..400 {
        let mut forged = bytes[..bytes.len() - 8].to_vec();
        let place = rng.random_range(12..forged.len().min(4000));
        forged[place] = rng.random();
        let forged = crate::file::with_checksum(forged);
        match Model::from_bytes(&forged).and_then(|model| {
            model.for_game(&start, &Labels::exact()).map(|model| model.evaluator(&start))
        }) {
            Ok(evaluator) => {
                let value = evaluator.expect("states are bits").value(start.state());
                assert!(!value.is_nan());
            }
            Err(_) => n_refused += 1,
        }
    }
    assert!(n_refused > 50, "{n_refused}");
}

#[test]
fn models_of_other_games_are_refused() {
    let model = model("tic-tac-toe", 64);
    for name in ["connect-four", "three-way-tic-tac-toe"] {
        let fitted = model.for_game(&start(name), &Labels::exact());
        assert_eq!(fitted.err(), Some(ModelError::OtherGame), "{name}");
    }
}

/// Learning goes on from a model as it does from the bytes of a learner.
#[test]
fn learning_goes_on_from_a_model() {
    let name = "connect-four";
    let start = start(name);
    let mut first = learner(name);
    first.learn(&Budget::iterations(300));
    let model = first.model(&start, &Labels::exact(), ModelHistory::default()).expect("exact");
    let model = Model::from_bytes(&model.to_bytes()).expect("it was written");
    let fitted = model.for_game(&start, &Labels::exact()).expect("it is the same game");
    let mut second = fitted.learner(&start, TrainOptions::default()).expect("it has a circuit");
    assert_eq!(second.facts(), first.facts());
    let mut third = learner(name);
    third.restore(&first.save()).expect("it is the same game");
    second.learn(&Budget::iterations(200));
    third.learn(&Budget::iterations(200));
    assert_eq!(second.save(), third.save());
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

pub(crate) fn greedy(
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
