//! Steps towards an existential goal, counted.

use std::collections::BTreeSet;

use agon_structures::formula::{Fold, Formula, Name, Term};

use super::{Weights, all_of, sum};

/// The term for a goal in type normal form:
///
/// `ex x1 (t1 and ex x2 (t2 and ... ex xn tn))` becomes
/// `Sum (x1 | t1 : w(n-1) + Sum (x2 | t2 : w(n-2) + ... Sum (xn | tn : 1)))`, with weights w by the number of steps that follow.
///
/// Disjunctions are summed. Where several existential parts stand side by side, which the paper leaves open, each is counted by
/// its own steps and they are summed too. What is not existential is 1 where it holds.
///
/// An existential part that speaks of no fluent and ties two elements together, such as `ex z (R(x, z) and C(z, y))` for a
/// diagonal, is no step: nobody can come closer to it. It says which elements fit, as a relation would that the paper has as a
/// literal, so it stays a condition. One about a single element, such as the description of the last row, tells how far that
/// element has come, and is counted.
pub fn progress(formula: &Formula, weights: &Weights, fluents: &BTreeSet<Name>) -> Term {
    match formula {
        Formula::Or(parts) => sum(parts.iter().map(|part| progress(part, weights, fluents))),
        Formula::And(parts) if parts.iter().any(is_existential) => {
            // At the outside nothing binds the parts together: all of them are wanted, each is a step.
            sum(parts.iter().map(|part| progress(part, weights, fluents)))
        }
        Formula::Exists(variables, inner) => {
            let (further, guard): (Vec<&Formula>, Vec<&Formula>) =
                conjuncts(inner).into_iter().partition(|part| is_step(part, fluents));
            let n_after = further.iter().map(|part| n_steps(part, fluents)).max().unwrap_or(0);
            let own = Term::Number(weights.before_end(n_after));
            let terms = std::iter::once(own)
                .chain(further.iter().map(|part| progress(part, weights, fluents)));
            let guard = all_of(guard.into_iter().cloned().collect());
            Term::aggregate(Fold::Sum, variables.clone(), guard, sum(terms))
        }
        other => Term::characteristic(other.clone()),
    }
}

/// The parts of a conjunction, or the formula alone.
fn conjuncts(formula: &Formula) -> Vec<&Formula> {
    match formula {
        Formula::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}

/// Whether it begins with an existential quantifier, possibly under a disjunction or conjunction.
fn is_existential(formula: &Formula) -> bool {
    match formula {
        Formula::Exists(..) => true,
        Formula::Or(parts) | Formula::And(parts) => parts.iter().any(is_existential),
        _ => false,
    }
}

/// Whether a part under a quantifier is something to come closer to, and no mere condition on the elements chosen so far.
fn is_step(formula: &Formula, fluents: &BTreeSet<Name>) -> bool {
    is_existential(formula)
        && (formula.free_relations().keys().any(|name| fluents.contains(name))
            || formula.free_variables().len() <= 1)
}

/// The steps that follow one another, at most.
fn n_steps(formula: &Formula, fluents: &BTreeSet<Name>) -> usize {
    match formula {
        Formula::Exists(_, inner) => {
            let further = conjuncts(inner).into_iter().filter(|part| is_step(part, fluents));
            1 + further.map(|part| n_steps(part, fluents)).max().unwrap_or(0)
        }
        Formula::And(parts) | Formula::Or(parts) => {
            parts.iter().map(|part| n_steps(part, fluents)).max().unwrap_or(0)
        }
        _ => 0,
    }
}
