//! Faulty rulesheets and what is found in them; `tests/rejects/README.md` says how they are written.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_gdl::check::check;
use agon_text::{Diagnostic, Severity, Source, Span};

#[test]
fn rejects() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/rejects/gdl");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("tests/rejects/gdl exists")
        .map(|entry| entry.expect("entries are readable").path())
        .collect();
    files.sort();
    assert!(files.len() >= 60, "only {} rejects", files.len());
    let mut report = String::new();
    for file in &files {
        let bytes = std::fs::read(file).expect("rejects are readable");
        let source =
            Source::from_bytes(file.file_name().unwrap_or_default().to_string_lossy(), &bytes);
        if std::env::var_os("AGON_UPDATE").is_some() {
            std::fs::write(file, updated(&source)).expect("rejects are writable");
        } else {
            compare(source, &mut report);
        }
    }
    assert!(report.is_empty(), "{report}\nAGON_UPDATE=1 writes down what is found");
}

/// A finding as it is written down above the line it is about.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Expectation {
    line: usize,
    severity: &'static str,
    columns: String,
    code: String,
    /// Part of the message; may be empty.
    message: String,
}

/// Reads an expectation: `; error: 9-11 unsafe-variable part of the message`.
fn expectation(text: &str, line: usize) -> Option<Expectation> {
    let text = text.trim_start_matches([';', '%', ' ', '\t']).trim_end();
    let severity = ["error", "warning", "note"]
        .into_iter()
        .find(|word| text.starts_with(&format!("{word}: ")))?;
    let mut words = text[severity.len() + 1..].trim_start().splitn(3, ' ');
    let columns = words.next().unwrap_or_default().to_owned();
    let code = words.next().unwrap_or_default().to_owned();
    Some(Expectation {
        line,
        severity,
        columns,
        code,
        message: words.next().unwrap_or_default().to_owned(),
    })
}

/// What is written down, each with the line it is about: the next that is not itself an expectation.
fn expectations(source: &Source) -> Vec<Expectation> {
    let mut found: Vec<Expectation> = Vec::new();
    let mut n_waiting = 0;
    for line in 1..=source.n_lines() {
        let range = source.line_range(line).expect("lines are counted by the source");
        match expectation(&source.text()[range], line) {
            Some(expectation) => {
                n_waiting += 1;
                found.push(expectation);
            }
            None => {
                let n_found = found.len();
                found[n_found - n_waiting..]
                    .iter_mut()
                    .for_each(|expectation| expectation.line = line);
                n_waiting = 0;
            }
        }
    }
    found
}

fn finding(diagnostic: &Diagnostic, source: &Source) -> Expectation {
    Expectation {
        line: source.place(diagnostic.span.start()).line,
        severity: diagnostic.severity.word(),
        columns: columns(diagnostic.span, source),
        code: diagnostic.code.to_owned(),
        message: diagnostic.message.clone(),
    }
}

/// `9-11`, or `9-+2:3` if the place ends two lines below.
fn columns(span: Span, source: &Source) -> String {
    let (start, end) = (source.place(span.start()), source.place(span.end()));
    match end.line - start.line {
        0 => format!("{}-{}", start.column, end.column),
        below => format!("{}-+{below}:{}", start.column, end.column),
    }
}

fn compare(source: Source, report: &mut String) {
    let source = Arc::new(source);
    let mut expected = expectations(&source);
    let checked = check(Arc::clone(&source));
    assert_eq!(checked.rules.is_none(), checked.findings.has_errors(), "{}", source.name());
    for diagnostic in &checked.findings.0 {
        let found = finding(diagnostic, &source);
        let known = expected.iter().position(|e| {
            (e.line, e.severity, &e.columns, &e.code)
                == (found.line, found.severity, &found.columns, &found.code)
                && found.message.contains(&e.message)
        });
        match known {
            Some(index) => drop(expected.remove(index)),
            None if diagnostic.severity == Severity::Note => {}
            None => {
                writeln!(report, "{}: found {found:?}", source.name())
                    .expect("strings can be written to");
            }
        }
    }
    for missing in expected {
        writeln!(report, "{}: not found {missing:?}", source.name())
            .expect("strings can be written to");
    }
}

/// The text with all expectations written anew: errors and warnings, and the notes that were written down before.
fn updated(source: &Source) -> String {
    let old = expectations(source);
    let mut bare = String::new();
    for line in 1..=source.n_lines() {
        let range = source.line_range(line).expect("lines are counted by the source");
        if expectation(&source.text()[range.clone()], line).is_none() {
            bare.push_str(&source.text()[range]);
        }
    }
    let bare = Arc::new(Source::new(source.name(), bare));
    let findings = check(Arc::clone(&bare)).findings;
    let mark = if source.name().ends_with(".infix") { "%" } else { ";" };
    let mut text = String::new();
    for line in 1..=bare.n_lines() {
        let range = bare.line_range(line).expect("lines are counted by the source");
        for diagnostic in &findings.0 {
            let found = finding(diagnostic, &bare);
            let before =
                old.iter().find(|e| e.code == found.code && found.message.contains(&e.message));
            if found.line == line && (diagnostic.severity != Severity::Note || before.is_some()) {
                let end = if bare.text().contains('\n') { "\n" } else { "\r" };
                let message = before.map_or("", |e| &e.message);
                let line = format!(
                    "{mark} {}: {} {} {message}",
                    found.severity, found.columns, found.code
                );
                text.push_str(line.trim_end());
                text.push_str(end);
            }
        }
        text.push_str(&bare.text()[range]);
    }
    text
}
