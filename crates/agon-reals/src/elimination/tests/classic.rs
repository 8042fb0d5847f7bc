//! Problems with known answers from the literature.

use std::collections::BTreeMap;

use dashu_ratio::RBig;

use super::{Random, all, and, atom, exists, generous, or, variable};
use crate::elimination::{EliminationLimits, Method, RealFormula, decide, eliminate, eliminate_by};

fn check(sentence: &RealFormula, expected: bool) {
    assert_eq!(decide(sentence, &generous()), Ok(expected), "{sentence}");
}

/// Checks that a result of elimination has the expected meaning: on a grid, and by deciding the
/// equivalence.
fn check_equivalent(formula: &RealFormula, expected: &RealFormula, letters: &str) {
    let result = eliminate(formula, &generous()).expect("limits suffice");
    assert!(result.is_quantifier_free(), "{result}");
    let variables: Vec<u32> = letters.chars().map(variable).collect();
    let free = formula.free_variables();
    assert!(result.free_variables().is_subset(&free), "{result}");
    for place in 0..7i64.pow(variables.len() as u32) {
        let mut rest = place;
        let mut values = BTreeMap::new();
        for variable in &variables {
            values.insert(*variable, RBig::from(rest % 7 - 3));
            rest /= 7;
        }
        assert_eq!(result.evaluate(&values), expected.evaluate(&values), "{result} at {values:?}");
    }
    check(&all(letters, result.is_equivalent_to(expected.clone())), true);
}

#[test]
fn a_quadratic_has_a_root_iff_its_discriminant_is_not_negative() {
    let formula = exists("x", atom("a*x^2 + b*x + c = 0"));
    let expected = RealFormula::Or(vec![
        and(&["a != 0", "b^2 - 4*a*c >= 0"]),
        and(&["a = 0", "b != 0"]),
        and(&["a = 0", "b = 0", "c = 0"]),
    ]);
    check_equivalent(&formula, &expected, "abc");
}

#[test]
fn the_general_algorithm_finds_the_discriminant_as_well() {
    let formula = exists("x", atom("a*x^2 + b*x + c = 0"));
    let by_points = eliminate(&formula, &generous()).unwrap();
    let by_signs = eliminate_by(Method::CohenHormander, &formula, &generous()).unwrap();
    check(&all("abc", by_points.is_equivalent_to(by_signs)), true);
}

#[test]
fn a_monic_quadratic_is_positive_iff_its_discriminant_is_negative() {
    check_equivalent(&all("x", atom("x^2 + b*x + c > 0")), &atom("b^2 - 4*c < 0"), "bc");
}

#[test]
fn every_cubic_has_a_root_and_takes_every_value() {
    check(&all("bcd", exists("x", atom("x^3 + b*x^2 + c*x + d = 0"))), true);
    check(&all("y", exists("x", atom("x^3 - 3*x = y"))), true);
    check(&all("y", exists("x", atom("x^4 - 3*x = y"))), false);
}

#[test]
fn a_depressed_cubic_has_three_roots_iff_its_discriminant_is_positive() {
    let roots = and(&["x^3 + p*x + q = 0", "y^3 + p*y + q = 0", "z^3 + p*z + q = 0"]);
    let ordered = RealFormula::And(vec![roots, and(&["x < y", "y < z"])]);
    // The sum of the roots is zero, which spares one variable.
    let RealFormula::And(_) = &ordered else { unreachable!() };
    let two = and(&[
        "x^3 + p*x + q = 0",
        "y^2 + x*y + x^2 + p = 0",
        "y != x",
        "y != -2*x",
        "x != 0 - 2*y",
    ]);
    let two = RealFormula::And(vec![two, and(&["2*x + y != 0", "x + 2*y != 0"])]);
    for (p, q, expected) in [(-3, 1, true), (-3, 2, false), (-3, 3, false), (1, 1, false)] {
        let at = |formula: &RealFormula| {
            let formula = formula.substitute_number(variable('p'), &RBig::from(p));
            formula.substitute_number(variable('q'), &RBig::from(q))
        };
        check(&exists("xy", at(&two)), expected);
        check(&exists("xyz", at(&ordered)), expected);
    }
}

/// Returns the value of the condition that `x^4 + p x^2 + q x + r` has no negative value, by
/// another way: its least value is at a root of its derivative.
fn quartic_is_nonnegative(p: &RBig, q: &RBig, r: &RBig) -> bool {
    let at = |formula: &RealFormula| {
        let formula = formula.substitute_number(variable('p'), p);
        let formula = formula.substitute_number(variable('q'), q);
        formula.substitute_number(variable('r'), r)
    };
    let low = and(&["4*x^3 + 2*p*x + q = 0", "x^4 + p*x^2 + q*x + r < 0"]);
    crate::elimination::univariate::solutions(&at(&low), variable('x'), &generous())
        .expect("limits suffice")
        .is_empty()
}

#[test]
fn positive_quartics() {
    let formula = all("x", atom("x^4 + p*x^2 + q*x + r >= 0"));
    let result = eliminate(&formula, &generous()).expect("limits suffice");
    let mut random = Random::new(21);
    let mut n_true = 0;
    for _ in 0..400 {
        let (p, q, r) = (random.rational(), random.rational(), random.rational());
        let values = BTreeMap::from([
            (variable('p'), p.clone()),
            (variable('q'), q.clone()),
            (variable('r'), r.clone()),
        ]);
        let expected = quartic_is_nonnegative(&p, &q, &r);
        n_true += usize::from(expected);
        assert_eq!(result.evaluate(&values), Some(expected), "{p} {q} {r}");
    }
    assert!((50..350).contains(&n_true), "{n_true} of 400 are not negative");
}

#[test]
fn ellipses_in_the_unit_disc() {
    // An ellipse with half axes 1/2 and b around (c, 0) is inside the unit circle.
    let inside = |b: &str, c: &str| {
        let on_ellipse = format!("4*(x - {c})^2*({b})^2 + y^2 = ({b})^2");
        all("xy", atom(&on_ellipse).implies(atom("x^2 + y^2 <= 1")))
    };
    check(&inside("1/4", "1/2"), true);
    check(&inside("1/4", "3/5"), false);
    check(&inside("9/10", "0"), true);
    check(&inside("9/10", "1/2"), false);
    // Half axes of equal size: a circle.
    check(&inside("1/2", "1/2"), true);
}

#[test]
fn an_ellipse_in_a_box() {
    let on = "x^2 + 4*y^2 - x*y = 1";
    // The largest x is sqrt(16 / 15), where y = x / 8.
    let inside = |bound: &str| all("xy", atom(on).implies(atom(&format!("x^2 <= {bound}"))));
    check(&inside("16/15"), true);
    check(&inside("15/14"), true);
    check(&inside("106/100"), false);
    check_equivalent(&exists("y", atom(on)), &atom("15*x^2 <= 16"), "x");
}

#[test]
fn inequalities_with_names() {
    let cauchy = atom("(a^2 + b^2)*(c^2 + d^2) >= (a*c + b*d)^2");
    check(&all("abcd", cauchy), true);
    check(&all("abcd", atom("(a^2 + b^2)*(c^2 + d^2) > (a*c + b*d)^2")), false);
    let means = and(&["a >= 0", "b >= 0"]).implies(atom("(a + b)^2 >= 4*a*b"));
    check(&all("ab", means), true);
    check(&all("xy", atom("x^4*y^2 + x^2*y^4 - 3*x^2*y^2 + 1 >= 0")), true);
    check(&all("xy", atom("x^4*y^2 + x^2*y^4 - 31/10*x^2*y^2 + 1 >= 0")), false);
    let three = and(&["a >= 0", "b >= 0"]).implies(atom("a^3 + b^3 + 1 >= 3*a*b"));
    check(&all("ab", three), true);
}

#[test]
fn alternating_quantifiers() {
    check(&all("x", exists("y", atom("y > x"))), true);
    check(&exists("y", all("x", atom("y > x"))), false);
    check(&all("x", exists("y", atom("x*y = 1"))), false);
    check(&all("x", exists("y", or(&["x = 0", "x*y = 1"]))), true);
    check(&exists("x", all("y", atom("x*y <= y^2"))), true);
    check(&all("x", exists("y", and(&["x^2 + y^2 > 1", "x*y >= 1"]))), false);
    // A point of each of two discs that touch: all others of the first are at least 0 away.
    let touch = exists("x", all("y", or(&["(x - 1)^2 <= (y - 1)^2"])));
    check(&touch, true);
    // The order is dense and has no ends, and between squares there are roots.
    let dense = atom("x < y").implies(exists("z", and(&["x < z", "z < y"])));
    check(&all("xy", dense), true);
}

/// The general quartic with three parameters is beyond the limits of elimination. A number for each
/// parameter shows that not every one has a root, and that some are positive.
#[test]
fn quartics_with_three_parameters_have_examples() {
    let limits = EliminationLimits::default();
    let quartic = exists("x", atom("x^4 + a*x^2 + b*x + c = 0"));
    assert!(
        eliminate(&quartic, &EliminationLimits { max_steps: 100_000, ..limits.clone() }).is_err()
    );
    assert_eq!(decide(&all("abc", quartic.clone()), &limits), Ok(false));
    assert_eq!(decide(&exists("abc", quartic), &limits), Ok(true));
    let positive = all("x", atom("x^4 + a*x^3 + b*x^2 + c*x + 1 > 0"));
    assert_eq!(decide(&exists("abc", positive.clone()), &limits), Ok(true));
    assert_eq!(decide(&all("abc", positive), &limits), Ok(false));
}
