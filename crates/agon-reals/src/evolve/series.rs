//! Truncated power series with interval coefficients.
//!
//! The series of a term along a solution gives its Taylor coefficients with certain bounds (Moore
//! 1966). Where a function has a kink or a jump, series of order 0 and 1 still bound its values and
//! its slopes; higher orders are undefined there.

use crate::domain::{Domain, Truth};
use crate::interval::Interval;
use crate::program::Program;
use crate::rational::Rational;

/// Power series up to some order. A value is the list of coefficients, lowest first; missing ones
/// are zero. An operation is undefined if it is not defined for all members of the constant
/// coefficients.
#[derive(Copy, Clone, Debug)]
pub(super) struct PowerSeries {
    /// The greatest power that is kept.
    pub(super) order: usize,
}

/// Returns the Taylor coefficients of the solution of a system of differential equations, up to an
/// order, from a state at a time; `None` if a derivative may be undefined or has a kink.
pub(super) fn solution_series(
    derivatives: &Program,
    state: &[Interval],
    time: Interval,
    order: usize,
) -> Option<Vec<Vec<Interval>>> {
    let mut solution: Vec<Vec<Interval>> = state.iter().map(|value| vec![*value]).collect();
    let clock = vec![time, Interval::ONE];
    // Each coefficient follows from those before, because the derivative of a series is the series
    // with shifted coefficients.
    for power in 0..order {
        let series = PowerSeries { order: power };
        let slopes = derivatives.run(&series, &solution, &clock).values;
        let divisor = Interval::point((power + 1) as f64);
        for (coefficients, slope) in solution.iter_mut().zip(slopes) {
            let next = slope?.get(power).copied().unwrap_or(Interval::ZERO);
            coefficients.push(next.div(divisor)?);
        }
    }
    Some(solution)
}

type Series = Vec<Interval>;

impl PowerSeries {
    fn at(series: &[Interval], power: usize) -> Interval {
        series.get(power).copied().unwrap_or(Interval::ZERO)
    }

    fn n_kept(self, series: &[Interval]) -> usize {
        series.len().min(self.order + 1)
    }

    /// Returns the number of coefficients of a function of a series: one if the series is constant.
    fn n_results(self, series: &[Interval]) -> usize {
        if self.n_kept(series) <= 1 { 1 } else { self.order + 1 }
    }

    fn scaled(series: &[Interval], factor: Interval) -> Series {
        series.iter().map(|value| *value * factor).collect()
    }

    /// Returns sine and cosine, which need each other.
    fn sine_and_cosine(self, inner: &[Interval]) -> Option<(Series, Series)> {
        let (mut sine, mut cosine) = (vec![inner[0].sin()], vec![inner[0].cos()]);
        for power in 1..self.n_results(inner) {
            let (mut s, mut c) = (Interval::ZERO, Interval::ZERO);
            for part in 1..=power {
                let factor = Interval::point(part as f64) * Self::at(inner, part);
                s = s + factor * cosine[power - part];
                c = c - factor * sine[power - part];
            }
            let divisor = Interval::point(power as f64);
            sine.push(s.div(divisor)?);
            cosine.push(c.div(divisor)?);
        }
        Some((sine, cosine))
    }

    /// Returns the power with a constant exponent of a series whose first coefficient is not zero,
    /// given the power of that coefficient.
    fn constant_power(
        self,
        base: &[Interval],
        exponent: Interval,
        first: Interval,
    ) -> Option<Series> {
        let mut result = vec![first];
        for power in 1..self.n_results(base) {
            let mut sum = Interval::ZERO;
            for part in 1..=power {
                let factor = exponent * Interval::point(part as f64)
                    - Interval::point((power - part) as f64);
                sum = sum + factor * Self::at(base, part) * result[power - part];
            }
            result.push(sum.div(Interval::point(power as f64) * base[0])?);
        }
        Some(result)
    }

    /// Returns a series that bounds one of two, where it is not known which one.
    fn either(self, left: &[Interval], right: &[Interval], first: Interval) -> Option<Series> {
        match self.order {
            0 => Some(vec![first]),
            1 => Some(vec![first, Self::at(left, 1).hull(Self::at(right, 1))]),
            _ => None,
        }
    }
}

impl Domain for PowerSeries {
    type Value = Series;

    const UNDEFINED: Truth = Truth::Unknown;

    fn number(&self, number: Rational) -> Option<Series> {
        Some(vec![Interval::from_rational(number)])
    }
    fn interval(&self, interval: Interval) -> Option<Series> {
        Some(vec![interval])
    }
    fn add(&self, left: &Series, right: &Series) -> Option<Series> {
        let n_terms = self.n_kept(left).max(self.n_kept(right));
        Some((0..n_terms).map(|power| Self::at(left, power) + Self::at(right, power)).collect())
    }
    fn subtract(&self, left: &Series, right: &Series) -> Option<Series> {
        let n_terms = self.n_kept(left).max(self.n_kept(right));
        Some((0..n_terms).map(|power| Self::at(left, power) - Self::at(right, power)).collect())
    }
    fn multiply(&self, left: &Series, right: &Series) -> Option<Series> {
        let n_terms = (left.len() + right.len() - 1).min(self.order + 1);
        let mut result = vec![Interval::ZERO; n_terms];
        for (i, l) in left.iter().enumerate().take(n_terms) {
            for (j, r) in right.iter().enumerate().take(n_terms - i) {
                result[i + j] = result[i + j] + *l * *r;
            }
        }
        Some(result)
    }
    fn divide(&self, left: &Series, right: &Series) -> Option<Series> {
        if right[0].contains(0.0) {
            return None;
        }
        let n_terms = if self.n_kept(right) <= 1 { self.n_kept(left) } else { self.order + 1 };
        let mut result: Series = Vec::with_capacity(n_terms);
        for power in 0..n_terms {
            let mut rest = Self::at(left, power);
            for (earlier, quotient) in result.iter().enumerate() {
                rest = rest - *quotient * Self::at(right, power - earlier);
            }
            result.push(rest.div(right[0])?);
        }
        Some(result)
    }
    fn negate(&self, inner: &Series) -> Option<Series> {
        Some(inner.iter().map(|value| -*value).collect())
    }
    fn power_integer(&self, base: &Series, exponent: i32) -> Option<Series> {
        if exponent < 0 && base[0].contains(0.0) {
            return None;
        }
        let mut result = vec![Interval::ONE];
        let mut square = base.clone();
        let mut rest = exponent.unsigned_abs();
        while rest > 0 {
            if rest % 2 == 1 {
                result = self.multiply(&result, &square)?;
            }
            rest /= 2;
            if rest > 0 {
                square = self.multiply(&square, &square)?;
            }
        }
        // The power of the first coefficient is tighter than its product with itself.
        result[0] = base[0].powi(i32::try_from(exponent.unsigned_abs()).ok()?)?;
        if exponent < 0 { self.divide(&vec![Interval::ONE], &result) } else { Some(result) }
    }
    fn power(&self, base: &Series, exponent: &Series) -> Option<Series> {
        if base[0].lo <= 0.0 {
            return None;
        }
        let logarithm = self.ln(base)?;
        self.exp(&self.multiply(exponent, &logarithm)?)
    }
    fn root(&self, inner: &Series, degree: u32) -> Option<Series> {
        let constant = self.n_results(inner) == 1;
        if degree == 0
            || (degree.is_multiple_of(2) && inner[0].lo < 0.0)
            || (!constant && inner[0].contains(0.0))
        {
            return None;
        }
        let exponent = Interval::ONE.div(Interval::point(f64::from(degree)))?;
        self.constant_power(inner, exponent, inner[0].root(degree)?)
    }
    fn sin(&self, inner: &Series) -> Option<Series> {
        self.sine_and_cosine(inner).map(|(sine, _)| sine)
    }
    fn cos(&self, inner: &Series) -> Option<Series> {
        self.sine_and_cosine(inner).map(|(_, cosine)| cosine)
    }
    fn exp(&self, inner: &Series) -> Option<Series> {
        let mut result = vec![inner[0].exp()];
        for power in 1..self.n_results(inner) {
            let mut sum = Interval::ZERO;
            for part in 1..=power {
                let factor = Interval::point(part as f64) * Self::at(inner, part);
                sum = sum + factor * result[power - part];
            }
            result.push(sum.div(Interval::point(power as f64))?);
        }
        Some(result)
    }
    fn ln(&self, inner: &Series) -> Option<Series> {
        if inner[0].lo <= 0.0 {
            return None;
        }
        let mut result = vec![inner[0].ln()?];
        for power in 1..self.n_results(inner) {
            let mut sum = Interval::ZERO;
            for (part, value) in result.iter().enumerate().skip(1) {
                sum = sum + Interval::point(part as f64) * *value * Self::at(inner, power - part);
            }
            let rest = Self::at(inner, power) - sum.div(Interval::point(power as f64))?;
            result.push(rest.div(inner[0])?);
        }
        Some(result)
    }
    fn abs(&self, inner: &Series) -> Option<Series> {
        if inner[0].lo > 0.0 || (self.n_results(inner) == 1 && inner[0].lo >= 0.0) {
            return Some(inner.clone());
        }
        let opposite = Self::scaled(inner, Interval::point(-1.0));
        if inner[0].hi < 0.0 {
            return Some(opposite);
        }
        if self.n_results(inner) == 1 {
            return Some(vec![inner[0].abs()]);
        }
        self.either(inner, &opposite, inner[0].abs())
    }
    fn min(&self, left: &Series, right: &Series) -> Option<Series> {
        if left[0].hi < right[0].lo {
            return Some(left.clone());
        }
        if right[0].hi < left[0].lo {
            return Some(right.clone());
        }
        if self.n_results(left) == 1 && self.n_results(right) == 1 {
            return Some(vec![left[0].min(right[0])]);
        }
        self.either(left, right, left[0].min(right[0]))
    }
    fn max(&self, left: &Series, right: &Series) -> Option<Series> {
        let opposite = self.min(&self.negate(left)?, &self.negate(right)?)?;
        self.negate(&opposite)
    }
    fn less(&self, left: &Series, right: &Series) -> Truth {
        let constant = self.n_results(left) == 1 && self.n_results(right) == 1;
        if left[0].hi < right[0].lo {
            Truth::True
        } else if right[0].hi < left[0].lo || (constant && right[0].hi <= left[0].lo) {
            // Equal values of series that move may be in order immediately afterwards.
            Truth::False
        } else {
            Truth::Unknown
        }
    }
    fn at_most(&self, left: &Series, right: &Series) -> Truth {
        self.less(right, left).not()
    }
    fn indicator(&self, truth: Truth) -> Option<Series> {
        match truth {
            Truth::True => Some(vec![Interval::ONE]),
            Truth::False => Some(vec![Interval::ZERO]),
            Truth::Unknown if self.order == 0 => Some(vec![Interval { lo: 0.0, hi: 1.0 }]),
            Truth::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests;
