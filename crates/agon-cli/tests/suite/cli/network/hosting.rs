//! `agon host`: good players, faulty players, many tables.

use serde_json::Value;

use super::super::super::games::Scratch;
use super::super::run::{Run, agon};
use super::peers::{Player, Vice, bad_player};

fn lines(run: &Run) -> Vec<Value> {
    run.out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect()
}

fn record(path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("the record is there"))
        .expect("it is JSON")
}

#[test]
fn two_players_under_one_host() {
    let scratch = Scratch::new("hosted");
    let (one, two) =
        (Player::start(&["--player", "legal"]), Player::start(&["--player", "random"]));
    let players = format!("{},{}", one.url, two.url);
    let file = scratch.path("match.json").to_string_lossy().into_owned();
    let xml = scratch.path("xml").to_string_lossy().into_owned();
    // With plain rules, with scrambled rules, and with percepts.
    for extra in [
        vec![],
        vec!["--scramble"],
        vec!["--dialect", "turns,percepts"],
        vec!["--dialect", "turns", "--scramble"],
    ] {
        let mut arguments =
            vec!["host", "tic-tac-toe", "--players", &players, "--record", &file, "--xml", &xml];
        arguments.extend(["--start-clock", "20", "--play-clock", "10"]);
        arguments.extend(&extra);
        let run = agon(&arguments).succeeds();
        assert!(run.out.contains("result after "), "{}", run.out);
        let record = record(&file);
        let errors = record["errors"]
            .as_array()
            .expect("there are errors")
            .iter()
            .flat_map(|row| row.as_array().expect("by role"));
        assert!(errors.clone().all(|error| error == ""), "{extra:?}: {record}");
        assert_eq!(record["scrambled"], extra.contains(&"--scramble"));
        agon(&["replay", &file]).succeeds();
    }
    let folder = std::fs::read_dir(&xml)
        .expect("there is XML")
        .next()
        .expect("of a match")
        .expect("it is readable")
        .path();
    let last =
        std::fs::read_to_string(folder.join("finalstate.xml")).expect("there is a last state");
    for part in
        ["<prop-f>CELL</prop-f><arg>1</arg>", "<reward>", "<role>xplayer</role>", "</match>"]
    {
        assert!(last.contains(part), "no {part} in {last}");
    }
    assert!(folder.join("step_1.xml").exists());
}

#[test]
fn hidden_information_is_sent_in_both_formats() {
    let (one, two) = (Player::start(&[]), Player::start(&[]));
    let players = format!("{},{}", one.url, two.url);
    for dialect in ["game", "percepts", "turns", "turns,percepts"] {
        let arguments = [
            "host",
            "kuhn-poker",
            "--players",
            &players,
            "--dialect",
            dialect,
            "--play-clock",
            "1",
            "--start-clock",
            "1",
            "--json",
        ];
        let run = agon(&arguments).succeeds();
        let result = lines(&run).pop().expect("there is a result");
        assert_eq!(result["ending"], "finished");
        let errors = result["errors"].as_array().expect("by role");
        assert!(errors.iter().all(|n| n == 0), "{dialect}: {}", run.out);
    }
    let run = agon(&["host", "kuhn-poker", "--players", &players, "--dialect", "moves"]);
    assert!(run.code == 2 && run.err.contains("would reveal hidden information"), "{}", run.err);
}

#[test]
fn a_faulty_player_does_not_stop_the_match() {
    let good = Player::start(&["--player", "legal"]);
    let scratch = Scratch::new("bad");
    // Only players that never answer have a short clock, so that others are never late.
    let cases = [
        (Vice::Hang, "TO", "0.4"),
        (Vice::Lie, "IL ( mark 9 9 )", "50"),
        (Vice::Crash, "IN", "50"),
        (Vice::Trickle, "TO", "0.4"),
        (Vice::Flood, "IN", "50"),
        (Vice::Babble, "IN", "50"),
    ];
    for (vice, code, clock) in cases {
        let players = format!("{},{}", bad_player(vice), good.url);
        let file = scratch.path("match.json").to_string_lossy().into_owned();
        let arguments = [
            "host",
            "tic-tac-toe",
            "--players",
            &players,
            "--play-clock",
            clock,
            "--grace",
            "0.2",
            "--unlimited",
            "oplayer",
            "--record",
            &file,
        ];
        agon(&arguments).succeeds();
        let record = record(&file);
        let errors = record["errors"].as_array().expect("there are errors");
        assert_eq!(errors[0], serde_json::json!(["", ""]), "{vice:?} gets ready");
        for (step, row) in errors[1..].iter().enumerate() {
            assert_eq!(row[0], code, "{vice:?} in step {}", step + 1);
            assert_eq!(row[1], "", "{vice:?}: the other player has no error");
        }
        assert_eq!(record["isCompleted"], true);
    }
    // No player listens on this port.
    let players = format!("http://127.0.0.1:1,{}", good.url);
    let file = scratch.path("match.json").to_string_lossy().into_owned();
    let run = agon(&["host", "tic-tac-toe", "--players", &players, "--record", &file]).succeeds();
    assert!(run.err.contains("cannot be reached"), "{}", run.err);
    assert_eq!(record(&file)["errors"][1][0], "CE");
}

#[test]
fn the_substitute_move_can_be_chosen() {
    let scratch = Scratch::new("substitute");
    let file = scratch.path("match.json").to_string_lossy().into_owned();
    let first_moves = ["first", "last"].map(|substitute| {
        let players = format!("{},random", bad_player(Vice::Lie));
        agon(&[
            "host",
            "tic-tac-toe",
            "--players",
            &players,
            "--substitute",
            substitute,
            "--record",
            &file,
        ])
        .succeeds();
        record(&file)["moves"][0][0].clone()
    });
    assert_ne!(first_moves[0], first_moves[1]);
}

#[test]
fn many_tables_play_at_the_same_time() {
    let scratch = Scratch::new("tables");
    let folder = scratch.path("records").to_string_lossy().into_owned();
    let players: Vec<Player> = (0..4).map(|_| Player::start(&["--player", "random"])).collect();
    let mut arguments =
        vec!["host", "tic-tac-toe", "--matches", "12", "--json", "--record", &folder];
    let tables: Vec<String> =
        players.iter().map(|player| format!("{},random", player.url)).collect();
    tables.iter().for_each(|table| arguments.extend(["--players", table.as_str()]));
    let run = agon(&arguments).succeeds();
    let printed = lines(&run);
    assert_eq!(printed.len(), 13, "{}", run.out);
    assert!(
        printed[..12]
            .iter()
            .all(|line| line["ending"] == "finished" && line["errors"] == serde_json::json!([0, 0]))
    );
    let summary = &printed[12];
    assert_eq!((&summary["matches"], &summary["substituted"]), (&12.into(), &0.into()));
    let records = std::fs::read_dir(&folder).expect("there are records").count();
    assert_eq!(records, 12);
}

#[test]
fn errors_are_reported_before_the_first_match() {
    let cases: [(&[&str], &str); 6] = [
        (&["host", "tic-tac-toe"], "--players"),
        (&["host", "tic-tac-toe", "--players", "human,random"], "agon play"),
        (&["host", "tic-tac-toe", "--players", "random,random,random"], "3 players for 2 roles"),
        (
            &["host", "tic-tac-toe", "--players", "random", "--unlimited", "zeus"],
            "there is no role `zeus`",
        ),
        (&["player", "--player", "human"], "is not a built-in player"),
        (&["player", "--name", "a b"], "not a single word"),
    ];
    for (arguments, part) in cases {
        let run = agon(arguments);
        assert_eq!(run.code, 2, "{}", run.err);
        assert!(run.err.contains(part), "{}", run.err);
    }
}

#[test]
fn a_match_can_be_resumed() {
    let scratch = Scratch::new("resumed");
    let file = scratch.path("match.json").to_string_lossy().into_owned();
    let (one, two) = (Player::start(&["--player", "legal"]), Player::start(&["--player", "legal"]));
    let players = format!("{},{}", one.url, two.url);
    let command = ["host", "tic-tac-toe", "--players", &players, "--record", &file];
    agon(&[&command[..], &["--max-steps", "4"]].concat()).fails_with(1);
    let half = record(&file);
    assert_eq!(
        (&half["isAborted"], half["moves"].as_array().map(Vec::len)),
        (&true.into(), Some(4))
    );
    let copy = scratch.file("half.json", half.to_string());
    agon(&[&command[..], &["--resume", &copy]].concat()).succeeds();
    let resumed = record(&file);
    assert_eq!(
        resumed["moves"].as_array().expect("there are moves")[..4],
        half["moves"].as_array().expect("there are moves")[..]
    );
    assert_eq!(resumed["isCompleted"], true);
    let errors = resumed["errors"]
        .as_array()
        .expect("there are errors")
        .iter()
        .flat_map(|row| row.as_array().expect("by role"));
    assert!(
        errors.into_iter().all(|error| error == ""),
        "the players know the earlier moves: {resumed}"
    );
    agon(&[&command[..], &["--resume", &file]].concat()).complains(2, "is finished");
}

#[test]
fn a_table_without_legal_moves_is_closed() {
    let players = format!("{},random", bad_player(Vice::Lie));
    let run = agon(&["host", "tic-tac-toe", "--players", &players, "--matches", "9", "--json"])
        .succeeds();
    assert_eq!(lines(&run).len(), 4, "three matches and a summary: {}", run.out);
    assert!(run.err.contains("table 1 is closed"), "{}", run.err);
}

/// Ctrl-C aborts a match at once, also while a player is thinking.
#[cfg(unix)]
#[test]
fn aborting_a_match_notifies_its_players() {
    let player = Player::start(&["--player", "mcts"]);
    let players = format!("{},random", player.url);
    let mut host = std::process::Command::new(env!("CARGO_BIN_EXE_agon"))
        .args([
            "host",
            "breakthrough",
            "--players",
            &players,
            "--start-clock",
            "2",
            "--play-clock",
            "600",
        ])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("the program can be run");
    while !player.say("( INFO )").contains("busy") {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let interrupt =
        std::process::Command::new("kill").args(["-INT", &host.id().to_string()]).status();
    assert!(interrupt.is_ok_and(|status| status.success()));
    assert_eq!(host.wait().expect("it ends").code(), Some(1));
    assert!(player.say("( INFO )").contains("( status available )"), "the player got ABORT");
}
