//! Chunked bodies of HTTP/1.1.

/// Joins the chunks of a body.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    /// Number of raw bytes that have been processed.
    n_done: usize,
    body: Vec<u8>,
    is_ended: bool,
}

/// Maximum length of the line with the size of a chunk.
const MAX_LINE: usize = 200;

impl Chunks {
    /// Receives a raw body that only grows, and processes the new bytes. A chunk may announce at
    /// most `max_length` bytes.
    pub(super) fn feed(&mut self, raw: &[u8], max_length: usize) -> Result<(), &'static str> {
        while !self.is_ended {
            let rest = &raw[self.n_done..];
            let Some(line_end) = rest.iter().take(MAX_LINE).position(|&byte| byte == b'\n') else {
                return if rest.len() < MAX_LINE {
                    Ok(())
                } else {
                    Err("a chunk has no valid length")
                };
            };
            let line = String::from_utf8_lossy(&rest[..line_end]);
            let digits = line.trim().split(';').next().unwrap_or_default().trim();
            // `from_str_radix` would take a sign.
            let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let length = usize::from_str_radix(digits, 16).ok().filter(|_| is_hex);
            let length = length.ok_or("a chunk has no valid length")?;
            // The length comes from outside: nothing is added to it before this check.
            if length > max_length {
                return Err("a chunk is too long");
            }
            let start = line_end + 1;
            let end = start + length;
            if length > 0 && rest.len() < end + 2 {
                return Ok(());
            }
            if length == 0 {
                self.is_ended = true;
            } else {
                self.body.extend_from_slice(&rest[start..end]);
                let line_break = if rest[end] == b'\r' { 2 } else { 1 };
                self.n_done += end + line_break;
            }
        }
        Ok(())
    }

    pub(super) fn body(&self) -> &[u8] {
        &self.body
    }

    pub(super) fn is_ended(&self) -> bool {
        self.is_ended
    }
}
