//! The errors of the infix parser.

use agon_text::{Diagnostic, Span};

use super::{Parser, TokenKind};
use crate::read::MAX_NESTING;

/// The rest of the clause cannot be understood. The reason has been reported.
pub(super) struct Unreadable;

/// Why a word such as `not` cannot stand where it does.
pub(super) enum Misplaced {
    InHead,
    WithoutConditions,
}

impl Parser<'_, '_> {
    /// Reports that the next token is not what was `expected`.
    pub(super) fn unexpected(&mut self, expected: &str) -> Unreadable {
        let span = self.peek().span;
        let shown = &self.text[span.start()..span.end()];
        let problem = match self.kind() {
            TokenKind::Wrong => return Unreadable,
            TokenKind::Close => Diagnostic::error(
                "unmatched-parenthesis",
                span,
                format!(
                    "closing parenthesis without an opening one, or too early: expected {expected}"
                ),
            )
            .hint("remove it, or add the text that is missing before it"),
            TokenKind::End => Diagnostic::error(
                "unexpected-token",
                span,
                format!("expected {expected}, found the end of the text"),
            ),
            _ => Diagnostic::error(
                "unexpected-token",
                span,
                format!("expected {expected}, found `{shown}`"),
            ),
        };
        let problem = match self.kind() {
            TokenKind::Name(_)
            | TokenKind::Quoted(_)
            | TokenKind::Variable(_)
            | TokenKind::Anonymous => problem
                .hint("join conditions by `&`, separate terms by `,`, and end clauses with `.`"),
            TokenKind::Implies => {
                problem.hint("the clause before it may lack its `.` or have an extra connective")
            }
            TokenKind::And | TokenKind::Or | TokenKind::Comma => problem
                .hint("a connective stands between two conditions; `:-` stands before the first"),
            TokenKind::Other => problem.hint(format!(
                "names with characters other than letters and digits are quoted: `'{shown}'`"
            )),
            TokenKind::Not | TokenKind::Differ => {
                problem.hint("`~` and `!=` are for conditions, not for terms")
            }
            TokenKind::Open
            | TokenKind::Close
            | TokenKind::Stop
            | TokenKind::Wrong
            | TokenKind::End => problem,
        };
        self.builder.report(problem);
        Unreadable
    }

    pub(super) fn never_closed(&mut self, open: Span) -> Unreadable {
        let mut problem =
            Diagnostic::error("unmatched-parenthesis", open, "opening parenthesis is never closed");
        if *self.kind() != TokenKind::End {
            problem = problem.note(self.peek().span, "expected `)` before this");
        }
        self.builder.report(problem.hint("add the missing `)`"));
        Unreadable
    }

    pub(super) fn rule_without_head(&mut self) -> Unreadable {
        let span = self.peek().span;
        let mark = &self.text[span.start()..span.end()];
        self.builder.report(
            Diagnostic::error("empty-rule", span, "a rule needs a head")
                .hint(format!("write `head(…) {mark} condition(…).`")),
        );
        Unreadable
    }

    pub(super) fn report_too_deep(&mut self, span: Span) {
        self.is_wrong = true;
        self.builder.report(
            Diagnostic::error(
                "nested-too-deep",
                span,
                format!("terms or conditions nest deeper than {MAX_NESTING}"),
            )
            .hint("a closing parenthesis may be missing before"),
        );
    }

    pub(super) fn report_arity(&mut self, span: Span, message: &str) {
        self.is_wrong = true;
        self.builder.report(
            Diagnostic::error("keyword-arity", span, message)
                .hint("write `~p(X)` for one condition, `distinct(X,Y)` for one pair of terms"),
        );
    }

    pub(super) fn report_misplaced(&mut self, span: Span, why: Misplaced) {
        self.is_wrong = true;
        let shown = &self.text[span.start()..span.end()];
        let (message, hint) = match why {
            Misplaced::InHead => (
                format!("`{shown}` belongs to conditions and cannot be the head of a rule or fact"),
                "move it after `:-`, into the body of a rule",
            ),
            Misplaced::WithoutConditions => (
                format!("`{shown}` needs an argument"),
                "write `~p(X)`, `p(X) & q(X)`, `p(X) | q(X)` or `distinct(X,Y)`",
            ),
        };
        self.builder.report(Diagnostic::error("misplaced-keyword", span, message).hint(hint));
    }

    pub(super) fn report_variable_as_sentence(&mut self, span: Span) {
        self.is_wrong = true;
        let shown = &self.text[span.start()..span.end()];
        self.builder.report(
            Diagnostic::error(
                "variable-as-sentence",
                span,
                format!("variable `{shown}` cannot be a sentence"),
            )
            .hint(name_hint(shown, "relation")),
        );
    }

    pub(super) fn report_variable_as_name(&mut self, span: Span) {
        self.is_wrong = true;
        let shown = &self.text[span.start()..span.end()];
        self.builder.report(
            Diagnostic::error(
                "variable-as-name",
                span,
                format!("variable `{shown}` cannot be the name of a function"),
            )
            .hint(name_hint(shown, "function")),
        );
    }
}

/// Hints that a capital letter starts a variable, because it is often meant as part of a name.
fn name_hint(shown: &str, what: &str) -> String {
    if shown.starts_with(['?', '_']) {
        format!("GDL has no variables for {what}s; name the {what}")
    } else {
        format!(
            "words that start with a capital letter are variables; for a {what}, write `'{shown}'`"
        )
    }
}
