//! Whether everything that is used is defined, and everything that is defined is used.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::Symbol;
use agon_text::{Diagnostic, Diagnostics, Edit, Fix, Span};

use super::domains::{Domains, Obstacle, Slot, source};
use super::view::{Part, View, count, parameters};
use crate::rules::{Condition, Rule, RuleAtom, RuleTerm};
use crate::symbols::keyword;
use crate::syntax::{Atom, Syntax, Term, TermKind};

/// Maximum number of further places that a diagnostic about a name points to.
const MAX_NOTES: usize = 3;

/// Reports unused and undefined names. `reported` are undefined relations with a finding of their
/// own.
pub(super) fn check(
    view: &View<'_>,
    roles: &[Symbol],
    reported: &BTreeSet<Symbol>,
    findings: &mut Diagnostics,
) {
    if !view.is_complete {
        return;
    }
    let producible = Producible::new(view);
    let meant = undefined(view, reported, &producible, findings);
    unused(view, &meant, findings);
    dead(view, &producible, findings);
    unsatisfiable(view, &producible, roles, findings);
}

/// The fluents and the moves that some rule head can produce, by name and number of arguments.
struct Producible {
    /// `None` if a variable stands for the whole fluent, so that anything is possible.
    fluents: Option<BTreeSet<(Symbol, usize)>>,
    moves: Option<BTreeSet<(Symbol, usize)>>,
}

impl Producible {
    fn new(view: &View<'_>) -> Producible {
        let mut producible =
            Producible { fluents: Some(BTreeSet::new()), moves: Some(BTreeSet::new()) };
        for rule in view.rules {
            let (set, term) = match (rule.head.relation, rule.head.arguments.as_slice()) {
                (keyword::INIT | keyword::NEXT, [fluent]) => (&mut producible.fluents, fluent),
                (keyword::LEGAL, [_, chosen]) => (&mut producible.moves, chosen),
                _ => continue,
            };
            match term {
                RuleTerm::Function(name, arguments) => {
                    set.as_mut().map(|set| set.insert((*name, arguments.len())));
                }
                RuleTerm::Variable(v) if !is_kept_fluent(rule, *v) => *set = None,
                RuleTerm::Variable(_) => {}
            }
        }
        producible
    }

    /// Returns whether a condition asks for a fluent or a move that no rule produces.
    fn lacks(&self, atom: &RuleAtom) -> bool {
        let (set, term) = match (atom.relation, atom.arguments.as_slice()) {
            (keyword::TRUE, [fluent]) => (&self.fluents, fluent),
            (keyword::DOES, [_, chosen]) => (&self.moves, chosen),
            _ => return false,
        };
        match (set, term) {
            (Some(set), RuleTerm::Function(name, arguments)) => {
                !set.contains(&(*name, arguments.len()))
            }
            (_, RuleTerm::Variable(_)) | (None, RuleTerm::Function(..)) => false,
        }
    }
}

/// Returns whether the variable is a fluent of the state, so that the rule produces no new fluents,
/// as in `(<= (next ?f) (true ?f) …)`.
fn is_kept_fluent(rule: &Rule, variable: u32) -> bool {
    rule.head.relation == keyword::NEXT
        && rule.body.iter().any(|condition| match condition {
            Condition::Holds(atom) => {
                [keyword::TRUE, keyword::INIT].contains(&atom.relation)
                    && atom.arguments == [RuleTerm::Variable(variable)]
            }
            Condition::Fails(_) | Condition::Differ(..) => false,
        })
}

/// Returns whether a relation needs no rules, or whether its absence is reported as a missing
/// keyword.
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

/// Reports undefined relations. Returns the relations that were probably meant instead.
fn undefined(
    view: &View<'_>,
    reported: &BTreeSet<Symbol>,
    producible: &Producible,
    findings: &mut Diagnostics,
) -> BTreeSet<Symbol> {
    let mut all_meant = BTreeSet::new();
    let defined: BTreeSet<Symbol> =
        view.sheet.clauses.iter().map(|clause| clause.head.relation).collect();
    let mut places: BTreeMap<Symbol, Vec<&Atom>> = BTreeMap::new();
    view.each_atom(&mut |_, atom, part| {
        let is_known = defined.contains(&atom.relation) || reported.contains(&atom.relation);
        if part != Part::Head && !needs_no_rule(atom.relation) && !is_known {
            places.entry(atom.relation).or_default().push(atom);
        }
    });
    for (relation, atoms) in places {
        let name = view.name(relation);
        let mut finding = Diagnostic::warning(
            "undefined-relation",
            atoms[0].name_span,
            format!("`{name}` is not defined, so it never holds"),
        );
        for atom in atoms.iter().skip(1).take(MAX_NOTES) {
            finding = finding.note(atom.name_span, "also used here");
        }
        if has_name(&producible.fluents, relation) {
            findings.push(state_is_meant(view, &atoms, finding));
            continue;
        }
        if has_name(&producible.moves, relation) {
            let asked = view.sheet.source.slice(atoms[0].span);
            let hint = view.word("does", &["ROLE", asked]);
            findings.push(finding.hint(format!("`{name}` is a move: ask for it by `{hint}`")));
            continue;
        }
        let meant = view.did_you_mean(name, defined.iter().copied());
        findings.push(match meant {
            Some(meant) => {
                all_meant.extend(view.sheet.symbols.find(meant));
                let mut change = Fix { title: format!("change to `{meant}`"), edits: Vec::new() };
                let edit = |span| Edit { span, replacement: meant.to_owned() };
                change.edits.extend(atoms.iter().map(|atom| edit(atom.name_span)));
                finding.hint(format!("did you mean `{meant}`?")).suggest(change)
            }
            None => {
                finding.hint(format!("add rules or facts for `{name}`, or remove the condition"))
            }
        });
    }
    all_meant
}

fn has_name(set: &Option<BTreeSet<(Symbol, usize)>>, name: Symbol) -> bool {
    set.as_ref().is_some_and(|set| set.iter().any(|(known, _)| *known == name))
}

/// Adds the hint that conditions with the name of a fluent lack their `true`.
fn state_is_meant(view: &View<'_>, atoms: &[&Atom], finding: Diagnostic) -> Diagnostic {
    let name = view.name(atoms[0].relation);
    let asked = view.word("true", &[view.sheet.source.slice(atoms[0].span)]);
    let (open, close) = match view.sheet.syntax {
        Syntax::Kif => ("(true ", ")"),
        Syntax::Infix => ("true(", ")"),
    };
    let insert = |at, text: &str| Edit { span: Span::new(at, at), replacement: text.to_owned() };
    let edits = atoms
        .iter()
        .flat_map(|atom| [insert(atom.span.start(), open), insert(atom.span.end(), close)])
        .collect();
    finding
        .hint(format!("`{name}` is a fluent: ask for it by `{asked}`"))
        .suggest(Fix { title: "ask the state by `true`".to_owned(), edits })
}

/// Reports relations that nothing uses, except those in `misspelt`.
fn unused(view: &View<'_>, misspelt: &BTreeSet<Symbol>, findings: &mut Diagnostics) {
    let mut used = misspelt.clone();
    view.each_atom(&mut |clause, atom, part| {
        if part != Part::Head && atom.relation != clause.head.relation {
            used.insert(atom.relation);
        }
    });
    let mut reported = BTreeSet::new();
    for clause in &view.sheet.clauses {
        let relation = clause.head.relation;
        if parameters(relation).is_none() && !used.contains(&relation) && reported.insert(relation)
        {
            let name = view.name(relation);
            findings.push(
                Diagnostic::warning(
                    "unused-relation",
                    clause.head.name_span,
                    format!("`{name}` is defined but no other rule uses it"),
                )
                .hint("remove its rules, or use it"),
            );
        }
    }
}

fn dead(view: &View<'_>, producible: &Producible, findings: &mut Diagnostics) {
    let mut reported = BTreeSet::new();
    view.each_atom(&mut |_, atom, part| {
        let (term, set, code, what, makers) = match (atom.relation, atom.arguments.as_slice()) {
            (keyword::TRUE, [fluent]) => {
                (fluent, &producible.fluents, "dead-fluent", "fluent", "`init` or `next`")
            }
            (keyword::DOES, [_, chosen]) => {
                (chosen, &producible.moves, "dead-move", "move", "`legal`")
            }
            _ => return,
        };
        let Some((name, n_arguments)) =
            name_of(term).map(|(name, arguments)| (name, arguments.len()))
        else {
            return;
        };
        let Some(set) = set else { return };
        if part == Part::Head
            || set.contains(&(name, n_arguments))
            || !reported.insert((code, name, n_arguments))
        {
            return;
        }
        let text = view.name(name);
        let finding = match set.iter().find(|(known, _)| *known == name) {
            // Functions with different numbers of arguments are reported elsewhere.
            Some((_, n)) if n_arguments > 0 && *n > 0 => return,
            Some((_, n)) => Diagnostic::warning(
                code,
                term.span,
                format!(
                    "no {makers} produces the {what} `{text}` with {}",
                    count(n_arguments, "argument")
                ),
            )
            .hint(format!("it is produced with {n}")),
            None => {
                let finding = Diagnostic::warning(
                    code,
                    term.name_span,
                    format!("no {makers} produces the {what} `{text}`"),
                );
                if code == "dead-fluent" && !view.definitions(name).is_empty() {
                    let condition = view.sheet.source.slice(term.span);
                    let change = Fix::replace(format!("write `{condition}`"), atom.span, condition);
                    let hint =
                        format!("`{text}` is a relation: write `{condition}` without `true`");
                    findings.push(finding.hint(hint).suggest(change));
                    return;
                }
                match view.did_you_mean(text, set.iter().map(|(known, _)| *known)) {
                    Some(meant) => finding.did_you_mean(term.name_span, meant),
                    None => finding.hint(
                        "the condition never holds; remove it, or add a rule that produces it",
                    ),
                }
            }
        };
        findings.push(finding);
    });
}

/// Reports conditions that can never hold because of the names in them, and the rules that can
/// never apply for that reason.
fn unsatisfiable(
    view: &View<'_>,
    producible: &Producible,
    roles: &[Symbol],
    findings: &mut Diagnostics,
) {
    // The consequences of a mistake are not reported. Conditions that fail because no rule matches
    // count as satisfied, and in the second round also those that fail because of the names in
    // them.
    let mut ignored = unsatisfiable_conditions(view, producible);
    let Some(domains) = Domains::new(view, &ignored) else { return };
    unreachable(view, &domains, &ignored, findings);
    roles_without_rules(view, &domains, roles, findings);
    let mut suspects = dead_names(view, &domains);
    if suspects.is_empty() {
        return;
    }
    ignored.extend(suspects.iter().map(|(_, _, condition)| *condition));
    let Some(domains) = Domains::new(view, &ignored) else { return };
    let still: BTreeSet<Span> =
        dead_names(view, &domains).iter().map(|(term, ..)| term.span).collect();
    suspects.retain(|(term, ..)| still.contains(&term.span));
    let mut reported = BTreeSet::new();
    for (term, slot, _) in suspects {
        let Some((name, _)) = name_of(term) else { continue };
        if !reported.insert((slot, name)) {
            continue;
        }
        let text = view.name(name);
        let finding = Diagnostic::warning(
            "dead-constant",
            term.span,
            format!("`{text}` never occurs here, so the condition never holds"),
        );
        findings.push(match view.did_you_mean(text, domains.names_at(slot)) {
            Some(meant) => finding.did_you_mean(term.name_span, meant),
            None => finding.hint("no fact and no rule puts it at this place"),
        });
    }
}

/// Reports roles that never have a legal move or a goal value, unless an unknown role has them
/// instead.
fn roles_without_rules(
    view: &View<'_>,
    domains: &Domains,
    roles: &[Symbol],
    findings: &mut Diagnostics,
) {
    if findings.0.iter().any(|finding| finding.code == "unknown-role") {
        return;
    }
    for clause in view.sheet.clauses.iter().filter(|clause| clause.head.relation == keyword::ROLE) {
        let [term] = clause.head.arguments.as_slice() else { continue };
        let Some((role, _)) = name_of(term) else { continue };
        let never = |relation| !domains.allows(Slot::of(relation, 2, 0), role, 0);
        if !roles.contains(&role) {
            continue;
        }
        let name = view.name(role);
        if never(keyword::LEGAL) {
            let message = format!("`{name}` never has a legal move");
            findings.push(
                Diagnostic::warning("missing-legal", clause.head.span, message)
                    .hint(format!("add rules for `{}`", view.word("legal", &[name, "MOVE"]))),
            );
        }
        if never(keyword::GOAL) && role != keyword::RANDOM {
            let message = format!("`{name}` never has a goal value");
            findings.push(
                Diagnostic::warning("missing-goal", clause.head.span, message)
                    .hint(format!("add rules for `{}`", view.word("goal", &[name, "NUMBER"]))),
            );
        }
    }
}

/// Returns the conditions that no rule can satisfy: undefined relations, other numbers of
/// arguments, dead fluents and dead moves.
fn unsatisfiable_conditions(view: &View<'_>, producible: &Producible) -> BTreeSet<Span> {
    let given: BTreeSet<(Symbol, usize)> = view
        .rules
        .iter()
        .map(|rule| (source(rule.head.relation), rule.head.arguments.len()))
        .collect();
    let mut found = BTreeSet::new();
    for atom in view.rules.iter().flat_map(|rule| &rule.body).filter_map(Condition::atom) {
        if !given.contains(&(source(atom.relation), atom.arguments.len())) || producible.lacks(atom)
        {
            found.insert(atom.span);
        }
    }
    found
}

/// Returns the terms in conditions whose names never occur at their place, each with the place and
/// the condition.
fn dead_names<'a>(view: &View<'a>, domains: &Domains) -> Vec<(&'a Term, Slot, Span)> {
    let mut found = Vec::new();
    view.each_atom(&mut |_, atom, part| {
        if part != Part::Head {
            for (position, term) in atom.arguments.iter().enumerate() {
                let slot = Slot::of(atom.relation, atom.arguments.len(), position);
                dead_name(domains, slot, term, &mut |term, slot| {
                    found.push((term, slot, atom.span));
                });
            }
        }
    });
    found
}

fn dead_name<'a>(
    domains: &Domains,
    slot: Slot,
    term: &'a Term,
    visit: &mut dyn FnMut(&'a Term, Slot),
) {
    let Some((name, arguments)) = name_of(term) else { return };
    // Whole fluents and moves are reported by name, and so are roles.
    let is_whole = match slot {
        Slot::Relation(keyword::TRUE, 1, 0) | Slot::Relation(keyword::LEGAL, 2, 1) => true,
        Slot::Relation(keyword::LEGAL | keyword::GOAL | keyword::SEES | keyword::INPUT, 2, 0) => {
            true
        }
        Slot::Relation(..) | Slot::Function(..) | Slot::Truth(..) => false,
    };
    if domains.allows(slot, name, arguments.len()) {
        for (position, argument) in arguments.iter().enumerate() {
            dead_name(domains, Slot::Function(name, arguments.len(), position), argument, visit);
        }
    } else if !is_whole {
        visit(term, slot);
    }
}

/// Returns the name and arguments of a term that is not a variable.
fn name_of(term: &Term) -> Option<(Symbol, &[Term])> {
    match &term.kind {
        TermKind::Variable(_) => None,
        TermKind::Constant(name) => Some((*name, &[])),
        TermKind::Function(name, arguments) => Some((*name, arguments)),
    }
}

/// Reports each rule with a condition that can never hold. Only a note, because the cause is
/// reported where it is.
fn unreachable(
    view: &View<'_>,
    domains: &Domains,
    unsatisfiable: &BTreeSet<Span>,
    findings: &mut Diagnostics,
) {
    let mut of_clause: Vec<Vec<usize>> = vec![Vec::new(); view.sheet.clauses.len()];
    view.rules.iter().enumerate().for_each(|(index, rule)| of_clause[rule.clause].push(index));
    let obstacle = |index: usize| {
        let is_unsatisfiable = |condition: &Condition| match condition {
            Condition::Holds(atom) => unsatisfiable.contains(&atom.span),
            _ => false,
        };
        let condition = view.rules[index].body.iter().position(is_unsatisfiable);
        condition
            .map(|condition| Obstacle { condition, variable: None })
            .or_else(|| domains.obstacle(index))
    };
    for (clause, rules) in view.sheet.clauses.iter().zip(of_clause) {
        let obstacles: Option<Vec<Obstacle>> = rules.iter().map(|&index| obstacle(index)).collect();
        let Some(obstacle) = obstacles.as_ref().and_then(|obstacles| obstacles.first()) else {
            continue;
        };
        let place = view.rules[rules[0]].body[obstacle.condition].span();
        let why = match obstacle.variable {
            Some(variable) => {
                format!(
                    "no value of `{}` is possible at all of its places",
                    view.variable(clause, variable)
                )
            }
            None => "this condition never holds".to_owned(),
        };
        findings.push(
            Diagnostic::remark("unreachable-rule", clause.head.span, "this rule can never apply")
                .note(place, why),
        );
    }
}
