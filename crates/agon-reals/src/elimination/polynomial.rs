//! Polynomials in several variables with exact coefficients of arbitrary size.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};

use dashu_base::{Abs, BitTest, Gcd, Signed};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::formula::{ANY_SIGN, NEGATIVE, POSITIVE, SignSet, ZERO, mirrored, sign_of};
use crate::rational::Rational;

/// A polynomial with rational coefficients. Variables are numbers.
///
/// Invariant: the terms are sorted by monomial, no monomial occurs twice, no coefficient is zero,
/// and the total degree is at most [`Polynomial::MAX_DEGREE`]. Equal polynomials have equal terms.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Polynomial {
    terms: Vec<(Monomial, RBig)>,
}

/// A product of powers of variables: pairs of variable and positive exponent, sorted by variable.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
struct Monomial(Vec<(u32, u32)>);

impl Polynomial {
    /// Maximum total degree. The bound keeps lists of coefficients, which are indexed by exponent,
    /// small.
    pub const MAX_DEGREE: u32 = 65_535;

    /// Returns the polynomial without terms.
    pub fn zero() -> Polynomial {
        Polynomial::default()
    }

    /// Returns the constant 1.
    pub fn one() -> Polynomial {
        Polynomial::constant(RBig::ONE)
    }

    /// Returns a constant.
    pub fn constant(number: RBig) -> Polynomial {
        if number.is_zero() {
            return Polynomial::zero();
        }
        Polynomial { terms: vec![(Monomial::default(), number)] }
    }

    /// Returns the polynomial that consists of one variable.
    pub fn variable(variable: u32) -> Polynomial {
        Polynomial { terms: vec![(Monomial(vec![(variable, 1)]), RBig::ONE)] }
    }

    /// Returns a product of powers of variables, times a number. The powers are sorted by variable
    /// and positive, as in [`Polynomial::terms`].
    pub fn term(powers: &[(u32, u32)], factor: RBig) -> Polynomial {
        debug_assert!(powers.windows(2).all(|pair| pair[0].0 < pair[1].0));
        if factor.is_zero() {
            return Polynomial::zero();
        }
        Polynomial { terms: vec![(Monomial(powers.to_vec()), factor)] }
    }

    /// Returns the polynomial with the absolute values of the coefficients.
    pub fn absolute(&self) -> Polynomial {
        let absolute = |number: &RBig| match *number < RBig::ZERO {
            true => -number.clone(),
            false => number.clone(),
        };
        let terms = self.terms.iter().map(|(monomial, n)| (monomial.clone(), absolute(n)));
        Polynomial { terms: terms.collect() }
    }

    /// Returns whether all values are zero.
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// Returns the value of a polynomial without variables, and `None` if it has variables.
    pub fn as_constant(&self) -> Option<RBig> {
        match self.terms.as_slice() {
            [] => Some(RBig::ZERO),
            [(monomial, number)] if monomial.0.is_empty() => Some(number.clone()),
            _ => None,
        }
    }

    /// Returns the terms: the variables with their exponents, and the coefficient.
    pub fn terms(&self) -> impl Iterator<Item = (&[(u32, u32)], &RBig)> {
        self.terms.iter().map(|(monomial, number)| (monomial.0.as_slice(), number))
    }

    /// Returns the number of terms.
    pub fn n_terms(&self) -> usize {
        self.terms.len()
    }

    /// Returns the largest sum of exponents in a term; 0 for constants.
    pub fn total_degree(&self) -> u32 {
        self.terms.iter().map(|(monomial, _)| monomial.degree()).max().unwrap_or(0)
    }

    /// Returns the largest exponent of a variable.
    pub fn degree(&self, variable: u32) -> u32 {
        self.terms.iter().map(|(monomial, _)| monomial.exponent(variable)).max().unwrap_or(0)
    }

    /// Returns whether a variable occurs.
    pub fn mentions(&self, variable: u32) -> bool {
        self.terms.iter().any(|(monomial, _)| monomial.exponent(variable) > 0)
    }

    /// Returns all variables that occur.
    pub fn variables(&self) -> BTreeSet<u32> {
        let pairs = self.terms.iter().flat_map(|(monomial, _)| &monomial.0);
        pairs.map(|&(variable, _)| variable).collect()
    }

    /// Returns the number of bits of the largest numerator or denominator.
    pub fn coefficient_bits(&self) -> usize {
        let bits = |number: &RBig| number.numerator().bit_len().max(number.denominator().bit_len());
        self.terms.iter().map(|(_, number)| bits(number)).max().unwrap_or(0)
    }

    /// Returns the coefficients of the powers of a variable, from the constant one upwards. The
    /// list has no element for the zero polynomial, and its last element is never zero.
    pub fn coefficients(&self, variable: u32) -> Vec<Polynomial> {
        if self.is_zero() {
            return Vec::new();
        }
        let mut parts = vec![Polynomial::zero(); self.degree(variable) as usize + 1];
        for (monomial, number) in &self.terms {
            let (exponent, rest) = monomial.without(variable);
            parts[exponent as usize].terms.push((rest, number.clone()));
        }
        for part in &mut parts {
            part.terms.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        }
        parts
    }

    /// Returns the polynomial with the given coefficients of the powers of a variable. The
    /// coefficients must not mention the variable.
    pub(crate) fn from_coefficients(variable: u32, coefficients: &[Polynomial]) -> Polynomial {
        let mut terms = Vec::new();
        for (exponent, coefficient) in (0..).zip(coefficients) {
            for (monomial, number) in &coefficient.terms {
                terms.push((monomial.with(variable, exponent), number.clone()));
            }
        }
        terms.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        Polynomial { terms }
    }

    /// Returns pairs of exponent and coefficient if no other variable than the given one occurs.
    pub(crate) fn univariate_terms(&self, variable: u32) -> Option<Vec<(u32, &RBig)>> {
        let mut pairs = Vec::with_capacity(self.terms.len());
        for (monomial, number) in &self.terms {
            match monomial.0.as_slice() {
                [] => pairs.push((0, number)),
                [(other, exponent)] if *other == variable => pairs.push((*exponent, number)),
                _ => return None,
            }
        }
        Some(pairs)
    }

    /// Returns the derivative by a variable.
    pub fn derivative(&self, variable: u32) -> Polynomial {
        let mut terms = Vec::new();
        for (monomial, number) in &self.terms {
            let (exponent, rest) = monomial.without(variable);
            if exponent > 0 {
                let factor = RBig::from(exponent);
                terms.push((rest.with(variable, exponent - 1), number * factor));
            }
        }
        Polynomial::from_terms(terms)
    }

    /// Returns the product, or `None` if it has more than `max_terms` terms before equal monomials
    /// are merged, or a degree above [`Polynomial::MAX_DEGREE`].
    pub fn times(&self, other: &Polynomial, max_terms: usize) -> Option<Polynomial> {
        let n_products = self.terms.len().checked_mul(other.terms.len())?;
        let degree = self.total_degree().checked_add(other.total_degree())?;
        if n_products > max_terms || degree > Polynomial::MAX_DEGREE {
            return None;
        }
        let mut terms = Vec::with_capacity(n_products);
        for (left, left_number) in &self.terms {
            for (right, right_number) in &other.terms {
                terms.push((left.times(right), left_number * right_number));
            }
        }
        Some(Polynomial::from_terms(terms))
    }

    /// Returns a power, or `None` if an intermediate product is refused by [`Polynomial::times`].
    pub fn power(&self, exponent: u32, max_terms: usize) -> Option<Polynomial> {
        let mut result = Polynomial::one();
        let mut square = self.clone();
        let mut rest = exponent;
        while rest > 0 {
            if rest % 2 == 1 {
                result = result.times(&square, max_terms)?;
            }
            rest /= 2;
            if rest > 0 {
                square = square.times(&square, max_terms)?;
            }
        }
        Some(result)
    }

    /// Returns the product with a number.
    pub fn scaled(&self, factor: &RBig) -> Polynomial {
        if factor.is_zero() {
            return Polynomial::zero();
        }
        let terms = self.terms.iter().map(|(monomial, n)| (monomial.clone(), n * factor));
        Polynomial { terms: terms.collect() }
    }

    /// Returns the polynomial with a variable replaced by a polynomial, or `None` if an
    /// intermediate product is refused by [`Polynomial::times`].
    pub fn substitute(
        &self,
        variable: u32,
        value: &Polynomial,
        max_terms: usize,
    ) -> Option<Polynomial> {
        let mut result = Polynomial::zero();
        for coefficient in self.coefficients(variable).iter().rev() {
            result = &result.times(value, max_terms)? + coefficient;
        }
        Some(result)
    }

    /// Returns the polynomial with a variable replaced by a number.
    pub fn substitute_number(&self, variable: u32, value: &RBig) -> Polynomial {
        let mut powers = vec![RBig::ONE];
        let mut terms = Vec::with_capacity(self.terms.len());
        for (monomial, number) in &self.terms {
            let (exponent, rest) = monomial.without(variable);
            while powers.len() <= exponent as usize {
                powers.push(&powers[powers.len() - 1] * value);
            }
            terms.push((rest, number * &powers[exponent as usize]));
        }
        Polynomial::from_terms(terms)
    }

    /// Returns the value, or `None` if a variable has no value.
    pub fn evaluate(&self, values: &BTreeMap<u32, RBig>) -> Option<RBig> {
        let mut sum = RBig::ZERO;
        for (monomial, number) in &self.terms {
            let mut product = number.clone();
            for (variable, exponent) in &monomial.0 {
                product *= values.get(variable)?.pow(*exponent as isize);
            }
            sum += product;
        }
        Some(sum)
    }

    /// Returns the multiple with coprime integer coefficients and a positive last coefficient, and
    /// whether the factor was negative. The zero polynomial is returned unchanged.
    pub(crate) fn primitive(&self) -> (Polynomial, bool) {
        let Some((_, last)) = self.terms.last() else { return (Polynomial::zero(), false) };
        let is_negative = last.is_negative();
        let mut divisor = UBig::ZERO;
        let mut denominator = UBig::ONE;
        for (_, number) in &self.terms {
            divisor = divisor.gcd(number.numerator().clone().abs().into_parts().1);
            if !number.is_int() {
                let common = (&denominator).gcd(number.denominator());
                denominator *= number.denominator() / common;
            }
        }
        if divisor.is_one() && denominator.is_one() && !is_negative {
            return (self.clone(), false);
        }
        let numerator =
            if is_negative { -IBig::from(denominator) } else { IBig::from(denominator) };
        (self.scaled(&RBig::from_parts(numerator, divisor)), is_negative)
    }

    /// Returns the signs that values can have, as far as the signs of variables tell. Each term has
    /// the sign of its coefficient times those of its variables; a sum of terms of one sign has it.
    pub(crate) fn possible_signs(&self, signs_of: &dyn Fn(u32) -> SignSet) -> SignSet {
        let mut sum = ZERO;
        for (monomial, number) in &self.terms {
            let mut product = sign_of(number);
            for (variable, exponent) in &monomial.0 {
                let signs = signs_of(*variable);
                let is_even = exponent % 2 == 0;
                let signs = if is_even && signs & NEGATIVE != 0 {
                    (signs & ZERO) | POSITIVE
                } else {
                    signs
                };
                product = product_signs(product, signs);
            }
            sum = sum_signs(sum, product);
            if sum == ANY_SIGN {
                break;
            }
        }
        sum
    }

    /// Returns the polynomial with the powers of variables that divide all terms lowered, so that
    /// the signs of its values are the same: odd ones to 1, even ones to 2, and all of them to 1
    /// if only the zeros matter.
    pub(crate) fn with_lowered_factors(&self, only_zeros: bool) -> Polynomial {
        let Some((first, _)) = self.terms.first() else { return Polynomial::zero() };
        let mut lowered = Vec::new();
        for (variable, _) in &first.0 {
            let exponents = self.terms.iter().map(|(monomial, _)| monomial.exponent(*variable));
            let least = exponents.min().unwrap_or(0);
            let target = if only_zeros || least % 2 == 1 { 1 } else { 2 };
            if least > target {
                lowered.push((*variable, least - target));
            }
        }
        if lowered.is_empty() {
            return self.clone();
        }
        let lower = |(monomial, number): &(Monomial, RBig)| {
            let mut monomial = monomial.clone();
            for (variable, surplus) in &lowered {
                let (exponent, rest) = monomial.without(*variable);
                monomial = rest.with(*variable, exponent - surplus);
            }
            (monomial, number.clone())
        };
        Polynomial::from_terms(self.terms.iter().map(lower).collect())
    }

    /// Returns the greatest common divisor of the exponents of a variable; 0 if it does not occur.
    pub(crate) fn exponent_divisor(&self, variable: u32) -> u32 {
        let exponents = self.terms.iter().map(|(monomial, _)| monomial.exponent(variable));
        exponents.fold(0, common_divisor)
    }

    /// Returns the polynomial with all exponents of a variable divided by a number that divides
    /// them.
    pub(crate) fn with_exponents_divided(&self, variable: u32, divisor: u32) -> Polynomial {
        let divided = |(monomial, number): &(Monomial, RBig)| {
            let (exponent, rest) = monomial.without(variable);
            (rest.with(variable, exponent / divisor), number.clone())
        };
        Polynomial::from_terms(self.terms.iter().map(divided).collect())
    }

    /// Returns the quotient if the divisor, which must not be zero, divides the polynomial.
    pub(crate) fn exact_quotient(&self, divisor: &Polynomial) -> Option<Polynomial> {
        let leading = |polynomial: &Polynomial| {
            let terms = polynomial.terms.iter();
            terms.max_by(|left, right| left.0.lexicographic(&right.0)).cloned()
        };
        let (first, number) = leading(divisor)?;
        let mut rest = self.clone();
        let mut quotient = Polynomial::zero();
        while let Some((monomial, own)) = leading(&rest) {
            let factor = Polynomial { terms: vec![(monomial.divided_by(&first)?, own / &number)] };
            rest = &rest - &factor.times(divisor, usize::MAX)?;
            quotient = &quotient + &factor;
        }
        Some(quotient)
    }

    /// Sorts terms, merges equal monomials and removes zeros.
    fn from_terms(mut terms: Vec<(Monomial, RBig)>) -> Polynomial {
        terms.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        let mut merged: Vec<(Monomial, RBig)> = Vec::with_capacity(terms.len());
        for (monomial, number) in terms {
            match merged.last_mut() {
                Some((last, sum)) if *last == monomial => *sum += number,
                _ => {
                    merged.pop_if(|(_, number)| number.is_zero());
                    merged.push((monomial, number));
                }
            }
        }
        merged.pop_if(|(_, number)| number.is_zero());
        Polynomial { terms: merged }
    }

    /// Returns the sum with a multiple of another polynomial by merging the sorted terms.
    fn plus_signed(&self, other: &Polynomial, sign: &RBig) -> Polynomial {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut left, mut right) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => return Polynomial { terms },
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some((left, _)), Some((right, _))) => left.cmp(right),
            };
            let from_left = if order.is_le() { left.next() } else { None };
            let from_right = if order.is_ge() { right.next() } else { None };
            match (from_left, from_right) {
                (Some(term), None) => terms.push(term.clone()),
                (None, Some((monomial, number))) => terms.push((monomial.clone(), number * sign)),
                (Some((monomial, left)), Some((_, right))) => {
                    let sum = left + right * sign;
                    if !sum.is_zero() {
                        terms.push((monomial.clone(), sum));
                    }
                }
                (None, None) => unreachable!("one side has a term"),
            }
        }
    }
}

impl Monomial {
    fn degree(&self) -> u32 {
        self.0.iter().map(|(_, exponent)| exponent).sum()
    }

    fn exponent(&self, variable: u32) -> u32 {
        self.0.iter().find(|(other, _)| *other == variable).map_or(0, |(_, exponent)| *exponent)
    }

    /// Returns the exponent of a variable, and the monomial without it.
    fn without(&self, variable: u32) -> (u32, Monomial) {
        let rest = self.0.iter().filter(|(other, _)| *other != variable).copied().collect();
        (self.exponent(variable), Monomial(rest))
    }

    /// Returns the product with a power of a variable that does not occur.
    fn with(&self, variable: u32, exponent: u32) -> Monomial {
        let mut powers = self.0.clone();
        if exponent > 0 {
            let place = powers.partition_point(|(other, _)| *other < variable);
            powers.insert(place, (variable, exponent));
        }
        Monomial(powers)
    }

    /// Compares in the lexicographic order of exponents, which multiplication keeps. The order of
    /// the terms is another one, because it is faster to compare.
    fn lexicographic(&self, other: &Monomial) -> std::cmp::Ordering {
        for (left, right) in self.0.iter().zip(&other.0) {
            // The lower variable is missing on the other side.
            let order = right.0.cmp(&left.0).then(left.1.cmp(&right.1));
            if order.is_ne() {
                return order;
            }
        }
        self.0.len().cmp(&other.0.len())
    }

    fn divided_by(&self, divisor: &Monomial) -> Option<Monomial> {
        let mut powers = self.0.clone();
        for (variable, exponent) in &divisor.0 {
            let own = powers.iter_mut().find(|(other, _)| other == variable)?;
            own.1 = own.1.checked_sub(*exponent)?;
        }
        powers.retain(|(_, exponent)| *exponent > 0);
        Some(Monomial(powers))
    }

    fn times(&self, other: &Monomial) -> Monomial {
        let mut powers = Vec::with_capacity(self.0.len() + other.0.len());
        let (mut left, mut right) = (self.0.as_slice(), other.0.as_slice());
        while let (Some(&(x, m)), Some(&(y, n))) = (left.first(), right.first()) {
            if x <= y {
                left = &left[1..];
            }
            if y <= x {
                right = &right[1..];
            }
            powers.push(match x.cmp(&y) {
                std::cmp::Ordering::Less => (x, m),
                std::cmp::Ordering::Equal => (x, m + n),
                std::cmp::Ordering::Greater => (y, n),
            });
        }
        powers.extend_from_slice(left);
        powers.extend_from_slice(right);
        Monomial(powers)
    }
}

impl From<Rational> for Polynomial {
    fn from(number: Rational) -> Polynomial {
        let (above, below) = (number.numerator(), number.denominator());
        Polynomial::constant(RBig::from_parts(IBig::from(above), UBig::from(below.unsigned_abs())))
    }
}

impl From<i64> for Polynomial {
    fn from(number: i64) -> Polynomial {
        Polynomial::constant(RBig::from(number))
    }
}

impl From<RBig> for Polynomial {
    fn from(number: RBig) -> Polynomial {
        Polynomial::constant(number)
    }
}

impl Add for &Polynomial {
    type Output = Polynomial;

    fn add(self, other: &Polynomial) -> Polynomial {
        self.plus_signed(other, &RBig::ONE)
    }
}

impl Sub for &Polynomial {
    type Output = Polynomial;

    fn sub(self, other: &Polynomial) -> Polynomial {
        self.plus_signed(other, &RBig::NEG_ONE)
    }
}

/// Returns the product.
///
/// # Panics
/// If the degree exceeds [`Polynomial::MAX_DEGREE`]; [`Polynomial::times`] returns `None` instead.
impl Mul for &Polynomial {
    type Output = Polynomial;

    fn mul(self, other: &Polynomial) -> Polynomial {
        self.times(other, usize::MAX).expect("the degree is at most MAX_DEGREE")
    }
}

impl Neg for &Polynomial {
    type Output = Polynomial;

    fn neg(self) -> Polynomial {
        self.scaled(&RBig::NEG_ONE)
    }
}

/// Prints `3*x0^2*x1 - 1/2*x1 + 4`, the last monomial in the order of the terms first.
impl fmt::Display for Polynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.is_empty() {
            return write!(f, "0");
        }
        for (place, (monomial, number)) in self.terms.iter().rev().enumerate() {
            match (place, number.is_negative()) {
                (0, false) => {}
                (0, true) => write!(f, "-")?,
                (_, false) => write!(f, " + ")?,
                (_, true) => write!(f, " - ")?,
            }
            let size = number.clone().abs();
            let mut factors = Vec::new();
            if monomial.0.is_empty() || !size.is_one() {
                factors.push(size.to_string());
            }
            for (variable, exponent) in &monomial.0 {
                factors.push(match exponent {
                    1 => format!("x{variable}"),
                    _ => format!("x{variable}^{exponent}"),
                });
            }
            write!(f, "{}", factors.join("*"))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Polynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns the greatest common divisor; the other number if one is zero.
pub(crate) fn common_divisor(mut left: u32, mut right: u32) -> u32 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

/// Returns the possible signs of a product.
fn product_signs(left: SignSet, right: SignSet) -> SignSet {
    let mut product = (left | right) & ZERO;
    if left & POSITIVE != 0 {
        product |= right;
    }
    if left & NEGATIVE != 0 {
        product |= mirrored(right);
    }
    product
}

/// Returns the possible signs of a sum.
fn sum_signs(left: SignSet, right: SignSet) -> SignSet {
    let both = left | right;
    if both & NEGATIVE != 0 && both & POSITIVE != 0 {
        return ANY_SIGN;
    }
    // A sum of numbers that are not negative is zero only if both are.
    (both & !ZERO) | (left & right & ZERO)
}
