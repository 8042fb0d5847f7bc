//! Reals stay exact while they can, and their texts can be read back.

use agon_testkit::seeded;
use proptest::prelude::*;

use super::*;

fn real(text: &str) -> Real {
    text.parse().expect("a number")
}

fn any_real() -> impl Strategy<Value = Real> {
    prop_oneof![
        (any::<i64>(), 1i64..i64::MAX).prop_map(|(above, below)| Real::Exact(
            Rational::fraction(i128::from(above), i128::from(below)).expect("it fits")
        )),
        (-1e9..1e9f64, 0.0..1e-3f64)
            .prop_map(|(middle, radius)| Real::Interval(Interval::around(middle, radius))),
        any::<f64>().prop_filter("a number", |number| !number.is_nan()).prop_map(Real::from_f64),
    ]
}

proptest! {
    #![proptest_config(seeded(500))]

    #[test]
    fn arithmetic_contains_that_of_intervals_and_is_exact_if_it_fits(
        a in any_real(), b in any_real(),
    ) {
        for (result, interval) in [
            (a + b, a.to_interval() + b.to_interval()),
            (a - b, a.to_interval() - b.to_interval()),
            (a * b, a.to_interval() * b.to_interval()),
        ] {
            // The interval of an exact result may stick out by its own rounding only.
            let result = result.to_interval();
            prop_assert!(interval.intersection(result).is_some());
            prop_assert!(result.width() <= interval.width() + 4.0 * f64::EPSILON * result.magnitude()
                || !interval.is_finite());
        }
        if let (Some(left), Some(right)) = (a.exact(), b.exact())
            && let Ok(sum) = left.plus(right)
        {
            prop_assert_eq!(a + b, Real::Exact(sum));
        }
    }

    #[test]
    fn texts_of_records_are_read_back(number in any_real()) {
        prop_assert_eq!(Real::from_bits_text(&number.to_bits_text()), Ok(number));
    }

    #[test]
    fn printed_numbers_lie_in_the_interval(number in any_real()) {
        let read: Real = number.to_string().parse().expect("printed numbers can be read");
        prop_assert!(number.to_interval().intersection(read.to_interval()).is_some());
        if number.is_exact() {
            prop_assert_eq!(read, number);
        }
    }

    #[test]
    fn certainly_less_is_an_order(a in any_real(), b in any_real()) {
        prop_assert!(!(Real::certainly_less(&a, &b) && Real::certainly_less(&b, &a)));
        prop_assert!(!Real::certainly_less(&a, &a));
    }

    #[test]
    fn roots_of_powers_are_exact(base in 0i64..100_000, below in 1i64..1000, degree in 1u32..4) {
        let number = Rational::fraction(i128::from(base), i128::from(below)).unwrap();
        let power = Real::Exact(number).powi(degree as i32).unwrap();
        prop_assume!(power.is_exact());
        prop_assert_eq!(power.root(degree), Some(Real::Exact(number)));
    }
}

#[test]
fn exact_numbers_become_intervals_when_they_do_not_fit() {
    let large = Real::Exact(Rational::fraction(i128::MAX, 3).expect("it fits"));
    let product = large * large;
    assert!(!product.is_exact());
    let expected = libm::pow(large.midpoint(), 2.0);
    assert!((product.midpoint() / expected - 1.0).abs() < 1e-15);
    let shrunk = large.shrunk();
    assert!(!shrunk.is_exact() && shrunk.to_interval().contains(large.midpoint()));
    assert_eq!(real("1/3").shrunk(), real("1/3"));
}

#[test]
fn functions_of_simple_numbers_are_exact() {
    assert_eq!(real("16/9").sqrt(), Some(real("4/3")));
    assert_eq!(real("-8").root(3), Some(real("-2")));
    assert_eq!(real("-4").sqrt(), None);
    assert_eq!(real("8").pow(real("2/3")), Some(real("4")));
    assert_eq!(real("0").sin(), real("0"));
    assert_eq!(real("0").exp(), real("1"));
    assert_eq!(real("1").ln(), Some(real("0")));
    assert!(!real("2").sqrt().unwrap().is_exact());
    assert_eq!(real("1").div(real("0")), None);
    assert_eq!(real("0").powi(-1), None);
    assert_eq!(real("3").min(real("1/2")), real("1/2"));
}

#[test]
fn narrow_intervals_print_as_one_number() {
    assert_eq!(real("0.25").to_string(), "0.25");
    assert_eq!(Real::Interval(Interval::around(0.0, 1e-17)).to_string(), "0");
    assert_eq!(real("2").sqrt().unwrap().to_string(), "1.414213562373095");
    assert_eq!(Real::Interval(Interval { lo: 1.0, hi: 2.0 }).to_string(), "[1, 2]");
    assert_eq!(Real::Interval(Interval::point(0.1)).to_string(), "0.1");
    for wrong in ["", "x", "nan", "[2, 1]", "[1]", "1//2", "--1"] {
        assert_eq!(wrong.parse::<Real>(), Err(ParseRealError), "{wrong}");
    }
    for wrong in ["", "..", "7ff8000000000000..7ff8000000000000", "3ff..3ff"] {
        assert_eq!(Real::from_bits_text(wrong), Err(ParseRealError), "{wrong}");
    }
}
