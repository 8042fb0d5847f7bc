//! Names: each should have one spelling, one number of arguments and one meaning.

use std::collections::BTreeMap;

use agon_datalog::Symbol;
use agon_text::{Diagnostic, Diagnostics, Edit, Fix, Span};

use super::view::{Name, NameKind, View, count};
use crate::symbols::keyword;

pub(super) fn check(view: &View<'_>, findings: &mut Diagnostics) {
    let mut occurrences: BTreeMap<Symbol, Vec<Name>> = BTreeMap::new();
    view.each_name(&mut |name| occurrences.entry(name.symbol).or_default().push(name));
    for (&symbol, names) in &occurrences {
        // Keywords are recognised in any capitalisation, and their arguments are counted elsewhere.
        if symbol > keyword::IMPLIES {
            spelling(view, names, findings);
            arities(view, names, NameKind::Relation, findings);
            arities(view, names, NameKind::Function, findings);
            kinds(view, names, findings);
            characters(view, names[0].span, findings);
        }
    }
    variables(view, findings);
}

fn spelling(view: &View<'_>, names: &[Name], findings: &mut Diagnostics) {
    let usual = view.name(names[0].symbol);
    let is_respelt = |text: &str| text != usual && text.to_lowercase() == usual.to_lowercase();
    let others: Vec<Span> =
        names.iter().map(|n| n.span).filter(|&span| is_respelt(view.text(span))).collect();
    findings.0.extend(respelt(view, usual, names[0].span, &others));
}

fn variables(view: &View<'_>, findings: &mut Diagnostics) {
    for clause in &view.sheet.clauses {
        let mut others: BTreeMap<u32, Vec<Span>> = BTreeMap::new();
        clause.each_variable(&mut |v, span| {
            let (text, usual) = (view.text(span), view.variable(clause, v.0));
            if text != usual && text.to_lowercase() == usual.to_lowercase() {
                others.entry(v.0).or_default().push(span);
            }
        });
        clause.variables.iter().for_each(|variable| characters(view, variable.span, findings));
        for (v, others) in others {
            let usual = view.variable(clause, v);
            findings.0.extend(respelt(view, usual, clause.variables[v as usize].span, &others));
        }
    }
}

fn respelt(view: &View<'_>, usual: &str, first: Span, others: &[Span]) -> Option<Diagnostic> {
    let &place = others.first()?;
    let finding = Diagnostic::warning(
        "mixed-capitalisation",
        place,
        format!("`{}` is spelt `{usual}` elsewhere; both are the same name", view.text(place)),
    )
    .note(first, "first spelt here");
    let edit = |&span: &Span| Edit { span, replacement: usual.to_owned() };
    let title = format!("use the spelling `{usual}` everywhere");
    Some(finding.hint(title.clone()).fix(Fix { title, edits: others.iter().map(edit).collect() }))
}

/// Reports a name with several numbers of arguments. Constants do not count as functions without
/// arguments, because `(cell 1 1 king)` beside `(king 1 1)` is common.
fn arities(view: &View<'_>, names: &[Name], kind: NameKind, findings: &mut Diagnostics) {
    let counts =
        |name: &&Name| name.kind == kind && (kind == NameKind::Relation || name.n_arguments > 0);
    let mut alike = names.iter().filter(counts);
    let Some(first) = alike.next() else { return };
    let Some(other) = alike.find(|name| name.n_arguments != first.n_arguments) else { return };
    let name = view.name(first.symbol);
    let what = match kind {
        NameKind::Relation => "relation",
        NameKind::Function => "function",
    };
    findings.push(
        Diagnostic::warning(
            "arity-clash",
            other.whole,
            format!("{what} `{name}` has {} here", count(other.n_arguments, "argument")),
        )
        .note(first.whole, format!("and {} here", first.n_arguments))
        .hint("these are different names for the rules; an argument may be missing"),
    );
}

fn kinds(view: &View<'_>, names: &[Name], findings: &mut Diagnostics) {
    let relation = names.iter().find(|name| name.kind == NameKind::Relation);
    let function =
        names.iter().find(|name| name.kind == NameKind::Function && name.n_arguments > 0);
    if let (Some(relation), Some(function)) = (relation, function) {
        let name = view.name(relation.symbol);
        findings.push(
            Diagnostic::remark(
                "relation-and-function",
                function.span,
                format!("`{name}` is a function here and a relation elsewhere"),
            )
            .note(relation.span, "a relation here")
            .hint("the two are independent; different names would make this clear"),
        );
    }
}

fn characters(view: &View<'_>, place: Span, findings: &mut Diagnostics) {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let text = view.text(place);
    if let Some(odd) = text.trim_start_matches('?').chars().find(|&c| !is_usual(c)) {
        findings.push(
            Diagnostic::remark(
                "unusual-characters",
                place,
                format!("the name `{text}` contains `{odd}`"),
            )
            .hint("other systems may accept only letters, digits, `_` and `-`"),
        );
    }
}
