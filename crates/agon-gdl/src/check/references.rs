//! Whether what is used is defined, and what is defined is used.

use std::collections::{BTreeMap, BTreeSet};

use agon_logic::Symbol;
use agon_text::{Diagnostic, Diagnostics};

use super::domains::{Domains, Obstacle, Slot};
use super::view::{Part, View, parameters};
use crate::rules::{Condition, Rule, RuleTerm};
use crate::symbols::keyword;
use crate::syntax::{Atom, Term, TermKind};

/// How many further places a finding about a name points to.
const MAX_NOTES: usize = 3;

pub(super) fn check(view: &View<'_>, findings: &mut Diagnostics) {
    if !view.is_complete {
        return;
    }
    let products = Products::new(view);
    undefined(view, findings);
    unused(view, findings);
    dead(view, &products, findings);
    if let Some(domains) = Domains::new(view) {
        dead_names(view, &domains, findings);
        unreachable(view, &domains, findings);
    }
}

/// What the rules can make true and what they can make legal, by name and number of arguments.
struct Products {
    /// `None` if a variable stands for the whole, so that anything may come.
    fluents: Option<BTreeSet<(Symbol, usize)>>,
    moves: Option<BTreeSet<(Symbol, usize)>>,
}

impl Products {
    fn new(view: &View<'_>) -> Products {
        let mut products = Products { fluents: Some(BTreeSet::new()), moves: Some(BTreeSet::new()) };
        for rule in view.rules {
            let (set, term) = match (rule.head.relation, rule.head.arguments.as_slice()) {
                (keyword::INIT | keyword::NEXT, [fluent]) => (&mut products.fluents, fluent),
                (keyword::LEGAL, [_, chosen]) => (&mut products.moves, chosen),
                _ => continue,
            };
            match term {
                RuleTerm::Function(name, arguments) => {
                    set.as_mut().map(|set| set.insert((*name, arguments.len())));
                }
                RuleTerm::Variable(v) if !comes_from_state(rule, *v) => *set = None,
                RuleTerm::Variable(_) => {}
            }
        }
        products
    }
}

/// `(<= (next ?f) (true ?f) …)` keeps fluents and makes no new ones.
fn comes_from_state(rule: &Rule, variable: u32) -> bool {
    rule.head.relation == keyword::NEXT
        && rule.body.iter().any(|condition| match condition {
            Condition::Holds(atom) => {
                [keyword::TRUE, keyword::INIT].contains(&atom.relation)
                    && atom.arguments == [RuleTerm::Variable(variable)]
            }
            Condition::Fails(_) | Condition::Differ(..) => false,
        })
}

/// Relations whose absence is reported as a missing keyword, or that need no rules.
fn needs_no_rule(relation: Symbol) -> bool {
    [
        keyword::TRUE,
        keyword::DOES,
        keyword::ROLE,
        keyword::LEGAL,
        keyword::GOAL,
        keyword::TERMINAL,
        keyword::INIT,
        keyword::NEXT,
    ]
    .contains(&relation)
}

fn undefined(view: &View<'_>, findings: &mut Diagnostics) {
    let defined: BTreeSet<Symbol> = view.sheet.clauses.iter().map(|clause| clause.head.relation).collect();
    let mut places: BTreeMap<Symbol, Vec<&Atom>> = BTreeMap::new();
    view.each_atom(&mut |_, atom, part| {
        if part != Part::Head && !needs_no_rule(atom.relation) && !defined.contains(&atom.relation) {
            places.entry(atom.relation).or_default().push(atom);
        }
    });
    for (relation, atoms) in places {
        let name = view.name(relation);
        let mut finding = Diagnostic::warning(
            "undefined-relation",
            atoms[0].name_span,
            format!("`{name}` is never defined, so it never holds"),
        );
        for atom in atoms.iter().skip(1).take(MAX_NOTES) {
            finding = finding.note(atom.name_span, "also used here");
        }
        let meant = view.did_you_mean(name, defined.iter().copied());
        findings.push(match meant {
            Some(meant) => finding.hint(format!("did you mean `{meant}`?")),
            None => finding.hint(format!("add rules or facts for `{name}`, or remove the condition")),
        });
    }
}

fn unused(view: &View<'_>, findings: &mut Diagnostics) {
    let mut used = BTreeSet::new();
    view.each_atom(&mut |clause, atom, part| {
        if part != Part::Head && atom.relation != clause.head.relation {
            used.insert(atom.relation);
        }
    });
    let mut reported = BTreeSet::new();
    for clause in &view.sheet.clauses {
        let relation = clause.head.relation;
        if parameters(relation).is_none() && !used.contains(&relation) && reported.insert(relation) {
            let name = view.name(relation);
            findings.push(
                Diagnostic::warning(
                    "unused-relation",
                    clause.head.name_span,
                    format!("`{name}` is defined but no other rule uses it"),
                )
                .hint("remove its rules, or use it where it was meant to be used"),
            );
        }
    }
}

fn dead(view: &View<'_>, products: &Products, findings: &mut Diagnostics) {
    let mut reported = BTreeSet::new();
    view.each_atom(&mut |_, atom, part| {
        let (term, set, code, what, makers) = match (atom.relation, atom.arguments.as_slice()) {
            (keyword::TRUE, [fluent]) => (fluent, &products.fluents, "dead-fluent", "fluent", "`init` or `next`"),
            (keyword::DOES, [_, chosen]) => (chosen, &products.moves, "dead-move", "move", "`legal`"),
            _ => return,
        };
        let (name, n_arguments) = match &term.kind {
            TermKind::Variable(_) => return,
            TermKind::Constant(name) => (*name, 0),
            TermKind::Function(name, arguments) => (*name, arguments.len()),
        };
        let Some(set) = set else { return };
        if part == Part::Head || set.contains(&(name, n_arguments)) || !reported.insert((code, name, n_arguments)) {
            return;
        }
        let text = view.name(name);
        let otherwise = set.iter().find(|(known, _)| *known == name);
        let finding = match otherwise {
            Some((_, n)) => Diagnostic::warning(
                code,
                term.span,
                format!("no {makers} gives the {what} `{text}` with {n_arguments} arguments"),
            )
            .hint(format!("it is given with {n}")),
            None => {
                let finding =
                    Diagnostic::warning(code, term.name_span, format!("no {makers} gives the {what} `{text}`"));
                match view.did_you_mean(text, set.iter().map(|(known, _)| *known)) {
                    Some(meant) => finding.hint(format!("did you mean `{meant}`?")),
                    None => finding.hint("the condition never holds; remove it, or add what gives it"),
                }
            }
        };
        findings.push(finding);
    });
}

/// Names in conditions that never come to the place where they are asked for.
fn dead_names(view: &View<'_>, domains: &Domains, findings: &mut Diagnostics) {
    let mut reported = BTreeSet::new();
    view.each_atom(&mut |_, atom, part| {
        if part == Part::Head {
            return;
        }
        for (position, term) in atom.arguments.iter().enumerate() {
            let slot = Slot::of(atom.relation, atom.arguments.len(), position);
            dead_name(view, domains, slot, term, &mut reported, findings);
        }
    });
}

fn dead_name(
    view: &View<'_>,
    domains: &Domains,
    slot: Slot,
    term: &Term,
    reported: &mut BTreeSet<(Slot, Symbol)>,
    findings: &mut Diagnostics,
) {
    let (name, arguments) = match &term.kind {
        TermKind::Variable(_) => return,
        TermKind::Constant(name) => (*name, &[][..]),
        TermKind::Function(name, arguments) => (*name, arguments.as_slice()),
    };
    if domains.allows(slot, name, arguments.len()) {
        for (position, argument) in arguments.iter().enumerate() {
            let inner = Slot::Function(name, arguments.len(), position);
            dead_name(view, domains, inner, argument, reported, findings);
        }
        return;
    }
    // Whole fluents and moves are reported by name.
    let is_whole = [Slot::of(keyword::TRUE, 1, 0), Slot::of(keyword::DOES, 2, 1)].contains(&slot);
    if is_whole || !reported.insert((slot, name)) {
        return;
    }
    let text = view.name(name);
    let finding =
        Diagnostic::warning("dead-constant", term.span, format!("`{text}` never comes here, so this never holds"));
    findings.push(match view.did_you_mean(text, domains.names_at(slot)) {
        Some(meant) => finding.hint(format!("did you mean `{meant}`?")),
        None => finding.hint("no fact and no rule puts it in this place"),
    });
}

/// Reports each rule that needs what can never hold. A remark only: its cause is reported where it lies.
fn unreachable(view: &View<'_>, domains: &Domains, findings: &mut Diagnostics) {
    let mut of_clause: Vec<Vec<usize>> = vec![Vec::new(); view.sheet.clauses.len()];
    view.rules.iter().enumerate().for_each(|(index, rule)| of_clause[rule.clause].push(index));
    for (clause, rules) in view.sheet.clauses.iter().zip(of_clause) {
        let obstacles: Option<Vec<Obstacle>> = rules.iter().map(|&index| domains.obstacle(index)).collect();
        let Some(obstacle) = obstacles.as_ref().and_then(|obstacles| obstacles.first()) else { continue };
        let place = view.rules[rules[0]].body[obstacle.condition].span();
        let why = match obstacle.variable {
            Some(variable) => {
                let name = view.variable(clause, variable);
                format!("`{name}` would have to be two things at once")
            }
            None => "this condition never holds".to_owned(),
        };
        findings.push(
            Diagnostic::remark("unreachable-rule", clause.head.span, "this rule can never apply")
                .note(place, why),
        );
    }
}
