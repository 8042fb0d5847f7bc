//! The rule files of this repository.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_text::Source;

/// Returns the root folder of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("the crate lies two folders below the root")
        .to_owned()
}

/// Lists the rule files of `games/<folder>` in order, where `folder` is `gdl`, `gdl2` or `toss`.
///
/// # Panics
/// If the folder does not exist or has no rule file.
pub fn games(folder: &str) -> Vec<PathBuf> {
    let mut found = below(&repository().join("games").join(folder));
    found.retain(|path| has_extension(path, &["kif", "infix", "toss"]));
    assert!(!found.is_empty(), "games/{folder} has rule files");
    found
}

/// Lists all files below a folder in order. A folder that does not exist has none.
pub fn below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("entries are readable").path()).collect();
    paths.sort();
    let files = |path: PathBuf| if path.is_dir() { below(&path) } else { vec![path] };
    paths.into_iter().flat_map(files).collect()
}

/// Lists the files below a folder whose extension is one of `extensions`, in order.
pub fn with_extension(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = below(folder);
    found.retain(|path| has_extension(path, extensions));
    found
}

/// Reads a file as a source that is named after its path.
///
/// # Panics
/// If the file cannot be read.
pub fn source(path: &Path) -> Arc<Source> {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Arc::new(Source::from_bytes(path.display().to_string(), &bytes))
}

/// Returns the name of a file without folder and extension, such as `tic-tac-toe`.
pub fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known))
}
