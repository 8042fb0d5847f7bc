//! The error of a command: a message and an exit code.

use std::fmt;
use std::path::Path;

use agon_game::{Fault, Shape};

/// Why a command failed: the message that is printed, and the exit code of the process.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code. 1: the input was read and is wrong. 2: the input could not be read, or the
    /// command line is wrong. 130: interrupted by the user.
    pub(crate) code: u8,
    /// The message for the user. Empty if the command has already printed everything.
    pub(crate) message: String,
}

impl Failure {
    /// Returns a failure with exit code 1 and no message, after the command has printed its result.
    pub(crate) fn reported() -> Failure {
        Failure { code: 1, message: String::new() }
    }

    /// Returns a failure with exit code 2: a file or folder cannot be read.
    pub(crate) fn cannot_read(path: &Path, error: &dyn fmt::Display) -> Failure {
        Failure::unreadable(format!("cannot read {}: {error}", path.display()))
    }

    /// Returns a failure with exit code 2: a file cannot be written.
    pub(crate) fn cannot_write(path: &Path, error: &dyn fmt::Display) -> Failure {
        Failure::unreadable(format!("cannot write {}: {error}", path.display()))
    }

    /// Returns a failure with exit code 1: the input was read and is wrong.
    pub(crate) fn wrong(message: impl Into<String>) -> Failure {
        Failure { code: 1, message: message.into() }
    }

    /// Returns a failure with exit code 2: the input cannot be read, or an option is wrong.
    pub(crate) fn unreadable(message: impl Into<String>) -> Failure {
        Failure { code: 2, message: message.into() }
    }
}

/// Describes why a position cannot be played, with the name of the role concerned.
pub(crate) fn describe(fault: &Fault, shape: &Shape) -> String {
    match fault {
        Fault::NoLegalMove(role) => {
            format!(
                "role `{}` has no legal move although play has not ended",
                shape.role_names[role.index()]
            )
        }
        Fault::Refused(why) => why.clone(),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}
