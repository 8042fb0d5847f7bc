//! Time grows in proportion to the size of the rules, or nearly so, in every stage.

use std::fmt::Write as _;
use std::sync::Arc;

use agon_game::{Position as _, Role};
use agon_gdl::check::{CheckedRules, check};
use agon_gdl::circuit::CircuitLimits;
use agon_gdl::interpreter::{Game, Options};
use agon_gdl::read::read;
use agon_testkit::growth::assert_growth;
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
        assert_growth(1.5, [5_000, 40_000], make, |source| {
            let (_, findings) = read(Arc::clone(source));
            assert!(!findings.has_errors());
        });
        assert_growth(1.5, [5_000, 40_000], make, |source| {
            assert!(check(Arc::clone(source)).rules.is_some());
        });
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
    assert_growth(1.5, [5_000, 40_000], make, |(source, findings)| {
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
    assert_growth(
        1.5,
        [400, 3200],
        |n| rules(&long_rule(n)),
        |rules| {
            Game::open(rules.clone(), Options::default()).expect("it can be opened");
        },
    );
    assert_growth(
        1.5,
        [400, 3200],
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
    assert_growth(1.5, [2_500, 20_000], make, |game| {
        game.ground(&CircuitLimits::default()).expect("it can be grounded");
    });
}

#[test]
fn legality_with_many_moves() {
    // The moves are the square of the size: 10 000 and 160 000. Sorting adds a logarithm.
    let make = |n: usize| {
        let facts: String = (0..n).map(|i| format!("(d {i}) ")).collect();
        open(&format!("{BASE}{facts}(<= (legal r (m ?x ?y)) (d ?y) (d ?x))"))
    };
    assert_growth(2.6, [100, 400], make, |game| {
        let position = game.start();
        let moves = position.legal_moves(Role::new(0));
        assert!(moves.len() >= 10_000);
    });
}
