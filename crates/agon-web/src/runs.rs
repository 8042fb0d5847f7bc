//! Commands that run for long in processes of their own: tournaments and experiments. Each has an
//! id and leaves its files in one folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use serde_json::{Value, json};

use crate::answer::ApiError;
use crate::lock;

/// Maximum number of characters of what a command has written about its failure.
const MAX_LOG: usize = 4000;

/// Running commands, and the folder with their files. The commands are stopped when the value is
/// dropped.
pub(crate) struct Runs {
    /// What runs, such as `tournament`.
    what: &'static str,
    /// How the names of descriptions end, such as `toml`.
    ending: &'static str,
    /// `None` if the server stores nothing.
    folder: Option<PathBuf>,
    running: Mutex<BTreeMap<String, Child>>,
}

impl Drop for Runs {
    fn drop(&mut self) {
        for child in lock(&self.running).values_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Runs {
    /// Keeps files in a folder beside the store, which is named after what runs.
    pub(crate) fn new(what: &'static str, ending: &'static str, store: Option<&Path>) -> Runs {
        let folder = store.map(|store| {
            let mut name = store.file_stem().unwrap_or_default().to_os_string();
            name.push(format!("-{what}s"));
            store.with_file_name(name)
        });
        Runs { what, ending, folder, running: Mutex::new(BTreeMap::new()) }
    }

    /// Returns the folder with the files.
    ///
    /// # Errors
    /// [`ApiError`] if the server stores nothing.
    pub(crate) fn folder(&self) -> Result<&Path, ApiError> {
        self.folder.as_deref().ok_or_else(|| {
            ApiError::busy(format!(
                "this server stores nothing, so it cannot run {}s: give --store",
                self.what
            ))
        })
    }

    /// Returns the path of the description of a run.
    ///
    /// # Errors
    /// [`ApiError`] if there is no such run.
    pub(crate) fn description(&self, id: &str) -> Result<PathBuf, ApiError> {
        let missing = || ApiError::missing(format!("there is no {} `{id}`", self.what));
        if id.is_empty() || !id.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Err(missing());
        }
        let path = self.folder()?.join(format!("{id}.{}", self.ending));
        if path.is_file() { Ok(path) } else { Err(missing()) }
    }

    /// Writes a file of a run.
    ///
    /// # Errors
    /// [`ApiError`] if it cannot be written.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<(), ApiError> {
        let folder = self.folder()?;
        let fail = |error: std::io::Error| ApiError::broken(format!("cannot write: {error}"));
        std::fs::create_dir_all(folder).map_err(fail)?;
        std::fs::write(folder.join(name), text).map_err(fail)
    }

    /// Starts the command of a run in the folder. What it prints goes to the file `ID.out`, its
    /// errors to `ID.log`.
    ///
    /// # Errors
    /// [`ApiError`] if it is running already or cannot be started.
    pub(crate) fn start(&self, id: &str, mut command: Command) -> Result<(), ApiError> {
        let folder = self.folder()?;
        let mut running = lock(&self.running);
        if running.get_mut(id).is_some_and(|child| matches!(child.try_wait(), Ok(None))) {
            return Err(ApiError::conflict(format!("the {} is being played", self.what)));
        }
        let file = |ending: &str| {
            std::fs::File::create(folder.join(format!("{id}.{ending}")))
                .map_err(|error| ApiError::broken(format!("cannot write: {error}")))
        };
        let child = command
            .current_dir(folder)
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(file("out")?)
            .stderr(file("log")?)
            .spawn()
            .map_err(|error| {
                ApiError::broken(format!("cannot start the {}: {error}", self.what))
            })?;
        running.insert(id.to_owned(), child);
        Ok(())
    }

    /// Stops a run. It can be continued.
    ///
    /// # Errors
    /// [`ApiError`] if it is not running.
    pub(crate) fn stop(&self, id: &str) -> Result<(), ApiError> {
        let child = lock(&self.running).remove(id);
        let running = child.and_then(|mut child| match child.try_wait() {
            Ok(None) => Some(child),
            Ok(Some(_)) | Err(_) => None,
        });
        let Some(mut child) = running else {
            return Err(ApiError::conflict(format!("the {} is not being played", self.what)));
        };
        let _ = child.kill();
        let _ = child.wait();
        Ok(())
    }

    /// Returns the state of a run: whether it is running, and what went wrong.
    pub(crate) fn status(&self, id: &str) -> Value {
        let mut running = lock(&self.running);
        let is_running =
            running.get_mut(id).is_some_and(|child| matches!(child.try_wait(), Ok(None)));
        let log = self.folder.as_ref().map(|folder| folder.join(format!("{id}.log")));
        let log = log.and_then(|path| std::fs::read_to_string(path).ok()).unwrap_or_default();
        let log: String = log.chars().take(MAX_LOG).collect();
        json!({"id": id, "running": is_running, "log": if is_running { "" } else { log.trim() }})
    }

    /// Checks that one more may run.
    ///
    /// # Errors
    /// [`ApiError`] if another one is running, because each uses processors for hours.
    pub(crate) fn check_room(&self) -> Result<(), ApiError> {
        let mut running = lock(&self.running);
        let mut states = running.values_mut().map(Child::try_wait);
        if states.any(|state| matches!(state, Ok(None))) {
            let what = self.what;
            let article = if what.starts_with('e') { "an" } else { "a" };
            let message = format!("{article} {what} is running: wait for it or stop it");
            return Err(ApiError::busy(message));
        }
        Ok(())
    }

    /// Returns the ids of all runs with their descriptions, the newest first.
    pub(crate) fn list(&self) -> Vec<(String, String)> {
        let Some(folder) = &self.folder else { return Vec::new() };
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut found: Vec<_> = entries
            .filter_map(|entry| {
                let path = entry.path();
                let id = path.file_stem()?.to_str()?.to_owned();
                let is_description = path.extension().is_some_and(|ending| ending == self.ending);
                let time = entry.metadata().ok()?.modified().ok()?;
                let text = is_description.then(|| std::fs::read_to_string(&path).ok()).flatten()?;
                Some((time, id, text))
            })
            .collect();
        found.sort_by_key(|row| std::cmp::Reverse(row.0));
        found.into_iter().map(|(_, id, text)| (id, text)).collect()
    }
}
