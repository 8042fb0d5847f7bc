//! Disjunctive and conjunctive normal form of the Boolean part of a formula.

use crate::formula::Formula;

use super::{Budget, Oversize, nnf};

/// Returns a disjunction of conjunctions of literals and quantified formulas, which are not
/// changed. Contradictory and subsumed conjunctions are removed.
///
/// # Errors
/// If more than `limit` parts would be created.
pub fn dnf(formula: &Formula, limit: usize) -> Result<Formula, Oversize> {
    let cases = Clauses { of_cnf: false }.of(&nnf(formula), &mut Budget::new(limit))?;
    Ok(Formula::Or(cases.into_iter().map(Formula::And).collect()))
}

/// Computes either form, because each is the other with the connectives exchanged.
pub(super) struct Clauses {
    pub(super) of_cnf: bool,
}

impl Clauses {
    /// Returns the list of lists for a formula in negation normal form.
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

/// Returns the union of two lists; `None` if it contains a formula and its negation.
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

/// Adds a list unless a shorter one subsumes it, and removes the lists that it subsumes.
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
