//! Requests of every host, and broken ones, cut at every byte.

use super::{Progress, Reader, Refusal, Request, Sizes, answer};

/// Reads a request that comes in pieces; whatever the pieces, the end is the same.
fn read(bytes: &[u8], piece: usize) -> Result<Request, Refusal> {
    let mut reader = Reader::new(Sizes { head: 1000, body: 5000 });
    for part in bytes.chunks(piece.max(1)) {
        reader.feed(part)?;
        if let Progress::Whole(request) = reader.progress(false)? {
            return Ok(request);
        }
    }
    match reader.progress(true)? {
        Progress::Whole(request) => Ok(request),
        other => panic!("nothing more can come: {other:?}"),
    }
}

#[test]
fn requests_of_every_host_are_read() {
    let cases: [(&str, &str, &str); 13] = [
        (
            "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: h\r\nSender: GAMESERVER\r\nReceiver: \r\nContent-Type: text/acl\r\nContent-Length: 8\r\n\r\n( INFO )",
            "POST",
            "( INFO )",
        ),
        (
            "POST / HTTP/1.0\r\nSender: Gamecontroller\r\nContent-type: text/acl\r\nContent-length: 16\r\n\r\n(PLAY M.1 NIL)  ",
            "POST",
            "(PLAY M.1 NIL)  ",
        ),
        // No length: to the last parenthesis, or to the end.
        ("POST / HTTP/1.0\r\n\r\n( INFO )", "POST", "( INFO )"),
        ("POST / HTTP/1.0\n\n(PLAY m\n((a)\nb))", "POST", "(PLAY m\n((a)\nb))"),
        ("POST / HTTP/1.0\r\n\r\ninfo", "POST", "info"),
        // A length in characters, not bytes.
        (
            "POST / HTTP/1.0\r\nContent-Length: 14\r\n\r\n(PLAY \u{e4}\u{e4}\u{e4} NIL)",
            "POST",
            "(PLAY \u{e4}\u{e4}\u{e4} NIL)",
        ),
        ("POST / HTTP/1.0\r\ncontent-LENGTH:0\r\n\r\n", "POST", ""),
        ("GET /%28INFO%29 HTTP/1.0\r\n\r\n", "GET", "(INFO)"),
        ("GET /(PLAY+m%0D%0ANIL) HTTP/1.1\r\nHost: x\r\n\r\n", "GET", "(PLAY m  NIL)"),
        ("GET / HTTP/1.1\r\n\r\n", "GET", ""),
        ("GET /%zz%4 HTTP/1.1\r\n\r\n", "GET", "%zz%4"),
        ("OPTIONS / HTTP/1.1\r\nOrigin: null\r\n\r\n", "OPTIONS", ""),
        (
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n( INF\r\n3;x=y\r\nO )\r\n0\r\n\r\n",
            "POST",
            "( INFO )",
        ),
    ];
    for (bytes, method, message) in cases {
        for piece in 1..=bytes.len() {
            let whole = Request { method: method.into(), message: message.into() };
            let got = read(bytes.as_bytes(), piece);
            // A body of that length may be found whole before the spaces after it have come.
            let trimmed =
                got.clone().map(|r| Request { message: r.message.trim_end().into(), ..r });
            let expected = Request { message: whole.message.trim_end().into(), ..whole };
            assert_eq!(trimmed, Ok(expected), "{bytes} by {piece}");
        }
    }
}

#[test]
fn what_is_no_request_is_refused() {
    let cases: [(&[u8], Refusal); 8] = [
        (b"", Refusal::Silence),
        (b"POST / HT", Refusal::Nonsense("the connection ended before the request")),
        (b"\r\n\r\n", Refusal::Nonsense("the first line is not that of a request")),
        (b"\x16\x03\x01 x\r\n\r\n", Refusal::Nonsense("the first line is not that of a request")),
        (
            b"POST / HTTP/1.0\r\nContent-Length: many\r\n\r\n",
            Refusal::Nonsense("Content-Length is not a number"),
        ),
        (b"POST / HTTP/1.0\r\nContent-Length: 5001\r\n\r\n", Refusal::LongBody),
        (
            b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            Refusal::Nonsense("a chunk does not say its length"),
        ),
        (&[b'a'; 2000], Refusal::LongHead),
    ];
    for (bytes, refusal) in cases {
        assert_eq!(read(bytes, 7), Err(refusal), "{}", String::from_utf8_lossy(bytes));
    }
    let flood = [b"POST / HTTP/1.0\r\n\r\n".as_slice(), &[b'('; 6000]].concat();
    assert_eq!(read(&flood, 100), Err(Refusal::LongBody));
    let huge = b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n";
    assert_eq!(read(huge, 9), Err(Refusal::Nonsense("a chunk is too long")));
}

#[test]
fn a_peer_that_waits_for_a_word_gets_it_once() {
    let mut reader = Reader::new(Sizes::default());
    reader
        .feed(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 8\r\n\r\n")
        .expect("it is a request");
    assert_eq!(reader.progress(false), Ok(Progress::Continue));
    assert_eq!(reader.progress(false), Ok(Progress::More));
    reader.feed(b"( INFO )").expect("it is a request");
    assert!(matches!(reader.progress(false), Ok(Progress::Whole(_))));
}

#[test]
fn answers_carry_their_length_in_bytes() {
    let text = String::from_utf8(answer(200, "( ( name \u{e4} ) )")).expect("it is text");
    assert!(
        text.starts_with("HTTP/1.0 200 OK\r\nContent-type: text/acl\r\nContent-length: 15\r\n"),
        "{text}"
    );
    assert!(text.ends_with("\r\n\r\n( ( name \u{e4} ) )"), "{text}");
}
