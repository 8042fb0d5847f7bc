//! Counts the parentheses of a message to find its end.

/// Counts parentheses as bytes arrive.
#[derive(Debug, Default)]
pub(super) struct Balance {
    n_read: usize,
    depth: usize,
    has_term: bool,
    in_comment: bool,
}

impl Balance {
    /// Receives a body that only grows, and counts the new bytes.
    pub(super) fn feed(&mut self, body: &[u8]) {
        for &byte in &body[self.n_read..] {
            match byte {
                b'\n' => self.in_comment = false,
                _ if self.in_comment => {}
                b';' => self.in_comment = true,
                b'(' => {
                    self.depth += 1;
                    self.has_term = true;
                }
                b')' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        self.n_read = body.len();
    }

    /// Returns whether a parenthesis is open.
    pub(super) fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// Returns whether there was a parenthesis and all are closed.
    pub(super) fn is_closed(&self) -> bool {
        self.has_term && self.depth == 0
    }
}
