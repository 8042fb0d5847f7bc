//! Finds and opens games for tests.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use agon_gdl::check::check;
use agon_gdl::interpreter::{Game, Options};
use agon_text::Source;

/// Number of threads: the test machines have two cores.
const N_THREADS: usize = 2;

/// Returns the root folder of the workspace.
pub(super) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the workspace is above the crate")
}

/// Returns the folders `../shared/games` and `../shared/traces`, if they exist. They are not part
/// of the repository.
pub(super) fn shared() -> Option<(PathBuf, PathBuf)> {
    let shared = root().join("../shared");
    let (games, traces) = (shared.join("games"), shared.join("traces"));
    (games.is_dir() && traces.is_dir()).then_some((games, traces))
}

/// Returns all rulesheets below a folder, in alphabetical order.
pub(super) fn rulesheets(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder can be listed") {
            let path = entry.expect("entries are readable").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "kif") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns the name of a file without folder and extension.
pub(super) fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads a rulesheet. Parameters have their declared values.
pub(super) fn source(path: &Path) -> Arc<Source> {
    agon::open::expanded(raw_source(path), &Default::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Reads a rulesheet as it is written.
pub(super) fn raw_source(path: &Path) -> Arc<Source> {
    let bytes = std::fs::read(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    Arc::new(Source::from_bytes(name(path), &bytes))
}

/// Opens a rulesheet, or returns why it cannot be played.
pub(super) fn open(source: Arc<Source>) -> Result<Arc<Game>, String> {
    let checked = check(source);
    let Some(rules) = checked.rules else {
        let errors = checked.findings.0.iter().filter(|f| f.severity == agon_text::Severity::Error);
        return Err(errors
            .map(|f| format!("[{}] {}", f.code, f.message))
            .collect::<Vec<_>>()
            .join("; "));
    };
    Game::open(rules, Options::default()).map_err(|finding| finding.message)
}

/// Opens a shipped game.
pub(super) fn shipped(name: &str) -> Arc<Game> {
    let paths = rulesheets(&root().join("games"));
    let path = paths
        .iter()
        .find(|path| self::name(path) == name)
        .unwrap_or_else(|| panic!("no game {name}"));
    open(source(path)).unwrap_or_else(|why| panic!("{name}: {why}"))
}

/// Tests every item on a few threads, and fails with all errors in the order of the items.
pub(super) fn for_each<T: Sync>(items: &[T], attempt: impl Fn(&T) -> Result<(), String> + Sync) {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..N_THREADS {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    if let Err(why) = attempt(item) {
                        failures
                            .lock()
                            .expect("nothing panics while it holds the lock")
                            .push((index, why));
                    }
                }
            });
        }
    });
    let mut failures = failures.into_inner().expect("nothing panics while it holds the lock");
    failures.sort();
    let report: Vec<String> = failures.into_iter().map(|(_, why)| why).collect();
    assert!(report.is_empty(), "{}", report.join("\n"));
}

/// Returns the program under test.
pub(super) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agon"));
    // Models that the user of this machine has learnt must not change results.
    command.env("AGON_NO_MODELS", "1").env_remove("AGON_MODELS");
    command
}

/// A temporary folder for one test, removed when dropped.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new(test: &str) -> Scratch {
        let folder = std::env::temp_dir().join(format!("agon-suite-{}-{test}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("temporary folders can be made");
        Scratch(folder)
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file and returns its path as an argument for the program.
    pub(super) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).expect("temporary files can be written");
        path.to_string_lossy().into_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // An error here does not matter: the system clears its temporary folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
