//! Rulesheets that are known to be correct pass the checks.

use std::path::PathBuf;
use std::sync::Arc;

use agon_gdl::check::{check, check_with};
use agon_gdl::read::ReadOptions;
use agon_gdl::symbols::Case;
use agon_testkit::files::{self, source};
use agon_text::{Diagnostic, Severity, render};

#[test]
fn shipped_games_have_no_warnings() {
    let files = rulesheets("games");
    assert!(!files.is_empty(), "games/ is not empty");
    for file in files {
        let source = source(&file);
        let findings = check(Arc::clone(&source)).findings.0;
        let grave: Vec<Diagnostic> =
            findings.into_iter().filter(|f| f.severity > Severity::Note).collect();
        assert!(grave.is_empty(), "{}", render(&grave, &source, false));
    }
}

/// Every rulesheet of the public collection can be played. The test passes if `../shared` is
/// absent.
#[test]
fn shared_rulesheets_have_no_errors() {
    for file in rulesheets("../shared/games") {
        for case in [Case::Ignored, Case::Respected] {
            let source = source(&file);
            let options = ReadOptions { case, ..ReadOptions::default() };
            let findings = check_with(Arc::clone(&source), &options).findings.0;
            let errors: Vec<Diagnostic> =
                findings.into_iter().filter(|f| f.severity == Severity::Error).collect();
            assert!(errors.is_empty(), "{}", render(&errors, &source, false));
        }
    }
}

fn rulesheets(folder: &str) -> Vec<PathBuf> {
    files::with_extension(&files::repository().join(folder), &["kif"])
}
