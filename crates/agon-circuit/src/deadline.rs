//! A time at which work stops.

use std::time::Instant;

/// A time after which work is abandoned, or never. Set by the caller.
#[derive(Copy, Clone, Debug, Default)]
pub struct Deadline(Option<Instant>);

/// Number of pieces of work between readings of the clock. A piece is a gate, or a comparison of
/// about a hundred instructions.
const PIECES: usize = 1024;

impl Deadline {
    /// A deadline that never passes.
    pub const NEVER: Deadline = Deadline(None);

    /// Returns the deadline at this time, or one that never passes.
    pub fn new(at: Option<Instant>) -> Deadline {
        Deadline(at)
    }

    /// Returns whether it has passed.
    fn has_passed(self) -> bool {
        self.0.is_some_and(|at| Instant::now() > at)
    }

    /// Returns whether it has passed, before a piece of work of this number. The clock is read for
    /// few of the numbers, so this may be called often.
    #[inline]
    pub(crate) fn has_passed_at(self, piece: usize) -> bool {
        piece.is_multiple_of(PIECES) && self.has_passed()
    }
}
