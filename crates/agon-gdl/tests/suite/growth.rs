//! Time grows in proportion to the size of the rules, or nearly so, in every stage.
//!
//! Each stage is measured at a size and at twice that size. The best of several measurements counts,
//! because the machine may be busy with other work.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_game::{Position as _, Role};
use agon_gdl::check::{CheckedRules, check};
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Options};
use agon_gdl::read::read;
use agon_text::{Diagnostic, Source, Span, render};

const BASE: &str = "(role r) (init (s 0)) (<= (next (s 1)) (true (s 0))) (<= terminal (true (s 1))) \
                    (<= (goal r 100) (true (s 1))) (<= (goal r 0) (not (true (s 1)))) ";

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source::new("growth.kif", text))
}

fn rules(text: &str) -> CheckedRules {
    let checked = check(source(text));
    checked.rules.unwrap_or_else(|| panic!("{:?}", &checked.findings.0[..1]))
}

fn open(text: &str) -> Arc<Game> {
    Game::open(rules(text), Options::default()).unwrap_or_else(|finding| panic!("{finding:?}"))
}

/// Asserts that `work` on twice the size takes at most `ratio` times as long. 2 is proportional, 4
/// is quadratic, 8 is cubic. Short times are not compared, because they say nothing.
#[track_caller]
fn grows<T>(ratio: f64, size: usize, make: impl Fn(usize) -> T, work: impl Fn(&T)) {
    let inputs = [make(size), make(2 * size)];
    let mut best = [Duration::MAX; 2];
    for _ in 0..5 {
        for (input, best) in inputs.iter().zip(&mut best) {
            let began = Instant::now();
            work(input);
            *best = began.elapsed().min(*best);
        }
        if best[1].as_secs_f64() < 0.02 || best[1].as_secs_f64() <= ratio * best[0].as_secs_f64() {
            return;
        }
    }
    panic!("{best:?} at size {size} and twice that; at most {ratio} times is allowed");
}

fn many_rules(n: usize, separator: &str) -> String {
    let mut text = format!("{BASE}(legal r a){separator}");
    for i in 0..n {
        let _ = write!(text, "(<= (p{i} ?x) (true (s ?x))){separator}");
    }
    text
}

#[test]
fn reading_and_checking_rules_on_one_line_and_on_many() {
    for separator in [" ", "\n"] {
        let make = |n| source(&many_rules(n, separator));
        grows(3.0, 10_000, make, |source| {
            let (_, findings) = read(Arc::clone(source));
            assert!(!findings.has_errors());
        });
        grows(3.0, 10_000, make, |source| assert!(check(Arc::clone(source)).rules.is_some()));
    }
}

#[test]
fn places_on_a_long_line() {
    let make = |n| {
        let source = source(&many_rules(n, " "));
        let findings: Vec<Diagnostic> = (0..n)
            .map(|i| {
                let at = source.text().len() / n * i;
                Diagnostic::warning("code", Span::new(at, at + 1), "here")
            })
            .collect();
        (source, findings)
    };
    grows(3.0, 20_000, make, |(source, findings)| {
        let sum: usize = findings.iter().map(|f| source.place(f.span.start()).column).sum();
        assert!(sum > 0);
        assert!(!render(&findings[..100], source, false).is_empty());
    });
}

fn long_rule(n: usize) -> String {
    let mut text = format!("{BASE}(legal r a) (e 1) (<= (p ?x) (true (s ?x))");
    for i in 0..n {
        let _ = write!(text, " (e ?y{i})");
    }
    text + ") (<= (goal r 50) (p 7))"
}

#[test]
fn a_rule_with_hundreds_of_conditions() {
    grows(
        3.0,
        750,
        |n| rules(&long_rule(n)),
        |rules| {
            Game::open(rules.clone(), Options::default()).expect("it can be opened");
        },
    );
    grows(
        3.0,
        750,
        |n| open(&long_rule(n)),
        |game| {
            game.ground(&CircuitLimits::default()).expect("it can be grounded");
        },
    );
}

#[test]
fn grounding() {
    let make = |n: usize| {
        let facts: String = (0..n).map(|i| format!("(d {i}) ")).collect();
        open(&format!("{BASE}{facts}(<= (legal r (m ?x)) (d ?x))"))
    };
    grows(3.2, 5_000, make, |game| {
        game.ground(&CircuitLimits::default()).expect("it can be grounded");
    });
}

#[test]
fn legality_with_many_moves() {
    // The moves are the square of the size: 40 000 and 160 000. Sorting adds a logarithm.
    let make = |n: usize| {
        let facts: String = (0..n).map(|i| format!("(d {i}) ")).collect();
        open(&format!("{BASE}{facts}(<= (legal r (m ?x ?y)) (d ?y) (d ?x))"))
    };
    grows(6.0, 200, make, |game| {
        let position = game.start();
        let moves = position.legal_moves(Role::new(0));
        assert!(moves.len() >= 40_000);
    });
}
