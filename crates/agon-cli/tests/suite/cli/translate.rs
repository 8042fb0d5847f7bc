//! `agon translate`: the result can be read, plays the same, and is valid for other tools.

use std::process::{Command, Stdio};

use agon_game::{Notation as _, Position as _, Role};
use serde_json::Value;

use super::run::agon;
use super::{COIN, Scratch, games, json};

/// Returns all shipped structure rewriting games.
const SHIPPED: [&str; 13] = [
    "breakthrough",
    "checkers",
    "chess",
    "concurrent-tic-tac-toe",
    "connect-five",
    "connect-four",
    "entanglement",
    "gomoku",
    "gomoku-19x19",
    "pawn-whopping",
    "rewriting",
    "stepping-stones",
    "tic-tac-toe",
];

#[test]
fn structure_rewriting_games_become_rulesheets_without_findings() {
    let scratch = Scratch::new("translate");
    for name in SHIPPED {
        let path = scratch.path(&format!("{name}.kif")).to_string_lossy().into_owned();
        let game = format!("toss/{name}");
        let run = agon(&[
            "translate",
            &game,
            "--to",
            "gdl",
            "--output",
            &path,
            "--check",
            "2",
            "--max-steps",
            "6",
            "--json",
        ]);
        let report = json(&run.succeeds());
        assert_eq!(report["check"]["plays"], 2, "{report}");
        assert_eq!(report["check"]["alike"], true, "{report}");
        let checked = agon(&["check", &path]).succeeds();
        assert!(checked.out.contains("no errors, no warnings"), "{name}: {}", checked.out);
    }
}

/// Recordings of the original game replay on its translation to GDL.
#[test]
fn recorded_plays_are_replayed_by_the_translation() {
    for name in SHIPPED {
        let folder = games::root().join("games/toss");
        let arena = agon_toss::check::check(games::source(&folder.join(format!("{name}.toss"))))
            .arena
            .expect("shipped games are fine");
        let translation =
            agon_translate::to_gdl::to_gdl(&arena, agon_translate::to_gdl::ToGdlLimits::default())
                .unwrap_or_else(|why| panic!("{name}: {why}"));
        let source = agon_text::Source::new("translated.kif", translation.text.as_str());
        let game = games::open(source.into()).unwrap_or_else(|why| panic!("{name}: {why}"));
        let text =
            std::fs::read_to_string(folder.join(format!("{name}.trace.json"))).expect("it ships");
        let trace: Value = serde_json::from_str(&text).expect("it is JSON");
        let mut n_steps = 0;
        for play in trace["plays"].as_array().expect("plays").iter().take(1) {
            let mut position = game.start();
            // The beginning of a long play is enough.
            for step in play["steps"].as_array().expect("steps").iter().take(30) {
                let mut joint = Vec::new();
                for (role, recorded) in
                    step["legal"].as_array().expect("legal moves").iter().enumerate()
                {
                    let legal = position.legal_moves(Role::new(role));
                    let mut texts: Vec<String> = legal
                        .iter()
                        .map(|m| translation.toss_move(&position.move_text(m)))
                        .collect();
                    texts.sort();
                    texts.dedup();
                    let recorded: Vec<&str> = recorded
                        .as_array()
                        .expect("a list")
                        .iter()
                        .filter_map(Value::as_str)
                        .collect();
                    assert_eq!(texts, recorded, "{name}, step {n_steps}");
                    let chosen = step["move"][role].as_str().expect("a move");
                    let m = position.parse_move(Role::new(role), &translation.gdl_move(chosen));
                    joint.push(m.unwrap_or_else(|| panic!("{name}: {chosen} is not legal")));
                }
                position.advance(&joint);
                n_steps += 1;
            }
        }
        assert!(n_steps > 3, "{name} has a trace");
    }
}

#[test]
fn rulesheets_are_written_in_both_syntaxes() {
    let scratch = Scratch::new("translate-syntax");
    let coin = scratch.file("coin.kif", COIN);
    let infix = agon(&["translate", &coin, "--to", "infix"]).succeeds().out;
    assert!(infix.contains("legal(chooser,call(heads)) :- true(open)"), "{infix}");
    let infix = scratch.file("coin.infix", infix);
    let back = agon(&["translate", &infix, "--to", "kif"]).succeeds().out;
    // Variables are capitalised in infix.
    let plain = agon(&["translate", &coin, "--to", "gdl"]).succeeds().out;
    assert_eq!(back.to_lowercase(), plain.to_lowercase());
    let through = agon(&["translate", "toss/tic-tac-toe", "--to", "infix"]).succeeds().out;
    assert!(through.contains("role("), "{through}");
}

#[test]
fn graphs_are_valid_for_graphviz() {
    let rules = agon(&["translate", "tic-tac-toe", "--to", "dot"]).succeeds().out;
    let arena = agon(&["translate", "toss/stepping-stones", "--to", "dot"]).succeeds().out;
    assert!(rules.starts_with("digraph") && rules.contains("\"fluent cell/3\" -> "), "{rules}");
    assert!(arena.contains("shape=diamond") && arena.contains("label=\"1/6\""), "{arena}");
    for text in [&rules, &arena] {
        given_to("dot", &["-Tsvg"], text, &[0]);
    }
}

#[test]
fn logic_programs_are_valid_for_clingo() {
    // Exit codes of clingo: 10 and 30 mean satisfiable, 20 unsatisfiable.
    let puzzle =
        agon(&["translate", "eight-puzzle", "--to", "asp", "--horizon", "3"]).succeeds().out;
    assert!(
        puzzle.contains("#const horizon=3.")
            && puzzle.contains("1 { does(R,M,T) : legal(R,M,T) } 1")
    );
    given_to("clingo", &["-", "1", "--warn=no-atom-undefined"], &puzzle, &[10, 30]);
    let cross = agon(&["translate", "toss/tic-tac-toe", "--to", "asp"]).succeeds().out;
    given_to("clingo", &["-", "1", "--warn=no-atom-undefined"], &cross, &[10, 30]);
}

/// Runs another tool on a text, if it is installed.
fn given_to(tool: &str, arguments: &[&str], text: &str, fine: &[i32]) {
    let child = Command::new(tool)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: there is no `{tool}` here");
        return;
    };
    let mut input = child.stdin.take().expect("it was piped");
    std::io::Write::write_all(&mut input, text.as_bytes()).expect("the tool reads");
    drop(input);
    let code = child.wait().expect("the tool ends").code();
    assert!(code.is_some_and(|code| fine.contains(&code)), "{tool} ended with {code:?} on\n{text}");
}

#[test]
fn a_refused_translation_has_a_hint() {
    let scratch = Scratch::new("translate-refused");
    let path = games::root().join("games/toss/rewriting.toss");
    let text = std::fs::read_to_string(path).expect("it ships");
    let text =
        text.replace("pre not Triangle() and Sum (x | Cell(x) : 1) > 1", "post ex x Cell(x)");
    let game = scratch.file("posted.toss", text);
    let universe = agon(&["translate", &game, "--to", "gdl"]).fails_with(1);
    assert!(
        universe.err.contains("the rule `Cut` creates") && universe.err.contains("hint:"),
        "{}",
        universe.err
    );
    agon(&["translate", "tic-tac-toe", "--to", "kif", "--check", "3"])
        .complains(2, "hint: check `--to toss`");
    agon(&["translate", "tic-tac-toe", "--to", "prolog"])
        .complains(2, "possible values: toss, gdl");
}
