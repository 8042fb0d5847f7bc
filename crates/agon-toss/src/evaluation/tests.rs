//! Tests of evaluation games.

use std::sync::Arc;

use agon_game::{Notation as _, Position as _, Rng, Role};
use agon_text::Source;
use rand::SeedableRng as _;

use super::{EvaluationError, EvaluationGames};
use crate::check::check;
use crate::interpreter::{Game, Interpreter, Move, Options};

fn open(text: &str) -> Interpreter {
    let checked = check(Arc::new(Source::new("game.toss", text)));
    let arena = checked.arena.unwrap_or_else(|| panic!("{:?}", checked.findings.0));
    Game::open(arena, Options::default()).expect("the game is small").start()
}

fn file(path: &str) -> String {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn joint(position: &Interpreter, texts: &[&str]) -> Vec<Move> {
    let roles = position.shape().roles().zip(texts);
    roles.map(|(role, text)| position.parse_move(role, text).expect("the move is legal")).collect()
}

/// Figure 3 of Kaiser & Stafiniak 2010: the frequencies of the payoffs are the probabilities of the
/// evaluation game.
#[test]
fn figure_3_assesses_the_middle_and_the_rest() {
    let position = open(&file("games/toss/tic-tac-toe.toss"));
    let sheet = Arc::new(Source::new("eval", file("examples/evaluation/tic-tac-toe.toss")));
    let games = EvaluationGames::open(position.game(), &[sheet]).expect("it fits the game");
    let mut rng = Rng::seed_from_u64(5);
    for (m, won, lost) in [("(Cross b2)", 0.7, 0.1), ("(Cross a1)", 0.4, 0.2)] {
        let joint = joint(&position, &[m, "noop"]);
        let n_plays = 4000;
        let (mut n_won, mut n_lost) = (0, 0);
        for _ in 0..n_plays {
            let payoffs = games.assess(&position, &joint, &mut rng).expect("there is a game");
            match payoffs[..] {
                [1.0, 0.0] => n_won += 1,
                [0.0, 1.0] => n_lost += 1,
                [0.0, 0.0] => {}
                _ => panic!("{payoffs:?} is not a payoff of the evaluation game"),
            }
        }
        // Five standard deviations of a frequency around 0.7 are less than 0.04.
        let share = |n: i32| f64::from(n) / f64::from(n_plays);
        assert!((share(n_won) - won).abs() < 0.04, "{m} wins {}", share(n_won));
        assert!((share(n_lost) - lost).abs() < 0.04, "{m} loses {}", share(n_lost));
    }
    // It is about the first player's location only.
    let mut after = position.clone();
    after.advance(&joint(&position, &["(Cross b2)", "noop"]));
    let reply = joint(&after, &["noop", "(Circle a1)"]);
    assert_eq!(games.assess(&after, &reply, &mut rng), None);
}

/// A capture that deletes an element, and a copy that replaces one: `R_old` and `f_old` refer to
/// the elements before the move.
#[test]
fn old_relations_and_values_follow_replaced_elements() {
    let position = open(
        "PLAYERS X
         RULE Split: [a | P(a) | -] -> [b, c | P(b); Q(c) | -] with [b <- a, c <- a] emb P
           update :f(b) = :f(a) + 1
         LOC 0 { PLAYER X { PAYOFF 0 MOVES [Split -> 0] } }
         START [ u, v | P(u); Q(v); S(u, v) | f { u -> 3, v -> 5 } ]",
    );
    let sheet = Source::new(
        "eval",
        "PLAYERS X
         RULE Go: ELEMS MATCH true
         LOC 0 { PLAYER X { PAYOFF 0 MOVES [Go -> 1] } }
         LOC 1 { PLAYER X {
           PAYOFF Sum (x | P_old(x) : 100) + Sum (x, y | S_old(x, y) : 10) + Sum (x | Q(x) : 1)
             + 1000 * Sum (x | true : :f_old(x)) + 100000 * Sum (x | P(x) : :f(x)) } }
         START [ a | P:1 {}; P_old:1 {}; Q:1 {}; S_old:2 {} | f { a -> 0 }; f_old { a -> 0 } ]",
    );
    let games = EvaluationGames::open(position.game(), &[Arc::new(sheet)]).expect("it fits");
    let joint = joint(&position, &["(Split u)"]);
    let payoff = games.assess(&position, &joint, &mut Rng::seed_from_u64(1)).expect("a payoff");
    // Two elements replace `u`: both were in P, both were related to v. Q has v and the copy. The
    // old values are 3, 3 and 5, the new value in P is 4.
    assert_eq!(payoff, [100.0 * 2.0 + 10.0 * 2.0 + 2.0 + 1000.0 * 11.0 + 100_000.0 * 4.0]);
}

/// The values of a continuous game are intervals. A game without time that assesses it sees them.
#[test]
fn values_that_are_not_exact_are_assessed() {
    let position = open(
        "PLAYERS X
         RULE Grow: [a | - | -] -> [a | - | -] dynamics :x(a)' = :x(a)
         LOC 0 { PLAYER X { PAYOFF 0 MOVES [Grow, t: 0 -- 2 -> 0] } }
         START [ u, v | - | x { u -> 1; v -> 7 } ]",
    );
    let sheet = Source::new(
        "eval",
        "PLAYERS X
         RULE Go: ELEMS a MATCH :x(a) > 2 and :x(a) < 5
         LOC 0 { PLAYER X { PAYOFF 0 MOVES [Go -> 1] } }
         LOC 1 { PLAYER X { PAYOFF Sum (x | true : :x(x) - :x_old(x)) } }
         START [ a | - | x { a -> 0 }; x_old { a -> 0 } ]",
    );
    let games = EvaluationGames::open(position.game(), &[Arc::new(sheet)]).expect("it fits");
    let mut rng = Rng::seed_from_u64(1);
    let mut payoff = |m: &str| games.assess(&position, &joint(&position, &[m]), &mut rng);
    let grown = payoff("(Grow u (t 1))").expect("a payoff")[0];
    assert!((grown - (std::f64::consts::E - 1.0)).abs() < 1e-9, "{grown}");
    // The first element is still too small for the rule.
    assert_eq!(payoff("(Grow u (t 0.5))"), Some(vec![0.0]));
}

#[test]
fn games_that_do_not_fit_are_refused() {
    let position = open(&file("games/toss/tic-tac-toe.toss"));
    let open = |text: &str| {
        EvaluationGames::open(position.game(), &[Arc::new(Source::new("eval", text))]).err()
    };
    let rest = "RULE Go: ELEMS MATCH true LOC 0 { PLAYER 1 { PAYOFF 0 MOVES [Go -> 1] } } \
                LOC 1 { PLAYER 1 { PAYOFF 1 } }";
    let one = format!("PLAYERS X {rest} START [a | P:1 {{}} | -]");
    assert!(matches!(open(&one), Some(EvaluationError::Players { wanted: 2, found: 1 })));
    let rest = "RULE Go: ELEMS MATCH true PAYOFF { X: 0; O: 0 } \
                LOC 0 { PLAYER X { MOVES [Go -> 1] } } LOC 1 { }";
    let unknown = format!("PLAYERS X, O {rest} START [a | Unknown_old:1 {{}} | -]");
    assert!(matches!(open(&unknown), Some(EvaluationError::Relation { .. })));
    let function = format!("PLAYERS X, O {rest} START [a | - | f {{ a -> 1 }}]");
    assert!(matches!(open(&function), Some(EvaluationError::Function(_))));
    let place = format!("PLAYERS X, O DATA location: 7 {rest} START [a | - | -]");
    assert!(matches!(open(&place), Some(EvaluationError::Location(_))));
    assert!(matches!(open("PLAYERS X, O"), Some(EvaluationError::Rules { .. })));
}

#[test]
fn payoffs_skip_nature() {
    let position = open(&file("games/toss/stepping-stones.toss"));
    let sheet = Source::new(
        "eval",
        "PLAYERS north, south RULE Go: ELEMS MATCH true PAYOFF { north: 7; south: 9 }
         LOC 0 { PLAYER north { MOVES [Go -> 1] } } LOC 1 { } START [ a | - | - ]",
    );
    let games = EvaluationGames::open(position.game(), &[Arc::new(sheet)]).expect("it fits");
    let mut rng = Rng::seed_from_u64(1);
    let mut joint = Vec::new();
    position.draw(&mut rng, &mut joint);
    assert_eq!(position.shape().nature, Some(Role::new(2)));
    assert_eq!(games.assess(&position, &joint, &mut rng), Some(vec![7.0, 9.0, 0.0]));
}
