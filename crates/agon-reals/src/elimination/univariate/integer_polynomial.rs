//! Polynomials in one variable with integer coefficients: division, common divisors, and isolation
//! of real roots.

use dashu_base::{Abs, BitTest, Gcd, Signed};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use crate::elimination::formula::{NEGATIVE, POSITIVE, SignSet, ZERO};
use crate::elimination::limits::{EliminationError, Work};

/// A polynomial in one variable with coprime integer coefficients, which are sorted by exponent.
/// Invariant: the last coefficient exists and is not zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct IntegerPolynomial {
    coefficients: Vec<IBig>,
}

/// A real root of a polynomial without multiple roots.
#[derive(Clone, Debug)]
pub(crate) enum IsolatedRoot {
    /// The root itself.
    Exact(RBig),
    /// The only root in an open interval. The ends are not roots.
    Between(RBig, RBig),
}

impl IntegerPolynomial {
    /// Returns a positive or negative multiple with coprime coefficients; `None` for the zero
    /// polynomial.
    pub(crate) fn new(mut coefficients: Vec<IBig>) -> Option<IntegerPolynomial> {
        while coefficients.pop_if(|last| last.is_zero()).is_some() {}
        coefficients.last()?;
        // From the end, because two zeros have no greatest common divisor.
        let mut divisor = UBig::ZERO;
        for number in coefficients.iter().rev() {
            if divisor.is_one() {
                break;
            }
            divisor = divisor.gcd(number.clone().into_parts().1);
        }
        if !divisor.is_one() {
            let divisor = IBig::from(divisor);
            for number in &mut coefficients {
                *number = &*number / &divisor;
            }
        }
        Some(IntegerPolynomial { coefficients })
    }

    /// Returns the coefficients, sorted by exponent.
    pub(crate) fn coefficients(&self) -> &[IBig] {
        &self.coefficients
    }

    pub(crate) fn degree(&self) -> usize {
        self.coefficients.len() - 1
    }

    pub(crate) fn leading(&self) -> &IBig {
        self.coefficients.last().expect("the last coefficient exists")
    }

    /// Returns the sign of the value at a number.
    pub(crate) fn sign_at(&self, number: &RBig) -> SignSet {
        let (above, below) = (number.numerator(), IBig::from(number.denominator().clone()));
        // Horner's rule for the value times the denominator to the power of the degree.
        let mut value = IBig::ZERO;
        let mut scale = IBig::ONE;
        for coefficient in self.coefficients.iter().rev() {
            value = value * above + coefficient * &scale;
            scale *= &below;
        }
        sign_of_integer(&value)
    }

    /// Returns the sign of values far to the left.
    pub(crate) fn sign_at_minus_infinity(&self) -> SignSet {
        if self.leading().is_negative() == self.degree().is_multiple_of(2) {
            NEGATIVE
        } else {
            POSITIVE
        }
    }

    fn derivative(&self) -> Option<IntegerPolynomial> {
        let pairs = self.coefficients.iter().enumerate().skip(1);
        IntegerPolynomial::new(pairs.map(|(exponent, n)| n * IBig::from(exponent)).collect())
    }

    /// Returns the greatest common divisor by the Euclidean algorithm with primitive remainders.
    pub(crate) fn common_divisor(
        &self,
        other: &IntegerPolynomial,
        work: &Work<'_>,
    ) -> Result<IntegerPolynomial, EliminationError> {
        let (mut left, mut right) = (self.clone(), Some(other.clone()));
        while let Some(divisor) = right {
            let rest = left.remainder(&divisor, work)?;
            (left, right) = (divisor, rest);
        }
        Ok(left)
    }

    /// Returns a multiple of the remainder of a division; `None` if it is zero.
    fn remainder(
        &self,
        divisor: &IntegerPolynomial,
        work: &Work<'_>,
    ) -> Result<Option<IntegerPolynomial>, EliminationError> {
        let mut rest = self.coefficients.clone();
        let n = divisor.coefficients.len();
        while rest.len() >= n {
            let last = rest.pop().expect("the divisor is not empty");
            work.step_with_numbers(n, last.bit_len())?;
            work.check_number(&last)?;
            if last.is_zero() {
                continue;
            }
            let shift = rest.len() + 1 - n;
            for (place, number) in rest.iter_mut().enumerate() {
                *number *= divisor.leading();
                if place >= shift {
                    *number -= &last * &divisor.coefficients[place - shift];
                }
            }
        }
        Ok(IntegerPolynomial::new(rest))
    }

    /// Returns the quotient of a division without remainder by a primitive polynomial, which has
    /// integer coefficients by the lemma of Gauss.
    fn quotient(&self, divisor: &IntegerPolynomial) -> IntegerPolynomial {
        let mut rest = self.coefficients.clone();
        let n = divisor.coefficients.len();
        let mut quotient = vec![IBig::ZERO; (rest.len() + 1).saturating_sub(n)];
        while rest.len() >= n {
            let last = rest.pop().expect("the divisor is not empty");
            let factor = last / divisor.leading();
            let shift = rest.len() + 1 - n;
            for (number, other) in rest[shift..].iter_mut().zip(&divisor.coefficients) {
                *number -= &factor * other;
            }
            quotient[shift] = factor;
        }
        IntegerPolynomial::new(quotient).expect("the dividend is not zero")
    }

    /// Returns polynomials without multiple roots and without common roots. The roots of the one at
    /// place `i` are the roots with multiplicity `i + 1` of this polynomial (Musser 1971).
    pub(crate) fn square_free_parts(
        &self,
        work: &Work<'_>,
    ) -> Result<Vec<IntegerPolynomial>, EliminationError> {
        let Some(derivative) = self.derivative() else { return Ok(Vec::new()) };
        let mut repeated = self.common_divisor(&derivative, work)?;
        if repeated.degree() == 0 {
            return Ok(vec![self.clone()]);
        }
        let mut rest = self.quotient(&repeated);
        let mut parts = Vec::new();
        while rest.degree() > 0 {
            let common = rest.common_divisor(&repeated, work)?;
            parts.push(rest.quotient(&common));
            repeated = repeated.quotient(&common);
            rest = common;
        }
        Ok(parts)
    }

    /// Returns the real roots of a polynomial without multiple roots, in no particular order,
    /// with all rational roots exact, and the polynomial without those rational roots.
    pub(crate) fn real_roots(
        &self,
        work: &Work<'_>,
    ) -> Result<(Vec<IsolatedRoot>, IntegerPolynomial), EliminationError> {
        let mut exact = Vec::new();
        let mut rest = self.clone();
        let mut intervals = 'isolate: loop {
            if rest.sign_at(&RBig::ZERO) == ZERO {
                rest = rest.without_root(&RBig::ZERO);
                exact.push(RBig::ZERO);
            }
            let mut intervals = Vec::new();
            for mirror in [false, true] {
                match rest.positive_roots(mirror, work)? {
                    Ok(found) => intervals.extend(found),
                    Err(root) => {
                        // A root at an end of an interval is divided out, so that no interval has
                        // a root at an end.
                        rest = rest.without_root(&root);
                        exact.push(root);
                        continue 'isolate;
                    }
                }
            }
            break intervals;
        };
        let mut irrational = Vec::new();
        let dividend = rest.clone();
        for (lower, upper) in intervals.drain(..) {
            match dividend.rational_root(lower, upper, work)? {
                IsolatedRoot::Exact(root) => {
                    rest = rest.without_root(&root);
                    exact.push(root);
                }
                between @ IsolatedRoot::Between(..) => irrational.push(between),
            }
        }
        irrational.extend(exact.into_iter().map(IsolatedRoot::Exact));
        Ok((irrational, rest))
    }

    /// Halves an interval around a root, and returns the half with it, or the root itself.
    pub(crate) fn halved(&self, lower: RBig, upper: RBig, lower_sign: SignSet) -> IsolatedRoot {
        let middle = (&lower + &upper) / RBig::from(2);
        match self.sign_at(&middle) {
            ZERO => IsolatedRoot::Exact(middle),
            sign if sign == lower_sign => IsolatedRoot::Between(middle, upper),
            _ => IsolatedRoot::Between(lower, middle),
        }
    }

    /// Returns the root in an isolating interval: exactly if it is rational.
    fn rational_root(
        &self,
        mut lower: RBig,
        mut upper: RBig,
        work: &Work<'_>,
    ) -> Result<IsolatedRoot, EliminationError> {
        let lower_sign = self.sign_at(&lower);
        // The denominator of a rational root divides the leading coefficient. An interval that is
        // short enough contains at most one fraction with the leading coefficient below.
        let leading = RBig::from(self.leading().clone().abs());
        let leading_bits = self.leading().bit_len();
        while (&upper - &lower) * &leading >= RBig::ONE {
            let bits = lower.denominator().bit_len() * self.degree() + leading_bits;
            work.step_with_numbers(self.degree(), bits)?;
            match self.halved(lower, upper, lower_sign) {
                IsolatedRoot::Between(left, right) => (lower, upper) = (left, right),
                exact @ IsolatedRoot::Exact(_) => return Ok(exact),
            }
        }
        let candidate = RBig::from((&upper * &leading).floor()) / &leading;
        if candidate > lower && self.sign_at(&candidate) == ZERO {
            return Ok(IsolatedRoot::Exact(candidate));
        }
        Ok(IsolatedRoot::Between(lower, upper))
    }

    /// Returns the quotient by the linear polynomial with the given root.
    fn without_root(&self, root: &RBig) -> IntegerPolynomial {
        let linear = vec![-root.numerator(), IBig::from(root.denominator().clone())];
        let linear = IntegerPolynomial::new(linear).expect("the denominator is not zero");
        self.quotient(&linear)
    }

    /// Isolates the positive roots, or the negative ones if mirrored, by bisection with Descartes'
    /// rule of signs (Collins & Akritas 1976). Returns a root as an error if it is the middle of
    /// an interval. The constant coefficient must not be zero.
    #[allow(clippy::type_complexity)]
    fn positive_roots(
        &self,
        mirror: bool,
        work: &Work<'_>,
    ) -> Result<Result<Vec<(RBig, RBig)>, RBig>, EliminationError> {
        let mut coefficients = self.coefficients.clone();
        if mirror {
            for number in coefficients.iter_mut().skip(1).step_by(2) {
                *number = -std::mem::take(number);
            }
        }
        if sign_variations(&coefficients) == 0 {
            return Ok(Ok(Vec::new()));
        }
        let bound = self.root_bound_exponent();
        scale_by_power_of_two(&mut coefficients, bound);
        let endpoint = |place: &IBig, depth: usize| {
            let number = RBig::from_parts(place.clone(), UBig::ONE << depth);
            let scale = UBig::ONE << bound.unsigned_abs();
            let number = if bound < 0 { number / scale } else { number * scale };
            if mirror { -number } else { number }
        };
        let mut found = Vec::new();
        // Each entry has a polynomial whose roots between 0 and 1 are the roots of the first one
        // between `place / 2^depth` and `(place + 1) / 2^depth`.
        let mut open = vec![(coefficients, IBig::ZERO, 0usize)];
        while let Some((polynomial, place, depth)) = open.pop() {
            let bits = polynomial.iter().map(BitTest::bit_len).max().unwrap_or(0);
            work.step_with_numbers(polynomial.len() * polynomial.len(), bits)?;
            let mut reversed: Vec<IBig> = polynomial.iter().rev().cloned().collect();
            shift_by_one(&mut reversed);
            match sign_variations(&reversed) {
                0 => {}
                1 => {
                    let ends = (endpoint(&place, depth), endpoint(&(&place + IBig::ONE), depth));
                    found.push(if mirror { (ends.1, ends.0) } else { ends });
                }
                _ => {
                    let mut left = polynomial;
                    scale_by_power_of_two(&mut left, -1);
                    work.check_number(&left[0])?;
                    let mut right = left.clone();
                    shift_by_one(&mut right);
                    let middle = &place * IBig::from(2) + IBig::ONE;
                    if right[0].is_zero() {
                        return Ok(Err(endpoint(&middle, depth + 1)));
                    }
                    open.push((right, middle, depth + 1));
                    open.push((left, place * IBig::from(2), depth + 1));
                }
            }
        }
        Ok(Ok(found))
    }

    /// Returns an exponent `k` such that all real roots are smaller in size than `2^k`, by the
    /// bound of Fujiwara (1916) with the sizes of coefficients rounded to powers of two.
    fn root_bound_exponent(&self) -> isize {
        let leading_bits = self.leading().bit_len() as isize;
        let degree = self.degree();
        let one_bound = |(exponent, number): (usize, &IBig)| {
            let bits = number.bit_len() as isize - leading_bits + 1;
            // Rounded up, also for negative numbers.
            -(-bits).div_euclid((degree - exponent) as isize)
        };
        let pairs = self.coefficients.iter().enumerate().take(degree);
        let nonzero = pairs.filter(|(_, number)| !number.is_zero());
        1 + nonzero.map(one_bound).max().unwrap_or(0)
    }
}

/// Returns the set with the sign of an integer.
pub(crate) fn sign_of_integer(number: &IBig) -> SignSet {
    if number.is_zero() {
        ZERO
    } else if number.is_negative() {
        NEGATIVE
    } else {
        POSITIVE
    }
}

fn sign_variations(coefficients: &[IBig]) -> usize {
    let mut n_variations = 0;
    let mut last = None;
    for number in coefficients.iter().filter(|number| !number.is_zero()) {
        let is_negative = number.is_negative();
        if last.is_some_and(|last| last != is_negative) {
            n_variations += 1;
        }
        last = Some(is_negative);
    }
    n_variations
}

/// Replaces `p(x)` by `p(x + 1)`.
fn shift_by_one(coefficients: &mut [IBig]) {
    let n = coefficients.len();
    for round in 0..n {
        for place in (round..n - 1).rev() {
            let above = coefficients[place + 1].clone();
            coefficients[place] += above;
        }
    }
}

/// Replaces `p(x)` by a positive multiple of `p(2^exponent * x)` with integer coefficients.
fn scale_by_power_of_two(coefficients: &mut [IBig], exponent: isize) {
    let last = coefficients.len() - 1;
    for (place, number) in coefficients.iter_mut().enumerate() {
        let power = if exponent < 0 { last - place } else { place };
        *number <<= power * exponent.unsigned_abs();
    }
}
