//! What contributes nothing, taken out of the formulas.
//!
//! Moves are only ever compared with one another. In the logic of products, what all moves of a role have in common as a
//! conjunct, or as a disjunct, changes the values of all of them by the same factor and the same summand, and
//! [`super::normalise`] takes both out again. So it need not be evaluated.

use super::formula::{Formula, Formulas, Shape};
use super::regress::{ActionHeuristics, RoleHeuristic};

impl ActionHeuristics {
    /// The same heuristics without what all moves of a role have in common. Comparisons of moves by [`super::Logic::Product`] come out
    /// as before; where the common part decides alone, because it is wholly true or false, moves are told apart that were not.
    #[must_use]
    pub fn pruned(&self) -> ActionHeuristics {
        let mut pruned = self.clone();
        for role in &mut pruned.roles {
            // Several goals are weighed against one another, and there what is common counts.
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
        // The unknown is not the same unknown thing everywhere, but it counts the same.
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

/// The operands of a conjunction, or of the conjunction that a disjunction negates: sorted.
fn parts(formulas: &Formulas, formula: Formula) -> Option<Vec<Formula>> {
    match formulas.shape(formula) {
        Shape::And(operands) => Some(operands.to_vec()),
        Shape::False | Shape::Unknown | Shape::Fluent(_) => None,
    }
}
