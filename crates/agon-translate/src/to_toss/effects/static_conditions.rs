//! Evaluation of static conditions over all moves of a class.

use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::TermId;

use super::{Class, Effects};
use crate::to_toss::formula::{FALSE, Form, Relation, TRUE, Val, Var};

/// Maximum number of pairs of a move and a tuple that are tried.
const MAX_TRIED: usize = 400_000;

impl Effects<'_, '_> {
    /// Returns the arguments of the move that the open variables of a tuple must equal, if static
    /// conditions force that for each variable.
    pub(super) fn static_solution(
        &mut self,
        rest: &[Form],
        predicate: usize,
        head: &[Var],
        solved: &BTreeMap<Var, Val>,
        class: &Class,
    ) -> Option<BTreeMap<Var, Val>> {
        let domain = self.lifter.domain;
        let own: Vec<Var> = class.variables();
        let scope: BTreeSet<Var> = own.iter().chain(head).copied().collect();
        let tests: Vec<&Form> =
            rest.iter().filter(|form| is_static(form) && form.free().is_subset(&scope)).collect();
        if tests.is_empty() {
            return None;
        }
        let rows = &domain.predicates[predicate].rows;
        let moves = self.lifter.moves_of(class);
        if moves.is_empty() || moves.len() * rows.len() > MAX_TRIED {
            return None;
        }
        let open: Vec<Var> = head.iter().copied().filter(|v| !solved.contains_key(v)).collect();
        // The possible values of each open variable in all combinations that satisfy the
        // conditions.
        let mut choices: BTreeMap<Var, BTreeSet<Val>> = BTreeMap::new();
        for &v in &open {
            let all = own.iter().map(|&o| Val::Var(o));
            choices.insert(v, all.collect());
        }
        for arguments in &moves {
            let mut assigned: BTreeMap<Var, TermId> = BTreeMap::new();
            for (value, &cell) in class.arguments.iter().zip(arguments) {
                if let Val::Var(v) = value {
                    assigned.insert(*v, cell);
                }
            }
            for row in rows {
                let mut assigned = assigned.clone();
                let fits = head.iter().zip(row).all(|(v, &cell)| {
                    let expected = solved.get(v).map(|value| match value {
                        Val::Term(term) => Some(*term),
                        Val::Var(o) => assigned.get(o).copied(),
                    });
                    expected.is_none_or(|expected| expected == Some(cell))
                });
                if !fits {
                    continue;
                }
                assigned.extend(head.iter().copied().zip(row.iter().copied()));
                if !tests.iter().all(|test| self.lifter.holds_statically(test, &assigned)) {
                    continue;
                }
                for &v in &open {
                    let cell = assigned[&v];
                    let left = choices.get_mut(&v).expect("every open variable has choices");
                    left.retain(|choice| matches!(choice, Val::Var(o) if assigned[o] == cell));
                    if left.is_empty() {
                        return None;
                    }
                }
            }
        }
        Some(choices.into_iter().filter_map(|(v, left)| Some((v, *left.first()?))).collect())
    }

    /// Replaces a static condition on the move by true or false if it is constant over the class.
    /// Otherwise returns it unchanged.
    pub(super) fn statically_simplified(&self, form: Form, class: &Class) -> Form {
        let own: BTreeSet<Var> = class.variables().into_iter().collect();
        if !is_static(&form) || !form.free().is_subset(&own) {
            return form;
        }
        let moves = self.lifter.moves_of(class);
        if moves.len() > MAX_TRIED {
            return form;
        }
        let n_holding = moves
            .iter()
            .filter(|arguments| {
                let cells = class.arguments.iter().zip(arguments.iter());
                let assigned = cells.filter_map(|(value, &cell)| match value {
                    Val::Var(v) => Some((*v, cell)),
                    Val::Term(_) => None,
                });
                self.lifter.holds_statically(&form, &assigned.collect())
            })
            .count();
        match n_holding {
            0 => FALSE,
            n if n == moves.len() => TRUE,
            _ => form,
        }
    }
}

/// Returns whether a formula contains only static relations and no quantifiers.
fn is_static(form: &Form) -> bool {
    match form {
        Form::Atom(relation, _) => matches!(relation, Relation::Static(_)),
        Form::Same(..) => true,
        Form::Before(..) | Form::Foreign | Form::Ex(..) => false,
        Form::Not(inner) => is_static(inner),
        Form::And(parts) | Form::Or(parts) => parts.iter().all(is_static),
    }
}
