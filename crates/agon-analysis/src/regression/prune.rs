//! Removal of formulas that contribute nothing to the comparison of moves.
//!
//! Values of moves are only compared with one another. In the product logic, a conjunct or disjunct
//! that all moves of a role have in common changes all their values by the same factor and the same
//! summand, and [`super::normalise`] removes both. So it need not be evaluated.

use super::formula::{Formula, Formulas, Shape};
use super::regress::{ActionHeuristics, RoleHeuristic};

impl ActionHeuristics {
    /// Returns the heuristics without the parts that all moves of a role have in common. With
    /// [`super::Logic::Product`] the comparison of moves stays the same, except where the common
    /// part alone decides because it is fully true or false: there, moves with equal values before
    /// can have different values.
    #[must_use]
    pub fn pruned(&self) -> ActionHeuristics {
        let mut pruned = self.clone();
        for role in &mut pruned.roles {
            // With several goals, the common part affects their relative weights.
            if role.goals.len() == 1 {
                prune(&mut pruned.formulas, role);
            }
        }
        pruned
    }
}

fn prune(formulas: &mut Formulas, role: &mut RoleHeuristic) {
    loop {
        let mut all = role.regressed.iter().flatten().map(|goals| goals[0]);
        let Some(first) = all.next() else { return };
        let Some(mut common) = parts(formulas, first) else { return };
        for formula in all {
            let Some(others) = parts(formulas, formula) else { return };
            if formula.is_negated() != first.is_negated() {
                return;
            }
            common.retain(|part| others.binary_search(part).is_ok());
        }
        // Two unknown operands do not stand for the same unknown fact, but they have the same
        // value.
        if common.is_empty() {
            return;
        }
        let mut list = Vec::new();
        for goals in role.regressed.iter_mut().flatten() {
            list.clear();
            list.extend(parts(formulas, goals[0]).into_iter().flatten());
            list.retain(|part| common.binary_search(part).is_err());
            let negated = first.is_negated();
            goals[0] = formulas.and(&mut list).negated_if(negated);
        }
    }
}

/// Returns the sorted operands of a conjunction, or of the conjunction that a disjunction negates.
fn parts(formulas: &Formulas, formula: Formula) -> Option<Vec<Formula>> {
    match formulas.shape(formula) {
        Shape::And(operands) => Some(operands.to_vec()),
        Shape::False | Shape::Unknown | Shape::Fluent(_) => None,
    }
}
