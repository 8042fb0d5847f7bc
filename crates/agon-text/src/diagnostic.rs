//! Problems found in a text: their place, their severity, and how to solve them.

use crate::{Fix, Span};

/// The severity of a diagnostic.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// Worth knowing. Nothing needs to be done.
    Note,
    /// Suspicious, but the text has a meaning.
    Warning,
    /// The text cannot be played.
    Error,
}

impl Severity {
    /// Returns the word that output shows.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A problem in a text. The code is stable: users look it up and write it into their scripts.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// A short stable name such as `unsafe-variable`.
    pub code: &'static str,
    /// The place of the problem.
    pub span: Span,
    /// The description of the problem, in lower case and without a full stop.
    pub message: String,
    /// Related places, each with an explanation.
    pub notes: Vec<(Span, String)>,
    /// Suggestions how to solve the problem.
    pub hints: Vec<String>,
    /// A change that removes the problem without changing the meaning of the rules, if there is
    /// one.
    pub fix: Option<Fix>,
    /// A change that is probably what was meant, though it changes the meaning of the rules.
    /// Editors offer it; it is never applied without being asked for.
    pub suggestion: Option<Fix>,
}

impl Diagnostic {
    /// Returns an error at `span`.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, span, message.into())
    }

    /// Returns a warning at `span`.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, span, message.into())
    }

    /// Returns a note at `span`.
    pub fn remark(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Note, code, span, message.into())
    }

    fn new(severity: Severity, code: &'static str, span: Span, message: String) -> Diagnostic {
        Diagnostic {
            severity,
            code,
            span,
            message,
            notes: Vec::new(),
            hints: Vec::new(),
            fix: None,
            suggestion: None,
        }
    }

    /// Adds a related place with an explanation.
    #[must_use]
    pub fn note(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.notes.push((span, text.into()));
        self
    }

    /// Adds a suggestion how to solve the problem.
    #[must_use]
    pub fn hint(mut self, text: impl Into<String>) -> Diagnostic {
        self.hints.push(text.into());
        self
    }

    /// Adds the hint that the name at `span` is a misspelt `meant`, and the change as a suggestion.
    #[must_use]
    pub fn did_you_mean(self, span: Span, meant: &str) -> Diagnostic {
        let change = Fix::replace(format!("change to `{meant}`"), span, meant);
        self.hint(format!("did you mean `{meant}`?")).suggest(change)
    }

    /// Adds a change that is probably what was meant.
    #[must_use]
    pub fn suggest(mut self, change: Fix) -> Diagnostic {
        self.suggestion = Some(change);
        self
    }

    /// Adds a change that removes the problem.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Diagnostic {
        self.fix = Some(fix);
        self
    }
}

/// The diagnostics of one stage. If the stage failed, at least one of them is an error.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Returns whether any of them is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|d| d.severity == Severity::Error)
    }

    /// Sorts by place in the text, and at the same place by falling severity.
    pub fn sort(&mut self) {
        self.0.sort_by(|a, b| {
            (a.span, std::cmp::Reverse(a.severity), a.code, &a.message).cmp(&(
                b.span,
                std::cmp::Reverse(b.severity),
                b.code,
                &b.message,
            ))
        });
    }

    /// Adds a diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics(vec![diagnostic])
    }
}
