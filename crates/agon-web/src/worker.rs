//! Work in processes of their own: the server runs its own program with other commands.
//!
//! A process can be stopped at any moment, so rules that were sent by a page cannot keep the
//! server busy, and a crash takes nothing else with it.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::answer::ApiError;

/// Maximum number of bytes of the output of a worker.
const MAX_OUTPUT: u64 = 32 << 20;
/// How often a running worker is looked at.
const POLL: Duration = Duration::from_millis(10);

/// Runs commands of the `agon` program in processes of their own.
pub(crate) struct Workers {
    program: Option<PathBuf>,
    n_running: AtomicUsize,
    max_running: usize,
    time: Duration,
}

/// Counts a running worker.
struct Running<'a>(&'a AtomicUsize);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
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
        Workers { program, n_running: AtomicUsize::new(0), max_running, time }
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

    /// Runs a command with `input` as its standard input, and returns the JSON that it prints. A
    /// command that takes too long is stopped.
    ///
    /// # Errors
    /// [`ApiError`] if too many workers run, or the command fails, with what it says.
    pub(crate) fn run(&self, arguments: &[&str], input: &str) -> Result<Value, ApiError> {
        let program = self.program()?;
        let n_before = self.n_running.fetch_add(1, Ordering::Relaxed);
        let _running = Running(&self.n_running);
        // Short commands wait in line; a queue of four for each worker is enough for several pages.
        if n_before >= self.max_running * 4 {
            return Err(ApiError::busy("too many questions at the same time; try again soon"));
        }
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
                Ok(None) if Instant::now() < until => std::thread::sleep(POLL),
                Ok(None) | Err(_) => break None,
            }
        };
        drop(child);
        let _ = writer.join();
        let (out, err) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
        let Some(status) = status else {
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
