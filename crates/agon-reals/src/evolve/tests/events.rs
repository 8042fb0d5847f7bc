//! Moments at which guards fail.

use super::*;

/// Follows a ball through its impacts, with restitution 4/5, and returns their times.
fn impacts(options: &EvolveOptions, n_impacts: usize, shrink: bool) -> Vec<f64> {
    let ball = ball();
    let restitution = real("-4/5");
    let mut state = reals(&["10", "0"]);
    let mut elapsed = Real::ZERO;
    let mut times = Vec::new();
    for _ in 0..n_impacts {
        let result = ball.run(&state, real("100"), options).expect("the ball falls");
        assert_eq!(result.failed, [0]);
        assert!(result.state[0].may_be_zero(), "{:?}", result.state);
        elapsed = elapsed + result.time;
        times.push(elapsed.midpoint());
        state = vec![result.state[0], result.state[1] * restitution];
        if shrink {
            state = state.into_iter().map(Real::shrunk).collect();
        }
    }
    times
}

/// The times of the impacts in closed form: falls take sqrt(2), flights 2 sqrt(2) (4/5)^k.
fn true_impacts(n_impacts: usize) -> Vec<f64> {
    let fall = libm::sqrt(2.0);
    (0..n_impacts)
        .map(|k| fall * (1.0 + 2.0 * (1..=k).map(|i| libm::pow(0.8, i as f64)).sum::<f64>()))
        .collect()
}

#[test]
fn thirty_impacts_are_found_to_eleven_places() {
    for (options, shrink) in [
        (with(Method::Auto), false),
        (with(Method::Auto), true),
        (with(Method::DormandPrince), false),
        (with(Method::CashKarp), true),
        (with(Method::RungeKutta4 { step: 0.05 }), true),
    ] {
        let found = impacts(&options, 30, shrink);
        for (found, truth) in found.iter().zip(true_impacts(30)) {
            assert!((found - truth).abs() < 1e-11, "{:?}: {found} {truth}", options.method);
        }
    }
}

#[test]
fn events_of_an_oscillator_are_found_to_eleven_places() {
    // cos t falls below 1/2 at pi/3; the guard is linear in a curved solution.
    let mut setting = oscillator();
    setting.guard(|pool, v| {
        let half = pool.number(rational("1/2"))?;
        pool.less(half, v[0])
    });
    for method in [Method::DormandPrince, Method::CashKarp] {
        let result =
            setting.run(&reals(&["1", "0"]), real("10"), &precise(method)).expect("smooth");
        let error = (result.time.midpoint() - std::f64::consts::FRAC_PI_3).abs();
        assert!(error < 1e-11, "{method:?} {error}");
        assert!((result.state[0].midpoint() - 0.5).abs() < 1e-11);
        assert!((result.trajectory.duration() - result.time.midpoint()).abs() < 1e-12);
    }
}

#[test]
fn rational_event_times_are_exact() {
    // A pursuer of speed 3 behind a prey of speed 2, 5/7 apart: caught after 5/7.
    let mut chase = Setting::new(2);
    chase.derivative(|pool, _| pool.whole(3));
    chase.derivative(|pool, _| pool.whole(2));
    chase.guard(|pool, v| pool.less(v[0], v[1]));
    let result = chase.run(&reals(&["0", "5/7"]), real("10"), &with(Method::Auto)).expect("linear");
    assert_eq!(result.time, real("5/7"));
    assert_eq!(result.state, reals(&["15/7", "15/7"]));
    assert_eq!(result.failed, [0]);

    // A fall from 20 takes 2.
    let result =
        ball().run(&reals(&["20", "0"]), real("10"), &with(Method::Auto)).expect("quadratic");
    assert_eq!((result.time, result.state), (real("2"), reals(&["0", "-20"])));
}

#[test]
fn two_crossings_in_one_step_are_found() {
    // A parabola that is below 1e-6 for a short time: 1000 (t - 5)^2 as the product of two moving
    // numbers. One step of Dormand-Prince covers everything, because the solution is quadratic.
    let mut dip = Setting::new(2);
    dip.derivative(|_, v| Ok(v[1]));
    dip.derivative(|pool, _| pool.whole(2000));
    dip.guard(|pool, v| {
        let bound = pool.number(rational("1/1000000"))?;
        pool.less(bound, v[0])
    });
    let truth = 5.0 - libm::sqrt(1e-9);
    for method in [Method::Polynomial, Method::DormandPrince, Method::CashKarp] {
        let start = reals(&["25000", "-10000"]);
        let result = dip.run(&start, real("10"), &with(method)).expect("quadratic");
        assert_eq!(result.failed, [0], "{method:?}");
        let error = (result.time.midpoint() - truth).abs();
        assert!(error < 1e-9, "{method:?} {error}");
    }
}

#[test]
fn touching_fails_strict_guards_only() {
    // y = (t - 1)^2 touches zero at 1.
    for (strict, expected) in [(true, vec![0]), (false, vec![])] {
        let mut touch = Setting::new(2);
        touch.derivative(|_, v| Ok(v[1]));
        touch.derivative(|pool, _| pool.whole(2));
        touch.guard(|pool, v| {
            let zero = pool.whole(0)?;
            if strict { pool.less(zero, v[0]) } else { pool.at_most(zero, v[0]) }
        });
        let result =
            touch.run(&reals(&["1", "-2"]), real("3"), &with(Method::Auto)).expect("smooth");
        assert_eq!(result.failed, expected);
        if strict {
            assert_eq!(result.time, real("1"));
        }
    }
}

#[test]
fn guards_at_the_start_count_with_the_sign_right_after() {
    let around_zero = Real::Interval(Interval::around(0.0, 1e-17));
    let below_zero = Real::Interval(Interval::new(-1e-17, 0.0).unwrap());
    let rest = Real::ZERO;
    for method in [Method::Polynomial, Method::DormandPrince, Method::CashKarp] {
        for height in [around_zero, below_zero, Real::ZERO] {
            // Up: flies for a second. Down, or at rest under gravity: fails at once.
            for (speed, time) in [(real("5"), 1.0), (real("-5"), 0.0), (rest, 0.0)] {
                let result =
                    ball().run(&[height, speed], real("7"), &with(method)).expect("smooth");
                assert_eq!(result.failed, [0], "{method:?} {height} {speed}");
                let error = (result.time.midpoint() - time).abs();
                assert!(error < 1e-12, "{method:?} {height} {speed}: {error}");
            }
        }
        // Certainly below: fails at once whatever the speed is.
        let result = ball().run(&reals(&["-1", "5"]), real("7"), &with(method)).expect("smooth");
        assert_eq!((result.time, result.failed), (Real::ZERO, vec![0]));
        assert_eq!(result.state, reals(&["-1", "5"]));
        assert_eq!(result.trajectory.at(0.0), [-1.0, 5.0]);
    }
}

#[test]
fn tiny_hops_are_not_skipped() {
    // The height is known to 1e-9 and the hop is much lower, but it ends.
    let height = Real::Interval(Interval::around(0.0, 1e-9));
    for method in [Method::Polynomial, Method::DormandPrince] {
        let result = ball().run(&[height, real("0.000001")], real("7"), &with(method)).expect("ok");
        assert_eq!(result.failed, [0]);
        assert!((result.time.midpoint() - 2e-7).abs() < 1e-11, "{method:?} {:?}", result.time);
    }
}

#[test]
fn a_difference_that_stays_zero_satisfies_equality_and_fails_inequality() {
    for (equal, expected) in [(true, vec![]), (false, vec![0])] {
        let mut setting = oscillator();
        setting.guard(|pool, v| {
            // x^2 + v^2 is constant along the solution.
            let (x, y) = (pool.power_integer(v[0], 2)?, pool.power_integer(v[1], 2)?);
            let (energy, one) = (pool.add(x, y)?, pool.whole(1)?);
            if equal { pool.equal(energy, one) } else { pool.unequal(energy, one) }
        });
        let result = setting
            .run(&reals(&["3/5", "4/5"]), real("2"), &with(Method::DormandPrince))
            .expect("smooth");
        assert_eq!(result.failed, expected);
        assert_eq!(result.time.midpoint(), if equal { 2.0 } else { 0.0 });
    }
}

/// A point that moves from 0 to 10 at speed 1, with guards on its place.
fn walker(method: Method, build: impl FnOnce(&mut Pool, Expr) -> Condition) -> (f64, Vec<usize>) {
    let mut walker = Setting::new(2);
    walker.derivative(|pool, _| pool.whole(1));
    // A second variable that is not a polynomial, for the numerical methods.
    walker.derivative(
        |pool, v| {
            if method == Method::Polynomial { pool.whole(0) } else { pool.negate(v[1]) }
        },
    );
    let place = walker.variables[0];
    let guard = build(&mut walker.pool, place);
    walker.guards.push(guard);
    let result = walker.run(&reals(&["0", "1"]), real("10"), &with(method)).expect("smooth");
    (result.time.midpoint(), result.failed)
}

#[test]
fn boolean_combinations_fail_when_the_whole_condition_does() {
    for method in [Method::Polynomial, Method::DormandPrince, Method::RungeKutta4 { step: 3.0 }] {
        let below = |pool: &mut Pool, place: Expr, bound: i64| {
            let bound = pool.whole(bound).unwrap();
            pool.less(place, bound).unwrap()
        };
        let above = |pool: &mut Pool, place: Expr, bound: i64| {
            let bound = pool.whole(bound).unwrap();
            pool.less(bound, place).unwrap()
        };
        let close = |found: (f64, Vec<usize>), time: f64, failed: &[usize]| {
            assert!((found.0 - time).abs() < 1e-11, "{method:?} {found:?} {time}");
            assert_eq!(found.1, failed, "{method:?} {time}");
        };
        // below 3 or above 2: always.
        let found = walker(method, |pool, x| {
            let (first, second) = (below(pool, x, 3), above(pool, x, 2));
            pool.or(first, second).unwrap()
        });
        close(found, 10.0, &[]);
        // below 3 or above 4: fails between 3 and 4.
        let found = walker(method, |pool, x| {
            let (first, second) = (below(pool, x, 3), above(pool, x, 4));
            pool.or(first, second).unwrap()
        });
        close(found, 3.0, &[0]);
        // below 3 or above 3: fails only at 3 itself.
        let found = walker(method, |pool, x| {
            let (first, second) = (below(pool, x, 3), above(pool, x, 3));
            pool.or(first, second).unwrap()
        });
        close(found, 3.0, &[0]);
        // at most 3 or at least 3: never fails.
        let found = walker(method, |pool, x| {
            let three = pool.whole(3).unwrap();
            let (first, second) =
                (pool.at_most(x, three).unwrap(), pool.at_most(three, x).unwrap());
            pool.or(first, second).unwrap()
        });
        close(found, 10.0, &[]);
        // below 5 and below 3: fails at 3.
        let found = walker(method, |pool, x| {
            let (first, second) = (below(pool, x, 5), below(pool, x, 3));
            pool.and(first, second).unwrap()
        });
        close(found, 3.0, &[0]);
        // not (above 2 and below 4): fails after 2.
        let found = walker(method, |pool, x| {
            let (first, second) = (above(pool, x, 2), below(pool, x, 4));
            let both = pool.and(first, second).unwrap();
            pool.not(both).unwrap()
        });
        close(found, 2.0, &[0]);
        // Terms that are not polynomials: sin x < 1/2 fails at pi/6, abs(x - 3) > 1 at 2, and
        // sqrt(4 - x) > -1 when the root becomes undefined.
        let found = walker(method, |pool, x| {
            let (half, sine) = (pool.number(rational("1/2")).unwrap(), pool.sin(x).unwrap());
            pool.less(sine, half).unwrap()
        });
        close(found, std::f64::consts::FRAC_PI_6, &[0]);
        let found = walker(method, |pool, x| {
            let (one, three) = (pool.whole(1).unwrap(), pool.whole(3).unwrap());
            let difference = pool.subtract(x, three).unwrap();
            let distance = pool.abs(difference).unwrap();
            pool.less(one, distance).unwrap()
        });
        close(found, 2.0, &[0]);
        let found = walker(method, |pool, x| {
            let (four, bound) = (pool.whole(4).unwrap(), pool.whole(-1).unwrap());
            let rest = pool.subtract(four, x).unwrap();
            let root = pool.sqrt(rest).unwrap();
            pool.less(bound, root).unwrap()
        });
        close(found, 4.0, &[0]);
    }
}

#[test]
fn guards_that_fail_together_are_all_reported() {
    let mut setting = ball();
    // The same event in other words, one that fails later, and one that never fails.
    setting.guard(|pool, v| {
        let (bound, two) = (pool.whole(0)?, pool.whole(2)?);
        let double = pool.multiply(two, v[0])?;
        pool.less(bound, double)
    });
    setting.guard(|pool, v| {
        let bound = pool.whole(-1)?;
        pool.less(bound, v[0])
    });
    setting.guard(|pool, v| pool.less(v[1], v[0]));
    let result = setting.run(&reals(&["10", "0"]), real("9"), &with(Method::Auto)).expect("smooth");
    assert_eq!(result.failed, [0, 1]);
}

#[test]
fn constant_guards_fail_at_once_or_never() {
    for method in [Method::Auto, Method::DormandPrince] {
        for (holds, expected) in [(true, vec![]), (false, vec![0])] {
            let mut setting = oscillator();
            setting.guard(|pool, _| pool.truth(holds));
            let result = setting.run(&reals(&["1", "0"]), real("1"), &with(method)).expect("ok");
            assert_eq!(result.failed, expected);
            assert_eq!(result.time == Real::ZERO, !holds);
        }
    }
}
