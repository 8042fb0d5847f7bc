//! What this process has used of the machine.

/// The most memory this process has had at once, in MiB; 0 where the system does not tell.
pub(crate) fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1024
}

/// Seconds that the processor has worked for this process, all threads together; 0 where the system does not tell.
pub(crate) fn cpu_seconds() -> f64 {
    #[cfg(unix)]
    return seconds_of(rustix::time::ClockId::ProcessCPUTime);
    #[cfg(not(unix))]
    0.0
}

/// Seconds that the processor has worked for this thread; where the system does not tell, the seconds that have passed.
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
