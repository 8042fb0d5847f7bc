//! Processor time, which does not depend on other processes.

use std::sync::LazyLock;
use std::time::Instant;

static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Returns the processor time of this process in seconds, or wall-clock time where the system does
/// not report it.
pub(crate) fn process_seconds() -> f64 {
    seconds("/proc/self/schedstat")
}

/// Returns the processor time of this thread in seconds, or wall-clock time where the system does
/// not report it.
pub(crate) fn thread_seconds() -> f64 {
    seconds("/proc/thread-self/schedstat")
}

fn seconds(path: &str) -> f64 {
    let wall_clock = BEGAN.elapsed().as_secs_f64();
    let text = std::fs::read_to_string(path).ok();
    let nanoseconds = text.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or(wall_clock, |n| n / 1e9)
}
