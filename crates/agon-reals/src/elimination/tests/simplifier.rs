//! The simplifier keeps the meaning of formulas, and finds what it promises to find.

use std::collections::BTreeMap;

use dashu_ratio::RBig;

use super::{Random, Shape, and, atom, or};
use crate::elimination::{RealFormula, simplify};

#[test]
fn simple_formulas_mean_the_same() {
    let mut random = Random::new(41);
    for round in 0..3000 {
        let shape = Shape {
            n_variables: 1 + random.below(3),
            degree: random.below(4),
            n_terms: 1 + random.below(2),
            n_atoms: 1 + random.below(8),
        };
        let formula = random.formula(shape);
        let simple = simplify(&formula);
        assert!(simple.size().n_atoms <= formula.size().n_atoms, "{round}: {formula}: {simple}");
        for _ in 0..20 {
            // Small integers, so that equations hold often.
            let value = |random: &mut Random| RBig::from(random.integer(2));
            let values: BTreeMap<u32, RBig> =
                (0..shape.n_variables).map(|variable| (variable, value(&mut random))).collect();
            let (left, right) = (formula.evaluate(&values), simple.evaluate(&values));
            assert_eq!(left, right, "{round}: {formula}: {simple} at {values:?}");
        }
        assert_eq!(simplify(&simple).size().n_atoms, simple.size().n_atoms, "{round}: {simple}");
    }
}

#[test]
fn contradictions_and_consequences() {
    let cases: &[(RealFormula, RealFormula)] = &[
        (and(&["x > 0", "x < 0"]), RealFormula::False),
        (and(&["x > 0", "2*x > 0", "0 - x < 0"]), atom("x > 0")),
        (and(&["x >= 0", "x <= 0"]), atom("x = 0")),
        (and(&["x >= 0", "x != 0"]), atom("x > 0")),
        (or(&["x > 0", "x <= 0"]), RealFormula::True),
        (or(&["x > 0", "x = 0"]), atom("x >= 0")),
        (or(&["x > 0", "0 - 3*x > 0"]), atom("x != 0")),
        (atom("x^2 + y^2 + 1 > 0"), RealFormula::True),
        (atom("x^2 + y^2 < 0"), RealFormula::False),
        (atom("x^5 > 0"), atom("x > 0")),
        (atom("2/3*x - 4/3 > 0"), atom("x > 2")),
        (atom("x^2 >= 0"), RealFormula::True),
        (RealFormula::And(vec![atom("x > 0"), or(&["x = 0", "y > 0"])]), and(&["x > 0", "y > 0"])),
        (RealFormula::Or(vec![atom("x > 0"), and(&["x <= 0", "y > 0"])]), or(&["x > 0", "y > 0"])),
        (and(&["x > 0", "x > 0"]).negation(), atom("x <= 0")),
        (RealFormula::Exists(0, Box::new(atom("b > 0"))), atom("b > 0")),
        (RealFormula::And(Vec::new()), RealFormula::True),
        (RealFormula::Or(Vec::new()), RealFormula::False),
    ];
    for (formula, expected) in cases {
        assert_eq!(simplify(formula), *expected, "{formula}");
    }
}

#[test]
fn facts_about_a_variable_do_not_enter_its_quantifier() {
    let inner = RealFormula::Exists(0, Box::new(and(&["a < 0", "a > b"])));
    let formula = RealFormula::And(vec![atom("a > 0"), inner.clone()]);
    assert_eq!(simplify(&formula), RealFormula::And(vec![atom("a > 0"), simplify(&inner)]));
}
