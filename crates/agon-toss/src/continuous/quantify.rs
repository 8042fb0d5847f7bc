//! Quantifiers over real numbers, and the least number that satisfies a formula.
//!
//! The formula is grounded to polynomial comparisons, from which the quantifiers are eliminated
//! (see [`agon_reals::elimination`]). A value that is known as an interval enters with its midpoint,
//! because elimination is exact.

use agon_reals::elimination::univariate::{AlgebraicNumber, Bound};
use agon_reals::elimination::{
    self, EliminationError, EliminationLimits, Polynomial, RealFormula, Sign as RealSign,
};
use agon_reals::expression::{Condition, Expr, Node, Pool};
use agon_reals::interval::{Interval, rational_of};
use agon_reals::rational::Rational;
use agon_reals::real::Real;
use agon_structures::formula::{Formula, Operator, RealFunction, Sign, Variable};
use agon_structures::structure::{Element, FunctionId};

use super::ContinuousError;
use super::direct::Direct;
use super::symbolic::{Leaf, Symbolic};
use super::walk::{Algebra, Walker, small_exponent};
use crate::interpreter::Values;

/// Maximum number of terms of a polynomial under a quantifier.
const MAX_TERMS: usize = 10_000;

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
    Ok(elimination::decide(&quantified(exists, bound, formula), &EliminationLimits::default())?)
}

/// Returns the least number that satisfies a formula at one moment. It is the infimum if there is
/// no least one, and infinite if there is no bound or no number.
pub(super) fn least(
    walker: &mut Walker<'_, Direct<'_>>,
    variable: &Variable,
    body: &Formula,
) -> Result<Option<Real>, ContinuousError> {
    let (bound, formula) = at_moment(walker, variable, body)?;
    let found = elimination::least(&formula, bound, &EliminationLimits::default())?;
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
        numbers.push((name.clone(), Some(polynomial_of(walker.algebra.pool, *expr)?)));
    }
    let leaf = walker.algebra.leaf;
    let value = |function: FunctionId, element: Element| match leaf(function, element) {
        Leaf::Variable(index) => Polynomial::variable(index),
        Leaf::Number(number) => constant(number),
    };
    let algebra = Polynomials { value: &value, next_bound: bound + 1 };
    let formula = grounded(walker, algebra, numbers, bound, variable, body)?;
    let formula = quantified(exists, bound, formula);
    let free = elimination::eliminate(&formula, &EliminationLimits::default())?;
    condition_of(walker.algebra.pool, &free)
}

fn quantified(exists: bool, variable: u32, formula: RealFormula) -> RealFormula {
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
    let value = |function: FunctionId, element: Element| constant(values.get(function, element));
    let numbers =
        walker.numbers.iter().map(|(name, number)| (name.clone(), number.map(constant))).collect();
    let algebra = Polynomials { value: &value, next_bound: 1 };
    let formula = grounded(walker, algebra, numbers, 0, variable, body)?;
    Ok((0, formula))
}

fn grounded<A: Algebra>(
    outer: &mut Walker<'_, A>,
    algebra: Polynomials<'_>,
    mut numbers: Vec<(Variable, Option<Polynomial>)>,
    bound: u32,
    variable: &Variable,
    body: &Formula,
) -> Result<RealFormula, ContinuousError> {
    numbers.push((variable.clone(), Some(Polynomial::variable(bound))));
    let mut walker =
        Walker::new(algebra, outer.structure, outer.definitions, outer.max_steps - outer.steps);
    walker.elements = outer.elements.clone();
    walker.sets = outer.sets.clone();
    walker.numbers = numbers;
    walker.take_locals(outer)?;
    let formula = walker.formula(body)?;
    outer.steps += walker.steps;
    Ok(formula)
}

/// The algebra of polynomials and comparisons between them.
struct Polynomials<'a> {
    value: &'a dyn Fn(FunctionId, Element) -> Polynomial,
    /// The number of the next variable that a quantifier binds.
    next_bound: u32,
}

impl Polynomials<'_> {
    fn refuse<T>(&self, what: &str) -> Result<T, ContinuousError> {
        Err(ContinuousError::NotPolynomial(what.to_owned()))
    }
}

impl Algebra for Polynomials<'_> {
    type Number = Option<Polynomial>;
    type Truth = RealFormula;

    fn number(&mut self, number: Real) -> Result<Option<Polynomial>, ContinuousError> {
        Ok(Some(constant(number)))
    }

    fn undefined(&mut self) -> Result<Option<Polynomial>, ContinuousError> {
        Ok(None)
    }

    fn value(
        &mut self,
        function: FunctionId,
        element: Element,
    ) -> Result<Option<Polynomial>, ContinuousError> {
        Ok(Some((self.value)(function, element)))
    }

    fn binary(
        &mut self,
        operator: Operator,
        left: Option<Polynomial>,
        right: Option<Polynomial>,
    ) -> Result<Option<Polynomial>, ContinuousError> {
        let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
        let too_large = || ContinuousError::Elimination("a polynomial is too large".to_owned());
        Ok(Some(match operator {
            Operator::Plus => &left + &right,
            Operator::Minus => &left - &right,
            Operator::Times => left.times(&right, MAX_TERMS).ok_or_else(too_large)?,
            Operator::Divide => match right.as_constant() {
                Some(divisor) if divisor.is_zero() => return Ok(None),
                Some(divisor) => left.scaled(&(elimination::RBig::ONE / divisor)),
                None => return self.refuse("a quotient"),
            },
            Operator::Power => {
                let exponent =
                    right.as_constant().and_then(|e| rational(&e)).and_then(small_exponent);
                match exponent {
                    Some(exponent @ 0..=1000) => {
                        left.power(exponent.unsigned_abs(), MAX_TERMS).ok_or_else(too_large)?
                    }
                    _ => return self.refuse("a power"),
                }
            }
        }))
    }

    fn apply(
        &mut self,
        function: RealFunction,
        arguments: Vec<Option<Polynomial>>,
    ) -> Result<Option<Polynomial>, ContinuousError> {
        let Some(polynomials) = arguments.into_iter().collect::<Option<Vec<Polynomial>>>() else {
            return Ok(None);
        };
        // A function of numbers is a number.
        let numbers: Option<Vec<Option<Real>>> = polynomials
            .iter()
            .map(|p| p.as_constant().map(|c| Some(real_of(&AlgebraicNumber::from_rational(c)))))
            .collect();
        let Some(numbers) = numbers else { return self.refuse("a function of real numbers") };
        let values = Values::default();
        let found = Direct { values: &values }.apply(function, numbers)?;
        Ok(found.map(constant))
    }

    fn indicator(&mut self, truth: RealFormula) -> Result<Option<Polynomial>, ContinuousError> {
        match self.known(&truth) {
            Some(holds) => Ok(Some(Polynomial::from(i64::from(holds)))),
            None => self.refuse("the characteristic function of a condition on the number"),
        }
    }

    fn select(
        &mut self,
        truth: RealFormula,
        then: Option<Polynomial>,
        otherwise: Option<Polynomial>,
    ) -> Result<Option<Polynomial>, ContinuousError> {
        match self.known(&truth) {
            Some(true) => Ok(then),
            Some(false) => Ok(otherwise),
            None => self.refuse("an aggregate with a condition on the number"),
        }
    }

    fn truth(&mut self, holds: bool) -> Result<RealFormula, ContinuousError> {
        Ok(RealFormula::truth(holds))
    }

    fn compare(
        &mut self,
        left: Option<Polynomial>,
        sign: Sign,
        right: Option<Polynomial>,
    ) -> Result<RealFormula, ContinuousError> {
        let (Some(left), Some(right)) = (left, right) else { return Ok(RealFormula::False) };
        let sign = match sign {
            Sign::Equal => RealSign::Equal,
            Sign::Unequal => RealSign::NotEqual,
            Sign::Less => RealSign::Less,
            Sign::AtMost => RealSign::LessOrEqual,
            Sign::Greater => RealSign::Greater,
            Sign::AtLeast => RealSign::GreaterOrEqual,
        };
        let difference = &left - &right;
        Ok(match difference.as_constant() {
            Some(number) => RealFormula::truth(sign.holds(&number)),
            None => RealFormula::Compare(difference, sign),
        })
    }

    fn not(&mut self, truth: RealFormula) -> Result<RealFormula, ContinuousError> {
        Ok(match truth {
            RealFormula::True => RealFormula::False,
            RealFormula::False => RealFormula::True,
            other => other.negation(),
        })
    }

    fn and(
        &mut self,
        left: RealFormula,
        right: RealFormula,
    ) -> Result<RealFormula, ContinuousError> {
        Ok(match (left, right) {
            (RealFormula::False, _) | (_, RealFormula::False) => RealFormula::False,
            (RealFormula::True, other) | (other, RealFormula::True) => other,
            (left, right) => RealFormula::And(vec![left, right]),
        })
    }

    fn or(
        &mut self,
        left: RealFormula,
        right: RealFormula,
    ) -> Result<RealFormula, ContinuousError> {
        Ok(match (left, right) {
            (RealFormula::True, _) | (_, RealFormula::True) => RealFormula::True,
            (RealFormula::False, other) | (other, RealFormula::False) => other,
            (left, right) => RealFormula::Or(vec![left, right]),
        })
    }

    fn known(&self, truth: &RealFormula) -> Option<bool> {
        match truth {
            RealFormula::True => Some(true),
            RealFormula::False => Some(false),
            _ => None,
        }
    }

    fn quantify(
        walker: &mut Walker<'_, Self>,
        exists: bool,
        variable: &Variable,
        body: &Formula,
    ) -> Result<RealFormula, ContinuousError> {
        let bound = walker.algebra.next_bound;
        walker.algebra.next_bound += 1;
        walker.numbers.push((variable.clone(), Some(Polynomial::variable(bound))));
        let body = walker.formula(body);
        walker.numbers.pop();
        Ok(quantified(exists, bound, body?))
    }

    fn least(
        walker: &mut Walker<'_, Self>,
        _variable: &Variable,
        _body: &Formula,
    ) -> Result<Option<Polynomial>, ContinuousError> {
        walker.algebra.refuse("`min :a (…)`")
    }
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
fn rational(number: &elimination::RBig) -> Option<Rational> {
    number.to_string().parse().ok()
}

/// Returns an expression as a polynomial. Time is the variable after all others.
fn polynomial_of(pool: &Pool, expr: Expr) -> Result<Polynomial, ContinuousError> {
    let refused = |what: &str| Err(ContinuousError::NotPolynomial(what.to_owned()));
    let too_large = || ContinuousError::Elimination("a polynomial is too large".to_owned());
    Ok(match pool.node(expr) {
        Node::Number(number) => Polynomial::from(number),
        Node::Constant(interval) => constant(Real::Interval(interval)),
        Node::Variable(index) => Polynomial::variable(index),
        Node::Time => Polynomial::variable(TIME),
        Node::Add(left, right) => &polynomial_of(pool, left)? + &polynomial_of(pool, right)?,
        Node::Subtract(left, right) => &polynomial_of(pool, left)? - &polynomial_of(pool, right)?,
        Node::Multiply(left, right) => polynomial_of(pool, left)?
            .times(&polynomial_of(pool, right)?, MAX_TERMS)
            .ok_or_else(too_large)?,
        Node::Negate(inner) => &Polynomial::zero() - &polynomial_of(pool, inner)?,
        _ => return refused("a parameter"),
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
