//! Every code has a page, and the examples of the pages are true.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_text::{Severity, Source};
use agon_toss::by_play::{PlayPlan, check_by_play};
use agon_toss::check::check;
use agon_toss::codes::{page, pages};
use agon_toss::interpreter::{Game, Options};

#[test]
fn every_code_in_the_sources_has_a_page() {
    let mut pieces = BTreeSet::new();
    for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let text = std::fs::read_to_string(&file).expect("sources are readable");
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        pieces.extend(lines.flat_map(|line| line.split('"')).map(str::to_owned));
    }
    let is_code = |piece: &&String| piece.starts_with("toss-") && !piece.contains(' ');
    let without: Vec<_> =
        pieces.iter().filter(is_code).filter(|piece| page(piece).is_none()).collect();
    assert!(without.is_empty(), "codes without a page: {without:?}");
    let unused: Vec<_> =
        pages().iter().map(|page| page.code).filter(|code| !pieces.contains(*code)).collect();
    assert!(unused.is_empty(), "pages of codes that do not exist: {unused:?}");
}

/// All sources but the table of pages.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("entries are readable").path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.file_name().is_some_and(|name| name != "codes.rs" && name != "tests.rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn pages_are_well_formed() {
    let mut seen = BTreeSet::new();
    for page in pages() {
        assert!(seen.insert(page.code), "{} has two pages", page.code);
        assert!(
            page.page.starts_with(&format!("# {}\n", page.code)),
            "{} has another title",
            page.code
        );
        assert!(page.page.contains("\n## Cure\n"), "{} has no cure", page.code);
    }
}

#[test]
fn examples_give_what_they_should() {
    for page in pages() {
        let (wrong, right) = (example(page.page, "wrong"), example(page.page, "right"));
        let found = severities(&wrong, page.code);
        assert!(
            found.contains(&page.severity),
            "the wrong example of {} does not give it",
            page.code
        );
        assert!(
            found.iter().all(|&severity| severity <= page.severity),
            "{} is graver than said",
            page.code
        );
        let left = all(&right);
        assert!(left.is_empty(), "the right example of {} gives {left:?}", page.code);
    }
}

fn example(page: &str, kind: &str) -> String {
    let fence = format!("```toss {kind}\n");
    let start =
        page.find(&fence).unwrap_or_else(|| panic!("no {kind} example:\n{page}")) + fence.len();
    let end = page[start..].find("```").expect("fences are closed");
    page[start..start + end].to_owned()
}

fn severities(text: &str, code: &str) -> Vec<Severity> {
    all(text).into_iter().filter(|found| found.0 == code).map(|found| found.1).collect()
}

/// All that is found in a game, by checking and in a few random plays.
fn all(text: &str) -> Vec<(&'static str, Severity)> {
    let checked = check(Arc::new(Source::new("example.toss", text)));
    let mut findings = checked.findings;
    if let Some(arena) = checked.arena {
        let mut options = Options::default();
        options.growth.elements = 100;
        let game =
            Game::open(arena, options).unwrap_or_else(|finding| panic!("{}", finding.message));
        let plan = PlayPlan { plays: 2, seed: 1, max_steps: 150 };
        findings.0.extend(check_by_play(&game, &plan, &mut || ()).0);
    }
    findings.0.into_iter().map(|finding| (finding.code, finding.severity)).collect()
}
