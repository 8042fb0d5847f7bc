//! Exact rational numbers of bounded size.
//!
//! Numerator and denominator have 128 bits each, so numbers are copied and compared without
//! touching the heap. This matters because terms are evaluated once per assignment, in the
//! innermost loop of a search. Results that do not fit are reported ([`TooLarge`]) and never
//! rounded. Numbers of arbitrary size would make every payoff slower for sums that no game has.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A rational number. Invariant: the denominator is positive and shares no factor with the
/// numerator, so equal numbers have equal fields.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct Rational {
    numerator: i128,
    denominator: i128,
}

/// The error that a number does not fit into a numerator and denominator of 128 bits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number grew beyond 128 bits")
    }
}

impl std::error::Error for TooLarge {}

impl Rational {
    /// Zero.
    pub const ZERO: Rational = Rational { numerator: 0, denominator: 1 };
    /// One.
    pub const ONE: Rational = Rational { numerator: 1, denominator: 1 };

    /// Returns an integer.
    pub fn whole(number: i64) -> Rational {
        Rational { numerator: i128::from(number), denominator: 1 }
    }

    /// Returns a fraction in lowest terms; `None` if the denominator is zero or the result does not
    /// fit.
    pub fn fraction(numerator: i128, denominator: i128) -> Option<Rational> {
        if denominator == 0 || numerator == i128::MIN || denominator == i128::MIN {
            return None;
        }
        let divisor = common_divisor(numerator.unsigned_abs(), denominator.unsigned_abs()) as i128;
        let sign = denominator.signum();
        Some(Rational {
            numerator: sign * numerator / divisor,
            denominator: sign * denominator / divisor,
        })
    }

    /// Returns the numerator.
    pub fn numerator(self) -> i128 {
        self.numerator
    }

    /// Returns the denominator, which is positive.
    pub fn denominator(self) -> i128 {
        self.denominator
    }

    /// Returns whether it is an integer.
    pub fn is_whole(self) -> bool {
        self.denominator == 1
    }

    /// Returns -1, 0 or 1.
    pub fn signum(self) -> i32 {
        self.numerator.signum() as i32
    }

    /// Returns the nearest or nearly nearest `f64`. For display and search, not for arithmetic.
    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// Returns the sum.
    ///
    /// # Errors
    /// If the result does not fit.
    pub fn plus(self, other: Rational) -> Result<Rational, TooLarge> {
        if self.denominator == 1 && other.denominator == 1 {
            let numerator = self.numerator.checked_add(other.numerator).ok_or(TooLarge)?;
            return Rational::fraction(numerator, 1).ok_or(TooLarge);
        }
        // Over the least common denominator, so that intermediate numbers stay as small as
        // possible.
        let divisor =
            common_divisor(self.denominator.unsigned_abs(), other.denominator.unsigned_abs())
                as i128;
        let scale = other.denominator / divisor;
        let left = self.numerator.checked_mul(scale).ok_or(TooLarge)?;
        let right = other.numerator.checked_mul(self.denominator / divisor).ok_or(TooLarge)?;
        let denominator = self.denominator.checked_mul(scale).ok_or(TooLarge)?;
        Rational::fraction(left.checked_add(right).ok_or(TooLarge)?, denominator).ok_or(TooLarge)
    }

    /// Returns the number with the opposite sign.
    pub fn negated(self) -> Rational {
        Rational { numerator: -self.numerator, denominator: self.denominator }
    }

    /// Returns the difference.
    ///
    /// # Errors
    /// If the result does not fit.
    pub fn minus(self, other: Rational) -> Result<Rational, TooLarge> {
        self.plus(other.negated())
    }

    /// Returns the product.
    ///
    /// # Errors
    /// If the result does not fit.
    pub fn times(self, other: Rational) -> Result<Rational, TooLarge> {
        // Cancelling crosswise first gives lowest terms, and an overflow only if the result does
        // not fit.
        let first = common_divisor(self.numerator.unsigned_abs(), other.denominator.unsigned_abs())
            .max(1) as i128;
        let second = common_divisor(other.numerator.unsigned_abs(), self.denominator.unsigned_abs())
            .max(1) as i128;
        let numerator =
            (self.numerator / first).checked_mul(other.numerator / second).ok_or(TooLarge)?;
        let denominator =
            (self.denominator / second).checked_mul(other.denominator / first).ok_or(TooLarge)?;
        if numerator == i128::MIN {
            return Err(TooLarge);
        }
        Ok(Rational { numerator, denominator })
    }

    /// Returns the quotient; `None` if the divisor is zero.
    ///
    /// # Errors
    /// If the result does not fit.
    pub fn divided_by(self, other: Rational) -> Result<Option<Rational>, TooLarge> {
        match Rational::fraction(other.denominator, other.numerator) {
            Some(inverse) => self.times(inverse).map(Some),
            None => Ok(None),
        }
    }

    /// Returns the power; `None` if the exponent is not an integer, or if it is negative and the
    /// base is zero. `0 ^ 0` is 1.
    ///
    /// # Errors
    /// If the result does not fit.
    pub fn power(self, exponent: Rational) -> Result<Option<Rational>, TooLarge> {
        if !exponent.is_whole() {
            return Ok(None);
        }
        if self == Rational::ONE || exponent.numerator == 0 {
            return Ok(Some(Rational::ONE));
        }
        let (base, mut count) = if exponent.numerator < 0 {
            match Rational::ONE.divided_by(self)? {
                Some(inverse) => (inverse, exponent.numerator.unsigned_abs()),
                None => return Ok(None),
            }
        } else {
            (self, exponent.numerator.unsigned_abs())
        };
        if base == Rational::ZERO {
            return Ok(Some(Rational::ZERO));
        }
        if base.negated() == Rational::ONE {
            return Ok(Some(if count.is_multiple_of(2) { Rational::ONE } else { base }));
        }
        // The absolute value of any other base at least doubles with each factor.
        if count > 128 {
            return Err(TooLarge);
        }
        let mut result = Rational::ONE;
        let mut square = base;
        loop {
            if count % 2 == 1 {
                result = result.times(square)?;
            }
            count /= 2;
            if count == 0 {
                return Ok(Some(result));
            }
            square = square.times(square)?;
        }
    }
}

impl From<i64> for Rational {
    fn from(number: i64) -> Rational {
        Rational::whole(number)
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Rational) -> Ordering {
        if self.denominator == other.denominator {
            return self.numerator.cmp(&other.numerator);
        }
        let whole = |number: &Rational| number.numerator.div_euclid(number.denominator);
        let rest = |number: &Rational| number.numerator.rem_euclid(number.denominator);
        // Compared as continued fractions, because the cross products may not fit.
        let (mut left, mut right) = (*self, *other);
        let mut turned = false;
        loop {
            let order = whole(&left).cmp(&whole(&right));
            let (left_rest, right_rest) = (rest(&left), rest(&right));
            let order = match (order, left_rest, right_rest) {
                (Ordering::Equal, 0, 0) => Ordering::Equal,
                (Ordering::Equal, 0, _) => Ordering::Less,
                (Ordering::Equal, _, 0) => Ordering::Greater,
                (Ordering::Equal, _, _) => {
                    left = Rational { numerator: left.denominator, denominator: left_rest };
                    right = Rational { numerator: right.denominator, denominator: right_rest };
                    turned = !turned;
                    continue;
                }
                (order, _, _) => order,
            };
            return if turned { order.reverse() } else { order };
        }
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Rational) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Prints `3`, or `-0.25` if the decimal expansion is short, otherwise `1/3`.
impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator == 1 {
            return write!(f, "{}", self.numerator);
        }
        let mut scale: i128 = 1;
        // Up to six places; beyond that the fraction is easier to read.
        for places in 1..=6usize {
            scale *= 10;
            if scale % self.denominator == 0 {
                let Some(scaled) = self.numerator.checked_mul(scale / self.denominator) else {
                    break;
                };
                let sign = if scaled < 0 { "-" } else { "" };
                let digits = scaled.unsigned_abs();
                let (whole, part) = (digits / scale as u128, digits % scale as u128);
                return write!(f, "{sign}{whole}.{part:0places$}");
            }
        }
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

impl fmt::Debug for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The error that a text is not a number that fits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ParseRationalError;

impl fmt::Display for ParseRationalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a number that fits into 128 bits")
    }
}

impl std::error::Error for ParseRationalError {}

/// Parses the printed form: `3`, `-0.25`, `1/3`.
impl FromStr for Rational {
    type Err = ParseRationalError;

    fn from_str(text: &str) -> Result<Rational, ParseRationalError> {
        let digits = |text: &str| -> Result<i128, ParseRationalError> {
            if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(ParseRationalError);
            }
            text.parse().map_err(|_| ParseRationalError)
        };
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let number = if let Some((above, below)) = text.split_once('/') {
            Rational::fraction(digits(above)?, digits(below)?)
        } else if let Some((whole, part)) = text.split_once('.') {
            let scale = 10i128
                .checked_pow(u32::try_from(part.len()).map_err(|_| ParseRationalError)?)
                .ok_or(ParseRationalError)?;
            let whole = digits(whole)?.checked_mul(scale).ok_or(ParseRationalError)?;
            Rational::fraction(whole.checked_add(digits(part)?).ok_or(ParseRationalError)?, scale)
        } else {
            Rational::fraction(digits(text)?, 1)
        };
        let number = number.ok_or(ParseRationalError)?;
        Ok(if negative { number.negated() } else { number })
    }
}

fn common_divisor(mut left: u128, mut right: u128) -> u128 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}
