//! Number systems in which terms are evaluated.

use crate::interval::Interval;
use crate::rational::Rational;
use crate::real::Real;

/// Truth in three values (Kleene 1938).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Truth {
    /// It does not hold.
    False,
    /// It is not known whether it holds.
    Unknown,
    /// It holds.
    True,
}

impl Truth {
    /// Returns the value of a decided condition.
    pub fn of(holds: bool) -> Truth {
        if holds { Truth::True } else { Truth::False }
    }

    /// Returns whether it is known to hold.
    pub fn is_true(self) -> bool {
        self == Truth::True
    }

    /// Returns the negation.
    // Named like the connective; the operator trait would not say more.
    #[allow(clippy::should_implement_trait)]
    pub fn not(self) -> Truth {
        match self {
            Truth::False => Truth::True,
            Truth::Unknown => Truth::Unknown,
            Truth::True => Truth::False,
        }
    }

    /// Returns the conjunction.
    pub fn and(self, other: Truth) -> Truth {
        match (self, other) {
            (Truth::False, _) | (_, Truth::False) => Truth::False,
            (Truth::True, Truth::True) => Truth::True,
            _ => Truth::Unknown,
        }
    }

    /// Returns the disjunction.
    pub fn or(self, other: Truth) -> Truth {
        self.not().and(other.not()).not()
    }
}

/// A number system. Operations return `None` where the result is undefined.
pub trait Domain {
    /// A number.
    type Value: Clone;

    /// The truth of a comparison with an undefined side.
    const UNDEFINED: Truth;

    /// Returns an exact constant.
    fn number(&self, number: Rational) -> Option<Self::Value>;
    /// Returns a constant of which an interval is known.
    fn interval(&self, interval: Interval) -> Option<Self::Value>;
    /// Returns the sum.
    fn add(&self, left: &Self::Value, right: &Self::Value) -> Option<Self::Value>;
    /// Returns the difference.
    fn subtract(&self, left: &Self::Value, right: &Self::Value) -> Option<Self::Value>;
    /// Returns the product.
    fn multiply(&self, left: &Self::Value, right: &Self::Value) -> Option<Self::Value>;
    /// Returns the quotient.
    fn divide(&self, left: &Self::Value, right: &Self::Value) -> Option<Self::Value>;
    /// Returns the opposite number.
    fn negate(&self, inner: &Self::Value) -> Option<Self::Value>;
    /// Returns the power with an integer exponent.
    fn power_integer(&self, base: &Self::Value, exponent: i32) -> Option<Self::Value>;
    /// Returns the power.
    fn power(&self, base: &Self::Value, exponent: &Self::Value) -> Option<Self::Value>;
    /// Returns the n-th root.
    fn root(&self, inner: &Self::Value, degree: u32) -> Option<Self::Value>;
    /// Returns the sine.
    fn sin(&self, inner: &Self::Value) -> Option<Self::Value>;
    /// Returns the cosine.
    fn cos(&self, inner: &Self::Value) -> Option<Self::Value>;
    /// Returns the exponential.
    fn exp(&self, inner: &Self::Value) -> Option<Self::Value>;
    /// Returns the natural logarithm.
    fn ln(&self, inner: &Self::Value) -> Option<Self::Value>;
    /// Returns the absolute value.
    fn abs(&self, inner: &Self::Value) -> Option<Self::Value>;
    /// Returns the lesser number.
    fn min(&self, left: &Self::Value, right: &Self::Value) -> Option<Self::Value>;
    /// Returns the greater number.
    fn max(&self, left: &Self::Value, right: &Self::Value) -> Option<Self::Value>;
    /// Returns whether the first number is less.
    fn less(&self, left: &Self::Value, right: &Self::Value) -> Truth;
    /// Returns whether the first number is less or equal.
    fn at_most(&self, left: &Self::Value, right: &Self::Value) -> Truth;
    /// Returns 1 or 0.
    fn indicator(&self, truth: Truth) -> Option<Self::Value>;
}

/// Real numbers. `a < b` means certainly less, and `a <= b` means that `b < a` is not certain.
#[derive(Copy, Clone, Debug)]
pub struct Reals;

impl Domain for Reals {
    type Value = Real;

    const UNDEFINED: Truth = Truth::False;

    fn number(&self, number: Rational) -> Option<Real> {
        Some(Real::Exact(number))
    }
    fn interval(&self, interval: Interval) -> Option<Real> {
        Some(Real::Interval(interval))
    }
    fn add(&self, left: &Real, right: &Real) -> Option<Real> {
        Some(*left + *right)
    }
    fn subtract(&self, left: &Real, right: &Real) -> Option<Real> {
        Some(*left - *right)
    }
    fn multiply(&self, left: &Real, right: &Real) -> Option<Real> {
        Some(*left * *right)
    }
    fn divide(&self, left: &Real, right: &Real) -> Option<Real> {
        left.div(*right)
    }
    fn negate(&self, inner: &Real) -> Option<Real> {
        Some(-*inner)
    }
    fn power_integer(&self, base: &Real, exponent: i32) -> Option<Real> {
        base.powi(exponent)
    }
    fn power(&self, base: &Real, exponent: &Real) -> Option<Real> {
        base.pow(*exponent)
    }
    fn root(&self, inner: &Real, degree: u32) -> Option<Real> {
        inner.root(degree)
    }
    fn sin(&self, inner: &Real) -> Option<Real> {
        Some(inner.sin())
    }
    fn cos(&self, inner: &Real) -> Option<Real> {
        Some(inner.cos())
    }
    fn exp(&self, inner: &Real) -> Option<Real> {
        Some(inner.exp())
    }
    fn ln(&self, inner: &Real) -> Option<Real> {
        inner.ln()
    }
    fn abs(&self, inner: &Real) -> Option<Real> {
        Some(inner.abs())
    }
    fn min(&self, left: &Real, right: &Real) -> Option<Real> {
        Some(left.min(*right))
    }
    fn max(&self, left: &Real, right: &Real) -> Option<Real> {
        Some(left.max(*right))
    }
    fn less(&self, left: &Real, right: &Real) -> Truth {
        Truth::of(Real::certainly_less(left, right))
    }
    fn at_most(&self, left: &Real, right: &Real) -> Truth {
        Truth::of(!Real::certainly_less(right, left))
    }
    fn indicator(&self, truth: Truth) -> Option<Real> {
        Some(if truth.is_true() { Real::ONE } else { Real::ZERO })
    }
}

/// Intervals, with the comparisons of [`Reals`].
#[derive(Copy, Clone, Debug)]
pub struct Intervals;

impl Domain for Intervals {
    type Value = Interval;

    const UNDEFINED: Truth = Truth::False;

    fn number(&self, number: Rational) -> Option<Interval> {
        Some(Interval::from_rational(number))
    }
    fn interval(&self, interval: Interval) -> Option<Interval> {
        Some(interval)
    }
    fn add(&self, left: &Interval, right: &Interval) -> Option<Interval> {
        Some(*left + *right)
    }
    fn subtract(&self, left: &Interval, right: &Interval) -> Option<Interval> {
        Some(*left - *right)
    }
    fn multiply(&self, left: &Interval, right: &Interval) -> Option<Interval> {
        Some(*left * *right)
    }
    fn divide(&self, left: &Interval, right: &Interval) -> Option<Interval> {
        left.div(*right)
    }
    fn negate(&self, inner: &Interval) -> Option<Interval> {
        Some(-*inner)
    }
    fn power_integer(&self, base: &Interval, exponent: i32) -> Option<Interval> {
        base.powi(exponent)
    }
    fn power(&self, base: &Interval, exponent: &Interval) -> Option<Interval> {
        base.pow(*exponent)
    }
    fn root(&self, inner: &Interval, degree: u32) -> Option<Interval> {
        inner.root(degree)
    }
    fn sin(&self, inner: &Interval) -> Option<Interval> {
        Some(inner.sin())
    }
    fn cos(&self, inner: &Interval) -> Option<Interval> {
        Some(inner.cos())
    }
    fn exp(&self, inner: &Interval) -> Option<Interval> {
        Some(inner.exp())
    }
    fn ln(&self, inner: &Interval) -> Option<Interval> {
        inner.ln()
    }
    fn abs(&self, inner: &Interval) -> Option<Interval> {
        Some(inner.abs())
    }
    fn min(&self, left: &Interval, right: &Interval) -> Option<Interval> {
        Some(left.min(*right))
    }
    fn max(&self, left: &Interval, right: &Interval) -> Option<Interval> {
        Some(left.max(*right))
    }
    fn less(&self, left: &Interval, right: &Interval) -> Truth {
        Truth::of(left.hi < right.lo)
    }
    fn at_most(&self, left: &Interval, right: &Interval) -> Truth {
        Truth::of(left.lo <= right.hi)
    }
    fn indicator(&self, truth: Truth) -> Option<Interval> {
        Some(if truth.is_true() { Interval::ONE } else { Interval::ZERO })
    }
}
