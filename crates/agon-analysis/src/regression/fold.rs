//! What can no longer change, taken out of the formulas as a match goes on (003, 4.4.1).

use agon_game::Role;

use super::formula::{Formula, Formulas, Shape};
use super::regress::ActionHeuristics;

impl ActionHeuristics {
    /// How many fluents have come to stay, given which hold now: those that hold for ever, and those that never will again.
    pub fn n_settled(&self, holds: &dyn Fn(usize) -> bool) -> usize {
        (0..self.fluents.len()).filter(|&fluent| self.settled(fluent, holds).is_some()).count()
    }

    fn settled(&self, fluent: usize, holds: &dyn Fn(usize) -> bool) -> Option<bool> {
        match holds(fluent) {
            true if self.knowledge.stays_true(fluent) => Some(true),
            false if self.knowledge.stays_false(fluent) => Some(false),
            true | false => None,
        }
    }

    /// The same heuristics from here on: fluents that have come to stay are constants.
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
                Shape::Fluent(fluent) => match self.settled(fluent, holds) {
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

    /// The regressed formula of a move, by the texts of role and move: of its highest goal.
    pub fn formula(&self, role: Role, move_text: &str) -> Option<Formula> {
        let role = &self.roles[role.index()];
        let at = role.moves.iter().position(|text| text == move_text)?;
        role.regressed[at].as_ref()?.last().copied()
    }
}
