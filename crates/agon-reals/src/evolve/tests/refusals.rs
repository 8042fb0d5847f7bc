//! Systems that are refused, with the reason.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::*;
use crate::interrupt::Interrupt;

#[test]
fn stiff_systems_are_refused() {
    // x' = -rate (x - cos t) follows the cosine closely. With the smaller rate, steps hover below
    // the limit of stability, so that only their number gives it away.
    for (rate, start, duration) in [(1_000_000, "1", "10"), (100_000, "10", "100")] {
        let mut stiff = Setting::new(1);
        stiff.derivative(|pool, v| {
            let (rate, time) = (pool.whole(-rate)?, pool.time()?);
            let target = pool.cos(time)?;
            let gap = pool.subtract(v[0], target)?;
            pool.multiply(rate, gap)
        });
        let result = stiff.run(&reals(&[start]), real(duration), &with(Method::Auto));
        assert!(matches!(result, Err(EvolveError::Stiff { .. })), "{rate}: {result:?}");
    }
}

/// A fast oscillation needs many steps for accuracy, which is not stiffness.
#[test]
fn long_oscillations_use_up_the_steps() {
    let mut oscillator = Setting::new(2);
    oscillator.derivative(|_, v| Ok(v[1]));
    oscillator.derivative(|pool, v| {
        let rate = pool.whole(-1_000_000)?;
        pool.multiply(rate, v[0])
    });
    let result = oscillator.run(&reals(&["1", "0"]), real("1000"), &with(Method::Auto));
    assert!(matches!(result, Err(EvolveError::Steps { .. })), "{result:?}");
}

#[test]
fn solutions_that_blow_up_are_refused() {
    // x' = x^2 from 1 is 1 / (1 - t).
    let mut blow_up = Setting::new(1);
    blow_up.derivative(|pool, v| pool.power_integer(v[0], 2));
    for method in [Method::Auto, Method::CashKarp, Method::RungeKutta4 { step: 1e-3 }] {
        match blow_up.run(&reals(&["1"]), real("2"), &with(method)) {
            Err(EvolveError::Undefined { variable: 0, time }) => {
                assert!((time - 1.0).abs() < 0.1, "{method:?} {time}");
            }
            other => panic!("{method:?} {other:?}"),
        }
    }
    let result = blow_up.run(&reals(&["1"]), real("2"), &with(Method::Enclosure));
    assert!(result.is_err(), "{result:?}");
    // Before the pole all is well.
    let result = blow_up.run(&reals(&["1"]), real("1/2"), &with(Method::Auto)).expect("smooth");
    assert!((result.state[0].midpoint() - 2.0).abs() < 1e-8);
}

#[test]
fn undefined_derivatives_are_refused() {
    // x' = 1 / x from 0, and from 1 downwards: x = sqrt(1 - 2t) ends at 1/2.
    let mut inverse = Setting::new(1);
    inverse.derivative(|pool, v| {
        let above = pool.whole(-1)?;
        pool.divide(above, v[0])
    });
    let result = inverse.run(&reals(&["0"]), real("1"), &with(Method::Auto));
    assert_eq!(result.err(), Some(EvolveError::Undefined { variable: 0, time: 0.0 }));
    match inverse.run(&reals(&["1"]), real("1"), &with(Method::Auto)) {
        Err(EvolveError::Undefined { variable: 0, time }) => assert!((time - 0.5).abs() < 1e-6),
        other => panic!("{other:?}"),
    }
}

#[test]
fn budgets_are_kept() {
    let start = reals(&["1", "0"]);
    let few = EvolveOptions { max_steps: 10, ..with(Method::DormandPrince) };
    let result = oscillator().run(&start, real("1000"), &few);
    assert!(matches!(result, Err(EvolveError::Steps { .. })), "{result:?}");
    let stop = Some(Arc::new(AtomicBool::new(true)));
    let stopped = Interrupt { deadline: None, stop };
    let late = Interrupt::at(Some(Instant::now()));
    for method in [Method::DormandPrince, Method::Polynomial, Method::Enclosure] {
        for interrupt in [&stopped, &late] {
            let options = EvolveOptions { interrupt: interrupt.clone(), ..with(method) };
            let result = ball().run(&start, real("1000"), &options);
            assert_eq!(result.err(), Some(EvolveError::Stopped));
        }
    }
}

#[test]
fn requests_without_sense_are_refused() {
    let ball = ball();
    let invalid = |result: Outcome| matches!(result, Err(EvolveError::Invalid(_)));
    assert!(invalid(ball.run(&reals(&["1"]), real("1"), &with(Method::Auto))));
    assert!(invalid(ball.run(&reals(&["1", "1"]), real("-1"), &with(Method::Auto))));
    let endless = Real::Interval(Interval::WHOLE);
    assert!(invalid(ball.run(&reals(&["1", "1"]), endless, &with(Method::Auto))));
    let step = Method::RungeKutta4 { step: 0.0 };
    assert!(invalid(ball.run(&reals(&["1", "1"]), real("1"), &with(step))));
    let tolerance = EvolveOptions { tolerance: f64::NAN, ..EvolveOptions::default() };
    assert!(invalid(ball.run(&reals(&["1", "1"]), real("1"), &tolerance)));
    let mut open = Setting::new(2);
    open.derivative(|_, v| Ok(v[1]));
    assert!(invalid(open.run(&reals(&["1"]), real("1"), &with(Method::Auto))));
    let unknown = [Real::Interval(Interval::WHOLE), Real::ZERO];
    let result = ball.run(&unknown, real("1"), &with(Method::Auto));
    assert_eq!(result.err(), Some(EvolveError::Undefined { variable: 0, time: 0.0 }));
}

#[test]
fn errors_say_what_happened() {
    let text = EvolveError::Undefined { variable: 2, time: 0.5 }.to_string();
    assert_eq!(text, "variable 2 or its derivative is undefined or unbounded at time 0.5");
}
