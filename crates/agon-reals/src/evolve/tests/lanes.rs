//! Evolutions side by side against single ones.

use super::*;

/// A driven pendulum whose strength and drag are constants, as the parameters of a move are. The
/// guard keeps it within an angle.
fn pendulum(strength: i64, drag: i64, bound: i64) -> Setting {
    let mut pendulum = Setting::new(2);
    pendulum.derivative(|_, v| Ok(v[1]));
    pendulum.derivative(|pool, v| {
        let number = |pool: &mut Pool, tenths: i64| {
            pool.number(Rational::fraction(i128::from(tenths), 10).expect("it fits"))
        };
        let (strength, drag) = (number(pool, strength)?, number(pool, drag)?);
        let sine = pool.sin(v[0])?;
        let pull = pool.multiply(strength, sine)?;
        let slow = pool.multiply(drag, v[1])?;
        let time = pool.time()?;
        let push = pool.cos(time)?;
        let rest = pool.subtract(push, pull)?;
        pool.subtract(rest, slow)
    });
    pendulum.guard(|pool, v| {
        let bound = pool.number(Rational::fraction(i128::from(bound), 10).expect("it fits"))?;
        pool.at_most(v[0], bound)
    });
    pendulum
}

fn check_equal(settings: &[Setting], starts: &[Vec<Real>], durations: &[Real]) {
    for method in [Method::Auto, Method::DormandPrince, Method::CashKarp] {
        for keep_trajectory in [false, true] {
            let options = EvolveOptions { keep_trajectory, ..with(method) };
            let systems: Vec<System> = settings
                .iter()
                .map(|setting| System { derivatives: setting.derivatives.clone() })
                .collect();
            let problems: Vec<Problem<'_>> = (0..settings.len())
                .map(|i| Problem {
                    pool: &settings[i].pool,
                    system: &systems[i],
                    start: &starts[i],
                    duration: durations[i],
                    guards: &settings[i].guards,
                    options: &options,
                })
                .collect();
            let together = evolve_many(&problems);
            assert_eq!(together.len(), settings.len());
            for (i, together) in together.iter().enumerate() {
                let single = settings[i].run(&starts[i], durations[i], &options);
                match (together, &single) {
                    (Ok(together), Ok(single)) => {
                        assert_eq!(together.time, single.time, "{i} by {method:?}");
                        // Intervals compare by their bounds, so equal states have equal bits.
                        assert_eq!(together.state, single.state, "{i} by {method:?}");
                        assert_eq!(together.failed, single.failed, "{i} by {method:?}");
                        assert_eq!(together.n_steps, single.n_steps, "{i} by {method:?}");
                        let (a, b) = (&together.trajectory, &single.trajectory);
                        assert_eq!(a.n_segments(), b.n_segments(), "{i} by {method:?}");
                        for part in [0.0, 0.3, 0.7, 1.0] {
                            let time = part * a.duration();
                            assert_eq!(a.at(time), b.at(time), "{i} by {method:?}");
                        }
                    }
                    (Err(together), Err(single)) => assert_eq!(together, single),
                    _ => panic!("{i} by {method:?}: {together:?} and {single:?}"),
                }
            }
        }
    }
}

#[test]
fn lanes_equal_single_evolutions_bit_by_bit() {
    // More evolutions than lanes, of different lengths, some of which end by events.
    let n = 37;
    let settings: Vec<Setting> =
        (0..n).map(|i| pendulum(5 + 3 * i, 1 + i % 4, 4 + 7 * (i % 5))).collect();
    let starts: Vec<Vec<Real>> =
        (0..n).map(|i| vec![Real::whole(i % 3 - 1), Real::whole(i % 2)]).collect();
    let durations: Vec<Real> = (0..n).map(|i| Real::whole(1 + i % 7)).collect();
    check_equal(&settings, &starts, &durations);
    let options = EvolveOptions::default();
    let n_events = (0..n as usize)
        .filter(|&i| {
            let evolution = settings[i].run(&starts[i], durations[i], &options);
            !evolution.expect("it evolves").failed.is_empty()
        })
        .count();
    assert!((1..n as usize).contains(&n_events), "{n_events} of {n} end by an event");
}

#[test]
fn lanes_may_hold_other_forms_polynomials_and_errors() {
    let mut pole = Setting::new(1);
    pole.derivative(|pool, v| pool.power_integer(v[0], 2));
    // A coefficient of zero vanishes from the equations, so that their form is another one.
    let settings = vec![pendulum(10, 0, 90), ball(), pole, orbit(), pendulum(10, 2, 90)];
    let starts = vec![
        reals(&["1", "0"]),
        reals(&["20", "0"]),
        reals(&["1"]),
        reals(&["1", "0", "0", "1"]),
        reals(&["1", "0"]),
    ];
    check_equal(&settings, &starts, &[Real::whole(3); 5]);
    assert!(evolve_many(&[]).is_empty());
}
