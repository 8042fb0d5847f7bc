//! What is wrong with a text, where, and how to mend it.

use crate::{Fix, Span};

/// How bad it is.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// Worth knowing; nothing need be done.
    Note,
    /// Suspicious, yet the text has a meaning.
    Warning,
    /// The text has no meaning that could be played.
    Error,
}

impl Severity {
    /// The word it is shown as.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// One finding. The code is stable: users look it up and write it into their scripts.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A short stable name such as `unsafe-variable`.
    pub code: &'static str,
    /// The offending place.
    pub span: Span,
    /// What is wrong, in lower case and without a full stop.
    pub message: String,
    /// Other places that belong to the story.
    pub notes: Vec<(Span, String)>,
    /// How to mend it.
    pub hints: Vec<String>,
    /// A change that mends it without changing what the rules mean, if there is one.
    pub fix: Option<Fix>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, span, message.into())
    }

    /// A warning at `span`.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, span, message.into())
    }

    /// A remark at `span`.
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
        }
    }

    /// Adds another place and what it has to do with it.
    #[must_use]
    pub fn note(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.notes.push((span, text.into()));
        self
    }

    /// Adds how to mend it.
    #[must_use]
    pub fn hint(mut self, text: impl Into<String>) -> Diagnostic {
        self.hints.push(text.into());
        self
    }

    /// Adds a change that mends it.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Diagnostic {
        self.fix = Some(fix);
        self
    }
}

/// The findings of a stage that could not go on: at least one of them is an error.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Whether any of them is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|d| d.severity == Severity::Error)
    }

    /// Puts them in the order of the text, the graver first at one place.
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

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Diagnostics {
        Diagnostics(vec![diagnostic])
    }
}
