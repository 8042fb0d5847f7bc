//! Clauses that can be written more simply, and conditions that mean nothing.

use std::collections::BTreeMap;

use agon_text::{Diagnostic, Diagnostics, Edit, Fix, Span};

use super::unify::can_be_equal;
use super::view::{View, each_literal};
use crate::rules::{Condition, Rule};
use crate::syntax::{Clause, Literal, LiteralKind, Polarity, Syntax, VariableId};

pub(super) fn check(view: &View<'_>, findings: &mut Diagnostics) {
    for clause in &view.sheet.clauses {
        empty_body(view, clause, findings);
        singletons(view, clause, findings);
        for literal in &clause.body {
            superfluous_and(view, literal, findings);
            each_literal(literal, &mut |part| alternatives(part, findings));
        }
    }
    parentheses(view, findings);
    constant_conditions(view, findings);
}

/// Reports an empty body. A rule without conditions whose head has variables is reported as unsafe
/// instead, with a different fix.
fn empty_body(view: &View<'_>, clause: &Clause, findings: &mut Diagnostics) {
    if !clause.is_rule || !clause.body.is_empty() || !clause.variables.is_empty() {
        return;
    }
    let finding =
        Diagnostic::warning("empty-body", clause.span, "a rule without conditions is a fact");
    let title = "write it as a fact".to_owned();
    findings.push(match view.sheet.syntax {
        Syntax::Kif => finding
            .hint(title.clone())
            .fix(Fix { title, edits: keep_only(view, clause.span, clause.head.span) }),
        Syntax::Infix => finding.hint(title),
    });
}

/// Reports variables that occur once, in a positive condition. Elsewhere a single variable is
/// unsafe, which is a different fault.
fn singletons(view: &View<'_>, clause: &Clause, findings: &mut Diagnostics) {
    let mut n_places = vec![0_usize; clause.variables.len()];
    clause.each_variable(&mut |v, _| n_places[v.0 as usize] += 1);
    let mut report = |v: VariableId, place: Span| {
        if n_places[v.0 as usize] == 1 && !clause.variables[v.0 as usize].name.starts_with('_') {
            let name = view.variable(clause, v.0);
            let marked = underscored(name);
            let title = format!("write `{marked}`");
            findings.push(
                Diagnostic::remark(
                    "singleton-variable",
                    place,
                    format!("`{name}` occurs only once"),
                )
                .hint(format!("if any value is allowed, write `{marked}`"))
                .suggest(Fix::replace(title, place, marked)),
            );
        }
    };
    for literal in &clause.body {
        literal.each_atom(&mut |atom, polarity| {
            if polarity == Polarity::Positive {
                atom.each_variable(&mut report);
            }
        });
    }
}

/// Returns the name that marks a variable as unimportant: `?_x`, or `_X`.
fn underscored(variable: &str) -> String {
    match variable.strip_prefix('?') {
        Some(name) => format!("?_{name}"),
        None => format!("_{variable}"),
    }
}

/// Reports `and` in a body, whose conditions are joined anyway.
fn superfluous_and(view: &View<'_>, literal: &Literal, findings: &mut Diagnostics) {
    let LiteralKind::And(parts) = &literal.kind else { return };
    if view.sheet.syntax == Syntax::Kif {
        let edits = match (parts.first(), parts.last()) {
            (Some(first), Some(last)) => keep_only(view, literal.span, first.span.to(last.span)),
            _ => vec![view.cut(literal.span)],
        };
        let title = "remove `and` and its parentheses".to_owned();
        findings.push(
            Diagnostic::remark(
                "superfluous-and",
                literal.span,
                "the conditions of a rule need no `and`",
            )
            .hint(title.clone())
            .fix(Fix { title, edits }),
        );
    }
    parts.iter().for_each(|part| superfluous_and(view, part, findings));
}

fn alternatives(literal: &Literal, findings: &mut Diagnostics) {
    let LiteralKind::Or(parts) = &literal.kind else { return };
    if parts.is_empty() {
        findings.push(
            Diagnostic::warning("empty-or", literal.span, "`or` without alternatives never holds")
                .hint("add the alternatives, or remove the rule"),
        );
    }
    for part in parts.iter().filter(|part| matches!(part.kind, LiteralKind::Or(_))) {
        findings.push(
            Diagnostic::remark(
                "nested-or",
                part.span,
                "an `or` directly inside another is superfluous",
            )
            .note(literal.span, "the outer `or`")
            .hint("list all alternatives in one `or`"),
        );
    }
}

fn parentheses(view: &View<'_>, findings: &mut Diagnostics) {
    view.each_name(&mut |name| {
        if name.n_arguments == 0 && name.span != name.whole {
            let text = view.text(name.span);
            let title = format!("write `{text}` without parentheses");
            findings.push(
                Diagnostic::warning(
                    "zero-arity-parentheses",
                    name.whole,
                    format!("`{text}` has no arguments and needs no parentheses"),
                )
                .hint(title.clone())
                .fix(Fix { title, edits: keep_only(view, name.whole, name.span) }),
            );
        }
    });
}

fn constant_conditions(view: &View<'_>, findings: &mut Diagnostics) {
    let mut of_clause: Vec<Vec<&Rule>> = vec![Vec::new(); view.sheet.clauses.len()];
    view.rules.iter().for_each(|rule| of_clause[rule.clause].push(rule));
    for (clause, rules) in view.sheet.clauses.iter().zip(&of_clause) {
        comparisons(rules, findings);
        match rules.as_slice() {
            [] => impossible(view, clause, findings),
            [rule] => contradictions(view, rule, findings),
            // With alternatives, as in `(or a b) (or (not a) (not b))`, some contradict themselves
            // by design.
            _ => {}
        }
    }
}

/// Reports comparisons that have the same result for all values of the variables, in every
/// alternative.
fn comparisons(rules: &[&Rule], findings: &mut Diagnostics) {
    #[derive(PartialEq, Eq)]
    enum Outcome {
        Never,
        Always,
        Depends,
    }
    let mut outcomes: BTreeMap<Span, Outcome> = BTreeMap::new();
    for condition in rules.iter().flat_map(|rule| &rule.body) {
        let Condition::Differ(a, b, span) = condition else { continue };
        let outcome = match can_be_equal(a, b) {
            _ if a == b => Outcome::Never,
            false => Outcome::Always,
            true => Outcome::Depends,
        };
        match outcomes.get(span) {
            Some(earlier) if *earlier != outcome => outcomes.insert(*span, Outcome::Depends),
            Some(_) => None,
            None => outcomes.insert(*span, outcome),
        };
    }
    for (span, outcome) in outcomes {
        let (message, hint) = match outcome {
            Outcome::Never => (
                "a term never differs from itself",
                "the rule can never apply; one of the two terms is probably wrong",
            ),
            Outcome::Always => (
                "these terms always differ",
                "remove the condition, or replace a term by a variable",
            ),
            Outcome::Depends => continue,
        };
        findings.push(Diagnostic::warning("constant-condition", span, message).hint(hint));
    }
}

/// Reports a clause that has no rule in normal form.
fn impossible(view: &View<'_>, clause: &Clause, findings: &mut Diagnostics) {
    let mut has_empty_or = false;
    for literal in &clause.body {
        each_literal(literal, &mut |part| {
            has_empty_or |= matches!(&part.kind, LiteralKind::Or(parts) if parts.is_empty());
        });
    }
    if !has_empty_or && view.is_complete {
        findings.push(
            Diagnostic::warning(
                "constant-condition",
                clause.head.span,
                "this rule can never apply",
            )
            .hint("by `not` and `distinct` it requires different terms to be equal"),
        );
    }
}

/// Reports that the same atom must hold and must not hold.
fn contradictions(view: &View<'_>, rule: &Rule, findings: &mut Diagnostics) {
    let mut wanted = BTreeMap::new();
    for condition in &rule.body {
        if let Condition::Holds(atom) = condition {
            wanted.insert((atom.relation, &atom.arguments), atom.span);
        }
    }
    for condition in &rule.body {
        if let Condition::Fails(atom) = condition
            && let Some(other) = wanted.get(&(atom.relation, &atom.arguments))
        {
            let text = view.text(atom.span);
            findings.push(
                Diagnostic::warning(
                    "constant-condition",
                    atom.span,
                    format!("`{text}` must hold and must not hold"),
                )
                .note(*other, "must hold")
                .hint("the rule can never apply; remove one of the two conditions"),
            );
        }
    }
}

/// Returns the edits that leave only `inner` of `outer`.
fn keep_only(view: &View<'_>, outer: Span, inner: Span) -> Vec<Edit> {
    vec![
        view.cut(Span::new(outer.start(), inner.start())),
        view.cut(Span::new(inner.end(), outer.end())),
    ]
}
