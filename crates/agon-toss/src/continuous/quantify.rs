//! Quantifiers over real numbers, and the least number that satisfies a formula.
//!
//! The formula is grounded to polynomial comparisons, from which the quantifiers are eliminated
//! (see [`agon_reals::elimination`]). A value that is known as an interval enters with its midpoint,
//! because elimination is exact, and its radius becomes a margin of the comparisons.

use agon_reals::elimination::univariate::{AlgebraicNumber, Bound};
use agon_reals::elimination::{self, EliminationError, Polynomial, RealFormula, Sign as RealSign};
use agon_reals::expression::{Condition, Expr, Node, Pool};
use agon_reals::interval::{Interval, rational_of};
use agon_reals::rational::Rational;
use agon_reals::real::Real;
use agon_structures::formula::{Formula, Variable};
use agon_structures::structure::{Element, FunctionId};

use super::ContinuousError;
use super::direct::Direct;
use super::inexact::Inexact;
use super::polynomials::{Number, Polynomials};
use super::symbolic::{Leaf, Symbolic};
use super::walk::{Algebra, Walker};
use crate::interpreter::Values;

impl From<EliminationError> for ContinuousError {
    fn from(error: EliminationError) -> ContinuousError {
        ContinuousError::Elimination(error.to_string())
    }
}

/// Decides a quantified formula at one moment.
pub(super) fn decide(
    walker: &mut Walker<'_, Direct<'_>>,
    exists: bool,
    variable: &Variable,
    body: &Formula,
) -> Result<bool, ContinuousError> {
    let (bound, formula) = at_moment(walker, variable, body)?;
    let limits = walker.watch.elimination()?;
    Ok(elimination::decide(&quantified(exists, bound, formula), &limits)?)
}

/// Returns the least number that satisfies a formula at one moment. It is the infimum if there is
/// no least one, and infinite if there is no bound or no number.
pub(super) fn least(
    walker: &mut Walker<'_, Direct<'_>>,
    variable: &Variable,
    body: &Formula,
) -> Result<Option<Real>, ContinuousError> {
    let (bound, formula) = at_moment(walker, variable, body)?;
    let found = elimination::least(&formula, bound, &walker.watch.elimination()?)?;
    Ok(Some(match found {
        Bound::NegativeInfinity => Real::Interval(Interval::point(f64::NEG_INFINITY)),
        Bound::PositiveInfinity => Real::Interval(Interval::point(f64::INFINITY)),
        Bound::Number(number) => real_of(&number),
    }))
}

/// Eliminates a quantifier from a condition on values that change.
pub(super) fn eliminate(
    walker: &mut Walker<'_, Symbolic<'_>>,
    exists: bool,
    variable: &Variable,
    body: &Formula,
) -> Result<Condition, ContinuousError> {
    let bound = walker.algebra.next_bound;
    // The variable of time comes after all others.
    let mut numbers = Vec::with_capacity(walker.numbers.len());
    for (name, expr) in &walker.numbers {
        let number = polynomial_of(walker.algebra.pool, *expr)?;
        numbers.push((name.clone(), Some(Number::known(number))));
    }
    let leaf = walker.algebra.leaf;
    let value = |function: FunctionId, element: Element| match leaf(function, element) {
        Leaf::Variable(index) => Ok(Inexact::exact(Polynomial::variable(index))),
        Leaf::Number(number) => Inexact::number(number),
    };
    let algebra = Polynomials::new(&value, bound + 1);
    let formula = grounded(walker, algebra, numbers, bound, variable, body)?;
    let formula = quantified(exists, bound, formula);
    let free = elimination::eliminate(&formula, &walker.watch.elimination()?)?;
    condition_of(walker.algebra.pool, &free)
}

/// Quantifies a formula over a variable.
pub(super) fn quantified(exists: bool, variable: u32, formula: RealFormula) -> RealFormula {
    let formula = Box::new(formula);
    if exists {
        RealFormula::Exists(variable, formula)
    } else {
        RealFormula::All(variable, formula)
    }
}

/// Grounds a formula at one moment. Returns the number of the variable with it.
fn at_moment(
    walker: &mut Walker<'_, Direct<'_>>,
    variable: &Variable,
    body: &Formula,
) -> Result<(u32, RealFormula), ContinuousError> {
    let values: &Values = walker.algebra.values;
    let value =
        |function: FunctionId, element: Element| Inexact::number(values.get(function, element));
    let mut numbers = Vec::with_capacity(walker.numbers.len());
    for (name, number) in &walker.numbers {
        let number = number.map(|number| Inexact::number(number).map(Number::known));
        numbers.push((name.clone(), number.transpose()?));
    }
    let algebra = Polynomials::new(&value, 1);
    let formula = grounded(walker, algebra, numbers, 0, variable, body)?;
    Ok((0, formula))
}

fn grounded<A: Algebra>(
    outer: &mut Walker<'_, A>,
    algebra: Polynomials<'_>,
    mut numbers: Vec<(Variable, Option<Number>)>,
    bound: u32,
    variable: &Variable,
    body: &Formula,
) -> Result<RealFormula, ContinuousError> {
    let quantified = Inexact::exact(Polynomial::variable(bound));
    numbers.push((variable.clone(), Some(Number::known(quantified))));
    let max_steps = outer.max_steps - outer.steps;
    let mut walker =
        Walker::new(algebra, outer.structure, outer.definitions, max_steps, outer.watch);
    walker.elements = outer.elements.clone();
    walker.sets = outer.sets.clone();
    walker.numbers = numbers;
    walker.take_locals(outer)?;
    let formula = walker.formula(body)?;
    outer.steps += walker.steps;
    Ok(formula)
}

/// Returns the polynomial that is a number: the midpoint where only an interval is known.
pub(super) fn constant(number: Real) -> Polynomial {
    match number {
        Real::Exact(number) => Polynomial::from(number),
        Real::Interval(interval) => {
            let midpoint = interval.midpoint();
            let exact = rational_of(midpoint).or_else(|| format!("{midpoint:.18}").parse().ok());
            Polynomial::from(exact.unwrap_or(Rational::ZERO))
        }
    }
}

/// Returns an algebraic number as a real number: exact if it is rational and fits.
fn real_of(number: &AlgebraicNumber) -> Real {
    if let Some(exact) = number.rational().and_then(rational) {
        return Real::Exact(exact);
    }
    let (lo, hi) = number.enclosure();
    Real::Interval(Interval::new(lo, hi).unwrap_or(Interval::point(lo)))
}

/// Returns a large rational number as one of 128 bits, if it fits.
pub(super) fn rational(number: &elimination::RBig) -> Option<Rational> {
    number.to_string().parse().ok()
}

/// Returns an expression as a polynomial. Time is the variable after all others.
fn polynomial_of(pool: &Pool, expr: Expr) -> Result<Inexact, ContinuousError> {
    let too_large = || ContinuousError::Elimination("a polynomial is too large".to_owned());
    let of = |expr: Expr| polynomial_of(pool, expr);
    Ok(match pool.node(expr) {
        Node::Number(number) => Inexact::exact(Polynomial::from(number)),
        Node::Constant(interval) => Inexact::number(Real::Interval(interval))?,
        Node::Variable(index) => Inexact::exact(Polynomial::variable(index)),
        Node::Time => Inexact::exact(Polynomial::variable(TIME)),
        Node::Add(left, right) => of(left)?.plus(&of(right)?),
        Node::Subtract(left, right) => of(left)?.minus(&of(right)?),
        Node::Multiply(left, right) => of(left)?.times(&of(right)?).ok_or_else(too_large)?,
        Node::Negate(inner) => Inexact::exact(Polynomial::zero()).minus(&of(inner)?),
        _ => return Err(ContinuousError::NotPolynomial("a parameter".to_owned())),
    })
}

/// The number of the variable that stands for time.
const TIME: u32 = u32::MAX;

/// Returns a formula without quantifiers as a condition.
fn condition_of(pool: &mut Pool, formula: &RealFormula) -> Result<Condition, ContinuousError> {
    Ok(match formula {
        RealFormula::True => pool.truth(true)?,
        RealFormula::False => pool.truth(false)?,
        RealFormula::Compare(polynomial, sign) => {
            let left = expression_of(pool, polynomial)?;
            let zero = pool.whole(0)?;
            match sign {
                RealSign::Equal => pool.equal(left, zero)?,
                RealSign::NotEqual => pool.unequal(left, zero)?,
                RealSign::Less => pool.less(left, zero)?,
                RealSign::LessOrEqual => pool.at_most(left, zero)?,
                RealSign::Greater => pool.less(zero, left)?,
                RealSign::GreaterOrEqual => pool.at_most(zero, left)?,
            }
        }
        RealFormula::Not(inner) => {
            let inner = condition_of(pool, inner)?;
            pool.not(inner)?
        }
        RealFormula::And(parts) => {
            let mut joined = pool.truth(true)?;
            for part in parts {
                let part = condition_of(pool, part)?;
                joined = pool.and(joined, part)?;
            }
            joined
        }
        RealFormula::Or(parts) => {
            let mut joined = pool.truth(false)?;
            for part in parts {
                let part = condition_of(pool, part)?;
                joined = pool.or(joined, part)?;
            }
            joined
        }
        RealFormula::Exists(..) | RealFormula::All(..) => {
            return Err(ContinuousError::Elimination("a quantifier is left".to_owned()));
        }
    })
}

/// Returns a polynomial as an expression, by the scheme of Horner.
fn expression_of(pool: &mut Pool, polynomial: &Polynomial) -> Result<Expr, ContinuousError> {
    if let Some(number) = polynomial.as_constant() {
        return Ok(pool.real(real_of(&AlgebraicNumber::from_rational(number)))?);
    }
    let Some(variable) = polynomial.variables().into_iter().next() else {
        return Ok(pool.whole(0)?);
    };
    let power = if variable == TIME { pool.time()? } else { pool.variable(variable)? };
    let mut sum = pool.whole(0)?;
    for coefficient in polynomial.coefficients(variable).iter().rev() {
        let coefficient = expression_of(pool, coefficient)?;
        sum = pool.multiply(sum, power)?;
        sum = pool.add(sum, coefficient)?;
    }
    Ok(sum)
}
