//! Records of matches: JSON, signatures, XML.

use serde_json::json;

use crate::{Record, Signature};

#[test]
fn records_of_other_hosts_are_read() {
    let text = json!({"matchId": "tiltyard.x.1", "startTime": 5, "gameMetaURL": "http://games.ggp.org/base/games/nim/v3/",
        "startClock": 30, "playClock": 15, "randomToken": "t", "isCompleted": true,
        "states": ["( ( a 1 ) b )", "( c )"], "moves": [["( take 1 )", "noop"]], "stateTimes": [6, 7],
        "goalValues": [100, 0], "matchHostSignature": "A0x"});
    let record = Record::from_json(&text).expect("the record is valid");
    assert_eq!(record.states, [vec!["(a 1)", "b"], vec!["c"]]);
    assert_eq!(record.moves, [["( take 1 )", "noop"]]);
    assert_eq!(record.game_key(), Some("nim"));
    assert_eq!(record.goal_values, Some(vec![100, 0]));
    let archived = json!({"url": "http://matches.ggp.org/matches/k/", "data": text});
    assert_eq!(Record::from_json(&archived), Ok(record.clone()));
    // A record that we write can be read.
    assert_eq!(Record::from_json(&record.to_json()).map(|again| again.states), Ok(record.states));
}

#[test]
fn invalid_records_are_rejected() {
    let cases = [
        (json!([]), "object"),
        (json!({"states": []}), "`moves` is missing"),
        (json!({"states": [], "moves": []}), "one more state"),
        (json!({"states": ["( a )"], "moves": {}}), "`moves` is not a list"),
        (json!({"states": ["( a"], "moves": []}), "state 1"),
        (json!({"states": [7], "moves": []}), "state 1"),
        (json!({"states": ["( a )", "( b )"], "moves": [[1]]}), "lists of strings"),
        (json!({"states": ["( a )"], "moves": [], "goalValues": "x"}), "goalValues"),
    ];
    for (value, part) in cases {
        let error = Record::from_json(&value).expect_err("the record is invalid").to_string();
        assert!(error.contains(part), "{value}: no `{part}` in {error}");
    }
}

#[test]
fn signatures_are_checked() {
    // Signed with openssl over the text that ggp-base would sign. The private key was not kept.
    let signed: serde_json::Value =
        serde_json::from_str(include_str!("signed.json")).expect("the file is JSON");
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
    assert!(spoil(&|record| record["matchHostPK"] = json!("0AAAA")).contains("not an RSA key"));
    assert!(
        spoil(&|record| record["matchHostPK"] = json!("%")).contains("key is not in the format")
    );
    assert!(
        spoil(&|record| record["matchHostSignature"] = json!(7))
            .contains("signature is not in the format")
    );
    assert!(
        spoil(&|record| record["matchHostSignature"] = json!("A0AAAA"))
            .contains("not the one that was signed")
    );
    assert!(
        spoil(&|record| drop(
            record.as_object_mut().expect("a record is an object").remove("matchHostPK")
        ))
        .contains("no key")
    );
}

#[test]
fn xml_equals_that_of_dresden() {
    let text = json!({"matchId": "m<1>", "startTime": 5, "startClock": 30, "playClock": 15, "playerNamesFromHost": ["\u{c4}", "B"],
        "states": ["( ( cell 1 ( f a ) ) over )", "( c )"], "moves": [["( take 1 )", "noop"]], "goalValues": [100, 0]});
    let record = Record::from_json(&text).expect("the record is valid");
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
    // Numbers beyond the last step mean the last step.
    for n_steps in [1, 99] {
        let last = record.dresden_xml(n_steps, &roles);
        assert!(
            last.contains("<reward>100</reward>") && last.contains("<step-number>1</step-number>"),
            "{last}"
        );
        assert!(!last.contains("<playclock>"));
    }
}
