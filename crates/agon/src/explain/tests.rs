//! What is said of positions of shipped games.

use std::time::Duration;

use agon_game::{Notation, Position as _};
use agon_gdl::interpreter::Interpreter;

use super::position::{View, describe};
use crate::game::Game;

/// Makes moves, each of the only role with a choice.
fn play<P: Notation>(position: &mut P, moves: &[&str]) {
    for text in moves {
        let choosers: Vec<_> = position.choosers().collect();
        let joint: Vec<P::Move> = position
            .shape()
            .roles()
            .map(|role| match choosers.contains(&role) {
                true => position.parse_move(role, text).unwrap_or_else(|| panic!("{text}")),
                false => position.legal_moves(role)[0].clone(),
            })
            .collect();
        position.advance(&joint);
    }
}

/// Returns what is said of the position of a GDL game after these moves.
fn lines_after(name: &str, moves: &[&str]) -> Vec<String> {
    let game = Game::open(name).expect("the game ships");
    let rules = game.gdl().expect("it is in GDL");
    let mut position: Interpreter = rules.start();
    play(&mut position, moves);
    let layout = crate::layout::find_gdl(rules, None);
    let (section, _) = describe(&position, &layout, View::Open, None);
    section.lines.into_iter().map(|line| line.text).collect()
}

fn says(lines: &[String], wanted: &str) {
    assert!(lines.iter().any(|line| line == wanted), "no `{wanted}` in {lines:#?}");
}

#[test]
fn wins_and_threats_are_played_out() {
    let name = "tic-tac-toe";
    // One mark completes the diagonal.
    let threat = lines_after(name, &["(mark 1 1)", "(mark 2 1)", "(mark 2 2)"]);
    says(&threat, "it is the turn of oplayer, which has 6 moves");
    says(&threat, "xplayer threatens to win with (mark 3 3); only (mark 3 3) prevents it");
    let missed = lines_after(name, &["(mark 1 1)", "(mark 2 1)", "(mark 2 2)", "(mark 3 1)"]);
    says(&missed, "xplayer wins at once with (mark 3 3)");
    // Each of two marks makes two threats.
    let moves = ["(mark 1 1)", "(mark 2 1)", "(mark 2 2)", "(mark 3 3)"];
    let fork = "xplayer wins by force with (mark 1 2) or (mark 1 3): whatever the answer, the move \
                after it wins";
    says(&lines_after(name, &moves), fork);
    let moves = [&moves[..], &["(mark 1 2)"]].concat();
    let lost = lines_after(name, &moves);
    says(&lost, "whatever oplayer does, xplayer can win at once");
    let moves = [&moves[..], &["(mark 1 3)", "(mark 3 2)"]].concat();
    says(&lines_after(name, &moves), "the game has ended: xplayer gets 100 and oplayer gets 0");
    // Nothing is near at the start.
    let start = lines_after(name, &[]);
    says(
        &start,
        "xplayer cannot win within its next two moves by force, and no move lets oplayer win at once",
    );
}

#[test]
fn a_position_is_drawn() {
    let lines = lines_after("connect-four", &["(drop 3)", "(drop 3)"]);
    let board: Vec<&String> = lines.iter().filter(|line| line.contains('.')).collect();
    assert_eq!(board.len(), 6, "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("(disc")), "{lines:#?}");
}

#[test]
fn steps_of_several_roles_are_counted() {
    let pennies = lines_after("matching-pennies", &[]);
    says(&pennies, "the game ends with this step, whatever they choose");
    assert!(pennies.iter().any(|line| line.ends_with("choose at the same time")), "{pennies:#?}");
}

/// One player has no opponent who could win.
#[test]
fn a_single_player_is_told_the_moves_that_end_the_game() {
    let queens = lines_after("hanoi", &[]);
    assert!(queens.iter().any(|line| line == "player has 2 moves"), "{queens:#?}");
    assert!(!queens.iter().any(|line| line.contains("win")), "{queens:#?}");
}

/// The position is described in the same words in both languages.
#[test]
fn rewriting_games_are_played_out_as_well() {
    let game = Game::open("toss/tic-tac-toe").expect("the game ships");
    let rules = game.toss().expect("it is a structure rewriting game");
    let mut position = rules.start();
    let own: Vec<String> = {
        let role = position.choosers().next().expect("a player has a choice");
        position.legal_moves(role).iter().map(|m| position.move_text(m)).collect()
    };
    play(&mut position, &[&own[0]]);
    let layout = crate::layout::find_toss(rules);
    let (section, soon) = describe(&position, &layout, View::Open, None);
    let has_turn = section.lines.iter().any(|line| line.text.ends_with("which has 8 moves"));
    assert!(has_turn, "{:#?}", section.lines);
    assert_eq!(soon["moves"].as_array().map(Vec::len), Some(8));
    assert_eq!(soon["answers_known"], true);
}

/// Chance alone hides nothing from a player.
#[test]
fn only_hidden_positions_are_those_of_the_referee() {
    let says_so = |name: &str| {
        let game = Game::open(name).expect("the game ships");
        let options = super::ExplainOptions { time: Duration::from_secs(2), ..Default::default() };
        let explanation = game.explain_with(&game.start(), &options).expect("it is reached");
        let first = &explanation.sections[0];
        assert_eq!(first.title, "The position");
        first.lines.iter().any(|line| line.text.contains("the referee sees"))
    };
    assert!(says_so("kuhn-poker") && !says_so("dice-race") && !says_so("tic-tac-toe"));
}

/// The terms of a rewriting game say how to read them.
#[test]
fn terms_of_rewriting_games_can_be_read() {
    let text = |name: &str| {
        let game = Game::open(name).expect("the game ships");
        game.explain(&game.start()).expect("it is reached").to_string()
    };
    let lines = text("toss/tic-tac-toe");
    assert!(lines.contains("the number before it is what it adds here"), "{lines}");
    // The goals of checkers only ask who is left without a move.
    let lines = text("toss/checkers");
    assert!(lines.contains("if play ended here, whatever the board"), "{lines}");
}
