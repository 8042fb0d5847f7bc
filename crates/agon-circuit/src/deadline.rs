//! When to stop.

use std::time::Instant;

/// A time after which work is given up, set by the caller; or never.
#[derive(Copy, Clone, Debug, Default)]
pub struct Deadline(Option<Instant>);

/// The clock is read once in so many pieces of work: gates, or comparisons of some hundred instructions.
const PIECES: usize = 1024;

impl Deadline {
    /// Work is never given up.
    pub const NEVER: Deadline = Deadline(None);

    /// The time, if there is one.
    pub fn new(at: Option<Instant>) -> Deadline {
        Deadline(at)
    }

    /// Whether it has passed.
    pub fn has_passed(self) -> bool {
        self.0.is_some_and(|at| Instant::now() > at)
    }

    /// Whether it has passed, asked before each of many pieces of work by their number: most times it is not looked at.
    #[inline]
    pub(crate) fn has_passed_at(self, piece: usize) -> bool {
        piece.is_multiple_of(PIECES) && self.has_passed()
    }
}
