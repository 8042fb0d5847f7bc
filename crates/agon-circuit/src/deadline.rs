//! A time at which work stops, or a flag that cancels it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A time after which work is abandoned, or never. Set by the caller, who may also give a flag by
/// which another thread cancels the work earlier.
#[derive(Copy, Clone, Debug, Default)]
pub struct Deadline<'a> {
    at: Option<Instant>,
    stop: Option<&'a AtomicBool>,
}

/// Number of pieces of work between readings of the clock. A piece is a gate, or a comparison of
/// about a hundred instructions.
const PIECES: usize = 1024;

impl<'a> Deadline<'a> {
    /// A deadline that never passes.
    pub const NEVER: Deadline<'static> = Deadline { at: None, stop: None };

    /// Returns the deadline at this time, or one that never passes.
    pub fn new(at: Option<Instant>) -> Deadline<'a> {
        Deadline { at, stop: None }
    }

    /// Returns a deadline that also passes when a flag is set.
    #[must_use]
    pub fn or_when(self, stop: Option<&'a AtomicBool>) -> Deadline<'a> {
        Deadline { stop, ..self }
    }

    /// Returns whether it has passed.
    fn has_passed(self) -> bool {
        self.at.is_some_and(|at| Instant::now() > at)
            || self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    /// Returns whether it has passed, before a piece of work of this number. The clock is read for
    /// few of the numbers, so this may be called often.
    #[inline]
    pub(crate) fn has_passed_at(self, piece: usize) -> bool {
        piece.is_multiple_of(PIECES) && self.has_passed()
    }
}
