//! Normal forms have their shapes and say the same as what they are made of.

use std::collections::BTreeSet;

use proptest::prelude::*;

use crate::evaluate::tests::{SMALL, is_costly};
use crate::evaluate::{Assignment, Model, Naive};
use crate::formula::{Definition, Formula, Variable};
use crate::normal_form::{
    SplitFirst, cnf, dnf, irredundant, is_cnf, is_dnf, is_nnf, is_pnf, is_tnf, nnf, pnf,
    simplified, tnf,
};
use crate::structure::Structure;
use crate::tests::seeded;
use crate::tests::tape::{Tape, Use, definitions, free_variables};

const LIMIT: usize = 20_000;

fn fluents() -> SplitFirst {
    SplitFirst::Fluents(BTreeSet::from(["P".into(), "R".into()]))
}

/// Whether both hold of the same, unless that is too much to find out.
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
            prop_assert!(is_costly(&refusal), "{} made {}: {}", one, other, refusal)
        }
        [Err(_), _] => {}
    }
    Ok(())
}

/// A structure with an element at least.
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
        let formula = tape.formula(&Use::everything(4));
        let negative = nnf(&Formula::not(formula.clone()));
        prop_assert!(is_nnf(&negative), "{}", negative);
        agree(&structure, &Formula::not(formula.clone()), &negative)?;
        if let Ok(normal) = dnf(&formula, LIMIT) {
            prop_assert!(is_dnf(&normal), "{}", normal);
            agree(&structure, &formula, &normal)?;
        }
        if let Ok(normal) = cnf(&formula, LIMIT) {
            prop_assert!(is_cnf(&normal), "{}", normal);
            agree(&structure, &formula, &normal)?;
        }
        if let Ok(plain) = formula.without_lets(LIMIT) {
            prop_assert!(!plain.to_string().contains("let "));
            agree(&structure, &formula, &plain)?;
        }
        if let Ok(plain) = formula.expanded(&definitions(), LIMIT) {
            let relations = plain.free_relations();
            prop_assert!(definitions().iter().all(|definition| !relations.contains_key(&definition.name)));
            agree(&structure, &formula, &plain)?;
        }
    }

    #[test]
    fn forms_where_something_is(bytes in prop::collection::vec(any::<u8>(), 0..160)) {
        let mut tape = Tape::new(bytes);
        let structure = inhabited(&mut tape);
        let formula = tape.formula(&Use::everything(4));
        if let Ok(normal) = pnf(&formula, LIMIT) {
            prop_assert!(is_pnf(&normal), "{}", normal);
            agree(&structure, &formula, &normal)?;
        }
        for split_first in [SplitFirst::AsListed, fluents()] {
            if let Ok(normal) = tnf(&formula, &split_first, LIMIT) {
                prop_assert!(is_tnf(&normal), "{} made {}", formula, normal);
                agree(&structure, &formula, &normal)?;
            }
        }
        let simple = simplified(&formula);
        prop_assert!(simple.size() <= formula.size(), "{} made {}", formula, simple);
        agree(&structure, &formula, &simple)?;
        let proved = irredundant(&formula, 1_000);
        prop_assert!(proved.size() <= simple.size(), "{} made {}", formula, proved);
        agree(&structure, &formula, &proved)?;
    }

    #[test]
    fn first_order_forms(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut tape = Tape::new(bytes);
        let structure = inhabited(&mut tape);
        let formula = tape.formula(&Use::first_order(5));
        if let Ok(normal) = tnf(&formula, &fluents(), LIMIT) {
            prop_assert!(is_tnf(&normal), "{} made {}", formula, normal);
            agree(&structure, &formula, &normal)?;
            // What is in this form stays as it is, but for what was said twice.
            let again = tnf(&normal, &fluents(), LIMIT);
            if let Ok(again) = again {
                agree(&structure, &normal, &again)?;
            }
        }
        let proved = irredundant(&formula, 1_000);
        agree(&structure, &formula, &proved)?;
    }

    #[test]
    fn replacing_means_what_it_meant(bytes in prop::collection::vec(any::<u8>(), 0..160)) {
        let mut tape = Tape::new(bytes);
        let structure = inhabited(&mut tape);
        let formula = tape.formula(&Use::everything(3));
        let [x, y] = ["x", "y"].map(Variable::new);
        // Both ways at once: x for y and y for x.
        let swapped = formula.substituted(&[(x.clone(), (&y).into()), (y.clone(), (&x).into())].into());
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
        // A relation replaced is a relation bound by `let`, with a definition whose own variables are in the way.
        let body = tape.formula(&Use::everything(2));
        let parameters = body.free_variables();
        let variables = vec![x.clone()];
        let definition = Definition { name: "P".into(), variables: variables.clone(), body: body.clone() };
        let bound = Formula::with("P", variables, body, formula.clone());
        if let Ok(replaced) = formula.with_relation(&definition, LIMIT) {
            agree(&structure, &bound, &replaced)?;
            prop_assert!(replaced.free_variables().len() <= formula.free_variables().len() + parameters.len());
        }
    }
}

fn atom(relation: &str, variables: &str) -> Formula {
    let variables: Vec<Variable> =
        variables.chars().map(|name| Variable::new(&name.to_string())).collect();
    Formula::atom(relation, &variables)
}

#[test]
fn what_does_not_speak_of_the_variable_is_pulled_out() {
    // ∃x (P(x) ∧ (Q(y) ∨ R(x))): the example before example 7 of the paper.
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
    // Example 7 of the paper.
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
fn the_solver_finds_what_is_needless() {
    let either = Formula::Or(vec![atom("P", "x"), atom("Q", "x")]);
    let needless = Formula::Or(vec![Formula::not(atom("P", "x")), atom("Q", "x"), atom("R", "xx")]);
    let formula = Formula::And(vec![either, needless, atom("Q", "x")]);
    assert_eq!(irredundant(&formula, 1_000).to_string(), "Q(x)");
    let contradiction = Formula::And(vec![
        Formula::Or(vec![atom("P", "x"), atom("Q", "x")]),
        Formula::not(atom("P", "x")),
        Formula::not(atom("Q", "x")),
    ]);
    assert!(irredundant(&contradiction, 1_000).is_falsity());
}

#[test]
fn explosions_are_refused() {
    let pairs = (0..40).map(|number| {
        Formula::Or(vec![atom(&format!("P{number}"), "x"), atom(&format!("Q{number}"), "x")])
    });
    let formula = Formula::And(pairs.collect());
    assert!(dnf(&formula, LIMIT).is_err());
    assert!(cnf(&formula, LIMIT).is_ok());
    assert!(
        tnf(&Formula::exists([&Variable::new("x")], formula), &SplitFirst::AsListed, LIMIT)
            .is_err()
    );
}
