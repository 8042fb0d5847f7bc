//! Intervals contain the true results: exact rationals, and functions in twice the precision.

use agon_testkit::seeded;
use proptest::prelude::*;

use super::*;

/// A number as the unevaluated sum of two, with about 106 bits (Dekker 1971).
#[derive(Copy, Clone, Debug)]
struct Double(f64, f64);

impl Double {
    fn sum(left: f64, right: f64) -> Double {
        let near = left + right;
        let shadow = near - left;
        Double(near, (left - (near - shadow)) + (right - shadow))
    }

    fn plus(self, other: Double) -> Double {
        let Double(near, error) = Double::sum(self.0, other.0);
        Double::sum(near, error + self.1 + other.1)
    }

    fn times(self, other: Double) -> Double {
        let near = self.0 * other.0;
        let error = self.0.mul_add(other.0, -near) + self.0 * other.1 + self.1 * other.0;
        Double::sum(near, error)
    }

    fn over(self, divisor: f64) -> Double {
        let near = self.0 / divisor;
        let rest = (-near).mul_add(divisor, self.0) + self.1;
        Double::sum(near, rest / divisor)
    }

    fn negated(self) -> Double {
        Double(-self.0, -self.1)
    }

    /// The exponential, as a power of that of a small number.
    fn exp(self) -> Double {
        let halvings = 16;
        let small = self.over(f64::from(1u32 << halvings));
        let (mut sum, mut term) = (Double(1.0, 0.0), Double(1.0, 0.0));
        for power in 1..20 {
            term = term.times(small).over(f64::from(power));
            sum = sum.plus(term);
        }
        for _ in 0..halvings {
            sum = sum.times(sum);
        }
        sum
    }

    /// Cosine and sine, as a power of a complex number near one.
    fn turn(self) -> (Double, Double) {
        let halvings = 16;
        let small = self.over(f64::from(1u32 << halvings));
        let (mut cosine, mut sine) = (Double(0.0, 0.0), Double(0.0, 0.0));
        let mut term = Double(1.0, 0.0);
        for power in 0..20 {
            match power % 4 {
                0 => cosine = cosine.plus(term),
                1 => sine = sine.plus(term),
                2 => cosine = cosine.plus(term.negated()),
                _ => sine = sine.plus(term.negated()),
            }
            term = term.times(small).over(f64::from(power + 1));
        }
        for _ in 0..halvings {
            let product = cosine.times(sine);
            cosine = cosine.times(cosine).plus(sine.times(sine).negated());
            sine = product.plus(product);
        }
        (cosine, sine)
    }

    /// The logarithm, by Newton's iteration on the exponential.
    fn ln(number: f64) -> Double {
        let mut result = Double(libm::log(number), 0.0);
        for _ in 0..2 {
            let ratio = Double(number, 0.0).times(result.negated().exp());
            result = result.plus(ratio.plus(Double(-1.0, 0.0)));
        }
        result
    }
}

fn encloses(interval: Interval, number: Double) -> bool {
    let below = Double::sum(interval.lo, -number.0);
    let above = Double::sum(interval.hi, -number.0);
    below.0 + (below.1 - number.1) <= 0.0 && above.0 + (above.1 - number.1) >= 0.0
}

fn contains_exactly(interval: Interval, number: Rational) -> bool {
    let (lo, hi) = (rational_of(interval.lo), rational_of(interval.hi));
    lo.is_some_and(|lo| lo <= number) && hi.is_some_and(|hi| number <= hi)
}

fn fraction() -> impl Strategy<Value = Rational> {
    (-1_000_000i128..1_000_000, 1i128..100_000)
        .prop_map(|(above, below)| Rational::fraction(above, below).expect("it fits"))
}

/// An interval and a number inside it.
fn with_member() -> impl Strategy<Value = (Interval, Rational)> {
    (fraction(), fraction(), fraction()).prop_map(|(first, second, third)| {
        let mut all = [first, second, third];
        all.sort();
        let ends = Interval::from_rational(all[0]).hull(Interval::from_rational(all[2]));
        (ends, all[1])
    })
}

proptest! {
    #![proptest_config(seeded(500))]

    #[test]
    fn rational_numbers_are_enclosed_tightly(number in fraction()) {
        let interval = Interval::from_rational(number);
        prop_assert!(contains_exactly(interval, number));
        prop_assert!(interval.lo == interval.hi || interval.lo.next_up() == interval.hi);
    }

    #[test]
    fn arithmetic_contains_exact_results((a, x) in with_member(), (b, y) in with_member()) {
        prop_assert!(contains_exactly(a + b, x.plus(y).unwrap()));
        prop_assert!(contains_exactly(a - b, x.minus(y).unwrap()));
        prop_assert!(contains_exactly(a * b, x.times(y).unwrap()));
        prop_assert!(contains_exactly(-a, x.negated()));
        prop_assert!(contains_exactly(a.min(b), x.min(y)));
        prop_assert!(contains_exactly(a.max(b), x.max(y)));
        if let Some(quotient) = x.divided_by(y).unwrap() {
            let quotients = a.div(b).expect("some divisor is not zero");
            if quotients.is_finite() {
                prop_assert!(contains_exactly(quotients, quotient));
            } else {
                prop_assert!(b.contains(0.0));
            }
        }
        for exponent in 0..4 {
            let power = x.power(Rational::whole(i64::from(exponent))).unwrap().unwrap();
            prop_assert!(contains_exactly(a.powi(exponent).unwrap(), power));
        }
    }

    #[test]
    fn point_arithmetic_is_tight(x in -1e6..1e6f64, y in -1e6..1e6f64) {
        let (a, b) = (Interval::point(x), Interval::point(y));
        for result in [a + b, a - b, a * b, a.div(b).unwrap_or(Interval::ZERO)] {
            prop_assert!(result.lo == result.hi || result.lo.next_up() == result.hi);
        }
    }

    #[test]
    fn roots_enclose_what_their_powers_enclose(number in 0.0..1e12f64, degree in 1u32..12) {
        let root = Interval::point(number).root(degree).unwrap();
        prop_assert!(root.powi(degree as i32).unwrap().contains(number));
        prop_assert!(root.width() <= 16.0 * f64::EPSILON * root.hi);
        let mirrored = Interval::point(-number).root(degree);
        if degree % 2 == 1 {
            prop_assert_eq!(mirrored, Some(-root));
        } else if number > 0.0 {
            prop_assert_eq!(mirrored, None);
        }
    }

    #[test]
    fn functions_contain_values_of_twice_the_precision(x in -600.0..600.0f64, y in 1e-9..1e9f64) {
        let point = Interval::point(x);
        let (cosine, sine) = Double(x, 0.0).turn();
        prop_assert!(encloses(point.exp(), Double(x, 0.0).exp()));
        prop_assert!(encloses(point.sin(), sine));
        prop_assert!(encloses(point.cos(), cosine));
        prop_assert!(encloses(Interval::point(y).ln().unwrap(), Double::ln(y)));
        prop_assert!(point.exp().width() <= 8.0 * f64::EPSILON * point.exp().hi);
    }

    #[test]
    fn functions_of_intervals_contain_those_of_members(
        lo in -20.0..20.0f64, width in 0.0..9.0f64, part in 0.0..1.0f64, exponent in -3.0..3.0f64,
    ) {
        let interval = Interval { lo, hi: lo + width };
        let member = Interval::point((lo + part * width).min(interval.hi));
        prop_assert!(interval.sin().encloses(member.sin()) || member.sin().width() > 0.0);
        let middle = |values: Interval| values.midpoint();
        prop_assert!(interval.sin().contains(middle(member.sin())));
        prop_assert!(interval.cos().contains(middle(member.cos())));
        prop_assert!(interval.exp().contains(middle(member.exp())));
        prop_assert!(interval.abs().contains(middle(member.abs())));
        let exponent = Interval::point(exponent);
        for (all, one) in [
            (interval.ln(), member.ln()),
            (interval.sqrt(), member.sqrt()),
            (interval.pow(exponent), member.pow(exponent)),
        ] {
            if let Some(one) = one {
                prop_assert!(all.is_some_and(|all| all.contains(middle(one))));
            }
        }
    }
}

#[test]
fn partial_functions_have_the_values_of_the_defined_members() {
    let around = Interval { lo: -1.0, hi: 4.0 };
    assert_eq!(around.sqrt(), Interval::new(0.0, 2.0));
    assert_eq!(Interval::point(-1.0).sqrt(), None);
    assert_eq!(Interval::ONE.div(Interval::ZERO), None);
    assert_eq!(Interval::ONE.div(around), Some(Interval::WHOLE));
    assert_eq!(Interval::ONE.div(Interval { lo: 0.0, hi: 2.0 }).unwrap().lo, 0.5);
    assert_eq!(Interval::point(-1.0).ln(), None);
    assert_eq!(Interval { lo: 0.0, hi: 1.0 }.ln().unwrap().lo, f64::NEG_INFINITY);
    assert_eq!(Interval::point(-8.0).root(3), Some(Interval::point(-2.0)));
    assert_eq!(Interval::point(-2.0).pow(Interval::point(3.0)), Some(Interval::point(-8.0)));
}

#[test]
fn overflow_gives_unbounded_intervals() {
    let large = Interval::point(1e300);
    assert_eq!((large * large).hi, f64::INFINITY);
    assert!((large * large).lo >= 1e300);
    assert_eq!((large - large), Interval::ZERO);
    assert_eq!(Interval::WHOLE + Interval::ONE, Interval::WHOLE);
    assert_eq!(Interval::WHOLE * Interval::ZERO, Interval::ZERO);
    assert_eq!(Interval::new(1.0, f64::NAN), None);
    assert_eq!(Interval::point(f64::NAN), Interval::WHOLE);
}

#[test]
fn extrema_of_sine_and_cosine_are_included() {
    let from_one_to_two = Interval { lo: 1.0, hi: 2.0 };
    assert_eq!(from_one_to_two.sin().hi, 1.0);
    assert!(from_one_to_two.sin().lo > 0.84);
    assert_eq!(Interval { lo: -0.1, hi: 0.1 }.cos().hi, 1.0);
    assert_eq!(Interval { lo: 3.0, hi: 3.3 }.cos().lo, -1.0);
    assert_eq!(Interval { lo: 0.0, hi: 100.0 }.cos(), Interval { lo: -1.0, hi: 1.0 });
}
