//! Every code has a page, and the examples on the pages are correct.

use std::path::Path;
use std::sync::Arc;

use agon_gdl::check::{check, check_strictly};
use agon_gdl::codes::{page, pages};
use agon_gdl::read::ReadOptions;
use agon_testkit::codes;
use agon_text::{Severity, Source};

#[test]
fn every_code_in_the_sources_has_a_page() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pieces = codes::literals(&crates.join("src"));
    let without: Vec<_> =
        pieces.iter().filter(|piece| is_code(piece) && page(piece).is_none()).collect();
    assert!(without.is_empty(), "codes without a page: {without:?}");
    // Faults of parameters are found before the rules are read.
    pieces.extend(codes::literals(&crates.join("../agon-text/src")));
    // Other crates report some of the faults that show only in play.
    let is_unused = |code: &&str| !pieces.contains(*code) && !code.starts_with("play-");
    let unused: Vec<_> = pages().iter().map(|page| page.code).filter(is_unused).collect();
    assert!(unused.is_empty(), "pages of codes that do not exist: {unused:?}");
}

/// Returns whether a string literal is a code. No other literal in the sources consists of words
/// joined by hyphens.
fn is_code(literal: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase());
    literal.contains('-') && literal.split('-').all(is_word)
}

#[test]
fn pages_are_well_formed() {
    codes::check_pages(pages());
}

#[test]
fn wrong_examples_have_the_fault_and_right_ones_do_not() {
    for page in pages() {
        // Faults that show in play have their own tests, and some examples are only sketches.
        if page.code.starts_with("play-") || page.page.contains(" sketch\n") {
            continue;
        }
        let (wrong, right) =
            (codes::example(page.page, "wrong"), codes::example(page.page, "right"));
        let severities = severities(&wrong, page.code);
        assert!(!severities.is_empty(), "the wrong example of {} does not give it", page.code);
        assert!(
            severities.iter().all(|&severity| severity <= page.severity),
            "{} is more severe than its page says",
            page.code
        );
        assert!(
            self::severities(&right, page.code).is_empty(),
            "the right example of {} gives it",
            page.code
        );
    }
}

/// Codes that are reported only where the definition of GDL is the standard.
const STRICT: [&str; 3] = ["missing-base", "missing-input", "negated-formula"];

fn severities(text: &str, code: &str) -> Vec<Severity> {
    let source = Arc::new(Source::new("example", text));
    let checked = match STRICT.contains(&code) {
        true => check_strictly(source, &ReadOptions::default()),
        false => check(source),
    };
    checked
        .findings
        .0
        .iter()
        .filter(|finding| finding.code == code)
        .map(|finding| finding.severity)
        .collect()
}
