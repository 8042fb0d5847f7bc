//! Whether the parentheses of a message are closed yet.

/// Counts parentheses as they come in.
#[derive(Debug, Default)]
pub(super) struct Balance {
    n_read: usize,
    depth: usize,
    has_term: bool,
    in_comment: bool,
}

impl Balance {
    /// Takes in what is new in a body that only ever grows.
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

    /// Whether something is open that must be closed.
    pub(super) fn is_open(&self) -> bool {
        self.depth > 0
    }

    /// Whether there was something, and all of it is closed.
    pub(super) fn is_closed(&self) -> bool {
        self.has_term && self.depth == 0
    }
}
