use std::sync::Arc;

use agon_game::{Position, laws};
use agon_text::{Source, render};

use super::{Game, Interpreter, Options};
use crate::check::check;

/// A game from its text.
fn open(text: &str) -> Interpreter {
    let source = Arc::new(Source::new("test.toss", text));
    let checked = check(Arc::clone(&source));
    let arena = checked.arena.unwrap_or_else(|| panic!("{}", render(&checked.findings.0, &source, false)));
    Game::open(arena, Options::default()).unwrap_or_else(|finding| panic!("{}", finding.message)).start()
}

fn shipped(name: &str) -> Interpreter {
    let path = format!("{}/../../games/toss/{name}.toss", env!("CARGO_MANIFEST_DIR"));
    open(&std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}")))
}

/// All plays of some length.
fn perft(position: &mut Interpreter, depth: usize) -> u64 {
    if depth == 0 {
        return 1;
    }
    if position.is_terminal() {
        return 0;
    }
    let here = position.state().clone();
    let mut n = 0;
    for joint in agon_game::joint_moves(position) {
        position.advance(&joint);
        n += perft(position, depth - 1);
        position.go_to(&here);
    }
    n
}

#[test]
fn tic_tac_toe_has_its_plays() {
    let mut start = shipped("tic-tac-toe");
    assert_eq!([1, 2, 3].map(|depth| perft(&mut start, depth)), [9, 72, 504]);
    laws::check(&start, &laws::Plan { plays: 5, ..laws::Plan::default() }).unwrap_or_else(|v| panic!("{v}"));
}

#[test]
fn breakthrough_has_its_plays() {
    let mut start = shipped("breakthrough");
    assert_eq!([1, 2].map(|depth| perft(&mut start, depth)), [22, 484]);
}
