//! Answers of players, read as their bytes arrive.

use std::fmt;

/// Maximum size of an answer in bytes. A move has a few hundred at most.
pub const MAX_ANSWER: usize = 1 << 20;

/// Why bytes are not an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AnswerError {
    /// It has more than [`MAX_ANSWER`] bytes.
    TooLarge,
    /// It is not HTTP.
    NotHttp,
    /// The status is not success. The text is the beginning of the line.
    Status(String),
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AnswerError::TooLarge => write!(f, "the answer has more than {MAX_ANSWER} bytes"),
            AnswerError::NotHttp => f.write_str("the answer is not HTTP"),
            AnswerError::Status(line) => write!(f, "the status is `{line}`"),
        }
    }
}

impl std::error::Error for AnswerError {}

/// Reads an answer as its bytes arrive.
///
/// Each byte is looked at once, however small the pieces are in which a player sends them.
#[derive(Debug, Default)]
pub struct AnswerReader {
    bytes: Vec<u8>,
    /// Number of bytes in which no blank line ends.
    n_searched: usize,
    head: Option<Head>,
}

#[derive(Copy, Clone, Debug)]
struct Head {
    /// Index of the first byte of the body.
    end: usize,
    /// The length of the body, if the head gives it.
    length: Option<usize>,
}

impl AnswerReader {
    /// Adds bytes. Returns whether the answer is complete. An answer without a length is complete
    /// when the connection ends.
    ///
    /// # Errors
    /// [`AnswerError::TooLarge`] if there are too many bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<bool, AnswerError> {
        self.bytes.extend_from_slice(bytes);
        if self.head.is_none() {
            self.find_head();
        }
        if self.is_complete() {
            return Ok(true);
        }
        if self.bytes.len() > MAX_ANSWER { Err(AnswerError::TooLarge) } else { Ok(false) }
    }

    /// Returns whether the whole body is there.
    pub fn is_complete(&self) -> bool {
        self.head.is_some_and(|Head { end, length }| {
            length.is_some_and(|length| self.bytes.len() - end >= length)
        })
    }

    /// Returns the body of an answer whose status is success.
    ///
    /// # Errors
    /// [`AnswerError`] if it is not such an answer.
    pub fn finish(&self) -> Result<String, AnswerError> {
        let Head { end, length } = self.head.ok_or(AnswerError::NotHttp)?;
        let head = String::from_utf8_lossy(&self.bytes[..end]);
        let status = head.lines().next().unwrap_or_default();
        let code = status.split_whitespace().nth(1).unwrap_or_default();
        if !status.starts_with("HTTP/") || !code.starts_with('2') {
            return Err(AnswerError::Status(status.chars().take(80).collect()));
        }
        let body = &self.bytes[end..];
        let body = &body[..length.map_or(body.len(), |length| length.min(body.len()))];
        Ok(String::from_utf8_lossy(body).into_owned())
    }

    fn find_head(&mut self) {
        // The end of a blank line may have begun in the bytes before.
        let from = self.n_searched.saturating_sub(3);
        let new = &self.bytes[from..];
        let after = |mark: &[u8]| {
            new.windows(mark.len()).position(|bytes| bytes == mark).map(|at| at + mark.len())
        };
        self.n_searched = self.bytes.len();
        let Some(end) = after(b"\r\n\r\n").into_iter().chain(after(b"\n\n")).min() else { return };
        let end = from + end;
        let head = String::from_utf8_lossy(&self.bytes[..end]).to_ascii_lowercase();
        let length =
            head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        self.head = Some(Head { end, length });
    }
}
