//! Series against derivatives in closed form and against each other.

use super::*;
use crate::expression::{Expr, Pool, PoolFull};

const SERIES: PowerSeries = PowerSeries { order: 6 };

fn series(coefficients: &[f64]) -> Series {
    coefficients.iter().map(|coefficient| Interval::point(*coefficient)).collect()
}

fn assert_contains(found: &Series, truth: &[f64]) {
    for (power, truth) in truth.iter().enumerate() {
        let found = PowerSeries::at(found, power);
        assert!((found.midpoint() - truth).abs() < 1e-13, "{power}: {found:?} {truth}");
        assert!(found.width() < 1e-12);
    }
}

/// Checks that two series are of the same function.
fn assert_same(left: &Series, right: &Series) {
    for power in 0..=SERIES.order {
        let (left, right) = (PowerSeries::at(left, power), PowerSeries::at(right, power));
        assert!(left.intersection(right).is_some(), "{power}: {left:?} {right:?}");
        assert!(left.width().max(right.width()) < 1e-9);
    }
}

#[test]
fn functions_of_time_have_their_taylor_coefficients() {
    let time = series(&[0.0, 1.0]);
    let sixth = 1.0 / 6.0;
    assert_contains(&SERIES.exp(&time).unwrap(), &[1.0, 1.0, 0.5, sixth, sixth / 4.0]);
    assert_contains(&SERIES.sin(&time).unwrap(), &[0.0, 1.0, 0.0, -sixth, 0.0]);
    assert_contains(&SERIES.cos(&time).unwrap(), &[1.0, 0.0, -0.5, 0.0, sixth / 4.0]);
    let after_one = series(&[1.0, 1.0]);
    assert_contains(&SERIES.ln(&after_one).unwrap(), &[0.0, 1.0, -0.5, 1.0 / 3.0, -0.25]);
    assert_contains(&SERIES.root(&after_one, 2).unwrap(), &[1.0, 0.5, -0.125, 0.0625]);
    assert_contains(&SERIES.power_integer(&after_one, -1).unwrap(), &[1.0, -1.0, 1.0, -1.0]);
    assert_contains(&SERIES.power_integer(&after_one, 3).unwrap(), &[1.0, 3.0, 3.0, 1.0, 0.0]);
}

#[test]
fn functions_satisfy_their_laws() {
    for base in [[2.0, 0.5, -0.25, 1.0], [0.75, -1.0, 0.5, 0.125]] {
        let base = series(&base);
        let (sine, cosine) = (SERIES.sin(&base).unwrap(), SERIES.cos(&base).unwrap());
        let squares = SERIES
            .add(
                &SERIES.multiply(&sine, &sine).unwrap(),
                &SERIES.multiply(&cosine, &cosine).unwrap(),
            )
            .unwrap();
        assert_same(&squares, &series(&[1.0]));
        assert_same(&SERIES.ln(&SERIES.exp(&base).unwrap()).unwrap(), &base);
        let root = SERIES.root(&base, 3).unwrap();
        assert_same(&SERIES.power_integer(&root, 3).unwrap(), &base);
        let quotient = SERIES.divide(&sine, &base).unwrap();
        assert_same(&SERIES.multiply(&quotient, &base).unwrap(), &sine);
        let power = SERIES.power(&base, &series(&[2.0])).unwrap();
        assert_same(&power, &SERIES.multiply(&base, &base).unwrap());
        let opposite = SERIES.negate(&base).unwrap();
        assert_same(&SERIES.abs(&opposite).unwrap(), &base);
        assert_same(&SERIES.max(&base, &opposite).unwrap(), &base);
    }
}

#[test]
fn functions_that_may_be_undefined_have_no_series() {
    let around_zero = vec![Interval { lo: -1.0, hi: 1.0 }, Interval::ONE];
    assert_eq!(SERIES.divide(&around_zero, &around_zero), None);
    assert_eq!(SERIES.ln(&around_zero), None);
    assert_eq!(SERIES.root(&around_zero, 2), None);
    assert_eq!(SERIES.abs(&around_zero), None);
    // Values and slopes of a kink are bounded.
    let bounded = PowerSeries { order: 1 }.abs(&around_zero).unwrap();
    assert_eq!(bounded, [Interval { lo: 0.0, hi: 1.0 }, Interval { lo: -1.0, hi: 1.0 }]);
    assert_eq!(SERIES.indicator(Truth::Unknown), None);
}

#[test]
fn solutions_have_their_taylor_coefficients() {
    // x' = x^2 from 1 is 1 / (1 - t), whose coefficients are all 1.
    let mut pool = Pool::new();
    let square = |pool: &mut Pool| -> Result<Expr, PoolFull> {
        let x = pool.variable(0)?;
        pool.multiply(x, x)
    };
    let derivative = square(&mut pool).unwrap();
    let program = Program::new(&pool, &[derivative], &[]);
    let found = solution_series(&program, &[Interval::ONE], Interval::ZERO, 10).unwrap();
    assert_eq!(found[0], vec![Interval::ONE; 11]);
}
