use std::sync::Arc;

use agon_game::laws::Plan;
use agon_game::lockstep::Agreement;
use agon_text::{Severity, Source, render};

use super::{ToGdlError, ToGdlLimits, Translation, to_gdl};

pub(super) fn toss(name: &str, text: &str) -> Arc<agon_toss::interpreter::Game> {
    let source = Arc::new(Source::new(name, text));
    let checked = agon_toss::check::check(Arc::clone(&source));
    let arena =
        checked.arena.unwrap_or_else(|| panic!("{}", render(&checked.findings.0, &source, false)));
    agon_toss::interpreter::Game::open(arena, agon_toss::interpreter::Options::default())
        .unwrap_or_else(|finding| panic!("{}", finding.message))
}

/// Opens the rulesheet. The checker must not report a finding of severity `worst` or above.
pub(super) fn gdl(translation: &Translation, worst: Severity) -> Arc<agon_gdl::interpreter::Game> {
    let source = Arc::new(Source::new("translated.kif", translation.text.as_str()));
    let checked = agon_gdl::check::check(Arc::clone(&source));
    let bad: Vec<_> =
        checked.findings.0.into_iter().filter(|finding| finding.severity >= worst).collect();
    assert!(bad.is_empty(), "{}\n{}", render(&bad, &source, false), translation.text);
    let rules = checked.rules.expect("there are no errors");
    agon_gdl::interpreter::Game::open(rules, agon_gdl::interpreter::Options::default())
        .unwrap_or_else(|finding| panic!("{}", render(&[*finding], &source, false)))
}

/// Translates a game and compares both in lockstep.
fn compared(name: &str, text: &str, plan: Plan) -> (Translation, Agreement) {
    let game = toss(name, text);
    let translation =
        to_gdl(game.arena(), ToGdlLimits::default()).unwrap_or_else(|why| panic!("{name}: {why}"));
    let played = translation.compare(&game, &gdl(&translation, Severity::Warning), &plan);
    let agreement = played.unwrap_or_else(|why| panic!("{name}: {why}\n{}", translation.text));
    (translation, agreement)
}

fn shipped(name: &str) -> String {
    let path = format!("{}/../../games/toss/{name}.toss", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn translations_of_shipped_games_agree() {
    // Numbers of plays and steps, chosen such that the test takes a few seconds.
    let games = [
        ("tic-tac-toe", 20, 20),
        ("concurrent-tic-tac-toe", 20, 20),
        ("connect-four", 5, 50),
        ("breakthrough", 3, 60),
        ("pawn-whopping", 5, 60),
        ("entanglement", 20, 40),
        ("stepping-stones", 20, 60),
        ("checkers", 2, 40),
        ("gomoku", 1, 12),
    ];
    for (name, plays, max_steps) in games {
        let (_, agreement) = compared(name, &shipped(name), Plan { plays, max_steps, seed: 1 });
        assert_eq!(agreement.plays, plays);
        println!("{name}: {agreement:?}");
    }
}

#[test]
fn constants_become_the_words_of_their_elements() {
    let road = include_str!("../../../../tests/constants/road.toss");
    let (_, agreement) = compared("road", road, Plan { plays: 20, max_steps: 12, seed: 1 });
    assert!(agreement.steps() > 100, "{agreement:?}");
    let tree = include_str!("../../../../tests/constants/tree.toss");
    let (_, agreement) = compared("tree", tree, Plan { plays: 20, max_steps: 6, seed: 1 });
    assert!(agreement.steps() > 40, "{agreement:?}");
}

#[test]
fn translation_of_chess_agrees() {
    let (_, agreement) =
        compared("chess", &shipped("chess"), Plan { plays: 1, max_steps: 4, seed: 1 });
    assert_eq!(agreement.steps(), 4);
}

#[test]
fn created_elements_get_names_of_the_pool() {
    let plan = Plan { plays: 60, max_steps: 10, seed: 1 };
    let (translation, agreement) = compared("rewriting", &shipped("rewriting"), plan);
    assert!(agreement.ended > 50, "{agreement:?}");
    assert!(
        translation.text.contains("New elements are called NAME_1 to NAME_16"),
        "{}",
        translation.text
    );
}

/// A post-condition of simultaneous moves is about their joint result, and GDL has only legality.
#[test]
fn post_conditions_of_simultaneous_moves_are_rejected() {
    let game = toss(
        "apart.toss",
        "PLAYERS X, O
         RULE MarkP: [a | - | -] -> [a | P(a) | -] emb P post not ex z (P(z) and Q(z))
         RULE MarkQ: [a | - | -] -> [a | Q(a) | -] emb Q
         LOC 0 { PLAYER X { PAYOFF 0 MOVES [MarkP -> 0] } PLAYER O { PAYOFF 0 MOVES [MarkQ -> 0] } }
         START [a, b | P:1 {}; Q:1 {} | -]",
    );
    let error = to_gdl(game.arena(), ToGdlLimits::default()).expect_err("a post-condition");
    assert_eq!(error, ToGdlError::Construct { what: "post-conditions of simultaneous moves" });
}

#[test]
fn post_conditions_of_rules_that_change_the_universe_are_rejected() {
    let text = shipped("rewriting").replace(
        "pre not Triangle() and Sum (x | Cell(x) : 1) > 1",
        "pre not Triangle() post ex x Cell(x)",
    );
    let game = toss("rewriting.toss", &text);
    let error = to_gdl(game.arena(), ToGdlLimits::default()).expect_err("a post-condition");
    assert_eq!(error, ToGdlError::ChangingUniverse { rule: "Cut".to_owned() });
}
