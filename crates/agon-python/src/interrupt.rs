//! Work without the interpreter lock, which Ctrl-C stops.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::Builder;
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
            let thread = worker()
                .spawn_scoped(scope, move || {
                    let result = work();
                    // The receiver waits until it has this message.
                    let _ = done.send(());
                    result
                })
                .map_err(|error| no_thread(&error))?;
            let mut raised = None;
            while let Err(signal) = wait(&ended) {
                stop.store(true, Ordering::Relaxed);
                raised.get_or_insert(signal);
            }
            match (raised, thread.join()) {
                (Some(signal), _) => Err(signal),
                (None, Ok(result)) => Ok(result),
                (None, Err(_)) => Err(panicked()),
            }
        })
    })
}

/// Like [`interruptible`], for work with a limit of its own that cannot be told to stop. After
/// Ctrl-C the thread is left alone: it ends at its limit, and its result is dropped.
pub(crate) fn abandonable<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    py.detach(|| {
        let (done, ended) = sync_channel(1);
        let thread = worker().spawn(move || {
            let result = work();
            // The receiver is gone after Ctrl-C.
            let _ = done.send(());
            result
        });
        let thread = thread.map_err(|error| no_thread(&error))?;
        wait(&ended)?;
        thread.join().map_err(|_| panicked())
    })
}

fn worker() -> Builder {
    Builder::new().name("agon".to_owned()).stack_size(STACK)
}

/// Waits for the end of the work, or for a signal whose handler raises an exception.
fn wait(ended: &Receiver<()>) -> PyResult<()> {
    // The sender is dropped without a message if the work panics.
    while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(POLL) {
        let look = |py: Python<'_>| py.check_signals();
        Python::attach(look)?;
    }
    Ok(())
}

fn no_thread(error: &std::io::Error) -> PyErr {
    wrong(&format!("cannot start a thread: {error}"))
}

fn panicked() -> PyErr {
    wrong(&"agon panicked, which is a bug; please report it")
}
