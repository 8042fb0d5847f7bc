//! What must hold of anything that comes over the network: one function for each fuzz target, and for the short run among the tests.

#![allow(dead_code)] // Each target uses one law.

use agon_game::{Role, Shape};
use agon_match::{Heard, Record, Scrambler, Session, first_term, spaced};
use agon_server::http::{Progress, Reader, Sizes};

/// Whatever comes in, in whatever pieces: the reader ends with a request or a refusal and keeps no more than it may.
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
            assert!(n_fed <= sizes.head + sizes.body + piece, "more is kept than may be");
            match reader.progress(false) {
                Ok(Progress::Whole(_)) | Err(_) => {
                    is_over = true;
                    break;
                }
                Ok(Progress::More | Progress::Continue | Progress::Perhaps(_)) => {}
            }
        }
        if !is_over {
            match reader.progress(true) {
                Ok(Progress::Whole(request)) => {
                    assert!(request.method.chars().all(|c| c.is_ascii_uppercase()));
                }
                Ok(other) => panic!("nothing more can come: {other:?}"),
                Err(_) => {}
            }
        }
    }
}

/// Whatever a host says is understood or refused; what was understood can be followed; and a move is found in any answer or none.
pub(crate) fn message(text: &str) {
    let heard = Heard::read(text);
    if let Ok(Heard::Play { told, .. } | Heard::Stop { told, .. }) = &heard {
        for hidden in [false, true] {
            let mut shape = Shape::new(vec!["a".into(), "b".into()], None);
            shape.hidden = hidden;
            let mut session = Session::new(&shape, Role::new(1));
            for is_legal in [true, false, true] {
                let before = session.turn();
                session.heed(told, &mut |_| is_legal);
                assert!(session.turn() <= before + 1, "one message is one step");
                session.note_answer(session.turn(), "x");
            }
        }
    }
    if let Ok(Heard::Start { rules, .. }) = &heard {
        let scrambler = Scrambler::new(rules, 1);
        let there = scrambler.scramble(rules);
        let depth = |text: &str| text.matches('(').count();
        assert_eq!(depth(&there), depth(rules), "only words change");
    }
    if let Some(term) = first_term(text) {
        assert_eq!(first_term(&spaced(&term)), Some(term), "spacing means nothing");
    }
    if let Ok(value) = serde_json::from_str(text)
        && let Ok(record) = Record::from_json(&value)
    {
        let _ = Record::signature(&value);
        let _ = record.dresden_xml(usize::MAX, &["a".to_owned()]);
        let again = Record::from_json(&record.to_json()).expect("what we write we read");
        assert_eq!(again.moves.len(), record.moves.len());
    }
}
