//! What the infix parser says when something is wrong.

use agon_text::{Diagnostic, Span};

use super::{Parser, TokenKind};
use crate::read::MAX_NESTING;

/// The rest of the clause cannot be understood; why has been reported.
pub(super) struct Lost;

/// Why a word such as `not` cannot stand where it does.
pub(super) enum Misplaced {
    InHead,
    WithoutConditions,
}

impl Parser<'_, '_> {
    /// The next token is not what was `expected`.
    pub(super) fn unexpected(&mut self, expected: &str) -> Lost {
        let span = self.peek().span;
        let shown = &self.text[span.start()..span.end()];
        let problem = match self.kind() {
            TokenKind::Wrong => return Lost,
            TokenKind::Close => Diagnostic::error(
                "unmatched-parenthesis",
                span,
                format!(
                    "closing parenthesis without an opening one, or too early: expected {expected}"
                ),
            )
            .hint("remove it, or add what is missing before"),
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
                problem.hint("the clause before it may lack its `.` or have a connective too many")
            }
            TokenKind::And | TokenKind::Or | TokenKind::Comma => problem
                .hint("a connective stands between two conditions; `:-` stands before the first"),
            TokenKind::Other => problem.hint(format!(
                "names with other characters than letters and digits are quoted: `'{shown}'`"
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
        Lost
    }

    pub(super) fn never_closed(&mut self, open: Span) -> Lost {
        let mut problem =
            Diagnostic::error("unmatched-parenthesis", open, "opening parenthesis is never closed");
        if *self.kind() != TokenKind::End {
            problem = problem.note(self.peek().span, "expected `)` before this");
        }
        self.builder.report(problem.hint("add the missing `)`"));
        Lost
    }

    pub(super) fn rule_without_head(&mut self) -> Lost {
        let span = self.peek().span;
        let mark = &self.text[span.start()..span.end()];
        self.builder.report(
            Diagnostic::error("empty-rule", span, "a rule needs a head")
                .hint(format!("write `head(…) {mark} condition(…).`")),
        );
        Lost
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
                format!("`{shown}` is a word for conditions; a rule or fact cannot say it"),
                "move it behind `:-`, into the body of a rule",
            ),
            Misplaced::WithoutConditions => (
                format!("`{shown}` needs what it is about"),
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

/// A capital letter is often meant as part of a name.
fn name_hint(shown: &str, what: &str) -> String {
    if shown.starts_with(['?', '_']) {
        format!("GDL has no variables for {what}s; name the {what}")
    } else {
        format!(
            "words with a capital letter are variables; if it is the name of a {what}, write `'{shown}'`"
        )
    }
}
