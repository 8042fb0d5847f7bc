//! `agon match` and `agon play`: output, records, and players of every kind.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use serde_json::Value;

use super::super::games::{self, Scratch};
use super::run::{Run, agon, agon_reading};

/// Returns the JSON objects that a command printed.
fn lines(run: &Run) -> Vec<Value> {
    run.out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
        .collect()
}

fn result(run: &Run) -> Value {
    let last = lines(run).pop().expect("there is a result");
    assert_eq!(last["type"], "result", "{last}");
    last
}

/// Writes a player in Python and returns its specification, or `None` if there is no Python.
fn python_bot(body: &str, scratch: &Scratch) -> Option<String> {
    let found = std::process::Command::new("python3").arg("--version").output();
    if !found.is_ok_and(|output| output.status.success()) {
        println!("skipped: there is no python3 here");
        return None;
    }
    let path = if body.is_empty() {
        games::root().join("examples/random_bot.py").to_string_lossy().into_owned()
    } else {
        let text = format!(
            "import json, sys, time\nfor line in sys.stdin:\n    m = json.loads(line)\n{body}\n"
        );
        scratch.file("bot.py", text)
    };
    Some(format!("cmd:python3 '{path}'"))
}

#[test]
fn a_match_is_shown() {
    let run = agon(&["match", "tic-tac-toe", "--players", "greedy,legal", "--iterations", "50"])
        .succeeds();
    for part in [
        "tic-tac-toe: xplayer greedy, oplayer legal",
        "\n1. xplayer (mark ",
        "    1 2 3\n",
        "result after ",
    ] {
        assert!(run.out.contains(part), "no {part} in\n{}", run.out);
    }
    assert!(!run.out.contains('\x1b'), "no colours in a pipe");
    let run = agon(&["match", "hanoi", "--iterations", "1"]).succeeds();
    assert!(run.out.contains("\n    left  5 4 3 2\n"), "the pegs are drawn\n{}", run.out);
    assert!(run.err.contains("no player was given for player: played by auto"), "{}", run.err);
}

#[test]
fn the_same_seed_gives_the_same_lines() {
    let play = |game: &str, seed: &str| {
        agon(&[
            "match",
            game,
            "--players",
            "random",
            "--iterations",
            "20",
            "--seed",
            seed,
            "--json",
        ])
        .succeeds()
        .out
    };
    for game in ["rock-paper-scissors", "kuhn-poker", "four-way-tron"] {
        assert_eq!(play(game, "3"), play(game, "3"), "{game}");
        assert!((4..9).any(|seed| play(game, &seed.to_string()) != play(game, "3")), "{game}");
    }
    let objects = lines(&agon(&["match", "kuhn-poker", "--iterations", "5", "--json"]).succeeds());
    let types: Vec<&str> = objects.iter().filter_map(|object| object["type"].as_str()).collect();
    assert_eq!((types[0], types[types.len() - 1]), ("start", "result"));
    assert!(types[1..types.len() - 1].iter().all(|word| *word == "step"), "{types:?}");
    assert_eq!(objects[0]["roles"], serde_json::json!(["opener", "dealer", "random"]));
}

#[test]
fn records_have_the_format_of_ggp_org_and_replay() {
    let scratch = Scratch::new("match-record");
    let file = scratch.file("match.json", "");
    for game in ["tic-tac-toe", "rock-paper-scissors", "kuhn-poker", "dice-race", "hanoi"] {
        agon(&["match", game, "--players", "random", "--iterations", "5", "--record", &file])
            .succeeds();
        let record: Value =
            serde_json::from_str(&std::fs::read_to_string(&file).expect("it was written"))
                .expect("it is JSON");
        for (name, is_right) in [
            ("matchId", record["matchId"].is_string()),
            ("randomToken", record["randomToken"].as_str().is_some_and(|token| token.len() == 32)),
            ("startTime", record["startTime"].is_u64()),
            (
                "gameMetaURL",
                record["gameMetaURL"]
                    .as_str()
                    .is_some_and(|url| url.ends_with(&format!("/{game}/v0/"))),
            ),
            ("isCompleted", record["isCompleted"] == true),
            ("isAborted", record["isAborted"] == false),
            ("startClock", record["startClock"] == 30),
            ("playClock", record["playClock"] == 10),
            ("previewClock", record["previewClock"] == -1),
            ("scrambled", record["scrambled"] == false),
        ] {
            assert!(is_right, "{game}: {name} in {record}");
        }
        let length = |name: &str| record[name].as_array().map_or(0, Vec::len);
        let n_moves = length("moves");
        assert!(n_moves > 0);
        for name in ["states", "stateTimes", "errors"] {
            assert_eq!(length(name), n_moves + 1, "{game}: {name}");
        }
        let n_roles = record["moves"][0].as_array().map_or(0, Vec::len);
        for name in ["goalValues", "playerNamesFromHost", "isPlayerHuman"] {
            assert_eq!(length(name), n_roles, "{game}: {name}");
        }
        assert!(
            record["states"][0].as_str().is_some_and(|state| state.starts_with("( ")),
            "{record}"
        );

        let expected = format!("replayed 1 plays, {} states, 0 mismatches\n", n_moves + 1);
        assert_eq!(agon(&["replay", &file]).succeeds().out, expected);
        assert_eq!(agon(&["replay", game, &file, "--engine", "circuit"]).succeeds().out, expected);
    }
}

#[test]
fn every_change_of_a_record_is_found() {
    let scratch = Scratch::new("match-changed");
    let file = scratch.file("match.json", "");
    agon(&["match", "tic-tac-toe", "--players", "random", "--iterations", "5", "--record", &file])
        .succeeds();
    let text = std::fs::read_to_string(&file).expect("it was written");
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut record: Value = serde_json::from_str(&text).expect("it is JSON");
        change(&mut record);
        agon(&["replay", &scratch.file("changed.json", record.to_string())])
    };
    assert!(
        changed(&|record| record["states"][1] = "( ( control oplayer ) )".into())
            .fails_with(1)
            .out
            .contains("state 2")
    );
    assert!(
        changed(&|record| record["moves"][0][0] = "( mark 7 7 )".into())
            .fails_with(1)
            .out
            .contains("step 1")
    );
    assert!(
        changed(&|record| record["goalValues"][0] = 42.into())
            .fails_with(1)
            .out
            .contains("goal of xplayer")
    );
    // Spacing and capitalisation do not matter.
    let upper = |record: &mut Value| {
        let state =
            record["states"][0].as_str().unwrap_or_default().to_uppercase().replace("( ", "(");
        record["states"][0] = state.into();
    };
    changed(&upper).succeeds();
    changed(&|record| record["moves"] = 7.into()).complains(2, "`moves` is not a list");
    changed(&|record| record["gameMetaURL"] = "http://games.ggp.org/base/games/other/v0/".into())
        .complains(2, "give its rules");
    agon(&["replay", &scratch.file("none.json", "{}")]).complains(2, "is not a recorded match");
    agon(&["replay", &scratch.file("none.json", "{")]).complains(2, "not valid JSON");
}

#[test]
fn a_record_that_cannot_be_written_is_noticed_before_the_match() {
    for command in ["match", "play", "host"] {
        let path = if command == "host" { "/dev/null/x.json" } else { "/no/such/folder/x.json" };
        let players = if command == "play" { "--against" } else { "--players" };
        let seated = if command == "play" { "random" } else { "random,random" };
        let run =
            agon(&[command, "tic-tac-toe", players, seated, "--iterations", "5", "--record", path])
                .fails_with(2);
        assert!(run.err.contains("cannot write"), "{}", run.err);
        assert!(!run.out.contains("mark"), "{command} has played:\n{}", run.out);
    }
}

#[test]
fn errors_in_the_players_are_shown() {
    let with = |players: &str| agon(&["match", "tic-tac-toe", "--players", players]);
    with("random,gredy").complains(2, "did you mean `greedy`?");
    with("random,gredy").complains(2, "--players:1:8");
    with("greedy(depth=3),random").complains(2, "it has replies");
    with("random,random,random").complains(2, "3 players for 2 roles (xplayer, oplayer)");
    with("cmd:/no/such/program").complains(2, "cannot run /no/such/program");
    agon(&["match", "tic-tac-toe", "--play-clock=-1"]).complains(2, "play-clock");
    agon(&["match", "tic-tac-toe", "--play-clock", "nan"]).complains(2, "play-clock");
    agon(&["play", "tic-tac-toe", "--as", "nobody"]).complains(2, "the roles are xplayer, oplayer");
    agon(&["play", "tic-tac-toe", "--against", "legal,legal"])
        .complains(2, "2 players for 1 roles");
}

#[test]
fn players_are_listed() {
    let short = agon(&["players"]).succeeds().out;
    assert!(short.lines().count() <= 24, "it is more than one screen:\n{short}");
    let one = agon(&["players", "mcts"]).succeeds().out;
    assert!(one.starts_with("mcts") && one.contains("\n    "), "{one}");
    agon(&["players", "mtcs"]).complains(2, "did you mean `mcts`?");
    let list = agon(&["players", "--all"]).succeeds().out;
    let objects = lines(&agon(&["players", "--json"]).succeeds());
    for object in &objects {
        let form = object["form"].as_str().expect("every player has a form");
        assert!(list.contains(form), "{form} is not in\n{list}");
        assert!(short.contains(form), "{form} is not in\n{short}");
        for option in object["options"].as_array().expect("a list") {
            let shown = option["name"].as_str().expect("a name");
            assert!(list.contains(&format!("\n    {shown}=")), "{shown} is not in\n{list}");
            assert!(!option["default"].is_null() && option["type"].is_string(), "{option}");
        }
    }
    let names: Vec<&str> = objects.iter().filter_map(|object| object["name"].as_str()).collect();
    let wanted = "auto random legal greedy mcts uct minimax alphabeta bestfirst puzzle \
         continuous hidden solver human http cmd";
    for name in wanted.split(' ') {
        assert!(names.contains(&name), "{names:?}");
    }
}

#[test]
fn a_person_plays() {
    let play = |input: &str| {
        agon_reading(&["play", "tic-tac-toe", "--against", "legal", "--iterations", "1"], input)
    };
    // By number, by text, by the end of the text. Column 3 wins against the first legal moves.
    let run = play("9\n(MARK 3 2)\n3 1\n").succeeds();
    assert!(run.out.contains("result after 5 steps: xplayer 100, oplayer 0"), "{}", run.out);
    // After a wrong input the prompt is repeated. The end of the input ends the match.
    let run = play("mark 1\n77\nnonsense\nhelp\nmoves\nboard\n").succeeds();
    for part in [
        "is ambiguous: (mark 1 1), (mark 1 2), (mark 1 3)",
        "the numbers are 1 to 9",
        "not a legal move",
        "Type the number",
    ] {
        assert!(run.out.contains(part), "no {part} in\n{}", run.out);
    }
    assert!(run.out.contains("the match was stopped after 0 steps"), "{}", run.out);
    // `undo` goes back to the last choice.
    let run = play("5\n1 2\nundo\n3 3\nquit\n").succeeds();
    assert!(
        run.out.contains("back to step 2") && run.out.contains("xplayer (mark 3 3)"),
        "{}",
        run.out
    );
    // Two people at one terminal.
    let run =
        agon_reading(&["play", "tic-tac-toe", "--against", "human"], "1\n1\n1\n1\n1\n1\n1\n1\n1\n")
            .succeeds();
    assert!(run.out.contains("result after"), "{}", run.out);
}

#[test]
fn a_person_sees_only_the_percepts_of_the_role() {
    for seed in 0..10 {
        let seed = seed.to_string();
        let args = [
            "play",
            "kuhn-poker",
            "--as",
            "opener",
            "--against",
            "random",
            "--iterations",
            "1",
            "--seed",
            &seed,
        ];
        let run = agon_reading(&args, "").succeeds();
        assert!(run.out.contains("perceived (holds opener "), "{}", run.out);
        assert!(
            !run.out.contains("dealer ace") && !run.out.contains("holds dealer"),
            "{}",
            run.out
        );
        assert!(!run.out.contains("deal "), "{}", run.out);
    }
}

#[test]
fn a_program_plays() {
    let scratch = Scratch::new("match-cmd");
    let Some(bot) = python_bot("", &scratch) else { return };
    for game in ["tic-tac-toe", "rock-paper-scissors", "kuhn-poker", "hanoi", "krieg-tic-tac-toe"] {
        let n_players = match game {
            "hanoi" => 1,
            _ => 2,
        };
        let players = vec![bot.as_str(); n_players].join(",");
        let run = agon(&[
            "match",
            game,
            "--players",
            &players,
            "--json",
            "--seed",
            "4",
            "--play-clock",
            "60",
        ])
        .succeeds();
        let result = result(&run);
        assert_eq!(result["ending"], "finished", "{game}: {}", run.out);
        assert!(
            result["errors"].as_array().is_some_and(|errors| errors.iter().all(|n| *n == 0)),
            "{game}: {}",
            run.out
        );
    }
}

#[test]
fn messages_to_a_program() {
    let scratch = Scratch::new("match-messages");
    // The program prints each message on standard error, which agon passes on with the role in
    // front.
    let body = "    m.pop('rules', None); m.pop('id', None)
    print(json.dumps(m), file=sys.stderr, flush=True)
    if m['type'] != 'stop': print(json.dumps({'move': m.get('legal', ['x'])[0]}), flush=True)";
    let Some(bot) = python_bot(body, &scratch) else { return };
    let messages = |game: &str, role: &str| -> Vec<Value> {
        let run = agon(&[
            "match",
            game,
            "--players",
            &bot,
            "--json",
            "--iterations",
            "1",
            "--play-clock",
            "60",
        ])
        .succeeds();
        let prefix = format!("[{role}] ");
        let printed = run.err.lines().filter_map(|line| line.strip_prefix(&prefix));
        printed
            .map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}")))
            .collect()
    };
    let open = messages("tic-tac-toe", "xplayer");
    assert_eq!(open[0]["roles"], serde_json::json!(["xplayer", "oplayer"]));
    assert_eq!(open[0]["hidden"], false);
    assert_eq!(
        (&open[1]["type"], &open[1]["step"], &open[1]["moves"]),
        (&"play".into(), &0.into(), &Value::Null)
    );
    assert_eq!(open[1]["state"].as_array().map(Vec::len), Some(10));
    assert_eq!(open[1]["legal"].as_array().map(Vec::len), Some(9));
    assert_eq!(open[2]["moves"], serde_json::json!(["(mark 1 1)", "noop"]));
    assert_eq!(open[open.len() - 1]["type"], "stop");
    let hidden = messages("kuhn-poker", "opener");
    assert_eq!(hidden[0]["hidden"], true);
    for message in &hidden[1..] {
        assert!(message.get("state").is_none() && message.get("moves").is_none(), "{message}");
        assert!(message["step"] == 0 || message["percepts"].is_array(), "{message}");
    }
    assert_eq!(hidden[2]["own"], "noop");
}

#[test]
fn a_faulty_program_does_not_stop_the_match() {
    let scratch = Scratch::new("match-bad");
    let play = |bot: &str, clock: &str| {
        let players = format!("{bot},legal");
        let args = [
            "match",
            "tic-tac-toe",
            "--players",
            &players,
            "--json",
            "--start-clock",
            clock,
            "--play-clock",
            clock,
        ];
        let run = agon(&args).succeeds();
        let objects = lines(&run);
        assert_eq!(result(&run)["ending"], "finished", "{}", run.out);
        let errors: Vec<String> = objects
            .iter()
            .filter(|object| object["type"] == "step")
            .map(|step| {
                assert!(step["errors"].get("oplayer").is_none(), "{step}");
                step["errors"]["xplayer"].as_str().unwrap_or_default().to_owned()
            })
            .collect();
        errors
    };
    // These programs exit or close their output at once.
    for bot in ["cmd:false", "cmd:true", "cmd:sh -c 'exec >&-; sleep 30'"] {
        assert!(play(bot, "60").iter().all(|error| error.contains("cannot be reached")), "{bot}");
    }
    assert!(play("cmd:sleep 30", "0.1").iter().all(|error| error == "too late"));
    let Some(bot) = python_bot("    print('{\"move\": \"(mark 7 7)\"}', flush=True)", &scratch)
    else {
        return;
    };
    assert!(play(&bot, "60").iter().all(|error| error.contains("`(mark 7 7)` is not legal")));
    let bot = python_bot("    print('hello', flush=True)", &scratch).expect("there is Python");
    assert!(play(&bot, "60").iter().all(|error| error.contains("not a JSON line")));
    let bot = python_bot("    print('{}', flush=True)", &scratch).expect("there is Python");
    assert!(play(&bot, "60").iter().all(|error| error.contains("no string `move`")));
    // The program crashes at its second move; the first is legal.
    let body = "    if m['type'] == 'play' and m['step'] > 0: sys.exit(3)
    print(json.dumps({'move': m.get('legal', ['x'])[0]}), flush=True)";
    let bot = python_bot(body, &scratch).expect("there is Python");
    let errors = play(&bot, "60");
    assert_eq!(errors[0], "");
    assert!(errors[1].contains("the program has ended"), "{errors:?}");
    // The length of a line is limited.
    let bot = python_bot("    sys.stdout.write('x' * 3000000); sys.stdout.flush()", &scratch)
        .expect("there is Python");
    assert!(
        play(&bot, "60")
            .iter()
            .all(|error| error.contains("bytes") || error.contains("cannot be reached"))
    );
}

/// Starts a server that answers each message by a function of it. It returns the messages when
/// stopped.
fn serve(
    n_messages: usize,
    answer: impl Fn(&str) -> String + Send + 'static,
) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    let server = std::thread::spawn(move || {
        let mut got = Vec::new();
        while got.len() < n_messages {
            let (mut stream, _) = listener.accept().expect("a client connects");
            let mut text = String::new();
            let mut buffer = [0; 4096];
            let body = loop {
                let n = stream.read(&mut buffer).expect("it can be read");
                text.push_str(&String::from_utf8_lossy(&buffer[..n]));
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
                let length: usize =
                    length.and_then(|length| length.parse().ok()).expect("it says how long it is");
                assert!(head.starts_with("POST / HTTP/1.0\r\n"), "{head}");
                if body.len() >= length {
                    break body.to_owned();
                }
            };
            let _ = stream.write_all(answer(&body).as_bytes());
            got.push(body);
        }
        got
    });
    (url, server)
}

/// Returns an HTTP response in the form of ggp-base.
fn reply(body: &str) -> String {
    format!(
        "HTTP/1.0 200 OK\r\nContent-type: text/acl\r\nContent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn a_player_over_http_plays() {
    let (url, server) = serve(3, |message| {
        let word = message.split_whitespace().nth(1).unwrap_or_default();
        reply(match word {
            "START" => "ready",
            "PLAY" => "( SHOW HEADS ) ( explanation \"why not\" )",
            _ => "done",
        })
    });
    let players = format!("legal,{url}");
    let run = agon(&[
        "match",
        "matching-pennies",
        "--players",
        &players,
        "--json",
        "--start-clock",
        "60",
    ])
    .succeeds();
    assert_eq!(result(&run)["errors"], serde_json::json!([0, 0]), "{}", run.out);
    let got = server.join().expect("the server does not panic");
    let id = lines(&run)[0]["match"].as_str().expect("it has an id").to_owned();
    assert!(
        got[0].starts_with(&format!("( START {id} mismatcher (( role matcher )")),
        "{}",
        got[0]
    );
    assert!(got[0].ends_with(" 60 10)"), "{}", got[0]);
    assert!(!got[0].contains('\n'), "a message is one line");
    assert_eq!(got[1], format!("( PLAY {id} NIL )"));
    assert_eq!(got[2], format!("( STOP {id} (( show heads ) ( show heads ) ) )"));
}

#[test]
fn every_form_of_http_response_is_accepted() {
    let play = |answer: &'static str| {
        let (url, server) = serve(3, move |_| answer.to_owned());
        let players = format!("legal,{url}");
        let run = agon(&["match", "matching-pennies", "--players", &players, "--json"]).succeeds();
        server.join().expect("the server does not panic");
        let steps: Vec<Value> =
            lines(&run).into_iter().filter(|object| object["type"] == "step").collect();
        steps[0]["errors"]["mismatcher"].as_str().unwrap_or_default().to_owned()
    };
    // Without a length, with bare newlines, with another capitalisation.
    assert_eq!(play("HTTP/1.0 200 OK\r\n\r\n(show tails)"), "");
    assert_eq!(
        play("HTTP/1.1 200 OK\nCONTENT-LENGTH:   12\n\n(show tails)and what comes after"),
        ""
    );
    assert_eq!(play("HTTP/1.0 200 OK\r\nContent-Length: 6\r\n\r\n(dance"), "`null` is not legal");
    assert_eq!(play("HTTP/1.0 200 OK\r\n\r\nnil"), "`nil` is not legal");
    assert!(play("HTTP/1.0 500 Oops\r\n\r\n(show tails)").contains("500"));
    assert!(play("whatever").contains("not HTTP"));
    assert!(play("").contains("not HTTP"));
}

#[test]
fn unreachable_and_silent_players_do_not_stop_the_match() {
    // The listener is dropped, so connections to its port are refused.
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    drop(listener);
    let run = agon(&["match", "matching-pennies", "--players", &format!("legal,{url}"), "--json"])
        .succeeds();
    assert!(run.out.contains("cannot be reached"), "{}", run.out);
    assert_eq!(result(&run)["errors"], serde_json::json!([0, 1]));
    // The system accepts the connection, but there is no answer.
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    let players = format!("legal,{url}");
    let args = [
        "match",
        "matching-pennies",
        "--players",
        &players,
        "--json",
        "--start-clock",
        "0.1",
        "--play-clock",
        "0.1",
    ];
    let run = agon(&args).succeeds();
    assert!(run.out.contains("too late"), "{}", run.out);
    assert_eq!(result(&run)["errors"], serde_json::json!([0, 1]));
    drop(listener);
}

#[test]
fn players_of_both_rule_languages_meet() {
    let both = "alphabeta(eval=fuzzy,depth=2),alphabeta(eval=tnf,depth=2)";
    let run =
        agon(&["match", "toss/tic-tac-toe", "--players", both, "--iterations", "60"]).succeeds();
    assert!(!run.err.contains("as they stand"), "{}", run.err);
    let trees = "uct(prior=rule-conditions(m=4)),uct(implicit-minimax=tnf,alpha=0.4)";
    let run =
        agon(&["match", "toss/tic-tac-toe", "--players", trees, "--iterations", "60"]).succeeds();
    assert!(!run.err.contains("as they stand"), "{}", run.err);
}

#[test]
fn players_warn_if_they_cannot_use_an_evaluation() {
    let players = "alphabeta(eval=descriptions,depth=1),random";
    let run =
        agon(&["match", "tic-tac-toe", "--players", players, "--iterations", "20"]).succeeds();
    assert!(
        run.err.contains("evaluated by the goals as they stand: terms made of goals"),
        "{}",
        run.err
    );
    assert!(run.err.contains("agon translate"), "{}", run.err);
    let players = "uct(prior=tnf),random";
    let run =
        agon(&["match", "tic-tac-toe", "--players", players, "--iterations", "20"]).succeeds();
    assert!(run.err.contains("as they stand"), "{}", run.err);
    let players = "alphabeta(eval=fuzzy,depth=1),random";
    let run = agon(&["match", "toss/entanglement", "--players", players, "--iterations", "20"])
        .succeeds();
    assert!(
        run.err.contains("fuzzy evaluation is for GDL, and some of its names mean"),
        "{}",
        run.err
    );
}

/// The GGP protocol has no words for rules in the other language, so the match does not begin.
#[test]
fn network_players_need_rules_in_gdl() {
    let players = ["--players", "http://localhost:1,random"];
    agon(&[&["match", "toss/tic-tac-toe"], &players[..]].concat())
        .complains(2, "`agon translate GAME --to gdl`");
}
