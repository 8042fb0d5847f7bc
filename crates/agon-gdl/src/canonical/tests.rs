use std::sync::Arc;

use agon_text::Source;

use super::{Canonical, canonical};
use crate::check::check;

fn labels(text: &str) -> Canonical {
    let checked = check(Arc::new(Source::new("game.kif", text)));
    let rules = checked.rules.unwrap_or_else(|| panic!("{:?}", checked.findings));
    canonical(&rules).expect("the rules are small")
}

/// Two switches that are alike, each with its own light.
const LAMPS: &str = "
(role me) (init (off a)) (init (off b))
(<= (legal me (press ?x)) (true (off ?x)))
(<= (next (on ?x)) (does me (press ?x)))
(<= (next (on ?x)) (true (on ?x)))
(<= (next (off ?x)) (true (off ?x)) (not (does me (press ?x))))
(<= terminal (true (on a)) (true (on b)))
(<= (goal me 100) terminal)
(<= (goal me 0) (not terminal))";

#[test]
fn names_order_and_variables_do_not_matter() {
    let other = "
(<= (goal player 0) (not terminal))
(<= terminal (true (lit right)) (true (lit left)))
(<= (next (dark ?which)) (not (does player (toggle ?which))) (true (dark ?which)))
(init (dark right)) (init (dark left)) (role player)
(<= (next (lit ?y)) (true (lit ?y)))
(<= (goal player 100) terminal)
(<= (next (lit ?z)) (does player (toggle ?z)))
(<= (legal player (toggle ?q)) (true (dark ?q)))";
    let [one, two] = [LAMPS, other].map(labels);
    assert_eq!(one.key, two.key);
    for (a, b) in [("off", "dark"), ("on", "lit"), ("press", "toggle"), ("me", "player")] {
        assert_eq!(one.labels[a], two.labels[b], "{a}");
    }
    // The lamps are alike, so either may correspond to either.
    let lamps = |labels: &Canonical, names: [&str; 2]| {
        let mut lamps = names.map(|name| labels.labels[name]);
        lamps.sort_unstable();
        lamps
    };
    assert_eq!(lamps(&one, ["a", "b"]), lamps(&two, ["left", "right"]));
}

#[test]
fn small_changes_change_the_key() {
    let key = labels(LAMPS).key;
    for (old, new) in [
        ("(goal me 100) terminal", "(goal me 90) terminal"),
        ("(true (on a)) (true (on b))", "(true (on a)) (true (off b))"),
        ("(true (on a)) (true (on b))", "(or (true (on a)) (true (on b)))"),
        ("(init (off b))", "(init (on b))"),
    ] {
        assert!(LAMPS.contains(old), "{old}");
        assert_ne!(labels(&LAMPS.replace(old, new)).key, key, "{new}");
    }
}

/// Goal values that rules compute keep their meaning: the worst lamp must not become the best.
#[test]
fn numbers_that_may_be_goal_values_are_not_exchanged() {
    let text = |a: u32, b: u32| {
        format!(
            "(role me) (init start) (worth left {a}) (worth right {b})
             (legal me left) (legal me right)
             (<= (next (took ?x)) (does me ?x))
             (<= terminal (not (true start)))
             (<= (goal me ?v) (true (took ?x)) (worth ?x ?v))
             (<= (goal me 50) (true start))"
        )
    };
    assert_eq!(labels(&text(10, 90)).key, labels(&text(90, 10)).key);
    assert_ne!(labels(&text(10, 90)).key, labels(&text(10, 80)).key);
}

/// A ring of eight places and two rings of four look alike to refinement alone.
#[test]
fn rings_of_different_lengths_have_different_keys() {
    let rules = |edges: &[(u32, u32)]| {
        let facts: String = edges.iter().map(|(a, b)| format!("(link p{a} p{b})")).collect();
        format!(
            "(role me) {facts} (init (at p0))
             (<= (legal me (go ?x)) (true (at ?y)) (link ?y ?x))
             (<= (next (at ?x)) (does me (go ?x)))
             (<= (next (seen ?x)) (does me (go ?x)))
             (<= (next (seen ?x)) (true (seen ?x)))
             (<= missed (link ?x ?y) (not (true (seen ?x))))
             (<= terminal (not missed)) (<= (goal me 100) (not missed)) (<= (goal me 0) missed)"
        )
    };
    let ring = |from: u32, n: u32| (0..n).map(move |at| (from + at, from + (at + 1) % n));
    let one: Vec<(u32, u32)> = ring(0, 8).collect();
    let two: Vec<(u32, u32)> = ring(0, 4).chain(ring(4, 4)).collect();
    let mut turned: Vec<(u32, u32)> = one.iter().map(|(a, b)| ((a * 3) % 8, (b * 3) % 8)).collect();
    turned.reverse();
    let [one, two, turned] = [one, two, turned].map(|edges| labels(&rules(&edges)).key);
    assert_ne!(one, two);
    assert_eq!(one, turned);
}
