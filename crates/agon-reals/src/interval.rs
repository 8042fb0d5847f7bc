//! Closed intervals of `f64` with outward rounding.
//!
//! Every operation returns an interval that contains all results of members of its operands
//! (Moore 1966). Sums, products and quotients are widened to the neighbouring number only if the
//! rounded result is inexact. The functions of `libm` are taken to be wrong by at most
//! [`LIBM_ULPS`] units in the last place, which a test checks with arithmetic of twice the
//! precision.
//!
//! A function that is not defined on all members returns the hull of the values where it is
//! defined, and `None` if it is defined nowhere. So `sqrt [-1e-17, 4]` is `[0, 2]`, and division by
//! an interval that contains zero may be unbounded.

use std::hash::{Hash, Hasher};
use std::ops::{Add, Mul, Neg, Sub};

use crate::rational::Rational;

use rounding::{clipped, divided, limit, outward, positive_root, product, sum};

/// Bound of the error of the functions of `libm`, in units in the last place. Its documentation
/// states less than 1.5 for the functions used here.
pub const LIBM_ULPS: u32 = 3;

/// A closed interval. Its ends may be infinite. Invariant of all constructors and operations:
/// `lo <= hi`, and no end is NaN or negative zero.
#[derive(Copy, Clone, Debug)]
pub struct Interval {
    /// The least member.
    pub lo: f64,
    /// The greatest member.
    pub hi: f64,
}

/// Compares the bits of the ends, so that intervals can be keys.
impl PartialEq for Interval {
    fn eq(&self, other: &Interval) -> bool {
        self.lo.to_bits() == other.lo.to_bits() && self.hi.to_bits() == other.hi.to_bits()
    }
}

impl Eq for Interval {}

impl Hash for Interval {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.lo.to_bits().hash(state);
        self.hi.to_bits().hash(state);
    }
}

impl Interval {
    /// The interval that contains only zero.
    pub const ZERO: Interval = Interval { lo: 0.0, hi: 0.0 };
    /// The interval that contains only one.
    pub const ONE: Interval = Interval { lo: 1.0, hi: 1.0 };
    /// The whole line.
    pub const WHOLE: Interval = Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY };

    /// Returns the interval between two numbers; `None` if it would be empty or an end is NaN.
    pub fn new(lo: f64, hi: f64) -> Option<Interval> {
        // Adding zero turns a negative zero into zero.
        (lo <= hi).then_some(Interval { lo: lo + 0.0, hi: hi + 0.0 })
    }

    /// Returns the interval of one number, and the whole line for NaN.
    pub fn point(number: f64) -> Interval {
        Interval::new(number, number).unwrap_or(Interval::WHOLE)
    }

    /// Returns the interval of all numbers that differ from `midpoint` by at most `radius`, rounded
    /// outward. A negative or undefined radius gives the whole line.
    pub fn around(midpoint: f64, radius: f64) -> Interval {
        if radius >= 0.0 {
            Interval::point(midpoint) + Interval { lo: -radius + 0.0, hi: radius + 0.0 }
        } else {
            Interval::WHOLE
        }
    }

    /// Returns the tightest interval that contains a rational number, or one that is at most two
    /// units in the last place wider on each side if the number is far from 1 in magnitude.
    pub fn from_rational(number: Rational) -> Interval {
        let near = number.to_f64();
        let Some(exact) = rational_of(near) else {
            // Three roundings: numerator, denominator, quotient.
            return outward(near, near, 2);
        };
        match exact.cmp(&number) {
            std::cmp::Ordering::Equal => Interval::point(near),
            // `to_f64` may be wrong by more than one unit, so the other end is checked.
            std::cmp::Ordering::Less => {
                let up = near.next_up();
                let covered = rational_of(up).is_some_and(|up| number <= up);
                Interval { lo: near, hi: if covered { up } else { up.next_up() } }
            }
            std::cmp::Ordering::Greater => {
                let down = near.next_down();
                let covered = rational_of(down).is_some_and(|down| down <= number);
                Interval { lo: if covered { down } else { down.next_down() }, hi: near }
            }
        }
    }

    /// Returns a number in the middle. The middle of the whole line is 0.
    pub fn midpoint(self) -> f64 {
        if self.lo == self.hi {
            return self.lo;
        }
        if self.lo == f64::NEG_INFINITY {
            return if self.hi == f64::INFINITY { 0.0 } else { f64::MIN };
        }
        if self.hi == f64::INFINITY {
            return f64::MAX;
        }
        let middle = 0.5 * self.lo + 0.5 * self.hi;
        middle.clamp(self.lo, self.hi) + 0.0
    }

    /// Returns the difference of the ends, rounded up.
    pub fn width(self) -> f64 {
        if self.lo == self.hi { 0.0 } else { (self.hi - self.lo).next_up() }
    }

    /// Returns the greatest distance of a member from the midpoint, rounded up.
    pub fn radius(self) -> f64 {
        if self.lo == self.hi {
            return 0.0;
        }
        let middle = self.midpoint();
        (self.hi - middle).max(middle - self.lo).next_up()
    }

    /// Returns the greatest absolute value of a member.
    pub fn magnitude(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    /// Returns whether both ends are finite.
    pub fn is_finite(self) -> bool {
        self.lo.is_finite() && self.hi.is_finite()
    }

    /// Returns whether a number is a member.
    pub fn contains(self, number: f64) -> bool {
        self.lo <= number && number <= self.hi
    }

    /// Returns whether all members of another interval are members.
    pub fn encloses(self, other: Interval) -> bool {
        self.lo <= other.lo && other.hi <= self.hi
    }

    /// Returns the smallest interval that contains both.
    pub fn hull(self, other: Interval) -> Interval {
        Interval { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }

    /// Returns the common members; `None` if there are none.
    pub fn intersection(self, other: Interval) -> Option<Interval> {
        Interval::new(self.lo.max(other.lo), self.hi.min(other.hi))
    }

    /// Returns the quotients; `None` if the divisor is zero. A divisor with members close to zero
    /// makes the result unbounded.
    // Not the operator, because the result may be missing.
    #[allow(clippy::should_implement_trait)]
    pub fn div(self, other: Interval) -> Option<Interval> {
        if other == Interval::ZERO {
            return None;
        }
        if self == Interval::ZERO {
            return Some(Interval::ZERO);
        }
        if other.lo < 0.0 && other.hi > 0.0 {
            return Some(Interval::WHOLE);
        }
        // A zero end is approached from the side of the other members, so the quotient there is an
        // infinity of the sign that this side gives.
        let quotient = |above: f64, below: f64| {
            if below == 0.0 {
                let sign = if other.hi > 0.0 { 1.0 } else { -1.0 };
                if above == 0.0 { Interval::ZERO } else { limit(above * sign) }
            } else {
                divided(above, below)
            }
        };
        let mut result = quotient(self.lo, other.lo);
        for (above, below) in [(self.lo, other.hi), (self.hi, other.lo), (self.hi, other.hi)] {
            result = result.hull(quotient(above, below));
        }
        Some(result)
    }

    /// Returns the powers with an integer exponent; `None` if the exponent is negative and the base
    /// is zero. `0 ^ 0` is 1.
    pub fn powi(self, exponent: i32) -> Option<Interval> {
        if exponent < 0 {
            return Interval::ONE.div(self.power(exponent.unsigned_abs()));
        }
        Some(self.power(exponent.unsigned_abs()))
    }

    /// Returns the square roots of the members that have one.
    pub fn sqrt(self) -> Option<Interval> {
        self.root(2)
    }

    /// Returns the n-th roots of the members that have one. Odd roots of negative numbers are
    /// negative.
    pub fn root(self, degree: u32) -> Option<Interval> {
        if degree == 0 {
            return None;
        }
        if degree == 1 {
            return Some(self);
        }
        if degree.is_multiple_of(2) {
            let clipped = self.intersection(Interval { lo: 0.0, hi: f64::INFINITY })?;
            Some(Interval {
                lo: positive_root(clipped.lo, degree).lo,
                hi: positive_root(clipped.hi, degree).hi,
            })
        } else {
            let signed = |number: f64| {
                if number < 0.0 {
                    -positive_root(-number, degree)
                } else {
                    positive_root(number, degree)
                }
            };
            Some(Interval { lo: signed(self.lo).lo, hi: signed(self.hi).hi })
        }
    }

    /// Returns the powers with arbitrary exponents, `exp(exponent * ln(base))`, of the members
    /// where they are defined: bases above zero, zero with exponents of at least zero, and any base
    /// with an integer exponent.
    pub fn pow(self, exponent: Interval) -> Option<Interval> {
        if exponent.lo == exponent.hi
            && exponent.lo == libm::trunc(exponent.lo)
            && exponent.lo.abs() <= f64::from(i32::MAX)
        {
            return self.powi(exponent.lo as i32);
        }
        let join = |result: Option<Interval>, more: Interval| {
            Some(result.map_or(more, |result| result.hull(more)))
        };
        let positive = |base: Interval| base.ln().map(|logarithm| (exponent * logarithm).exp());
        let mut result = None;
        if let Some(clipped) = self.intersection(Interval { lo: 0.0, hi: f64::INFINITY }) {
            result = positive(clipped);
            if clipped.lo == 0.0 && exponent.hi > 0.0 {
                result = join(result, Interval::ZERO);
            }
            if clipped.lo == 0.0 && exponent.contains(0.0) {
                result = join(result, Interval::ONE);
            }
        }
        // Powers of negative members with the integers among the exponents, of either sign.
        if self.lo < 0.0
            && libm::floor(exponent.hi) >= exponent.lo
            && let Some(size) = positive(Interval { lo: (-self.hi).max(0.0), hi: -self.lo })
        {
            result = join(join(result, size), -size);
        }
        result
    }

    /// Returns the sines.
    pub fn sin(self) -> Interval {
        // The maxima of the sine are at a quarter of a turn, the minima at three quarters.
        self.wave(libm::sin, 0.25, 0.75)
    }

    /// Returns the cosines.
    pub fn cos(self) -> Interval {
        self.wave(libm::cos, 0.0, 0.5)
    }

    /// Returns the exponentials.
    pub fn exp(self) -> Interval {
        let widened = outward(libm::exp(self.lo), libm::exp(self.hi), LIBM_ULPS);
        let exact = if self == Interval::ZERO { Interval::ONE } else { widened };
        Interval { lo: exact.lo.max(0.0), hi: exact.hi }
    }

    /// Returns the natural logarithms of the positive members; `None` if there are none.
    pub fn ln(self) -> Option<Interval> {
        if self.hi <= 0.0 {
            return None;
        }
        if self == Interval::ONE {
            return Some(Interval::ZERO);
        }
        let lo = if self.lo <= 0.0 { f64::NEG_INFINITY } else { libm::log(self.lo) };
        Some(outward(lo, libm::log(self.hi), LIBM_ULPS))
    }

    /// Returns the absolute values.
    pub fn abs(self) -> Interval {
        if self.lo >= 0.0 {
            self
        } else if self.hi <= 0.0 {
            -self
        } else {
            Interval { lo: 0.0, hi: self.magnitude() }
        }
    }

    /// Returns the lesser of a member of each.
    pub fn min(self, other: Interval) -> Interval {
        Interval { lo: self.lo.min(other.lo), hi: self.hi.min(other.hi) }
    }

    /// Returns the greater of a member of each.
    pub fn max(self, other: Interval) -> Interval {
        Interval { lo: self.lo.max(other.lo), hi: self.hi.max(other.hi) }
    }

    fn power(self, exponent: u32) -> Interval {
        let base = if exponent.is_multiple_of(2) { self.abs() } else { self };
        // Odd powers and powers of absolute values are monotone, so only the ends matter.
        let end = |number: f64| {
            let (mut result, mut square) = (Interval::ONE, Interval::point(number));
            let mut rest = exponent;
            while rest > 0 {
                if rest % 2 == 1 {
                    result = result * square;
                }
                rest /= 2;
                if rest > 0 {
                    square = square * square;
                }
            }
            result
        };
        Interval { lo: end(base.lo).lo, hi: end(base.hi).hi }
    }

    /// Returns the values of a function with period one turn and values in [-1, 1], whose greatest
    /// and least values are at the given fractions of a turn.
    fn wave(self, function: fn(f64) -> f64, maximum: f64, minimum: f64) -> Interval {
        // Beyond this the number of turns is not known well enough.
        if self.magnitude() > 1e9 || self.width() > 7.0 {
            if self.lo == self.hi && self.is_finite() {
                let value = function(self.lo);
                return clipped(outward(value, value, LIBM_ULPS));
            }
            return Interval { lo: -1.0, hi: 1.0 };
        }
        let turn = Interval { lo: std::f64::consts::TAU, hi: std::f64::consts::TAU.next_up() };
        // Conservative: an interval that may contain the place of an extremum gets it.
        let contains = |place: f64| {
            let turns = |number: f64| {
                let number = Interval::point(number).div(turn).unwrap_or(Interval::WHOLE);
                number - Interval::point(place)
            };
            libm::floor(turns(self.lo).lo) < libm::floor(turns(self.hi).hi)
        };
        let (left, right) = (function(self.lo), function(self.hi));
        let mut result = outward(left.min(right), left.max(right), LIBM_ULPS);
        if self.lo == self.hi {
            return if self == Interval::ZERO { Interval::point(left) } else { clipped(result) };
        }
        if contains(maximum) {
            result.hi = 1.0;
        }
        if contains(minimum) {
            result.lo = -1.0;
        }
        clipped(result)
    }
}

impl Neg for Interval {
    type Output = Interval;

    fn neg(self) -> Interval {
        Interval { lo: -self.hi + 0.0, hi: -self.lo + 0.0 }
    }
}

impl Add for Interval {
    type Output = Interval;

    fn add(self, other: Interval) -> Interval {
        Interval { lo: sum(self.lo, other.lo).lo, hi: sum(self.hi, other.hi).hi }
    }
}

impl Sub for Interval {
    type Output = Interval;

    fn sub(self, other: Interval) -> Interval {
        self + -other
    }
}

impl Mul for Interval {
    type Output = Interval;

    fn mul(self, other: Interval) -> Interval {
        let mut result = product(self.lo, other.lo);
        if self.lo == self.hi && other.lo == other.hi {
            return result;
        }
        for (left, right) in [(self.lo, other.hi), (self.hi, other.lo), (self.hi, other.hi)] {
            result = result.hull(product(left, right));
        }
        result
    }
}

/// Returns the rational number that equals a finite `f64`; `None` if it does not fit.
pub fn rational_of(number: f64) -> Option<Rational> {
    if number == 0.0 {
        return Some(Rational::ZERO);
    }
    if !number.is_finite() {
        return None;
    }
    let bits = number.to_bits();
    let biased = ((bits >> 52) & 0x7ff) as i32;
    let fraction = i128::from(bits & ((1 << 52) - 1));
    let (mut mantissa, mut exponent) =
        if biased == 0 { (fraction, -1074) } else { (fraction | (1 << 52), biased - 1075) };
    let zeros = mantissa.trailing_zeros();
    mantissa >>= zeros;
    exponent += zeros as i32;
    let sign = if number < 0.0 { -1 } else { 1 };
    let length = (128 - mantissa.leading_zeros()) as i32;
    if exponent >= 0 {
        (length + exponent <= 126).then(|| Rational::fraction(sign * (mantissa << exponent), 1))?
    } else {
        (exponent >= -126).then(|| Rational::fraction(sign * mantissa, 1i128 << -exponent))?
    }
}

mod rounding;
#[cfg(test)]
mod tests;
