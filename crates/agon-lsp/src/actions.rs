//! Quick fixes, "fix all", and formatting.

use std::sync::Arc;

use agon_text::{Edit, Source, apply_fixes};
use serde_json::{Value, json};

use crate::CodePages;
use crate::diagnostics::diagnostic;
use crate::snapshot::{Sheet, Snapshot};
use crate::text::Places;

/// Maximum number of rounds of "fix all". One fix may enable another.
const MAX_ROUNDS: usize = 8;

/// Returns the code actions for a range: the fix and the suggestion of each finding there, and one
/// action that applies all fixes.
pub(crate) fn actions(
    snapshot: &Snapshot,
    places: Places<'_>,
    uri: &str,
    params: &Value,
    pages: &CodePages,
) -> Value {
    let only = params.pointer("/context/only").and_then(Value::as_array);
    let wants = |kind: &str| {
        let is_asked = |asked: &Value| {
            asked.as_str().is_some_and(|asked| {
                kind == asked || kind.strip_prefix(asked).is_some_and(|rest| rest.starts_with('.'))
            })
        };
        only.is_none_or(|only| only.iter().any(is_asked))
    };
    let range = places.span(&params["range"]);
    let mut actions = Vec::new();
    if wants("quickfix") {
        for finding in &snapshot.findings {
            let touches =
                finding.span.start() <= range.end() && range.start() <= finding.span.end();
            if !touches {
                continue;
            }
            // Only fixes keep the meaning of the rules; suggestions are probably meant.
            let fixes = finding.fix.iter().map(|fix| (fix, true));
            let suggestions = finding.suggestion.iter().map(|change| (change, false));
            for (change, is_preferred) in fixes.chain(suggestions) {
                let edit =
                    |e: &Edit| json!({"range": places.range(e.span), "newText": e.replacement});
                let edits: Vec<Value> = change.edits.iter().map(edit).collect();
                actions.push(json!({
                    "title": change.title, "kind": "quickfix", "isPreferred": is_preferred,
                    "diagnostics": [diagnostic(finding, places, uri, pages)],
                    "edit": {"changes": {uri: edits}},
                }));
            }
        }
    }
    if wants("source.fixAll.agon") && snapshot.findings.iter().any(|f| f.fix.is_some()) {
        let edits = places.edits_to(&fix_all(snapshot));
        actions.push(json!({
            "title": "Fix all that Agon can fix", "kind": "source.fixAll.agon",
            "edit": {"changes": {uri: edits}},
        }));
    }
    json!(actions)
}

/// Returns the text after all fixes, and after the fixes that these enable.
fn fix_all(snapshot: &Snapshot) -> String {
    let fixes = snapshot.findings.iter().filter_map(|finding| finding.fix.as_ref());
    let (mut text, _) = apply_fixes(&snapshot.source, fixes);
    for _ in 1..MAX_ROUNDS {
        let next = Snapshot::new(Arc::new(Source::new(snapshot.source.name(), text.as_str())));
        let fixes = next.findings.iter().filter_map(|finding| finding.fix.as_ref());
        let (fixed, applied) = apply_fixes(&next.source, fixes);
        if applied.is_empty() {
            break;
        }
        text = fixed;
    }
    text
}

/// Returns the edits that format a text; none if it has mistakes that hide its layout.
pub(crate) fn format(snapshot: &Snapshot, places: Places<'_>) -> Value {
    let formatted = match &snapshot.sheet {
        Sheet::Gdl(_) => agon_gdl::format::format(&snapshot.source, &Default::default()),
        Sheet::Toss(_) => agon_toss::format::format(&snapshot.source),
    };
    match formatted {
        Ok(text) => json!(places.edits_to(&text)),
        Err(_) => Value::Null,
    }
}
