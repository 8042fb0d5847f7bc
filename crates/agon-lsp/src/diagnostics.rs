//! Findings as diagnostics of the protocol.

use agon_text::{CodePage, Diagnostic, Severity};
use serde_json::{Value, json};

use crate::CodePages;
use crate::text::{Places, address_of};

/// Maximum number of diagnostics that are published.
const MAX_SHOWN: usize = 500;

/// Returns the explanation of a code of any language.
pub(crate) fn page(code: &str) -> Option<&'static CodePage> {
    agon_gdl::codes::page(code).or_else(|| agon_toss::codes::page(code))
}

/// Returns findings as diagnostics, the most severe ones first if there are too many.
pub(crate) fn to_json<'a>(
    findings: impl Iterator<Item = &'a Diagnostic>,
    places: Places<'_>,
    uri: &str,
    pages: &CodePages,
) -> Vec<Value> {
    let mut findings: Vec<&Diagnostic> = findings.collect();
    if findings.len() > MAX_SHOWN {
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings.truncate(MAX_SHOWN);
    }
    findings.into_iter().map(|finding| diagnostic(finding, places, uri, pages)).collect()
}

pub(crate) fn diagnostic(
    finding: &Diagnostic,
    places: Places<'_>,
    uri: &str,
    pages: &CodePages,
) -> Value {
    let severity = match finding.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Note => 3,
    };
    let mut message = finding.message.clone();
    for hint in &finding.hints {
        message.push_str("\nhint: ");
        message.push_str(hint);
    }
    let related: Vec<Value> = finding
        .notes
        .iter()
        .map(|(span, text)| {
            json!({"location": {"uri": uri, "range": places.range(*span)}, "message": text})
        })
        .collect();
    let mut value = json!({
        "range": places.range(finding.span), "severity": severity, "code": finding.code,
        "source": "agon", "message": message, "relatedInformation": related,
        "data": {"fixable": finding.fix.is_some()},
    });
    if let Some(href) = link(finding.code, pages) {
        value["codeDescription"] = json!({"href": href});
    }
    // Editors show what has no effect in a paler colour.
    if matches!(finding.code, "unused-relation" | "unreachable-rule" | "toss-unused-rule") {
        value["tags"] = json!([1]);
    }
    value
}

/// Returns the address of the page of a code. Writes the page if it is to be a file.
fn link(code: &str, pages: &CodePages) -> Option<String> {
    let page = page(code)?;
    match pages {
        CodePages::Nowhere => None,
        CodePages::Address(address) => Some(format!("{address}{code}")),
        CodePages::Folder(folder) => {
            let file = folder.join(format!("{code}.md"));
            let is_current = std::fs::read(&file).is_ok_and(|old| old == page.page.as_bytes());
            if !is_current {
                std::fs::create_dir_all(folder).ok()?;
                std::fs::write(&file, page.page).ok()?;
            }
            Some(address_of(file.to_str()?))
        }
    }
}
