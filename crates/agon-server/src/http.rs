//! HTTP requests and responses as bytes, without IO.
//!
//! [`Reader`] receives the bytes of a request in pieces of any size and finds where the request
//! ends. It accepts what hosts in use send: requests without a length, with a length in characters
//! instead of bytes, in chunks, and messages in the path of a `GET`. [`AnswerReader`] does the same
//! for the answers of players.

mod answer;
mod balance;
mod chunks;

use std::fmt;

pub use answer::{AnswerError, AnswerReader, MAX_ANSWER};
use balance::Balance;
use chunks::Chunks;

/// Maximum size of a request.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Maximum number of bytes before the blank line.
    pub head: usize,
    /// Maximum number of bytes after the blank line.
    pub body: usize,
}

impl Default for Sizes {
    fn default() -> Sizes {
        // The largest known rulesheet has less than a megabyte.
        Sizes { head: 16 << 10, body: 16 << 20 }
    }
}

/// A complete request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method in capitals, such as `POST`.
    pub method: String,
    /// The message: the body, or the decoded path of a `GET`.
    pub message: String,
}

/// What has sent a request, as far as its head tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sender {
    /// Nothing in the head points to a web page.
    Program,
    /// A web page of this origin.
    Page(String),
    /// A web page of unknown origin. Browsers leave the origin out of requests for images, of
    /// links, and of pages that reached this server under a name of their own.
    UnnamedPage,
}

/// How much of a request has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More bytes are needed.
    Incomplete,
    /// The peer waits for `100 Continue` before it sends the body.
    Continue,
    /// The request may be complete, or a few more bytes may be in flight, because the given length
    /// is often wrong.
    PerhapsComplete(HttpRequest),
    /// The request is complete.
    Complete(HttpRequest),
}

/// Why a request could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// The connection ended before the first byte.
    Empty,
    /// The bytes are not an HTTP request; the text says why.
    Malformed(&'static str),
    /// The head is too large.
    HeadTooLarge,
    /// The body is too large.
    BodyTooLarge,
    /// The request took too long to arrive.
    Timeout,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Empty => f.write_str("the connection is empty"),
            ReadError::Malformed(why) => f.write_str(why),
            ReadError::HeadTooLarge => f.write_str("the head of the request is too large"),
            ReadError::BodyTooLarge => f.write_str("the body of the request is too large"),
            ReadError::Timeout => f.write_str("the request took too long to arrive"),
        }
    }
}

impl std::error::Error for ReadError {}

impl ReadError {
    /// Returns the HTTP status for the error.
    pub fn status(&self) -> u16 {
        match self {
            ReadError::Empty | ReadError::Malformed(_) => 400,
            ReadError::HeadTooLarge => 431,
            ReadError::BodyTooLarge => 413,
            ReadError::Timeout => 408,
        }
    }
}

/// Reads a request as its bytes arrive.
#[derive(Debug)]
pub struct Reader {
    sizes: Sizes,
    bytes: Vec<u8>,
    head: Option<Head>,
    balance: Balance,
    chunks: Chunks,
    was_continued: bool,
}

#[derive(Debug)]
struct Head {
    method: String,
    path: String,
    /// Index of the first byte of the body.
    end: usize,
    length: Option<usize>,
    is_chunked: bool,
    expects: bool,
    origin: Option<String>,
    /// Whether a browser says that a page, and not its user, has caused the request.
    is_fetched: bool,
    /// Whether the server is addressed by a domain name with a dot.
    has_domain: bool,
}

impl Reader {
    /// Returns a reader that has received nothing.
    pub fn new(sizes: Sizes) -> Reader {
        Reader {
            sizes,
            bytes: Vec::new(),
            head: None,
            balance: Balance::default(),
            chunks: Chunks::default(),
            was_continued: false,
        }
    }

    /// Receives bytes.
    ///
    /// # Errors
    /// [`ReadError`] if the request is too large or malformed.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        self.bytes.extend_from_slice(bytes);
        if self.head.is_none() {
            // The end of the head can only be in the new bytes.
            let from = (self.bytes.len() - bytes.len()).saturating_sub(3);
            match head_end(&self.bytes, from) {
                Some(end) if end > self.sizes.head => return Err(ReadError::HeadTooLarge),
                Some(end) => self.head = Some(Head::read(&self.bytes[..end])?),
                None if self.bytes.len() > self.sizes.head => return Err(ReadError::HeadTooLarge),
                None => return Ok(()),
            }
        }
        let head = self.head.as_ref().expect("the head was just read");
        if head.length.is_some_and(|length| length > self.sizes.body) {
            return Err(ReadError::BodyTooLarge);
        }
        if head.is_chunked {
            let raw = &self.bytes[head.end..];
            self.chunks.feed(raw, self.sizes.body).map_err(ReadError::Malformed)?;
        } else {
            self.balance.feed(&self.bytes[head.end..]);
        }
        if self.bytes.len() - head.end > self.sizes.body {
            return Err(ReadError::BodyTooLarge);
        }
        Ok(())
    }

    /// Returns how much of the request has been read, while more bytes may arrive.
    pub fn progress(&mut self) -> Progress {
        let Some(head) = &self.head else { return Progress::Incomplete };
        if !head.has_body() {
            return Progress::Complete(self.request(head));
        }
        if head.is_chunked {
            return if self.chunks.is_ended() {
                Progress::Complete(self.request(head))
            } else {
                Progress::Incomplete
            };
        }
        let length = self.body(head).len();
        if length == 0 && head.expects && !self.was_continued {
            self.was_continued = true;
            return Progress::Continue;
        }
        match head.length {
            Some(expected) if length < expected => Progress::Incomplete,
            // ggp-base counts characters instead of bytes, so the last bytes may still be in
            // flight.
            Some(_) if self.balance.is_open() => Progress::PerhapsComplete(self.request(head)),
            Some(_) => Progress::Complete(self.request(head)),
            None if self.balance.is_closed() => Progress::Complete(self.request(head)),
            None if self.balance.is_open() || length == 0 => Progress::Incomplete,
            None => Progress::PerhapsComplete(self.request(head)),
        }
    }

    /// Returns the request after the connection has ended.
    ///
    /// # Errors
    /// [`ReadError`] if the connection has ended before the end of the head.
    pub fn finish(&self) -> Result<HttpRequest, ReadError> {
        match &self.head {
            Some(head) => Ok(self.request(head)),
            None if self.bytes.is_empty() => Err(ReadError::Empty),
            None => Err(ReadError::Malformed("the connection ended before the request")),
        }
    }

    /// Returns whether the head of the request has been read.
    pub fn has_head(&self) -> bool {
        self.head.is_some()
    }

    /// Returns what has sent the request, as far as its head tells. `is_local` says whether the
    /// connection comes from this machine.
    pub fn sender(&self, is_local: bool) -> Sender {
        let Some(head) = &self.head else { return Sender::Program };
        if let Some(origin) = &head.origin {
            return Sender::Page(origin.clone());
        }
        // A page whose domain name was made to point at this machine sends requests without an
        // origin, because the server is its own to the browser. The name of the host gives it
        // away: local programs use an address, `localhost` or the name of the machine.
        let is_rebound = is_local && head.method == "GET" && head.has_domain;
        if head.is_fetched || is_rebound { Sender::UnnamedPage } else { Sender::Program }
    }

    /// Returns the part of the body that has been read.
    fn body(&self, head: &Head) -> &[u8] {
        if head.is_chunked { self.chunks.body() } else { &self.bytes[head.end..] }
    }

    /// Returns the request as far as it has been read.
    fn request(&self, head: &Head) -> HttpRequest {
        let message = match head.method.as_str() {
            "POST" | "PUT" => String::from_utf8_lossy(self.body(head)).into_owned(),
            "GET" => decode_path(&head.path),
            _ => String::new(),
        };
        HttpRequest { method: head.method.clone(), message }
    }
}

impl Head {
    /// Returns whether a request with this method has a body.
    fn has_body(&self) -> bool {
        self.method == "POST" || self.method == "PUT"
    }

    fn read(bytes: &[u8]) -> Result<Head, ReadError> {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let mut words = first.split_whitespace();
        let (Some(method), Some(path)) = (words.next(), words.next()) else {
            return Err(ReadError::Malformed("the first line is not a request line"));
        };
        if !method.chars().all(|c| c.is_ascii_alphabetic()) {
            return Err(ReadError::Malformed("the first line is not a request line"));
        }
        let mut head = Head {
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            end: bytes.len(),
            length: None,
            is_chunked: false,
            expects: false,
            origin: None,
            is_fetched: false,
            has_domain: false,
        };
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            match name.trim().to_ascii_lowercase().as_str() {
                "content-length" => {
                    // `parse` would take a sign.
                    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
                    let length = value.parse().ok().filter(|_| is_number);
                    let length =
                        length.ok_or(ReadError::Malformed("Content-Length is not a number"))?;
                    if head.length.is_some_and(|other| other != length) {
                        return Err(ReadError::Malformed("there are two values of Content-Length"));
                    }
                    head.length = Some(length);
                }
                "transfer-encoding" => {
                    head.is_chunked |= value.to_ascii_lowercase().contains("chunked");
                }
                "origin" => head.origin = Some(value.to_owned()),
                // `none` is a request of the user, such as a typed address.
                "sec-fetch-site" => head.is_fetched |= !value.eq_ignore_ascii_case("none"),
                "host" => head.has_domain = is_domain(value),
                "expect" => head.expects = value.eq_ignore_ascii_case("100-continue"),
                _ => {}
            }
        }
        Ok(head)
    }
}

/// Returns whether a `Host` is a domain name with a dot, and not an address or a local name.
fn is_domain(host: &str) -> bool {
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name).trim_end_matches('.');
    !name.starts_with('[')
        && name.contains('.')
        && name.parse::<std::net::Ipv4Addr>().is_err()
        && !name.to_ascii_lowercase().ends_with(".localhost")
}

/// Returns the index after the blank line. Line ends are `\r\n` or `\n`.
fn head_end(bytes: &[u8], from: usize) -> Option<usize> {
    let tail = &bytes[from..];
    let find = |mark: &[u8]| {
        tail.windows(mark.len()).position(|window| window == mark).map(|at| from + at + mark.len())
    };
    find(b"\r\n\r\n").into_iter().chain(find(b"\n\n")).min()
}

/// Decodes the message in the path of a `GET`.
fn decode_path(path: &str) -> String {
    let path = path.strip_prefix('/').unwrap_or(path);
    let hex = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (mut bytes, mut rest) = (Vec::new(), path.as_bytes());
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        let escaped = match (byte, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| high * 16 + low),
            _ => None,
        };
        match escaped {
            Some(escaped) => {
                bytes.push(escaped);
                rest = &after[2..];
            }
            None => bytes.push(if byte == b'+' { b' ' } else { byte }),
        }
    }
    String::from_utf8_lossy(&bytes).replace(['\r', '\n'], " ")
}

/// Returns a response as ggp-base sends it, without the headers by which web pages may read it.
pub fn response(status: u16, body: &str) -> Vec<u8> {
    response_for_origin(status, body, None)
}

/// Returns a response. Web pages of the allowed origin may read it.
pub fn response_for_origin(status: u16, body: &str, allowed_origin: Option<&str>) -> Vec<u8> {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        408 => "Request Timeout",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Error",
    };
    let length = body.len();
    // A line break in the option must not start another header.
    let origin = allowed_origin.filter(|origin| !origin.contains(['\r', '\n']));
    let access = origin.map_or(String::new(), |origin| {
        format!(
            "Access-Control-Allow-Origin: {origin}\r\nVary: Origin\r\n\
             Access-Control-Allow-Methods: POST, GET, OPTIONS\r\n\
             Access-Control-Allow-Headers: Content-Type\r\nAccess-Control-Max-Age: 86400\r\n"
        )
    });
    format!(
        "HTTP/1.0 {status} {reason}\r\nContent-type: text/acl\r\nContent-length: {length}\r\n\
         {access}Connection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

#[cfg(test)]
mod tests;
