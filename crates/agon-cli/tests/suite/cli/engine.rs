//! `agon engine`: calls and answers, errors, and the examples in other languages.

use std::process::Command;

use serde_json::{Value, json};

use super::super::games::{self, Scratch};
use super::run::{agon, agon_reading};

/// Makes calls and returns the answers.
fn answers(calls: &[Value]) -> Vec<Value> {
    let input: String = calls.iter().map(|call| format!("{call}\n")).collect();
    let run = agon_reading(&["engine"], &input).succeeds();
    let answers: Vec<Value> = run
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect();
    assert_eq!(answers.len(), calls.len(), "each call has an answer");
    answers
}

#[test]
fn calls_are_answered() {
    let answers = answers(&[
        json!({"id": 7, "call": "load", "game": "tic-tac-toe"}),
        json!({"call": "legal", "role": "xplayer"}),
        json!({"call": "next", "moves": "(mark 2 2)"}),
        json!({"call": "next", "state": 1, "moves": ["noop", "(mark 1 1)"]}),
        json!({"call": "legal", "state": 2}),
        json!({"call": "facts", "state": 2}),
        json!({"call": "goals", "state": 2}),
        json!({"call": "playout", "state": 2, "n": 500, "seed": 3}),
        json!({"call": "search", "state": 2, "iterations": 200}),
        json!({"call": "explain", "state": 2}),
        json!({"call": "drop", "states": [1, 2, 9]}),
        json!({"call": "goals", "state": 2}),
    ]);
    assert_eq!(answers[0]["id"], 7);
    assert_eq!(answers[0]["roles"], json!(["xplayer", "oplayer"]));
    assert_eq!((&answers[0]["state"], &answers[0]["turn"]), (&json!(0), &json!("xplayer")));
    assert_eq!(answers[1]["legal"].as_array().map(Vec::len), Some(9));
    assert_eq!((&answers[2]["state"], &answers[2]["turn"]), (&json!(1), &json!("oplayer")));
    assert_eq!(answers[4]["legal"]["oplayer"], json!(["noop"]));
    let facts = answers[5]["facts"].as_array().expect("facts are listed");
    assert!(facts.contains(&json!("(cell 1 1 o)")), "{facts:?}");
    assert_eq!(answers[6]["terminal"], false);
    assert_eq!(answers[7]["playouts"], 500);
    assert!(answers[7]["means"]["xplayer"].as_f64().expect("a mean") > 50.0);
    assert!(answers[8]["move"].as_str().expect("a move").starts_with("(mark"));
    assert!(answers[9]["text"].as_str().expect("a text").len() > 100);
    assert_eq!((&answers[10]["dropped"], &answers[10]["kept"]), (&json!(2), &json!(1)));
    assert_eq!(answers[11]["ok"], false);
}

/// Moves with real parameters: the intervals are told, and any number within them is legal.
#[test]
fn families_have_intervals() {
    let own = "(Chase c (t 0.5) (px 1) (py -0.25))";
    let answers = answers(&[
        json!({"call": "load", "game": "toss/cat-and-mouse"}),
        json!({"call": "legal", "role": "cat"}),
        json!({"call": "legal"}),
        json!({"call": "next", "moves": [own, "(Run m (t 0.75) (px 0.1) (py 0))"]}),
        json!({"call": "facts", "state": 1}),
        json!({"call": "next", "moves": [own, "(Run m (t 0.75) (px 7) (py 0))"]}),
    ]);
    let first = &answers[1]["families"][0];
    assert_eq!(first["text"], "(Chase c)");
    assert_eq!(first["parameters"][1], json!({"name": "px", "low": -1.0, "high": 1.0}));
    assert_eq!(answers[2]["families"]["cat"], answers[1]["families"]);
    let facts = answers[4]["facts"].as_array().expect("facts are listed");
    assert!(facts.contains(&json!("(y c -0.125)")) && facts.contains(&json!("(x m 3.05)")));
    assert_eq!(answers[5]["ok"], false);
    let error = answers[5]["error"].as_str().expect("a text");
    assert!(error.contains("px = 7 does not lie from -0.5 to 0.5"), "{error}");
}

/// Where no role has a choice, a step needs no moves.
#[test]
fn forced_steps_need_no_moves() {
    let moves = ["2 2", "1 1", "1 2", "3 2", "2 1", "2 3", "1 3", "3 1"];
    let mut calls = vec![json!({"call": "load", "game": "tic-tac-toe"})];
    for (state, cell) in moves.iter().enumerate() {
        let text = format!("(mark {cell})");
        calls.push(json!({"call": "next", "state": state, "moves": text}));
    }
    calls.push(json!({"call": "next", "state": moves.len()}));
    calls.push(json!({"call": "next"}));
    let answers = answers(&calls);
    let [.., before, forced, refused] = &answers[..] else { panic!("there are answers") };
    assert_eq!((&before["turn"], &before["terminal"]), (&Value::Null, &json!(false)));
    assert_eq!(forced["terminal"], true, "{forced}");
    assert!(refused["error"].as_str().is_some_and(|why| why.contains("choice")), "{refused}");
}

#[test]
fn bad_calls_are_errors_and_the_engine_goes_on() {
    let run = agon_reading(&["engine"], "nonsense\n\n[1]\n{\"call\": \"legal\"}\n").succeeds();
    let errors: Vec<&str> = run.out.lines().collect();
    assert_eq!(errors.len(), 3, "{}", run.out);
    assert!(errors.iter().all(|line| line.contains("\"ok\":false")), "{}", run.out);
    let answers = answers(&[
        json!({"call": "load", "game": "no-such-game"}),
        json!({"call": "load", "game": "tic-tac-toe"}),
        json!({"call": "next", "moves": "(mark 9 9)"}),
        json!({"call": "next"}),
        json!({"call": "legal", "role": "nobody"}),
        json!({"call": "search", "player": "no such player"}),
        json!({"call": "fly"}),
        json!({"call": "legal", "state": -1}),
        json!({"call": "goals"}),
    ]);
    for (at, part) in [
        (0, "no-such-game"),
        (2, "(mark 9 9)"),
        (3, "moves"),
        (4, "nobody"),
        (5, "no such player"),
        (6, "fly"),
        (7, "state"),
    ] {
        let error = answers[at]["error"].as_str().unwrap_or_default();
        assert!(error.contains(part), "{at}: {}", answers[at]);
    }
    assert_eq!(answers[8]["ok"], true);
}

#[test]
fn examples_in_other_languages_play() {
    for (program, file, last) in
        [("node", "engine.mjs", "\"xplayer\":"), ("perl", "engine.pl", "\"red\":100")]
    {
        let found = Command::new(program).arg("--version").output();
        if !found.is_ok_and(|output| output.status.success()) {
            println!("SKIPPED: there is no {program} here");
            continue;
        }
        let path = games::root().join("examples").join(file);
        let output = Command::new(program)
            .arg(&path)
            .arg(env!("CARGO_BIN_EXE_agon"))
            .output()
            .expect("it was just run");
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{file}: {errors}");
        assert!(text.lines().last().is_some_and(|line| line.contains(last)), "{file}: {text}");
    }
}

/// A program in a match makes the same calls, and is told the goals at the end.
#[test]
fn programs_look_ahead_in_a_match() {
    let found = Command::new("python3").arg("--version").output();
    if !found.is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: there is no python3 here");
        return;
    }
    let path = games::root().join("examples/greedy_bot.py");
    let player = format!("cmd:python3 '{}'", path.display());
    let players = format!("{player},legal");
    let run =
        agon(&["match", "tic-tac-toe", "--players", &players, "--iterations", "10", "--json"])
            .succeeds();
    let last = run.out.lines().last().expect("there is a result");
    let result: Value = serde_json::from_str(last).expect("it is JSON");
    assert_eq!(result["goals"][0], 100.0, "a greedy player beats the first legal move: {last}");

    let scratch = Scratch::new("engine-goals");
    let log = scratch.file("goals.txt", String::new());
    let bot = scratch.file(
        "bot.py",
        format!(
            "import json, sys\nfor line in sys.stdin:\n    m = json.loads(line)\n    if m['type'] \
             == 'start':\n        print('{{}}', flush=True)\n    elif m['type'] == 'play':\n        \
             print(json.dumps({{'move': m['legal'][0]}}), flush=True)\n    elif m['type'] == \
             'stop':\n        open({log:?}, 'w').write(json.dumps(m['goals']))\n"
        ),
    );
    let players = format!("cmd:python3 '{bot}',legal");
    agon(&["match", "tic-tac-toe", "--players", &players, "--iterations", "10"]).succeeds();
    let goals = std::fs::read_to_string(&log).expect("the program has written it");
    assert_eq!(
        serde_json::from_str::<Value>(&goals).expect("goals are JSON"),
        json!({"xplayer": 100.0, "oplayer": 0.0})
    );
    // They are told in a game with hidden information, too, and null if there are none.
    agon(&["match", "kuhn-poker", "--players", &players, "--iterations", "10"]).succeeds();
    let goals = std::fs::read_to_string(&log).expect("the program has written it");
    let goals: Value = serde_json::from_str(&goals).expect("goals are JSON");
    let goal = |role: &str| goals[role].as_f64().expect("each role has a goal");
    assert_eq!(goal("opener") + goal("dealer"), 100.0);
    let cut = ["--iterations", "10", "--max-steps", "1"];
    agon(&[&["match", "tic-tac-toe", "--players", &players], &cut[..]].concat());
    assert_eq!(std::fs::read_to_string(&log).expect("the program has written it"), "null");
}

/// A call in a match ends at the clock of the player, and cannot replace the game.
#[test]
fn calls_in_a_match_end_at_the_clock() {
    let found = Command::new("python3").arg("--version").output();
    if !found.is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: there is no python3 here");
        return;
    }
    let scratch = Scratch::new("engine-clock");
    let log = scratch.file("answers.txt", String::new());
    let bot = scratch.file(
        "bot.py",
        format!(
            "import json, sys\n\
             def ask(m):\n    print(json.dumps(m), flush=True)\n    \
             return json.loads(sys.stdin.readline())\n\
             for line in sys.stdin:\n    m = json.loads(line)\n    \
             if m['type'] == 'start':\n        print('{{}}', flush=True)\n    \
             elif m['type'] == 'play':\n        \
             asked = [{{'call': 'load', 'game': 'othello'}}, {{'call': 'playout', 'n': 10 ** 8}}]\n\
             \x20       open({log:?}, 'a').write(json.dumps([ask(call) for call in asked]) + '\\n')\n\
             \x20       print(json.dumps({{'move': m['legal'][0]}}), flush=True)\n"
        ),
    );
    let players = format!("cmd:python3 '{bot}',legal");
    let run = ["match", "othello", "--players", &players, "--play-clock", "1", "--max-steps", "2"];
    agon(&run);
    let text = std::fs::read_to_string(&log).expect("the program has written it");
    let first: Value = serde_json::from_str(text.lines().next().expect("it has been asked"))
        .expect("answers are JSON");
    assert!(first[0]["error"].as_str().is_some_and(|why| why.contains("replaced")), "{first}");
    assert!(first[1]["error"].as_str().is_some_and(|why| why.contains("time was up")), "{first}");
}
