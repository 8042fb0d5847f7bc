//! Runs this program again in a process of its own.
//!
//! Measurements need this to be independent of each other, and it contains work that may run out of
//! memory.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::failure::Failure;

/// The result of a process.
pub(crate) enum Outcome {
    /// The process printed one JSON object.
    Answered(Value),
    /// The process exited with code 1 or 2 and a message.
    Failed(Failure),
    /// The process was killed, most often because memory ran out.
    Killed(String),
}

/// Runs `agon ARGS` with the given standard input and waits for the one JSON object that it prints.
pub(crate) fn run(args: &[OsString], input: &str) -> Result<Outcome, Failure> {
    let cannot =
        |what: &str, error: std::io::Error| Failure::unreadable(format!("cannot {what}: {error}"));
    let program = std::env::current_exe().map_err(|error| cannot("find this program", error))?;
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| cannot("run this program again", error))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A process that fails before it has read its input reports the reason itself.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| cannot("wait for the process", error))?;
    if let Ok(value) = serde_json::from_slice(&output.stdout) {
        return Ok(Outcome::Answered(value));
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Ok(match output.status.code() {
        Some(code @ (1 | 2)) if !message.is_empty() => {
            Outcome::Failed(Failure { code: code.unsigned_abs() as u8, message })
        }
        _ if message.is_empty() => {
            Outcome::Killed(format!("the process was killed: {}", output.status))
        }
        _ => Outcome::Killed(format!("the process was killed: {}; {message}", output.status)),
    })
}
