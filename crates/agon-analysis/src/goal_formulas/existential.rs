//! Terms that count the steps towards an existential goal.

use std::collections::BTreeSet;

use agon_structures::formula::{Fold, Formula, Name, Term};

use super::{Weights, all_of, sum};

/// Returns the term for a goal in type normal form.
///
/// `ex x1 (t1 and ex x2 (t2 and ... ex xn tn))` becomes `Sum (x1 | t1 : w(n-1) + Sum (x2 | t2 :
/// w(n-2) + ... Sum (xn | tn : 1)))`, where the weight `w` depends on the number of steps that
/// follow.
///
/// Disjunctions are summed. Several existential parts side by side, which Kaiser & Stafiniak 2011
/// leave open, are summed too, each weighted by its own steps. A part that is not existential is 1
/// where it holds.
///
/// An existential part without fluents that relates two elements, such as `ex z (R(x, z) and C(z,
/// y))` for a diagonal, is not a step, because no move can bring it closer. It restricts the choice
/// of elements, like a relation that the paper treats as a literal, and stays a condition. A part
/// about a single element, such as the description of the last row, measures how far that element
/// has come, and is counted.
pub(super) fn progress(formula: &Formula, weights: &Weights, fluents: &BTreeSet<Name>) -> Term {
    match formula {
        Formula::Or(parts) => sum(parts.iter().map(|part| progress(part, weights, fluents))),
        Formula::And(parts) if parts.iter().any(is_existential) => {
            // At the top level no variable connects the parts: all of them are goals, and each is a
            // step.
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

/// Returns the parts of a conjunction, or the formula alone.
fn conjuncts(formula: &Formula) -> Vec<&Formula> {
    match formula {
        Formula::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        other => vec![other],
    }
}

/// Returns whether the formula begins with an existential quantifier, possibly below a disjunction
/// or conjunction.
fn is_existential(formula: &Formula) -> bool {
    match formula {
        Formula::Exists(..) => true,
        Formula::Or(parts) | Formula::And(parts) => parts.iter().any(is_existential),
        _ => false,
    }
}

/// Returns whether a part below a quantifier is a step towards the goal, and not only a condition
/// on the elements chosen so far.
fn is_step(formula: &Formula, fluents: &BTreeSet<Name>) -> bool {
    is_existential(formula)
        && (formula.free_relations().keys().any(|name| fluents.contains(name))
            || formula.free_variables().len() <= 1)
}

/// Returns the maximum number of consecutive steps.
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
