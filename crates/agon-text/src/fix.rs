//! Changes of a text that remove the cause of a diagnostic.

use crate::{Source, Span};

/// A replacement of a piece of text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edit {
    /// The replaced text. An empty span makes an insertion.
    pub span: Span,
    /// The new text.
    pub replacement: String,
}

/// A change that removes the cause of a diagnostic. Either all of its edits are made or none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What the change does, in the imperative: "remove the empty body".
    pub title: String,
    /// The edits.
    pub edits: Vec<Edit>,
}

impl Fix {
    /// Returns a fix with one edit.
    pub fn replace(title: impl Into<String>, span: Span, replacement: impl Into<String>) -> Fix {
        Fix { title: title.into(), edits: vec![Edit { span, replacement: replacement.into() }] }
    }
}

/// Applies fixes in order, except those that touch the text of an earlier one.
///
/// Returns the new text and the applied fixes. A fix that was left out can be found again by
/// checking the new text.
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

/// Returns whether two edits clash. Two insertions at the same place clash as well, because their
/// order would be arbitrary.
fn touches(a: Span, b: Span) -> bool {
    (a.start() < b.end() && b.start() < a.end()) || (a.start() == b.start())
}
