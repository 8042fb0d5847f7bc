//! The algebra of polynomials in quantified numbers, and of comparisons between them.
//!
//! Quotients, roots, `abs`, `min` and `max` of quantified numbers become further quantified numbers
//! with a definition: `sqrt(t) < u` is `ex s (s >= 0 and s^2 = t and s < u)`. A comparison with an
//! undefined number does not hold, because then no such `s` exists. That is so even if `s` cancels,
//! so numbers remember the definitions that they are made from.

use std::collections::{BTreeMap, BTreeSet};

use agon_reals::elimination::{Polynomial, RBig, RealFormula, Sign as RealSign};
use agon_reals::real::Real;
use agon_structures::formula::{Formula, Operator, RealFunction, Sign, Variable};
use agon_structures::structure::{Element, FunctionId};

use super::ContinuousError;
use super::direct::Direct;
use super::inexact::{Inexact, MAX_TERMS};
use super::quantify::quantified;
use super::walk::{Algebra, Logic, Walker, small_exponent};
use crate::interpreter::Values;

/// Returns the value of a function at an element as a polynomial.
pub(super) type ValueOf<'a> = &'a dyn Fn(FunctionId, Element) -> Result<Inexact, ContinuousError>;

pub(super) struct Polynomials<'a> {
    value: ValueOf<'a>,
    /// The number of the next variable that a quantifier binds.
    next_bound: u32,
    /// By variable that stands for a root or another function: its definition, which mentions
    /// earlier ones only.
    definitions: BTreeMap<u32, RealFormula>,
}

/// A number with the variables whose definitions must hold, or else it is undefined.
#[derive(Clone)]
pub(super) struct Number {
    value: Inexact,
    needs: BTreeSet<u32>,
}

impl Number {
    /// Returns a number that has a value whatever the others are.
    pub(super) fn known(value: Inexact) -> Number {
        Number { value, needs: BTreeSet::new() }
    }
}

impl<'a> Polynomials<'a> {
    pub(super) fn new(value: ValueOf<'a>, next_bound: u32) -> Polynomials<'a> {
        Polynomials { value, next_bound, definitions: BTreeMap::new() }
    }

    fn refuse<T>(&self, what: &str) -> Result<T, ContinuousError> {
        Err(ContinuousError::NotPolynomial(what.to_owned()))
    }

    fn fresh(&mut self) -> u32 {
        self.next_bound += 1;
        self.next_bound - 1
    }

    /// Returns a new number with a definition, which is made from it.
    fn defined(
        &mut self,
        mut needs: BTreeSet<u32>,
        definition: impl FnOnce(&Polynomial) -> Option<RealFormula>,
    ) -> Result<Option<Number>, ContinuousError> {
        let variable = self.fresh();
        let number = Polynomial::variable(variable);
        let definition = definition(&number).ok_or_else(too_large)?;
        self.definitions.insert(variable, definition);
        needs.insert(variable);
        Ok(Some(Number { value: Inexact::exact(number), needs }))
    }

    /// Binds the defined numbers that a comparison needs.
    fn closed(&self, mut formula: RealFormula, needs: BTreeSet<u32>) -> RealFormula {
        let mut wanted = needs;
        while let Some(variable) = wanted.pop_last() {
            if let Some(definition) = self.definitions.get(&variable) {
                // The needs of what a definition mentions are among those of its number.
                let parts = vec![definition.clone(), formula];
                formula = quantified(true, variable, RealFormula::And(parts));
            }
        }
        formula
    }
}

fn too_large() -> ContinuousError {
    ContinuousError::Elimination("a polynomial is too large".to_owned())
}

fn is_zero(polynomial: Polynomial) -> RealFormula {
    RealFormula::Compare(polynomial, RealSign::Equal)
}

impl Logic for Polynomials<'_> {
    type Truth = RealFormula;

    fn truth(&mut self, holds: bool) -> Result<RealFormula, ContinuousError> {
        Ok(RealFormula::truth(holds))
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
}

impl Algebra for Polynomials<'_> {
    const LEAST_IS_QUANTIFIED: bool = true;

    type Number = Option<Number>;

    fn number(&mut self, number: Real) -> Result<Option<Number>, ContinuousError> {
        Ok(Some(Number::known(Inexact::number(number)?)))
    }

    fn undefined(&mut self) -> Result<Option<Number>, ContinuousError> {
        Ok(None)
    }

    fn value(
        &mut self,
        function: FunctionId,
        element: Element,
    ) -> Result<Option<Number>, ContinuousError> {
        Ok(Some(Number::known((self.value)(function, element)?)))
    }

    fn binary(
        &mut self,
        operator: Operator,
        left: Option<Number>,
        right: Option<Number>,
    ) -> Result<Option<Number>, ContinuousError> {
        let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
        let needs: BTreeSet<u32> = &left.needs | &right.needs;
        let (left, right) = (left.value, right.value);
        let value = match operator {
            Operator::Plus => left.plus(&right),
            Operator::Minus => left.minus(&right),
            Operator::Times => left.times(&right).ok_or_else(too_large)?,
            Operator::Divide => match right.as_number() {
                Some(Real::Exact(divisor)) => {
                    if divisor.signum() == 0 {
                        return Ok(None);
                    }
                    let divisor = Polynomial::from(divisor).as_constant();
                    left.scaled(&(RBig::ONE / divisor.unwrap_or(RBig::ONE)))
                }
                Some(divisor) => match Real::ONE.div(divisor) {
                    Some(inverse) => {
                        left.times(&Inexact::number(inverse)?).ok_or_else(too_large)?
                    }
                    None => return Ok(None),
                },
                None => {
                    let (above, below) = (left.middle(), right.middle());
                    return self.defined(needs, |quotient| {
                        let product = quotient.times(below, MAX_TERMS)?;
                        Some(RealFormula::And(vec![
                            RealFormula::Compare(below.clone(), RealSign::NotEqual),
                            is_zero(&product - above),
                        ]))
                    });
                }
            },
            Operator::Power => match (left.as_number(), right.as_number()) {
                // A power of a number is a number.
                (Some(base), Some(exponent)) => {
                    let values = Values::default();
                    let mut direct = Direct { values: &values };
                    match direct.binary(operator, Some(base), Some(exponent))? {
                        Some(power) => Inexact::number(power)?,
                        None => return Ok(None),
                    }
                }
                (_, exponent) => {
                    let exponent = exponent.and_then(|exponent| exponent.exact());
                    match exponent.and_then(small_exponent) {
                        Some(exponent @ 0..=1000) => {
                            left.power(exponent.unsigned_abs()).ok_or_else(too_large)?
                        }
                        _ => return self.refuse("a power"),
                    }
                }
            },
        };
        Ok(Some(Number { value, needs }))
    }

    fn apply(
        &mut self,
        function: RealFunction,
        arguments: Vec<Option<Number>>,
    ) -> Result<Option<Number>, ContinuousError> {
        let Some(arguments) = arguments.into_iter().collect::<Option<Vec<Number>>>() else {
            return Ok(None);
        };
        let needs: BTreeSet<u32> =
            arguments.iter().flat_map(|number| &number.needs).copied().collect();
        let arguments: Vec<Inexact> = arguments.into_iter().map(|number| number.value).collect();
        // A function of numbers is a number.
        let numbers: Option<Vec<Option<Real>>> =
            arguments.iter().map(|argument| argument.as_number().map(Some)).collect();
        if let Some(numbers) = numbers {
            let values = Values::default();
            let found = Direct { values: &values }.apply(function, numbers)?;
            let Some(found) = found else { return Ok(None) };
            return Ok(Some(Number { value: Inexact::number(found)?, needs }));
        }
        let Some(first) = arguments.first() else { return Ok(None) };
        let first = first.middle();
        // `abs`, `min` and `max` change by at most the errors of their arguments.
        let error =
            arguments.iter().fold(Polynomial::zero(), |error, argument| &error + argument.radius());
        let with_error =
            |number: Number| Number { value: number.value.with_error(&error), needs: number.needs };
        let at_least_zero =
            |number: &Polynomial| RealFormula::Compare(number.clone(), RealSign::GreaterOrEqual);
        match function {
            RealFunction::Root(degree) => self.defined(needs, |root| {
                let power = is_zero(&root.power(degree, MAX_TERMS)? - first);
                Some(match degree % 2 {
                    0 => RealFormula::And(vec![at_least_zero(root), power]),
                    _ => power,
                })
            }),
            RealFunction::Abs => {
                let found = self.defined(needs, |size| {
                    let either = vec![is_zero(size - first), is_zero(size + first)];
                    Some(RealFormula::And(vec![at_least_zero(size), RealFormula::Or(either)]))
                })?;
                Ok(found.map(with_error))
            }
            RealFunction::Min | RealFunction::Max => {
                let found = self.defined(needs, |extreme| {
                    let sign = match function {
                        RealFunction::Min => RealSign::LessOrEqual,
                        _ => RealSign::GreaterOrEqual,
                    };
                    let differences = || arguments.iter().map(|other| extreme - other.middle());
                    let mut parts: Vec<RealFormula> =
                        differences().map(|d| RealFormula::Compare(d, sign)).collect();
                    parts.push(RealFormula::Or(differences().map(is_zero).collect()));
                    Some(RealFormula::And(parts))
                })?;
                Ok(found.map(with_error))
            }
            RealFunction::Sin | RealFunction::Cos | RealFunction::Exp | RealFunction::Log => {
                self.refuse(&format!("`{}` of a quantified number", function.name()))
            }
        }
    }

    fn indicator(&mut self, truth: RealFormula) -> Result<Option<Number>, ContinuousError> {
        match self.known(&truth) {
            Some(holds) => {
                let number = Polynomial::from(i64::from(holds));
                Ok(Some(Number::known(Inexact::exact(number))))
            }
            None => self.refuse("the characteristic function of a condition on the number"),
        }
    }

    fn select(
        &mut self,
        truth: RealFormula,
        then: Option<Number>,
        otherwise: Option<Number>,
    ) -> Result<Option<Number>, ContinuousError> {
        match self.known(&truth) {
            Some(true) => Ok(then),
            Some(false) => Ok(otherwise),
            None => self.refuse("an aggregate with a condition on the number"),
        }
    }

    fn compare(
        &mut self,
        left: Option<Number>,
        sign: Sign,
        right: Option<Number>,
    ) -> Result<RealFormula, ContinuousError> {
        let (Some(left), Some(right)) = (left, right) else { return Ok(RealFormula::False) };
        let formula = left.value.minus(&right.value).compared(sign);
        Ok(self.closed(formula, &left.needs | &right.needs))
    }

    fn quantify(
        walker: &mut Walker<'_, Self>,
        exists: bool,
        variable: &Variable,
        body: &Formula,
    ) -> Result<RealFormula, ContinuousError> {
        let bound = walker.algebra.fresh();
        let number = Inexact::exact(Polynomial::variable(bound));
        walker.numbers.push((variable.clone(), Some(Number::known(number))));
        let body = walker.formula(body);
        walker.numbers.pop();
        Ok(quantified(exists, bound, body?))
    }

    fn least(
        walker: &mut Walker<'_, Self>,
        _variable: &Variable,
        _body: &Formula,
    ) -> Result<Option<Number>, ContinuousError> {
        walker.algebra.refuse("`min :a (…)` that is not one side of a comparison")
    }
}
