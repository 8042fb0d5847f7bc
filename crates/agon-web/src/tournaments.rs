//! Tournaments that run in processes of their own, each with a file that holds all of its matches.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::answer::ApiError;
use crate::runs::Runs;

/// Tournaments in the folder beside the store.
pub(crate) struct Tournaments {
    pub(crate) runs: Runs,
}

impl Tournaments {
    pub(crate) fn new(store: Option<&Path>) -> Tournaments {
        Tournaments { runs: Runs::new("tournament", "toml", store) }
    }

    /// Returns the file with the matches of a tournament.
    ///
    /// # Errors
    /// [`ApiError`] if there is no such tournament.
    pub(crate) fn store(&self, id: &str) -> Result<PathBuf, ApiError> {
        Ok(self.runs.description(id)?.with_extension("db"))
    }

    /// Writes the description of a tournament and starts it.
    ///
    /// # Errors
    /// [`ApiError`] if a file cannot be written or the process not started.
    pub(crate) fn start(
        &self,
        program: &Path,
        id: &str,
        spec: &str,
        games: &[(String, String)],
        cores: usize,
    ) -> Result<(), ApiError> {
        for (name, rules) in games {
            self.runs.write(name, rules)?;
        }
        self.runs.write(&format!("{id}.toml"), spec)?;
        self.resume(program, id, cores)
    }

    /// Starts the process of a tournament, or continues it.
    ///
    /// # Errors
    /// [`ApiError`] if the process cannot be started.
    pub(crate) fn resume(&self, program: &Path, id: &str, cores: usize) -> Result<(), ApiError> {
        let mut command = Command::new(program);
        command
            .arg("tournament")
            .arg(format!("{id}.toml"))
            .args(["--store", &format!("{id}.db"), "--quiet", "--json"])
            .args(["--cores", &cores.to_string()]);
        self.runs.start(id, command)
    }
}
