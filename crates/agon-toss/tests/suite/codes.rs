//! Checks that every diagnostic code has a page and that the examples on the pages are right.

use std::path::Path;
use std::sync::Arc;

use agon_testkit::codes;
use agon_text::{Severity, Source};
use agon_toss::by_play::{PlayPlan, check_by_play};
use agon_toss::check::check;
use agon_toss::codes::{page, pages};
use agon_toss::interpreter::{Game, Options};

#[test]
fn every_code_in_the_sources_has_a_page() {
    let pieces = codes::literals(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let is_code = |piece: &&String| piece.starts_with("toss-") && !piece.contains(' ');
    let without: Vec<_> =
        pieces.iter().filter(is_code).filter(|piece| page(piece).is_none()).collect();
    assert!(without.is_empty(), "codes without a page: {without:?}");
    let unused: Vec<_> =
        pages().iter().map(|page| page.code).filter(|code| !pieces.contains(*code)).collect();
    assert!(unused.is_empty(), "pages of codes that do not exist: {unused:?}");
}

#[test]
fn pages_are_well_formed() {
    codes::check_pages(pages());
}

#[test]
fn examples_give_what_they_should() {
    for page in pages() {
        let (wrong, right) =
            (codes::example(page.page, "wrong"), codes::example(page.page, "right"));
        let found = severities(&wrong, page.code);
        assert!(
            found.contains(&page.severity),
            "the wrong example of {} does not give it",
            page.code
        );
        assert!(
            found.iter().all(|&severity| severity <= page.severity),
            "{} has a higher severity than its page says",
            page.code
        );
        let left = all(&right);
        assert!(left.is_empty(), "the right example of {} gives {left:?}", page.code);
    }
}

fn severities(text: &str, code: &str) -> Vec<Severity> {
    all(text).into_iter().filter(|found| found.0 == code).map(|found| found.1).collect()
}

/// Returns the diagnostics of a game, from checking and from a few random plays.
fn all(text: &str) -> Vec<(&'static str, Severity)> {
    let checked = check(Arc::new(Source::new("example.toss", text)));
    let mut findings = checked.findings;
    if let Some(arena) = checked.arena {
        let mut options = Options::default();
        options.growth.elements = 100;
        let game =
            Game::open(arena, options).unwrap_or_else(|finding| panic!("{}", finding.message));
        let plan = PlayPlan { max_steps: 150, ..PlayPlan::default() };
        findings.0.extend(check_by_play(&game, &plan, &mut || ()).0);
    }
    findings.0.into_iter().map(|finding| (finding.code, finding.severity)).collect()
}
