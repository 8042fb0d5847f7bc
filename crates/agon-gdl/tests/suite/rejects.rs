//! Faulty rulesheets and the diagnostics expected of them. `tests/rejects/README.md` describes the
//! format.

use std::sync::Arc;

use agon_gdl::check::check;
use agon_testkit::rejects::Rejects;
use agon_text::{Diagnostics, Source};

#[test]
fn rejects() {
    Rejects { folder: "gdl", min_files: 60, check: &diagnostics }.run();
}

fn diagnostics(source: &Arc<Source>) -> Diagnostics {
    let checked = check(Arc::clone(source));
    assert_eq!(checked.rules.is_none(), checked.findings.has_errors(), "{}", source.name());
    checked.findings
}
