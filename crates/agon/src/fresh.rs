//! This program again, in a process of its own: for measurements that must not see each other, and work that may not come back.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::failure::Failure;

/// What came of a process.
pub(crate) enum Outcome {
    /// It printed one JSON object.
    Answered(Value),
    /// It ended by itself, with something to say.
    Failed(Failure),
    /// It was ended, most often for want of memory.
    Ended(String),
}

/// Runs `agon ARGS` with a text on standard input, and waits for the one JSON object that it prints.
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
        // A process that fails before it has read its rules says why by itself.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| cannot("wait for the process", error))?;
    if let Ok(value) = serde_json::from_slice(&output.stdout) {
        return Ok(Outcome::Answered(value));
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Ok(match output.status.code() {
        Some(code @ (1 | 2)) if !said.is_empty() => {
            Outcome::Failed(Failure { code: code.unsigned_abs() as u8, message: said })
        }
        _ if said.is_empty() => Outcome::Ended(format!("the process was ended: {}", output.status)),
        _ => Outcome::Ended(format!("the process was ended: {}; {said}", output.status)),
    })
}
