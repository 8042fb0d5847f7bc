//! Rules that are applied at the same time: by several players, or to several embeddings.

use agon_game::{Notation as _, Position as _, Role};
use agon_toss::interpreter::Interpreter;

use crate::suite::continuous_language::{frame, has, is_read, moves, number, open, play};

/// Returns a game in which two players act at once.
fn two(players: &str, rules: &str, x: &str, o: &str, start: &str) -> Interpreter {
    open(&format!(
        "PLAYERS {players}\n{rules}
        LOC 0 {{
          PLAYER X {{ PAYOFF 0 MOVES [{x} -> 0] }}
          PLAYER O {{ PAYOFF 0 MOVES [{o} -> 0] }}
        }}
        START {start}"
    ))
}

/// Makes the moves of `X` and `O`, whatever the order of the players is.
fn play_two(position: &mut Interpreter, x: &str, o: &str) {
    let is_first = position.game().arena().players()[0] == "X";
    play(position, &if is_first { [x, o] } else { [o, x] });
}

const ORDERS: [&str; 2] = ["X, O", "O, X"];

#[test]
fn simultaneous_updates_of_one_value_add_their_changes() {
    let rules = "RULE Inc: [a | - | -] -> [a | - | -] update :x(a) = :x(a) + 1
        RULE Triple: [a | - | -] -> [a | - | -] update :x(a) = 3 * :x(a)";
    for players in ORDERS {
        for time in ["", ", t: 1"] {
            let moves = ["Inc", "Triple"].map(|rule| format!("{rule}{time}"));
            let mut position =
                two(players, rules, &moves[0], &moves[1], "[a, b | - | x { a -> 2; b -> 1/2 }]");
            play_two(&mut position, "(Inc a)", "(Triple a)");
            assert!(has(&position, "(x a 7)"), "{:?}", position.state_text());
            play_two(&mut position, "(Inc a)", "(Triple b)");
            assert!(has(&position, "(x a 8)") && has(&position, "(x b 1.5)"));
        }
    }
}

#[test]
fn differential_equations_of_all_rules_add_up() {
    let rules = "RULE Push: [a | - | -] -> [a | - | -] dynamics :x(a)' = 2 * :t
        RULE Pull: [a | - | -] -> [a | - | -] dynamics :x(a)' = -1";
    for players in ORDERS {
        let mut position =
            two(players, rules, "Push, t: 3", "Pull, t: 3", "[a | - | x { a -> 1 }]");
        play_two(&mut position, "(Push a)", "(Pull a)");
        assert!((number(&position, "x a") - 7.0).abs() < 1e-9);
        assert_eq!(position.state().time(), 3.0);
    }
}

#[test]
fn the_rule_is_applied_when_its_invariant_fails() {
    let fall = "RULE Fall: [b | - | -] -> [b | - | -]
        dynamics :y(b)'' = -2 inv :y(b) >= 0 update :n(b) = :n(b) + 1; :y'(b) = 0";
    let mut position =
        open(&frame(fall, "[Fall, t: 10 -> 0]", "[b | - | y { b -> 9 }; n { b -> 0 }]"));
    play(&mut position, &["(Fall b)"]);
    assert!((position.state().time() - 3.0).abs() < 1e-11, "{}", position.state().time());
    assert!(number(&position, "y b").abs() < 1e-9);
    assert!(has(&position, "(n b 1)") && has(&position, "(y' b 0)"));
    // Without the event the rule is applied at the end of its duration.
    let mut position =
        open(&frame(fall, "[Fall, t: 1 -> 0]", "[b | - | y { b -> 9 }; n { b -> 0 }]"));
    play(&mut position, &["(Fall b)"]);
    assert_eq!(position.state().time(), 1.0);
    assert!((number(&position, "y b") - 8.0).abs() < 1e-12 && has(&position, "(n b 1)"));
}

/// An invariant fails at the very moment at which another duration is over: both rules are applied.
#[test]
fn an_event_and_the_end_of_a_duration_may_coincide() {
    let rules = "RULE Fall: [a | A(a) | -] -> [a | A(a) | -] dynamics :y(a)' = -1 inv :y(a) > 0
          update :n(a) = :n(a) + 1
        RULE Wait: [b | B(b) | -] -> [b | B(b) | -] update :n(b) = :n(b) + 1";
    let start = "[a, b | A(a); B(b) | y { a -> 3 }; n { a -> 0 }]";
    for players in ORDERS {
        for (duration, waited) in [("3", 1.0), ("7/2", 0.0)] {
            let mut position =
                two(players, rules, "Fall, t: 9", &format!("Wait, t: {duration}"), start);
            play_two(&mut position, "(Fall a)", "(Wait b)");
            assert_eq!(position.state().time(), 3.0);
            assert_eq!(number(&position, "n a"), 1.0);
            assert_eq!(number(&position, "n b"), waited, "{duration}");
        }
    }
}

#[test]
fn only_rules_whose_time_has_come_are_applied() {
    let rules = "RULE A: [a | - | -] -> [a | - | -] dynamics :x(a)' = 1 update :n(a) = :n(a) + 1
        RULE B: [a | - | -] -> [a | - | -] dynamics :y(a)' = 1 update :n(a) = :n(a) + 10";
    for players in ORDERS {
        for (times, n) in [(["1", "2"], 1.0), (["2", "1"], 10.0), (["1", "1"], 11.0)] {
            let moves = [format!("A, t: {}", times[0]), format!("B, t: {}", times[1])];
            let start = "[a | - | x { a -> 0 }; y { a -> 0 }; n { a -> 0 }]";
            let mut position = two(players, rules, &moves[0], &moves[1], start);
            play_two(&mut position, "(A a)", "(B a)");
            assert_eq!(number(&position, "n a"), n, "{times:?}");
            assert_eq!(position.state().time(), 1.0);
            // Both acted until then.
            assert!((number(&position, "x a") - 1.0).abs() < 1e-12);
            assert!((number(&position, "y a") - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn a_rule_whose_post_condition_fails_is_dropped_and_time_goes_on() {
    let rules = "RULE A: [a | - | -] -> [a | - | -]
          dynamics :z(a)' = 1 update :n(a) = :n(a) + 1 post :n(a) > 100
        RULE B: [a | - | -] -> [a | - | -] dynamics :x(a)' = 1 update :m(a) = :m(a) + 1";
    for players in ORDERS {
        let start = "[a | - | x { a -> 0 }; z { a -> 0 }; n { a -> 0 }; m { a -> 0 }]";
        let mut position = two(players, rules, "A, t: 1", "B, t: 3", start);
        play_two(&mut position, "(A a)", "(B a)");
        assert_eq!(position.state().time(), 3.0);
        assert!(has(&position, "(n a 0)") && has(&position, "(m a 1)"));
        assert!((number(&position, "z a") - 1.0).abs() < 1e-12, "it acted until it was dropped");
        assert!((number(&position, "x a") - 3.0).abs() < 1e-12);
    }
}

/// Each rule alone satisfies its post-condition, both together do not.
#[test]
fn post_conditions_are_asked_of_the_joint_result() {
    let rules = |x: &str, o: &str| {
        format!(
            "RULE MarkP: [a | - | -] -> [a | P(a) | -] emb P {x}
             RULE MarkQ: [a | - | -] -> [a | Q(a) | -] emb Q {o}"
        )
    };
    let post = "post not ex z (P(z) and Q(z))";
    for players in ORDERS {
        for time in ["", ", t: 1"] {
            let moves = ["MarkP", "MarkQ"].map(|rule| format!("{rule}{time}"));
            let start = "[a, b | P:1 {}; Q:1 {} | -]";
            let result = |x: &str, o: &str, elements: [&str; 2]| {
                let mut position = two(players, &rules(x, o), &moves[0], &moves[1], start);
                let joint =
                    [format!("(MarkP {})", elements[0]), format!("(MarkQ {})", elements[1])];
                play_two(&mut position, &joint[0], &joint[1]);
                (has(&position, "(P a)"), has(&position, &format!("(Q {})", elements[1])))
            };
            assert_eq!(result(post, "", ["a", "a"]), (false, true), "{players}{time}");
            assert_eq!(result("", post, ["a", "a"]), (true, false), "{players}{time}");
            assert_eq!(result(post, post, ["a", "a"]), (false, false), "{players}{time}");
            assert_eq!(result(post, post, ["a", "b"]), (true, true), "{players}{time}");
        }
    }
}

#[test]
fn a_set_of_embeddings_is_any_set_without_common_elements() {
    let mark = "RULE Mark: [a | - | -] -> [a | P(a) | -] emb P";
    let mut position = open(&frame(mark, "[Mark * -> 0]", "[a, b, c | P:1 {} | -]"));
    assert_eq!(moves(&position, 0).len(), 7);
    play(&mut position, &["(Mark (c) (a))"]);
    assert!(has(&position, "(P a)") && has(&position, "(P c)") && !has(&position, "(P b)"));
    assert_eq!(moves(&position, 0), ["(Mark (b))"]);
    // Pairs, whose elements have numbers as names.
    let link = "RULE Link: [a, b | - | -] -> [a, b | E(a, b) | -] emb E pre &a < &b";
    let position = open(&frame(link, "[Link * -> 0]", "[1, 2, 3, 4 | E:2 {} | -]"));
    assert_eq!(moves(&position, 0).len(), 6 + 3);
    assert!(is_read(&position, 0, "(Link (3 4) (1 2))"));
    assert!(!is_read(&position, 0, "(Link (1 2) (2 3))"), "they share an element");
    assert!(!is_read(&position, 0, "(Link (1 2) (1 2))"));
    assert!(!is_read(&position, 0, "(Link (2 1))"), "it is not an embedding");
    assert!(!is_read(&position, 0, "(Link (1))") && !is_read(&position, 0, "(Link)"));
}

#[test]
fn sets_of_embeddings_that_are_not_listed_can_be_chosen() {
    let names: Vec<String> = (1..=14).map(|n| n.to_string()).collect();
    let start = format!("[{} | E:2 {{}} | -]", names.join(", "));
    let link = "RULE Link: [a, b | - | -] -> [a, b | E(a, b) | -] emb E pre &a < &b";
    let mut position = open(&frame(link, "[Link * -> 0]", &start));
    let listed = moves(&position, 0);
    assert!(listed.len() <= 256);
    let all = "(Link (1 2) (3 4) (5 6) (7 8) (9 10) (11 12) (13 14))";
    assert!(!listed.iter().any(|text| text == all));
    play(&mut position, &[all]);
    assert!((0..7).all(|i| has(&position, &format!("(E {} {})", 2 * i + 1, 2 * i + 2))));
    assert!(!is_read(&position, 0, all), "these pairs are linked now");
}

#[test]
fn a_rule_may_be_applied_to_all_embeddings() {
    let mark = "RULE Mark: [a | - | -] -> [a | P(a) | -] emb P update :x(a) = :x(a) + 1";
    for time in ["", ", t: 1"] {
        let moves_text = format!("[Mark inf{time} -> 0]");
        let mut position =
            open(&frame(mark, &moves_text, "[a, b, c | P {b} | x { a -> 1; b -> 2; c -> 3 }]"));
        assert_eq!(moves(&position, 0), ["(Mark all)"]);
        play(&mut position, &["(Mark all)"]);
        for line in ["(P a)", "(P b)", "(P c)", "(x a 2)", "(x b 2)", "(x c 4)"] {
            assert!(has(&position, line), "{line}");
        }
        assert!(position.is_terminal(), "nothing is left to mark");
    }
}

#[test]
fn edges_for_tuples_lead_where_the_tuple_says() {
    let game = |edges: &str| {
        open(&format!(
            "PLAYERS X, O
            RULE Mark: [a | - | -] -> [a | P(a) | -]
            RULE Wait: [a | - | -] -> [a | - | -]
            LOC 0 {{
              PLAYER X {{ PAYOFF 0 MOVES [Mark as go]; [Wait] }}
              PLAYER O {{ PAYOFF 0 MOVES [Mark]; [Wait] }}
              EDGES {edges}
            }}
            LOC 1 {{ PAYOFF {{ X: 1; O: 0 }} }}
            LOC 2 {{ PAYOFF {{ X: 0; O: 1 }} }}
            START [a | P:1 {{}} | -]"
        ))
    };
    let plain = "[go, Mark -> 1]; [go, _ -> 2]; [_, _ -> 0]";
    for (x, o, place) in [
        ("(Mark a (as go))", "(Mark a)", "(location 1)"),
        ("(Mark a (as go))", "(Wait a)", "(location 2)"),
        ("(Wait a)", "(Mark a)", "(location 0)"),
        ("(Wait a)", "(Wait a)", "(location 0)"),
    ] {
        let mut position = game(plain);
        play(&mut position, &[x, o]);
        assert!(has(&position, place), "{x} {o}: {:?}", position.state_text());
    }
    let mut position = game("[go, Mark -> 1 : 1/3]; [go, Mark -> 2 : 2/3]; [_, _ -> 0]");
    let nature = Role::new(2);
    assert_eq!(moves(&position, 2), ["noop"]);
    play(&mut position, &["(Mark a (as go))", "(Mark a)", "noop"]);
    let chances: Vec<(String, f64)> = position
        .legal_moves(nature)
        .iter()
        .map(|m| (position.move_text(m), position.chance(m)))
        .collect();
    assert_eq!(chances, [("(to 1)".to_owned(), 1.0 / 3.0), ("(to 2)".to_owned(), 2.0 / 3.0)]);
    play(&mut position, &["noop", "noop", "(to 2)"]);
    assert!(has(&position, "(location 2)") && has(&position, "(P a)") && position.is_terminal());
    assert_eq!([0, 1].map(|role| position.payoff(Role::new(role))), [0.0, 1.0]);
}

/// The post-condition of a set of embeddings is asked of the joint result, whether time passes or
/// not.
#[test]
fn post_conditions_of_sets_are_asked_of_the_joint_result() {
    let mark = "RULE Mark: [a | - | -] -> [a | P(a) | -] emb P post Sum (x | P(x) : 1) = 2";
    for time in ["", ", t: 1"] {
        let game = |multiplicity: &str, start: &str| {
            open(&frame(mark, &format!("[Mark {multiplicity}{time} -> 0]"), start))
        };
        let position = game("*", "[a, b, c | P:1 {} | -]");
        assert_eq!(moves(&position, 0), ["(Mark (a) (b))", "(Mark (a) (c))", "(Mark (b) (c))"]);
        assert!(!is_read(&position, 0, "(Mark (a))"));
        assert!(!is_read(&position, 0, "(Mark (a) (b) (c))"));
        let mut position = game("inf", "[a, b | P:1 {} | -]");
        assert_eq!(moves(&position, 0), ["(Mark all)"]);
        play(&mut position, &["(Mark all)"]);
        assert!(has(&position, "(P a)") && has(&position, "(P b)"));
        assert!(game("inf", "[a, b, c | P:1 {} | -]").is_terminal());
        assert!(game("1", "[a, b, c | P:1 {} | -]").is_terminal());
    }
}

/// "If in some vertex and state it is not possible to apply any tuple of rules, either because no
/// match is found or because of the constraints, then the play ends" (Kaiser & Stafiniak 2010).
#[test]
fn play_ends_where_no_tuple_can_be_applied() {
    for players in ORDERS {
        for time in ["", ", t: 1"] {
            let ends = |x: &str, o: &str, start: &str| {
                let rules = format!(
                    "RULE MarkP: [a | - | -] -> [a | P(a) | -] emb P {x}
                     RULE MarkQ: [a | - | -] -> [a | Q(a) | -] emb Q {o}"
                );
                let moves = ["MarkP", "MarkQ"].map(|rule| format!("{rule}{time}"));
                two(players, &rules, &moves[0], &moves[1], start).is_terminal()
            };
            let apart = "post not ex z (P(z) and Q(z))";
            let (one, two) = ("[a | P:1 {}; Q:1 {} | -]", "[a, b | P:1 {}; Q:1 {} | -]");
            // On one element both rules fail together, on two there is a tuple.
            assert!(ends(apart, apart, one), "{players}{time}");
            assert!(!ends(apart, apart, two), "{players}{time}");
            // A rule that can be applied is enough.
            assert!(!ends(apart, "", one), "{players}{time}");
            assert!(!ends("post false", "", one), "{players}{time}");
            assert!(ends("post false", "post false", two), "{players}{time}");
            // Without an embedding there is no tuple.
            assert!(ends("", "", "[a | P(a); Q:1 {} | -]"), "{players}{time}");
        }
        // Rules that copy one element are not applied together.
        let copy = |name: &str| format!("RULE {name}: [a | - | -] -> [b, c | - | -] with [b <- a]");
        let rules = format!("{} {}", copy("Left"), copy("Right"));
        let position = |start: &str| two(players, &rules, "Left", "Right", start);
        assert!(position("[a | P:1 {} | -]").is_terminal());
        assert!(!position("[a, b | P:1 {} | -]").is_terminal());
    }
}
