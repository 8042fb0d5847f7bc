//! Parsing: both eras of the syntax, all forms of boards, printed formulas, and malformed texts.

use std::path::Path;
use std::sync::Arc;

use agon_game::{Notation as _, Position as _, Rng, Role};
use agon_structures::evaluate::Limits;
use agon_testkit::seeded;
use agon_text::{Source, Span};
use agon_toss::check::{check, lower_formula};
use agon_toss::interpreter::{Game, Options};
use agon_toss::print::{print_formula, print_sheet, print_structure};
use agon_toss::read::{looks_like_game, read, read_formula, read_structure, read_term};
use agon_toss::syntax::{Cell, Name, Structure};
use proptest::prelude::*;
use rand::SeedableRng as _;

fn source(text: &str) -> Arc<Source> {
    Arc::new(Source::new("test.toss", text))
}

fn structure(text: &str) -> Structure {
    read_structure(&source(text)).unwrap_or_else(|findings| panic!("{text}: {findings:?}"))
}

/// A game in both notations that the reader accepts.
#[test]
fn both_eras_are_one_game() {
    let old = "PLAYERS white, black\n\
        REL Has(x) { ex y R(x, y) }\n\
        RULE finish: [a, b | R (a, b) | ] -> [a, c, b | R {(a, c); (c, b)} | ] emb R pre Has(a)\n\
        LOC 0 { PLAYER white PAYOFF { white: 0.3; black: :(ex x Has(x)) } MOVES [finish -> 1] }\n\
        LOC 1 { PLAYER black PAYOFF { white: 0; black: 1 } MOVES [finish -> 0] }\n\
        MODEL [ | R { (a, b); (a, c) } | ]\nSTATE LOC 1\n";
    let new = "PLAYERS white, black\n\
        REL Has(x) = ex y R(x, y)\n\
        RULE finish: [a, b | R(a, b) | -] -> [a, c, b | R {(a, c); (c, b)} | -] emb R pre Has(a)\n\
        LOC 0 { PLAYER white { PAYOFF 0.3 MOVES [finish -> 1] } PLAYER black { PAYOFF :(ex x Has(x)) } }\n\
        LOC 1 { PLAYER white { PAYOFF 0 } PLAYER black { PAYOFF 1 MOVES [finish -> 0] } }\n\
        START [ | R {(a, b); (a, c)} | -]\nSTATE LOC 1\n";
    let [old, new] = [old, new].map(|text| {
        let checked = check(source(text));
        assert!(checked.findings.0.is_empty(), "{:?}", checked.findings);
        print_sheet(checked.arena.expect("the game is correct").sheet())
    });
    assert_eq!(old, new);
}

#[test]
fn signs_have_several_spellings() {
    let plain = "ex x (P(x) and not Q(x) or &x <= 3 * 2)";
    let other = "∃ x (P(x) ∧ ¬ Q(x) ∨ &x =< 3 · 2)";
    let [plain, other] = [plain, other]
        .map(|text| print_formula(&read_formula(&source(text)).expect("the formula is correct")));
    assert_eq!(plain, other);
}

/// The term that draws a heart in the explorer of the original Toss: nested `let`s, numbers of
/// elements, indicators.
#[test]
fn long_terms_are_parsed() {
    let text = ":(&a <= 18) * (:(&a =< 10) * &a - :(&a > 10) * (&a - 20)) - let :b = &a - 18 in :b ^ 2 / 4";
    read_term(&source(text)).unwrap_or_else(|findings| panic!("{findings:?}"));
}

fn cells(structure: &Structure) -> Vec<Vec<String>> {
    let board = structure.board.as_ref().expect("there is a board");
    let shown = |cell: &Cell| match cell {
        Cell::Hole => "*".to_owned(),
        Cell::Element(names) if names.is_empty() => ".".to_owned(),
        Cell::Element(names) => {
            names.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join("+")
        }
    };
    board.rows.iter().map(|row| row.iter().map(shown).collect()).collect()
}

#[test]
fn boards_have_three_forms() {
    let expected = vec![vec!["B", ".", "*"], vec![".", "W", "."]];
    for text in [
        "[ | | ] \"\n  B . *\n  . W .\n\"",
        "[ | | ] \"\nB.*\n.W.\n\"",
        // Cells are three by two characters; the upper left one is dark.
        "[ | | ] \"\n...   ***\nB..   ***\n   ...   \n   W..   \n\"",
        "[ | | ] \"\n  B . *\n\n  . W .\n\n\"",
    ] {
        let read = structure(text);
        assert_eq!(cells(&read), expected, "{text}");
        assert_eq!(cells(&structure(&print_structure(&read))), expected, "{text}");
    }
    let two = structure("[ | | ] \"\n  W+K .\n  .   bQ+W\n\"");
    assert_eq!(cells(&two), vec![vec!["W+K", "."], vec![".", "bQ+W"]]);
    let column = structure("[ | | ] \"\n wP+wP\n .\n\"");
    assert_eq!(cells(&structure(&print_structure(&column))), cells(&column));
}

/// Names, rows, columns and holes of a board become elements and relations.
#[test]
fn boards_are_structures() {
    let text = "PLAYERS X\nRULE Go: [a, b | P(a); Near(a, b) | -] -> [a, b | P(b) | -] emb P\n\
        REL Near(x, y) = R(x, y) or C(x, y)\nLOC 0 { PLAYER X { PAYOFF 0 MOVES [Go -> 0] } }\n\
        START [ | | ] \"\n  . . .\n  . * .\n  P . .\n\"";
    let arena = check(source(text)).arena.expect("the game is correct");
    let start = arena.start();
    assert_eq!(start.n_elements(), 8);
    assert!(start.element("b2").is_none() && start.element("c3").is_some());
    let n_tuples =
        |name: &str| start.tuples(arena.vocabulary().relation(name).expect("a relation")).len();
    assert_eq!((n_tuples("R"), n_tuples("C"), n_tuples("P")), (4, 4, 1));
    let position =
        Game::open(arena, Options::default()).unwrap_or_else(|f| panic!("{}", f.message)).start();
    let moves: Vec<String> =
        position.legal_moves(Role::new(0)).iter().map(|m| position.move_text(m)).collect();
    assert_eq!(moves, ["(Go a1 b1)", "(Go a1 a2)"]);
}

#[test]
fn the_first_word_identifies_the_language() {
    assert!(looks_like_game("// a comment\n\nPLAYERS X, O"));
    assert!(!looks_like_game("(role x)"));
    assert!(!looks_like_game("; PLAYERS"));
    assert!(!looks_like_game(""));
}

/// Formulas as text, fully parenthesised.
fn formulas() -> impl Strategy<Value = String> {
    let variable = prop::sample::select(vec!["x", "y", "z"]);
    let named = prop::sample::select(vec!["x", "y", "z", "home"]);
    let atom = (prop::sample::select(vec!["P", "Q"]), named.clone())
        .prop_map(|(r, x)| format!("{r}({x})"));
    let edge = (named.clone(), named.clone()).prop_map(|(x, y)| format!("R({x}, {y})"));
    let same = (named.clone(), prop::bool::ANY, named)
        .prop_map(|(x, same, y)| format!("{x} {} {y}", if same { "=" } else { "!=" }));
    let leaf = prop_oneof![atom, edge, same, Just("true".to_owned()), Just("false".to_owned())];
    leaf.prop_recursive(5, 40, 3, move |inner| {
        let x = variable.clone();
        let sign = prop::sample::select(vec!["<", "<=", "=", "!=", ">=", ">"]);
        let fold = prop::sample::select(vec!["Sum", "Prod", "Min", "Max"]);
        let operator = prop::sample::select(vec!["+", "-", "*", "/", "^"]);
        prop_oneof![
            inner.clone().prop_map(|f| format!("(not {f})")),
            (inner.clone(), inner.clone()).prop_map(|(f, g)| format!("({f} and {g})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(f, g, h)| format!("({f} or {g} or {h})")),
            (x.clone(), inner.clone()).prop_map(|(x, f)| format!("(ex {x} ({f}))")),
            (x.clone(), inner.clone()).prop_map(|(x, f)| format!("(all {x} ({f}))")),
            inner.clone().prop_map(|f| format!("(tc x, y ({f}))")),
            inner.clone().prop_map(|f| format!("(tc 2 x, y ({f}))")),
            inner.clone().prop_map(|f| format!("((tc x, y ({f}))(z, home))")),
            inner.clone().prop_map(|f| format!("(gfp Z(x, y) = ({f} or Z(y, x)))(z, z)")),
            inner.clone().prop_map(|f| format!("(lfp Z(x) = ({f} or Z(x)))")),
            (inner.clone(), inner.clone())
                .prop_map(|(f, g)| format!("(let L(z) = ({f}) in ({g} and L(x)))")),
            (inner.clone(), sign, x.clone(), operator).prop_map(|(f, sign, x, operator)| {
                format!("((:({f}) {operator} 2) {sign} (-(&{x}) + 0.5))")
            }),
            (inner, fold, x).prop_map(|(f, fold, x)| {
                format!("({fold} ({x} | {f} : let :n = &{x} * 2 in :n - 1) > 3 / 4)")
            }),
        ]
    })
}

proptest! {
    #![proptest_config(seeded(500))]

    /// A formula has the same meaning after it is printed and parsed again.
    #[test]
    fn formulas_survive_printing(text in formulas()) {
        let (sheet, _) =
            read(source("PLAYERS X START [a | P:1 {}; Q:1 {}; R:2 {} | - | home = a]"));
        let variables = ["x", "y", "z"].map(|x| Name { text: x.to_owned(), span: Span::default() });
        let meaning = |text: &str| {
            let formula = read_formula(&source(text)).unwrap_or_else(|f| panic!("{text}\n{f:?}"));
            let lowered = lower_formula(&sheet, &formula, &variables);
            (lowered.unwrap_or_else(|f| panic!("{text}\n{f:?}")), print_formula(&formula))
        };
        let (before, printed) = meaning(&text);
        let (after, again) = meaning(&printed);
        prop_assert_eq!(&before, &after, "{} became {}", text, printed);
        prop_assert_eq!(printed, again);
    }

    /// Formulas of the engines are displayed in the same language, so they can be parsed again.
    #[test]
    fn displayed_formulas_can_be_parsed(text in formulas()) {
        let (sheet, _) =
            read(source("PLAYERS X START [a | P:1 {}; Q:1 {}; R:2 {} | - | home = a]"));
        let variables = ["x", "y", "z"].map(|x| Name { text: x.to_owned(), span: Span::default() });
        let meaning = |text: &str| {
            let formula = read_formula(&source(text)).unwrap_or_else(|f| panic!("{text}\n{f:?}"));
            lower_formula(&sheet, &formula, &variables).unwrap_or_else(|f| panic!("{text}\n{f:?}"))
        };
        let before = meaning(&text);
        let shown = before.to_string();
        prop_assert_eq!(meaning(&shown).to_string(), shown.as_str(), "{}", text);
    }

    /// Parsing arbitrary text never panics.
    #[test]
    fn arbitrary_text_does_not_panic(text in "[ -~\n]{0,200}") {
        check(source(&text));
        check(source(&format!("PLAYERS X RULE {text}")));
        check(source(&format!("PLAYERS X START [ | | ] \"{text}\"")));
    }
}

/// Shipped games with pieces removed, doubled and exchanged give diagnostics or can be played, and
/// never panic.
#[test]
fn mutated_games_do_not_panic() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../games/toss");
    let mut rng = Rng::seed_from_u64(11);
    let mut n_played = 0;
    for name in
        ["tic-tac-toe", "rewriting", "stepping-stones", "entanglement", "concurrent-tic-tac-toe"]
    {
        let text = std::fs::read_to_string(folder.join(format!("{name}.toss"))).expect("it ships");
        // Words and signs, with the text between them.
        let mut pieces: Vec<&str> = Vec::new();
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let end = if first.is_alphanumeric() {
                rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len())
            } else {
                first.len_utf8()
            };
            pieces.push(&rest[..end]);
            rest = &rest[end..];
        }
        for _ in 0..60 {
            let mut spoilt = pieces.clone();
            for _ in 0..rng.random_range(1..4) {
                let (a, b) = (rng.random_range(0..spoilt.len()), rng.random_range(0..spoilt.len()));
                match rng.random_range(0..3) {
                    0 => drop(spoilt.remove(a)),
                    1 => spoilt.insert(a, pieces[b.min(pieces.len() - 1)]),
                    _ => spoilt.swap(a, b),
                }
            }
            let Some(arena) = check(source(&spoilt.concat())).arena else { continue };
            let mut options = Options {
                limits: Limits { steps: 200_000, ..Limits::default() },
                ..Options::default()
            };
            options.growth.elements = 30;
            let Ok(game) = Game::open(arena, options) else { continue };
            let mut position = game.start();
            position.play_out(&mut rng, 20);
            position.shape().players().for_each(|role| drop(position.payoff(role).to_string()));
            n_played += 1;
        }
    }
    assert!(n_played > 30, "only {n_played} of the mutated games could be played");
}
