//! Texts that come from outside and go there.

use serde_json::json;

use crate::kif::{canonical, list};
use crate::{Dialect, Message, News, Record, Signature, first_term, spaced};

#[test]
fn terms_of_any_spacing_are_read() {
    assert_eq!(first_term(" ( mark  2\n2 ) ").as_deref(), Some("(mark 2 2)"));
    assert_eq!(first_term("noop"), Some("noop".to_owned()));
    assert_eq!(first_term("(f(g a)b) (explanation x)").as_deref(), Some("(f (g a) b)"));
    for broken in ["", "  ", "(", "(a", ")", "(a (b)"] {
        assert_eq!(first_term(broken), None, "{broken}");
    }
    assert_eq!(first_term(&"(".repeat(100_000)), None, "depth has a limit");
    assert_eq!(
        list("( ( cell 1 1 b ) ( control x ) win )"),
        Some(vec!["(cell 1 1 b)".to_owned(), "(control x)".to_owned(), "win".to_owned()])
    );
    assert_eq!(list("()"), Some(Vec::new()));
    assert_eq!(list("cell"), None);
    assert_eq!(list("(a))"), None);
    assert_eq!(spaced("(f (g a) b)"), "( f ( g a ) b )");
    assert_eq!(canonical("(F (g) ( h A ))"), "( f g ( h a ) )");
    assert_eq!(canonical("( noop )"), "noop");
}

#[test]
fn messages_are_what_ggp_base_sends() {
    let start = Message::Start {
        id: "m1",
        role: "xplayer",
        rules: "(role xplayer)\n\n(<= terminal (true over))\n",
        start_clock: 30,
        play_clock: 15,
    };
    assert_eq!(
        start.to_string(),
        "( START m1 xplayer (( role xplayer ) ( <= terminal ( true over ) )) 30 15)"
    );
    let news =
        News { step: 3, own: "(mark 2 2)".into(), seen: vec!["(mark 2 2)".into(), "noop".into()] };
    let play = |news, dialect| Message::Play { id: "m1", news, dialect }.to_string();
    for dialect in [Dialect::Moves, Dialect::Percepts] {
        assert_eq!(play(None, dialect), "( PLAY m1 NIL )");
        assert_eq!(play(Some(&news), dialect), "( PLAY m1 (( mark 2 2 ) noop ) )");
    }
    assert_eq!(play(None, Dialect::Turns), "( PLAY m1 0 NIL NIL )");
    assert_eq!(
        play(Some(&news), Dialect::Turns),
        "( PLAY m1 3 ( mark 2 2 ) (( mark 2 2 ) noop ) )"
    );
    let stop = Message::Stop { id: "m1", news: Some(&news), dialect: Dialect::Moves };
    assert_eq!(stop.to_string(), "( STOP m1 (( mark 2 2 ) noop ) )");
    assert_eq!(Message::Abort { id: "m1" }.to_string(), "( ABORT m1 )");
    assert_eq!(Message::Info.to_string(), "( INFO )");
    assert_eq!(Message::answer("( MARK 1 1 ) (taunt \"ha\")").as_deref(), Some("(MARK 1 1)"));
}

#[test]
fn records_of_others_are_read() {
    let text = json!({"matchId": "tiltyard.x.1", "startTime": 5, "gameMetaURL": "http://games.ggp.org/base/games/nim/v3/",
        "startClock": 30, "playClock": 15, "randomToken": "t", "isCompleted": true,
        "states": ["( ( a 1 ) b )", "( c )"], "moves": [["( take 1 )", "noop"]], "stateTimes": [6, 7],
        "goalValues": [100, 0], "matchHostSignature": "A0x"});
    let record = Record::from_json(&text).expect("it is a record");
    assert_eq!(record.states, [vec!["(a 1)", "b"], vec!["c"]]);
    assert_eq!(record.moves, [["( take 1 )", "noop"]]);
    assert_eq!(record.game_key(), Some("nim"));
    assert_eq!(record.goal_values, Some(vec![100, 0]));
    let archived = json!({"url": "http://matches.ggp.org/matches/k/", "data": text});
    assert_eq!(Record::from_json(&archived), Ok(record.clone()));
    // What we write we read.
    assert_eq!(Record::from_json(&record.to_json()).map(|again| again.states), Ok(record.states));
}

#[test]
fn broken_records_are_refused_in_words() {
    let cases = [
        (json!([]), "object"),
        (json!({"states": []}), "`moves` is missing"),
        (json!({"states": [], "moves": []}), "one state more"),
        (json!({"states": ["( a )"], "moves": {}}), "`moves` is not a list"),
        (json!({"states": ["( a"], "moves": []}), "state 1"),
        (json!({"states": [7], "moves": []}), "state 1"),
        (json!({"states": ["( a )", "( b )"], "moves": [[1]]}), "lists of strings"),
        (json!({"states": ["( a )"], "moves": [], "goalValues": "x"}), "goalValues"),
    ];
    for (value, part) in cases {
        let why = Record::from_json(&value).expect_err("it is broken");
        assert!(why.contains(part), "{value}: no `{part}` in {why}");
    }
}

#[test]
fn signatures_are_checked() {
    // Signed by openssl with a key that is lost, over the text that ggp-base would sign.
    let signed: serde_json::Value =
        serde_json::from_str(include_str!("signed.json")).expect("it is JSON");
    assert_eq!(Record::signature(&signed), Signature::Good);
    assert_eq!(Record::signature(&json!({"url": "u", "data": signed})), Signature::Good);
    assert_eq!(Record::signature(&json!({"states": []})), Signature::Absent);
    let spoil = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut spoilt = signed.clone();
        change(&mut spoilt);
        match Record::signature(&spoilt) {
            Signature::Bad(why) => why,
            other => panic!("{other:?}"),
        }
    };
    assert!(
        spoil(&|record| record["goalValues"] = json!([0, 100]))
            .contains("not the one that was signed")
    );
    assert!(spoil(&|record| record["more"] = json!(1)).contains("not the one that was signed"));
    assert!(spoil(&|record| record["matchHostPK"] = json!("0AAAA")).contains("not one of RSA"));
    assert!(spoil(&|record| record["matchHostPK"] = json!("%")).contains("key is not written"));
    assert!(
        spoil(&|record| record["matchHostSignature"] = json!(7))
            .contains("signature is not written")
    );
    assert!(
        spoil(&|record| record["matchHostSignature"] = json!("A0AAAA"))
            .contains("not the one that was signed")
    );
    assert!(
        spoil(&|record| drop(record.as_object_mut().expect("it is one").remove("matchHostPK")))
            .contains("not named")
    );
}

#[test]
fn xml_is_what_dresden_writes() {
    let text = json!({"matchId": "m<1>", "startTime": 5, "startClock": 30, "playClock": 15, "playerNamesFromHost": ["\u{c4}", "B"],
        "states": ["( ( cell 1 ( f a ) ) over )", "( c )"], "moves": [["( take 1 )", "noop"]], "goalValues": [100, 0]});
    let record = Record::from_json(&text).expect("it is a record");
    let roles = ["white".to_owned(), "black".to_owned()];
    let first = record.dresden_xml(0, &roles);
    for part in [
        "<match-id>m&lt;1&gt;</match-id>",
        "<player>&#196;</player>",
        "<playclock>15</playclock>",
        "<fact><prop-f>CELL</prop-f><arg>1</arg><arg><prop-f>F</prop-f><arg>A</arg></arg></fact>",
        "<fact><prop-f>OVER</prop-f></fact>",
    ] {
        assert!(first.contains(part), "no {part} in {first}");
    }
    assert!(!first.contains("<reward>"));
    // Beyond the end there is nothing else.
    for n_steps in [1, 99] {
        let last = record.dresden_xml(n_steps, &roles);
        assert!(
            last.contains("<reward>100</reward>") && last.contains("<step-number>1</step-number>"),
            "{last}"
        );
        assert!(!last.contains("<playclock>"));
    }
}
