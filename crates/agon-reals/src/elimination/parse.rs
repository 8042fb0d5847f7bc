//! Polynomials from text: the printed form, with parentheses in addition.

use std::fmt;
use std::str::FromStr;

use dashu_ratio::RBig;

use super::polynomial::Polynomial;

/// The error that a text is not a polynomial, or one that is too large to multiply out.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct ParsePolynomialError {
    /// Number of bytes before the offending place.
    pub offset: usize,
}

impl fmt::Display for ParsePolynomialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a polynomial of reasonable size after {} bytes", self.offset)
    }
}

impl std::error::Error for ParsePolynomialError {}

/// Maximum number of terms that a parsed polynomial may have at any time.
const MAX_TERMS: usize = 10_000;
/// Maximum exponent in a text, because `2^1000000000` would fill the memory.
const MAX_EXPONENT: u32 = 1_000;
/// Maximum number of parentheses inside each other.
const MAX_DEPTH: usize = 100;

/// Parses `3*x0^2*(x1 - 1/2) + 4`. Division is by numbers only.
impl FromStr for Polynomial {
    type Err = ParsePolynomialError;

    fn from_str(text: &str) -> Result<Polynomial, ParsePolynomialError> {
        let mut parser = Parser { bytes: text.as_bytes(), offset: 0, depth: 0 };
        let sum = parser.sum()?;
        parser.skip_blanks();
        if parser.offset < parser.bytes.len() {
            return Err(parser.error());
        }
        Ok(sum)
    }
}

struct Parser<'a> {
    bytes: &'a [u8],
    offset: usize,
    depth: usize,
}

impl Parser<'_> {
    fn error(&self) -> ParsePolynomialError {
        ParsePolynomialError { offset: self.offset }
    }

    fn skip_blanks(&mut self) {
        while self.bytes.get(self.offset).is_some_and(u8::is_ascii_whitespace) {
            self.offset += 1;
        }
    }

    fn accept(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let is_next = self.bytes.get(self.offset) == Some(&byte);
        self.offset += usize::from(is_next);
        is_next
    }

    fn sum(&mut self) -> Result<Polynomial, ParsePolynomialError> {
        let mut sum = Polynomial::zero();
        let mut is_negative = self.accept(b'-');
        loop {
            let product = self.product()?;
            sum = if is_negative { &sum - &product } else { &sum + &product };
            if sum.n_terms() > MAX_TERMS {
                return Err(self.error());
            }
            is_negative = if self.accept(b'+') {
                false
            } else if self.accept(b'-') {
                true
            } else {
                return Ok(sum);
            };
        }
    }

    fn product(&mut self) -> Result<Polynomial, ParsePolynomialError> {
        let mut product = self.power()?;
        loop {
            if self.accept(b'*') {
                let factor = self.power()?;
                product = product.times(&factor, MAX_TERMS).ok_or(self.error())?;
            } else if self.accept(b'/') {
                let divisor = self.power()?.as_constant().ok_or(self.error())?;
                if divisor.is_zero() {
                    return Err(self.error());
                }
                product = product.scaled(&(RBig::ONE / divisor));
            } else {
                return Ok(product);
            }
        }
    }

    fn power(&mut self) -> Result<Polynomial, ParsePolynomialError> {
        let base = self.factor()?;
        if !self.accept(b'^') {
            return Ok(base);
        }
        self.skip_blanks();
        let exponent: u32 = self.number()?;
        if exponent > MAX_EXPONENT {
            return Err(self.error());
        }
        base.power(exponent, MAX_TERMS).ok_or(self.error())
    }

    fn factor(&mut self) -> Result<Polynomial, ParsePolynomialError> {
        if self.accept(b'(') {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err(self.error());
            }
            let sum = self.sum()?;
            self.depth -= 1;
            return if self.accept(b')') { Ok(sum) } else { Err(self.error()) };
        }
        if self.accept(b'x') {
            return Ok(Polynomial::variable(self.number()?));
        }
        Ok(Polynomial::constant(self.number::<RBig>()?))
    }

    fn number<N: FromStr>(&mut self) -> Result<N, ParsePolynomialError> {
        let start = self.offset;
        while self.bytes.get(self.offset).is_some_and(u8::is_ascii_digit) {
            self.offset += 1;
        }
        let digits = std::str::from_utf8(&self.bytes[start..self.offset]);
        let number = digits.ok().filter(|digits| !digits.is_empty());
        number.and_then(|digits| digits.parse().ok()).ok_or(ParsePolynomialError { offset: start })
    }
}
