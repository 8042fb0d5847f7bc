//! The exceptions of the module.

use std::fmt::Display;

use agon::PlayError;
use agon::open::OpenError;
use agon::reports::finding_json;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::to_python;

create_exception!(agon, AgonError, PyValueError, "An error of agon. The message says what to do.");
create_exception!(
    agon,
    RulesError,
    AgonError,
    "Rules that cannot be played. `findings` lists what is wrong, with places."
);
create_exception!(agon, IllegalMoveError, AgonError, "A move that cannot be made here.");

/// Returns an exception with a message.
pub(crate) fn wrong(why: &dyn Display) -> PyErr {
    AgonError::new_err(why.to_string())
}

/// Returns the exception for a game that cannot be opened.
pub(crate) fn not_opened(py: Python<'_>, error: &OpenError) -> PyErr {
    match error {
        OpenError::Rules { findings, source } => {
            let exception = RulesError::new_err(error.to_string());
            let listed: Vec<_> = findings.iter().map(|f| finding_json(f, source)).collect();
            let listed = to_python(py, &serde_json::Value::Array(listed));
            let added = listed.and_then(|listed| exception.value(py).setattr("findings", listed));
            added.err().unwrap_or(exception)
        }
        OpenError::Unreadable { name, .. } if !std::path::Path::new(name).exists() => {
            pyo3::exceptions::PyFileNotFoundError::new_err(error.to_string())
        }
        _ => wrong(error),
    }
}

/// Returns the exception for a move that cannot be made.
pub(crate) fn not_played(error: &PlayError) -> PyErr {
    IllegalMoveError::new_err(error.to_string())
}
