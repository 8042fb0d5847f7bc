//! Constants are parsed, printed, and denote the same element in every engine.

use std::sync::Arc;

use agon_text::{Source, render};
use agon_toss::check::check;
use agon_toss::interpreter::{Game, Options};
use agon_toss::print::print_sheet;

use super::engines::{Compared, Plan, compare};

/// Constants in every place where a formula or term takes an element: atoms, equations, closures,
/// fixed points, `let`, function values, element numbers.
const ROAD: &str = include_str!("../../../../tests/constants/road.toss");

/// Elements are created and copied, and the constant keeps naming the element that keeps its name.
const TREE: &str = include_str!("../../../../tests/constants/tree.toss");

fn open(text: &str) -> Arc<Game> {
    let source = Arc::new(Source::new("test.toss", text));
    let checked = check(Arc::clone(&source));
    assert!(checked.findings.0.is_empty(), "{}", render(&checked.findings.0, &source, false));
    let arena = checked.arena.expect("the game is correct");
    Game::open(arena, Options::default()).unwrap_or_else(|finding| panic!("{}", finding.message))
}

fn played(text: &str, n_plays: u64) -> Compared {
    let plan = Plan { seeds: 0..n_plays, max_steps: 12, naive_every: 1, naive_steps: 1_000_000 };
    let compared = compare(&open(text), &plan, |_| ());
    assert!(compared.n_too_long == 0 && compared.n_naive > 0, "{compared:?}");
    compared
}

#[test]
fn all_engines_agree_on_constants() {
    let compared = played(ROAD, 30);
    assert!(compared.n_states > 150 && compared.n_by_circuit == compared.n_states, "{compared:?}");
}

#[test]
fn constants_survive_changes_of_the_universe() {
    let compared = played(TREE, 20);
    assert!(compared.n_states > 40, "{compared:?}");
}

#[test]
fn constants_survive_printing() {
    for text in [ROAD, TREE] {
        let game = open(text);
        let printed = print_sheet(game.arena().sheet());
        let again = open(&printed);
        assert_eq!(print_sheet(again.arena().sheet()), printed);
        let [before, after] = [&game, &again].map(|game| {
            let start = game.arena().start();
            let named = start.vocabulary().constants().map(|constant| {
                let element = start.constant(constant).expect("every constant names an element");
                (
                    start.vocabulary().constant_name(constant).to_string(),
                    start.name(element).to_owned(),
                )
            });
            let rules: Vec<String> =
                game.arena().rules().iter().map(|rule| rule.condition.to_string()).collect();
            (named.collect::<Vec<_>>(), rules)
        });
        assert_eq!(before, after);
        assert!(!before.0.is_empty());
    }
}

/// A name denotes its binder first, then the constant. Without constants there is no fourth part.
#[test]
fn unbound_names_denote_constants() {
    let rules = |start: &str| {
        let text = format!(
            "PLAYERS X RULE Mark: [x | - | -] -> [x | P(x) | -] emb P pre not P(home) \
             LOC 0 {{ PLAYER X {{ PAYOFF 0 MOVES [Mark -> 0] }} }} START {start}"
        );
        let checked = check(Arc::new(Source::new("test.toss", text)));
        let codes: Vec<&str> = checked.findings.0.iter().map(|finding| finding.code).collect();
        (codes, checked.arena.map(|arena| print_sheet(arena.sheet())))
    };
    let (codes, printed) = rules("[a, b | P:1 {} | - | home = b]");
    assert!(codes.is_empty(), "{codes:?}");
    assert!(printed.expect("the game is correct").contains("START [a, b | P:1 {} | - | home = b]"));
    let (codes, printed) = rules("[a, b | P:1 {} | - | -]");
    assert_eq!((codes, printed), (vec!["toss-free-variable"], None));
}
