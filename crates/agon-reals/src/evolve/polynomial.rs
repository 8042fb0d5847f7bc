//! Polynomials in one variable over any number system.

use crate::domain::{Domain, Truth};
use crate::interval::Interval;
use crate::rational::Rational;

/// Polynomials with coefficients in another domain. A value is the list of coefficients, lowest
/// first. Operations that lead out of the polynomials are defined on constants only.
#[derive(Copy, Clone, Debug)]
pub(super) struct Polynomials<D> {
    /// The domain of the coefficients.
    pub(super) coefficients: D,
    /// Maximum degree. Products of a higher degree are undefined.
    pub(super) max_degree: usize,
}

impl<D: Domain> Polynomials<D> {
    /// Returns the sum or difference of two polynomials.
    fn combine(
        &self,
        left: &[D::Value],
        right: &[D::Value],
        both: impl Fn(&D::Value, &D::Value) -> Option<D::Value>,
        right_only: impl Fn(&D::Value) -> Option<D::Value>,
    ) -> Option<Vec<D::Value>> {
        (0..left.len().max(right.len()))
            .map(|power| match (left.get(power), right.get(power)) {
                (Some(left), Some(right)) => both(left, right),
                (Some(left), None) => Some(left.clone()),
                (None, Some(right)) => right_only(right),
                (None, None) => None,
            })
            .collect()
    }

    /// Applies a function to a constant.
    fn constant(
        &self,
        inner: &[D::Value],
        apply: impl Fn(&D::Value) -> Option<D::Value>,
    ) -> Option<Vec<D::Value>> {
        match inner {
            [constant] => apply(constant).map(|value| vec![value]),
            _ => None,
        }
    }

    fn constants(
        &self,
        left: &[D::Value],
        right: &[D::Value],
        apply: impl Fn(&D::Value, &D::Value) -> Option<D::Value>,
    ) -> Option<Vec<D::Value>> {
        match (left, right) {
            ([left], [right]) => apply(left, right).map(|value| vec![value]),
            _ => None,
        }
    }
}

/// Invariant: a polynomial has at least one coefficient.
impl<D: Domain> Domain for Polynomials<D> {
    type Value = Vec<D::Value>;

    // An operand may be undefined or only not a polynomial.
    const UNDEFINED: Truth = Truth::Unknown;

    fn number(&self, number: Rational) -> Option<Self::Value> {
        self.coefficients.number(number).map(|value| vec![value])
    }
    fn interval(&self, interval: Interval) -> Option<Self::Value> {
        self.coefficients.interval(interval).map(|value| vec![value])
    }
    fn add(&self, left: &Self::Value, right: &Self::Value) -> Option<Self::Value> {
        let inner = &self.coefficients;
        self.combine(left, right, |l, r| inner.add(l, r), |r| Some(r.clone()))
    }
    fn subtract(&self, left: &Self::Value, right: &Self::Value) -> Option<Self::Value> {
        let inner = &self.coefficients;
        self.combine(left, right, |l, r| inner.subtract(l, r), |r| inner.negate(r))
    }
    fn multiply(&self, left: &Self::Value, right: &Self::Value) -> Option<Self::Value> {
        let inner = &self.coefficients;
        if left.len() + right.len() - 2 > self.max_degree {
            return None;
        }
        let mut result: Vec<Option<D::Value>> = vec![None; left.len() + right.len() - 1];
        for (i, l) in left.iter().enumerate() {
            for (j, r) in right.iter().enumerate() {
                let term = inner.multiply(l, r)?;
                result[i + j] = Some(match &result[i + j] {
                    Some(sum) => inner.add(sum, &term)?,
                    None => term,
                });
            }
        }
        result.into_iter().collect()
    }
    fn divide(&self, left: &Self::Value, right: &Self::Value) -> Option<Self::Value> {
        let [divisor] = right.as_slice() else { return None };
        left.iter().map(|value| self.coefficients.divide(value, divisor)).collect()
    }
    fn negate(&self, inner: &Self::Value) -> Option<Self::Value> {
        inner.iter().map(|value| self.coefficients.negate(value)).collect()
    }
    fn power_integer(&self, base: &Self::Value, exponent: i32) -> Option<Self::Value> {
        if let [base] = base.as_slice() {
            return self.coefficients.power_integer(base, exponent).map(|value| vec![value]);
        }
        let exponent = usize::try_from(exponent).ok()?;
        if exponent > self.max_degree {
            return None;
        }
        let mut result = self.number(Rational::ONE)?;
        for _ in 0..exponent {
            result = self.multiply(&result, base)?;
        }
        Some(result)
    }
    fn power(&self, base: &Self::Value, exponent: &Self::Value) -> Option<Self::Value> {
        self.constants(base, exponent, |b, e| self.coefficients.power(b, e))
    }
    fn root(&self, inner: &Self::Value, degree: u32) -> Option<Self::Value> {
        self.constant(inner, |value| self.coefficients.root(value, degree))
    }
    fn sin(&self, inner: &Self::Value) -> Option<Self::Value> {
        self.constant(inner, |value| self.coefficients.sin(value))
    }
    fn cos(&self, inner: &Self::Value) -> Option<Self::Value> {
        self.constant(inner, |value| self.coefficients.cos(value))
    }
    fn exp(&self, inner: &Self::Value) -> Option<Self::Value> {
        self.constant(inner, |value| self.coefficients.exp(value))
    }
    fn ln(&self, inner: &Self::Value) -> Option<Self::Value> {
        self.constant(inner, |value| self.coefficients.ln(value))
    }
    fn abs(&self, inner: &Self::Value) -> Option<Self::Value> {
        self.constant(inner, |value| self.coefficients.abs(value))
    }
    fn min(&self, left: &Self::Value, right: &Self::Value) -> Option<Self::Value> {
        self.constants(left, right, |l, r| self.coefficients.min(l, r))
    }
    fn max(&self, left: &Self::Value, right: &Self::Value) -> Option<Self::Value> {
        self.constants(left, right, |l, r| self.coefficients.max(l, r))
    }
    fn less(&self, left: &Self::Value, right: &Self::Value) -> Truth {
        match (left.as_slice(), right.as_slice()) {
            ([left], [right]) => self.coefficients.less(left, right),
            _ => Truth::Unknown,
        }
    }
    fn at_most(&self, left: &Self::Value, right: &Self::Value) -> Truth {
        match (left.as_slice(), right.as_slice()) {
            ([left], [right]) => self.coefficients.at_most(left, right),
            _ => Truth::Unknown,
        }
    }
    fn indicator(&self, truth: Truth) -> Option<Self::Value> {
        match truth {
            Truth::Unknown => None,
            known => self.coefficients.indicator(known).map(|value| vec![value]),
        }
    }
}
