//! Changes of a text that mend a finding.

use crate::{Source, Span};

/// A piece of text to be replaced.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// What is replaced; empty to insert.
    pub span: Span,
    /// What stands there afterwards.
    pub replacement: String,
}

/// A change that mends a finding. The edits of one fix belong together: all are made or none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What it does, as a command: "remove the empty body".
    pub title: String,
    /// The edits.
    pub edits: Vec<Edit>,
}

impl Fix {
    /// A fix of one edit.
    pub fn replace(title: impl Into<String>, span: Span, replacement: impl Into<String>) -> Fix {
        Fix { title: title.into(), edits: vec![Edit { span, replacement: replacement.into() }] }
    }
}

/// Applies as many of `fixes` as do not touch each other's text, in order. Returns the new text and those that
/// were applied; those left out can be found again by checking the new text.
pub fn apply_fixes<'a>(
    source: &Source,
    fixes: impl IntoIterator<Item = &'a Fix>,
) -> (String, Vec<&'a Fix>) {
    let mut accepted: Vec<&Edit> = Vec::new();
    let mut applied = Vec::new();
    for fix in fixes {
        let clashes = fix
            .edits
            .iter()
            .any(|edit| accepted.iter().any(|other| touches(edit.span, other.span)));
        if !clashes {
            accepted.extend(&fix.edits);
            applied.push(fix);
        }
    }
    accepted.sort_by_key(|edit| edit.span);
    let mut text = String::with_capacity(source.text().len());
    let mut at = 0;
    for edit in accepted {
        text.push_str(&source.text()[at..edit.span.start()]);
        text.push_str(&edit.replacement);
        at = edit.span.end();
    }
    text.push_str(&source.text()[at..]);
    (text, applied)
}

/// Two insertions at one place clash as well, because their order would be arbitrary.
fn touches(a: Span, b: Span) -> bool {
    (a.start() < b.end() && b.start() < a.end()) || (a.start() == b.start())
}
