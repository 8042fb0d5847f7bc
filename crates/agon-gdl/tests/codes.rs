//! Every code has a page, and the examples of the pages are true.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_gdl::check::check;
use agon_gdl::codes::{page, pages};
use agon_text::{Severity, Source};

#[test]
fn every_code_in_the_sources_has_a_page() {
    let mut pieces = BTreeSet::new();
    for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let text = std::fs::read_to_string(&file).expect("sources are readable");
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        pieces.extend(lines.flat_map(|line| line.split('"')).map(str::to_owned));
    }
    let without: Vec<_> =
        pieces.iter().filter(|piece| is_code(piece) && page(piece).is_none()).collect();
    assert!(without.is_empty(), "codes without a page: {without:?}");
    // What is found by playing is reported by whoever plays, in other crates too.
    let is_unused = |code: &&str| !pieces.contains(*code) && !code.starts_with("play-");
    let unused: Vec<_> = pages().iter().map(|page| page.code).filter(is_unused).collect();
    assert!(unused.is_empty(), "pages of codes that do not exist: {unused:?}");
}

/// All sources but tests, which quote what they like, and the table of pages.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("entries are readable").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && name != "tests" {
            files.extend(sources(&path));
        } else if name.ends_with(".rs")
            && !["tests.rs", "round_trip.rs", "codes.rs"].contains(&name.as_str())
        {
            files.push(path);
        }
    }
    files
}

/// Codes are the only texts in the sources that are words joined by hyphens and nothing else.
fn is_code(literal: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase());
    literal.contains('-') && literal.split('-').all(is_word)
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
        assert!(
            page.page.lines().all(|line| line.chars().count() <= 120),
            "{} has long lines",
            page.code
        );
    }
}

#[test]
fn examples_give_what_they_should() {
    for page in pages() {
        // What is found by playing is tested where it is found, and some examples are only sketched.
        if page.code.starts_with("play-") || page.page.contains(" sketch\n") {
            continue;
        }
        let (wrong, right) = (example(page.page, "wrong"), example(page.page, "right"));
        let severities = severities(&wrong, page.code);
        assert!(!severities.is_empty(), "the wrong example of {} does not give it", page.code);
        assert!(
            severities.iter().all(|&severity| severity <= page.severity),
            "{} is graver than said",
            page.code
        );
        assert!(
            self::severities(&right, page.code).is_empty(),
            "the right example of {} gives it",
            page.code
        );
    }
}

fn example(page: &str, which: &str) -> String {
    let fence = format!(" {which}\n");
    let start =
        page.find(&fence).unwrap_or_else(|| panic!("no {which} example in:\n{page}")) + fence.len();
    let length = page[start..].find("\n```").expect("fences are closed");
    page[start..start + length].to_owned()
}

fn severities(text: &str, code: &str) -> Vec<Severity> {
    let checked = check(Arc::new(Source::new("example", text)));
    checked
        .findings
        .0
        .iter()
        .filter(|finding| finding.code == code)
        .map(|finding| finding.severity)
        .collect()
}
