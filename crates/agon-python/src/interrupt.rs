//! Work without the interpreter lock, which Ctrl-C stops.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

use pyo3::prelude::*;

use crate::error::wrong;

/// Time between two checks for Ctrl-C.
const POLL: Duration = Duration::from_millis(50);

/// Stack size of the thread that works: proofs go as deep as games are long.
const STACK: usize = 64 << 20;

/// Runs work in a thread of its own, without the interpreter lock. When Python has a signal to
/// handle, such as Ctrl-C, `stop` is set, and the exception is raised once the work has ended.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    stop: &AtomicBool,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    py.detach(|| {
        std::thread::scope(|scope| {
            let (done, ended) = sync_channel(1);
            let thread = std::thread::Builder::new().name("agon".to_owned()).stack_size(STACK);
            let thread = thread
                .spawn_scoped(scope, move || {
                    let result = work();
                    // The receiver waits until it has this message.
                    let _ = done.send(());
                    result
                })
                .map_err(|error| wrong(&format!("cannot start a thread: {error}")))?;
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(POLL) {
                if raised.is_none()
                    && let Err(signal) = Python::attach(|py| py.check_signals())
                {
                    stop.store(true, Ordering::Relaxed);
                    raised = Some(signal);
                }
            }
            let result = thread.join();
            match (raised, result) {
                (Some(signal), _) => Err(signal),
                (None, Ok(result)) => Ok(result),
                (None, Err(_)) => Err(wrong(&"agon panicked, which is a bug; please report it")),
            }
        })
    })
}
