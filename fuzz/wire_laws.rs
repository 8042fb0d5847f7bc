//! Laws for everything that arrives over the network: one function for each fuzz target. A short
//! run is among the tests of `agon-server`.

#![allow(dead_code)] // Each target uses one law.

use agon_game::kif::{first_term, spaced};
use agon_game::{Role, Shape};
use agon_ggp::{Record, Request, Scrambler, Session};
use agon_server::http::{AnswerReader, Progress, Reader, Sizes};

/// For all bytes, in pieces of any size, the reader ends with a request or an error, and it never
/// keeps more bytes than its limits allow.
pub(crate) fn http(bytes: &[u8]) {
    let sizes = Sizes { head: 300, body: 1000 };
    for piece in [1, 7, bytes.len().max(1)] {
        let mut reader = Reader::new(sizes);
        let mut n_fed = 0;
        let mut is_over = false;
        for part in bytes.chunks(piece) {
            n_fed += part.len();
            if reader.feed(part).is_err() {
                is_over = true;
                break;
            }
            assert!(
                n_fed <= sizes.head + sizes.body + piece,
                "the reader keeps more bytes than it may"
            );
            match reader.progress() {
                Progress::Complete(_) => {
                    is_over = true;
                    break;
                }
                Progress::Incomplete | Progress::Continue | Progress::PerhapsComplete(_) => {}
            }
        }
        if !is_over && let Ok(request) = reader.finish() {
            assert!(request.method.chars().all(|c| c.is_ascii_uppercase()));
        }
    }
}

/// For all bytes, in pieces of any size, the answer of a player is read or refused, and the pieces
/// do not matter.
pub(crate) fn answer(bytes: &[u8]) {
    let mut found = Vec::new();
    for piece in [1, 7, bytes.len().max(1)] {
        let mut reader = AnswerReader::default();
        for part in bytes.chunks(piece) {
            if reader.feed(part).expect("fewer bytes than the limit") {
                break;
            }
        }
        found.push(reader.finish());
    }
    assert!(found.iter().all(|one| *one == found[0]), "the size of the pieces matters: {found:?}");
}

/// Every text is parsed as a request or rejected. A session accepts every parsed request.
/// Scrambling keeps the structure of rules, and a record that was written can be read.
pub(crate) fn message(text: &str) {
    let request = Request::parse(text);
    if let Ok(Request::Play { last_step, .. } | Request::Stop { last_step, .. }) = &request {
        for hidden in [false, true] {
            let mut shape = Shape::new(vec!["a".into(), "b".into()], None);
            shape.hidden = hidden;
            let mut session = Session::new(&shape, Role::new(1));
            for is_legal in [true, false, true] {
                let before = session.turn();
                session.update(last_step, &mut |_| is_legal);
                assert!(session.turn() <= before + 1, "one message is one step");
                session.note_answer(session.turn(), "x");
            }
        }
    }
    if let Ok(Request::Start { rules, .. }) = &request {
        let scrambler = Scrambler::new(rules, 1);
        let scrambled = scrambler.scramble(rules);
        let depth = |text: &str| text.matches('(').count();
        assert_eq!(depth(&scrambled), depth(rules), "only words change");
    }
    if let Some(term) = first_term(text) {
        assert_eq!(first_term(&spaced(&term)), Some(term), "spacing does not matter");
    }
    if let Ok(value) = serde_json::from_str(text)
        && let Ok(record) = Record::from_json(&value)
    {
        let _ = Record::signature(&value);
        let _ = record.dresden_xml(usize::MAX, &["a".to_owned()]);
        let again =
            Record::from_json(&record.to_json()).expect("a record that was written can be read");
        assert_eq!(again.moves.len(), record.moves.len());
    }
}
