//! Polynomials whose coefficients are known up to an error.

use agon_reals::elimination::{Polynomial, RBig, RealFormula, Sign as RealSign, simplify};
use agon_reals::interval::Interval;
use agon_reals::real::Real;
use agon_structures::formula::Sign;

use super::ContinuousError;

/// Maximum number of terms of a polynomial under a quantifier.
pub(super) const MAX_TERMS: usize = 10_000;

/// Maximum number of products of an inexact number and numbers of unknown sign in one comparison.
/// The comparison becomes one for each combination of signs. Products beyond that count with the
/// middles of their coefficients.
const MAX_SIGNED: usize = 4;

/// The polynomials whose coefficients differ from those of `middle` by at most the coefficients of
/// `radius`, which are not negative.
#[derive(Clone, Debug)]
pub(super) struct Inexact {
    middle: Polynomial,
    radius: Polynomial,
}

impl Inexact {
    /// Returns a polynomial whose coefficients are known.
    pub(super) fn exact(middle: Polynomial) -> Inexact {
        Inexact { middle, radius: Polynomial::zero() }
    }

    /// Returns a number. Refuses infinite ones.
    pub(super) fn number(number: Real) -> Result<Inexact, ContinuousError> {
        let interval = match number {
            Real::Exact(number) => return Ok(Inexact::exact(Polynomial::from(number))),
            Real::Interval(interval) => interval,
        };
        if !interval.is_finite() {
            let what = "an infinite number".to_owned();
            return Err(ContinuousError::NotPolynomial(what));
        }
        // Rounding up to the next double keeps the radius a bound.
        let radius = if interval.lo < interval.hi { interval.radius().next_up() } else { 0.0 };
        let (middle, radius) = (rational(interval.midpoint())?, rational(radius)?);
        Ok(Inexact { middle: Polynomial::from(middle), radius: Polynomial::from(radius) })
    }

    /// Returns the polynomial with the middles of the coefficients.
    pub(super) fn middle(&self) -> &Polynomial {
        &self.middle
    }

    /// Returns the polynomial with the greatest errors of the coefficients.
    pub(super) fn radius(&self) -> &Polynomial {
        &self.radius
    }

    /// Adds errors of the coefficients, which are not negative.
    pub(super) fn with_error(self, radius: &Polynomial) -> Inexact {
        Inexact { radius: &self.radius + radius, middle: self.middle }
    }

    /// Returns a polynomial without variables as a number.
    pub(super) fn as_number(&self) -> Option<Real> {
        let (middle, radius) = (self.middle.as_constant()?, self.radius.as_constant()?);
        if radius.is_zero()
            && let Some(exact) = super::quantify::rational(&middle)
        {
            return Some(Real::Exact(exact));
        }
        let (low, high) = (&middle - &radius, &middle + &radius);
        let (low, high) = (low.to_f64().value().next_down(), high.to_f64().value().next_up());
        Interval::new(low, high).map(Real::Interval)
    }

    pub(super) fn plus(&self, other: &Inexact) -> Inexact {
        Inexact { middle: &self.middle + &other.middle, radius: &self.radius + &other.radius }
    }

    pub(super) fn minus(&self, other: &Inexact) -> Inexact {
        Inexact { middle: &self.middle - &other.middle, radius: &self.radius + &other.radius }
    }

    /// Returns the product, or `None` if it has too many terms.
    pub(super) fn times(&self, other: &Inexact) -> Option<Inexact> {
        let middle = self.middle.times(&other.middle, MAX_TERMS)?;
        let mut radius = Polynomial::zero();
        if !self.radius.is_zero() || !other.radius.is_zero() {
            let (left, right) = (self.middle.absolute(), other.middle.absolute());
            let left = &left + &self.radius;
            radius =
                &left.times(&other.radius, MAX_TERMS)? + &self.radius.times(&right, MAX_TERMS)?;
        }
        Some(Inexact { middle, radius })
    }

    pub(super) fn power(&self, exponent: u32) -> Option<Inexact> {
        if self.radius.is_zero() {
            return Some(Inexact::exact(self.middle.power(exponent, MAX_TERMS)?));
        }
        let mut result = Inexact::exact(Polynomial::one());
        for _ in 0..exponent {
            result = result.times(self)?;
        }
        Some(result)
    }

    pub(super) fn scaled(&self, factor: &RBig) -> Inexact {
        let size = if *factor < RBig::ZERO { -factor.clone() } else { factor.clone() };
        Inexact { middle: self.middle.scaled(factor), radius: self.radius.scaled(&size) }
    }

    /// Compares with zero: `<` holds only if it holds for all coefficients within their errors.
    pub(super) fn compared(&self, sign: Sign) -> RealFormula {
        let atom = |polynomial: Polynomial, sign: RealSign| match polynomial.as_constant() {
            Some(number) => RealFormula::truth(sign.holds(&number)),
            None => RealFormula::Compare(polynomial, sign),
        };
        if self.radius.is_zero() {
            let sign = match sign {
                Sign::Equal => RealSign::Equal,
                Sign::Unequal => RealSign::NotEqual,
                Sign::Less => RealSign::Less,
                Sign::AtMost => RealSign::LessOrEqual,
                Sign::Greater => RealSign::Greater,
                Sign::AtLeast => RealSign::GreaterOrEqual,
            };
            return atom(self.middle.clone(), sign);
        }
        // The greatest error is one of these polynomials, at each point.
        let mut errors = vec![Polynomial::zero()];
        let mut n_signed = 0;
        for (monomial, coefficient) in self.radius.terms() {
            let is_square = monomial.iter().all(|(_, exponent)| exponent % 2 == 0);
            let term = Polynomial::term(monomial, coefficient.clone());
            if !is_square {
                n_signed += 1;
                if n_signed > MAX_SIGNED {
                    continue;
                }
                let negative: Vec<Polynomial> = errors.iter().map(|error| error - &term).collect();
                errors.iter_mut().for_each(|error| *error = &*error + &term);
                errors.extend(negative);
            } else {
                errors.iter_mut().for_each(|error| *error = &*error + &term);
            }
        }
        let less = || {
            let parts = errors.iter().map(|error| atom(&self.middle + error, RealSign::Less));
            RealFormula::And(parts.collect())
        };
        let greater = || {
            let parts = errors.iter().map(|error| atom(&self.middle - error, RealSign::Greater));
            RealFormula::And(parts.collect())
        };
        simplify(&match sign {
            Sign::Less => less(),
            Sign::Greater => greater(),
            Sign::AtMost => greater().negation(),
            Sign::AtLeast => less().negation(),
            Sign::Equal => RealFormula::And(vec![less().negation(), greater().negation()]),
            Sign::Unequal => RealFormula::Or(vec![less(), greater()]),
        })
    }
}

/// Returns a finite double as a rational number.
fn rational(number: f64) -> Result<RBig, ContinuousError> {
    let infinite = |_| ContinuousError::NotPolynomial("an infinite number".to_owned());
    RBig::try_from(number).map_err(infinite)
}
