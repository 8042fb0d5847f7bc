//! Exact rational numbers of bounded size.
//!
//! Numerator and denominator are 128 bits each, so numbers are copied and compared without touching the heap: terms
//! are evaluated once per assignment, in the innermost loop of a search. What does not fit is told ([`TooLarge`])
//! and never rounded. Numbers of any size would cost every payoff for the sake of sums that no game has.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// A rational number. Invariant: the denominator is positive and shares no factor with the numerator, so equal
/// numbers have equal fields.
#[derive(Copy, Clone, PartialEq, Eq, Hash)]
pub struct Rational {
    numerator: i128,
    denominator: i128,
}

/// A number does not fit into 128 bits above and below the fraction line.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number grew beyond 128 bits")
    }
}

impl std::error::Error for TooLarge {}

impl Rational {
    /// Nought.
    pub const ZERO: Rational = Rational { numerator: 0, denominator: 1 };
    /// One.
    pub const ONE: Rational = Rational { numerator: 1, denominator: 1 };

    /// A whole number.
    pub fn whole(number: i64) -> Rational {
        Rational { numerator: i128::from(number), denominator: 1 }
    }

    /// A fraction in lowest terms; none if the denominator is zero or the numbers are the most negative there are.
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

    /// Above the line.
    pub fn numerator(self) -> i128 {
        self.numerator
    }

    /// Below the line; positive.
    pub fn denominator(self) -> i128 {
        self.denominator
    }

    /// Whether it is a whole number.
    pub fn is_whole(self) -> bool {
        self.denominator == 1
    }

    /// -1, 0 or 1.
    pub fn signum(self) -> i32 {
        self.numerator.signum() as i32
    }

    /// The nearest machine number, or nearly so: for show and for search, not for arithmetic.
    pub fn to_f64(self) -> f64 {
        self.numerator as f64 / self.denominator as f64
    }

    /// The sum.
    pub fn plus(self, other: Rational) -> Result<Rational, TooLarge> {
        if self.denominator == 1 && other.denominator == 1 {
            let numerator = self.numerator.checked_add(other.numerator).ok_or(TooLarge)?;
            return Rational::fraction(numerator, 1).ok_or(TooLarge);
        }
        // Over the least common denominator, so that intermediate numbers stay as small as they can.
        let divisor =
            common_divisor(self.denominator.unsigned_abs(), other.denominator.unsigned_abs())
                as i128;
        let scale = other.denominator / divisor;
        let left = self.numerator.checked_mul(scale).ok_or(TooLarge)?;
        let right = other.numerator.checked_mul(self.denominator / divisor).ok_or(TooLarge)?;
        let denominator = self.denominator.checked_mul(scale).ok_or(TooLarge)?;
        Rational::fraction(left.checked_add(right).ok_or(TooLarge)?, denominator).ok_or(TooLarge)
    }

    /// The number with the other sign.
    pub fn negated(self) -> Rational {
        Rational { numerator: -self.numerator, denominator: self.denominator }
    }

    /// The difference.
    pub fn minus(self, other: Rational) -> Result<Rational, TooLarge> {
        self.plus(other.negated())
    }

    /// The product.
    pub fn times(self, other: Rational) -> Result<Rational, TooLarge> {
        // Cancelled crosswise first: the product is then in lowest terms and overflows only if it must.
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

    /// The quotient; none if the divisor is zero.
    pub fn divided_by(self, other: Rational) -> Result<Option<Rational>, TooLarge> {
        match Rational::fraction(other.denominator, other.numerator) {
            Some(inverse) => self.times(inverse).map(Some),
            None => Ok(None),
        }
    }

    /// The power; none if the exponent is no whole number, or negative where the base is zero. `0 ^ 0` is 1.
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
        // Any other base doubles at least with each factor.
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
        // As continued fractions, since the cross products may not fit.
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

/// Prints `3`, `-0.25` where the decimal ends soon, else `1/3`.
impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator == 1 {
            return write!(f, "{}", self.numerator);
        }
        let mut scale: i128 = 1;
        // Six places: beyond them the fraction reads better.
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

/// A text is not a number, or not one that fits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct NotANumber;

impl fmt::Display for NotANumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a number that fits into 128 bits")
    }
}

impl std::error::Error for NotANumber {}

/// Reads what is printed: `3`, `-0.25`, `1/3`.
impl FromStr for Rational {
    type Err = NotANumber;

    fn from_str(text: &str) -> Result<Rational, NotANumber> {
        let digits = |text: &str| -> Result<i128, NotANumber> {
            if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(NotANumber);
            }
            text.parse().map_err(|_| NotANumber)
        };
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let number = if let Some((above, below)) = text.split_once('/') {
            Rational::fraction(digits(above)?, digits(below)?)
        } else if let Some((whole, part)) = text.split_once('.') {
            let scale = 10i128
                .checked_pow(u32::try_from(part.len()).map_err(|_| NotANumber)?)
                .ok_or(NotANumber)?;
            let whole = digits(whole)?.checked_mul(scale).ok_or(NotANumber)?;
            Rational::fraction(whole.checked_add(digits(part)?).ok_or(NotANumber)?, scale)
        } else {
            Rational::fraction(digits(text)?, 1)
        };
        let number = number.ok_or(NotANumber)?;
        Ok(if negative { number.negated() } else { number })
    }
}

fn common_divisor(mut left: u128, mut right: u128) -> u128 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}
