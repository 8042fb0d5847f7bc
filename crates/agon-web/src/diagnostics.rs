//! Findings about rules as JSON, with places as the editor of the page counts them.

use std::sync::Arc;

use agon::open::{Language, language};
use agon_text::{Diagnostic, Diagnostics, Fix, Severity, Source, Span};
use serde_json::{Value, json};

/// Maximum number of findings that are sent.
const MAX_FINDINGS: usize = 200;

/// Checks a rulesheet without playing it.
pub(crate) fn check(source: &Arc<Source>) -> Diagnostics {
    match language(source) {
        Language::Gdl => agon_gdl::check::check(Arc::clone(source)).findings,
        Language::Toss => agon_toss::check::check(Arc::clone(source)).findings,
    }
}

/// Returns findings as JSON. `from` and `to` are offsets in UTF-16 units, as editors in browsers
/// count them; lines and columns start at 1.
pub(crate) fn findings_json(findings: &[Diagnostic], source: &Source) -> Vec<Value> {
    findings.iter().take(MAX_FINDINGS).map(|finding| finding_json(finding, source)).collect()
}

/// Returns the number of errors and of warnings.
pub(crate) fn counts(findings: &[Diagnostic]) -> (usize, usize) {
    let count = |severity| findings.iter().filter(|f| f.severity == severity).count();
    (count(Severity::Error), count(Severity::Warning))
}

fn finding_json(finding: &Diagnostic, source: &Source) -> Value {
    let (start, end) = (source.place(finding.span.start()), source.place(finding.span.end()));
    let notes = finding.notes.iter().map(|(span, text)| {
        let place = source.place(span.start());
        json!({"line": place.line, "column": place.column, "message": text})
    });
    let [from, to] = range(finding.span, source);
    json!({
        "severity": finding.severity.word(), "code": finding.code, "message": finding.message,
        "line": start.line, "column": start.column, "end_line": end.line,
        "end_column": end.column, "from": from, "to": to,
        "notes": notes.collect::<Vec<_>>(), "hints": finding.hints,
        "fix": finding.fix.as_ref().map(|fix| fix_json(fix, source)),
    })
}

fn fix_json(fix: &Fix, source: &Source) -> Value {
    let edits = fix.edits.iter().map(|edit| {
        let [from, to] = range(edit.span, source);
        json!({"from": from, "to": to, "insert": edit.replacement})
    });
    json!({"title": fix.title, "edits": edits.collect::<Vec<_>>()})
}

fn range(span: Span, source: &Source) -> [usize; 2] {
    let text = source.text();
    let units = |byte: usize| {
        let before = text.get(..byte).unwrap_or(text);
        before.encode_utf16().count()
    };
    [units(span.start()), units(span.end())]
}
