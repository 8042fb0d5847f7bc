//! Waiting for another thread.

use std::time::Duration;

/// Back-off between two attempts: first the thread spins, then it yields the processor to others,
/// and in the end, when another thread recycles a full tree, it sleeps.
#[derive(Default)]
pub(crate) struct Backoff {
    n_waits: u32,
}

impl Backoff {
    /// About 100 microseconds, the time of a batch.
    const SPINS: u32 = 3000;
    /// Some milliseconds if no other thread wants the processor.
    const YIELDS: u32 = 10_000;
    const SLEEP: Duration = Duration::from_micros(50);

    /// Returns whether the wait has taken longer than a batch does: then the other threads have
    /// something else to do, or no processor.
    pub(super) fn is_long(&self) -> bool {
        self.n_waits > Backoff::SPINS
    }

    pub(super) fn wait(&mut self) {
        self.n_waits = self.n_waits.saturating_add(1);
        if self.n_waits <= Backoff::SPINS {
            // Not `std::hint::spin_loop`: on a virtual machine a few dozen of these in a row make
            // the host take the processor away for a while. With it, on the game blocker, both
            // threads waited at the same time for a third of all time.
            for turn in 0..64 {
                std::hint::black_box(turn);
            }
        } else if self.n_waits <= Backoff::SPINS + Backoff::YIELDS {
            std::thread::yield_now();
        } else {
            std::thread::sleep(Backoff::SLEEP);
        }
    }
}
