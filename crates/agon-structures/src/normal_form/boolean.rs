//! Conjunctive and disjunctive normal forms of the Boolean part of a formula.

use crate::formula::Formula;

use super::{Budget, Oversize, is_atom, nnf};

/// A disjunction of conjunctions of literals and quantified formulas, which are left as they are. Contradictory
/// conjunctions, and those that say more than another, are left out.
pub fn dnf(formula: &Formula, limit: usize) -> Result<Formula, Oversize> {
    let cases = Clauses { of_cnf: false }.of(&nnf(formula), &mut Budget::new(limit))?;
    Ok(Formula::Or(cases.into_iter().map(Formula::And).collect()))
}

/// A conjunction of disjunctions of literals and quantified formulas.
pub fn cnf(formula: &Formula, limit: usize) -> Result<Formula, Oversize> {
    let clauses = Clauses { of_cnf: true }.of(&nnf(formula), &mut Budget::new(limit))?;
    Ok(Formula::And(clauses.into_iter().map(Formula::Or).collect()))
}

/// Whether it is a disjunction of conjunctions of what is neither, nor a negation of either.
pub fn is_dnf(formula: &Formula) -> bool {
    let Formula::Or(cases) = formula else { return false };
    cases.iter().all(|case| matches!(case, Formula::And(parts) if parts.iter().all(is_unit)))
}

/// Whether it is a conjunction of disjunctions of what is neither, nor a negation of either.
pub fn is_cnf(formula: &Formula) -> bool {
    let Formula::And(clauses) = formula else { return false };
    clauses.iter().all(|clause| matches!(clause, Formula::Or(parts) if parts.iter().all(is_unit)))
}

fn is_unit(formula: &Formula) -> bool {
    match formula {
        Formula::And(_) | Formula::Or(_) => false,
        Formula::Not(inner) => is_atom(inner),
        _ => true,
    }
}

/// Both forms at once, since each is the other with the connectives exchanged.
pub(super) struct Clauses {
    pub(super) of_cnf: bool,
}

impl Clauses {
    /// The list of lists; the formula is in negation normal form.
    pub(super) fn of(
        &self,
        formula: &Formula,
        budget: &mut Budget,
    ) -> Result<Vec<Vec<Formula>>, Oversize> {
        stacker::maybe_grow(64 << 10, 1 << 20, || match (formula, self.of_cnf) {
            (Formula::Or(parts), false) | (Formula::And(parts), true) => {
                let mut lists = Vec::new();
                for part in parts {
                    for list in self.of(part, budget)? {
                        budget.make(lists.len() / 8 + 1)?;
                        add(&mut lists, list);
                    }
                }
                Ok(lists)
            }
            (Formula::And(parts), false) | (Formula::Or(parts), true) => {
                let mut lists: Vec<Vec<Formula>> = vec![Vec::new()];
                for part in parts {
                    let choices = self.of(part, budget)?;
                    let mut product = Vec::new();
                    for list in &lists {
                        for choice in &choices {
                            budget.make(list.len() + choice.len() + 1)?;
                            if let Some(both) = united(list, choice) {
                                budget.make(product.len() / 8)?;
                                add(&mut product, both);
                            }
                        }
                    }
                    lists = product;
                }
                Ok(lists)
            }
            _ => Ok(vec![vec![formula.clone()]]),
        })
    }
}

/// Both lists in one; none if it holds something and its negation.
fn united(left: &[Formula], right: &[Formula]) -> Option<Vec<Formula>> {
    let mut both = left.to_vec();
    for part in right {
        let is_opposed = match part {
            Formula::Not(inner) => both.contains(inner),
            other => {
                both.iter().any(|known| matches!(known, Formula::Not(inner) if **inner == *other))
            }
        };
        if is_opposed {
            return None;
        }
        if !both.contains(part) {
            both.push(part.clone());
        }
    }
    Some(both)
}

/// Adds a list unless a shorter one makes it needless; longer ones that it makes needless go.
fn add(lists: &mut Vec<Vec<Formula>>, list: Vec<Formula>) {
    let within = |small: &[Formula], large: &[Formula]| {
        small.len() <= large.len() && small.iter().all(|part| large.contains(part))
    };
    if lists.iter().any(|known| within(known, &list)) {
        return;
    }
    lists.retain(|known| !within(&list, known));
    lists.push(list);
}
