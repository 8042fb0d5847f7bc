//! Steps towards an existential goal, counted.

use agon_logic::formula::{Fold, Formula, Term};

use super::{Weights, all_of, sum};

/// The term for a goal in type normal form:
///
/// `ex x1 (t1 and ex x2 (t2 and ... ex xn tn))` becomes
/// `Sum (x1 | t1 : w(n-1) + Sum (x2 | t2 : w(n-2) + ... Sum (xn | tn : 1)))`, with weights w by the number of steps that follow.
///
/// Disjunctions are summed. Where several existential parts stand side by side, which the paper leaves open, each is counted by
/// its own steps and they are summed too. What is not existential is 1 where it holds.
pub fn progress(formula: &Formula, weights: &Weights) -> Term {
    match formula {
        Formula::Or(parts) => sum(parts.iter().map(|part| progress(part, weights))),
        Formula::And(parts) if parts.iter().any(is_existential) => {
            // At the outside nothing binds the parts together: all of them are wanted, each is a step.
            sum(parts.iter().map(|part| progress(part, weights)))
        }
        Formula::Exists(variables, inner) => {
            let (further, guard): (Vec<&Formula>, Vec<&Formula>) =
                conjuncts(inner).into_iter().partition(|part| is_existential(part));
            let n_after = further.iter().map(|part| n_steps(part)).max().unwrap_or(0);
            let own = Term::Number(weights.before_end(n_after));
            let terms = std::iter::once(own).chain(further.iter().map(|part| progress(part, weights)));
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

/// The quantifiers that follow one another, at most.
fn n_steps(formula: &Formula) -> usize {
    match formula {
        Formula::Exists(_, inner) => 1 + n_steps(inner),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().map(n_steps).max().unwrap_or(0),
        _ => 0,
    }
}
