//! Rulesheets that are known to be good are found to be good.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_gdl::check::{check, check_as};
use agon_gdl::symbols::Case;
use agon_text::{Diagnostic, Severity, Source, render};

#[test]
fn shipped_games_have_no_warnings() {
    let files = rulesheets(&repository().join("games"));
    assert!(!files.is_empty(), "games/ is not empty");
    for file in files {
        let source = source(&file);
        let findings = check(Arc::clone(&source)).findings.0;
        let grave: Vec<Diagnostic> =
            findings.into_iter().filter(|f| f.severity > Severity::Note).collect();
        assert!(grave.is_empty(), "{}", render(&grave, &source, false));
    }
}

/// The public collection holds nothing that cannot be played; `../shared` need not be present.
#[test]
fn shared_rulesheets_have_no_errors() {
    for file in rulesheets(&repository().join("../shared/games")) {
        for case in [Case::Ignored, Case::Respected] {
            let source = source(&file);
            let findings = check_as(Arc::clone(&source), case).findings.0;
            let errors: Vec<Diagnostic> =
                findings.into_iter().filter(|f| f.severity == Severity::Error).collect();
            assert!(errors.is_empty(), "{}", render(&errors, &source, false));
        }
    }
}

fn source(file: &Path) -> Arc<Source> {
    let bytes = std::fs::read(file).expect("rulesheets are readable");
    Arc::new(Source::from_bytes(file.display().to_string(), &bytes))
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All rulesheets below a folder, in order; none if there is no such folder.
fn rulesheets(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("entries are readable").path()).collect();
    paths.sort();
    let is_rulesheet =
        |path: &PathBuf| path.extension().is_some_and(|extension| extension == "kif");
    let below = |path: &PathBuf| if path.is_dir() { rulesheets(path) } else { vec![path.clone()] };
    paths.iter().flat_map(below).filter(is_rulesheet).collect()
}
