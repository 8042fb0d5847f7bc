//! Elimination of a variable by virtual substitution (Weispfenning 1993 and 1997, Loos &
//! Weispfenning 1993).
//!
//! The solutions of a formula in one variable are a union of intervals. One of them has a left end:
//! minus infinity, a root of a polynomial that belongs to the interval, or a root that does not,
//! with the points just right of it inside. So some solution exists exactly if the formula holds
//! at minus infinity, at a root, or infinitesimally right of a root, for one of finitely many
//! roots. Roots of linear and quadratic polynomials are expressions of the form
//! `(p + q sqrt(r)) / s`. Substituting one into a comparison gives a formula without the root.

use super::formula::{RealFormula, Sign};
use super::limits::{EliminationError, Work};
use super::polynomial::Polynomial;

/// The expression `(plain + factor * sqrt(radicand)) / divisor`.
struct RootExpression {
    plain: Polynomial,
    factor: Polynomial,
    radicand: Polynomial,
    divisor: Polynomial,
}

/// A place where a formula is to be tested.
enum Place {
    MinusInfinity,
    At(RootExpression),
    JustRightOf(RootExpression),
}

/// A place, and the condition under which it exists.
pub(crate) struct TestPoint {
    guard: RealFormula,
    place: Place,
}

/// Returns the test points of a formula without negations, or `None` if a polynomial has a degree
/// above 2 in the variable.
pub(crate) fn test_points(
    formula: &RealFormula,
    variable: u32,
    work: &Work<'_>,
) -> Result<Option<Vec<TestPoint>>, EliminationError> {
    let mut atoms: Vec<(&Polynomial, Sign)> = Vec::new();
    formula.for_each_atom(&mut |polynomial, sign| {
        if polynomial.mentions(variable) {
            atoms.push((polynomial, sign));
        }
    });
    atoms.sort_unstable();
    atoms.dedup();
    let mut points = vec![TestPoint { guard: RealFormula::True, place: Place::MinusInfinity }];
    for (polynomial, sign) in atoms {
        let coefficients = polynomial.coefficients(variable);
        if coefficients.len() > 3 {
            return Ok(None);
        }
        points.extend(left_ends(&coefficients, sign, work)?);
    }
    Ok(Some(points))
}

/// Returns the roots of a polynomial of degree 1 or 2, for a formula that is a conjunction with the
/// equation that the polynomial is zero; `None` if the degree is higher. The roots are all test
/// points that such a formula needs, unless all coefficients are zero.
pub(crate) fn roots_of_equation(
    polynomial: &Polynomial,
    variable: u32,
    work: &Work<'_>,
) -> Result<Option<Vec<TestPoint>>, EliminationError> {
    let coefficients = polynomial.coefficients(variable);
    if coefficients.len() > 3 {
        return Ok(None);
    }
    left_ends(&coefficients, Sign::Equal, work).map(Some)
}

impl TestPoint {
    /// Returns a formula without the variable that holds exactly if the point exists and the given
    /// formula, which must not have negations, holds there.
    pub(crate) fn substitute(
        &self,
        formula: &RealFormula,
        variable: u32,
        work: &Work<'_>,
    ) -> Result<RealFormula, EliminationError> {
        let substituted = self.place.substitute(formula, variable, work)?;
        Ok(RealFormula::And(vec![self.guard.clone(), substituted]))
    }
}

/// Returns the roots that can be left ends of the solutions of a comparison: where it becomes true
/// at the root or just right of it.
fn left_ends(
    coefficients: &[Polynomial],
    sign: Sign,
    work: &Work<'_>,
) -> Result<Vec<TestPoint>, EliminationError> {
    let zero = Polynomial::zero();
    let coefficient = |place: usize| coefficients.get(place).unwrap_or(&zero);
    let (c, b, a) = (coefficient(0), coefficient(1), coefficient(2));
    let place = |expression: RootExpression| match sign {
        Sign::Equal | Sign::LessOrEqual | Sign::GreaterOrEqual => Place::At(expression),
        Sign::NotEqual | Sign::Less | Sign::Greater => Place::JustRightOf(expression),
    };
    let mut points = Vec::new();
    // A linear polynomial becomes positive at its root if it increases.
    let slope = match sign {
        Sign::Equal | Sign::NotEqual => Sign::NotEqual,
        Sign::Less | Sign::LessOrEqual => Sign::Less,
        Sign::Greater | Sign::GreaterOrEqual => Sign::Greater,
    };
    let linear_guard = RealFormula::And(vec![
        RealFormula::Compare(a.clone(), Sign::Equal),
        RealFormula::Compare(b.clone(), slope),
    ]);
    if !b.is_zero() && a.as_constant().is_none_or(|a| a.is_zero()) {
        let root = RootExpression {
            plain: -c,
            factor: Polynomial::zero(),
            radicand: Polynomial::zero(),
            divisor: b.clone(),
        };
        points.push(TestPoint { guard: linear_guard, place: place(root) });
    }
    if a.is_zero() {
        return Ok(points);
    }
    let four = Polynomial::from(4);
    let radicand = &work.times(b, b)? - &work.times(&four, &work.times(a, c)?)?;
    let guard = RealFormula::And(vec![
        RealFormula::Compare(a.clone(), Sign::NotEqual),
        RealFormula::Compare(radicand.clone(), Sign::GreaterOrEqual),
    ]);
    // Right of the root with `+ sqrt`, a quadratic polynomial is positive, and right of the other
    // one it is negative, whichever way the parabola opens: between the roots it has the opposite
    // sign of `a`, and the sign of `a` decides which root is the left one.
    let factors: &[i64] = match sign {
        Sign::Equal | Sign::NotEqual => &[-1, 1],
        Sign::Less | Sign::LessOrEqual => &[-1],
        Sign::Greater | Sign::GreaterOrEqual => &[1],
    };
    for factor in factors {
        let root = RootExpression {
            plain: -b,
            factor: Polynomial::from(*factor),
            radicand: radicand.clone(),
            divisor: a.scaled(&2.into()),
        };
        points.push(TestPoint { guard: guard.clone(), place: place(root) });
    }
    Ok(points)
}

impl Place {
    fn substitute(
        &self,
        formula: &RealFormula,
        variable: u32,
        work: &Work<'_>,
    ) -> Result<RealFormula, EliminationError> {
        let parts = |parts: &[RealFormula]| -> Result<Vec<RealFormula>, EliminationError> {
            parts.iter().map(|part| self.substitute(part, variable, work)).collect()
        };
        match formula {
            RealFormula::Compare(polynomial, sign) if polynomial.mentions(variable) => {
                work.step(1)?;
                let coefficients = polynomial.coefficients(variable);
                match self {
                    Place::MinusInfinity => Ok(at_minus_infinity(&coefficients, *sign)),
                    Place::At(root) => root.compare(&coefficients, *sign, work),
                    Place::JustRightOf(root) => root.compare_right_of(&coefficients, *sign, work),
                }
            }
            RealFormula::True | RealFormula::False | RealFormula::Compare(..) => {
                Ok(formula.clone())
            }
            RealFormula::And(inner) => Ok(RealFormula::And(parts(inner)?)),
            RealFormula::Or(inner) => Ok(RealFormula::Or(parts(inner)?)),
            RealFormula::Not(_) | RealFormula::Exists(..) | RealFormula::All(..) => {
                unreachable!("test points are only substituted into positive formulas")
            }
        }
    }
}

/// Returns the comparison for values of the variable far to the left.
fn at_minus_infinity(coefficients: &[Polynomial], sign: Sign) -> RealFormula {
    match sign {
        Sign::Equal => all_zero(coefficients),
        Sign::NotEqual => some_nonzero(coefficients),
        Sign::Less | Sign::Greater => {
            // The first coefficient that is not zero decides, with the sign of the power.
            let mut rest = RealFormula::False;
            for (exponent, coefficient) in coefficients.iter().enumerate() {
                let own = if exponent % 2 == 0 { sign } else { sign.mirrored() };
                let decides = RealFormula::Compare(coefficient.clone(), own);
                let is_zero = RealFormula::Compare(coefficient.clone(), Sign::Equal);
                rest = RealFormula::Or(vec![decides, RealFormula::And(vec![is_zero, rest])]);
            }
            rest
        }
        Sign::LessOrEqual => or_zero(at_minus_infinity(coefficients, Sign::Less), coefficients),
        Sign::GreaterOrEqual => {
            or_zero(at_minus_infinity(coefficients, Sign::Greater), coefficients)
        }
    }
}

impl RootExpression {
    /// Returns the comparison of a polynomial at the root.
    fn compare(
        &self,
        coefficients: &[Polynomial],
        sign: Sign,
        work: &Work<'_>,
    ) -> Result<RealFormula, EliminationError> {
        let (plain, factor) = self.value(coefficients, work)?;
        let atom =
            |polynomial: &Polynomial, sign: Sign| RealFormula::Compare(polynomial.clone(), sign);
        if factor.is_zero() || self.radicand.is_zero() {
            return Ok(atom(&plain, sign));
        }
        // The sign of `plain + factor * sqrt(radicand)`, for a radicand that is not negative.
        let squares = work.times(&factor, &factor)?;
        let difference = &work.times(&plain, &plain)? - &work.times(&squares, &self.radicand)?;
        Ok(match sign {
            Sign::Equal => RealFormula::And(vec![
                atom(&work.times(&plain, &factor)?, Sign::LessOrEqual),
                atom(&difference, Sign::Equal),
            ]),
            Sign::NotEqual => RealFormula::Or(vec![
                atom(&work.times(&plain, &factor)?, Sign::Greater),
                atom(&difference, Sign::NotEqual),
            ]),
            Sign::LessOrEqual | Sign::GreaterOrEqual => RealFormula::Or(vec![
                RealFormula::And(vec![atom(&plain, sign), atom(&difference, Sign::GreaterOrEqual)]),
                RealFormula::And(vec![atom(&factor, sign), atom(&difference, Sign::LessOrEqual)]),
            ]),
            Sign::Less | Sign::Greater => {
                let weak =
                    if sign == Sign::Less { Sign::LessOrEqual } else { Sign::GreaterOrEqual };
                RealFormula::Or(vec![
                    RealFormula::And(vec![atom(&plain, sign), atom(&difference, Sign::Greater)]),
                    RealFormula::And(vec![
                        atom(&factor, weak),
                        RealFormula::Or(vec![atom(&plain, sign), atom(&difference, Sign::Less)]),
                    ]),
                ])
            }
        })
    }

    /// Returns the comparison of a polynomial just right of the root: the first derivative that is
    /// not zero at the root decides.
    fn compare_right_of(
        &self,
        coefficients: &[Polynomial],
        sign: Sign,
        work: &Work<'_>,
    ) -> Result<RealFormula, EliminationError> {
        match sign {
            Sign::Equal => Ok(all_zero(coefficients)),
            Sign::NotEqual => Ok(some_nonzero(coefficients)),
            Sign::Less | Sign::Greater => {
                if coefficients.is_empty() {
                    return Ok(RealFormula::False);
                }
                let decides = self.compare(coefficients, sign, work)?;
                if coefficients.len() == 1 {
                    return Ok(decides);
                }
                let is_zero = self.compare(coefficients, Sign::Equal, work)?;
                let powers = (1i64..).zip(&coefficients[1..]);
                let derivative: Vec<Polynomial> =
                    powers.map(|(exponent, n)| n.scaled(&exponent.into())).collect();
                let later = self.compare_right_of(&derivative, sign, work)?;
                Ok(RealFormula::Or(vec![decides, RealFormula::And(vec![is_zero, later])]))
            }
            Sign::LessOrEqual => {
                Ok(or_zero(self.compare_right_of(coefficients, Sign::Less, work)?, coefficients))
            }
            Sign::GreaterOrEqual => {
                Ok(or_zero(self.compare_right_of(coefficients, Sign::Greater, work)?, coefficients))
            }
        }
    }

    /// Returns `p` and `q` such that the value of a polynomial at the root is a positive multiple
    /// of `p + q * sqrt(radicand)`.
    fn value(
        &self,
        coefficients: &[Polynomial],
        work: &Work<'_>,
    ) -> Result<(Polynomial, Polynomial), EliminationError> {
        let (mut plain, mut factor) = (Polynomial::zero(), Polynomial::zero());
        // Horner's rule for the value times a power of the divisor.
        let mut scale = Polynomial::one();
        for (place, coefficient) in coefficients.iter().rev().enumerate() {
            if place > 0 {
                let roots = work.times(&work.times(&factor, &self.factor)?, &self.radicand)?;
                let new_plain = &work.times(&plain, &self.plain)? + &roots;
                let new_factor =
                    &work.times(&plain, &self.factor)? + &work.times(&factor, &self.plain)?;
                (plain, factor) = (new_plain, new_factor);
                scale = work.times(&scale, &self.divisor)?;
            }
            plain = &plain + &work.times(coefficient, &scale)?;
        }
        // An odd power of the divisor may be negative.
        if coefficients.len().is_multiple_of(2) {
            plain = work.times(&plain, &self.divisor)?;
            factor = work.times(&factor, &self.divisor)?;
        }
        Ok((plain, factor))
    }
}

fn all_zero(coefficients: &[Polynomial]) -> RealFormula {
    let zero = |n: &Polynomial| RealFormula::Compare(n.clone(), Sign::Equal);
    RealFormula::And(coefficients.iter().map(zero).collect())
}

fn some_nonzero(coefficients: &[Polynomial]) -> RealFormula {
    let nonzero = |n: &Polynomial| RealFormula::Compare(n.clone(), Sign::NotEqual);
    RealFormula::Or(coefficients.iter().map(nonzero).collect())
}

fn or_zero(formula: RealFormula, coefficients: &[Polynomial]) -> RealFormula {
    RealFormula::Or(vec![formula, all_zero(coefficients)])
}
