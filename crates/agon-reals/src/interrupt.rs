//! Ends long work before it is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// When work must end before it is done: at a deadline, or when another thread sets a flag. By
/// default, never.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    /// The time at which work ends.
    pub deadline: Option<Instant>,
    /// Ends the work when it is set.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Interrupt {
    /// Work that is not interrupted.
    pub const NEVER: Interrupt = Interrupt { deadline: None, stop: None };

    /// Returns an interrupt at a deadline, if there is one.
    pub fn at(deadline: Option<Instant>) -> Interrupt {
        Interrupt { deadline, stop: None }
    }

    /// Returns this interrupt with an earlier deadline, if the given one is earlier.
    #[must_use]
    pub fn no_later_than(&self, deadline: Option<Instant>) -> Interrupt {
        let deadline = match (self.deadline, deadline) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        Interrupt { deadline, stop: self.stop.clone() }
    }

    /// Returns whether work must end now. This reads the clock if there is a deadline, so callers
    /// ask once in many steps.
    pub fn is_due(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn work_ends_at_the_deadline_or_when_the_flag_is_set() {
        assert!(!Interrupt::NEVER.is_due());
        let now = Instant::now();
        let later = now + Duration::from_secs(3600);
        assert!(Interrupt::at(Some(now)).is_due());
        assert!(!Interrupt::at(Some(later)).is_due());
        assert_eq!(Interrupt::at(Some(later)).no_later_than(Some(now)).deadline, Some(now));
        let stop = Arc::new(AtomicBool::new(false));
        let interrupt = Interrupt { deadline: Some(later), stop: Some(Arc::clone(&stop)) };
        assert!(!interrupt.is_due());
        stop.store(true, Ordering::Relaxed);
        assert!(interrupt.is_due());
    }
}
