//! `agon solve`: known values of shipped games, and messages for unsolved games.

use super::run::agon;
use super::{has_keys, json};

#[test]
fn known_values_are_found() {
    for (game, values) in [
        ("tic-tac-toe", vec![("xplayer", 50.0), ("oplayer", 50.0)]),
        ("nim", vec![("first", 0.0), ("second", 100.0)]),
        ("connect-three", vec![("red", 100.0), ("yellow", 0.0)]),
        ("hanoi", vec![("player", 100.0)]),
        ("matching-pennies", vec![("matcher", 50.0), ("mismatcher", 50.0)]),
    ] {
        let solved = json(&agon(&["solve", game, "--json"]).succeeds());
        has_keys(
            &solved,
            &["solved", "values", "strategies", "line", "method", "can_repeat", "nodes", "seconds"],
        );
        assert_eq!(solved["solved"], true, "{game}");
        for (role, value) in values {
            assert_eq!(solved["values"][role].as_f64(), Some(value), "{game}, {role}");
        }
    }
}

#[test]
fn a_solution_as_text() {
    let hanoi = agon(&["solve", "hanoi"]).succeeds();
    assert!(hanoi.out.starts_with("player  100  proved\nline\n"), "{}", hanoi.out);
    assert!(hanoi.out.contains("\n  31  player (move 1 right)\n"), "{}", hanoi.out);
    let pennies = agon(&["solve", "matching-pennies"]).succeeds();
    assert!(
        pennies.out.contains("matcher mixes  (show heads) 0.5000, (show tails) 0.5000"),
        "{}",
        pennies.out
    );
}

#[test]
fn unsolved_games_have_a_reason() {
    let poker = agon(&["solve", "kuhn-poker"]);
    assert_eq!(poker.code, 1);
    assert!(
        poker.err.contains("players do not know the position") && poker.err.contains("--open"),
        "{}",
        poker.err
    );
    let four = agon(&["solve", "connect-four", "--nodes", "5000"]);
    assert_eq!(four.code, 1);
    assert!(four.err.contains("budget") && four.err.contains("hint: "), "{}", four.err);
    let dilemma = agon(&["solve", "prisoners-dilemma", "--json"]);
    assert_eq!(dilemma.code, 1);
    let refusal = json(&dilemma);
    assert_eq!(refusal["solved"], false);
    has_keys(&refusal, &["why", "bounds", "nodes", "seconds"]);
}
