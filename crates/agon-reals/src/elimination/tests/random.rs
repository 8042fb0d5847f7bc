//! Random formulas: both algorithms against each other, and elimination against substitution of
//! numbers for the free variables.

use super::{Random, Shape, generous};
use crate::elimination::univariate::solutions;
use crate::elimination::{
    EliminationLimits, Method, RealFormula, decide, eliminate, eliminate_by, solve,
};

/// Limits for random formulas, some of which are too hard.
fn modest() -> EliminationLimits {
    EliminationLimits { max_steps: 300_000, max_atoms: 5_000, ..Default::default() }
}

fn substituted(
    formula: &RealFormula,
    values: &std::collections::BTreeMap<u32, dashu_ratio::RBig>,
) -> RealFormula {
    let mut result = formula.clone();
    for (variable, value) in values {
        result = result.substitute_number(*variable, value);
    }
    result
}

/// Eliminates the quantifiers of random formulas, substitutes numbers for the free variables, and
/// compares with the formula where numbers are substituted first. Returns how many formulas were
/// within the limits.
fn check_substitution(
    method: Method,
    seed: u64,
    n_rounds: usize,
    n_quantifiers: u32,
    shape: &dyn Fn(&mut Random) -> Shape,
) -> usize {
    let mut random = Random::new(seed);
    let mut n_done = 0;
    for round in 0..n_rounds {
        let shape = shape(&mut random);
        let n_free = shape.n_variables - n_quantifiers;
        let mut formula = random.formula(shape);
        for variable in n_free..shape.n_variables {
            formula = random.quantify(variable, formula);
        }
        let Ok(result) = eliminate_by(method, &formula, &modest()) else { continue };
        assert!(result.is_quantifier_free());
        assert!(result.free_variables().is_subset(&formula.free_variables()));
        n_done += 1;
        for _ in 0..6 {
            let values = random.values(n_free);
            let expected = decide(&substituted(&formula, &values), &generous());
            let actual = result.evaluate(&values);
            assert_eq!(actual, expected.ok(), "{round}: {formula}: {result} at {values:?}");
        }
    }
    n_done
}

#[test]
fn one_quantifier_by_virtual_substitution() {
    let shape = |random: &mut Random| Shape {
        n_variables: 1 + random.below(3),
        degree: 1 + random.below(2),
        n_terms: 3,
        n_atoms: 1 + random.below(4),
    };
    let n_done = check_substitution(Method::Best, 31, 400, 1, &shape);
    assert!(n_done >= 380, "{n_done} of 400 finish");
}

#[test]
fn one_quantifier_by_the_general_algorithm() {
    let shape = |random: &mut Random| Shape {
        n_variables: 1 + random.below(3),
        degree: 1 + random.below(3),
        n_terms: 3,
        n_atoms: 1 + random.below(2),
    };
    let n_done = check_substitution(Method::CohenHormander, 32, 200, 1, &shape);
    assert!(n_done >= 150, "{n_done} of 200 finish");
}

#[test]
fn one_quantifier_over_cubics() {
    let shape = |random: &mut Random| Shape {
        n_variables: 2,
        degree: 3 + random.below(2),
        n_terms: 3,
        n_atoms: 1 + random.below(3),
    };
    let n_done = check_substitution(Method::Best, 33, 150, 1, &shape);
    assert!(n_done >= 100, "{n_done} of 150 finish");
}

#[test]
fn two_quantifiers() {
    let shape = |random: &mut Random| Shape {
        n_variables: 2 + random.below(2),
        degree: 1 + random.below(2),
        n_terms: 2,
        n_atoms: 1 + random.below(3),
    };
    let n_done = check_substitution(Method::Best, 34, 250, 2, &shape);
    assert!(n_done >= 200, "{n_done} of 250 finish");
}

#[test]
fn both_algorithms_agree() {
    let mut random = Random::new(35);
    let mut n_done = 0;
    for round in 0..150 {
        let shape = Shape { n_variables: 2, degree: 2, n_terms: 3, n_atoms: 1 + random.below(3) };
        let body = random.formula(shape);
        let formula = random.quantify(1, body);
        let by_points = eliminate_by(Method::Best, &formula, &modest());
        let by_signs = eliminate_by(Method::CohenHormander, &formula, &modest());
        let (Ok(by_points), Ok(by_signs)) = (by_points, by_signs) else { continue };
        n_done += 1;
        // One variable is left, so the sets of solutions can be compared as a whole.
        let by_points = solutions(&by_points, 0, &generous()).expect("limits suffice");
        let by_signs = solutions(&by_signs, 0, &generous()).expect("limits suffice");
        assert_eq!(by_points, by_signs, "{round}: {formula}");
    }
    assert!(n_done >= 120, "{n_done} of 150 finish");
}

#[test]
fn duality() {
    let mut random = Random::new(36);
    for _ in 0..150 {
        let shape = Shape { n_variables: 2, degree: 2, n_terms: 2, n_atoms: 2 };
        let body = random.formula(shape);
        let some = RealFormula::Exists(1, Box::new(body.clone()));
        let none = RealFormula::All(1, Box::new(body.negation()));
        let (Ok(some), Ok(none)) = (eliminate(&some, &modest()), eliminate(&none, &modest()))
        else {
            continue;
        };
        let contradiction = RealFormula::And(vec![some.clone(), none.clone()]);
        assert!(solve(&contradiction, 0, &generous()).is_ok_and(|set| set.is_empty()));
        let tautology = RealFormula::Or(vec![some, none]);
        assert!(solve(&tautology, 0, &generous()).is_ok_and(|set| set.is_full()));
    }
}
