//! The keywords: which ones must occur, where they may stand, and how many arguments they take.

use std::collections::BTreeSet;

use agon_datalog::Symbol;
use agon_text::{Diagnostic, Diagnostics, Fix, Severity, Span};

use super::declarations::{DECLARATIONS, consequence};
use super::view::{Part, View, count, each_literal, parameters};
use crate::symbols::keyword;
use crate::syntax::{Atom, LiteralKind, Syntax, Term, TermKind};

pub(super) fn check(view: &View<'_>, findings: &mut Diagnostics) {
    if view.is_complete {
        missing(view, findings);
    }
    let mut odd_declarations = BTreeSet::new();
    let mut reported = BTreeSet::new();
    view.each_atom(&mut |_, atom, part| {
        if let Some(expected) = parameters(atom.relation)
            && expected.len() != atom.arguments.len()
        {
            if !DECLARATIONS.contains(&atom.relation) {
                findings.push(arity(view, atom, expected));
            } else if odd_declarations.insert(atom.relation) {
                let mut finding = arity(view, atom, expected);
                finding.severity = Severity::Warning;
                findings.push(finding.hint(consequence(view, atom.relation)));
            }
        }
        match part {
            Part::Head => in_head(view, atom, findings),
            Part::Body | Part::Negated => in_body(view, atom, findings),
        }
        // A percept may be a move or a fluent, and real GDL-II rulesheets use this: `(sees ?p (does
        // ?q ?m))`.
        if ![keyword::SEES, keyword::PERCEPT].contains(&atom.relation) {
            atom.arguments.iter().for_each(|term| in_term(view, term, &mut reported, findings));
        }
    });
    for literal in view.sheet.clauses.iter().flat_map(|clause| &clause.body) {
        each_literal(literal, &mut |part| {
            if let LiteralKind::Distinct(terms) = &part.kind {
                terms.iter().for_each(|term| in_term(view, term, &mut reported, findings));
            }
        });
    }
}

fn missing(view: &View<'_>, findings: &mut Diagnostics) {
    let absent =
        |relation| view.sheet.clauses.iter().all(|clause| clause.head.relation != relation);
    let end = view.end();
    if view.sheet.clauses.is_empty() {
        findings.push(
            Diagnostic::error("empty-rulesheet", end, "there are no rules")
                .hint("`agon new my-game` writes a small game to start from"),
        );
        return;
    }
    let head = |name, arguments: &[&str]| view.word(name, arguments);
    if absent(keyword::ROLE) {
        let hint = format!("add a fact for each role, such as `{}`", head("role", &["white"]));
        findings.push(
            Diagnostic::error("missing-role", end, "no `role` is defined, so there are no players")
                .hint(hint),
        );
    }
    if absent(keyword::LEGAL) {
        let hint = format!("add rules for `{}`", head("legal", &["ROLE", "MOVE"]));
        findings
            .push(Diagnostic::error("missing-legal", end, "no `legal` move is defined").hint(hint));
    }
    if absent(keyword::GOAL) {
        let hint = format!(
            "add rules for `{}`, with a number from 0 to 100",
            head("goal", &["ROLE", "NUMBER"])
        );
        findings.push(Diagnostic::error("missing-goal", end, "no `goal` is defined").hint(hint));
    }
    if absent(keyword::TERMINAL) {
        let finding = Diagnostic::error(
            "missing-terminal",
            end,
            "`terminal` is not defined, so the game never ends",
        );
        findings.push(finding.hint("add a rule for `terminal`"));
    }
    if absent(keyword::INIT) {
        let hint = format!("add facts such as `{}`", head("init", &["FLUENT"]));
        findings.push(
            Diagnostic::warning(
                "missing-init",
                end,
                "`init` is not defined, so nothing is true at the start",
            )
            .hint(hint),
        );
    }
    if absent(keyword::NEXT) {
        let hint = format!("add rules for `{}`", head("next", &["FLUENT"]));
        findings.push(
            Diagnostic::warning(
                "missing-next",
                end,
                "`next` is not defined, so nothing is true after a move",
            )
            .hint(hint),
        );
    }
}

fn arity(view: &View<'_>, atom: &Atom, expected: &[&str]) -> Diagnostic {
    let name = view.name(atom.relation);
    let found = match atom.arguments.len() {
        0 => "none".to_owned(),
        n => n.to_string(),
    };
    let finding = Diagnostic::error(
        "keyword-arity",
        atom.span,
        format!("`{name}` takes {} but has {found} here", count(expected.len(), "argument")),
    )
    .hint(format!("write `{}`", view.word(name, expected)));
    let takes_term = matches!(expected.last(), Some(&("FLUENT" | "MOVE" | "PERCEPT")));
    let parts = atom.arguments.get(expected.len().saturating_sub(1)..).unwrap_or_default();
    // `(true cell 1 2)`: the parentheses of the last argument are missing.
    match parts {
        [first, _, ..] if takes_term && matches!(first.kind, TermKind::Constant(_)) => {
            let (start, end) = (first.span.start(), parts[parts.len() - 1].span.end());
            match view.sheet.syntax {
                Syntax::Infix => finding,
                Syntax::Kif => {
                    let term = format!("({})", view.sheet.source.slice(Span::new(start, end)));
                    let title = format!("write `{term}`");
                    finding
                        .hint(format!("what follows is one term: `{term}`"))
                        .suggest(Fix::replace(title, Span::new(start, end), term))
                }
            }
        }
        _ => finding,
    }
}

fn in_head(view: &View<'_>, atom: &Atom, findings: &mut Diagnostics) {
    let (why, instead) = match atom.relation {
        keyword::TRUE => (
            "rules cannot define what is true now",
            "`init` for the initial state or `next` for the next state",
        ),
        keyword::DOES => (
            "rules cannot define what a player does",
            "`legal` for the moves that a player may choose",
        ),
        _ => return,
    };
    findings.push(
        Diagnostic::error(
            "keyword-in-head",
            atom.name_span,
            format!("{why}: `{}`", view.name(atom.relation)),
        )
        .hint(format!("use {instead}")),
    );
}

fn in_body(view: &View<'_>, atom: &Atom, findings: &mut Diagnostics) {
    let hint = match atom.relation {
        keyword::INIT => "define a separate relation; `true` asks for the current state",
        keyword::NEXT => {
            "define a separate relation for the conditions of `next` and use it in both places"
        }
        keyword::BASE | keyword::INPUT | keyword::PERCEPT => {
            "define a separate relation for the shared conditions"
        }
        keyword::SEES => {
            "define a separate relation for the conditions of `sees` and use it in both places"
        }
        _ => return,
    };
    let name = view.name(atom.relation);
    findings.push(
        Diagnostic::warning(
            "keyword-in-body",
            atom.name_span,
            format!("`{name}` should not be a condition; other systems reject this"),
        )
        .hint(hint),
    );
}

/// Reports the keywords in a term. For each keyword, only its first use is reported.
fn in_term(
    view: &View<'_>,
    term: &Term,
    reported: &mut BTreeSet<Symbol>,
    findings: &mut Diagnostics,
) {
    match &term.kind {
        TermKind::Variable(_) => {}
        TermKind::Constant(symbol) => {
            if is_reserved(*symbol) && reported.insert(*symbol) {
                let name = view.name(*symbol);
                findings.push(
                    Diagnostic::warning(
                        "keyword-as-constant",
                        term.name_span,
                        format!("the keyword `{name}` is used as a constant"),
                    )
                    .hint("choose another name; other systems may interpret it as the keyword"),
                );
            }
        }
        TermKind::Function(symbol, arguments) => {
            if is_reserved(*symbol) {
                let name = view.name(*symbol);
                findings.push(
                    Diagnostic::warning(
                        "keyword-as-function",
                        term.name_span,
                        format!("the keyword `{name}` has no special meaning inside a term"),
                    )
                    .hint("a parenthesis may be wrong; otherwise choose another name"),
                );
            }
            arguments.iter().for_each(|argument| in_term(view, argument, reported, findings));
        }
    }
}

/// Returns whether a keyword should not name a function or constant. `random` may, because it names
/// a role.
fn is_reserved(symbol: Symbol) -> bool {
    symbol <= keyword::IMPLIES
}
