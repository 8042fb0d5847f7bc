//! Normal forms have their shapes and are equivalent to their input.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::evaluate::tests::{SMALL, is_costly};
use crate::evaluate::{Assignment, Model, Naive};
use crate::formula::{Definition, Formula, Variable};
use crate::normal_form::{SplitFirst, dnf, nnf, pnf, simplified, tnf};
use crate::structure::Structure;
use crate::tests::seeded;
use crate::tests::tape::{Tape, Use, definitions, free_variables};

const LIMIT: usize = 20_000;

fn fluents() -> SplitFirst {
    SplitFirst::Fluents(BTreeSet::from(["P".into(), "R".into()]))
}

/// Returns whether it is a disjunction of conjunctions of other formulas.
fn is_dnf(formula: &Formula) -> bool {
    let Formula::Or(cases) = formula else { return false };
    cases.iter().all(|case| matches!(case, Formula::And(parts) if parts.iter().all(is_unit)))
}

fn is_unit(formula: &Formula) -> bool {
    match formula {
        Formula::And(_) | Formula::Or(_) => false,
        Formula::Not(inner) => is_atom(inner),
        _ => true,
    }
}

/// Returns whether negations occur only at atoms, comparisons and closures, also inside closures,
/// fixed points and `let`s.
fn is_nnf(formula: &Formula) -> bool {
    stacker::maybe_grow(64 << 10, 1 << 20, || match formula {
        Formula::Relation(..) | Formula::Equal(..) | Formula::Member(..) | Formula::Compare(..) => {
            true
        }
        Formula::Not(inner) => {
            is_atom(inner) && !matches!(**inner, Formula::Fix(_)) && is_nnf(inner)
        }
        Formula::And(parts) | Formula::Or(parts) => parts.iter().all(is_nnf),
        Formula::Exists(_, inner) | Formula::All(_, inner) => is_nnf(inner),
        Formula::Fix(fix) => is_nnf(&fix.body),
        Formula::Closure(closure) => is_nnf(&closure.body),
        Formula::Let(local) => is_nnf(&local.definition) && is_nnf(&local.body),
    })
}

/// Returns whether all quantifiers outside atoms are in front.
fn is_pnf(formula: &Formula) -> bool {
    let mut inner = formula;
    while let Formula::Exists(_, next) | Formula::All(_, next) = inner {
        inner = next;
    }
    is_matrix(inner)
}

fn is_matrix(formula: &Formula) -> bool {
    stacker::maybe_grow(64 << 10, 1 << 20, || match formula {
        Formula::And(parts) | Formula::Or(parts) => parts.iter().all(is_matrix),
        other => is_literal(other),
    })
}

/// Returns whether it is in type normal form: a positive Boolean combination of literals and
/// quantified formulas. Each quantified formula has one variable, which is free in each part of a
/// combination of the same kind.
fn is_tnf(formula: &Formula) -> bool {
    stacker::maybe_grow(64 << 10, 1 << 20, || match formula {
        Formula::And(parts) | Formula::Or(parts) => parts.iter().all(is_tnf),
        Formula::Exists(variables, inner) | Formula::All(variables, inner) => {
            variables.len() == 1 && is_tnf(inner) && each_contains(inner, &variables[0])
        }
        other => is_literal(other),
    })
}

/// Returns whether the variable is free in each part of the Boolean combination, and there is at
/// least one part.
fn each_contains(formula: &Formula, variable: &Variable) -> bool {
    match formula {
        Formula::And(parts) | Formula::Or(parts) => {
            !parts.is_empty() && parts.iter().all(|part| each_contains(part, variable))
        }
        other => other.free_variables().contains(variable),
    }
}

/// Returns whether it is an atom, a comparison, a closure or a fixed point.
fn is_atom(formula: &Formula) -> bool {
    match formula {
        Formula::Relation(..)
        | Formula::Equal(..)
        | Formula::Member(..)
        | Formula::Compare(..)
        | Formula::Fix(_)
        | Formula::Closure(_) => true,
        Formula::Not(_)
        | Formula::And(_)
        | Formula::Or(_)
        | Formula::Exists(..)
        | Formula::All(..)
        | Formula::Let(_) => false,
    }
}

/// Returns whether it is an atom or a negated atom.
fn is_literal(formula: &Formula) -> bool {
    match formula {
        Formula::Not(inner) => is_atom(inner),
        other => is_atom(other),
    }
}

/// Checks that both formulas have the same solutions, unless evaluation is too expensive.
fn agree(structure: &Structure, one: &Formula, other: &Formula) -> Result<(), TestCaseError> {
    let definitions = definitions();
    let model = Model { structure, definitions: &definitions };
    let free = free_variables();
    let mut naive = Naive::new(model, SMALL);
    let answers = [one, other].map(|formula| naive.solutions(formula, &free, &Assignment::new()));
    match answers {
        [Ok(one_rows), Ok(other_rows)] => {
            prop_assert_eq!(one_rows, other_rows, "{} against {} in {}", one, other, structure);
        }
        [Err(refusal), _] if !is_costly(&refusal) => {}
        [_, Err(refusal)] => {
            prop_assert!(is_costly(&refusal), "{} became {}: {}", one, other, refusal);
        }
        [Err(_), _] => {}
    }
    Ok(())
}

/// Returns a structure with at least one element.
fn inhabited(tape: &mut Tape) -> Structure {
    let mut structure = tape.structure(3);
    if structure.n_elements() == 0 {
        structure.create(None).unwrap();
    }
    structure
}

proptest! {
    #![proptest_config(seeded(2500))]

    #[test]
    fn forms_of_all_formulas(bytes in prop::collection::vec(any::<u8>(), 0..160)) {
        let mut tape = Tape::new(bytes);
        let structure = tape.structure(3);
        let formula = tape.formula(&Use::monadic(4));
        let negative = nnf(&Formula::not(formula.clone()));
        prop_assert!(is_nnf(&negative), "{}", negative);
        agree(&structure, &Formula::not(formula.clone()), &negative)?;
        if let Ok(normal) = dnf(&formula, LIMIT) {
            prop_assert!(is_dnf(&normal), "{}", normal);
            agree(&structure, &formula, &normal)?;
        }
        if let Ok(plain) = formula.without_lets(LIMIT) {
            prop_assert!(!plain.to_string().contains("let "));
            agree(&structure, &formula, &plain)?;
        }
        if let Ok(plain) = formula.expanded(&definitions(), LIMIT) {
            let relations = plain.free_relations();
            prop_assert!(
                definitions().iter().all(|definition| !relations.contains_key(&definition.name))
            );
            agree(&structure, &formula, &plain)?;
        }
    }

    #[test]
    fn forms_in_inhabited_structures(bytes in prop::collection::vec(any::<u8>(), 0..160)) {
        let mut tape = Tape::new(bytes);
        let structure = inhabited(&mut tape);
        let formula = tape.formula(&Use::monadic(4));
        if let Ok(normal) = pnf(&formula, LIMIT) {
            prop_assert!(is_pnf(&normal), "{}", normal);
            agree(&structure, &formula, &normal)?;
        }
        for split_first in [SplitFirst::AsListed, fluents()] {
            if let Ok(normal) = tnf(&formula, &split_first, LIMIT) {
                prop_assert!(is_tnf(&normal), "{} became {}", formula, normal);
                agree(&structure, &formula, &normal)?;
            }
        }
        let simple = simplified(&formula);
        prop_assert!(simple.size() <= formula.size(), "{} became {}", formula, simple);
        agree(&structure, &formula, &simple)?;
    }

    #[test]
    fn first_order_forms(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut tape = Tape::new(bytes);
        let structure = inhabited(&mut tape);
        let formula = tape.formula(&Use::first_order(5));
        if let Ok(normal) = tnf(&formula, &fluents(), LIMIT) {
            prop_assert!(is_tnf(&normal), "{} became {}", formula, normal);
            agree(&structure, &formula, &normal)?;
            // A formula in this form stays equivalent when converted again.
            let again = tnf(&normal, &fluents(), LIMIT);
            if let Ok(again) = again {
                agree(&structure, &normal, &again)?;
            }
        }
    }

    #[test]
    fn substitution_keeps_the_meaning(bytes in prop::collection::vec(any::<u8>(), 0..160)) {
        let mut tape = Tape::new(bytes);
        let structure = inhabited(&mut tape);
        let formula = tape.formula(&Use::monadic(3));
        let [x, y] = ["x", "y"].map(Variable::new);
        // Both ways at once: x for y and y for x.
        let swapped =
            formula.substituted(&[(x.clone(), (&y).into()), (y.clone(), (&x).into())].into());
        let definitions = definitions();
        let model = Model { structure: &structure, definitions: &definitions };
        let mut naive = Naive::new(model, SMALL);
        let answers = (
            naive.solutions(&formula, &[x.clone(), y.clone()], &Assignment::new()),
            naive.solutions(&swapped, &[y.clone(), x.clone()], &Assignment::new()),
        );
        if let (Ok(one), Ok(other)) = answers {
            prop_assert_eq!(one, other, "{} against {}", formula, swapped);
        }
        // Replacing a relation is equivalent to binding it by `let`, even if variables of the
        // definition could be captured.
        let body = tape.formula(&Use::everything(2));
        let parameters = body.free_variables();
        let variables = vec![x.clone()];
        let definition =
            Definition { name: "P".into(), variables: variables.clone(), body: body.clone() };
        let bound = Formula::with("P", variables, body, formula.clone());
        if let Ok(replaced) = formula.with_relation(&definition, LIMIT) {
            agree(&structure, &bound, &replaced)?;
            prop_assert!(
                replaced.free_variables().len()
                    <= formula.free_variables().len() + parameters.len()
            );
        }
    }
}

fn atom(relation: &str, variables: &str) -> Formula {
    let variables: Vec<Variable> =
        variables.chars().map(|name| Variable::new(&name.to_string())).collect();
    Formula::atom(relation, &variables)
}

#[test]
fn parts_without_the_variable_are_pulled_out() {
    // ∃x (P(x) ∧ (Q(y) ∨ R(x))): the example before Example 7 of Kaiser & Stafiniak 2011.
    let x = Variable::new("x");
    let inner =
        Formula::And(vec![atom("P", "x"), Formula::Or(vec![atom("Q", "y"), atom("R", "x")])]);
    let formula = Formula::exists([&x], inner);
    assert!(!is_tnf(&formula));
    let normal = tnf(&formula, &SplitFirst::AsListed, LIMIT).unwrap();
    assert_eq!(normal.to_string(), "Q(y) and ex x P(x) or ex x (P(x) and R(x))");
}

#[test]
fn rows_and_columns_become_steps() {
    // Example 7 of Kaiser & Stafiniak 2011.
    let [x, y, z] = ["x", "y", "z"].map(Variable::new);
    let line = |relation| Formula::And(vec![atom(relation, "xy"), atom(relation, "yz")]);
    let inner = vec![
        atom("P", "x"),
        atom("P", "y"),
        atom("P", "z"),
        Formula::Or(vec![line("R"), line("C")]),
    ];
    let formula = Formula::exists([&x, &y, &z], Formula::And(inner));
    let split_first = SplitFirst::Fluents(BTreeSet::from(["P".into()]));
    let normal = tnf(&formula, &split_first, LIMIT).unwrap();
    let steps = |name: &str| {
        format!("ex x (P(x) and ex y (P(y) and {name}(x, y) and ex z (P(z) and {name}(y, z))))")
    };
    assert_eq!(normal.to_string(), format!("{} or {}", steps("R"), steps("C")));
}

#[test]
fn variables_in_fluents_stay_outside() {
    let [x, y] = ["x", "y"].map(Variable::new);
    let formula = Formula::exists(
        [&x, &y],
        Formula::And(vec![atom("R", "xy"), atom("P", "y"), atom("Q", "x")]),
    );
    let split_first = SplitFirst::Fluents(BTreeSet::from(["P".into()]));
    let normal = tnf(&formula, &split_first, LIMIT).unwrap();
    assert_eq!(normal.to_string(), "ex y (P(y) and ex x (R(x, y) and Q(x)))");
}

#[test]
fn size_limits_are_respected() {
    let pairs = (0..40).map(|number| {
        Formula::Or(vec![atom(&format!("P{number}"), "x"), atom(&format!("Q{number}"), "x")])
    });
    let formula = Formula::And(pairs.collect());
    assert!(dnf(&formula, LIMIT).is_err());
    assert!(
        tnf(&Formula::exists([&Variable::new("x")], formula), &SplitFirst::AsListed, LIMIT)
            .is_err()
    );
}
