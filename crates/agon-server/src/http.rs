//! Requests and answers as bytes.

mod balance;
mod chunks;

use balance::Balance;
use chunks::Chunks;

/// How large a request may be.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes before the blank line.
    pub head: usize,
    /// Bytes after it.
    pub body: usize,
}

impl Default for Sizes {
    fn default() -> Sizes {
        // The largest rulesheet anybody plays has less than a megabyte.
        Sizes { head: 16 << 10, body: 16 << 20 }
    }
}

/// A request that is whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// In capitals.
    pub method: String,
    /// The message: the body, or what a `GET` has in its path.
    pub message: String,
}

/// How far the reading of a request has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There must be more to come.
    More,
    /// The peer waits for a word before it sends the body.
    Continue,
    /// It may be whole, or a little more may be under way: lengths are often wrong.
    Perhaps(Request),
    /// It is whole.
    Whole(Request),
}

/// Why a request is not read on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Nothing came at all.
    Silence,
    /// It is not HTTP.
    Nonsense(&'static str),
    /// The head is too large.
    LongHead,
    /// The body is too large.
    LongBody,
    /// It took too long to come.
    Slow,
}

impl Refusal {
    /// The status that says so.
    pub fn status(&self) -> u16 {
        match self {
            Refusal::Silence | Refusal::Nonsense(_) => 400,
            Refusal::LongHead => 431,
            Refusal::LongBody => 413,
            Refusal::Slow => 408,
        }
    }
}

/// Reads a request as it comes in.
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
    /// Where the body begins.
    end: usize,
    length: Option<usize>,
    is_chunked: bool,
    expects: bool,
}

impl Reader {
    /// A reader that has seen nothing.
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

    /// Takes in bytes.
    ///
    /// # Errors
    /// If they are too many, or no request.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), Refusal> {
        self.bytes.extend_from_slice(bytes);
        if self.head.is_none() {
            // Only what is new can hold the end of the head.
            let from = (self.bytes.len() - bytes.len()).saturating_sub(3);
            match head_end(&self.bytes, from) {
                Some(end) if end > self.sizes.head => return Err(Refusal::LongHead),
                Some(end) => self.head = Some(Head::read(&self.bytes[..end])?),
                None if self.bytes.len() > self.sizes.head => return Err(Refusal::LongHead),
                None => return Ok(()),
            }
        }
        let head = self.head.as_ref().expect("it was just read");
        if head.length.is_some_and(|length| length > self.sizes.body) {
            return Err(Refusal::LongBody);
        }
        if head.is_chunked {
            self.chunks.feed(&self.bytes[head.end..]).map_err(Refusal::Nonsense)?;
        } else {
            self.balance.feed(&self.bytes[head.end..]);
        }
        if self.bytes.len() - head.end > self.sizes.body {
            return Err(Refusal::LongBody);
        }
        Ok(())
    }

    /// What there is by now; `is_ended` if no more bytes can come.
    ///
    /// # Errors
    /// If they can not, and it is no request.
    pub fn progress(&mut self, is_ended: bool) -> Result<Progress, Refusal> {
        let Some(head) = &self.head else {
            return match (is_ended, self.bytes.is_empty()) {
                (false, _) => Ok(Progress::More),
                (true, true) => Err(Refusal::Silence),
                (true, false) => Err(Refusal::Nonsense("the connection ended before the request")),
            };
        };
        if head.method != "POST" && head.method != "PUT" {
            let message = if head.method == "GET" { in_path(&head.path) } else { String::new() };
            return Ok(Progress::Whole(Request { method: head.method.clone(), message }));
        }
        let body = if head.is_chunked { self.chunks.body() } else { &self.bytes[head.end..] };
        let request = || {
            let message = String::from_utf8_lossy(body).into_owned();
            Request { method: head.method.clone(), message }
        };
        if is_ended {
            return Ok(Progress::Whole(request()));
        }
        if head.is_chunked {
            return Ok(if self.chunks.is_ended() {
                Progress::Whole(request())
            } else {
                Progress::More
            });
        }
        if body.is_empty() && head.expects && !self.was_continued {
            self.was_continued = true;
            return Ok(Progress::Continue);
        }
        Ok(match head.length {
            Some(length) if body.len() < length => Progress::More,
            // ggp-base counts characters where it should count bytes, so the last of them may still be under way.
            Some(_) if self.balance.is_open() => Progress::Perhaps(request()),
            Some(_) => Progress::Whole(request()),
            None if self.balance.is_closed() => Progress::Whole(request()),
            None if self.balance.is_open() || body.is_empty() => Progress::More,
            None => Progress::Perhaps(request()),
        })
    }
}

impl Head {
    fn read(bytes: &[u8]) -> Result<Head, Refusal> {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let mut words = first.split_whitespace();
        let (Some(method), Some(path)) = (words.next(), words.next()) else {
            return Err(Refusal::Nonsense("the first line is not that of a request"));
        };
        if !method.chars().all(|c| c.is_ascii_alphabetic()) {
            return Err(Refusal::Nonsense("the first line is not that of a request"));
        }
        let mut head = Head {
            method: method.to_ascii_uppercase(),
            path: path.to_owned(),
            end: bytes.len(),
            length: None,
            is_chunked: false,
            expects: false,
        };
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            match name.trim().to_ascii_lowercase().as_str() {
                "content-length" => {
                    let length = value.parse();
                    head.length = Some(
                        length.map_err(|_| Refusal::Nonsense("Content-Length is not a number"))?,
                    );
                }
                "transfer-encoding" => {
                    head.is_chunked |= value.to_ascii_lowercase().contains("chunked")
                }
                "expect" => head.expects = value.eq_ignore_ascii_case("100-continue"),
                _ => {}
            }
        }
        Ok(head)
    }
}

/// Where the blank line is over, be its ends of line long or short.
fn head_end(bytes: &[u8], from: usize) -> Option<usize> {
    let tail = &bytes[from..];
    let find = |mark: &[u8]| {
        tail.windows(mark.len()).position(|window| window == mark).map(|at| from + at + mark.len())
    };
    find(b"\r\n\r\n").into_iter().chain(find(b"\n\n")).min()
}

/// The message in the path of a `GET`.
fn in_path(path: &str) -> String {
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

/// An answer, byte for byte as ggp-base sends it, with what browsers want besides.
pub fn answer(status: u16, body: &str) -> Vec<u8> {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        408 => "Request Timeout",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Error",
    };
    let length = body.len();
    format!(
        "HTTP/1.0 {status} {reason}\r\nContent-type: text/acl\r\nContent-length: {length}\r\n\
         Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: POST, GET, OPTIONS\r\n\
         Access-Control-Allow-Headers: Content-Type\r\nAccess-Control-Allow-Age: 86400\r\n\
         Access-Control-Max-Age: 86400\r\nConnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

#[cfg(test)]
mod tests;
