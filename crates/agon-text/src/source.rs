//! Texts with a name, and places in them.

use std::fmt;

/// A range of bytes of a [`Source`]: `start..end`. Invariant: `start <= end`.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Returns the span from `start` up to, not including, `end`.
    pub fn new(start: usize, end: usize) -> Span {
        debug_assert!(start <= end, "a span does not end before it starts");
        let narrow =
            |n: usize| u32::try_from(n).expect("sources are limited to 4 GiB by Source::new");
        Span { start: narrow(start), end: narrow(end) }
    }

    /// Returns the first byte.
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// Returns the byte after the last one.
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// Returns the smallest span that contains both spans.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// A place as people name it. Line and column count from 1, and the column counts characters.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct LineColumn {
    /// The line, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
}

/// A text with the name that diagnostics show.
///
/// A line ends at `\n`, at `\r\n`, or at a single `\r`. All three occur in published rulesheets.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    text: String,
    line_starts: Vec<usize>,
    /// The number of characters before each multiple of [`BLOCK`] bytes. A generated text may be a
    /// single line of megabytes, and thousands of places in it may be asked for.
    chars_before: Vec<usize>,
}

/// Number of bytes between places at which the number of characters so far is stored.
const BLOCK: usize = 256;

/// Returns whether a byte of UTF-8 is the first of a character.
fn starts_char(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

impl Source {
    /// Returns a source with a text. Text beyond 4 GiB minus one byte is cut off, so that a
    /// [`Span`] fits in 8 bytes.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Source {
        let (name, mut text) = (name.into(), text.into());
        if text.len() > u32::MAX as usize {
            let mut end = u32::MAX as usize;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
        }
        let bytes = text.as_bytes();
        let mut line_starts = vec![0];
        let (mut chars_before, mut n_chars) = (Vec::new(), 0);
        for (at, &byte) in bytes.iter().enumerate() {
            if at.is_multiple_of(BLOCK) {
                chars_before.push(n_chars);
            }
            n_chars += usize::from(starts_char(byte));
            if byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                line_starts.push(at + 1);
            }
        }
        Source { name, text, line_starts, chars_before }
    }

    /// Returns a source with bytes of unknown encoding. Bytes that are not UTF-8 become U+FFFD, so
    /// comments in other encodings are harmless.
    pub fn from_bytes(name: impl Into<String>, bytes: &[u8]) -> Source {
        Source::new(name, String::from_utf8_lossy(bytes).into_owned())
    }

    /// Returns the name, normally a path.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text at `span`.
    pub fn slice(&self, span: Span) -> &str {
        &self.text[span.start()..span.end()]
    }

    /// Returns the number of lines, which is at least 1.
    pub fn n_lines(&self) -> usize {
        self.line_starts.len()
    }

    /// Returns the line, from 1, of a byte.
    pub fn line_of(&self, byte: usize) -> usize {
        self.line_starts.partition_point(|&start| start <= byte.min(self.text.len()))
    }

    /// Returns the line and column of a byte.
    pub fn place(&self, byte: usize) -> LineColumn {
        let byte = byte.min(self.text.len());
        let line = self.line_of(byte);
        let start = self.line_starts[line - 1];
        LineColumn { line, column: self.chars_before(byte) - self.chars_before(start) + 1 }
    }

    /// Returns the number of characters that start before a byte.
    fn chars_before(&self, byte: usize) -> usize {
        let block = (byte / BLOCK).min(self.chars_before.len().saturating_sub(1));
        let known = self.chars_before.get(block).copied().unwrap_or(0);
        let rest = &self.text.as_bytes()[block * BLOCK..byte];
        known + rest.iter().filter(|&&byte| starts_char(byte)).count()
    }

    /// Returns the bytes of a line, counted from 1, including its end of line. Returns `None` after
    /// the last line.
    pub fn line_range(&self, line: usize) -> Option<std::ops::Range<usize>> {
        let start = *self.line_starts.get(line.checked_sub(1)?)?;
        let end = self.line_starts.get(line).copied().unwrap_or(self.text.len());
        Some(start..end)
    }
}
