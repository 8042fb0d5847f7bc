//! Arithmetic of polynomials: the laws of a commutative ring, evaluation, and the printed form.

use super::{Random, Shape, polynomial, variable};
use crate::elimination::Polynomial;
use crate::rational::Rational;

const SHAPE: Shape = Shape { n_variables: 3, degree: 3, n_terms: 4, n_atoms: 1 };

#[test]
fn values_follow_the_operations() {
    let mut random = Random::new(61);
    for _ in 0..500 {
        let (p, q) = (random.polynomial(SHAPE), random.polynomial(SHAPE));
        let values = random.values(3);
        let at = |polynomial: &Polynomial| polynomial.evaluate(&values).expect("all have values");
        assert_eq!(at(&(&p + &q)), at(&p) + at(&q));
        assert_eq!(at(&(&p - &q)), at(&p) - at(&q));
        assert_eq!(at(&(&p * &q)), at(&p) * at(&q));
        assert_eq!(at(&-&p), -at(&p));
        assert_eq!(at(&p.power(3, 1000).unwrap()), at(&p).pow(3));
        assert_eq!(&(&p + &q) - &q, p);
        assert_eq!(&p * &q, &q * &p);
        if !p.is_zero() && !q.is_zero() {
            assert_eq!((&p * &q).total_degree(), p.total_degree() + q.total_degree());
        }
        let one = p.substitute(1, &q, 10_000).unwrap();
        let mut inner = values.clone();
        inner.insert(1, at(&q));
        assert_eq!(one.evaluate(&values), p.evaluate(&inner));
        assert_eq!(at(&p.substitute_number(2, &values[&2])), at(&p));
    }
}

#[test]
fn coefficients_and_derivatives() {
    let mut random = Random::new(62);
    let x = Polynomial::variable(0);
    for _ in 0..300 {
        let (p, q) = (random.polynomial(SHAPE), random.polynomial(SHAPE));
        let coefficients = p.coefficients(0);
        let sum = coefficients.iter().rev().fold(Polynomial::zero(), |sum, n| &(&sum * &x) + n);
        assert_eq!(sum, p);
        assert!(coefficients.iter().all(|n| !n.mentions(0)));
        if !q.is_zero() {
            assert_eq!((&p * &q).exact_quotient(&q), Some(p.clone()));
            let remainder = &(&p * &q) + &Polynomial::one();
            assert_eq!(remainder.exact_quotient(&q).is_some(), q.total_degree() == 0);
        }
        // The rule of Leibniz.
        let left = (&p * &q).derivative(0);
        let right = &(&p.derivative(0) * &q) + &(&p * &q.derivative(0));
        assert_eq!(left, right);
    }
}

#[test]
fn printed_forms_are_read_again() {
    let mut random = Random::new(63);
    for _ in 0..300 {
        let mut p = random.polynomial(SHAPE);
        p = p.scaled(&random.rational());
        assert_eq!(p.to_string().parse(), Ok(p));
    }
    assert_eq!(polynomial("(x + y)^2"), polynomial("x^2 + 2*x*y + y^2"));
    assert_eq!("3*x1 - 1/2".parse::<Polynomial>().unwrap().to_string(), "3*x1 - 1/2");
    for text in [
        "",
        "x",
        "x0 +",
        "x0^",
        "2^1000000000",
        "x0/x1",
        "1/0",
        "(x0",
        "x0)",
        "x99999999999",
        "(x0+x1+x2+x3)^1000",
    ] {
        assert!(text.parse::<Polynomial>().is_err(), "{text}");
    }
    let deep = "(".repeat(100_000);
    assert!(deep.parse::<Polynomial>().is_err());
}

#[test]
fn degrees_are_bounded() {
    let x = Polynomial::variable(variable('x'));
    let steep = x.power(Polynomial::MAX_DEGREE, 10).unwrap();
    assert_eq!(steep.total_degree(), Polynomial::MAX_DEGREE);
    assert_eq!(steep.times(&x, 10), None);
    assert_eq!(polynomial("x + y").times(&polynomial("x + y"), 3), None);
}

#[test]
fn small_rationals_are_constants() {
    let third: Rational = "-1/3".parse().unwrap();
    assert_eq!(Polynomial::from(third).to_string(), "-1/3");
    assert_eq!(Polynomial::from(Rational::ZERO), Polynomial::zero());
}
