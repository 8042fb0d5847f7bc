//! Payoffs where several goal values hold at once: the highest counts.
//!
//! A payoff is a sum. So each value except the highest requires that no higher one is given, unless
//! this follows from its condition. The absence of such ends in the sample proves nothing, because
//! they may be rare.

use std::collections::BTreeMap;

use super::arena::Payoff;
use super::formula::{Form, Relation, and, not, or};
use super::lift::{Defined, Lifter};
use super::shared::numbered;

/// Maximum number of pairs of alternatives that are compared. Beyond it, both values are assumed to
/// be possible.
const MAX_PAIRS: usize = 4000;

/// Maximum number of higher values that are listed in a condition. More of them get a relation.
const MAX_LISTED: usize = 3;

/// Makes the values of all payoffs exclusive, by location and role.
pub(super) fn exclude_overlaps(lifter: &mut Lifter<'_>, payoffs: &mut [Vec<Payoff>]) {
    let mut named = NamedConditions::default();
    for of_location in payoffs {
        for (role, payoff) in of_location.iter_mut().enumerate() {
            exclude_higher(lifter, &mut named, role, payoff);
        }
    }
}

/// Makes the values of one payoff exclusive. They are sorted from the highest.
fn exclude_higher(
    lifter: &mut Lifter<'_>,
    named: &mut NamedConditions,
    role: usize,
    payoff: &mut Payoff,
) {
    let name = lifter.term_name(lifter.domain.game.role_terms()[role]);
    let forms: Vec<Form> = payoff.fixed.iter().map(|(_, form)| form.clone()).collect();
    // The number of higher values covered so far, and the formula that one of them is given.
    let mut over: (usize, Form) = (0, super::formula::FALSE);
    for lower in 1..forms.len() {
        let both: Vec<usize> = (0..lower)
            .filter(|&higher| !exclude_each_other(&forms[higher], &forms[lower]))
            .collect();
        if both.is_empty() {
            continue;
        }
        let mut gets = |lifter: &mut Lifter<'_>, higher: usize| {
            let called = format!("{name}_gets_{}", payoff.fixed[higher].0);
            named.relation(lifter, &called, &forms[higher])
        };
        let higher = if both.len() <= MAX_LISTED {
            or(both.iter().map(|&higher| gets(lifter, higher)).collect::<Vec<_>>())
        } else {
            let more: Vec<Form> = (over.0..lower).map(|higher| gets(lifter, higher)).collect();
            let form = or(std::iter::once(over.1.clone()).chain(more));
            let called = format!("{name}_gets_over_{}", payoff.fixed[lower].0);
            over = (lower, named.relation(lifter, &called, &form));
            over.1.clone()
        };
        payoff.fixed[lower].1 = and([forms[lower].clone(), not(higher)]);
    }
    // Use the relation of a condition that has one by now.
    for (form, (_, replace_parts)) in forms.iter().zip(&mut payoff.fixed) {
        if let Some(relation) = named.known.get(&numbered(form).0).filter(|_| replace_parts == form)
        {
            *replace_parts = Form::Atom(Relation::Defined(*relation), Vec::new());
        }
    }
}

/// Conditions of payoffs with relations of their own.
#[derive(Default)]
struct NamedConditions {
    known: BTreeMap<Form, usize>,
}

impl NamedConditions {
    /// Returns the condition, or an atom of its relation if it is more than a literal.
    fn relation(&mut self, lifter: &mut Lifter<'_>, name: &str, form: &Form) -> Form {
        let is_short = match form {
            Form::Atom(..) => true,
            Form::Not(inner) => matches!(**inner, Form::Atom(..)),
            _ => form.is_true() || form.is_false(),
        };
        if is_short {
            return lifter.renamed(form);
        }
        let id = *self.known.entry(numbered(form).0).or_insert_with(|| {
            let body = lifter.renamed(form);
            let name = name.to_owned();
            lifter.defined.push(Defined {
                name,
                parameters: Vec::new(),
                body,
                is_recursive: false,
            });
            lifter.defined.len() - 1
        });
        Form::Atom(Relation::Defined(id), Vec::new())
    }
}

/// Returns whether two closed conditions contradict each other syntactically: each alternative of
/// one contradicts each alternative of the other.
pub(super) fn exclude_each_other(a: &Form, b: &Form) -> bool {
    let ways = |form: &Form| -> Vec<Form> {
        let ways = match form {
            Form::Or(ways) => ways.clone(),
            other => vec![other.clone()],
        };
        // The names of variables are irrelevant in closed conditions.
        let plain = |way: Form| and(way.conjuncts().iter().map(numbered_literal));
        ways.into_iter().map(plain).collect()
    };
    let are_closed = a.free().is_empty() && b.free().is_empty();
    let (a, b) = (ways(a), ways(b));
    are_closed
        && a.len() * b.len() <= MAX_PAIRS
        && a.iter().all(|a| b.iter().all(|b| and([a.clone(), b.clone()]).is_false()))
}

/// Numbers the variables of a part of a closed condition.
fn numbered_literal(part: &Form) -> Form {
    match part {
        Form::Not(inner) => not(numbered(inner).0),
        other => numbered(other).0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::formula::Val;
    use super::*;

    fn atom(index: usize) -> Form {
        Form::Atom(Relation::Defined(index), Vec::new())
    }

    fn some(variable: u32) -> Form {
        Form::Ex(
            vec![variable],
            Box::new(Form::Atom(Relation::Fluent(0), vec![Val::Var(variable)])),
        )
    }

    #[test]
    fn only_contradictory_conditions_exclude_each_other() {
        assert!(exclude_each_other(&atom(0), &and([atom(1), not(atom(0))])));
        assert!(exclude_each_other(&or([atom(0), some(7)]), &and([not(some(3)), not(atom(0))])));
        assert!(!exclude_each_other(&atom(0), &atom(1)));
        assert!(!exclude_each_other(&or([atom(0), atom(2)]), &and([atom(1), not(atom(0))])));
    }
}
