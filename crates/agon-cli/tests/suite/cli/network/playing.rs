//! `agon player` with game managers of every kind: the protocol, point by point.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use serde_json::json;

use super::super::super::games;
use super::peers::{Player, body, rules};

fn start(role: &str, game: &str, clock: u64) -> String {
    format!("( START Base.m.1 {role} ({}) 20 {clock})", rules(game))
}

#[test]
fn a_session_with_ggp_base() {
    let player = Player::start(&["--name", "Rusty"]);
    assert_eq!(player.say("( INFO )"), "( ( name Rusty ) ( status available ) ( species alien ) )");
    assert_eq!(player.say(&start("xplayer", "tic-tac-toe", 10)), "ready");
    assert!(player.say("( INFO )").contains("( status busy )"));
    let first = player.say("( PLAY Base.m.1 NIL )");
    assert!(first.starts_with("(mark "), "{first}");
    assert_eq!(player.say(&format!("( PLAY Base.m.1 ({first} noop ) )")), "noop");
    // A repeated request has the same answer, also the first one.
    assert_eq!(player.say(&format!("( PLAY Base.m.1 ({first} noop ) )")), "noop");
    assert_eq!(player.say("( PLAY Base.m.1 NIL )"), first);
    // Messages about other matches are rejected.
    assert_eq!(player.say("( PLAY Base.m.2 NIL )"), "busy");
    assert_eq!(player.say("( STOP Base.m.2 NIL )"), "busy");
    assert_eq!(player.say(&start("xplayer", "tic-tac-toe", 10).replace("m.1", "m.2")), "busy");
    assert_eq!(
        player.say(&start("xplayer", "tic-tac-toe", 10)),
        "ready",
        "the same match once more"
    );
    // An illegal joint move is ignored, and the player still answers with a move.
    assert_eq!(player.say("( PLAY Base.m.1 (noop noop noop) )"), "noop");
    assert_eq!(player.say("( PLAY Base.m.1 (( mark 9 9 ) noop ) )"), "noop");
    assert_eq!(player.say("( STOP Base.m.1 (noop ( mark 3 3 )) )"), "done");
    assert!(player.say("( INFO )").contains("( status available )"));
    assert_eq!(player.say("( STOP Base.m.1 NIL )"), "busy");
}

#[test]
fn the_moves_of_the_host_count() {
    let player = Player::start(&["--player", "legal"]);
    assert_eq!(player.say(&start("xplayer", "tic-tac-toe", 10)), "ready");
    let chosen = player.say("( PLAY Base.m.1 NIL )");
    let other = if chosen == "(mark 2 2)" { "( mark 1 1 )" } else { "( mark 2 2 )" };
    assert_eq!(player.say(&format!("( PLAY Base.m.1 ({other} noop ) )")), "noop");
    let taken = if other == "( mark 1 1 )" { "( mark 2 2 )" } else { "( mark 3 3 )" };
    let answer = player.say(&format!("( PLAY Base.m.1 (noop {taken}) )"));
    // The cell of its own first choice is still free, and the first legal move is chosen.
    assert_eq!(answer, chosen);
}

#[test]
fn a_session_with_dresden() {
    let player = Player::start(&["--player", "legal"]);
    let rules = rules("tic-tac-toe").to_uppercase();
    assert_eq!(
        player.say_like_dresden(&format!("(START SomeMatchID XPLAYER ({rules}) 20 10)")),
        "READY"
    );
    let first = player.say_like_dresden("(PLAY SomeMatchID NIL)");
    assert!(first.starts_with("(MARK "), "{first}");
    assert_eq!(player.say_like_dresden(&format!("(PLAY SomeMatchID ({first} NOOP))")), "NOOP");
    assert_eq!(player.say_like_dresden("(STOP SomeMatchID (NOOP (MARK 9 9)))"), "DONE");
}

#[test]
fn every_form_of_http_request_is_accepted() {
    let player = Player::start(&[]);
    let info = "( ( name agon ) ( status available ) ( species alien ) )";
    let forms: [&str; 11] = [
        "POST / HTTP/1.0\r\ncontent-LENGTH: 8\r\n\r\n( INFO )",
        "POST / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\nContent-Length: 6\r\n\r\n(info)",
        "POST / HTTP/1.0\r\n\r\n(INFO)",
        "POST / HTTP/1.0\n\n(\nINFO\n)",
        "POST /x/y HTTP/1.0\r\nContent-Length: 0\r\n\r\n",
        "POST / HTTP/1.0\r\nContent-Length: 6\r\n\r\n(ping)",
        "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n( IN\r\n4\r\nFO )\r\n0\r\n\r\n",
        "GET /%28INFO%29 HTTP/1.0\r\n\r\n",
        "GET /(INFO) HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        "POST / HTTP/1.0\r\n\r\ninfo",
    ];
    for form in forms {
        assert_eq!(body(&player.raw(form.as_bytes())), info, "{form}");
        assert_eq!(body(&player.raw_to_the_end(form.as_bytes())), info, "{form}");
    }
    // Web pages may send requests only if the user says so.
    let from_page = b"OPTIONS / HTTP/1.1\r\nOrigin: null\r\n\r\n";
    assert!(player.raw(from_page).starts_with("HTTP/1.0 403 "));
    let options = Player::start(&["--allow-origin", "*"]).raw(from_page);
    assert_eq!(body(&options), "");
    for header in ["Access-Control-Allow-Origin: *", "Access-Control-Max-Age: 86400"] {
        assert!(options.contains(header), "{options}");
    }
    // A client that waits for `100 Continue` before it sends the body, as curl does with large
    // rules.
    let mut stream = player.connect();
    stream
        .write_all(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\n")
        .expect("it reads");
    let mut word = [0; 25];
    stream.read_exact(&mut word).expect("the player answers 100 Continue");
    assert_eq!(&word, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"(INFO)").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert_eq!(body(&answer), info);
}

#[test]
fn requests_are_answered_during_a_search_and_stop_ends_it() {
    let player = Player::start(&["--player", "mcts"]);
    assert_eq!(
        player.say(&start("white", "breakthrough", 600).replace(" 20 600", " 4 600")),
        "ready"
    );
    std::thread::scope(|scope| {
        let thinking = scope.spawn(|| player.say("( PLAY Base.m.1 NIL )"));
        // The search does not use its clock of ten minutes.
        assert!(player.say("( INFO )").contains("( status busy )"));
        let again = scope.spawn(|| player.say("( PLAY Base.m.1 NIL )"));
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert_eq!(player.say("( ABORT Base.m.1 )"), "aborted");
        let said = thinking.join().expect("it answers");
        assert!(said.starts_with("(move "), "there is always a move: {said}");
        assert_eq!(again.join().expect("it answers"), said);
    });
    assert!(player.say("( INFO )").contains("( status available )"));
}

#[test]
fn the_player_follows_the_match_while_it_ponders() {
    let player = Player::start(&["--player", "mcts(threads=1)"]);
    let start = |id: &str| start("oplayer", "tic-tac-toe", 2).replace("Base.m.1", id);
    let pause = || std::thread::sleep(std::time::Duration::from_millis(100));
    // STOP and ABORT end a match in which the player ponders.
    for (id, end, answer) in
        [("m.1", "( STOP m.1 ((mark 1 1) noop) )", "done"), ("m.2", "( ABORT m.2 )", "aborted")]
    {
        assert_eq!(player.say(&start(id)), "ready");
        assert_eq!(player.say(&format!("( PLAY {id} NIL )")), "noop");
        pause();
        assert_eq!(player.say(end), answer);
        assert!(player.say("( INFO )").contains("( status available )"));
    }
    assert_eq!(player.say(&start("m.3")), "ready");
    assert_eq!(player.say("( PLAY m.3 NIL )"), "noop");
    pause();
    let first = player.say("( PLAY m.3 ((mark 1 1) noop) )");
    assert!(first.starts_with("(mark "), "{first}");
    pause();
    // The host makes another move than the player, while that ponders about its own.
    let other = if first == "(mark 3 3)" { "(mark 3 2)" } else { "(mark 3 3)" };
    assert_eq!(player.say(&format!("( PLAY m.3 (noop {other}) )")), "noop");
    pause();
    let second = player.say("( PLAY m.3 ((mark 1 3) noop) )");
    assert_eq!(second, "(mark 1 2)", "it stops the row that is nearly complete");
    assert_eq!(player.say("( ABORT m.3 )"), "aborted");
}

#[test]
fn every_move_is_logged_with_the_report_of_the_search() {
    for option in ["--seed=1", "--no-ponder"] {
        let player = Player::start(&["--player", "mcts(threads=1)", option]);
        assert_eq!(player.say(&start("oplayer", "tic-tac-toe", 1)), "ready");
        assert_eq!(player.say("( PLAY Base.m.1 NIL )"), "noop");
        let chosen = player.say("( PLAY Base.m.1 ((mark 2 2) noop) )");
        // A repeated question is a message, but not another move.
        assert_eq!(player.say("( PLAY Base.m.1 ((mark 2 2) noop) )"), chosen);
        assert_eq!(player.say("( STOP Base.m.1 (noop (mark 1 1)) )"), "done");
        assert_eq!(player.logged("message", 5).len(), 5);
        let moves = player.logged("move", 2);
        assert_eq!(moves.len(), 2);
        assert_eq!((&moves[0]["choice"], &moves[0]["step"]), (&json!("noop"), &json!(0)));
        assert_eq!((&moves[0]["legal"], &moves[0]["value"]), (&json!(1), &json!(null)));
        let report = &moves[1];
        assert_eq!((&report["match"], &report["step"]), (&json!("Base.m.1"), &json!(1)));
        assert_eq!((&report["choice"], &report["legal"]), (&json!(chosen), &json!(8)));
        for key in ["value", "depth", "nodes", "seconds", "iterations"] {
            assert!(report[key].is_number(), "{key}: {report}");
        }
        assert_eq!(report["considered"][0]["move"], json!(chosen));
    }
}

#[test]
fn short_clocks_are_respected() {
    let player = Player::start(&["--player", "mcts"]);
    // A clock of zero: any legal move.
    assert_eq!(player.say(&start("white", "breakthrough", 0).replace(" 20 0)", " 0 0)")), "ready");
    assert!(player.say("( PLAY Base.m.1 NIL )").starts_with("(move "));
    assert_eq!(player.say("( ABORT Base.m.1 )"), "aborted");
}

#[test]
fn both_formats_of_hidden_information_are_played() {
    // Final GDL-II: turn, own move, percepts.
    let player = Player::start(&[]);
    let rules = rules("blind-nim");
    let role = "left";
    let begin = format!("(START m1 {role} ({rules}) 20 2)");
    assert_eq!(player.say(&begin), "ready", "{begin}");
    let first = player.say("(PLAY m1 0 NIL NIL)");
    assert!(first.starts_with('(') || !first.is_empty());
    assert_ne!(first, "nil");
    assert_eq!(player.say("(PLAY m1 0 NIL NIL)"), first);
    assert_eq!(player.say("(STOP m1 1 NIL ())"), "done");
    // Early GDL-II: percepts only.
    assert_eq!(player.say(&begin), "ready");
    assert_ne!(player.say("(PLAY m1 NIL)"), "nil");
    assert_eq!(player.say("(STOP m1 ())"), "done");
}

#[test]
fn preview_is_accepted_before_a_match() {
    let player = Player::start(&["--player", "legal"]);
    assert_eq!(player.say(&format!("( PREVIEW ({}) 5 )", rules("tic-tac-toe"))), "ready");
    assert_eq!(player.say(&start("oplayer", "tic-tac-toe", 10)), "ready");
    assert_eq!(player.say("( PLAY Base.m.1 NIL )"), "noop");
}

#[test]
fn invalid_messages_change_nothing() {
    let player = Player::start(&[]);
    for message in ["(PLAY", "(DANCE)", "(START m)", "(START m r ((role x)) x y)", ")))("] {
        assert_eq!(player.say(message), "what", "{message}");
    }
    // Rules that cannot be played, and an unknown role.
    assert_eq!(player.say("(START m x ((role x) (<= (p ?y) (not (q ?y)))) 5 5)"), "busy");
    assert_eq!(player.say(&start("nobody", "tic-tac-toe", 5)), "busy");
    let deep = format!("(START m x ({}) 5 5)", "(".repeat(50_000) + &")".repeat(50_000));
    assert_eq!(player.say(&deep), "what");
    for bytes in [
        b"\x16\x03\x01\x02\x00\x01\r\n\r\n".as_slice(),
        b"POST / HTTP/1.0\r\nContent-Length: x\r\n\r\n",
    ] {
        assert!(player.raw(bytes).starts_with("HTTP/1.0 400 "));
    }
    assert!(
        player
            .raw(b"POST / HTTP/1.0\r\nContent-Length: 99999999999\r\n\r\n")
            .starts_with("HTTP/1.0 413 ")
    );
    let long = [b"GET /".as_slice(), &[b'a'; 20_000], b" HTTP/1.0\r\n\r\n"].concat();
    assert!(player.raw(&long).starts_with("HTTP/1.0 431 "));
    assert_eq!(player.raw_to_the_end(b""), "");
    // Silent connections do not block others.
    let silent: Vec<_> = (0..40).map(|_| player.connect()).collect();
    assert!(player.say("( INFO )").contains("( status available )"));
    drop(silent);
}

#[test]
fn too_many_connections_get_an_error() {
    let player = Player::start(&["--connections", "1"]);
    let message = start_text("r", &hostile("exploding-legal"), 4);
    let request = format!("POST / HTTP/1.0\r\nContent-Length: {}\r\n\r\n{message}", message.len());
    // Connections that wait for an answer do not give way. Four more are for the peer of the match,
    // which is known once the first request has been read, so it may take more than five of them.
    let mut waiting = Vec::new();
    let is_full = (0..60).any(|_| {
        let mut stream = player.connect();
        // A connection that is rejected may be closed before all is written.
        let _ = stream.write_all(request.as_bytes());
        waiting.push(stream);
        std::thread::sleep(Duration::from_millis(50));
        player.raw_to_the_end(b"").starts_with("HTTP/1.0 503 ")
    });
    assert!(is_full, "{} connections are not too many", waiting.len());
    // The clock of the match is over after four seconds.
    std::thread::sleep(Duration::from_secs(6));
    assert!(player.say("( INFO )").contains("( status available )"));
}

/// Returns the text of a hostile rulesheet in one line without comments.
fn hostile(name: &str) -> String {
    let path = games::root().join(format!("tests/hostile/{name}.kif"));
    let text = std::fs::read_to_string(path).expect("it can be read");
    text.lines().filter(|line| !line.starts_with(';')).collect::<Vec<_>>().join(" ")
}

fn start_text(role: &str, rules: &str, clock: u64) -> String {
    format!("( START Base.m.1 {role} ( {rules} ) {clock} {clock} )")
}

#[test]
fn rules_that_explode_do_not_freeze_the_player() {
    let player = Player::start(&["--player", "mcts"]);
    let sheets =
        ["exploding-legal", "exploding-goal", "exploding-next", "exploding-init", "all-pairs"];
    for name in sheets {
        let start = start_text("r", &hostile(name), 4);
        std::thread::scope(|scope| {
            let began = Instant::now();
            let starting = scope.spawn(|| player.say(&start));
            let at_once = |message: &str| {
                let asked = Instant::now();
                let answer = player.say(message);
                // The aim is 100 ms on an idle machine. Other tests run beside this one, and what it
                // guards against takes minutes.
                let took = asked.elapsed();
                assert!(took < Duration::from_secs(2), "{name}: {message} took {took:?}");
                answer
            };
            while !starting.is_finished() {
                at_once("( INFO )");
                std::thread::sleep(Duration::from_millis(100));
            }
            let took = began.elapsed();
            assert!(took < Duration::from_secs(6), "{name}: START took {took:?}");
            let answer = starting.join().expect("it is answered");
            assert!(["ready", "busy"].contains(&answer.as_str()), "{name}: {answer}");
            if answer == "ready" {
                let asked = Instant::now();
                let played = player.say("( PLAY Base.m.1 NIL )");
                let took = asked.elapsed();
                assert!(took < Duration::from_secs(6), "{name}: PLAY took {took:?}");
                assert!(!played.is_empty() && played != "nil", "{name}: {played}");
                assert_eq!(at_once("( ABORT Base.m.1 )"), "aborted");
            }
            assert!(at_once("( INFO )").contains("( status available )"), "{name}");
        });
    }
    // The player still plays ordinary games.
    assert_eq!(player.say(&start("xplayer", "tic-tac-toe", 10)), "ready");
    assert!(player.say("( PLAY Base.m.1 NIL )").contains("mark"));
}

#[test]
fn a_silent_match_is_abandoned() {
    let player = Player::start(&["--forget", "0"]);
    assert_eq!(player.say(&start("xplayer", "tic-tac-toe", 10)), "ready");
    assert!(player.say("( INFO )").contains("( status available )"));
    assert_eq!(player.say(&start("oplayer", "tic-tac-toe", 10).replace("m.1", "m.2")), "ready");
}
