//! The HTTP reader compared with `httparse`, an independent implementation, on random requests.

use agon_server::http::{HttpRequest, Progress, Reader, Sizes};
use proptest::prelude::*;

/// Reads a request in pieces of a size.
fn read(bytes: &[u8], piece: usize) -> Option<HttpRequest> {
    let mut reader = Reader::new(Sizes::default());
    for part in bytes.chunks(piece.max(1)) {
        reader.feed(part).ok()?;
        if let Progress::Complete(request) = reader.progress() {
            return Some(request);
        }
    }
    reader.finish().ok()
}

/// Reads a request by `httparse`, with a body of the given length or in chunks.
fn read_by_oracle(bytes: &[u8]) -> Option<HttpRequest> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(end) = request.parse(bytes).ok()? else { return None };
    let header = |name: &str| {
        let found = request.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        found.map(|header| String::from_utf8_lossy(header.value).into_owned())
    };
    let body = if header("transfer-encoding").is_some() {
        let (mut rest, mut body) = (&bytes[end..], Vec::new());
        loop {
            let httparse::Status::Complete((start, length)) =
                httparse::parse_chunk_size(rest).ok()?
            else {
                return None;
            };
            if length == 0 {
                break body;
            }
            let chunk_end = start + usize::try_from(length).ok()?;
            body.extend_from_slice(rest.get(start..chunk_end)?);
            rest = rest.get(chunk_end + 2..)?;
        }
    } else {
        let length = header("content-length")?.trim().parse().ok()?;
        bytes[end..].get(..length)?.to_vec()
    };
    let message = String::from_utf8(body).ok()?;
    Some(HttpRequest { method: request.method?.to_owned(), message })
}

fn header_name() -> impl Strategy<Value = String> {
    "[A-Za-z][A-Za-z0-9-]{0,12}".prop_filter("headers with a meaning are added below", |name| {
        !["content-length", "transfer-encoding", "expect", "origin"]
            .contains(&name.to_ascii_lowercase().as_str())
    })
}

/// A request as text: its head, and its body with a length or in chunks.
fn requests() -> impl Strategy<Value = Vec<u8>> {
    let headers = prop::collection::vec((header_name(), "[ -9;-~]{0,20}"), 0..6);
    // Messages are terms: parentheses are balanced, so that both readers find the same end.
    let word = "[a-z0-9 \\t\u{e4}\u{20ac}]{0,12}";
    let body =
        prop::collection::vec(word, 0..6).prop_map(|words| format!("( {} )", words.join(" ) ( ")));
    let sizes = prop::collection::vec(1_usize..9, 0..40);
    (headers, body, prop::option::of(sizes), any::<bool>()).prop_map(
        |(headers, body, chunks, is_upper)| {
            let mut bytes = b"POST / HTTP/1.1\r\n".to_vec();
            for (name, value) in headers {
                bytes.extend(format!("{name}: {}\r\n", value.trim()).bytes());
            }
            match chunks {
                None => {
                    let name = if is_upper { "CONTENT-LENGTH" } else { "content-length" };
                    bytes.extend(format!("{name}: {}\r\n\r\n{body}", body.len()).bytes());
                }
                Some(sizes) => {
                    bytes.extend(b"Transfer-Encoding: chunked\r\n\r\n");
                    let mut rest = body.as_bytes();
                    for size in sizes {
                        let (chunk, after) = rest.split_at(size.min(rest.len()));
                        if !chunk.is_empty() {
                            bytes.extend(format!("{:x}\r\n", chunk.len()).bytes());
                            bytes.extend(chunk);
                            bytes.extend(b"\r\n");
                        }
                        rest = after;
                    }
                    if !rest.is_empty() {
                        bytes.extend(format!("{:X}\r\n", rest.len()).bytes());
                        bytes.extend(rest);
                        bytes.extend(b"\r\n");
                    }
                    bytes.extend(b"0\r\n\r\n");
                }
            }
            bytes
        },
    )
}

proptest! {
    #![proptest_config(agon_testkit::seeded(2000))]

    #[test]
    fn valid_requests_are_read_like_by_httparse(bytes in requests(), piece in 1_usize..80) {
        let expected = read_by_oracle(&bytes);
        prop_assert!(expected.is_some(), "the oracle reads {}", String::from_utf8_lossy(&bytes));
        prop_assert_eq!(read(&bytes, piece), expected);
    }

    #[test]
    fn chunk_sizes_are_read_like_by_httparse(line in "[0-9a-fA-FxX+-]{1,15}(;[a-z=]{0,5})?\r\n") {
        let head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        let bytes = format!("{head}{line}");
        let ours = {
            let mut reader = Reader::new(Sizes::default());
            reader.feed(bytes.as_bytes()).is_ok()
        };
        let oracle = match httparse::parse_chunk_size(line.as_bytes()) {
            Ok(httparse::Status::Complete((_, size))) => size <= Sizes::default().body as u64,
            Ok(httparse::Status::Partial) | Err(_) => false,
        };
        prop_assert_eq!(ours, oracle, "{}", line);
    }
}
