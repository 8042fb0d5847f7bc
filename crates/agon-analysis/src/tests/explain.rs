//! The texts of explanations for a position of tic-tac-toe.

use std::sync::Arc;
use std::time::Duration;

use agon_game::Position as _;
use agon_gdl::interpreter::Interpreter;

use super::{compiled, shipped};
use crate::Analysis;
use crate::explain::{action_heuristic_text, evaluation_text, properties_text};
use crate::fuzzy::{FluentSet, FuzzyEvaluator, FuzzyOptions};

const TIME: Duration = Duration::from_secs(30);

/// Returns an analysis of tic-tac-toe, and the position in which x can complete a diagonal.
fn tic_tac_toe() -> (Analysis, Interpreter) {
    let game = shipped("tic-tac-toe");
    let analysis = Analysis::new(Arc::clone(&game), Some(Arc::new(compiled(&game))));
    let state = "(control xplayer) (cell 1 1 x) (cell 2 2 x) (cell 1 2 o) (cell 3 2 o) \
                 (cell 3 3 blank) (cell 1 3 blank) (cell 2 1 blank) (cell 2 3 blank) \
                 (cell 3 1 blank)";
    let parse = |text: String| game.parse(&text).unwrap_or_else(|| panic!("{text} is a fluent"));
    let texts = agon_gdl::read::split_terms(state).expect("the state is well-formed");
    let fluents = texts.into_iter().map(parse).collect();
    let mut position = game.start();
    position.go_to(&game.state(fluents));
    (analysis, position)
}

#[test]
fn properties_are_described_in_sentences() {
    let (analysis, _) = tic_tac_toe();
    let lines = properties_text(&analysis.properties(TIME));
    for wanted in [
        ("turns", "at most one player has a choice at a time (proved)"),
        ("sum", "payoffs add up to 100 at the end (proved)"),
    ] {
        assert!(
            lines.iter().any(|(title, text)| (*title, text.as_str()) == wanted),
            "no {wanted:?} in {lines:#?}"
        );
    }
    let start = "once true, always true: (cell 1 1 o), (cell 1 1 x)";
    assert!(
        lines.iter().any(|(title, text)| *title == "stays true" && text.starts_with(start)),
        "{lines:#?}"
    );
}

#[test]
fn the_evaluation_names_the_payoff_and_the_degrees() {
    let (analysis, position) = tic_tac_toe();
    let fuzzy = analysis.fuzzy(&FuzzyOptions::default(), TIME).expect("the goals can be evaluated");
    let mut evaluator = FuzzyEvaluator::new(&fuzzy);
    evaluator.set_fluents(FluentSet::Terms(position.state().fluents()));
    let lines = evaluation_text(&fuzzy, Some(&mut evaluator), 8);
    assert!(lines[0].starts_with("xplayer: estimated payoff "), "{lines:#?}");
    assert!(lines[1].starts_with("  condition of goal 100 (18 parts), degree of truth "));
    assert!(lines.iter().any(|line| line.contains("at least one of 8")), "{lines:#?}");
}

#[test]
fn the_best_move_comes_first_with_its_alternatives() {
    let (analysis, position) = tic_tac_toe();
    let heuristics = analysis
        .action_heuristics(Default::default(), TIME)
        .expect("the goals of tic-tac-toe are small");
    let lines = action_heuristic_text(&heuristics, &position, 8);
    assert_eq!(lines[1], "1.00  xplayer plays (mark 3 3)");
    assert_eq!(
        lines[2],
        "        reaches the condition of goal 100 if at least one of these holds now:"
    );
    assert_eq!(
        lines[3],
        "          not (cell 1 1 o) and (cell 1 1 x) and not (cell 2 2 o) and (cell 2 2 x)   [holds]"
    );
}
