//! Constant folding of fluents that can no longer change (Trutman 2015, 4.4.1).

use agon_game::Role;

use super::formula::{Formula, Formulas, Shape};
use super::regress::ActionHeuristics;

impl ActionHeuristics {
    /// Returns the number of fluents that have a permanent value in the state given by `holds`.
    pub fn n_permanent(&self, holds: &dyn Fn(usize) -> bool) -> usize {
        (0..self.fluents.len())
            .filter(|&fluent| self.permanent_value(fluent, holds).is_some())
            .count()
    }

    fn permanent_value(&self, fluent: usize, holds: &dyn Fn(usize) -> bool) -> Option<bool> {
        match holds(fluent) {
            true if self.knowledge.stays_true(fluent) => Some(true),
            false if self.knowledge.stays_false(fluent) => Some(false),
            true | false => None,
        }
    }

    /// Returns the heuristics with all fluents that have a permanent value in the given state
    /// replaced by constants.
    #[must_use]
    pub fn folded(&self, holds: &dyn Fn(usize) -> bool) -> ActionHeuristics {
        let old = &self.formulas;
        let mut formulas = Formulas::new(old.n_fluents());
        let wanted = self.roles.iter().flat_map(|role| role.regressed.iter().flatten().flatten());
        let mut place = vec![Formula::FALSE; old.n_nodes()];
        let mut list = Vec::new();
        for node in old.cone(wanted.copied()) {
            place[node] = match old.shape(Formula::of_node(node)) {
                Shape::False => Formula::FALSE,
                Shape::Unknown => Formula::UNKNOWN,
                Shape::Fluent(fluent) => match self.permanent_value(fluent, holds) {
                    Some(value) => Formula::constant(value),
                    None => formulas.fluent(fluent),
                },
                Shape::And(operands) => {
                    list.clear();
                    list.extend(
                        operands.iter().map(|o| place[o.node()].negated_if(o.is_negated())),
                    );
                    formulas.and(&mut list)
                }
            };
        }
        let mut roles = self.roles.clone();
        for formula in
            roles.iter_mut().flat_map(|role| role.regressed.iter_mut().flatten().flatten())
        {
            *formula = place[formula.node()].negated_if(formula.is_negated());
        }
        let (fluents, knowledge) = (self.fluents.clone(), self.knowledge.clone());
        ActionHeuristics { extent: self.extent, formulas, fluents, roles, knowledge }
    }

    /// Returns the regressed formula of a move for the highest goal, by the text of the move.
    pub fn formula(&self, role: Role, move_text: &str) -> Option<Formula> {
        let role = &self.roles[role.index()];
        let at = role.moves.iter().position(|text| text == move_text)?;
        role.regressed[at].as_ref()?.last().copied()
    }
}
