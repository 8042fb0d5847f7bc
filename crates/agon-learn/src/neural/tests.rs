use agon_circuit::ScalarCircuit;
use agon_game::{Budget, Notation as _, Position as _, Rng, Role};
use rand::{RngExt as _, SeedableRng as _};

use super::*;
use crate::form::Form;
use crate::quantised::{Instructions, Quantised, QuantisedScratch};
use crate::tests::{greedy, start};
use crate::{
    CannotLearn, Exchange, Labels, Layers, Learner, Model, ModelHistory, ModelKind, OnnxError,
    Targets, TrainOptions,
};

fn network(name: &str, n_games: u64) -> Learner<ScalarCircuit> {
    let options = TrainOptions { kind: ModelKind::Network, ..TrainOptions::default() };
    let mut learner = Learner::new(&start(name), options, None).expect("the game can be learnt");
    learner.learn(&Budget::iterations(n_games));
    learner
}

/// States of random play.
fn states(name: &str, n: usize) -> Vec<agon_circuit::Bits> {
    let start = start(name);
    let mut rng = Rng::seed_from_u64(11);
    let (mut position, mut joint, mut states) = (start.clone(), Vec::new(), Vec::new());
    while states.len() < n {
        if position.is_terminal() {
            position.go_to(start.state());
        }
        states.push(position.state().clone());
        position.draw(&mut rng, &mut joint);
        position.advance(&joint);
    }
    states
}

fn words(state: &agon_circuit::Bits) -> &[u64] {
    ScalarCircuit::state_words(state).expect("states are bits")
}

/// Integers give the value of the network up to rounding, whatever the instructions, and whether a
/// state is looked at alone or after another one.
#[test]
fn integers_agree_with_floating_point_and_with_each_other() {
    for name in ["breakthrough", "othello", "connect-four"] {
        let learner = network(name, 200);
        let Form::Neural(net) = &*learner.form else { panic!("it is a network") };
        let weights = learner.learning.weights();
        let quantised = Quantised::new(net, &weights);
        let states = states(name, 120);
        let [mut best, mut portable, mut fresh] = [(); 3].map(|()| QuantisedScratch::default());
        let (mut largest, mut spread) = (0.0_f32, [f32::MAX, f32::MIN]);
        for pair in states.windows(2) {
            let child = words(&pair[1]);
            best.set_parent(words(&pair[0]));
            portable.set_parent(words(&pair[0]));
            fresh.set_parent(child);
            let number = net.perspective(child);
            let sum = best.sum(net, &quantised, child, number, Instructions::Best);
            let same = portable.sum(net, &quantised, child, number, Instructions::Portable);
            assert_eq!(sum, same, "{name}: the portable code");
            let whole = fresh.sum(net, &quantised, child, number, Instructions::Portable);
            assert_eq!(sum, whole, "{name}: the state alone");
            let exact = net.plain_output(&weights, child);
            largest = largest.max((best.output(net, &quantised, child) - exact).abs());
            spread = [spread[0].min(exact), spread[1].max(exact)];
        }
        assert!(spread[1] - spread[0] > 0.1, "{name} has learnt something: {spread:?}");
        assert!(largest < 0.03, "{name}: {largest} in {spread:?}");
    }
}

/// Sums of extreme weights do not overflow, even if all facts hold.
#[test]
fn no_sum_overflows() {
    let net = Neural::new(200, None, Vec::new());
    let mut rng = Rng::seed_from_u64(3);
    for size in [1e-3_f32, 1.0, 64.0] {
        let weights: Vec<f32> =
            (0..net.n_weights()).map(|_| if rng.random::<bool>() { size } else { -size }).collect();
        let quantised = Quantised::new(&net, &weights);
        let all = [u64::MAX, u64::MAX, u64::MAX, 0xff];
        let mut scratch = QuantisedScratch::default();
        scratch.set_parent(&all);
        let output = scratch.output(&net, &quantised, &all);
        let exact = net.plain_output(&weights, &all);
        let bound = 0.05 * size * net.n_hidden as f32;
        // Weights that are all large leave few bits for each.
        let is_exact = size > 1.0 || (output - exact).abs() <= bound;
        assert!(is_exact && output.is_finite(), "{size}: {output} {exact}");
    }
}

/// The step of learning is that of the gradient, which differences of outputs give.
#[test]
fn learning_follows_the_gradient() {
    let learner = network("tic-tac-toe", 64);
    let Form::Neural(net) = &*learner.form else { panic!("it is a network") };
    let net = Neural { symmetries: Vec::new(), ..net.clone() };
    let states = states("tic-tac-toe", 7);
    let words = words(&states[6]);
    let before = learner.learning.weights();
    let rate = 1e-3_f32;
    let mut rng = Rng::seed_from_u64(1);
    let value =
        NeuralScratch::default().learn(&net, learner.learning.head(0), words, 1.0, rate, &mut rng);
    let after = learner.learning.weights();
    let (mut n_moved, small) = (0, 1e-3_f32);
    for at in (0..before.len()).step_by(5) {
        let mut shifted = before.clone();
        shifted[at] += small;
        let up = net.plain_output(&shifted, words);
        shifted[at] -= 2.0 * small;
        let slope = (up - net.plain_output(&shifted, words)) / (2.0 * small);
        let expected = rate * (1.0 - value) * slope;
        let step = after[at] - before[at];
        // Units that are off or full have a small slope of their own.
        assert!((step - expected).abs() < 3e-5, "{at}: {step} {expected}");
        n_moved += usize::from(expected.abs() > 1e-5);
    }
    assert!(n_moved > 10, "{n_moved}");
}

/// Greedy play by the value of a network beats random play.
#[test]
fn networks_learn() {
    let name = "breakthrough";
    let mut evaluator = network(name, 1500).evaluator();
    assert_eq!(evaluator.kind(), ModelKind::Network);
    let mut rng = Rng::seed_from_u64(9);
    let start = start(name);
    let n_matches = 40;
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
    assert!(score >= 0.9, "{score}");
}

/// Models of networks are read as they were written, learnt on, and refused if they are damaged.
#[test]
fn networks_are_kept_as_models() {
    let name = "tic-tac-toe";
    let start = start(name);
    let learner = network(name, 200);
    let model = learner.model(&start, &Labels::exact(), ModelHistory::default()).expect("exact");
    assert_eq!(Model::from_bytes(&model.to_bytes()).as_ref(), Ok(&model));
    let fitted = model.for_game(&start, &Labels::exact()).expect("it is the same game");
    let mut read = fitted.evaluator(&start).expect("states are bits");
    let mut own = learner.evaluator();
    for state in states(name, 30) {
        assert_eq!(read.value(&state).to_bits(), own.value(&state).to_bits());
    }
    let mut again = fitted.learner(&start, TrainOptions::default()).expect("it has a circuit");
    assert_eq!(again.kind(), ModelKind::Network);
    again.learn(&Budget::iterations(64));
    assert!(again.n_games() >= learner.n_games() + 64);
    let bytes = model.without_training_state().to_bytes();
    let mut rng = Rng::seed_from_u64(2);
    let mut n_refused = 0;
    for _ in 0..300 {
        let mut forged = bytes[..bytes.len() - 8].to_vec();
        let place = rng.random_range(12..forged.len());
        forged[place] = rng.random();
        let read = Model::from_bytes(&crate::file::with_checksum(forged));
        match read.and_then(|model| model.for_game(&start, &Labels::exact())) {
            Ok(model) => {
                let mut evaluator = model.evaluator(&start).expect("states are bits");
                assert!(!evaluator.value(start.state()).is_nan());
            }
            Err(_) => n_refused += 1,
        }
    }
    assert!(n_refused > 20, "{n_refused}");
}

/// What was written as ONNX has the same values when it is read.
#[test]
fn networks_survive_onnx() {
    for (name, n_heads) in [("breakthrough", 1), ("three-way-tic-tac-toe", 3)] {
        let start = start(name);
        let learner = network(name, 128);
        let exact = Labels::exact();
        let model = learner.model(&start, &exact, ModelHistory::default()).expect("exact labels");
        let fitted = model.for_game(&start, &exact).expect("it is the same game");
        let bytes = fitted.to_onnx(&start).expect("it is a network");
        let read = Model::from_onnx(&bytes, &start, &exact, ModelHistory::default());
        let read = read.expect("it was written");
        let read = read.for_game(&start, &exact).expect("it is the same game");
        let [mut one, mut two] =
            [&fitted, &read].map(|model| model.evaluator(&start).expect("states are bits"));
        for state in states(name, 40) {
            for head in 0..n_heads {
                let difference = (one.value_of(head, &state) - two.value_of(head, &state)).abs();
                assert!(difference < 1e-2, "{name}: {difference}");
            }
        }
        // Damaged files are refused or give numbers.
        let mut rng = Rng::seed_from_u64(4);
        for _ in 0..200 {
            let mut damaged = bytes.clone();
            let place = rng.random_range(0..damaged.len().min(6000));
            damaged[place] = rng.random();
            let _ = Model::from_onnx(&damaged, &start, &exact, ModelHistory::default());
            let cut = &bytes[..rng.random_range(0..bytes.len())];
            let cut = Model::from_onnx(cut, &start, &exact, ModelHistory::default());
            assert!(cut.is_err());
        }
        let other = crate::tests::start("connect-four");
        let refused = Model::from_onnx(&bytes, &other, &exact, ModelHistory::default());
        assert!(matches!(refused, Err(OnnxError::Sizes(_))), "{refused:?}");
    }
    let start = start("tic-tac-toe");
    let tables = Learner::new(&start, TrainOptions::default(), None).expect("it can be learnt");
    let tables = tables.model(&start, &Labels::exact(), ModelHistory::default()).expect("exact");
    let tables = tables.for_game(&start, &Labels::exact()).expect("it is the same game");
    assert_eq!(tables.to_onnx(&start), Err(OnnxError::Tables));
}

/// Values of searches as targets: they are learnt from, and refused where nothing can be searched.
#[test]
fn search_gives_targets() {
    let options = TrainOptions { targets: Targets::Search(60), ..TrainOptions::default() };
    for kind in [ModelKind::Tables, ModelKind::Network] {
        let options = TrainOptions { kind, ..options.clone() };
        let learn = || {
            let mut learner =
                Learner::new(&start("tic-tac-toe"), options.clone(), None).expect("two players");
            learner.learn(&Budget::iterations(150));
            assert_eq!(learner.n_games(), 150);
            learner
        };
        let mut evaluator = learn().evaluator();
        assert_eq!(learn().save(), learn().save(), "the seed decides");
        // The first player has two in a row and is to move: nothing is better.
        let mut position = start("tic-tac-toe");
        for (x, o) in [("(mark 2 2)", "(mark 1 2)"), ("(mark 1 1)", "(mark 2 1)")] {
            for (role, text) in [(0, x), (1, o)] {
                let joint: Vec<_> = (0..2)
                    .map(|other| {
                        let text = if other == role { text } else { "noop" };
                        position.parse_move(Role::new(other), text).expect("it is legal")
                    })
                    .collect();
                position.advance(&joint);
            }
        }
        let won = evaluator.value(position.state());
        let even = evaluator.value(start("tic-tac-toe").state());
        assert!(won > even + 0.1, "{kind:?}: {won} {even}");
    }
    let refused = Learner::new(&start("three-way-tic-tac-toe"), options, None).err();
    assert_eq!(refused, Some(CannotLearn::NoSearch));
}

/// Matrices become the network that they describe, also beside an exchange of players, and come
/// back as they were.
#[test]
fn networks_survive_as_matrices() {
    for (name, n_heads) in [("breakthrough", 1), ("three-way-tic-tac-toe", 3)] {
        let (start, exact) = (start(name), Labels::exact());
        let learnt = network(name, 128).game_model(&start, ModelHistory::default());
        let layers = learnt.layers().expect("it is a network");
        assert_eq!((layers.n_outputs, layers.ceiling), (n_heads, Some(1.0)));
        let model = Model::from_layers(&layers, &start, &exact, ModelHistory::default());
        let model = model.expect("it fits the game");
        let again = model.for_game(&start, &exact).expect("it is the same game");
        assert_eq!(again.layers().as_ref(), Some(&layers), "{name}");
        let [mut one, mut two] =
            [&learnt, &again].map(|model| model.evaluator(&start).expect("states are bits"));
        for state in states(name, 60) {
            for head in 0..n_heads {
                let difference = (one.value_of(head, &state) - two.value_of(head, &state)).abs();
                assert!(difference < 1e-4, "{name}: {difference}");
            }
        }
        // One hidden layer for all outputs is not multiplied.
        let n_hidden = 5;
        let number = |at: usize| libm::sinf(at as f32);
        let shared = Layers {
            n_hidden,
            hidden_weights: (0..layers.n_facts * n_hidden).map(number).collect(),
            hidden_biases: (0..n_hidden).map(number).collect(),
            output_weights: (1..=n_hidden * n_heads).map(number).collect(),
            output_biases: (0..n_heads).map(number).collect(),
            ceiling: None,
            exchange: None,
            ..layers.clone()
        };
        let model = Model::from_layers(&shared, &start, &exact, ModelHistory::default());
        let model = model.expect("it fits").for_game(&start, &exact).expect("the same game");
        assert_eq!(model.layers().as_ref(), Some(&shared), "{name}");
        // What does not fit is refused with the reason.
        let refused = |change: &dyn Fn(&mut Layers)| {
            let mut layers = shared.clone();
            change(&mut layers);
            let model = Model::from_layers(&layers, &start, &exact, ModelHistory::default());
            model.expect_err("it does not fit").to_string()
        };
        assert!(refused(&|layers| layers.n_facts += 1).contains("number of inputs"));
        assert!(refused(&|layers| layers.n_outputs = 2).contains("number of outputs"));
        assert!(refused(&|layers| layers.n_hidden = 0).contains("hidden units"));
        assert!(refused(&|layers| layers.hidden_biases.push(0.0)).contains("hidden biases"));
        assert!(refused(&|layers| layers.hidden_weights[3] = f32::NAN).contains("NaN"));
        assert!(refused(&|layers| layers.output_weights[0] = -65.0).contains("-65"));
        assert!(refused(&|layers| layers.ceiling = Some(0.0)).contains("ceiling"));
        let twice = Exchange { turn: 0, images: vec![0; layers.n_facts] };
        assert!(
            refused(&|layers| layers.exchange = Some(twice.clone())).contains("each fact once")
        );
    }
    let tables = Learner::new(&start("tic-tac-toe"), TrainOptions::default(), None);
    let tables = tables.expect("it can be learnt");
    let tables = tables.game_model(&start("tic-tac-toe"), ModelHistory::default());
    assert_eq!(tables.layers(), None);
}
