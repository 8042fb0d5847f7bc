//! Payoffs where rules give several values at once: the highest counts.
//!
//! A payoff is a sum, so each value but the highest says that no higher one is given, unless that follows from what it says. That no
//! play was seen to end with two values proves nothing: such ends may be rare.

use std::collections::BTreeMap;

use super::arena::Payoff;
use super::formula::{Form, Relation, and, not, or};
use super::lift::{Defined, Lifter};
use super::shared::numbered;

/// So many pairs of ways to get two values are looked at; beyond, both may be had.
const MAX_PAIRS: usize = 4000;

/// So many higher values are listed where a value is given; more of them have a relation.
const MAX_LISTED: usize = 3;

/// Parts the values of all payoffs, by location and role.
pub(super) fn part_overlaps(lifter: &mut Lifter<'_>, payoffs: &mut [Vec<Payoff>]) {
    let mut named = Named::default();
    for of_location in payoffs {
        for (role, payoff) in of_location.iter_mut().enumerate() {
            part(lifter, &mut named, role, payoff);
        }
    }
}

/// Values are listed from the highest.
fn part(lifter: &mut Lifter<'_>, named: &mut Named, role: usize, payoff: &mut Payoff) {
    let name = lifter.term_name(lifter.domain.game.role_terms()[role]);
    let forms: Vec<Form> = payoff.fixed.iter().map(|(_, form)| form.clone()).collect();
    // That one of the values before is given, as far as it was needed.
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
    // What has a name by now is called by it.
    for (form, (_, parted)) in forms.iter().zip(&mut payoff.fixed) {
        if let Some(relation) = named.known.get(&numbered(form).0).filter(|_| parted == form) {
            *parted = Form::Atom(Relation::Defined(*relation), Vec::new());
        }
    }
}

/// Conditions of payoffs that have relations of their own.
#[derive(Default)]
struct Named {
    known: BTreeMap<Form, usize>,
}

impl Named {
    /// The condition, by its relation if it is more than an atom.
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

/// Whether two conditions cannot hold together, by what they say: each way for the one contradicts each way for the other.
pub(super) fn exclude_each_other(a: &Form, b: &Form) -> bool {
    let ways = |form: &Form| -> Vec<Form> {
        let ways = match form {
            Form::Or(ways) => ways.clone(),
            other => vec![other.clone()],
        };
        // Names of variables make no difference between closed conditions.
        let plain = |way: Form| and(way.conjuncts().iter().map(numbered_literal));
        ways.into_iter().map(plain).collect()
    };
    let are_closed = a.free().is_empty() && b.free().is_empty();
    let (a, b) = (ways(a), ways(b));
    are_closed
        && a.len() * b.len() <= MAX_PAIRS
        && a.iter().all(|a| b.iter().all(|b| and([a.clone(), b.clone()]).is_false()))
}

/// A part of a closed condition, with its variables numbered.
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
    fn only_what_contradicts_excludes() {
        assert!(exclude_each_other(&atom(0), &and([atom(1), not(atom(0))])));
        assert!(exclude_each_other(&or([atom(0), some(7)]), &and([not(some(3)), not(atom(0))])));
        assert!(!exclude_each_other(&atom(0), &atom(1)));
        assert!(!exclude_each_other(&or([atom(0), atom(2)]), &and([atom(1), not(atom(0))])));
    }
}
