//! The texts of explanations, mostly for a position of tic-tac-toe.

use std::sync::Arc;
use std::time::Duration;

use agon_game::Position as _;
use agon_gdl::interpreter::Interpreter;

use super::{compiled, shipped};
use crate::Analysis;
use crate::explain::{
    action_heuristic_json, action_heuristic_text, evaluation_text, properties_text,
};
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
fn moves_are_described_by_what_they_reach_and_threaten() {
    let (analysis, position) = tic_tac_toe();
    let heuristics = analysis
        .action_heuristics(Default::default(), TIME)
        .expect("the goals of tic-tac-toe are small");
    let properties = analysis.properties(TIME);
    let lines = action_heuristic_text(&heuristics, Some(&properties), &position, 8);
    assert!(lines[0].starts_with("the 5 moves of xplayer, rated from 1.00"), "{lines:#?}");
    assert!(lines[1].starts_with("1.00 ["), "{lines:#?}");
    assert!(
        lines[1].ends_with("(mark 3 3) reaches goal 100: (1 1) and (2 2) are yours already"),
        "{lines:#?}"
    );
    // The first column has one mark of x, the second row has one, and the third row is lost.
    let at = lines.iter().position(|line| line.contains("(mark 2 1)")).expect("a legal move");
    let of_move = lines[at..at + 2].join(" ");
    assert!(of_move.contains("threatens (3 1): (1 1) is yours already"), "{lines:#?}");
    assert!(of_move.contains("threatens (2 3): (2 2) is yours already"), "{lines:#?}");
    // The diagonal is threatened already, whatever the move.
    assert!(!of_move.contains("(3 3)"), "{lines:#?}");
    // Nothing is said of marks of the opponent, which are implied, nor of lines that are dead.
    let text = lines.join("\n");
    assert!(!text.contains(" o)") && !text.contains("not ") && !text.contains("(3 2)"), "{text}");
}

/// At the start of breakthrough no move comes closer to the last row than another.
#[test]
fn moves_that_are_alike_are_one_sentence() {
    let game = shipped("breakthrough");
    let analysis = Analysis::new(Arc::clone(&game), Some(Arc::new(compiled(&game))));
    let heuristics = analysis.action_heuristics(Default::default(), TIME).expect("it is small");
    let properties = analysis.properties(TIME);
    let lines = action_heuristic_text(&heuristics, Some(&properties), &game.start(), 8);
    assert!(lines[0].starts_with("all 22 moves of white are alike: each of them"), "{lines:#?}");
    assert!(lines.len() <= 6, "{lines:#?}");
}

/// The four first moves of othello are symmetric. Before, the scaling by state made one of them
/// worth 1.00 and the others 0.00.
#[test]
fn symmetric_moves_have_equal_values() {
    let game = shipped("othello");
    let analysis = Analysis::new(Arc::clone(&game), Some(Arc::new(compiled(&game))));
    let heuristics = analysis.action_heuristics(Default::default(), TIME).expect("it is made");
    assert!(!heuristics.knowledge.symmetries.is_empty(), "the board of othello is symmetric");
    let json = action_heuristic_json(&heuristics, &game.start());
    let moves = json["moves"].as_array().expect("a list of moves");
    assert_eq!(moves.len(), 4);
    let value = |at: usize, key: &str| moves[at][key].as_f64().expect("a number");
    for at in 1..4 {
        let difference = (value(at, "raw") - value(0, "raw")).abs();
        assert!(difference < 1e-12, "{}", json["moves"]);
        assert!((value(at, "value") - value(0, "value")).abs() < 1e-12, "{}", json["moves"]);
    }
}

/// Returns the lines about the properties of a shipped game.
fn property_lines(name: &str) -> Vec<(&'static str, String)> {
    let game = shipped(name);
    let analysis = Analysis::new(Arc::clone(&game), Some(Arc::new(compiled(&game))));
    properties_text(&analysis.properties(TIME))
}

#[test]
fn things_of_roles_are_not_boards() {
    let lines = property_lines("dots-and-boxes");
    let boards: Vec<&str> = lines
        .iter()
        .filter(|(title, _)| *title == "board")
        .map(|(_, text)| text.as_str())
        .collect();
    assert!(boards.iter().any(|text| text.contains("of box form a board of 3 by 3")), "{boards:?}");
    assert!(!boards.iter().any(|text| text.contains(" score ")), "{boards:?}");
}

#[test]
fn chance_observations_are_left_out() {
    for name in ["eight-puzzle", "dots-and-boxes"] {
        for (title, text) in property_lines(name) {
            let is_persistence = title == "stays true" || title == "stays false";
            assert!(!is_persistence || text.ends_with("(proved)"), "{name}: {text}");
            assert!(!text.contains("always one ("), "{name}: {text}");
        }
    }
}

#[test]
fn goals_that_are_single_facts_take_one_line() {
    let game = shipped("dots-and-boxes");
    let analysis = Analysis::new(Arc::clone(&game), Some(Arc::new(compiled(&game))));
    let fuzzy = analysis.fuzzy(&FuzzyOptions::default(), TIME).expect("the goals can be evaluated");
    let mut evaluator = FuzzyEvaluator::new(&fuzzy);
    evaluator.set_fluents(FluentSet::Terms(game.start().state().fluents()));
    let lines = evaluation_text(&fuzzy, Some(&mut evaluator), 8);
    assert_eq!(lines.len(), 4, "{lines:#?}");
    assert!(
        lines[1].ends_with("; now (score left 0) holds, which is goal 0")
            && lines[1].contains("100 if (score left 9)"),
        "{lines:#?}"
    );
}

#[test]
fn conditions_are_shown_without_the_word_true_and_alike_ones_once() {
    let game = shipped("connect-four");
    let analysis = Analysis::new(Arc::clone(&game), Some(Arc::new(compiled(&game))));
    let fuzzy = analysis.fuzzy(&FuzzyOptions::default(), TIME).expect("the goals can be evaluated");
    let mut evaluator = FuzzyEvaluator::new(&fuzzy);
    evaluator.set_fluents(FluentSet::Terms(game.start().state().fluents()));
    let lines = evaluation_text(&fuzzy, Some(&mut evaluator), 8);
    assert!(lines.iter().any(|line| line.ends_with("… and 67 more, all of the same degree")));
    assert!(lines.iter().all(|line| !line.contains("(true ")), "{lines:#?}");
}

#[test]
fn what_is_nobodys_is_not_called_yours() {
    let game = shipped("chomp");
    let analysis = Analysis::new(Arc::clone(&game), Some(Arc::new(compiled(&game))));
    let heuristics = analysis
        .action_heuristics(crate::regression::HeuristicRequest::default(), TIME)
        .expect("the goals can be regressed");
    let properties = analysis.properties(TIME);
    let lines = action_heuristic_text(&heuristics, Some(&properties), &game.start(), 8);
    let text = lines.join("\n");
    assert!(!text.contains("yours"), "{text}");
    assert!(text.contains("and 23 more: each avoids goal 0"), "{text}");
}
