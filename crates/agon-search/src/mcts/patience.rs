//! Waiting for another thread.

use std::time::Duration;

/// How long to wait until something is asked for again: hardly at all to begin with; then others that want the processor have it; and in the
/// end, when somebody makes room in a full tree, it is left alone for a while.
#[derive(Default)]
pub(super) struct Patience {
    n_waits: u32,
}

impl Patience {
    /// Some 100 microseconds, as a round takes.
    const SPINS: u32 = 3000;
    /// Some milliseconds where nobody else wants the processor.
    const YIELDS: u32 = 10_000;
    const NAP: Duration = Duration::from_micros(50);

    /// Whether it has taken longer than a round does: then others have something else to do, or no processor.
    pub(super) fn is_gone(&self) -> bool {
        self.n_waits > Patience::SPINS
    }

    pub(super) fn wait(&mut self) {
        self.n_waits = self.n_waits.saturating_add(1);
        if self.n_waits <= Patience::SPINS {
            // Not the processor's instruction for that (`std::hint::spin_loop`): in a guest a few dozen of it in a row make the host take the processor
            // away for a while. With it, on blocker, both threads waited at the same time for a third of all time.
            for turn in 0..64 {
                std::hint::black_box(turn);
            }
        } else if self.n_waits <= Patience::SPINS + Patience::YIELDS {
            std::thread::yield_now();
        } else {
            std::thread::sleep(Patience::NAP);
        }
    }
}
