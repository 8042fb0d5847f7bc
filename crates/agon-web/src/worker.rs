//! Work in processes of their own: the server runs its own program with other commands.
//!
//! A process can be stopped at any moment, so rules that were sent by a page cannot keep the
//! server busy, and a crash takes nothing else with it.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::answer::ApiError;
use crate::lock;

/// Maximum number of bytes of the output of a worker.
const MAX_OUTPUT: u64 = 32 << 20;
/// How often a running worker is looked at.
const POLL: Duration = Duration::from_millis(10);

/// Number of commands that may wait for each one that runs.
const WAITING: usize = 3;

/// Tells work in another thread that its result is no longer wanted.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Returns whether the result is no longer wanted.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns a value that stops the work when it is dropped, as the server drops what it does for
    /// a client that has closed its connection.
    pub(crate) fn on_drop(&self) -> StopOnDrop {
        StopOnDrop(self.clone())
    }
}

/// Stops work when it is dropped.
pub(crate) struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

/// Runs commands of the `agon` program in processes of their own.
pub(crate) struct Workers {
    program: Option<PathBuf>,
    queue: Mutex<Queue>,
    freed: Condvar,
    max_running: usize,
    time: Duration,
}

/// How many commands run and how many wait.
#[derive(Default)]
struct Queue {
    n_running: usize,
    n_waiting: usize,
}

/// Counts a running worker.
struct Running<'a>(&'a Workers);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        lock(&self.0.queue).n_running -= 1;
        self.0.freed.notify_one();
    }
}

/// Stops a process when it is dropped.
struct Stopped(Child);

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Workers {
    pub(crate) fn new(program: Option<PathBuf>, max_running: usize, seconds: u64) -> Workers {
        let time = Duration::from_secs(seconds);
        let (queue, freed) = (Mutex::default(), Condvar::new());
        Workers { program, queue, freed, max_running: max_running.max(1), time }
    }

    /// Returns the number of seconds that a worker may take.
    pub(crate) fn seconds(&self) -> u64 {
        self.time.as_secs()
    }

    /// Returns the program, if there is one.
    ///
    /// # Errors
    /// [`ApiError`] if the server was started without.
    pub(crate) fn program(&self) -> Result<&PathBuf, ApiError> {
        self.program
            .as_ref()
            .ok_or_else(|| ApiError::busy("this server was started without worker processes"))
    }

    /// Waits until one more command may run.
    fn enter(&self, stop: &Stop) -> Result<Running<'_>, ApiError> {
        let mut queue = lock(&self.queue);
        if queue.n_running >= self.max_running && queue.n_waiting >= self.max_running * WAITING {
            return Err(ApiError::busy("too many questions at the same time; try again soon"));
        }
        queue.n_waiting += 1;
        while queue.n_running >= self.max_running && !stop.is_set() {
            let waited = self.freed.wait_timeout(queue, POLL);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        queue.n_waiting -= 1;
        if stop.is_set() {
            return Err(gone());
        }
        queue.n_running += 1;
        Ok(Running(self))
    }

    /// Runs a command with `input` as its standard input, and returns the JSON that it prints. A
    /// command waits while too many run. It is stopped if it takes too long, or if nobody wants its
    /// result.
    ///
    /// # Errors
    /// [`ApiError`] if too many commands wait, or the command is stopped or fails, with what it
    /// says.
    pub(crate) fn run(
        &self,
        arguments: &[&str],
        input: &str,
        stop: &Stop,
    ) -> Result<Value, ApiError> {
        let program = self.program()?;
        let _running = self.enter(stop)?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .env("NO_COLOR", "1")
            .spawn()
            .map_err(|error| ApiError::broken(format!("cannot start a worker: {error}")))?;
        let stdin = child.stdin.take();
        let input = input.to_owned();
        // A command that does not read its input must not block the server.
        let writer = std::thread::spawn(move || {
            if let Some(mut stdin) = stdin {
                let _ = stdin.write_all(input.as_bytes());
            }
        });
        let reader = |stream: Option<Box<dyn std::io::Read + Send>>| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                if let Some(stream) = stream {
                    let _ = stream.take(MAX_OUTPUT).read_to_end(&mut bytes);
                }
                String::from_utf8_lossy(&bytes).into_owned()
            })
        };
        let stdout = reader(child.stdout.take().map(|out| Box::new(out) as _));
        let stderr = reader(child.stderr.take().map(|out| Box::new(out) as _));
        let mut child = Stopped(child);
        let until = Instant::now() + self.time;
        let status = loop {
            match child.0.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if Instant::now() < until && !stop.is_set() => std::thread::sleep(POLL),
                Ok(None) | Err(_) => break None,
            }
        };
        drop(child);
        let _ = writer.join();
        let (out, err) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
        let Some(status) = status else {
            if stop.is_set() {
                return Err(gone());
            }
            return Err(ApiError::busy(format!(
                "stopped after {} s: the rules are too large for this question",
                self.time.as_secs()
            )));
        };
        let parsed = out.lines().next().and_then(|line| serde_json::from_str(line).ok());
        match parsed {
            Some(value) => Ok(value),
            None if status.success() => Err(ApiError::broken("a worker has said nothing")),
            None => {
                let text = err.trim();
                let text = text.strip_prefix("error: ").unwrap_or(text);
                Err(ApiError::bad(if text.is_empty() { "the worker failed" } else { text }))
            }
        }
    }
}

fn gone() -> ApiError {
    ApiError::busy("stopped, because the client has gone")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sleepers(max_running: usize) -> Workers {
        Workers::new(Some(PathBuf::from("/bin/sleep")), max_running, 600)
    }

    #[test]
    fn a_command_ends_when_its_client_has_gone() {
        let workers = sleepers(1);
        let stop = Stop::default();
        std::thread::scope(|scope| {
            let running = scope.spawn(|| workers.run(&["600"], "", &stop));
            while lock(&workers.queue).n_running == 0 {
                std::thread::yield_now();
            }
            drop(stop.on_drop());
            let error = running.join().expect("it does not panic").expect_err("it was stopped");
            assert!(error.message.contains("the client has gone"), "{}", error.message);
        });
        assert_eq!(lock(&workers.queue).n_running, 0);
    }

    #[test]
    fn commands_wait_in_line_and_too_many_are_refused() {
        let workers = sleepers(1);
        let stop = Stop::default();
        std::thread::scope(|scope| {
            let first = scope.spawn(|| workers.run(&["600"], "", &stop));
            while lock(&workers.queue).n_running == 0 {
                std::thread::yield_now();
            }
            let waiting: Vec<_> =
                (0..WAITING).map(|_| scope.spawn(|| workers.run(&["600"], "", &stop))).collect();
            while lock(&workers.queue).n_waiting < WAITING {
                std::thread::yield_now();
            }
            assert_eq!(lock(&workers.queue).n_running, 1);
            let error = workers.run(&["600"], "", &stop).expect_err("the line is full");
            assert!(error.message.contains("too many"), "{}", error.message);
            drop(stop.on_drop());
            for handle in waiting.into_iter().chain([first]) {
                assert!(handle.join().expect("it does not panic").is_err());
            }
        });
    }
}
