//! Time grows in proportion to the size of a game, or nearly so, in every stage.

use std::fmt::Write as _;
use std::sync::Arc;

use agon_game::{Position as _, Role};
use agon_testkit::growth::assert_growth;
use agon_text::Source;
use agon_toss::check::check;
use agon_toss::circuit::CircuitLimits;
use agon_toss::interpreter::{Game, Options};
use agon_toss::read::read;

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source::new("growth.toss", text))
}

fn open(text: &str) -> Arc<Game> {
    let checked = check(source(text));
    let arena = checked.arena.unwrap_or_else(|| panic!("{:?}", &checked.findings.0[..1]));
    Game::open(arena, Options::default()).unwrap_or_else(|finding| panic!("{finding:?}"))
}

/// Returns a game on a board with this number of places.
fn board(n_places: usize) -> String {
    let rows = format!("  {}\n", ". ".repeat(20)).repeat(n_places / 20);
    format!(
        "PLAYERS X\nRULE Cross: [a | - | -] -> [a | P(a) | -] emb P\nPAYOFF {{ X: 0 }}\n\
         LOC 0 {{ PLAYER X MOVES [Cross -> 0] }}\nMODEL [ | P:1 {{}} | ] \"\n{rows}\"\n"
    )
}

/// Returns a game with this number of rules, relations and locations.
fn many_rules(n: usize) -> String {
    let mut text = "PLAYERS X\n".to_owned();
    for i in 0..n {
        let _ = writeln!(text, "REL D{i}(x) = P(x) or not P(x)");
        let _ = writeln!(text, "RULE R{i}: [a | - | -] -> [a | P(a) | -] emb P pre D{i}(a)");
    }
    text.push_str("PAYOFF { X: 0 }\n");
    for i in 0..n {
        let _ = writeln!(text, "LOC {i} {{ PLAYER X MOVES [R{i} -> {}] }}", (i + 1) % n);
    }
    text + "MODEL [ | P:1 {} | ] \"\n  . .\n\"\n"
}

#[test]
fn reading_and_checking() {
    for (sizes, text) in [([500, 4000], board as fn(usize) -> String), ([125, 1000], many_rules)] {
        let make = |n| source(&text(n));
        assert_growth(1.5, sizes, make, |source| {
            let (_, findings) = read(Arc::clone(source));
            assert!(!findings.has_errors());
        });
        assert_growth(1.5, sizes, make, |source| {
            assert!(check(Arc::clone(source)).arena.is_some());
        });
    }
}

#[test]
fn grounding() {
    assert_growth(
        1.5,
        [500, 4000],
        |n| open(&board(n)),
        |game| {
            game.ground(&CircuitLimits::default()).expect("it can be grounded");
        },
    );
}

#[test]
fn legality() {
    assert_growth(
        1.5,
        [500, 4000],
        |n| open(&board(n)),
        |game| {
            let position = game.start();
            assert!(position.legal_moves(Role::new(0)).len() >= 500);
        },
    );
}
