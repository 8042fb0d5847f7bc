//! The words with a meaning of their own: which must occur, where they may stand, how many arguments they take.

use std::collections::BTreeSet;

use agon_datalog::Symbol;
use agon_text::{Diagnostic, Diagnostics, Severity};

use super::declarations::{DECLARATIONS, consequence};
use super::view::{Part, View, count, each_literal, parameters};
use crate::symbols::keyword;
use crate::syntax::{Atom, LiteralKind, Term, TermKind};

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
        // A percept may well be a move or a fluent, and real GDL-II rulesheets say so: `(sees ?p (does ?q ?m))`.
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
    let head = |name, arguments: &[&str]| view.word(name, arguments);
    if absent(keyword::ROLE) {
        let hint = format!("add a fact for each role, such as `{}`", head("role", &["white"]));
        findings.push(
            Diagnostic::error("missing-role", end, "nobody plays: there is no `role`").hint(hint),
        );
    }
    if absent(keyword::LEGAL) {
        let hint = format!("add rules for `{}`", head("legal", &["ROLE", "MOVE"]));
        findings.push(
            Diagnostic::error("missing-legal", end, "nobody can move: there is no `legal`")
                .hint(hint),
        );
    }
    if absent(keyword::GOAL) {
        let hint = format!(
            "add rules for `{}`, with a number from 0 to 100",
            head("goal", &["ROLE", "NUMBER"])
        );
        findings.push(
            Diagnostic::error("missing-goal", end, "nobody can win: there is no `goal`").hint(hint),
        );
    }
    if absent(keyword::TERMINAL) {
        let finding = Diagnostic::error(
            "missing-terminal",
            end,
            "the game never ends: there is no `terminal`",
        );
        findings.push(finding.hint("add a rule for `terminal`"));
    }
    if absent(keyword::INIT) {
        let hint = format!("add facts such as `{}`", head("init", &["FLUENT"]));
        findings.push(
            Diagnostic::warning(
                "missing-init",
                end,
                "nothing is true at the start: there is no `init`",
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
                "nothing is true after a move: there is no `next`",
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
    Diagnostic::error(
        "keyword-arity",
        atom.span,
        format!("`{name}` takes {}, here it has {found}", count(expected.len(), "argument")),
    )
    .hint(format!("write `{}`", view.word(name, expected)))
}

fn in_head(view: &View<'_>, atom: &Atom, findings: &mut Diagnostics) {
    let (why, instead) = match atom.relation {
        keyword::TRUE => (
            "the rules cannot say what is true now",
            "`init` for the start or `next` for what follows",
        ),
        keyword::DOES => {
            ("the rules cannot say what a player does", "`legal` for what a player may do")
        }
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
        keyword::INIT => {
            "give what both need a relation of its own; `true` asks for the present state"
        }
        keyword::NEXT => {
            "give the conditions of `next` a relation of their own and use that in both places"
        }
        keyword::BASE | keyword::INPUT | keyword::PERCEPT => {
            "give what both need a relation of its own"
        }
        keyword::SEES => {
            "give the conditions of `sees` a relation of their own and use that in both places"
        }
        _ => return,
    };
    let name = view.name(atom.relation);
    findings.push(
        Diagnostic::warning(
            "keyword-in-body",
            atom.name_span,
            format!("`{name}` is not meant to be a condition; other systems refuse this"),
        )
        .hint(hint),
    );
}

/// Of a thing called by a keyword only the first place is reported.
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
                        format!("the keyword `{name}` is used as the name of a thing"),
                    )
                    .hint("choose another name; readers and other systems may take it for the keyword"),
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
                        format!("the keyword `{name}` inside a term has no meaning of its own"),
                    )
                    .hint("a parenthesis may be wrong; otherwise choose another name"),
                );
            }
            arguments.iter().for_each(|argument| in_term(view, argument, reported, findings));
        }
    }
}

/// `random` is a role like any other as far as terms go.
fn is_reserved(symbol: Symbol) -> bool {
    symbol <= keyword::IMPLIES
}
