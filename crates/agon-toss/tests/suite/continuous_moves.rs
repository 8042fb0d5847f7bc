//! Several moves from one position, payoffs as polynomials, margins, and questions about numbers of
//! moves.

use agon_game::{
    Continuous as _, Notation as _, Position as _, PositionTable, Rng, Role, Table as _,
};
use agon_testkit::files;
use agon_toss::interpreter::{Interpreter, Move};
use agon_toss::why::explain;
use rand::SeedableRng as _;

use super::continuous_language;
use super::shipped::open;

fn shipped(name: &str) -> Interpreter {
    let path = files::repository().join("games/toss").join(format!("{name}.toss"));
    open(name, &std::fs::read_to_string(&path).expect("the game ships"))
}

/// A driven pendulum that a player pushes: its equations are solved in steps, and its bound is an
/// event.
const PENDULUM: &str = "
PLAYERS hand
RULE Push: [w | Weight(w) | -] -> [w | Weight(w) | -]
  dynamics :q(w)'' = :p - sin(:q(w)) - :d * :q'(w)
  inv :q(w) <= 2
  pre :n(w) < 4
  update :n(w) = :n(w) + 1
LOC 0 {
  PLAYER hand {
    PAYOFF max(0, min(100, Sum (w | Weight(w) : 50 + 10 * :q(w))))
    MOVES [Push, t: 1/2 -- 3, p: -1 -- 2, d: 0.1 -- 1 -> 0]
  }
}
START [ w | Weight(w) | q { w -> 0.5 }; q' { w -> 0 }; n { w -> 0 } ]
";

/// A cart whose player chooses an acceleration and a duration. Its payoff is a polynomial between
/// the ends of the track.
const CART: &str = "
PLAYERS driver
RULE Drive: [c | Cart(c) | -] -> [c | Cart(c) | -]
  dynamics :x(c)'' = :a; :cost(c)' = :a^2
  inv :x(c) <= 50
  pre :n(c) < 2
  update :n(c) = :n(c) + 1
LOC 0 {
  PLAYER driver {
    PAYOFF max(0, min(100,
      Sum (c | Cart(c) : 100 - (:x(c) - 3)^2 - :x'(c)^2 - :cost(c) / 10)))
    MOVES [Drive, t: 1 -- 2, a: -4 -- 4 -> 0]
  }
}
START [ c | Cart(c) | x { c -> 0 }; x' { c -> 0 }; cost { c -> 0 }; n { c -> 0 } ]
";

fn drawn(position: &Interpreter, n: usize, rng: &mut Rng) -> Vec<Vec<Move>> {
    (0..n)
        .map(|_| {
            let mut joint = Vec::new();
            position.draw(rng, &mut joint);
            joint
        })
        .collect()
}

#[test]
fn several_moves_lead_where_single_ones_lead() {
    let mut rng = Rng::seed_from_u64(5);
    let names = ["cat-and-mouse", "lady-in-the-lake", "bacteria", "curling", "tic-tac-toe"];
    let mut games: Vec<Interpreter> = names.map(shipped).to_vec();
    games.push(open("pendulum", PENDULUM));
    for mut position in games {
        for _ in 0..6 {
            if position.is_terminal() {
                break;
            }
            let joints = drawn(&position, 11, &mut rng);
            let together = position.successors(&joints);
            assert_eq!(together.len(), joints.len());
            for (joint, state) in joints.iter().zip(&together) {
                let (mut single, mut there) = (position.clone(), position.clone());
                single.advance(joint);
                there.go_to(state);
                assert_eq!(single.key(), there.key(), "equal bits of all values");
                assert_eq!(single.state_text(), there.state_text());
            }
            position.advance(&joints[0]);
        }
    }
}

#[test]
fn payoffs_are_polynomials_in_the_numbers_of_a_line() {
    let start = open("cart", CART);
    let pilot = Role::new(0);
    let parse = |position: &Interpreter, text: &str| {
        vec![position.parse_move(pilot, text).unwrap_or_else(|| panic!("{text} is not legal"))]
    };
    let line_of = |texts: [&str; 2]| -> (Vec<Vec<Move>>, f64) {
        let first = parse(&start, texts[0]);
        let mut position = start.clone();
        position.advance(&first);
        let second = parse(&position, texts[1]);
        position.advance(&second);
        (vec![first, second], position.payoff(pilot))
    };
    let (line, payoff) = line_of(["(Drive c (t 1) (a 2))", "(Drive c (t 1.5) (a -1))"]);
    let polynomial = start.payoff_along(&line, pilot).expect("it is a polynomial");
    assert!((polynomial.at(&[1.0, 2.0, 1.5, -1.0]) - payoff).abs() < 1e-9);
    // x = a t^2 / 2 + a t u + b u^2 / 2 by hand, for other numbers of the same piece.
    let (_, other) = line_of(["(Drive c (t 1.25) (a 3))", "(Drive c (t 1.75) (a -2.5))"]);
    assert!((polynomial.at(&[1.25, 3.0, 1.75, -2.5]) - other).abs() < 1e-9);
    let (x, v) = (3.0 * 0.78125 + 3.0 * 1.25 * 1.75 - 1.25 * 3.0625, 3.75 - 4.375);
    let cost = 9.0 * 1.25 + 6.25 * 1.75;
    let wanted = 100.0 - (x - 3.0) * (x - 3.0) - v * v - cost / 10.0;
    assert!((other - wanted).abs() < 1e-9, "{other} is not {wanted}");
    // Not a polynomial: a pendulum, and a landing, which is an event.
    let pendulum = open("pendulum", PENDULUM);
    let push = vec![parse(&pendulum, "(Push w (t 1) (p 0.5) (d 0.1))")];
    assert_eq!(pendulum.payoff_along(&push, pilot), None);
    let lander = shipped("lunar-lander");
    let crash = [vec![lander.parse_move(pilot, "(Fall s (t 12))").expect("it is legal")]];
    assert!(lander.payoff_along(&crash, pilot).is_some(), "it falls for 12 s");
    let mut lower = lander.clone();
    lower.advance(&crash[0]);
    let crash = [vec![lower.parse_move(pilot, "(Fall s (t 12))").expect("it is legal")]];
    assert_eq!(lower.payoff_along(&crash, pilot), None, "it hits the ground");
}

#[test]
fn margins_tell_how_far_conditions_are() {
    let start = shipped("pursuit");
    let margins = start.margins();
    // From (0, 0) to (3, 4) with a reach of 1.000001, squared.
    assert!(margins.iter().any(|m| (m - (1.000_001 - 25.0)).abs() < 1e-9), "{margins:?}");
    let mut rng = Rng::seed_from_u64(1);
    let mut position = start;
    while !position.is_terminal() {
        let joint = drawn(&position, 1, &mut rng).remove(0);
        position.advance(&joint);
        assert_eq!(position.margins().len(), margins.len());
        assert!(position.margins().iter().all(|margin| margin.is_finite()));
    }
    assert!(shipped("tic-tac-toe").margins().is_empty());
}

#[test]
fn questions_name_unknown_numbers() {
    let position = shipped("cat-and-mouse");
    let answer = explain(&position, "(Chase c (px 2) (pz 0))").expect("it is a move");
    assert_eq!(answer.holds, Some(false));
    let texts: Vec<&str> = answer.findings.iter().map(|finding| finding.text.as_str()).collect();
    assert!(texts.iter().any(|text| text.contains("no parameter `pz`")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("px = 2")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("`py` is missing")), "{texts:?}");
}

/// A post-condition is asked at the moment of application, which depends on the numbers.
#[test]
fn questions_about_moves_agree_with_legality() {
    let game = |x: &str, first: &str, second: &str| {
        let text = format!(
            "PLAYERS X, O
             RULE Go: [a | - | -] -> [a | - | -] dynamics :x(a)' = 1 post :x(a) > 2
             RULE Mark: [a | - | -] -> [a | P(a) | -] emb P post Sum (x | P(x) : 1) = 2
             LOC 0 {{ PLAYER X {{ PAYOFF 0 MOVES [{first} -> 1] }} PLAYER O {{ PAYOFF 0 {second} }} }}
             LOC 1 {{ PLAYER X {{ PAYOFF 0 }} PLAYER O {{ PAYOFF 0 }} }}
             START [a, b, c | P:1 {{}} | x {{ a -> {x} }}]"
        );
        // Without the equation nothing is continuous.
        let is_discrete = first == "Mark *";
        let text = if is_discrete { text.replace("dynamics :x(a)' = 1", "") } else { text };
        continuous_language::open(&text)
    };
    let holds = |position: &Interpreter, question: &str| {
        let holds = explain(position, question).expect("it is a question").holds == Some(true);
        assert_eq!(position.parse_move(Role::new(0), question).is_some(), holds, "{question}");
        holds
    };
    assert!(holds(&game("0", "Go, t: 3", ""), "(Go a)"));
    assert!(!holds(&game("-3", "Go, t: 3", ""), "(Go a)"));
    let position = game("0", "Go, t: 0 -- 3", "");
    assert!(holds(&position, "(Go a (t 2.5))") && !holds(&position, "(Go a (t 1))"));
    let error = explain(&position, "(Go a (t nan))").expect_err("it is not a number");
    assert_eq!(error.to_string(), "`t` in the move has no number, or one that is not finite");
    // Where both act, the post-condition is about the joint result.
    assert!(holds(&game("-3", "Go, t: 3", "MOVES [Go, t: 3 -> 1]"), "(Go a)"));
    for time in ["", ", t: 1"] {
        let position = game("0", &format!("Mark *{time}"), "");
        assert!(holds(&position, "(Mark (a) (c))") && !holds(&position, "(Mark (a))"));
        assert!(!holds(&position, "(Mark (a) (a))") && !holds(&position, "(Mark (a) (b) (c))"));
    }
}

#[test]
fn a_step_is_sampled_along_its_trajectory() {
    let table = PositionTable::open(shipped("bouncing-ball")).with_families();
    let passage = table.passage(&["(Watch b)"], 9).expect("time passes");
    let first = (2.0 * 10.0 / 9.81_f64).sqrt();
    assert!((passage.duration - first).abs() < 1e-11);
    assert_eq!(passage.events, [passage.duration], "the floor ends the flight");
    assert_eq!((passage.times[0], *passage.times.last().expect("times")), (0.0, passage.duration));
    assert_eq!(passage.times.len(), 9);
    let values = |function: &str| {
        let value = passage.values.iter().find(|value| value.function == function);
        let value = value.unwrap_or_else(|| panic!("no {function} in {passage:?}"));
        assert_eq!(value.element, "b");
        value.samples.iter().zip(&passage.times)
    };
    for (height, time) in values("y") {
        assert!((height - (10.0 - 9.81 * time * time / 2.0)).abs() < 1e-9, "{height} at {time}");
    }
    for (speed, time) in values("y'") {
        assert!((speed + 9.81 * time).abs() < 1e-9, "{speed} at {time}");
    }
    // The states in between have the values, and nothing else changes.
    let before = table.state();
    let states = passage.states(&before);
    assert_eq!(states.len(), passage.times.len());
    assert_eq!(states[4].len(), before.len());
    let changed = before.iter().filter(|text| !states[4].contains(text)).count();
    assert_eq!(changed, 3, "height, speed and time");
    // The step itself is the same whether it is sampled or not.
    let mut after = table.fork();
    after.advance(&["(Watch b)"]).expect("legal");
    let last = passage.values.iter().map(|value| *value.samples.last().expect("samples"));
    assert!(last.zip([0.0, -9.81 * first]).all(|(found, wanted)| (found - wanted).abs() < 1e-9));
    assert!(table.passage(&["(Watch c)"], 9).is_none(), "an illegal move has no trajectory");
    let discrete = PositionTable::open(shipped("tic-tac-toe")).with_families();
    assert!(discrete.passage(&["(Cross a1)", "noop"], 9).is_none(), "no time passes");
}

/// A rule that is dropped when its invariant fails, because its post-condition does not hold, and
/// one that goes on.
const DROPPED: &str = "
PLAYERS p, q
RULE Fly: [b | Ball(b) | -] -> [b | Ball(b) | -]
  dynamics :x(b)' = 1
  inv :x(b) < 1
  post :x(b) > 5
RULE Wind: [b | Leaf(b) | -] -> [b | Leaf(b) | -]
  dynamics :x(b)' = 2
  pre :n(b) < 2
  update :n(b) = :n(b) + 1
PAYOFF {
  p: max(0, min(100, Sum (b | Ball(b) : :x(b))));
  q: 100 - max(0, min(100, Sum (b | Ball(b) : :x(b))))
}
LOC 0 {
  PLAYER p { MOVES [Fly, t: 3 -> 0] }
  PLAYER q { MOVES [Wind, t: 3 -> 0] }
}
START [ b, l | Ball(b); Leaf(l) | x { b -> 0, l -> 0 }; n { l -> 0 } ]
";

#[test]
fn all_stretches_of_a_step_are_sampled() {
    let table = PositionTable::open(open("dropped", DROPPED)).with_families();
    let passage = table.passage(&["(Fly b)", "(Wind l)"], 4).expect("time passes");
    assert_eq!(passage.duration, 3.0);
    assert_eq!(passage.events, [1.0]);
    assert_eq!(passage.times, [0.0, 1.0, 2.0, 3.0]);
    let samples = |element: &str| {
        let value = passage.values.iter().find(|value| value.element == element);
        value.expect("the element moves").samples.clone()
    };
    assert_eq!(samples("b"), [0.0, 1.0, 1.0, 1.0], "its rule was dropped at the event");
    assert_eq!(samples("l"), [0.0, 2.0, 4.0, 6.0]);
}
