//! How a command ends when it does not end well.

use std::fmt;

use agon_game::{Fault, Shape};

/// What the program says before it stops, and the code it stops with.
#[derive(Debug)]
pub(crate) struct Failure {
    /// 1: the input was read and found wanting; 2: it could not be read, or the command line is wrong.
    pub(crate) code: u8,
    /// For people; empty if all has been said.
    pub(crate) message: String,
}

impl Failure {
    /// The input was read and is wrong.
    pub(crate) fn wrong(message: impl Into<String>) -> Failure {
        Failure { code: 1, message: message.into() }
    }

    /// The input cannot be read.
    pub(crate) fn unreadable(message: impl Into<String>) -> Failure {
        Failure { code: 2, message: message.into() }
    }
}

/// Why a position could not be worked out, with the role called by its name.
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
