//! The numerical methods against verified enclosures, and events against sampled trajectories.

use agon_testkit::seeded;
use proptest::prelude::*;

use super::*;

const N: usize = 3;

/// A polynomial system: for every variable a list of monomials with coefficients in tenths.
type Monomials = Vec<(i64, [u8; N])>;

fn monomials() -> impl Strategy<Value = Monomials> {
    prop::collection::vec((-9i64..10, prop::array::uniform3(0u8..3)), 1..4)
}

fn build(system: &[Monomials]) -> Setting {
    let mut setting = Setting::new(N as u32);
    for monomials in system {
        setting.derivative(|pool, v| {
            let mut sum = pool.whole(0)?;
            for (tenths, powers) in monomials {
                let coefficient = Rational::fraction(i128::from(*tenths), 10).expect("it fits");
                let mut term = pool.number(coefficient)?;
                for (variable, power) in v.iter().zip(powers) {
                    let factor = pool.power_integer(*variable, i32::from(*power))?;
                    term = pool.multiply(term, factor)?;
                }
                sum = pool.add(sum, term)?;
            }
            Ok(sum)
        });
    }
    setting
}

fn tenths(numbers: [i64; N]) -> Vec<Real> {
    numbers.iter().map(|n| Real::Exact(Rational::fraction(i128::from(*n), 10).unwrap())).collect()
}

proptest! {
    #![proptest_config(seeded(150))]

    #[test]
    fn results_lie_in_verified_enclosures(
        system in prop::collection::vec(monomials(), N),
        start in prop::array::uniform3(-10i64..11),
    ) {
        let setting = build(&system);
        let start = tenths(start);
        let verified = setting.run(&start, real("1/2"), &with(Method::Enclosure));
        // Systems that grow fast have no narrow enclosure.
        let verified = match verified {
            Ok(verified) => verified,
            Err(EvolveError::Undefined { .. } | EvolveError::Steps { .. }) => return Ok(()),
            Err(other) => return Err(TestCaseError::fail(other.to_string())),
        };
        for method in [Method::Auto, Method::DormandPrince, Method::CashKarp] {
            let result = setting.run(&start, real("1/2"), &precise(method));
            let result = result.map_err(|error| TestCaseError::fail(error.to_string()))?;
            for (value, bounds) in result.state.iter().zip(&verified.state) {
                // The methods compute at the rounded start and have errors; the tolerance is far
                // below the allowance.
                let bounds = bounds.to_interval();
                let allowance = 1e-10 * (1.0 + bounds.magnitude());
                prop_assert!(bounds.lo - allowance <= value.midpoint(), "{:?} {}", bounds, value);
                prop_assert!(value.midpoint() <= bounds.hi + allowance, "{:?} {}", bounds, value);
                prop_assert!(bounds.width() < 1e-4 * (1.0 + bounds.magnitude()));
            }
        }
    }

    #[test]
    fn exact_solutions_lie_in_verified_enclosures(
        heights in prop::array::uniform3(-10i64..11),
        duration in 1i64..40,
    ) {
        // x' = y, y' = z + t, z' = 2: cubic in time.
        let mut setting = Setting::new(3);
        setting.derivative(|_, v| Ok(v[1]));
        setting.derivative(|pool, v| {
            let time = pool.time()?;
            pool.add(v[2], time)
        });
        setting.derivative(|pool, _| pool.whole(2));
        let start = tenths(heights);
        let duration = Real::Exact(Rational::fraction(i128::from(duration), 10).unwrap());
        let exact = setting.run(&start, duration, &with(Method::Polynomial)).unwrap();
        let verified = setting.run(&start, duration, &with(Method::Enclosure)).unwrap();
        for (exact, verified) in exact.state.iter().zip(&verified.state) {
            prop_assert!(exact.is_exact());
            prop_assert!(verified.to_interval().encloses(exact.to_interval()));
        }
    }

    /// Events of random guards against a fine sampling of the closed form.
    #[test]
    fn first_failures_agree_with_sampling(
        amplitude in 1i64..20, phase in -10i64..11, bounds in prop::array::uniform3(-15i64..16),
        shape in 0usize..4,
    ) {
        let mut setting = oscillator();
        setting.guard(|pool, v| {
            let mut side = |variable: usize, tenths: i64| {
                let bound = pool.number(Rational::fraction(i128::from(tenths), 10).unwrap())?;
                pool.less(v[variable], bound)
            };
            let (a, b, c) = (side(0, bounds[0])?, side(1, bounds[1])?, side(0, bounds[2])?);
            match shape {
                0 => Ok(a),
                1 => pool.and(a, b),
                2 => pool.or(a, b),
                _ => {
                    let opposite = pool.not(c)?;
                    let both = pool.and(b, opposite)?;
                    pool.or(a, both)
                }
            }
        });
        let start = [amplitude as f64 / 10.0, phase as f64 / 10.0];
        let at = |time: f64| {
            let (sine, cosine) = (libm::sin(time), libm::cos(time));
            [start[0] * cosine + start[1] * sine, start[1] * cosine - start[0] * sine]
        };
        let holds = |time: f64| {
            let bound = |index: usize| bounds[index] as f64 / 10.0;
            let [x, y] = at(time);
            let (a, b, c) = (x < bound(0), y < bound(1), x < bound(2));
            match shape {
                0 => a,
                1 => a && b,
                2 => a || b,
                _ => a || (b && !c),
            }
        };
        // Near a bound the sampling cannot decide.
        let doubtful = |time: f64, margin: f64| {
            let [x, y] = at(time);
            [(x, 0), (y, 1), (x, 2)]
                .iter()
                .any(|(value, index)| (value - bounds[*index] as f64 / 10.0).abs() < margin)
        };
        prop_assume!(!doubtful(0.0, 1e-9));
        let start = start.map(|value| Real::Interval(Interval::point(value)));
        let result = setting.run(&start, real("7"), &with(Method::Auto)).unwrap();
        let sample = |index: u32| f64::from(index) * 7.0 / 7000.0;
        let first = (0..=7000).map(sample).find(|time| !holds(*time));
        let end = result.time.midpoint();
        match first {
            Some(first) => {
                prop_assert_eq!(&result.failed, &vec![0]);
                prop_assert!(end <= first + 1e-9, "{} after {}", end, first);
            }
            None => prop_assert!(result.failed.is_empty() || doubtful(end, 1e-8)),
        }
        // At the event some comparison changes; before it the guard holds wherever it is clear.
        if !result.failed.is_empty() && end > 0.0 {
            prop_assert!(doubtful(end, 1e-8), "{}", end);
        }
        for index in 0..7000 {
            let time = sample(index);
            prop_assert!(time >= end || holds(time) || doubtful(time, 1e-8), "{} {}", time, end);
        }
    }

    #[test]
    fn verified_events_contain_the_computed_ones(speed in 1i64..60, height in 0i64..50) {
        let start = [height, speed].map(|n| Real::Exact(Rational::fraction(i128::from(n), 10).unwrap()));
        let verified = ball().run(&start, real("100"), &with(Method::Enclosure)).unwrap();
        prop_assert_eq!(&verified.failed, &vec![0]);
        for method in [Method::Polynomial, Method::DormandPrince] {
            let result = ball().run(&start, real("100"), &with(method)).unwrap();
            let bounds = verified.time.to_interval();
            prop_assert!(bounds.width() < 1e-9, "{:?}", bounds);
            let allowance = 1e-12;
            prop_assert!(bounds.lo - allowance <= result.time.midpoint());
            prop_assert!(result.time.midpoint() <= bounds.hi + allowance);
        }
    }
}

#[test]
fn enclosures_decide_guards_at_the_start_too() {
    let around_zero = Real::Interval(Interval::around(0.0, 1e-17));
    for (speed, time) in [("5", 1.0), ("-5", 0.0), ("0", 0.0)] {
        let result = ball().run(&[around_zero, real(speed)], real("7"), &with(Method::Enclosure));
        let result = result.unwrap_or_else(|error| panic!("speed {speed}: {error}"));
        assert_eq!(result.failed, [0], "{speed}");
        assert!((result.time.midpoint() - time).abs() < 1e-9, "{speed} {:?}", result.time);
    }
}
