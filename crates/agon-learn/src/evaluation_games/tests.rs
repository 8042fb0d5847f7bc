//! Tests of learnt evaluation games.

use std::sync::Arc;

use agon_game::{Budget, Notation as _, Position as _, Rng, Role};
use agon_search::continuous::NoEvaluationGame;
use agon_structures::formula::{Operator, Variable};
use agon_structures::rational::Rational;
use agon_text::Source;
use agon_toss::circuit::CircuitLimits;
use agon_toss::evaluation::EvaluationGames;
use agon_toss::interpreter::{Game, Interpreter, Options};
use rand::{RngExt as _, SeedableRng as _};

use super::conjunction::{Conjunction, Literal, Matcher, When};
use super::view::View;
use super::*;

fn open(name: &str) -> Arc<Game> {
    let path = format!("{}/../../games/toss/{name}.toss", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let checked = agon_toss::check::check(Arc::new(Source::new(name, text)));
    let arena = checked.arena.expect("the shipped rules have no errors");
    Game::open(arena, Options::default()).expect("the game is small")
}

fn circuit(game: &Arc<Game>) -> agon_circuit::ScalarCircuit {
    game.compile(&CircuitLimits::default(), agon_circuit::Deadline::NEVER)
        .expect("the game has a circuit")
        .start()
}

/// A drawn conjunction of up to five literals over up to three variables.
fn draw_conjunction(view: &View, rng: &mut Rng) -> Conjunction {
    let mut conjunction = Conjunction::default();
    for _ in 0..rng.random_range(1..=5) {
        let relation = rng.random_range(0..view.relations.len());
        let n_known = conjunction.n_variables;
        let argument = |_| rng.random_range(0..=n_known.min(2));
        let arguments: Vec<u8> = (0..view.relations[relation].arity).map(argument).collect();
        let when = if rng.random_bool(0.5) { When::Now } else { When::Before };
        let literal = Literal { relation, when, is_positive: rng.random_bool(0.6), arguments };
        if !conjunction.decides(&literal) {
            conjunction = conjunction.with(literal);
        }
    }
    conjunction
}

/// The oracle: an evaluation game that tests the formula is played by its definition.
#[test]
fn conjunctions_hold_as_the_evaluation_game_says() {
    for name in ["breakthrough", "tic-tac-toe", "connect-five", "entanglement"] {
        let game = open(name);
        let fast = circuit(&game);
        let facts = fast.feature_texts();
        let view = View::new(&game, &facts).expect("the universe stays");
        let mut rng = Rng::seed_from_u64(7);
        let (mut n_true, mut n_false) = (0, 0);
        for _ in 0..60 {
            let conjunction = draw_conjunction(&view, &mut rng);
            let mut sets = Construction::new(2);
            let condition = sets.add_formula(conjunction.formula(&view));
            let then = sets.lottery(&[(vec![1.0, 0.0], 1.0)]);
            let otherwise = sets.lottery(&[(vec![0.0, 1.0], 1.0)]);
            let test = sets.test(condition, then, otherwise);
            let mut slow = game.start();
            for _ in 0..rng.random_range(0..12) {
                if !slow.is_terminal() {
                    let joint = draw_joint(&slow, &mut rng);
                    slow.advance(&joint);
                }
            }
            if slow.is_terminal() {
                continue;
            }
            let location = game.arena().location(slow.state().location()).name.clone();
            let text = sheet(&sets, test, &game, name, &location, &[]);
            let source = Arc::new(Source::new("evaluation", text.clone()));
            let games = EvaluationGames::open(&game, &[source])
                .unwrap_or_else(|error| panic!("{text}\n{error}"));
            let joint = draw_joint(&slow, &mut rng);
            let wanted = games.assess(&slow, &joint, &mut rng).expect("there is a game");
            let mut after = slow.clone();
            after.advance(&joint);
            let [before, after] = [&slow, &after].map(|position| words_of(position, &facts));
            let holds = Matcher::new(&conjunction, &view).holds(&view, &before, &after);
            assert_eq!(wanted, if holds { [1.0, 0.0] } else { [0.0, 1.0] }, "{name}: {text}");
            if holds {
                n_true += 1;
            } else {
                n_false += 1;
            }
            // The whole evaluator, which reads the formula back from the rules.
            let evaluator = DecisionEvaluator::new(&games, &game, fast.shape(), &facts)
                .unwrap_or_else(|| panic!("{text} only decides"));
            assert_eq!(evaluator.mean(&before, &after), Some(wanted.clone()), "{text}");
            assert_eq!(evaluator.draw(&before, &after, &mut rng), Some(wanted), "{text}");
        }
        assert!(n_true > 3 && n_false > 3, "{name}: {n_true} and {n_false}");
    }
}

fn draw_joint(position: &Interpreter, rng: &mut Rng) -> Vec<agon_toss::interpreter::Move> {
    let roles = position.shape().roles();
    roles.map(|role| agon_game::draw_listed(position, role, rng)).collect()
}

fn words_of(position: &Interpreter, facts: &[String]) -> Vec<u64> {
    let texts = position.state_text();
    let mut words = vec![0; facts.len().div_ceil(64)];
    for text in texts {
        // Facts that never change are not bits.
        if let Some(bit) = facts.iter().position(|fact| *fact == text) {
            words[bit / 64] |= 1 << (bit % 64);
        }
    }
    words
}

#[test]
fn the_form_of_a_conjunction_does_not_depend_on_names_and_order() {
    let literal = |relation, arguments: &[u8]| Literal {
        relation,
        when: When::Now,
        is_positive: true,
        arguments: arguments.to_vec(),
    };
    let one = Conjunction::default()
        .with(literal(0, &[0]))
        .with(literal(2, &[0, 1]))
        .with(literal(1, &[1]));
    let other = Conjunction::default()
        .with(literal(1, &[0]))
        .with(literal(2, &[1, 0]))
        .with(literal(0, &[1]));
    assert_eq!(one, other);
    assert_ne!(one, other.with(literal(3, &[0])));
}

/// A training set of drawn moves in which captures by white win and other moves lose.
fn captures(game: &Arc<Game>, n_moves: usize) -> TrainingSet {
    let start = circuit(game);
    let facts = start.feature_texts();
    let players = vec!["white".to_owned(), "black".to_owned()];
    let mut set = TrainingSet::new("toss/breakthrough", players, &facts);
    let mut rng = Rng::seed_from_u64(3);
    while set.len() < n_moves {
        let mut position = start.clone();
        while !position.is_terminal() && set.len() < n_moves {
            // All moves of the state, so that moves from the same state can be compared.
            let before = position.state_text();
            let mover =
                Role::new(usize::from(before.iter().any(|fact| fact == "(location black)")));
            for m in position.legal_moves(mover).to_vec() {
                let roles = position.shape().roles();
                let joint: Vec<_> = roles
                    .map(|role| if role == mover { m } else { position.legal_moves(role)[0] })
                    .collect();
                let mut next = position.clone();
                next.advance(&joint);
                if next.is_terminal() {
                    continue;
                }
                let after = next.state_text();
                let n_pawns =
                    |state: &[String]| state.iter().filter(|fact| fact.starts_with("(B ")).count();
                let is_capture = n_pawns(&after) < n_pawns(&before);
                let won = if is_capture { 15 } else { 8 };
                let payoffs = vec![(vec![100.0, 0.0], won), (vec![0.0, 100.0], 20 - won)];
                set.add(&before, &after, payoffs);
            }
            let joint: Vec<_> = position
                .shape()
                .roles()
                .map(|role| agon_game::draw_listed(&position, role, &mut rng))
                .collect();
            position.advance(&joint);
        }
    }
    set
}

#[test]
fn both_policies_find_that_captures_are_good() {
    let game = open("breakthrough");
    let set = captures(&game, 3000);
    let policies: [Box<dyn Policy>; 2] =
        [Box::new(Apriori::default()), Box::new(Information::default())];
    for mut policy in policies {
        let learnt = learn(&set, &game, policy.as_mut()).expect("the universe stays");
        let white = learnt.iter().find(|game| game.location == "white").expect("white moves");
        let first = white.findings.first().expect("something was found");
        // A white pawn stands where a black one stood: "beat if possible".
        assert_eq!(first.formula, "ex x (B_old(x) and W(x))", "{white:?}");
        assert_eq!(first.words, "if a place is W and was B before the move");
        let [then, otherwise] = first.means;
        assert!((then - 75.0).abs() < 1e-9 && (otherwise - 40.0).abs() < 1e-9, "{first:?}");
        // Black's moves are all alike, so there is nothing to find.
        let black = learnt.iter().find(|game| game.location == "black").expect("black moves");
        assert!(black.findings.is_empty(), "{black:?}");
        // The texts are evaluation games, and these say what was found.
        let sheets: Vec<Arc<Source>> = learnt
            .iter()
            .map(|game| Arc::new(Source::new(&game.location, game.text.clone())))
            .collect();
        let games = EvaluationGames::open(&game, &sheets).expect("they fit the game");
        let start = circuit(&game);
        let facts = start.feature_texts();
        let evaluator =
            DecisionEvaluator::new(&games, &game, start.shape(), &facts).expect("they only decide");
        let before = agon_circuit::ScalarCircuit::state_words(start.state()).expect("bits");
        let mut after = start.clone();
        let mut rng = Rng::seed_from_u64(1);
        let joint: Vec<_> = start
            .shape()
            .roles()
            .map(|role| agon_game::draw_listed(&start, role, &mut rng))
            .collect();
        after.advance(&joint);
        let after = agon_circuit::ScalarCircuit::state_words(after.state()).expect("bits");
        assert_eq!(evaluator.mean(before, after), Some(vec![40.0, 60.0]));
    }
}

/// Payoffs that do not depend on the move: the significance test refuses every formula.
#[test]
fn nothing_is_found_in_noise() {
    let game = open("breakthrough");
    let mut set = captures(&game, 2000);
    let mut rng = Rng::seed_from_u64(11);
    for sample in &mut set.samples {
        let won = (0..20).filter(|_| rng.random_bool(0.5)).count() as u64;
        sample.payoffs = vec![(vec![100.0, 0.0], won), (vec![0.0, 100.0], 20 - won)];
    }
    let learnt = learn(&set, &game, &mut Information::default()).expect("the universe stays");
    for game in &learnt {
        assert!(game.findings.is_empty(), "{:?}", game.findings);
    }
}

#[test]
fn training_sets_are_read_as_they_were_written() {
    let game = open("breakthrough");
    let set = captures(&game, 50);
    let text = set.to_text(0);
    let read = TrainingSet::from_text(&text).expect("it was written so");
    assert!(read.to_text(0) == text, "the text changes when it is read and written");
    let n_moves = set.len();
    assert_eq!((read.len(), read.n_plays()), (n_moves, 20 * n_moves as u64));
    // A file grows by the lines of new moves, and a cut line is ignored.
    let first = set.to_text(0);
    assert_eq!(set.to_text(n_moves), "");
    let cut = &first[..first.len() - 10];
    assert_eq!(TrainingSet::from_text(cut).expect("whole lines count").len(), n_moves - 1);
    for (wrong, line) in [("", 1), ("{}\n", 1), ("[]\n", 1), ("no\n", 1)] {
        assert_eq!(TrainingSet::from_text(wrong).expect_err(wrong).line, line);
    }
    let spoilt = format!("{}[1, 2]\n", &text[..=text.find('\n').expect("a header")]);
    assert_eq!(TrainingSet::from_text(&spoilt).expect_err("not a move").line, 2);
}

#[test]
fn plays_fill_a_training_set_in_the_same_way_each_time() {
    let game = open("tic-tac-toe");
    let start = circuit(&game);
    let make = || {
        let players = vec!["X".to_owned(), "O".to_owned()];
        let mut set = TrainingSet::new("toss/tic-tac-toe", players, &start.feature_texts());
        let options = CollectOptions { iterations: 100, least_plays: 5, ..Default::default() };
        let budget = Budget::iterations(3);
        let n_plays =
            collect(&start, Box::new(NoEvaluationGame), &options, &budget, &mut set, &mut |_| true);
        assert_eq!(n_plays, 3);
        set
    };
    let set = make();
    assert!(set.len() > 20, "{}", set.len());
    assert_eq!(set, make());
    // The interpreter has no bits; its texts serve.
    let slow = game.start();
    let mut of_texts = TrainingSet::new("toss/tic-tac-toe", set.players.clone(), &[]);
    let options = CollectOptions { iterations: 50, least_plays: 5, ..Default::default() };
    collect(
        &slow,
        Box::new(NoEvaluationGame),
        &options,
        &Budget::iterations(1),
        &mut of_texts,
        &mut |_| true,
    );
    assert!(!of_texts.is_empty());
    assert!(learn(&of_texts, &game, &mut Apriori::default()).is_ok());
}

/// Structures, equations, choices and rewriting are operations of the construction too.
#[test]
fn constructed_games_with_rewriting_and_choices_can_be_played() {
    let game = open("tic-tac-toe");
    let mut sets = Construction::new(2);
    let x = Variable::new("x");
    let stone = sets.atom("P", std::slice::from_ref(&x));
    let none = sets.exists(&[x], stone);
    let none = sets.not(none);
    let empty = sets.trivial_structure();
    let one = sets.add_element(empty);
    let left = sets.add_tuple(one, "P", &[0]);
    let right = sets.add_tuple(one, "Q", &[0]);
    let (left, right) = (sets.sum(left, empty), sets.sum(right, empty));
    let won = sets.lottery(&[(vec![1.0, 0.0], 2.0), (vec![0.0, 0.0], 6.0)]);
    let lost = sets.lottery(&[(vec![0.0, 1.0], 1.0)]);
    let trivial = sets.trivial_game();
    let choice = sets.choice("O", &[lost, trivial]);
    let rewriting = sets.rewrite("X", [left, right], &[], choice);
    let both = sets.test(none, won, rewriting);
    let text = sheet(&sets, both, &game, "toss/tic-tac-toe", "0", &[]);
    let source = Arc::new(Source::new("evaluation", text.clone()));
    let games =
        EvaluationGames::open(&game, &[source]).unwrap_or_else(|error| panic!("{text}\n{error}"));
    assert!(games.decisions().is_none(), "rewriting is more than a decision");
    let start = game.start();
    let mut rng = Rng::seed_from_u64(2);
    let cross = start.parse_move(Role::new(0), "(Cross b2)").expect("a legal move");
    let noop = start.parse_move(Role::new(1), "noop").expect("a legal move");
    let payoffs: Vec<Vec<f64>> = (0..40)
        .map(|_| games.assess(&start, &[cross.clone(), noop.clone()], &mut rng).expect("a game"))
        .collect();
    // There is a cross now, so it is rewritten, and the second player chooses an end.
    for wanted in [vec![0.0, 1.0], vec![0.0, 0.0]] {
        assert!(payoffs.contains(&wanted), "{payoffs:?}");
    }
    // Terms and equations grow in the same way.
    let two = sets.number(Rational::whole(2));
    let value = sets.value("f", &Variable::new("e1"));
    let sum = sets.operation(Operator::Plus, two, value);
    let less = sets.less(two, sum);
    assert_eq!(sets.formula(less).to_string(), "2 < 2 + :f(e1)");
    let _ = sets.equation("f", 0, sum);
}
