//! What happens when the user or another program interrupts this one.

/// Calls `action` in a thread of its own whenever the program is interrupted (Ctrl-C), terminated
/// or, unless that is ignored as under `nohup`, hung up. Only the first call in a program has an
/// effect. If no handler can be set, these signals end the program as usual.
///
/// Interrupts are heard even if they were ignored: a shell ignores them for all programs that it
/// starts in the background, where they can only come from another program that means it.
#[cfg(unix)]
pub(crate) fn on_interrupt(mut action: impl FnMut() + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use std::sync::atomic::{AtomicBool, Ordering};

    static IS_SET: AtomicBool = AtomicBool::new(false);
    if IS_SET.swap(true, Ordering::SeqCst) {
        return;
    }
    let mut heard = vec![SIGINT, SIGTERM];
    if !is_ignored(SIGHUP) {
        heard.push(SIGHUP);
    }
    let Ok(mut signals) = signal_hook::iterator::Signals::new(heard) else { return };
    let listen = move || signals.forever().for_each(|_| action());
    // Without a thread the signals would be lost, but then nothing else works either.
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(listen);
}

/// Like the function for Unix, for Ctrl-C and closing the window.
#[cfg(not(unix))]
pub(crate) fn on_interrupt(action: impl FnMut() + Send + 'static) {
    let _ = ctrlc::set_handler(action);
}

/// Returns whether this program was started with a signal ignored.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask & (1 << (signal - 1)) != 0
}
