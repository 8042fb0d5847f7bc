//! Solutions that are known in closed form.

use super::*;

#[test]
fn a_projectile_is_computed_exactly() {
    let mut setting = Setting::new(4);
    setting.derivative(|_, v| Ok(v[2]));
    setting.derivative(|_, v| Ok(v[3]));
    setting.derivative(|pool, _| pool.whole(0));
    setting.derivative(|pool, _| pool.number(rational("-9.81")));
    let start = reals(&["1/3", "2", "5/7", "11"]);
    let result = setting.run(&start, real("13/10"), &with(Method::Auto)).expect("it is polynomial");
    assert_eq!(result.time, real("13/10"));
    // x = 1/3 + 5/7 t and y = 2 + 11 t - 9.81/2 t^2 at t = 13/10, by hand.
    assert_eq!(result.state[0], real("53/42"));
    assert_eq!(result.state[1], Real::Exact(Rational::fraction(160_211, 20_000).expect("fits")));
    assert_eq!(result.state[2], real("5/7"));
    assert_eq!(result.state[3], real("-1.753"));
    assert_eq!((result.failed, result.n_steps), (vec![], 0));
}

#[test]
fn nilpotent_and_nonlinear_triangular_systems_are_polynomials() {
    // x' = x - y, y' = x - y: the square of the matrix is zero, although each depends on itself.
    let mut nilpotent = Setting::new(2);
    for _ in 0..2 {
        nilpotent.derivative(|pool, v| pool.subtract(v[0], v[1]));
    }
    let result = nilpotent
        .run(&reals(&["3", "1"]), real("5/3"), &with(Method::Polynomial))
        .expect("Picard iteration ends");
    assert_eq!(result.state, reals(&["19/3", "13/3"]));

    // x' = 1 + t, y' = x^2: y = y0 + integral of (x0 + t + t^2/2)^2.
    let mut triangular = Setting::new(2);
    triangular.derivative(|pool, _| {
        let (one, time) = (pool.whole(1)?, pool.time()?);
        pool.add(one, time)
    });
    triangular.derivative(|pool, v| pool.power_integer(v[0], 2));
    let result = triangular
        .run(&reals(&["1", "0"]), real("2"), &with(Method::Polynomial))
        .expect("no variable depends on itself");
    // (1 + t + t^2/2)^2 = 1 + 2t + 2t^2 + t^3 + t^4/4.
    assert_eq!(result.state, vec![real("5"), Real::Exact(Rational::fraction(254, 15).unwrap())]);

    // Functions of constants are constants.
    let mut turned = Setting::new(2);
    turned.derivative(|pool, v| pool.cos(v[1]));
    turned.derivative(|pool, _| pool.whole(0));
    let result = turned.run(&reals(&["0", "1"]), real("2"), &with(Method::Auto)).expect("it is");
    assert_eq!(result.n_steps, 0);
    assert!((result.state[0].midpoint() - 2.0 * libm::cos(1.0)).abs() < 1e-15);
}

#[test]
fn systems_that_depend_on_themselves_are_not_polynomials() {
    let result = oscillator().run(&reals(&["1", "0"]), real("1"), &with(Method::Polynomial));
    assert_eq!(result.err(), Some(EvolveError::NotPolynomial));
    // But a pendulum at rest stays at rest.
    let result = oscillator().run(&reals(&["0", "0"]), real("1"), &with(Method::Polynomial));
    assert_eq!(result.expect("rest is constant").state, reals(&["0", "0"]));
}

#[test]
fn numerical_methods_agree_with_closed_forms() {
    let methods = [
        precise(Method::DormandPrince),
        precise(Method::CashKarp),
        with(Method::RungeKutta4 { step: 1e-3 }),
        precise(Method::Enclosure),
    ];
    for options in methods {
        let result = oscillator().run(&reals(&["1", "0"]), real("5"), &options).expect("smooth");
        let errors = [
            (result.state[0].midpoint() - libm::cos(5.0)).abs(),
            (result.state[1].midpoint() + libm::sin(5.0)).abs(),
        ];
        assert!(errors.iter().all(|error| *error < 1e-9), "{:?} {errors:?}", options.method);

        let mut decay = Setting::new(1);
        decay.derivative(|pool, v| pool.negate(v[0]));
        let result = decay.run(&reals(&["2"]), real("4"), &options).expect("smooth");
        let error = (result.state[0].midpoint() - 2.0 * libm::exp(-4.0)).abs();
        assert!(error < 1e-9, "{:?} {error}", options.method);
        // The dense output is as good.
        for step in 0..=40 {
            let time = f64::from(step) / 10.0;
            let error = (result.trajectory.at(time)[0] - 2.0 * libm::exp(-time)).abs();
            assert!(error < 1e-8, "{:?} at {time}: {error}", options.method);
        }
    }
}

#[test]
fn the_default_tolerance_is_met() {
    let result = oscillator().run(&reals(&["1", "0"]), real("10"), &with(Method::Auto));
    let state = result.expect("smooth").state;
    for (value, truth) in state.iter().zip([libm::cos(10.0), -libm::sin(10.0)]) {
        assert!((value.midpoint() - truth).abs() < 1e-9, "{value:?} {truth}");
        assert!(value.to_interval().contains(truth));
    }
}

/// Whole trajectories, not only their ends: 2001 points of the dense output.
#[test]
fn trajectories_stay_close_to_closed_forms() {
    let mut decay = Setting::new(1);
    decay.derivative(|pool, v| pool.negate(v[0]));
    type Closed = fn(f64) -> Vec<f64>;
    let problems: [(&str, &Setting, Vec<Real>, Closed); 3] = [
        ("oscillator", &oscillator(), reals(&["1", "0"]), |t| vec![libm::cos(t), -libm::sin(t)]),
        ("decay", &decay, reals(&["2"]), |t| vec![2.0 * libm::exp(-t)]),
        ("circular orbit", &orbit(), reals(&["1", "0", "0", "1"]), |t| {
            vec![libm::cos(t), libm::sin(t), -libm::sin(t), libm::cos(t)]
        }),
    ];
    for (name, setting, start, closed) in problems {
        let result = setting.run(&start, real("10"), &with(Method::Auto)).expect("smooth");
        let mut worst: f64 = 0.0;
        for step in 0..=2000 {
            let time = f64::from(step) / 200.0;
            for (value, truth) in result.trajectory.at(time).iter().zip(closed(time)) {
                worst = worst.max((value - truth).abs());
            }
        }
        println!("{name}: worst error {worst:.1e} within ten units of time");
        assert!(worst < 1e-9, "{name}: {worst}");
    }
}

#[test]
fn bodies_return_after_one_revolution() {
    // A circle of radius 1 and speed 1 takes 2 pi; so does the ellipse of half axis 1 and
    // eccentricity 1/2, which starts at its nearest point.
    let turn = Real::Interval(Interval::point(std::f64::consts::TAU));
    let ellipse = libm::sqrt(3.0);
    for (distance, speed) in [(1.0, 1.0), (0.5, ellipse)] {
        let start = [distance, 0.0, 0.0, speed].map(Real::from_f64);
        let result = orbit().run(&start, turn, &precise(Method::DormandPrince)).expect("smooth");
        for (value, start) in result.state.iter().zip(&start) {
            let error = (value.midpoint() - start.midpoint()).abs();
            assert!(error < 1e-9, "{error} from distance {distance}");
        }
    }
}
