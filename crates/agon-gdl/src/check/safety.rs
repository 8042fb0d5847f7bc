//! Safety: whether every variable gets its values from somewhere.
//!
//! A positive condition gives values to its variables. A variable that gets none is *unsafe*, with
//! these exceptions that real rulesheets rely on:
//!
//! - At the place of a role, in the head of `legal`, `goal`, `input` or `sees`, it means every
//!   role. The normal form then has a condition `(role ?p)`.
//! - In the head of an auxiliary relation it is allowed if every use of the relation gives the
//!   argument a value, as in `(<= (different ?x ?y) (distinct ?x ?y))`. The relation then *demands*
//!   that argument.
//! - In a negated condition that alone mentions the variable, it means that no value makes the
//!   condition true.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::Symbol;
use agon_text::{Diagnostic, Diagnostics, Edit, Fix, Severity, Span};

use super::declarations;
use super::view::{View, each_literal, parameters};
use crate::rules::{Condition, Rule, RuleAtom, RuleTerm};
use crate::symbols::keyword;
use crate::syntax::{Clause, LiteralKind, Syntax};

/// Which arguments of a relation must have values before the relation can be evaluated, by name and
/// number of arguments. Relations that demand nothing have no entry.
pub(super) type Demands = BTreeMap<(Symbol, usize), Vec<bool>>;

pub(super) fn check(view: &View<'_>, findings: &mut Diagnostics) -> Demands {
    let demands = propagate(view, Demands::new());
    let mut reported: BTreeSet<(usize, u32)> = BTreeSet::new();
    for rule in view.rules {
        for mut fault in faults(rule, &demands) {
            if matches!(fault.kind, Kind::NoValue) && is_split(view.clause(rule), fault.variable) {
                fault.kind = Kind::Negated;
            }
            // Of a rule that demands several arguments, only the first is reported.
            let variable =
                if matches!(fault.kind, Kind::Demanded) { u32::MAX } else { fault.variable };
            if reported.insert((rule.clause, variable)) {
                findings.push(report(view, rule, &fault));
            }
        }
    }
    demands
}

/// Returns whether one negation covers several conditions with the variable. `(not (and (p ?x) (q
/// ?x)))` means that no value satisfies both. The normal form negates each condition alone and
/// cannot express this.
fn is_split(clause: &Clause, variable: u32) -> bool {
    let mut found = false;
    for literal in &clause.body {
        each_literal(literal, &mut |part| {
            let LiteralKind::Not(inner) = &part.kind else { return };
            let mut n_parts = 0;
            each_literal(inner, &mut |part| {
                let mut mentions = false;
                match &part.kind {
                    LiteralKind::Atom(_) | LiteralKind::Distinct(_) => {
                        part.each_variable(&mut |v, _| mentions |= v.0 == variable);
                    }
                    LiteralKind::Not(_) | LiteralKind::And(_) | LiteralKind::Or(_) => {}
                }
                n_parts += usize::from(mentions);
            });
            found |= n_parts > 1;
        });
    }
    found
}

/// Returns whether the game evaluates the relation itself, without given arguments.
fn is_query(relation: Symbol) -> bool {
    parameters(relation).is_some()
}

/// Returns whether some variable of the rule has no values and no meaning.
pub(super) fn is_unsafe(rule: &Rule, demands: &Demands) -> bool {
    faults(rule, demands).iter().any(|fault| fault.kind.severity() == Severity::Error)
}

/// Returns whether every use of certain relations gives values to certain arguments, so that the
/// relations can be evaluated top down. Each argument is given by a head and a position.
pub(super) fn can_demand(
    view: &View<'_>,
    demands: &Demands,
    wanted: &[(&RuleAtom, usize)],
) -> bool {
    let n_unsafe =
        |demands: &Demands| view.rules.iter().filter(|rule| is_unsafe(rule, demands)).count();
    let mut more = demands.clone();
    for (head, position) in wanted {
        more.entry(key(head)).or_insert_with(|| vec![false; head.arguments.len()])[*position] =
            true;
    }
    wanted.iter().all(|(head, _)| !is_query(head.relation))
        && n_unsafe(&propagate(view, more)) <= n_unsafe(demands)
}

/// Adds the demands that follow from `demands`.
fn propagate(view: &View<'_>, mut demands: Demands) -> Demands {
    let mut users: BTreeMap<(Symbol, usize), Vec<usize>> = BTreeMap::new();
    for (index, rule) in view.rules.iter().enumerate() {
        users.entry(key(&rule.head)).or_default().push(index);
        for atom in rule.body.iter().filter_map(Condition::atom) {
            users.entry(key(atom)).or_default().push(index);
        }
    }
    let mut open: Vec<usize> = (0..view.rules.len()).rev().collect();
    let mut is_open = vec![true; view.rules.len()];
    while let Some(index) = open.pop() {
        is_open[index] = false;
        let rule = &view.rules[index];
        if is_query(rule.head.relation) {
            continue;
        }
        let bound = bound(rule, &demands);
        let mut has_grown = false;
        for (position, term) in rule.head.arguments.iter().enumerate() {
            if !is_bound(term, &bound) {
                let all = || vec![false; rule.head.arguments.len()];
                let demanded = &mut demands.entry(key(&rule.head)).or_insert_with(all)[position];
                has_grown |= !std::mem::replace(demanded, true);
            }
        }
        if has_grown {
            for &user in &users[&key(&rule.head)] {
                if !std::mem::replace(&mut is_open[user], true) {
                    open.push(user);
                }
            }
        }
    }
    demands
}

fn key(atom: &RuleAtom) -> (Symbol, usize) {
    (atom.relation, atom.arguments.len())
}

fn is_bound(term: &RuleTerm, bound: &[bool]) -> bool {
    let mut all = true;
    term.each_variable(&mut |v| all &= bound[v as usize]);
    all
}

/// Returns the variables that have values if the demanded arguments of the head have them.
fn bound(rule: &Rule, demands: &Demands) -> Vec<bool> {
    let mut bound = vec![false; rule.n_variables as usize];
    for (position, term) in rule.head.arguments.iter().enumerate() {
        if is_demanded(demands, &rule.head, position) {
            term.each_variable(&mut |v| bound[v as usize] = true);
        }
    }
    let mut waiting: Vec<&RuleAtom> = Vec::new();
    for condition in &rule.body {
        if let Condition::Holds(atom) = condition {
            if demands.contains_key(&key(atom)) {
                waiting.push(atom);
            } else {
                atom.each_variable(&mut |v| bound[v as usize] = true);
            }
        }
    }
    loop {
        let n_waiting = waiting.len();
        waiting.retain(|atom| {
            let is_ready = unmet(atom, demands, &bound).is_none();
            if is_ready {
                atom.each_variable(&mut |v| bound[v as usize] = true);
            }
            !is_ready
        });
        if waiting.len() == n_waiting {
            return bound;
        }
    }
}

fn is_demanded(demands: &Demands, atom: &RuleAtom, position: usize) -> bool {
    demands.get(&key(atom)).is_some_and(|demanded| demanded[position])
}

/// Returns a variable in a demanded argument of `atom` that has no value.
fn unmet(atom: &RuleAtom, demands: &Demands, bound: &[bool]) -> Option<u32> {
    let mut found = None;
    for (position, term) in atom.arguments.iter().enumerate() {
        if is_demanded(demands, atom, position) {
            term.each_variable(&mut |v| {
                if !bound[v as usize] && found.is_none() {
                    found = Some(v);
                }
            });
        }
    }
    found
}

/// A variable without values, and the place that needs them.
struct Fault {
    variable: u32,
    place: Span,
    kind: Kind,
}

enum Kind {
    /// At the place of a role; the normal form has `(role ?p)`.
    EveryRole,
    /// In the head of an auxiliary relation that demands the argument.
    Demanded,
    /// In a negated condition alone: "for no value".
    NoValue,
    Head,
    /// In an argument that a relation demands.
    Demand(Symbol),
    Negated,
    Compared,
}

impl Kind {
    fn severity(&self) -> Severity {
        match self {
            Kind::EveryRole | Kind::Demanded | Kind::NoValue => Severity::Warning,
            Kind::Head | Kind::Demand(_) | Kind::Negated | Kind::Compared => Severity::Error,
        }
    }
}

fn faults(rule: &Rule, demands: &Demands) -> Vec<Fault> {
    let mut faults = Vec::new();
    if let Some(Condition::Holds(first)) = rule.body.first()
        && first.relation == keyword::ROLE
        && first.span == rule.head.span
        && let [RuleTerm::Variable(variable)] = first.arguments.as_slice()
    {
        faults.push(Fault { variable: *variable, place: rule.head.span, kind: Kind::EveryRole });
    }
    let without_demands = bound(rule, &Demands::new());
    let bound = bound(rule, demands);
    rule.head.each_variable(&mut |variable| {
        if !without_demands[variable as usize] {
            let kind = if bound[variable as usize] { Kind::Demanded } else { Kind::Head };
            faults.push(Fault { variable, place: rule.head.span, kind });
        }
    });
    for (index, condition) in rule.body.iter().enumerate() {
        match condition {
            Condition::Holds(atom) => {
                if let Some(variable) = unmet(atom, demands, &bound) {
                    faults.push(Fault {
                        variable,
                        place: atom.span,
                        kind: Kind::Demand(atom.relation),
                    });
                }
            }
            Condition::Fails(atom) => {
                if let Some(variable) = unmet(atom, demands, &bound) {
                    faults.push(Fault {
                        variable,
                        place: atom.span,
                        kind: Kind::Demand(atom.relation),
                    });
                }
                atom.each_variable(&mut |variable| {
                    if !bound[variable as usize] {
                        let kind = if is_elsewhere(rule, index, variable) {
                            Kind::Negated
                        } else {
                            Kind::NoValue
                        };
                        faults.push(Fault { variable, place: atom.span, kind });
                    }
                });
            }
            Condition::Differ(a, b, span) => {
                for term in [a, b] {
                    term.each_variable(&mut |variable| {
                        if !bound[variable as usize] {
                            faults.push(Fault { variable, place: *span, kind: Kind::Compared });
                        }
                    });
                }
            }
        }
    }
    faults
}

/// Returns whether a variable occurs outside of condition `index`.
fn is_elsewhere(rule: &Rule, index: usize, variable: u32) -> bool {
    let mut found = false;
    rule.head.each_variable(&mut |v| found |= v == variable);
    for (other, condition) in rule.body.iter().enumerate() {
        if other != index {
            condition.each_variable(&mut |v| found |= v == variable);
        }
    }
    found
}

fn report(view: &View<'_>, rule: &Rule, fault: &Fault) -> Diagnostic {
    let clause = view.clause(rule);
    let name = view.variable(clause, fault.variable);
    let place = view.place_of(clause, fault.variable, fault.place);
    let is_fact = !clause.is_rule;
    let code = if is_fact { "variable-in-fact" } else { "unsafe-variable" };
    let (message, fix) = match fault.kind {
        Kind::EveryRole => {
            let role = view.word("role", &[name]);
            (
                format!("no condition gives `{name}` a value; it is read as every role"),
                add_condition(view, clause, &role),
            )
        }
        Kind::Demanded => {
            let relation = view.name(rule.head.relation);
            (
                format!(
                    "no condition gives `{name}` a value; each use of `{relation}` must give one"
                ),
                None,
            )
        }
        Kind::NoValue => {
            (format!("`{name}` occurs nowhere else; this is read as \"for no `{name}`\""), None)
        }
        Kind::Head if is_fact => (format!("`{name}` in a fact has no value"), None),
        Kind::Head => (format!("no condition gives `{name}` a value"), None),
        Kind::Demand(relation) => {
            let relation = view.name(relation);
            (
                format!(
                    "`{name}` has no value here, and the rules of `{relation}` do not find one"
                ),
                None,
            )
        }
        Kind::Negated => (
            format!(
                "`{name}` occurs only in negated conditions and comparisons, which give no values"
            ),
            None,
        ),
        Kind::Compared => {
            (format!("`{name}` is compared, but no positive condition gives it a value"), None)
        }
    };
    let mut finding = Diagnostic::error(code, place, message);
    finding.severity = fault.kind.severity();
    if let Kind::Demand(relation) = fault.kind
        && let Some(&index) = view.definitions(relation).first()
    {
        finding = finding.note(view.rules[index].head.span, "this rule needs the value");
    }
    finding = finding.hint(match fault.kind {
        Kind::EveryRole => format!("add the condition `{}`", view.word("role", &[name])),
        Kind::NoValue => {
            "to say so explicitly, define a relation by the condition and negate it".to_owned()
        }
        _ if is_fact => "make it a rule with a condition that contains the variable".to_owned(),
        _ => format!("add a positive condition that gives `{name}` its values"),
    });
    if declarations::is_only_declared(view, rule) && finding.severity == Severity::Error {
        finding.severity = Severity::Warning;
        finding = finding.hint(declarations::consequence(view, rule.head.relation));
    }
    finding.fix = fix;
    finding
}

/// Returns the fix that inserts `condition` as the first condition of a clause.
fn add_condition(view: &View<'_>, clause: &Clause, condition: &str) -> Option<Fix> {
    let insert = |at: usize, text: String| Edit { span: Span::new(at, at), replacement: text };
    let edits = match (view.sheet.syntax, clause.is_rule, clause.body.first()) {
        (Syntax::Kif, true, _) => vec![insert(clause.head.span.end(), format!(" {condition}"))],
        (Syntax::Kif, false, _) => vec![
            insert(clause.span.start(), "(<= ".to_owned()),
            insert(clause.span.end(), format!(" {condition})")),
        ],
        (Syntax::Infix, true, Some(first)) if !matches!(first.kind, LiteralKind::Or(_)) => {
            vec![insert(first.span.start(), format!("{condition}, "))]
        }
        (Syntax::Infix, false, _) => {
            vec![insert(clause.head.span.end(), format!(" :- {condition}"))]
        }
        (Syntax::Infix, true, _) => return None,
    };
    Some(Fix { title: format!("add the condition `{condition}`"), edits })
}
