//! Faulty rulesheets and the diagnostics expected of them. `tests/rejects/README.md` describes the
//! format.

use std::sync::Arc;

use agon_gdl::by_play::{PlayPlan, open_and_check};
use agon_gdl::check::{check, check_strictly};
use agon_gdl::read::ReadOptions;
use agon_testkit::rejects::Rejects;
use agon_text::{Diagnostics, Source};

#[test]
fn rejects() {
    Rejects { folder: "gdl", min_files: 60, check: &diagnostics }.run();
}

#[test]
fn strict_rejects() {
    Rejects { folder: "gdl-strict", min_files: 10, check: &strict_diagnostics }.run();
}

/// Checks by the definition of GDL, with a few plays.
fn strict_diagnostics(source: &Arc<Source>) -> Diagnostics {
    let mut checked = check_strictly(Arc::clone(source), &ReadOptions::default());
    if let Some(rules) = checked.rules {
        let plan = PlayPlan { plays: 3, is_strict: true, ..PlayPlan::default() };
        checked.findings.0.extend(open_and_check(rules, &plan, &mut || ()).0);
        checked.findings.sort();
    }
    checked.findings
}

fn diagnostics(source: &Arc<Source>) -> Diagnostics {
    let checked = check(Arc::clone(source));
    assert_eq!(checked.rules.is_none(), checked.findings.has_errors(), "{}", source.name());
    checked.findings
}
