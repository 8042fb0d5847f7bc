//! Attempts to calculate. GDL has no numbers: `3` is a name like any other, and `(+ ?n 1)` a term.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::Symbol;
use agon_text::{Diagnostic, Diagnostics, Span};

use super::view::{NameKind, View};

/// Names of relations that people expect to compare numbers.
const COMPARISONS: [&str; 10] = ["<", ">", ">=", "=<", "=", "==", "!=", "is", "lt", "gt"];

/// Names of functions that people expect to calculate.
const OPERATIONS: [&str; 8] = ["+", "-", "*", "/", "%", "mod", "1+", "++"];

/// Maximum number of further places that a diagnostic points to.
const MAX_NOTES: usize = 3;

/// Reports comparisons and calculations. Returns the relations that it reported, so that they are
/// not reported as undefined as well.
pub(super) fn check(view: &View<'_>, findings: &mut Diagnostics) -> BTreeSet<Symbol> {
    let mut compared: BTreeMap<Symbol, Vec<Span>> = BTreeMap::new();
    let mut calculated: BTreeMap<Symbol, Vec<Span>> = BTreeMap::new();
    view.each_name(&mut |name| {
        let text = view.name(name.symbol);
        match name.kind {
            NameKind::Relation
                if COMPARISONS.contains(&text)
                    && name.n_arguments == 2
                    && view.definitions(name.symbol).is_empty() =>
            {
                compared.entry(name.symbol).or_default().push(name.whole);
            }
            NameKind::Function if OPERATIONS.contains(&text) && name.n_arguments > 0 => {
                calculated.entry(name.symbol).or_default().push(name.whole);
            }
            NameKind::Relation | NameKind::Function => {}
        }
    });
    for (&symbol, places) in &compared {
        let name = view.name(symbol);
        let message = format!("GDL has no arithmetic: `{name}` is not defined, so it never holds");
        findings.push(report(places, message).hint(order(view)));
    }
    for (&symbol, places) in &calculated {
        let name = view.name(symbol);
        let message =
            format!("GDL has no arithmetic: `{name}` builds a term and calculates nothing");
        findings.push(report(places, message).hint(successor(view)));
    }
    compared.into_keys().collect()
}

fn report(places: &[Span], message: String) -> Diagnostic {
    let mut finding = Diagnostic::warning("no-arithmetic", places[0], message);
    for &place in places.iter().skip(1).take(MAX_NOTES) {
        finding = finding.note(place, "also here");
    }
    finding
}

/// Returns the pattern that counts.
fn successor(view: &View<'_>) -> String {
    let fact = |a: &str, b: &str| view.word("succ", &[a, b]);
    let (n, m) = variables(view);
    format!(
        "list the numbers as facts, `{}` `{}` …, and with the condition `{}` `{m}` is one more \
         than `{n}`",
        fact("0", "1"),
        fact("1", "2"),
        fact(n, m)
    )
}

/// Returns the pattern that compares.
fn order(view: &View<'_>) -> String {
    let (n, m) = variables(view);
    format!(
        "list the numbers as facts, `{}` `{}` …, and define the comparison by them: `agon \
         explain-code no-arithmetic` shows the rules for `{}`",
        view.word("succ", &["0", "1"]),
        view.word("succ", &["1", "2"]),
        view.word("less", &[n, m]),
    )
}

fn variables(view: &View<'_>) -> (&'static str, &'static str) {
    match view.sheet.syntax {
        crate::syntax::Syntax::Kif => ("?n", "?m"),
        crate::syntax::Syntax::Infix => ("N", "M"),
    }
}
