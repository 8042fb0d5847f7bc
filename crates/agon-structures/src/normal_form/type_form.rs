//! Type normal form: quantifiers as far inside as possible.

use std::collections::BTreeSet;

use crate::formula::{Formula, Fresh, Name, Variable};

use super::boolean::Clauses;
use super::{Budget, Oversize, conjunction, disjunction, nnf};

/// Which of several variables quantified together stays outermost. The formulas about the others
/// are then evaluated for each of its values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SplitFirst {
    /// The first one listed.
    AsListed,
    /// A variable in a literal of one of these relations, which moves change, comes before all
    /// others.
    Fluents(BTreeSet<Name>),
}

/// Returns the type normal form, by the procedure TNF of Kaiser & Stafiniak 2011. `let`s are
/// expanded first.
///
/// # Errors
/// If more than `limit` parts would be created.
pub fn tnf(formula: &Formula, split_first: &SplitFirst, limit: usize) -> Result<Formula, Oversize> {
    let formula = nnf(&formula.without_lets(limit)?);
    // Conjuncts are pulled out of scopes, so a variable must not be bound inside its own scope.
    let formula = formula.with_distinct_binders(&mut Fresh::default());
    typed(&formula, split_first, &mut Budget::new(limit))
}

fn typed(
    formula: &Formula,
    split_first: &SplitFirst,
    budget: &mut Budget,
) -> Result<Formula, Oversize> {
    budget.make(1)?;
    stacker::maybe_grow(64 << 10, 1 << 20, || match formula {
        Formula::And(parts) => {
            let parts: Result<Vec<Formula>, Oversize> =
                parts.iter().map(|part| typed(part, split_first, budget)).collect();
            Ok(conjunction(parts?))
        }
        Formula::Or(parts) => {
            let parts: Result<Vec<Formula>, Oversize> =
                parts.iter().map(|part| typed(part, split_first, budget)).collect();
            Ok(disjunction(parts?))
        }
        Formula::Exists(..) | Formula::All(..) => {
            let exists = matches!(formula, Formula::Exists(..));
            let (variables, inner) = block(formula, exists);
            let mut result = typed(inner, split_first, budget)?;
            // The variable to split on first must become outermost, so it is pushed inward last.
            for variable in ordered(variables, inner, split_first).iter().rev() {
                result = split(&result, variable, exists, budget)?;
            }
            Ok(result)
        }
        other => Ok(other.clone()),
    })
}

/// Returns the variables of directly nested quantifiers of the same kind, and the formula below.
fn block(formula: &Formula, exists: bool) -> (Vec<Variable>, &Formula) {
    let mut all = Vec::new();
    let mut inner = formula;
    loop {
        match (inner, exists) {
            (Formula::Exists(variables, next), true) | (Formula::All(variables, next), false) => {
                all.extend(variables.iter().cloned());
                inner = next;
            }
            _ => return (all, inner),
        }
    }
}

fn ordered(variables: Vec<Variable>, inner: &Formula, split_first: &SplitFirst) -> Vec<Variable> {
    let SplitFirst::Fluents(fluents) = split_first else { return variables };
    let mut changing = BTreeSet::new();
    gather_changing(inner, fluents, &mut changing);
    let (first, rest): (Vec<Variable>, Vec<Variable>) =
        variables.into_iter().partition(|variable| changing.contains(variable));
    first.into_iter().chain(rest).collect()
}

/// Collects the variables of literals with a fluent.
fn gather_changing(formula: &Formula, fluents: &BTreeSet<Name>, found: &mut BTreeSet<Variable>) {
    stacker::maybe_grow(64 << 10, 1 << 20, || match formula {
        Formula::Not(inner) | Formula::Exists(_, inner) | Formula::All(_, inner) => {
            gather_changing(inner, fluents, found);
        }
        Formula::And(parts) | Formula::Or(parts) => {
            parts.iter().for_each(|part| gather_changing(part, fluents, found));
        }
        other => {
            if other.free_relations().keys().any(|name| fluents.contains(name)) {
                found.extend(other.free_variables());
            }
        }
    });
}

/// Pushes one quantifier inward. An existential quantifier passes through the disjunctive normal
/// form, and in each conjunction past all parts in which its variable is not free. A universal
/// quantifier is treated dually.
fn split(
    inner: &Formula,
    variable: &Variable,
    exists: bool,
    budget: &mut Budget,
) -> Result<Formula, Oversize> {
    let lists = Clauses { of_cnf: !exists }.of(inner, budget)?;
    let mut cases = Vec::with_capacity(lists.len());
    for list in lists {
        budget.make(list.len() + 1)?;
        let (with, without): (Vec<Formula>, Vec<Formula>) =
            list.into_iter().partition(|part| part.free_variables().contains(variable));
        let mut parts = without;
        if exists {
            if !with.is_empty() {
                parts.push(Formula::exists([variable], conjunction(with)));
            }
            cases.push(conjunction(parts));
        } else {
            if !with.is_empty() {
                parts.push(Formula::all([variable], disjunction(with)));
            }
            cases.push(disjunction(parts));
        }
    }
    Ok(if exists { disjunction(cases) } else { conjunction(cases) })
}
