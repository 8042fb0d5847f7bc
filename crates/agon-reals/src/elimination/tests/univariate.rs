//! Solution sets against an oracle that isolates roots by Sturm's theorem, and numbers with known
//! values.

use dashu_ratio::RBig;

use super::oracle::Oracle;
use super::{Random, Shape, and, atom, generous, or, variable};
use crate::elimination::univariate::{AlgebraicNumber, Bound, solutions};
use crate::elimination::{EliminationError, EliminationLimits, RealFormula, least};

fn printed(formula: &RealFormula) -> String {
    solutions(formula, variable('x'), &generous()).expect("limits suffice").to_string()
}

#[test]
fn sets_with_known_ends() {
    let cases: &[(RealFormula, &str)] = &[
        (atom("x^2 <= 4"), "[-2, 2]"),
        (atom("x^2 < 4"), "(-2, 2)"),
        (atom("x^2 > 4"), "(-inf, -2) or (2, inf)"),
        (atom("x^2 <= 0"), "{0}"),
        (atom("x^2 != 0"), "(-inf, 0) or (0, inf)"),
        (atom("x^2 + 1 < 0"), "{}"),
        (atom("x^2 + 1 > 0"), "(-inf, inf)"),
        (atom("(3*x - 1)*(x + 2)*(x - 5) = 0"), "{-2} or {1/3} or {5}"),
        (atom("(x - 1)^3*(x - 2)^2 <= 0"), "(-inf, 1] or {2}"),
        (atom("(x - 1)^2*(x - 2)^3*(x^2 + 1) >= 0"), "{1} or [2, inf)"),
        (and(&["x > 1", "x <= 7/2", "x != 2"]), "(1, 2) or (2, 7/2]"),
        (or(&["x < 1", "x > 1"]), "(-inf, 1) or (1, inf)"),
        (or(&["x < 1", "x >= 1"]), "(-inf, inf)"),
        (and(&["x^2 = 2", "x^4 - 5*x^2 + 6 = 0", "x^3 != 2*x"]), "{}"),
        (
            and(&["(x^2 - 2)*(x - 3)*(x - 4) <= 0", "(x^2 - 2)*(x + 7) = 0", "x > 0"]),
            "{1.414213562373095..1.4142135623730951}",
        ),
    ];
    for (formula, expected) in cases {
        assert_eq!(printed(formula), *expected, "{formula}");
    }
}

#[test]
fn sets_agree_with_the_oracle() {
    let mut random = Random::new(11);
    for round in 0..1500 {
        let shape = Shape {
            n_variables: 1,
            degree: 1 + random.below(5),
            n_terms: 1 + random.below(4),
            n_atoms: 1 + random.below(6),
        };
        let formula = random.formula(shape);
        let set = solutions(&formula, 0, &generous()).expect("limits suffice");
        let oracle = Oracle::new(&formula);
        let cells = oracle.cells();
        assert_eq!(set.is_empty(), cells.iter().all(|(_, holds)| !holds), "{round}: {formula}");
        assert_eq!(set.is_full(), cells.iter().all(|(_, holds)| *holds), "{round}: {formula}");
        for (cell, holds) in &cells {
            if let Some(number) = cell.sample() {
                assert_eq!(set.contains(&number), *holds, "{round}: {formula} at {number}");
            }
        }
        let first = cells.iter().position(|(_, holds)| *holds);
        match (set.infimum(), first) {
            (Bound::PositiveInfinity, None) | (Bound::NegativeInfinity, Some(0)) => {}
            (Bound::Number(number), Some(place)) if place > 0 => {
                let root = oracle.root((place - 1) / 2);
                let (low, high) = number.enclosure();
                assert!(low == high || low.next_up() == high, "{round}: {low}..{high}");
                let enclosed = RBig::try_from(low).is_ok_and(|low| root.is_at_least(&low))
                    && RBig::try_from(high).is_ok_and(|high| root.is_at_most(&high));
                assert!(enclosed, "{round}: {formula}: {number}");
                if let Some(exact) = root.exact() {
                    assert_eq!(number.rational(), Some(&exact), "{round}: {formula}");
                }
            }
            (bound, place) => panic!("{round}: {formula}: {bound} at {place:?}"),
        }
    }
}

#[test]
fn every_rational_number_is_its_own_root() {
    let mut random = Random::new(12);
    for _ in 0..300 {
        let (number, other) = (random.rational(), random.rational());
        let factor = |root: &RBig| {
            &crate::elimination::Polynomial::variable(0)
                - &crate::elimination::Polynomial::from(root.clone())
        };
        let irreducible: crate::elimination::Polynomial = "x0^3 - 2".parse().unwrap();
        let product = &(&factor(&number) * &factor(&other)) * &irreducible;
        let formula = RealFormula::Compare(product, crate::elimination::Sign::Equal);
        let Ok(Bound::Number(least)) = least(&formula, 0, &generous()) else { panic!() };
        // The cube root of 2 is the least root if it is smaller.
        let expected = Some((&number).min(&other)).filter(|n| n.pow(3) < RBig::from(2));
        assert_eq!(least.rational(), expected);
    }
}

#[test]
fn falling_bodies() {
    // A ball dropped from 30 m is below 10 m from the time sqrt(40 / 9.81) on.
    let below = and(&["30 - 981/200*t^2 < 10", "t >= 0"]);
    let Ok(Bound::Number(time)) = least(&below, variable('t'), &generous()) else { panic!() };
    assert_eq!(time.rational(), None);
    let (low, high) = time.enclosure();
    let expected = (40.0f64 / 9.81).sqrt();
    assert!(low.next_down() <= expected && expected <= high.next_up());
    assert_eq!(low.next_up(), high);
}

#[test]
fn enclosures_are_neighbours_at_all_sizes() {
    let two = RBig::from(2);
    for exponent in [-1100isize, -1000, -60, -1, 0, 1, 52, 53, 54, 200, 1000, 1020] {
        let scale = two.pow(exponent);
        let square = crate::elimination::Polynomial::from(&scale * &scale * &two);
        let x = crate::elimination::Polynomial::variable(0);
        let cube = &square * &crate::elimination::Polynomial::from(scale.clone());
        for polynomial in [&(&x * &x) - &square, &(&(&x * &x) * &x) - &cube] {
            let is_root =
                RealFormula::Compare(polynomial, crate::elimination::Sign::GreaterOrEqual);
            let positive = RealFormula::And(vec![atom("a > 0"), is_root]);
            let Ok(Bound::Number(root)) = least(&positive, 0, &generous()) else { panic!() };
            let (low, high) = root.enclosure();
            assert!(low.next_up() == high, "{exponent}: {low} {high}");
            assert!(root.order(&scale).is_gt() && root.order(&(&scale * &two)).is_lt());
        }
    }
    let zero = AlgebraicNumber::from_rational(RBig::ZERO);
    assert_eq!(zero.enclosure(), (0.0, 0.0));
    let huge = AlgebraicNumber::from_rational(two.pow(2000));
    assert_eq!(huge.enclosure(), (f64::MAX, f64::INFINITY));
}

#[test]
fn wrong_input_is_refused() {
    let limits = EliminationLimits::default();
    let other = solutions(&atom("x*y > 0"), variable('x'), &limits);
    assert_eq!(other, Err(EliminationError::FreeVariable(variable('y'))));
    let quantified = RealFormula::Exists(0, Box::new(atom("a > 0")));
    assert_eq!(solutions(&quantified, 0, &limits), Err(EliminationError::Quantified));
    let steep = solutions(&atom("x^900 > 2"), variable('x'), &limits);
    assert_eq!(steep, Err(EliminationError::DegreeTooLarge));
}
