//! The roles of a game, and the names that are used as roles.

use std::collections::BTreeSet;

use agon_datalog::Symbol;
use agon_text::{Diagnostic, Diagnostics};

use super::static_relations::StaticRelations;
use super::view::View;
use crate::rules::{Rule, RuleTerm};
use crate::symbols::keyword;
use crate::syntax::TermKind;

/// Maximum number of rows read to find the roles where rules define them.
const BUDGET: usize = 100_000;

/// Reports faults of the roles. Returns the roles in the order of their facts.
pub(super) fn check(view: &View<'_>, findings: &mut Diagnostics) -> Vec<Symbol> {
    let rules: Vec<&Rule> =
        view.definitions(keyword::ROLE).iter().map(|&index| &view.rules[index]).collect();
    let derived = rules.iter().find(|rule| !rule.body.is_empty());
    let roles = match derived {
        None => roles(rules.iter().map(|rule| rule.head.arguments.as_slice())),
        Some(rule) => {
            let mut budget = BUDGET;
            let statics =
                StaticRelations::evaluate(view, &BTreeSet::from([keyword::ROLE]), &mut budget);
            let table = statics.table(keyword::ROLE);
            let (severity, end) = match table {
                Some(_) => (agon_text::Severity::Warning, "other systems reject this"),
                None => {
                    (agon_text::Severity::Error, "these rules cannot be evaluated before the game")
                }
            };
            let mut finding = Diagnostic::error(
                "role-not-fact",
                rule.head.span,
                format!("roles are defined by facts, not by rules; {end}"),
            );
            finding.severity = severity;
            findings.push(
                finding.hint(format!("write `{}` for each role", view.word("role", &["NAME"]))),
            );
            roles(table.iter().flat_map(|table| table.rows()).map(Vec::as_slice))
        }
    };
    let mut has_compound = false;
    for clause in view.sheet.clauses.iter().filter(|clause| clause.head.relation == keyword::ROLE) {
        if let [term] = clause.head.arguments.as_slice()
            && let TermKind::Function(..) = term.kind
        {
            has_compound = true;
            findings.push(
                Diagnostic::error(
                    "role-not-constant",
                    term.span,
                    "the name of a role is a single word",
                )
                .hint("join the parts, as in `player1` for `(player 1)`"),
            );
        }
    }
    if view.is_complete && !roles.is_empty() && !has_compound {
        unknown(view, &roles, findings);
    }
    roles
}

/// Returns the constants among the arguments of `role`, each once.
fn roles<'t>(rows: impl Iterator<Item = &'t [RuleTerm]>) -> Vec<Symbol> {
    let mut roles: Vec<Symbol> = Vec::new();
    let mut known = BTreeSet::new();
    for row in rows {
        if let [term] = row
            && let Some(role) = term.as_constant()
            && known.insert(role)
        {
            roles.push(role);
        }
    }
    roles
}

fn unknown(view: &View<'_>, roles: &[Symbol], findings: &mut Diagnostics) {
    let known: BTreeSet<Symbol> = roles.iter().copied().collect();
    let acting = [
        keyword::LEGAL,
        keyword::DOES,
        keyword::GOAL,
        keyword::INPUT,
        keyword::SEES,
        keyword::PERCEPT,
    ];
    let mut reported = BTreeSet::new();
    view.each_atom(&mut |_, atom, _| {
        let Some(term) = atom.arguments.first() else { return };
        if !acting.contains(&atom.relation) || atom.arguments.len() != 2 {
            return;
        }
        let symbol = match &term.kind {
            TermKind::Variable(_) => return,
            TermKind::Constant(symbol) if known.contains(symbol) => return,
            TermKind::Constant(symbol) | TermKind::Function(symbol, _) => *symbol,
        };
        if !reported.insert(symbol) {
            return;
        }
        let text = view.text(term.span);
        let finding =
            Diagnostic::warning("unknown-role", term.span, format!("there is no role `{text}`"));
        findings.push(match view.did_you_mean(view.name(symbol), roles.iter().copied()) {
            Some(meant) => finding.did_you_mean(term.name_span, meant),
            None => finding
                .hint(format!("add `{}`, or name one of the roles", view.word("role", &[text]))),
        });
    });
}
