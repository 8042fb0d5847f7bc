//! The texts of explanations, mostly for a position of tic-tac-toe.

use std::sync::Arc;
use std::time::Duration;

use agon_game::{Notation as _, Position as _};
use agon_gdl::interpreter::Interpreter;

use super::{compiled, shipped};
use crate::concepts::{HeuristicKind, LearnOptions};
use crate::explain::{
    ConceptView, action_heuristic_json, action_heuristic_text, concepts_text, evaluation_text,
    properties_text,
};
use crate::fuzzy::{FluentSet, FuzzyEvaluator, FuzzyOptions};
use crate::{Analysis, ConceptSource};

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
    let start = "once true, always true: (cell ?x ?y o), (cell ?x ?y x) (proved)";
    assert!(
        lines.iter().any(|(title, text)| *title == "stays true" && text == start),
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
    // One line is nearly complete, and one is lost for ever.
    let wanted = [
        "  goal 100 [0.128] at least one of these 8  (line 110):",
        "     [0.100] (cell 1 1 x) and (cell 2 2 x) hold, (cell 3 3 x) is missing  (line 73)",
        "(cell 1 2 x) and (cell 3 2 x) are missing; lost, because (cell 1 2 o) stays",
        "  goal 50 [0.863] if neither the condition of goal 100 nor that of goal 0 holds",
    ];
    for wanted in wanted {
        assert!(lines.iter().any(|line| line.contains(wanted)), "no `{wanted}` in {lines:#?}");
    }
    // The goals of the other role are those of the first.
    assert!(lines.iter().any(|line| line.ends_with("under the condition of goal 0 of xplayer")));
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
    assert!(lines.iter().any(|line| line.ends_with("… and 67 more like that [<0.001]")));
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

/// Returns what is said of the evaluation of a position of a shipped game.
fn evaluation_lines(name: &str, moves: usize) -> String {
    let game = shipped(name);
    let analysis = Analysis::new(Arc::clone(&game), Some(Arc::new(compiled(&game))));
    let fuzzy = analysis.fuzzy(&FuzzyOptions::default(), TIME).expect("the goals can be evaluated");
    let mut position = game.start();
    for _ in 0..moves {
        let roles: Vec<_> = position.shape().roles().collect();
        let joint: Vec<_> = roles.iter().map(|&role| position.legal_moves(role)[0]).collect();
        position.advance(&joint);
    }
    let mut evaluator = FuzzyEvaluator::new(&fuzzy);
    evaluator.set_fluents(FluentSet::Terms(position.state().fluents()));
    evaluation_text(&fuzzy, Some(&mut evaluator), 8).join("\n")
}

/// What explanations must say of a handful of games, and what they must not.
#[test]
fn evaluations_read_well() {
    // A double negation is said without it.
    let puzzle = evaluation_lines("eight-puzzle", 0);
    assert!(puzzle.contains("all 9 of these"), "{puzzle}");
    assert!(!puzzle.contains("not (cell"), "{puzzle}");
    // A place to be reached names the piece that is nearest.
    let race = evaluation_lines("breakthrough", 0);
    assert!(race.contains("the nearest is (pawn 1 2 white), 6 steps away"), "{race}");
    assert!(race.contains("(16 of 64 such facts hold"), "{race}");
    // The same condition is told once.
    assert!(race.contains("under the condition of goal 100 of white"), "{race}");
    // A condition that does not hold at all is not almost true.
    let bridge = evaluation_lines("blocker", 0);
    assert!(bridge.contains("goal 100 [0.100] (joined 4 ?y)  (does not hold"), "{bridge}");
    // A heading is followed by its parts, or names them itself.
    let pegs = evaluation_lines("chinese-checkers", 0);
    let indent = |line: &str| line.len() - line.trim_start().len();
    for (at, line) in pegs.lines().enumerate().filter(|(_, line)| line.contains(" of these")) {
        let has_parts = pegs.lines().nth(at + 1).is_some_and(|next| indent(next) > indent(line));
        assert!(has_parts || line.contains("shown above"), "`{line}` is vacuous in {pegs}");
    }
    for text in [puzzle, race, bridge, pegs] {
        for word in ["solutions", "e-", "parts)", "this must not hold", "all 2 of"] {
            assert!(!text.contains(word), "`{word}` in {text}");
        }
    }
}

/// Facts that a move uses up, such as the free place that it fills, say nothing about the goal.
#[test]
fn moves_do_not_boast_of_what_they_use_up() {
    let game = shipped("connect-four");
    let analysis = Analysis::new(Arc::clone(&game), Some(Arc::new(compiled(&game))));
    let heuristics = analysis.action_heuristics(Default::default(), TIME).expect("it is made");
    let properties = analysis.properties(TIME);
    let lines = action_heuristic_text(&heuristics, Some(&properties), &game.start(), 8);
    let text = lines.join("\n");
    assert!(!text.contains("(free"), "{text}");
    assert!(
        text.contains("(drop 4) leaves goal 100 3 facts away, in 7 ways, such as (disc 1 1 red)"),
        "{text}"
    );
}

/// Returns what is said of the moves after these steps of a shipped game.
fn move_lines(name: &str, steps: &[&str]) -> String {
    let game = shipped(name);
    let analysis = Analysis::new(Arc::clone(&game), Some(Arc::new(compiled(&game))));
    let heuristics = analysis.action_heuristics(Default::default(), TIME).expect("it is made");
    let properties = analysis.properties(TIME);
    let mut position = game.start();
    for step in steps {
        let roles: Vec<_> = position.shape().roles().collect();
        let joint = roles.iter().map(|&role| {
            let moves = position.legal_moves(role);
            let found = moves.iter().find(|m| moves.len() > 1 && position.move_text(m) == *step);
            *found.unwrap_or(&moves[0])
        });
        let joint: Vec<_> = joint.collect();
        position.advance(&joint);
    }
    action_heuristic_text(&heuristics, Some(&properties), &position, 8).join("\n")
}

/// What makes a move possible, such as the disc of the opponent below a dropped one, is no step
/// towards the goal, and two lines that need the same place are one threat.
#[test]
fn moves_are_credited_with_what_the_goal_asks_for_only() {
    let text = move_lines("connect-three", &["(drop 1)"]);
    assert!(text.contains("(drop 1)"), "{text}");
    assert!(!text.contains(" red) holds already"), "{text}");
    let drops =
        ["(drop 1)", "(drop 3)", "(drop 1)", "(drop 4)", "(drop 2)", "(drop 5)", "(drop 1)"];
    let text = move_lines("connect-four", &drops);
    let mut after_7 = text.lines().skip_while(|line| !line.contains("(drop 7)"));
    let first = after_7.next().expect("the move is described");
    let others = after_7.take_while(|line| line.trim_start().starts_with("it "));
    let threats = std::iter::once(first).chain(others);
    let threats: Vec<&str> = threats.filter(|line| line.contains("threatens (6 1)")).collect();
    assert_eq!(threats.len(), 1, "{text}");
    assert!(threats[0].contains("(3 1), (4 1) and (5 1) are yours already"), "{text}");
}

/// A move that cannot end the game with a goal does not rule the goal out.
#[test]
fn moves_before_the_last_one_do_not_rule_goals_out() {
    let text = move_lines("eight-queens", &[]);
    assert!(text.contains("cannot reach goal 100 at once, in any position"), "{text}");
}

/// A player that is ahead at the start of reversi has not reached a goal yet.
#[test]
fn goals_before_the_end_are_not_reached() {
    let text = move_lines("reversi-6x6", &[]);
    assert!(text.contains("meets the condition of goal 100, which counts when"), "{text}");
    assert!(!text.contains("reaches goal 100"), "{text}");
}

/// Scores are not places, so nothing is threatened, and chance has no aims.
#[test]
fn only_places_are_threatened() {
    for (name, folder) in [("dots-and-boxes", "gdl"), ("kuhn-poker", "gdl2")] {
        let path = super::folder().join(format!("{folder}/{name}.kif"));
        let game = super::game(&std::fs::read_to_string(path).expect("the game ships"));
        let analysis = Analysis::new(Arc::clone(&game), Some(Arc::new(compiled(&game))));
        let heuristics = analysis.action_heuristics(Default::default(), TIME).expect("it is made");
        let properties = analysis.properties(TIME);
        let lines = action_heuristic_text(&heuristics, Some(&properties), &game.start(), 8);
        let text = lines.join("\n");
        assert!(!text.is_empty() && !text.contains("threatens"), "{name}: {text}");
        match name {
            "kuhn-poker" => assert_eq!(text, "chance decides here"),
            _ => assert!(text.contains("needs (score left 9) for goal 100"), "{text}"),
        }
    }
}

/// Moves that differ only in the example are one line, and names the move of the example.
#[test]
fn symmetric_moves_share_a_line() {
    let text = move_lines("tic-tac-toe", &[]);
    let corners = "(mark 1 1), (mark 1 3), (mark 3 1), (mark 3 3): each leaves goal 100 2 facts \
                   away, in 3 ways, such as (cell 1 2 x) and (cell 1 3 x) after (mark 1 1)";
    assert!(text.contains(corners), "{text}");
    assert!(!text.contains("more move"), "{text}");
}

/// Degrees have as many digits as it takes to tell the moves apart.
#[test]
fn ratings_are_told_apart_by_their_degrees() {
    let text = move_lines("connect-four", &[]);
    let degrees: Vec<&str> =
        text.lines().filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0)).collect();
    let distinct: std::collections::BTreeSet<&str> = degrees.iter().copied().collect();
    assert!(degrees.len() >= 4 && distinct.len() == degrees.len(), "{text}");
}

/// Where several choose at once, nothing is certain that the others can undo.
#[test]
fn simultaneous_choices_are_named() {
    let text = move_lines("blocker", &[]);
    assert!(text.contains("several roles choose at the same time"), "{text}");
}

/// Two facts that must not hold are joined by words that a person would use.
#[test]
fn two_facts_are_joined_like_in_speech() {
    let text = evaluation_lines("chomp", 0);
    assert!(text.contains("neither (control first) nor (square 1 1): both hold"), "{text}");
    assert!(!text.contains("none of (control first) and"), "{text}");
}

/// A fact to which no path leads is not said to be near.
#[test]
fn no_fact_is_near_without_a_path() {
    let path = super::folder().join("gdl2/kuhn-poker.kif");
    let game = super::game(&std::fs::read_to_string(path).expect("the game ships"));
    let analysis = Analysis::new(Arc::clone(&game), Some(Arc::new(compiled(&game))));
    let fuzzy = analysis.fuzzy(&FuzzyOptions::default(), TIME).expect("the goals can be evaluated");
    let mut evaluator = FuzzyEvaluator::new(&fuzzy);
    evaluator.set_fluents(FluentSet::Terms(game.start().state().fluents()));
    let text = evaluation_text(&fuzzy, Some(&mut evaluator), 8).join("\n");
    assert!(text.contains("(node big_showdown)"), "{text}");
    assert!(!text.contains("the nearest is (node dealing))"), "{text}");
}

/// A table of scores is no relation of neighbours, and a disk and its peg are no place.
#[test]
fn boards_are_made_of_places() {
    let board = |name: &str| {
        let game = shipped(name);
        let analysis = Analysis::new(Arc::clone(&game), Some(Arc::new(compiled(&game))));
        let lines = properties_text(&analysis.properties(TIME));
        let boards = lines.into_iter().filter(|(label, _)| *label == "board");
        boards.map(|(_, text)| text).collect::<Vec<_>>()
    };
    let tour = board("knights-tour");
    assert_eq!(tour.len(), 1, "{tour:?}");
    assert!(tour[0].contains("related by") && !tour[0].contains("worth"), "{tour:?}");
    assert_eq!(board("hanoi"), [""; 0]);
    assert_eq!(board("missionaries"), [""; 0]);
}

/// A counter that the goal asks for is not left out: before it is there, nothing else helps.
#[test]
fn goals_of_a_later_step_are_not_near() {
    let moves = ["(move 2 3)", "(move 1 5)", "(move 3 4)", "(move 5 5)", "(move 4 3)"];
    let text = move_lines("knights-tour", &moves);
    assert!(text.contains("goal 100 to later steps"), "{text}");
    assert!(!text.contains("(visited"), "{text}");
}

/// The pieces of quarto belong to both players.
#[test]
fn shared_pieces_are_not_called_yours() {
    let moves = ["(give sdrh)", "(place 1 3)", "(give slss)", "(place 3 3)", "(give tlrh)"];
    let text = move_lines("quarto", &moves);
    assert!(!text.contains("yours") && text.contains("already"), "{text}");
}

/// Numbers that are nothing but small are left out, and with them most of the moves.
#[test]
fn far_goals_are_not_rated_in_detail() {
    let text = move_lines("clobber", &[]);
    assert!(text.contains("leave the goals far away; rated"), "{text}");
    assert!(!text.contains("e-") && !text.contains('['), "{text}");
    assert!(text.lines().count() <= 6, "{text}");
}

/// What is on one board is mirrored together, and what no move changes is no symmetry of play.
#[test]
fn symmetries_are_those_of_play() {
    let symmetries = |game: &Arc<agon_gdl::interpreter::Game>| -> Vec<String> {
        let analysis = Analysis::new(Arc::clone(game), Some(Arc::new(compiled(game))));
        let lines = properties_text(&analysis.properties(TIME));
        lines.into_iter().filter(|(title, _)| *title == "symmetry").map(|(_, text)| text).collect()
    };
    let four = symmetries(&shipped("connect-four"));
    assert!(
        four.iter().any(|text| text.contains("with free and disc mirrored in argument 1")),
        "{four:?}"
    );
    // The squares of the yard are facts, but no move depends on where they are or changes them.
    let yard = super::game(
        "(role robot) (init (square 1 1)) (init (square 1 2)) (init (square 1 3))
         (init (square 2 1)) (init (square 2 2)) (init (square 2 3))
         (init (square 3 1)) (init (square 3 2)) (init (square 3 3)) (init (at a))
         (<= (next (square ?x ?y)) (true (square ?x ?y)))
         (<= (legal robot (go ?q)) (true (at ?p)) (way ?p ?q))
         (<= (legal robot stay) (true (square ?x ?y)) (succ ?x ?z))
         (<= (next (at ?q)) (does robot (go ?q)))
         (<= (next (at ?p)) (true (at ?p)) (does robot stay))
         (way a b) (way b c) (way c d) (succ 1 2) (succ 2 3)
         (<= terminal (true (at d))) (<= (goal robot 100) (true (at d)))
         (<= (goal robot 0) (not (true (at d))))",
    );
    assert_eq!(symmetries(&yard), [""; 0]);
}

/// The first and the last value of a step counter stay by the nature of a counter.
#[test]
fn the_ends_of_a_step_counter_are_not_told_twice() {
    let lines = property_lines("eight-puzzle");
    assert!(lines.iter().any(|(title, _)| *title == "step counter"), "{lines:#?}");
    let stays = lines.iter().filter(|(title, _)| title.starts_with("stays"));
    assert!(stays.clone().all(|(_, text)| !text.contains("(step ")), "{lines:#?}");
}

/// Moves that can be made once are told if all moves of their name are such moves.
#[test]
fn only_whole_kinds_of_moves_are_made_once() {
    let once = |name: &str| {
        let lines = property_lines(name).into_iter();
        lines.filter(|(title, _)| *title == "made once").map(|(_, text)| text).collect::<Vec<_>>()
    };
    let marks = once("tic-tac-toe");
    assert_eq!(marks, ["xplayer and oplayer each play at most once: (mark ?x ?y) (proved)"]);
    let bites = once("chomp");
    assert!(
        bites.iter().all(|text| !text.contains("(bite 1") && !text.contains("other")),
        "{bites:?}"
    );
}

/// Of the sixteen pieces of quarto no two lie beside each other often enough to mean something.
#[test]
fn rare_concepts_are_not_told() {
    let told = |name: &str| {
        let game = shipped(name);
        let analysis = Analysis::new(Arc::clone(&game), Some(Arc::new(compiled(&game))));
        let kind = HeuristicKind::Concepts;
        let options = LearnOptions { kind, n_wins: 300, ..LearnOptions::default() };
        let learnt = analysis.concepts(&options, &ConceptSource::Own, TIME);
        let view = ConceptView { ternary: None, drawing: None, n_shown: 8 };
        concepts_text(&learnt, &game.start(), &view).join("\n")
    };
    let quarto = told("quarto");
    assert!(quarto.contains("no relation between two facts occurs in a tenth"), "{quarto}");
    let line = told("tic-tac-toe");
    assert!(line.contains("most often at the ends of the plays that were won:"), "{line}");
}
