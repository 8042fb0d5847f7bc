//! The definition of GDL to the letter (Love et al. 2008): what violates it is an error, although
//! Agon can play it.

use agon_text::{Diagnostic, Diagnostics, Severity};

use super::view::{View, each_literal};
use crate::symbols::keyword;
use crate::syntax::LiteralKind;

/// Codes whose warnings and notes are violations of the definition.
const VIOLATIONS: [&str; 14] = [
    "unsafe-variable",
    "variable-in-fact",
    "recursion-restriction",
    "stratified-by-arguments",
    "keyword-in-body",
    "keyword-as-function",
    "keyword-arity",
    "arity-clash",
    "zero-arity-parentheses",
    "empty-or",
    "superfluous-and",
    "goal-out-of-range",
    "depends-on-state",
    "no-arithmetic",
];

/// Makes violations errors, and adds the ones that are not reported otherwise.
pub(super) fn check(view: &View<'_>, findings: &mut Diagnostics) {
    for finding in &mut findings.0 {
        if VIOLATIONS.contains(&finding.code) && finding.severity != Severity::Error {
            finding.severity = Severity::Error;
            finding.hints.push("Agon plays it, but the definition of GDL forbids it".to_owned());
        }
    }
    if view.is_complete && !view.sheet.clauses.is_empty() {
        declarations(view, findings);
    }
    for literal in view.sheet.clauses.iter().flat_map(|clause| &clause.body) {
        each_literal(literal, &mut |part| {
            let LiteralKind::Not(inner) = &part.kind else { return };
            if matches!(inner.kind, LiteralKind::Atom(_)) {
                return;
            }
            findings.push(
                Diagnostic::error(
                    "negated-formula",
                    part.span,
                    "`not` negates something else than one sentence",
                )
                .hint("define a relation by what is inside, and negate that"),
            );
        });
    }
}

/// Reports that fluents or moves are not declared.
fn declarations(view: &View<'_>, findings: &mut Diagnostics) {
    let wanted = [
        ("missing-base", keyword::BASE, "base", &["FLUENT"][..], "fluent"),
        ("missing-input", keyword::INPUT, "input", &["ROLE", "MOVE"][..], "move"),
    ];
    for (code, relation, name, arguments, what) in wanted {
        if view.sheet.clauses.iter().any(|clause| clause.head.relation == relation) {
            continue;
        }
        let sentence = view.word(name, arguments);
        findings.push(
            Diagnostic::error(code, view.end(), format!("no `{name}` declares the {what}s"))
                .hint(format!("add rules for `{sentence}` that list every possible {what}")),
        );
    }
}
