//! Requests of all known hosts and malformed ones, in pieces of every size.

use super::{HttpRequest, Progress, ReadError, Reader, Sizes, response};

/// Reads a request in pieces of a size.
fn read(bytes: &[u8], piece: usize) -> Result<HttpRequest, ReadError> {
    let mut reader = Reader::new(Sizes { head: 1000, body: 5000 });
    for part in bytes.chunks(piece.max(1)) {
        reader.feed(part)?;
        if let Progress::Complete(request) = reader.progress() {
            return Ok(request);
        }
    }
    reader.finish()
}

#[test]
fn requests_of_all_hosts_are_read() {
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
        // No length: the body ends with the last parenthesis, or with the connection.
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
            let whole = HttpRequest { method: method.into(), message: message.into() };
            let got = read(bytes.as_bytes(), piece);
            // The body may be found complete before the spaces after it have arrived.
            let trimmed =
                got.clone().map(|r| HttpRequest { message: r.message.trim_end().into(), ..r });
            let expected = HttpRequest { message: whole.message.trim_end().into(), ..whole };
            assert_eq!(trimmed, Ok(expected), "{bytes} by {piece}");
        }
    }
}

#[test]
fn malformed_requests_are_rejected() {
    let cases: [(&[u8], ReadError); 8] = [
        (b"", ReadError::Empty),
        (b"POST / HT", ReadError::Malformed("the connection ended before the request")),
        (b"\r\n\r\n", ReadError::Malformed("the first line is not a request line")),
        (b"\x16\x03\x01 x\r\n\r\n", ReadError::Malformed("the first line is not a request line")),
        (
            b"POST / HTTP/1.0\r\nContent-Length: many\r\n\r\n",
            ReadError::Malformed("Content-Length is not a number"),
        ),
        (b"POST / HTTP/1.0\r\nContent-Length: 5001\r\n\r\n", ReadError::BodyTooLarge),
        (
            b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
            ReadError::Malformed("a chunk has no valid length"),
        ),
        (&[b'a'; 2000], ReadError::HeadTooLarge),
    ];
    for (bytes, error) in cases {
        assert_eq!(read(bytes, 7), Err(error), "{}", String::from_utf8_lossy(bytes));
    }
    let flood = [b"POST / HTTP/1.0\r\n\r\n".as_slice(), &[b'('; 6000]].concat();
    assert_eq!(read(&flood, 100), Err(ReadError::BodyTooLarge));
    // Sizes near the largest number neither overflow nor panic, wherever the bytes are cut.
    for less in 0..64_u64 {
        let size = u64::MAX - less;
        let bytes = format!("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n{size:x}\r\nab");
        for piece in [1, 9, bytes.len()] {
            assert!(read(bytes.as_bytes(), piece).is_err(), "a chunk of {size} bytes");
        }
    }
    let huge = b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n";
    assert_eq!(read(huge, 9), Err(ReadError::Malformed("a chunk is too long")));
}

#[test]
fn a_peer_that_expects_100_continue_gets_it_once() {
    let mut reader = Reader::new(Sizes::default());
    reader
        .feed(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 8\r\n\r\n")
        .expect("the request is valid");
    assert_eq!(reader.progress(), Progress::Continue);
    assert_eq!(reader.progress(), Progress::Incomplete);
    reader.feed(b"( INFO )").expect("the request is valid");
    assert!(matches!(reader.progress(), Progress::Complete(_)));
}

#[test]
fn the_length_of_a_response_is_in_bytes() {
    let text =
        String::from_utf8(response(200, "( ( name \u{e4} ) )")).expect("the response is text");
    assert!(
        text.starts_with("HTTP/1.0 200 OK\r\nContent-type: text/acl\r\nContent-length: 15\r\n"),
        "{text}"
    );
    assert!(text.ends_with("\r\n\r\n( ( name \u{e4} ) )"), "{text}");
}
