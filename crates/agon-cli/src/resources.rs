//! Memory and processor time that this process has used.

/// Returns the peak memory of this process in MiB, or 0 where the system does not report it.
pub(crate) fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// Returns the processor time of this process in seconds, summed over all threads, or 0 where the
/// system does not report it.
pub(crate) fn cpu_seconds() -> f64 {
    #[cfg(unix)]
    return seconds_of(rustix::time::ClockId::ProcessCPUTime);
    #[cfg(not(unix))]
    0.0
}

/// Returns the processor time of this thread in seconds, or the elapsed time where the system does
/// not report it.
pub(crate) fn thread_seconds() -> f64 {
    #[cfg(unix)]
    return seconds_of(rustix::time::ClockId::ThreadCPUTime);
    #[cfg(not(unix))]
    {
        static BEGAN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        BEGAN.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
    }
}

#[cfg(unix)]
fn seconds_of(clock: rustix::time::ClockId) -> f64 {
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}
