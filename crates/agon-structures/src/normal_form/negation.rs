//! Negation normal form.

use crate::formula::{Argument, Closure, Extreme, Fix, Formula, Let, Name};

/// Pushes negations inward to atoms, comparisons and closures. Fixed points become their duals, and
/// comparisons become their opposites if both terms are always defined.
pub fn nnf(formula: &Formula) -> Formula {
    pushed(formula, false, &mut Vec::new())
}

/// Returns the formula or its negation. `turned` lists relations with whether their atoms now
/// denote the complement; the last entry of a name counts.
fn pushed(formula: &Formula, negated: bool, turned: &mut Vec<(Name, bool)>) -> Formula {
    stacker::maybe_grow(64 << 10, 1 << 20, || match formula {
        Formula::Relation(name, arguments) => {
            let is_turned =
                turned.iter().rev().find(|entry| &entry.0 == name).is_some_and(|entry| entry.1);
            if is_turned {
                return complement_atom(formula.clone(), arguments, negated);
            }
            signed(formula.clone(), negated)
        }
        Formula::Equal(..) | Formula::Member(..) => signed(formula.clone(), negated),
        Formula::Compare(left, sign, right) => {
            if negated && left.is_total() && right.is_total() {
                return Formula::Compare(left.clone(), sign.opposite(), right.clone());
            }
            signed(formula.clone(), negated)
        }
        Formula::Not(inner) => pushed(inner, !negated, turned),
        Formula::And(parts) | Formula::Or(parts) => {
            let parts = parts.iter().map(|part| pushed(part, negated, turned)).collect();
            if matches!(formula, Formula::And(_)) != negated {
                Formula::And(parts)
            } else {
                Formula::Or(parts)
            }
        }
        Formula::Exists(variables, inner) | Formula::All(variables, inner) => {
            let inner = Box::new(pushed(inner, negated, turned));
            if matches!(formula, Formula::Exists(..)) != negated {
                Formula::Exists(variables.clone(), inner)
            } else {
                Formula::All(variables.clone(), inner)
            }
        }
        Formula::Fix(fix) => {
            turned.push((fix.relation.clone(), negated));
            let body = pushed(&fix.body, negated, turned);
            turned.pop();
            let extreme = match (fix.extreme, negated) {
                (Extreme::Least, false) | (Extreme::Greatest, true) => Extreme::Least,
                (Extreme::Greatest, false) | (Extreme::Least, true) => Extreme::Greatest,
            };
            let fix = Fix {
                extreme,
                relation: fix.relation.clone(),
                variables: fix.variables.clone(),
                body,
                arguments: fix.arguments.clone(),
            };
            let missing = if negated { missing(&fix.arguments) } else { Vec::new() };
            either(Formula::Fix(Box::new(fix)), missing)
        }
        Formula::Closure(closure) => {
            let body = pushed(&closure.body, false, turned);
            let closure = Closure { body, ..(**closure).clone() };
            signed(Formula::Closure(Box::new(closure)), negated)
        }
        Formula::Let(local) => {
            let definition = pushed(&local.definition, false, turned);
            turned.push((local.relation.clone(), false));
            let body = pushed(&local.body, negated, turned);
            turned.pop();
            let (relation, variables) = (local.relation.clone(), local.variables.clone());
            Formula::Let(Box::new(Let { relation, variables, definition, body }))
        }
    })
}

fn signed(formula: Formula, negated: bool) -> Formula {
    if negated { Formula::not(formula) } else { formula }
}

/// Returns an atom or its negation, expressed by an atom of the complement. Neither atom holds for
/// a constant without an element.
fn complement_atom(atom: Formula, arguments: &[Argument], negated: bool) -> Formula {
    let missing = missing(arguments);
    if negated {
        return either(atom, missing);
    }
    let present = missing.into_iter().map(|missing| match missing {
        Formula::Not(present) => *present,
        other => other,
    });
    let mut parts = vec![Formula::not(atom)];
    parts.extend(present);
    if parts.len() == 1 { parts.remove(0) } else { Formula::And(parts) }
}

fn either(formula: Formula, others: Vec<Formula>) -> Formula {
    if others.is_empty() {
        return formula;
    }
    let mut parts = vec![formula];
    parts.extend(others);
    Formula::Or(parts)
}

/// Returns for each constant the formula that it has no element.
fn missing(arguments: &[Argument]) -> Vec<Formula> {
    let constants = arguments.iter().filter(|argument| argument.variable().is_none());
    constants.map(|constant| Formula::not(Formula::equal(constant, constant))).collect()
}
