//! Removes redundant parts of formulas.

use crate::formula::{Argument, Closure, Fix, Formula, Let, Term};
use crate::rational::Rational;

use super::{conjunction, disjunction};

/// Removes constants, double negations, nested lists, duplicates, obvious contradictions,
/// quantifiers over unused variables, and unused `let`s.
pub fn simplified(formula: &Formula) -> Formula {
    stacker::maybe_grow(64 << 10, 1 << 20, || match formula {
        Formula::Relation(..) => formula.clone(),
        // A constant may have no element, so only variables certainly equal themselves.
        Formula::Equal(Argument::Variable(left), Argument::Variable(right)) if left == right => {
            Formula::truth()
        }
        Formula::Equal(..) | Formula::Member(..) => formula.clone(),
        Formula::Compare(left, sign, right) => {
            let (left, right) = (simplified_term(left), simplified_term(right));
            if let (Term::Number(left), Term::Number(right)) = (&left, &right) {
                return if sign.admits(left.cmp(right)) {
                    Formula::truth()
                } else {
                    Formula::falsity()
                };
            }
            Formula::compare(left, *sign, right)
        }
        Formula::Not(inner) => negated(simplified(inner)),
        Formula::And(parts) => joined(parts.iter().map(simplified), true),
        Formula::Or(parts) => joined(parts.iter().map(simplified), false),
        Formula::Exists(variables, inner) | Formula::All(variables, inner) => {
            let exists = matches!(formula, Formula::Exists(..));
            let inner = simplified(inner);
            let free = inner.free_variables();
            let mut used: Vec<_> =
                variables.iter().filter(|variable| free.contains(variable)).cloned().collect();
            match inner {
                Formula::Exists(more, inner) if exists && !used.is_empty() => {
                    used.retain(|variable| !more.contains(variable));
                    used.extend(more);
                    Formula::exists(&used, *inner)
                }
                Formula::All(more, inner) if !exists && !used.is_empty() => {
                    used.retain(|variable| !more.contains(variable));
                    used.extend(more);
                    Formula::all(&used, *inner)
                }
                inner if exists => Formula::exists(&used, inner),
                inner => Formula::all(&used, inner),
            }
        }
        Formula::Fix(fix) => {
            let body = simplified(&fix.body);
            Formula::Fix(Box::new(Fix { body, ..(**fix).clone() }))
        }
        Formula::Closure(closure) => {
            let body = simplified(&closure.body);
            Formula::Closure(Box::new(Closure { body, ..(**closure).clone() }))
        }
        Formula::Let(local) => {
            let body = simplified(&local.body);
            if !body.free_relations().contains_key(&local.relation) {
                return body;
            }
            let definition = simplified(&local.definition);
            Formula::Let(Box::new(Let { definition, body, ..(**local).clone() }))
        }
    })
}

fn simplified_term(term: &Term) -> Term {
    let changed = term
        .rebuilt::<std::convert::Infallible>(&mut |part| Ok(simplified(part)), &mut |part| {
            Ok(simplified_term(part))
        });
    let Ok(term) = changed;
    match term {
        Term::Characteristic(inner) if inner.is_truth() => Term::Number(Rational::ONE),
        Term::Characteristic(inner) if inner.is_falsity() => Term::Number(Rational::ZERO),
        other => other,
    }
}

fn negated(formula: Formula) -> Formula {
    match formula {
        Formula::Not(inner) => *inner,
        formula if formula.is_truth() => Formula::falsity(),
        formula if formula.is_falsity() => Formula::truth(),
        formula => Formula::not(formula),
    }
}

/// Returns a conjunction or disjunction without redundant parts.
fn joined(parts: impl Iterator<Item = Formula>, all: bool) -> Formula {
    let formula = if all { conjunction(parts) } else { disjunction(parts) };
    let (Formula::And(list) | Formula::Or(list)) = &formula else { return formula };
    if matches!(formula, Formula::And(_)) != all {
        return formula;
    }
    let decides = |part: &Formula| if all { part.is_falsity() } else { part.is_truth() };
    let opposed = |part: &Formula| matches!(part, Formula::Not(inner) if list.contains(inner));
    if list.iter().any(|part| decides(part) || opposed(part)) {
        return if all { Formula::falsity() } else { Formula::truth() };
    }
    // Nested lists of the same kind have been merged, so neutral elements are gone already.
    formula
}
