//! Tournaments that run in processes of their own, each with a file that holds all of its matches.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::answer::ApiError;
use crate::lock;

/// Tournaments in the folder beside the store.
pub(crate) struct Tournaments {
    /// `None` if the server stores nothing.
    folder: Option<PathBuf>,
    running: Mutex<BTreeMap<String, Child>>,
}

impl Drop for Tournaments {
    fn drop(&mut self) {
        for child in lock(&self.running).values_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Tournaments {
    pub(crate) fn new(store: Option<&Path>) -> Tournaments {
        let folder = store.map(|store| {
            let mut name = store.file_stem().unwrap_or_default().to_os_string();
            name.push("-tournaments");
            store.with_file_name(name)
        });
        Tournaments { folder, running: Mutex::new(BTreeMap::new()) }
    }

    fn folder(&self) -> Result<&Path, ApiError> {
        self.folder.as_deref().ok_or_else(|| {
            ApiError::busy("this server stores nothing, so it cannot run tournaments: give --store")
        })
    }

    /// Returns the file with the matches of a tournament.
    ///
    /// # Errors
    /// [`ApiError`] if there is no such tournament.
    pub(crate) fn store(&self, id: &str) -> Result<PathBuf, ApiError> {
        let missing = || ApiError::missing(format!("there is no tournament `{id}`"));
        if id.is_empty() || !id.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Err(missing());
        }
        let path = self.folder()?.join(format!("{id}.toml"));
        if path.is_file() { Ok(path.with_extension("db")) } else { Err(missing()) }
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
        let folder = self.folder()?;
        let fail = |error: std::io::Error| ApiError::broken(format!("cannot write: {error}"));
        std::fs::create_dir_all(folder).map_err(fail)?;
        for (name, rules) in games {
            std::fs::write(folder.join(name), rules).map_err(fail)?;
        }
        std::fs::write(folder.join(format!("{id}.toml")), spec).map_err(fail)?;
        self.resume(program, id, cores)
    }

    /// Starts the process of a tournament, or continues it.
    ///
    /// # Errors
    /// [`ApiError`] if the process cannot be started.
    pub(crate) fn resume(&self, program: &Path, id: &str, cores: usize) -> Result<(), ApiError> {
        let folder = self.folder()?;
        let mut running = lock(&self.running);
        if running.get_mut(id).is_some_and(|child| matches!(child.try_wait(), Ok(None))) {
            return Err(ApiError::conflict("the tournament is being played"));
        }
        let log = std::fs::File::create(folder.join(format!("{id}.log")))
            .map_err(|error| ApiError::broken(format!("cannot write: {error}")))?;
        let child = Command::new(program)
            .current_dir(folder)
            .arg("tournament")
            .arg(format!("{id}.toml"))
            .args(["--store", &format!("{id}.db"), "--quiet", "--json"])
            .args(["--cores", &cores.to_string()])
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| ApiError::broken(format!("cannot start a tournament: {error}")))?;
        running.insert(id.to_owned(), child);
        Ok(())
    }

    /// Stops a tournament. It can be continued.
    ///
    /// # Errors
    /// [`ApiError`] if it is not being played.
    pub(crate) fn stop(&self, id: &str) -> Result<(), ApiError> {
        let mut running = lock(&self.running);
        let Some(mut child) = running.remove(id) else {
            return Err(ApiError::conflict("the tournament is not being played"));
        };
        let _ = child.kill();
        let _ = child.wait();
        Ok(())
    }

    /// Returns the state of a tournament: whether it is played, and what went wrong.
    pub(crate) fn status(&self, id: &str) -> Value {
        let mut running = lock(&self.running);
        let is_running =
            running.get_mut(id).is_some_and(|child| matches!(child.try_wait(), Ok(None)));
        let log = self.folder.as_ref().map(|folder| folder.join(format!("{id}.log")));
        let log = log.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        let log: String = log.chars().take(4000).collect();
        json!({"id": id, "running": is_running, "log": if is_running { "" } else { log.trim() }})
    }

    /// Returns the ids of all tournaments with their descriptions, the newest first.
    pub(crate) fn list(&self) -> Vec<(String, String)> {
        let Some(folder) = &self.folder else { return Vec::new() };
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut found: Vec<_> = entries
            .filter_map(|entry| {
                let path = entry.path();
                let id = path.file_stem()?.to_str()?.to_owned();
                let is_spec = path.extension().is_some_and(|ending| ending == "toml");
                let time = entry.metadata().ok()?.modified().ok()?;
                is_spec
                    .then(|| std::fs::read_to_string(&path).ok())
                    .flatten()
                    .map(|s| (time, id, s))
            })
            .collect();
        found.sort_by_key(|row| std::cmp::Reverse(row.0));
        found.into_iter().map(|(_, id, spec)| (id, spec)).collect()
    }
}
