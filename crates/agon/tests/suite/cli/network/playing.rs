//! `agon player` under hosts of every kind: the checklist of the protocol.

use std::io::{Read as _, Write as _};

use super::peers::{Player, body, rules};

fn start(role: &str, game: &str, clock: u64) -> String {
    format!("( START Base.m.1 {role} ({}) 20 {clock})", rules(game))
}

#[test]
fn a_session_as_ggp_base_has_it() {
    let player = Player::start(&["--name", "Rusty"]);
    assert_eq!(player.say("( INFO )"), "( ( name Rusty ) ( status available ) ( species alien ) )");
    assert_eq!(player.say(&start("xplayer", "tic-tac-toe", 10)), "ready");
    assert!(player.say("( INFO )").contains("( status busy )"));
    let first = player.say("( PLAY Base.m.1 NIL )");
    assert!(first.starts_with("(mark "), "{first}");
    assert_eq!(player.say(&format!("( PLAY Base.m.1 ({first} noop ) )")), "noop");
    // Asked again, it says the same; also when it is the first question.
    assert_eq!(player.say(&format!("( PLAY Base.m.1 ({first} noop ) )")), "noop");
    assert_eq!(player.say("( PLAY Base.m.1 NIL )"), first);
    // Other matches are none of its business.
    assert_eq!(player.say("( PLAY Base.m.2 NIL )"), "busy");
    assert_eq!(player.say("( STOP Base.m.2 NIL )"), "busy");
    assert_eq!(player.say(&start("xplayer", "tic-tac-toe", 10).replace("m.1", "m.2")), "busy");
    assert_eq!(
        player.say(&start("xplayer", "tic-tac-toe", 10)),
        "ready",
        "the same match once more"
    );
    // A joint move that cannot be is not believed; it still moves.
    assert_eq!(player.say("( PLAY Base.m.1 (noop noop noop) )"), "noop");
    assert_eq!(player.say("( PLAY Base.m.1 (( mark 9 9 ) noop ) )"), "noop");
    assert_eq!(player.say("( STOP Base.m.1 (noop ( mark 3 3 )) )"), "done");
    assert!(player.say("( INFO )").contains("( status available )"));
    assert_eq!(player.say("( STOP Base.m.1 NIL )"), "busy");
}

#[test]
fn the_host_s_move_counts_not_its_own() {
    let player = Player::start(&["--player", "legal"]);
    assert_eq!(player.say(&start("xplayer", "tic-tac-toe", 10)), "ready");
    let chosen = player.say("( PLAY Base.m.1 NIL )");
    let other = if chosen == "(mark 2 2)" { "( mark 1 1 )" } else { "( mark 2 2 )" };
    assert_eq!(player.say(&format!("( PLAY Base.m.1 ({other} noop ) )")), "noop");
    let taken = if other == "( mark 1 1 )" { "( mark 2 2 )" } else { "( mark 3 3 )" };
    let answer = player.say(&format!("( PLAY Base.m.1 (noop {taken}) )"));
    // Its own first choice is still free, and the first legal move is chosen.
    assert_eq!(answer, chosen);
}

#[test]
fn a_session_as_dresden_has_it() {
    let player = Player::start(&["--player", "legal"]);
    let rules = rules("tic-tac-toe").to_uppercase();
    assert_eq!(player.shout(&format!("(START SomeMatchID XPLAYER ({rules}) 20 10)")), "READY");
    let first = player.shout("(PLAY SomeMatchID NIL)");
    assert!(first.starts_with("(MARK "), "{first}");
    assert_eq!(player.shout(&format!("(PLAY SomeMatchID ({first} NOOP))")), "NOOP");
    assert_eq!(player.shout("(STOP SomeMatchID (NOOP (MARK 9 9)))"), "DONE");
}

#[test]
fn every_form_of_http_is_heard() {
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
    let options = player.raw(b"OPTIONS / HTTP/1.1\r\nOrigin: null\r\n\r\n");
    assert_eq!(body(&options), "");
    for header in ["Access-Control-Allow-Origin: *", "Access-Control-Max-Age: 86400"] {
        assert!(options.contains(header), "{options}");
    }
    // Waits for a word before it sends the rest, as curl does with large rules.
    let mut stream = player.connect();
    stream
        .write_all(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 6\r\n\r\n")
        .expect("it reads");
    let mut word = [0; 25];
    stream.read_exact(&mut word).expect("it says go on");
    assert_eq!(&word, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"(INFO)").expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert_eq!(body(&answer), info);
}

#[test]
fn it_answers_while_it_thinks_and_stops_when_told() {
    let player = Player::start(&["--player", "mcts"]);
    assert_eq!(
        player.say(&start("white", "breakthrough", 600).replace(" 20 600", " 4 600")),
        "ready"
    );
    std::thread::scope(|scope| {
        let thinking = scope.spawn(|| player.say("( PLAY Base.m.1 NIL )"));
        // However long that takes, it is not ten minutes.
        assert!(player.say("( INFO )").contains("( status busy )"));
        let again = scope.spawn(|| player.say("( PLAY Base.m.1 NIL )"));
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert_eq!(player.say("( ABORT Base.m.1 )"), "aborted");
        let said = thinking.join().expect("it answers");
        assert!(said.starts_with("(move "), "a move is always at hand: {said}");
        assert_eq!(again.join().expect("it answers"), said);
    });
    assert!(player.say("( INFO )").contains("( status available )"));
}

#[test]
fn a_short_clock_is_kept() {
    let player = Player::start(&["--player", "mcts"]);
    // No time at all: whatever is at hand.
    assert_eq!(player.say(&start("white", "breakthrough", 0).replace(" 20 0)", " 0 0)")), "ready");
    assert!(player.say("( PLAY Base.m.1 NIL )").starts_with("(move "));
    assert_eq!(player.say("( ABORT Base.m.1 )"), "aborted");
}

#[test]
fn both_forms_of_hidden_information_are_played() {
    // Final: turn, own move, percepts.
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
    // Early: percepts alone.
    assert_eq!(player.say(&begin), "ready");
    assert_ne!(player.say("(PLAY m1 NIL)"), "nil");
    assert_eq!(player.say("(STOP m1 ())"), "done");
}

#[test]
fn rules_are_looked_at_before_the_match() {
    let player = Player::start(&["--player", "legal"]);
    assert_eq!(player.say(&format!("( PREVIEW ({}) 5 )", rules("tic-tac-toe"))), "ready");
    assert_eq!(player.say(&start("oplayer", "tic-tac-toe", 10)), "ready");
    assert_eq!(player.say("( PLAY Base.m.1 NIL )"), "noop");
}

#[test]
fn nonsense_changes_nothing() {
    let player = Player::start(&[]);
    for message in ["(PLAY", "(DANCE)", "(START m)", "(START m r ((role x)) x y)", ")))("] {
        assert_eq!(player.say(message), "what", "{message}");
    }
    // Rules that cannot be played, roles that nobody has.
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
    // Connections that say nothing keep nobody else waiting.
    let silent: Vec<_> = (0..40).map(|_| player.connect()).collect();
    assert!(player.say("( INFO )").contains("( status available )"));
    drop(silent);
}

#[test]
fn too_many_connections_are_told_so() {
    let player = Player::start(&["--connections", "3"]);
    let mut full: Vec<_> = (0..3).map(|_| player.connect()).collect();
    // They have a place once they have been listened to, which is in the order in which they came.
    let answer = player.raw_to_the_end(b"");
    assert!(answer.starts_with("HTTP/1.0 503 "), "{answer}");
    for stream in &mut full {
        stream
            .write_all(b"POST / HTTP/1.0\r\nContent-Length: 8\r\n\r\n( INFO )")
            .expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        assert!(body(&answer).contains("available"));
    }
}

#[test]
fn a_match_of_which_nothing_is_heard_is_forgotten() {
    let player = Player::start(&["--forget", "0"]);
    assert_eq!(player.say(&start("xplayer", "tic-tac-toe", 10)), "ready");
    assert!(player.say("( INFO )").contains("( status available )"));
    assert_eq!(player.say(&start("oplayer", "tic-tac-toe", 10).replace("m.1", "m.2")), "ready");
}
