//! Faulty rule files with their expected diagnostics written inside them.
//!
//! An expectation is a comment above the line that it is about:
//!
//! ```text
//! ; error: 29-31 unsafe-variable occurs only in negated
//! (<= (legal white (mark ?x)) (not (true (cell ?x ?_y))))
//! ```
//!
//! It consists of the severity, the columns, the code and optionally a part of the message.
//! `tests/rejects/README.md` describes the format in full.

use std::fmt::Write as _;
use std::sync::Arc;

use agon_text::{Diagnostic, Diagnostics, Severity, Source, Span};

use crate::files;

/// A folder of faulty rule files and the function that finds what is wrong with them.
pub struct Rejects<'a> {
    /// The folder below `tests/rejects`, such as `gdl`.
    pub folder: &'a str,
    /// The number of files that the folder has at least, so that none is lost unnoticed.
    pub min_files: usize,
    /// Returns all diagnostics of a rule file.
    pub check: &'a dyn Fn(&Arc<Source>) -> Diagnostics,
}

impl Rejects<'_> {
    /// Compares the diagnostics of every file with the expectations in it.
    ///
    /// Errors and warnings must agree exactly. Notes are compared only where they are written down.
    /// If the environment variable `AGON_UPDATE` is set, the expectations are rewritten instead.
    ///
    /// # Panics
    /// If a file has other diagnostics than it says. The message lists all differences.
    pub fn run(&self) {
        let paths = files::below(&files::repository().join("tests/rejects").join(self.folder));
        assert!(paths.len() >= self.min_files, "only {} rejects", paths.len());
        let mut report = String::new();
        for path in &paths {
            let bytes = std::fs::read(path).expect("rejects are readable");
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let source = Arc::new(Source::from_bytes(name, &bytes));
            if std::env::var_os("AGON_UPDATE").is_some() {
                std::fs::write(path, self.updated(&source)).expect("rejects are writable");
            } else {
                self.compare(&source, &mut report);
            }
        }
        assert!(report.is_empty(), "{report}\nAGON_UPDATE=1 rewrites the expectations");
    }

    fn compare(&self, source: &Arc<Source>, report: &mut String) {
        let mut expected = expectations(source);
        for diagnostic in &(self.check)(source).0 {
            let found = Expectation::of(diagnostic, source);
            let known = expected.iter().position(|expectation| expectation.matches(&found));
            match known {
                Some(index) => drop(expected.remove(index)),
                None if diagnostic.severity == Severity::Note => {}
                None => writeln!(report, "{}: found {found:?}", source.name())
                    .expect("strings can be written to"),
            }
        }
        for missing in expected {
            writeln!(report, "{}: not found {missing:?}", source.name())
                .expect("strings can be written to");
        }
    }

    /// Returns the text with its expectations rewritten: all errors and warnings, and those notes
    /// that were written down before.
    fn updated(&self, source: &Source) -> String {
        let old = expectations(source);
        let mark = comment_mark(source.name());
        let lines = (1..=source.n_lines()).map(|line| line_text(source, line));
        let bare: String =
            lines.filter(|text| Expectation::parse(text, mark, 0).is_none()).collect();
        let bare = Arc::new(Source::new(source.name(), bare));
        let line_end = if bare.text().contains('\n') { "\n" } else { "\r" };
        let diagnostics = (self.check)(&bare);
        let mut text = String::new();
        for line in 1..=bare.n_lines() {
            for diagnostic in &diagnostics.0 {
                let found = Expectation::of(diagnostic, &bare);
                let before =
                    old.iter().find(|e| e.code == found.code && found.message.contains(&e.message));
                let is_written = diagnostic.severity != Severity::Note || before.is_some();
                if found.line == line && is_written {
                    let Expectation { severity, columns, code, .. } = found;
                    let message = before.map_or("", |e| &e.message);
                    let comment = format!("{mark} {severity}: {columns} {code} {message}");
                    text.push_str(comment.trim_end());
                    text.push_str(line_end);
                }
            }
            text.push_str(line_text(&bare, line));
        }
        text
    }
}

/// A diagnostic as it is written down in a file, or as it was found.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Expectation {
    line: usize,
    severity: &'static str,
    columns: String,
    code: String,
    /// The message, of which an expectation has only a part. May be empty.
    message: String,
}

impl Expectation {
    /// Parses a comment such as `; error: 9-11 unsafe-variable part of the message`.
    fn parse(text: &str, mark: &str, line: usize) -> Option<Expectation> {
        let in_comment = |c: char| mark.contains(c) || c == ' ' || c == '\t';
        let text = text.trim_start_matches(in_comment).trim_end();
        let severity = ["error", "warning", "note"]
            .into_iter()
            .find(|word| text.starts_with(&format!("{word}: ")))?;
        let mut words = text[severity.len() + 1..].trim_start().splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default().to_owned();
        Some(Expectation { line, severity, columns: word(), code: word(), message: word() })
    }

    fn of(diagnostic: &Diagnostic, source: &Source) -> Expectation {
        Expectation {
            line: source.place(diagnostic.span.start()).line,
            severity: diagnostic.severity.word(),
            columns: columns(diagnostic.span, source),
            code: diagnostic.code.to_owned(),
            message: diagnostic.message.clone(),
        }
    }

    fn matches(&self, found: &Expectation) -> bool {
        (self.line, self.severity, &self.columns, &self.code)
            == (found.line, found.severity, &found.columns, &found.code)
            && found.message.contains(&self.message)
    }
}

/// Returns the expectations in a text. Each is about the next line that is not an expectation.
fn expectations(source: &Source) -> Vec<Expectation> {
    let mark = comment_mark(source.name());
    let mut found: Vec<Expectation> = Vec::new();
    let mut n_waiting = 0;
    for line in 1..=source.n_lines() {
        match Expectation::parse(line_text(source, line), mark, line) {
            Some(expectation) => {
                n_waiting += 1;
                found.push(expectation);
            }
            None => {
                let n_found = found.len();
                found[n_found - n_waiting..].iter_mut().for_each(|waiting| waiting.line = line);
                n_waiting = 0;
            }
        }
    }
    found
}

/// Returns what starts a comment in a file with this name.
fn comment_mark(file_name: &str) -> &'static str {
    match file_name.rsplit('.').next() {
        Some("infix") => "%",
        Some("toss") => "//",
        _ => ";",
    }
}

fn line_text(source: &Source, line: usize) -> &str {
    &source.text()[source.line_range(line).expect("lines are counted by the source")]
}

/// Returns `9-11`, or `9-+2:3` where the span ends two lines below.
fn columns(span: Span, source: &Source) -> String {
    let (start, end) = (source.place(span.start()), source.place(span.end()));
    match end.line - start.line {
        0 => format!("{}-{}", start.column, end.column),
        below => format!("{}-+{below}:{}", start.column, end.column),
    }
}
