//! Quantifiers over real numbers: inexact values, functions of quantified numbers, `min :a (…)` in
//! comparisons and while time passes.

use agon_game::Position as _;
use agon_toss::interpreter::Interpreter;
use agon_toss::why::explain;

use super::continuous_language::{frame, has, moves, number, open, play};

/// Returns whether a formula holds.
#[track_caller]
fn holds(position: &Interpreter, formula: &str) -> bool {
    let answer = explain(position, formula).unwrap_or_else(|error| panic!("{formula}: {error}"));
    answer.holds.expect("a formula holds or not")
}

#[track_caller]
fn value(position: &Interpreter, term: &str) -> String {
    let answer = explain(position, term).unwrap_or_else(|error| panic!("{term}: {error}"));
    answer.findings[0].text.clone()
}

fn still() -> Interpreter {
    let rule = "RULE A: [a | - | -] -> [a | - | -]";
    open(&frame(rule, "[A, t: 1 -> 0]", "[a | - | x { a -> 3 } | home = a]"))
}

/// Values of functions are intervals, and `s < t` holds only if it is certain: a quantifier around a
/// comparison makes no difference.
#[test]
fn inexact_values_keep_their_error_under_quantifiers() {
    let grow = "RULE Go: [a | - | -] -> [a | - | -] dynamics :x(a)' = :x(a)";
    let mut position = open(&frame(grow, "[Go, t: 1 -> 0]", "[a | - | x { a -> 1 } | home = a]"));
    play(&mut position, &["(Go a)"]);
    let e = "exp(1)";
    for (plain, certain) in [
        (format!(":x(home) = {e}"), true),
        (format!(":x(home) < {e}"), false),
        (format!(":x(home) > {e}"), false),
        (format!(":x(home) <= {e}"), true),
        (format!(":x(home) != {e}"), false),
        (format!(":x(home) < {e} + 0.000001"), true),
        (format!(":x(home) > {e} + 0.000001"), false),
    ] {
        assert_eq!(holds(&position, &plain), certain, "{plain}");
        let quantified = format!("ex :r (:r = 0 and {})", plain.replace(e, &format!("{e} + :r")));
        assert_eq!(holds(&position, &quantified), certain, "{quantified}");
        // The error of a product grows with the quantified number, of either sign.
        let product = format!(
            "ex :r (:r = 0 - 1000 and {})",
            plain.replace(":x(home)", ":x(home) * :r").replace(e, &format!("{e} * :r"))
        );
        assert_eq!(holds(&position, &product), certain, "{product}");
    }
    assert!(holds(&position, "ex :r (:r * :r = :x(home) and :r > 1.6 and :r < 1.7)"));
    assert!(holds(&position, "all :r (:r < :x(home) or :r >= :x(home))"));
    assert!(!holds(&position, "ex :r (:r < :x(home) and :r > exp(1))"));
}

#[test]
fn functions_of_quantified_numbers() {
    let position = still();
    for (formula, truth) in [
        ("ex :r (sqrt(:r) = 3 and abs(:r - 10) <= 1)", true),
        ("ex :r (sqrt(:r) = 3 and abs(:r - 10) < 1)", false),
        ("ex :r (sqrt(:r) = 0 - 1)", false),
        ("ex :r (root(3, :r) = 0 - 2 and :r = 0 - 8)", true),
        ("all :r (abs(:r) >= :r)", true),
        ("all :r (abs(:r) > :r)", false),
        ("all :r (max(:r, 0) + min(:r, 0) = :r)", true),
        ("all :r (max(:r, :x(home)) >= 3)", true),
        ("all :r (max(:r, :x(home), 0) > 3)", false),
        ("all :r (:r = 0 or :r / :r = 1)", true),
        // A comparison with an undefined number does not hold.
        ("all :r (:r / :r = 1)", false),
        ("ex :r (1 / :r = 0)", false),
        ("all :r (sqrt(:r) >= 0)", false),
        ("all :r (:r < 0 or sqrt(:r) >= 0)", true),
        ("all :r (sqrt(:r * :r) = abs(:r))", true),
        ("ex :r (abs(abs(:r) - 1) = 3 and :r < 0 - 3)", true),
    ] {
        assert_eq!(holds(&position, formula), truth, "{formula}");
    }
    assert_eq!(value(&position, "min :r (abs(:r) <= 2)"), "its value is -2");
    assert_eq!(value(&position, "min :r (:r > 0 and 6 / :r <= :x(home))"), "its value is 2");
    let error = explain(&position, "ex :r (sin(:r) = 2)").expect_err("a sine is no polynomial");
    assert!(error.to_string().contains("`sin` of a quantified number"), "{error}");
}

/// Comparisons with the least number, as formulas with quantifiers and as numbers.
#[test]
fn least_numbers_are_compared_alike_under_quantifiers() {
    let position = still();
    let sets = [
        ":r >= 2",
        ":r > 2",
        ":r * :r >= 4 and :r > 0",
        ":r = 2 or :r > 5",
        ":r < 2",
        ":r != :r",
        ":r * :r = 3",
    ];
    for set in sets {
        for sign in ["<", "<=", "=", "!=", ">=", ">"] {
            for bound in ["1", "2", "3", "1 / :x(home)"] {
                let plain = format!("min :r ({set}) {sign} {bound}");
                let quantified = format!("ex :s (:s = 0 and min :r ({set}) {sign} {bound} + :s)");
                let swapped = format!("ex :s (:s = 0 and :s + {bound} {sign} min :r ({set}))");
                assert_eq!(holds(&position, &quantified), holds(&position, &plain), "{plain}");
                let plain = format!("{bound} {sign} min :r ({set})");
                assert_eq!(holds(&position, &swapped), holds(&position, &plain), "{plain}");
            }
        }
    }
    // The bound has the outer meaning of the name.
    assert!(holds(&position, "ex :r (:r = 7 and min :r (:r > 7) = :r)"));
    assert!(!holds(&position, "ex :r (:r = 7 and min :r (:r > 7) < :r)"));
    // Undefined bounds compare as false.
    for sign in ["<", "<=", "=", "!=", ">=", ">"] {
        let undefined = format!("ex :s (:s = 0 and min :r (:r > 7) {sign} 1 / :s)");
        assert!(!holds(&position, &undefined), "{undefined}");
    }
}

#[test]
fn invariants_compare_with_least_numbers() {
    let game = |invariant: &str| {
        let go = format!(
            "RULE Go: [a | - | -] -> [a | - | -] dynamics :x(a)' = 1 inv {invariant}
             update :n(a) = 1"
        );
        let mut position =
            open(&frame(&go, "[Go, t: 4 -> 0]", "[a | - | x { a -> 0 }; n { a -> 0 }]"));
        play(&mut position, &["(Go a)"]);
        assert_eq!(position.fault(), None);
        number(&position, "time")
    };
    let root = 2.0_f64.sqrt();
    assert!((game(":x(a) <= min :r (:r > 0 and :r * :r > 2)") - root).abs() < 1e-11);
    assert!((game("min :r (:r > 0 and :r * :r > 2) >= :x(a)") - root).abs() < 1e-11);
    // The set itself changes: x^2 reaches 3.
    assert!((game("min :r (:r > 0 and :r >= :x(a) * :x(a)) <= 3") - 3.0_f64.sqrt()).abs() < 1e-11);
    assert!((game("ex :r (abs(:r) <= 1 and :r = :x(a) - 1)") - 2.0).abs() < 1e-11);
    assert_eq!(game("min :r (:r > :x(a)) < 100"), 4.0);
}

/// Marks of random interval ends may stand on the edges of tuples, as in the paper.
#[test]
fn edges_for_tuples_name_random_interval_ends() {
    let game = |marks: &str, edges: &str| {
        format!(
            "PLAYERS X, O
             RULE Go: [a | - | -] -> [a | - | -] dynamics :x(a)' = 1
             RULE Up: [a | - | -] -> [a | - | -] dynamics :y(a)' = 1
             LOC 0 {{
               PLAYER X {{ PAYOFF 0 MOVES [Go, t: 0 -- 2 * w{marks}] }}
               PLAYER O {{ PAYOFF 0 MOVES [Up, t: 1] }}
               EDGES {edges}
             }}
             LOC 1 {{ PLAYER X {{ PAYOFF 0 }} PLAYER O {{ PAYOFF 0 }} }}
             START [ a | - | x {{ a -> 0 }}; y {{ a -> 0 }} ]"
        )
    };
    let marked = "[Go, Up, w ~ U(1/4, 1/2) -> 0 : 1/3]; [Go, Up, w ~ U(1/4, 1/2) -> 1 : 2/3]";
    for text in [game("", marked), game(", w ~ U(1/4, 1/2)", "[Go, Up -> 0]")] {
        let mut position = open(&text);
        let nature = position.shape().nature.expect("nature draws").index();
        assert_eq!(moves(&position, 0), ["noop"]);
        play(&mut position, &["noop", "noop", "(draw (w 0.5))"]);
        assert_eq!(nature, 2);
        play(&mut position, &["(Go a (t 1))", "(Up a)", "noop"]);
        assert!(has(&position, "(x a 1)") && has(&position, "(time 1)"));
    }
}

/// Returns the findings of a check: each message with its hint.
fn findings(rules: &str, moves: &str, start: &str) -> Vec<String> {
    let text = frame(rules, moves, start);
    let source = std::sync::Arc::new(agon_text::Source::new("test.toss", &text));
    let found = agon_toss::check::check(source).findings.0;
    found.iter().map(|f| format!("{}; {}", f.message, f.hints.join("; "))).collect()
}

/// What people write who know another notation: the finding says how it is written here.
#[test]
fn findings_say_how_numbers_are_written() {
    let go = "RULE Go: [a | - | -] -> [a | - | -]";
    let start = "[a | - | x { a -> 1 }]";
    for (rules, moves, hint) in [
        ("update x(a) = 1", "[Go -> 0]", "the value of a function is written `:f(a)`"),
        ("update :x(a) := 1", "[Go -> 0]", "write `:f(a) = term` for an update"),
        ("update :x(a) = x(a)", "[Go -> 0]", "at an element is written `:x(x)`"),
        ("update :x(a) = floor(:x(a))", "[Go -> 0]", "the functions of numbers are sqrt,"),
        ("update :x(a) = true", "[Go -> 0]", "is written `:(condition)`"),
        ("update :x(a) = speed", "[Go -> 0]", "a name for a number is written `:speed`"),
        ("update :x(a) = min", "[Go -> 0]", "the least number is `min :a (condition)`"),
        ("update :x(a) = Sum (b : 1)", "[Go -> 0]", "write `Sum (x | condition : term)`"),
        ("dynamics :x(a)' = :p", "[Go, p: 0 .. 1 -> 0]", "an interval is written `0 -- 1`"),
        ("dynamics :x(a)' = :p", "[Go, p 0 -- 1 -> 0]", "write `name: low -- high`"),
        ("", "[Go 2 -> 0]", "nothing for one embedding, `*` for a set"),
        ("", "[Go, t: 0 -- infinity -> 0]", "the ends of an interval are finite numbers"),
        ("", "[Go, t: 0 -- 2 * w -> 0]", "`[Rule, t: 0 -- w, w ~ U(1, 2) -> …]`"),
    ] {
        let found = findings(&format!("{go} {rules}"), moves, start);
        assert!(found.iter().any(|text| text.contains(hint)), "{rules} {moves}: {found:?}");
        // A move that could not be read does not make its parameters unknown.
        assert!(!found.iter().any(|text| text.starts_with("`:p` has")), "{found:?}");
    }
    let twice = findings(go, "[Go -> 0]", "[a | - | x { a -> 1, a -> 2 }]");
    assert!(twice[0].contains("the value of `x` at `a` is given twice"), "{twice:?}");
    let payoff = frame(go, "[Go -> 0]", start).replace("PAYOFF 0", "PAYOFF :x(a)");
    let source = std::sync::Arc::new(agon_text::Source::new("test.toss", &payoff));
    let found = agon_toss::check::check(source).findings.0;
    assert!(found[0].hints[0].contains("Sum (a | condition : :x(a))"), "{found:?}");
}

/// Questions about real numbers are answered in discrete games too.
#[test]
fn questions_about_reals_in_discrete_games() {
    let rule = "RULE A: [a | - | -] -> [a | - | -]";
    let position = open(&frame(rule, "[A -> 0]", "[a, b | - | x { a -> 3, b -> 5 }]"));
    assert!(!position.game().arena().is_continuous());
    assert!(
        holds(&position, "ex :r (:r * :r = 2)") && !holds(&position, "ex :r (:r * :r = 0 - 2)")
    );
    assert_eq!(value(&position, "min :r (:r > 2)"), "its value is 2");
    let answer = explain(&position, "ex :r (:r > 4 and :r = :x(y))").expect("it is a formula");
    assert_eq!(answer.witnesses, [[("y".to_owned(), "b".to_owned())]]);
}

/// Random interval ends that are marked on edges of tuples bring nature into the game, as those of
/// moves do.
#[test]
fn marked_edges_need_no_player_of_nature() {
    let text = "
PLAYERS A, B
RULE Go: [x | P(x) | -] -> [x | P(x) | -]
  dynamics :v(x)' = 1 update :n(x) = :n(x) + 1 pre :n(x) < 3
PAYOFF { A: max(0, min(100, Sum (x | P(x) : :v(x)))); B: 50 }
LOC 0 {
  PLAYER A MOVES [Go as g, t: 0 -- 2 * x]
  PLAYER B MOVES [Go as h, t: 1]
  EDGES [g, h, x ~ E(2) -> 0]
}
START [a | P {a} | v {a -> 0}; n {a -> 0} ]";
    let checked =
        agon_toss::check::check(std::sync::Arc::new(agon_text::Source::new("marked", text)));
    let arena = checked.arena.unwrap_or_else(|| panic!("{:?}", checked.findings.0));
    assert_eq!(arena.players(), ["A", "B", "random"]);
}

/// Terms that begin with the name of a function of numbers, and infinite least numbers.
#[test]
fn questions_about_terms() {
    let position = still();
    for (term, answer) in [
        ("sqrt(4)", "its value is 2"),
        ("exp(0)", "its value is 1"),
        ("log(0)", "it has no value"),
        ("min :a (:a < 0)", "its value is -infinity"),
        ("min :a (:a < 0 and :a > 1)", "its value is infinity"),
    ] {
        assert_eq!(value(&position, term), answer, "{term}");
    }
    let error = explain(&position, "squirt(4)").expect_err("there is no such relation");
    assert!(error.to_string().contains("no relation `squirt`"), "{error}");
}

/// A move to all embeddings of a rule with one element is not about an element called `all`.
#[test]
fn questions_about_moves_to_all_embeddings() {
    let rules = "RULE A: [a | P(a) | -] -> [a | - | -] emb P\nRULE B: [a | - | -] -> [a | - | -]";
    let position = open(&frame(
        rules,
        "[A inf, t: 1 -> 0]; [B, t: 1 -> 0]",
        "[a, b | P(a); P(b) | x { a -> 3 }]",
    ));
    let answer = explain(&position, "(A all)").expect("it is a move");
    assert_eq!((answer.question.as_str(), answer.holds), ("(A all)", Some(true)));
    assert_eq!(answer.findings[0].text, "the rule has 2 embeddings here");
    let error = explain(&position, "(B all)").expect_err("there is no such element");
    assert!(error.to_string().contains("no element `all`"), "{error}");
}
