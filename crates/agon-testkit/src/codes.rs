//! Checks of the tables that explain diagnostic codes.

use std::collections::BTreeSet;
use std::path::Path;

use agon_text::CodePage;

use crate::files;

/// Returns the string literals of the Rust sources below a folder, to be searched for codes.
///
/// Comments, tests, which may quote anything, and the table of pages are left out.
///
/// # Panics
/// If a file cannot be read.
pub fn literals(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in files::with_extension(folder, &["rs"]) {
        let inside = path.strip_prefix(folder).unwrap_or(&path);
        let is_test = inside.components().any(|part| part.as_os_str() == "tests");
        if is_test || ["tests", "round_trip", "codes"].contains(&&*files::stem(&path)) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("sources are readable");
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        found.extend(lines.flat_map(|line| line.split('"')).map(str::to_owned));
    }
    found
}

/// Checks that every code has one page, that the page has the code as its title and a section on
/// the fix, and that its lines have at most 100 columns.
///
/// # Panics
/// If a page is not as described.
pub fn check_pages(pages: &[CodePage]) {
    let mut seen = BTreeSet::new();
    for CodePage { code, page, .. } in pages {
        assert!(seen.insert(code), "{code} has two pages");
        assert!(page.starts_with(&format!("# {code}\n")), "{code} has another title");
        assert!(page.contains("\n## Fix\n"), "{code} has no fix");
        assert!(page.lines().all(|line| line.chars().count() <= 100), "{code} has long lines");
    }
}

/// Returns the first example of a page whose fence is marked with `mark`, such as `wrong`.
///
/// # Panics
/// If the page has no such example.
pub fn example(page: &str, mark: &str) -> String {
    let fence = format!(" {mark}\n");
    let start =
        page.find(&fence).unwrap_or_else(|| panic!("no {mark} example in:\n{page}")) + fence.len();
    let length = page[start..].find("\n```").expect("fences are closed");
    page[start..start + length].to_owned()
}
