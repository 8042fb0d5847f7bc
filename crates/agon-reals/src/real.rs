//! Real numbers as programs know them: exact while that is possible, otherwise an interval.
//!
//! Arithmetic on exact numbers stays exact while the result fits into 128 bits. Otherwise the
//! result is an interval that contains it. Functions of exact numbers stay exact where the result
//! is rational and easily recognised: roots of perfect powers, `sin 0`, `exp 0`, `ln 1`.

use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};
use std::str::FromStr;

use crate::interval::{Interval, rational_of};
use crate::rational::Rational;

/// A real number.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Real {
    /// A number that is known exactly.
    Exact(Rational),
    /// A number that lies in an interval.
    Interval(Interval),
}

/// Largest size of the numerator and the denominator of numbers that [`Real::shrunk`] leaves as
/// they are.
const SHRUNK_BITS: u32 = 52;

impl Real {
    /// Zero.
    pub const ZERO: Real = Real::Exact(Rational::ZERO);
    /// One.
    pub const ONE: Real = Real::Exact(Rational::ONE);

    /// Returns an integer.
    pub fn whole(number: i64) -> Real {
        Real::Exact(Rational::whole(number))
    }

    /// Returns the exact number that equals an `f64` if it fits, and otherwise the interval of this
    /// one number. NaN gives the whole line.
    pub fn from_f64(number: f64) -> Real {
        rational_of(number).map_or(Real::Interval(Interval::point(number)), Real::Exact)
    }

    /// Returns whether the number is known exactly.
    pub fn is_exact(&self) -> bool {
        matches!(self, Real::Exact(_))
    }

    /// Returns the exact number; `None` if only an interval is known.
    pub fn exact(&self) -> Option<Rational> {
        match self {
            Real::Exact(number) => Some(*number),
            Real::Interval(_) => None,
        }
    }

    /// Returns an interval that contains the number.
    pub fn to_interval(&self) -> Interval {
        match self {
            Real::Exact(number) => Interval::from_rational(*number),
            Real::Interval(interval) => *interval,
        }
    }

    /// Returns the middle of the interval, or the nearest number to an exact one.
    pub fn midpoint(&self) -> f64 {
        match self {
            Real::Exact(number) => number.to_f64(),
            Real::Interval(interval) => interval.midpoint(),
        }
    }

    /// Returns the radius of the interval, and 0 if the number is exact.
    pub fn radius(&self) -> f64 {
        match self {
            Real::Exact(_) => 0.0,
            Real::Interval(interval) => interval.radius(),
        }
    }

    /// Returns whether the number may be zero.
    pub fn may_be_zero(&self) -> bool {
        match self {
            Real::Exact(number) => *number == Rational::ZERO,
            Real::Interval(interval) => interval.contains(0.0),
        }
    }

    /// Returns whether the first number is less than the second whatever their intervals hide: the
    /// upper bound of the first is below the lower bound of the second.
    pub fn certainly_less(left: &Real, right: &Real) -> bool {
        match (left, right) {
            (Real::Exact(left), Real::Exact(right)) => left < right,
            _ => left.to_interval().hi < right.to_interval().lo,
        }
    }

    /// Returns the number, as an interval if its numerator or denominator needs more than 52 bits.
    /// Positions of games do this after every evolution, so that exact numbers do not grow until
    /// arithmetic on them is slow.
    pub fn shrunk(self) -> Real {
        let bits = |part: i128| 128 - part.unsigned_abs().leading_zeros();
        match self {
            Real::Exact(number)
                if bits(number.numerator()).max(bits(number.denominator())) > SHRUNK_BITS =>
            {
                Real::Interval(Interval::from_rational(number))
            }
            same => same,
        }
    }

    /// Returns the quotient; `None` if the divisor is zero.
    // Not the operator, because the result may be missing.
    #[allow(clippy::should_implement_trait)]
    pub fn div(self, other: Real) -> Option<Real> {
        if let (Real::Exact(left), Real::Exact(right)) = (self, other) {
            match left.divided_by(right) {
                Ok(quotient) => return quotient.map(Real::Exact),
                Err(_too_large) => {}
            }
        }
        self.to_interval().div(other.to_interval()).map(Real::Interval)
    }

    /// Returns the power with an integer exponent; `None` if the exponent is negative and the base
    /// is zero.
    pub fn powi(self, exponent: i32) -> Option<Real> {
        if let Real::Exact(base) = self
            && let Ok(power) = base.power(Rational::whole(i64::from(exponent)))
        {
            return power.map(Real::Exact);
        }
        self.to_interval().powi(exponent).map(Real::Interval)
    }

    /// Returns the power with an arbitrary exponent; `None` where it is undefined. See
    /// [`Interval::pow`].
    pub fn pow(self, exponent: Real) -> Option<Real> {
        if let Real::Exact(exponent) = exponent {
            if let Some(whole) =
                exponent.is_whole().then(|| i32::try_from(exponent.numerator()).ok()).flatten()
            {
                return self.powi(whole);
            }
            // A fraction p/q: the q-th root of the p-th power, if that stays exact.
            if let (Real::Exact(base), Ok(above), Ok(below)) =
                (self, i32::try_from(exponent.numerator()), u32::try_from(exponent.denominator()))
                && base.signum() >= 0
                && let Some(Real::Exact(root)) = self.root(below)
                && let Some(Real::Exact(power)) = Real::Exact(root).powi(above)
            {
                return Some(Real::Exact(power));
            }
        }
        self.to_interval().pow(exponent.to_interval()).map(Real::Interval)
    }

    /// Returns the square root; `None` if the number is certainly negative.
    pub fn sqrt(self) -> Option<Real> {
        self.root(2)
    }

    /// Returns the n-th root; `None` if the degree is zero, or even and the number negative. Roots
    /// of perfect powers stay exact.
    pub fn root(self, degree: u32) -> Option<Real> {
        if let Real::Exact(number) = self {
            let part = |part: i128| perfect_root(part.unsigned_abs(), degree);
            if (number.signum() >= 0 || degree % 2 == 1)
                && let (Some(above), Some(below)) =
                    (part(number.numerator()), part(number.denominator()))
            {
                let above = above as i128 * i128::from(number.signum());
                return Rational::fraction(above, below as i128).map(Real::Exact);
            }
        }
        self.to_interval().root(degree).map(Real::Interval)
    }

    /// Returns the sine.
    pub fn sin(self) -> Real {
        self.function(Real::ZERO, Real::ZERO, Interval::sin)
    }

    /// Returns the cosine.
    pub fn cos(self) -> Real {
        self.function(Real::ZERO, Real::ONE, Interval::cos)
    }

    /// Returns the exponential.
    pub fn exp(self) -> Real {
        self.function(Real::ZERO, Real::ONE, Interval::exp)
    }

    /// Returns the natural logarithm; `None` if the number is certainly not positive.
    pub fn ln(self) -> Option<Real> {
        if self == Real::ONE {
            Some(Real::ZERO)
        } else {
            self.to_interval().ln().map(Real::Interval)
        }
    }

    /// Returns the absolute value.
    pub fn abs(self) -> Real {
        match self {
            Real::Exact(number) if number.signum() < 0 => Real::Exact(number.negated()),
            Real::Exact(number) => Real::Exact(number),
            Real::Interval(interval) => Real::Interval(interval.abs()),
        }
    }

    /// Returns the lesser number.
    pub fn min(self, other: Real) -> Real {
        if Real::certainly_less(&self, &other) {
            return self;
        }
        if Real::certainly_less(&other, &self) || self == other {
            return other;
        }
        Real::Interval(self.to_interval().min(other.to_interval()))
    }

    /// Returns the greater number.
    pub fn max(self, other: Real) -> Real {
        if Real::certainly_less(&self, &other) {
            return other;
        }
        if Real::certainly_less(&other, &self) || self == other {
            return self;
        }
        Real::Interval(self.to_interval().max(other.to_interval()))
    }

    /// Returns a text that [`Real::from_bits_text`] reads back as the same number: `-1/3` for an
    /// exact one, and the bits of both ends in hexadecimal for an interval.
    pub fn to_bits_text(&self) -> String {
        match self {
            Real::Exact(number) if number.is_whole() => number.numerator().to_string(),
            Real::Exact(number) => format!("{}/{}", number.numerator(), number.denominator()),
            Real::Interval(ends) => {
                format!("{:016x}..{:016x}", ends.lo.to_bits(), ends.hi.to_bits())
            }
        }
    }

    /// Reads the text of [`Real::to_bits_text`].
    ///
    /// # Errors
    /// If the text is not of this form, or not an interval.
    pub fn from_bits_text(text: &str) -> Result<Real, ParseRealError> {
        let Some((lo, hi)) = text.split_once("..") else {
            return text.parse().map(Real::Exact).map_err(|_| ParseRealError);
        };
        let end = |digits: &str| {
            if digits.len() != 16 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(ParseRealError);
            }
            u64::from_str_radix(digits, 16).map(f64::from_bits).map_err(|_| ParseRealError)
        };
        Interval::new(end(lo)?, end(hi)?).map(Real::Interval).ok_or(ParseRealError)
    }

    fn function(self, place: Real, value: Real, apply: fn(Interval) -> Interval) -> Real {
        if self == place { value } else { Real::Interval(apply(self.to_interval())) }
    }
}

impl From<Rational> for Real {
    fn from(number: Rational) -> Real {
        Real::Exact(number)
    }
}

impl From<Interval> for Real {
    fn from(interval: Interval) -> Real {
        Real::Interval(interval)
    }
}

impl Neg for Real {
    type Output = Real;

    fn neg(self) -> Real {
        match self {
            Real::Exact(number) => Real::Exact(number.negated()),
            Real::Interval(interval) => Real::Interval(-interval),
        }
    }
}

impl Add for Real {
    type Output = Real;

    fn add(self, other: Real) -> Real {
        match (self, other) {
            (Real::Exact(left), Real::Exact(right)) => {
                if let Ok(sum) = left.plus(right) {
                    return Real::Exact(sum);
                }
            }
            // Zero changes nothing, and an exact zero is not rounded.
            (Real::Exact(zero), rest) | (rest, Real::Exact(zero)) if zero == Rational::ZERO => {
                return rest;
            }
            _ => {}
        }
        Real::Interval(self.to_interval() + other.to_interval())
    }
}

impl Sub for Real {
    type Output = Real;

    fn sub(self, other: Real) -> Real {
        self + -other
    }
}

impl Mul for Real {
    type Output = Real;

    fn mul(self, other: Real) -> Real {
        match (self, other) {
            (Real::Exact(left), Real::Exact(right)) => {
                if let Ok(product) = left.times(right) {
                    return Real::Exact(product);
                }
            }
            (Real::Exact(zero), _) | (_, Real::Exact(zero)) if zero == Rational::ZERO => {
                return Real::ZERO;
            }
            _ => {}
        }
        Real::Interval(self.to_interval() * other.to_interval())
    }
}

/// Prints an exact number as [`Rational`] does. Prints a narrow interval as the shortest decimal
/// near its middle that lies in it, and a wide one as `[lo, hi]`.
impl fmt::Display for Real {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let interval = match self {
            Real::Exact(number) => return write!(f, "{number}"),
            Real::Interval(interval) => *interval,
        };
        let middle = interval.midpoint();
        if interval.lo == interval.hi {
            return write!(f, "{middle}");
        }
        // An interval that is wider than six digits is shown with its ends, because a single number
        // would hide how little is known.
        if interval.width() > 1e-6 * middle.abs().max(1.0) {
            return write!(f, "[{}, {}]", interval.lo, interval.hi);
        }
        for places in 0..=17 {
            let text = format!("{middle:.places$}");
            if text.parse().is_ok_and(|number: f64| interval.contains(number)) {
                let text = if text == "-0" { "0" } else { &text };
                return write!(f, "{text}");
            }
        }
        write!(f, "{middle}")
    }
}

/// The error that a text is not a real number.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ParseRealError;

impl fmt::Display for ParseRealError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a real number")
    }
}

impl std::error::Error for ParseRealError {}

/// Parses the forms of [`Rational`], decimals with exponents, and `[lo, hi]`. A decimal that does
/// not fit into 128 bits becomes the interval between the neighbours of the nearest `f64`.
impl FromStr for Real {
    type Err = ParseRealError;

    fn from_str(text: &str) -> Result<Real, ParseRealError> {
        if let Ok(number) = text.parse() {
            return Ok(Real::Exact(number));
        }
        let decimal = |text: &str| -> Result<f64, ParseRealError> {
            // `f64` also parses `nan` and `infinity`.
            if !text.bytes().any(|byte| byte.is_ascii_digit()) && !text.ends_with("inf") {
                return Err(ParseRealError);
            }
            text.parse().map_err(|_| ParseRealError)
        };
        if let Some(ends) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let (lo, hi) = ends.split_once(',').ok_or(ParseRealError)?;
            let (lo, hi) = (decimal(lo.trim())?, decimal(hi.trim())?);
            return Interval::new(lo, hi).map(Real::Interval).ok_or(ParseRealError);
        }
        let near = decimal(text)?;
        Interval::new(near.next_down(), near.next_up()).map(Real::Interval).ok_or(ParseRealError)
    }
}

/// Returns the integer whose power with a positive exponent is `number`; `None` if there is none.
fn perfect_root(number: u128, degree: u32) -> Option<u128> {
    if degree == 0 {
        return None;
    }
    if number <= 1 || degree == 1 {
        return Some(number);
    }
    if degree >= 128 {
        return None;
    }
    // Binary search: the root has at most one bit for every `degree` bits of the number.
    let (mut below, mut above) = (1u128, 1u128 << (128 / degree + 1).min(127));
    while below < above {
        let middle = below + (above - below).div_ceil(2);
        if middle.checked_pow(degree).is_some_and(|power| power <= number) {
            below = middle;
        } else {
            above = middle - 1;
        }
    }
    (below.checked_pow(degree) == Some(number)).then_some(below)
}

#[cfg(test)]
mod tests;
