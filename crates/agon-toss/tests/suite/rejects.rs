//! Faulty structure rewriting games and the diagnostics expected of them. `tests/rejects/README.md`
//! describes the format.

use std::sync::Arc;

use agon_testkit::rejects::Rejects;
use agon_text::{Diagnostics, Source};
use agon_toss::by_play::{PlayPlan, check_by_play};
use agon_toss::check::check;
use agon_toss::interpreter::{Game, Options};

#[test]
fn rejects() {
    Rejects { folder: "toss", min_files: 30, check: &diagnostics }.run();
}

/// Checks a game and, if it has no error, plays it a few times.
fn diagnostics(source: &Arc<Source>) -> Diagnostics {
    let checked = check(Arc::clone(source));
    assert_eq!(checked.arena.is_none(), checked.findings.has_errors(), "{}", source.name());
    let mut findings = checked.findings;
    if let Some(arena) = checked.arena {
        // A small bound, so that growth is found soon.
        let mut options = Options::default();
        options.growth.elements = 100;
        match Game::open(arena, options) {
            Ok(game) => {
                let plan = PlayPlan { max_steps: 150, ..PlayPlan::default() };
                findings.0.extend(check_by_play(&game, &plan, &mut || ()).0);
            }
            Err(finding) => findings.push(*finding),
        }
        findings.sort();
    }
    findings
}
