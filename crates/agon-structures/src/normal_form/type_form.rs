//! Type normal form: quantifiers as deep inside as they can be.

use std::collections::BTreeSet;

use crate::formula::{Formula, Fresh, Name, Variable};

use super::boolean::Clauses;
use super::{Budget, Oversize, conjunction, disjunction, is_literal, nnf};

/// Which of several variables quantified together stays outermost: that of which the others are then looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SplitFirst {
    /// The first that is listed.
    AsListed,
    /// Those that occur in a literal of one of these relations before all others: relations that moves change.
    Fluents(BTreeSet<Name>),
}

/// The type normal form, by the procedure of the paper. `let`s are put in place first.
pub fn tnf(formula: &Formula, split_first: &SplitFirst, limit: usize) -> Result<Formula, Oversize> {
    let formula = nnf(&formula.without_lets(limit)?);
    // The same variable bound in different places is no trouble, bound within its own scope it would be: conjuncts
    // are pulled out of scopes.
    let formula = formula.with_distinct_binders(&mut Fresh::default());
    typed(&formula, split_first, &mut Budget::new(limit))
}

/// Whether it is in type normal form: a positive Boolean combination of literals and of quantified such combinations, of
/// one variable each, that is free in each part of the combination.
pub fn is_tnf(formula: &Formula) -> bool {
    stacker::maybe_grow(64 << 10, 1 << 20, || match formula {
        Formula::And(parts) | Formula::Or(parts) => parts.iter().all(is_tnf),
        Formula::Exists(variables, inner) | Formula::All(variables, inner) => {
            variables.len() == 1 && is_tnf(inner) && each_contains(inner, &variables[0])
        }
        other => is_literal(other),
    })
}

/// Whether the variable is free in each part of the Boolean combination, of which there is one at least.
fn each_contains(formula: &Formula, variable: &Variable) -> bool {
    match formula {
        Formula::And(parts) | Formula::Or(parts) => {
            !parts.is_empty() && parts.iter().all(|part| each_contains(part, variable))
        }
        other => other.free_variables().contains(variable),
    }
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
            // The variable to split on first is to be outermost, so it is pushed in last.
            for variable in ordered(variables, inner, split_first).iter().rev() {
                result = split(&result, variable, exists, budget)?;
            }
            Ok(result)
        }
        other => Ok(other.clone()),
    })
}

/// All variables that are quantified one after the other in the same way, and what is below.
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

/// The variables of literals that speak of a fluent.
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

/// One quantifier pushed in: for an existential one, through the disjunctive normal form, and in each conjunction past
/// all that the variable is not free in. Dually for a universal one.
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
