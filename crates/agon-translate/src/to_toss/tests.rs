//! Property tests: transformations of formulas keep their meaning, which is checked by enumerating
//! all values.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use agon_datalog::{Symbol, TermBank, TermId};
use agon_testkit::seeded;
use proptest::prelude::*;

use super::formula::{Form, Relation, Val, Var, and, ex, not, or, without_implied};
use super::overlaps::exclude_each_other;
use super::shared::{numbered, replace_parts};

/// Number of terms and of free variables.
const N_TERMS: u32 = 3;
const N_FREE: Var = 3;

fn terms() -> &'static [TermId] {
    static TERMS: OnceLock<Vec<TermId>> = OnceLock::new();
    TERMS.get_or_init(|| {
        let bank = TermBank::new(3);
        (0..N_TERMS)
            .map(|n| bank.term(Symbol::new(n), &[]).expect("constants are shallow"))
            .collect()
    })
}

fn value() -> impl Strategy<Value = Val> {
    let terms = terms();
    (0..N_FREE + N_TERMS).prop_map(move |n| {
        if n < N_FREE { Val::Var(n) } else { Val::Term(terms[(n - N_FREE) as usize]) }
    })
}

/// Generates a formula in which quantifiers may share variables.
fn raw() -> impl Strategy<Value = Form> {
    let leaf = prop_oneof![
        (0..2_usize, value(), value())
            .prop_map(|(relation, a, b)| Form::Atom(Relation::Static(relation), vec![a, b])),
        (value(), value()).prop_map(|(a, b)| Form::Same(a, b)),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|form| Form::Not(Box::new(form))),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Form::And),
            prop::collection::vec(inner.clone(), 0..4).prop_map(Form::Or),
            (0..N_FREE, inner).prop_map(|(v, form)| Form::Ex(vec![v], Box::new(form))),
        ]
    })
}

/// Gives each quantifier its own variables, which is an invariant of formulas.
fn apart(form: &Form, names: &BTreeMap<Var, Var>, next: &mut Var) -> Form {
    let value = |value: &Val| match value {
        Val::Var(v) => Val::Var(names.get(v).copied().unwrap_or(*v)),
        Val::Term(term) => Val::Term(*term),
    };
    match form {
        Form::Atom(relation, arguments) => {
            Form::Atom(*relation, arguments.iter().map(value).collect())
        }
        Form::Same(a, b) => Form::Same(value(a), value(b)),
        Form::Before(a, b) => Form::Before(value(a), value(b)),
        Form::Foreign => Form::Foreign,
        Form::Not(inner) => Form::Not(Box::new(apart(inner, names, next))),
        Form::And(parts) => Form::And(parts.iter().map(|part| apart(part, names, next)).collect()),
        Form::Or(parts) => Form::Or(parts.iter().map(|part| apart(part, names, next)).collect()),
        Form::Ex(variables, body) => {
            let mut names = names.clone();
            let new: Vec<Var> = variables
                .iter()
                .map(|v| {
                    *next += 1;
                    names.insert(*v, *next);
                    *next
                })
                .collect();
            Form::Ex(new, Box::new(apart(body, &names, next)))
        }
    }
}

fn form() -> impl Strategy<Value = Form> {
    raw().prop_map(|form| apart(&form, &BTreeMap::new(), &mut 100))
}

/// Evaluates a formula by enumerating all values. Relation 0 is "successor", relation 1 is "less or
/// equal".
fn holds(form: &Form, assigned: &BTreeMap<Var, TermId>) -> bool {
    let terms = terms();
    let number = |value: &Val| {
        let term = match value {
            Val::Var(v) => assigned[v],
            Val::Term(term) => *term,
        };
        terms.iter().position(|known| *known == term).expect("all terms are listed")
    };
    match form {
        Form::Atom(Relation::Static(0), arguments) => {
            number(&arguments[1]) == number(&arguments[0]) + 1
        }
        Form::Atom(_, arguments) => number(&arguments[0]) <= number(&arguments[1]),
        Form::Same(a, b) => number(a) == number(b),
        Form::Before(a, b) => number(a) < number(b),
        Form::Foreign => false,
        Form::Not(inner) => !holds(inner, assigned),
        Form::And(parts) => parts.iter().all(|part| holds(part, assigned)),
        Form::Or(parts) => parts.iter().any(|part| holds(part, assigned)),
        Form::Ex(variables, body) => {
            let Some((first, rest)) = variables.split_first() else { return holds(body, assigned) };
            let inner = Form::Ex(rest.to_vec(), body.clone());
            terms.iter().any(|&term| {
                let mut assigned = assigned.clone();
                assigned.insert(*first, term);
                holds(&inner, &assigned)
            })
        }
    }
}

/// Returns all assignments of the free variables.
fn assignments() -> Vec<BTreeMap<Var, TermId>> {
    let mut all = vec![BTreeMap::new()];
    for v in 0..N_FREE {
        all = all
            .iter()
            .flat_map(|assigned: &BTreeMap<Var, TermId>| {
                terms().iter().map(move |&term| {
                    let mut assigned = assigned.clone();
                    assigned.insert(v, term);
                    assigned
                })
            })
            .collect();
    }
    all
}

fn same_meaning(a: &Form, b: &Form) -> Result<(), TestCaseError> {
    for assigned in assignments() {
        prop_assert_eq!(
            holds(a, &assigned),
            holds(b, &assigned),
            "{:?} became {:?} with {:?}",
            a,
            b,
            assigned
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(seeded(400))]

    #[test]
    fn rewriting_keeps_the_meaning(form in form()) {
        same_meaning(&form, &form.rewrite(&mut |part| part))?;
    }

    #[test]
    fn constructors_have_their_logical_meaning(a in form(), b in raw()) {
        let b = apart(&b, &BTreeMap::new(), &mut 500);
        same_meaning(&Form::And(vec![a.clone(), b.clone()]), &and([a.clone(), b.clone()]))?;
        same_meaning(&Form::Or(vec![a.clone(), b.clone()]), &or([a.clone(), b]))?;
        same_meaning(&Form::Not(Box::new(a.clone())), &not(a))?;
    }

    #[test]
    fn quantification_solves_equations_correctly(form in form()) {
        let simple = form.rewrite(&mut |part| part);
        same_meaning(&Form::Ex(vec![0, 1], Box::new(form)), &ex(&[0, 1], simple))?;
    }

    #[test]
    fn substitution_assigns_the_value(form in form(), index in 0..N_TERMS as usize) {
        let term = terms()[index];
        let replaced = form.replace(&BTreeMap::from([(0, Val::Term(term))]));
        prop_assert!(!replaced.free().contains(&0));
        for mut assigned in assignments() {
            assigned.insert(0, term);
            prop_assert_eq!(holds(&form, &assigned), holds(&replaced, &assigned));
        }
    }

    #[test]
    fn renaming_bound_variables_keeps_the_meaning(form in form()) {
        let mut next = 1000;
        let renamed = form.renamed(&mut |_| {
            next += 1;
            next
        });
        prop_assert!(renamed.free().is_subset(&form.free()));
        same_meaning(&form, &renamed)?;
    }

    #[test]
    fn numbering_identifies_formulas_up_to_names(form in form(), other in form()) {
        // Other bound variables, without simplification.
        let renamed = apart(&form, &BTreeMap::new(), &mut 5000);
        prop_assert_eq!(numbered(&form).0, numbered(&renamed).0);
        // Formulas with the same numbering have the same meaning after their variables are matched.
        let ((a, mine), (b, theirs)) = (numbered(&form), numbered(&other));
        if a == b && form.free().is_empty() {
            prop_assert_eq!(mine.len(), theirs.len());
            same_meaning(&form, &other)?;
        }
    }

    #[test]
    fn exclusive_formulas_never_hold_together(a in form(), b in raw()) {
        let b = apart(&b, &BTreeMap::new(), &mut 500);
        let closed = |form: &Form| Form::Ex((0..N_FREE).collect(), Box::new(form.clone()));
        let a = closed(&a).rewrite(&mut |part| part);
        // Half of the cases contain a contradiction.
        for b in [closed(&b).rewrite(&mut |part| part), and([not(a.clone()), b])] {
            if exclude_each_other(&a, &b) {
                for assigned in assignments() {
                    let both_hold = holds(&a, &assigned) && holds(&b, &assigned);
                    prop_assert!(!both_hold, "{:?} and {:?}", a, b);
                }
            }
        }
    }

    #[test]
    fn replacing_parts_keeps_the_meaning(form in form()) {
        // Replaces each part that could become a relation by an equivalent part.
        let again = replace_parts(&form, &mut |part| {
            let (numbers, order) = numbered(part);
            let by = order.iter().enumerate();
            let free = part.free();
            let by: BTreeMap<Var, Val> = by
                .filter(|(_, v)| free.contains(v))
                .map(|(number, &v)| {
                    (u32::try_from(number).expect("there are fewer than 2^32"), Val::Var(v))
                })
                .collect();
            let mut next = 2000;
            let body = numbers.renamed(&mut |_| {
                next += 1;
                next
            });
            Some(body.replace(&by))
        });
        same_meaning(&form, &again)?;
    }

    #[test]
    fn removing_implied_parts_keeps_the_meaning(parts in prop::collection::vec(raw(), 0..5)) {
        let mut next = 100;
        let parts: Vec<Form> = parts
            .iter()
            .map(|part| apart(part, &BTreeMap::new(), &mut next).rewrite(&mut |part| part))
            .collect();
        same_meaning(&Form::And(parts.clone()), &Form::And(without_implied(parts)))?;
    }
}
