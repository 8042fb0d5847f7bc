//! Reports have the keys and the contents of the commands of the same names.

use std::sync::Arc;
use std::time::Duration;

use agon_game::Budget;
use agon_game::laws::Plan;
use agon_search::solve::HiddenGames;
use agon_text::{Severity, Source};
use serde_json::json;

use super::{CheckPlays, Target, TranslateOptions, check, finding_json, solution, translate, why};
use crate::open::Language;
use crate::{Game, open};

#[test]
fn findings_have_places() {
    let text = "(role robot)\n(init (at 1))\n(legal robot go)\n\
                (<= (next (at ?m)) (does robot go))\n(goal robot 0)\nterminal\n";
    let source = Arc::new(Source::new("bad.kif", text));
    let findings = check(&source, CheckPlays::default());
    let errors: Vec<_> = findings.iter().filter(|f| f.severity == Severity::Error).collect();
    assert_eq!(errors.len(), 1);
    let finding = finding_json(errors[0], &source);
    assert_eq!((&finding["code"], &finding["line"]), (&json!("unsafe-variable"), &json!(4)));
}

#[test]
fn sentences_are_proved_or_refuted() {
    let game = Game::open("tic-tac-toe").expect("it ships");
    let mut position = game.start();
    let holds = why(&position, "(legal xplayer (mark 1 1))", None).expect("it is a sentence");
    assert_eq!(holds["holds"], true);
    position.play("(mark 1 1)").expect("legal");
    let fails = why(&position, "(legal oplayer (mark 1 1))", None).expect("it is a sentence");
    assert_eq!(fails["holds"], false);
    let does = ["noop".to_owned(), "(mark 2 2)".to_owned()];
    let next = why(&position, "(next (cell 2 2 o))", Some(&does)).expect("with a joint move");
    assert_eq!(next["holds"], true);
    assert!(why(&position, "(next (cell 2 2 o))", None).is_err());
    assert!(why(&position, "(next", None).is_err());
    let toss = Game::open("toss/tic-tac-toe").expect("it ships");
    let answer = why(&toss.start(), "(Cross a1)", None).expect("it is a move");
    assert_eq!(answer["holds"], true);
}

#[test]
fn games_are_solved_from_any_position() {
    let game = Game::open("tic-tac-toe").expect("it ships");
    let mut position = game.start();
    let solve = |position: &crate::Position, budget: Budget| {
        solution(position, &budget, 64, HiddenGames::Refuse).expect("it can be reached")
    };
    let drawn = solve(&position, Budget::default());
    assert_eq!(drawn["values"], json!({"xplayer": 50.0, "oplayer": 50.0}));
    for text in ["(mark 1 1)", "(mark 2 1)", "(mark 2 2)", "(mark 3 1)"] {
        position.play(text).expect("legal");
    }
    let won = solve(&position, Budget::default());
    assert_eq!(won["values"]["xplayer"], 100.0);
    let unsolved = solve(&Game::open("othello").expect("it ships").start(), Budget::nodes(10));
    assert_eq!(unsolved["solved"], false);
}

#[test]
fn rules_are_translated() {
    let time = Duration::from_secs(60);
    let options = TranslateOptions { time, horizon: 9, ..TranslateOptions::default() };
    let gdl = open::source("tic-tac-toe").expect("it ships");
    let toss = open::source("toss/tic-tac-toe").expect("it ships");
    for (source, target, part) in [
        (&gdl, Target::Infix, "role(xplayer)"),
        (&gdl, Target::Dot, "digraph"),
        (&gdl, Target::Asp, ":-"),
        (&toss, Target::Gdl, "(role "),
        (&toss, Target::Infix, "role("),
        (&toss, Target::Dot, "digraph"),
        (&toss, Target::Toss, "RULE"),
    ] {
        let text = translate(source, target, &options).expect("it can be expressed").text;
        assert!(text.contains(part), "{target:?}: {text}");
    }
    let compare = Some(Plan { seed: 1, plays: 3, max_steps: 20 });
    let compared = TranslateOptions { compare, ..options };
    let made = translate(&toss, Target::Gdl, &compared).expect("it can be expressed");
    assert_eq!(made.agreement.map(|agreement| agreement.plays), Some(3));
    assert!(Target::Gdl.is_game(Language::Toss) && !Target::Gdl.is_game(Language::Gdl));
    assert!(Target::named("latin").is_none());
}
