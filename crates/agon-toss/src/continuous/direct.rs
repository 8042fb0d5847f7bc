//! Evaluation at one moment: numbers are real numbers, truth values are known.

use agon_reals::real::Real;
use agon_structures::formula::{
    Definitions, Formula, Operator, RealFunction, Sign, Term, Variable,
};
use agon_structures::rational::Rational;
use agon_structures::structure::{Element, FunctionId, Structure};

use super::quantify;
use super::walk::{Algebra, TwoValued, Walker, small_exponent};
use super::{ContinuousError, Watch};
use crate::interpreter::Values;

/// A structure with the values of its functions at one moment, at which formulas and terms are
/// evaluated.
#[derive(Copy, Clone)]
pub(crate) struct Moment<'a> {
    pub(crate) structure: &'a Structure,
    pub(crate) values: &'a Values,
    pub(crate) definitions: &'a Definitions,
    /// Maximum number of evaluation steps of one formula or term.
    pub(crate) max_steps: u64,
    /// Counts the steps of all formulas and terms of a state.
    pub(crate) watch: &'a Watch,
}

impl Moment<'_> {
    /// Returns whether a formula holds for elements and numbers.
    pub(crate) fn holds(
        &self,
        formula: &Formula,
        elements: &[(Variable, Element)],
        numbers: &[(Variable, Real)],
    ) -> Result<bool, ContinuousError> {
        self.walker(elements, numbers).formula(formula)
    }

    /// Returns the value of a term for elements and numbers; `None` if it is undefined.
    pub(crate) fn value(
        &self,
        term: &Term,
        elements: &[(Variable, Element)],
        numbers: &[(Variable, Real)],
    ) -> Result<Option<Real>, ContinuousError> {
        self.walker(elements, numbers).term(term)
    }

    pub(super) fn walker(
        &self,
        elements: &[(Variable, Element)],
        numbers: &[(Variable, Real)],
    ) -> Walker<'_, Direct<'_>> {
        let algebra = Direct { values: self.values };
        let mut walker =
            Walker::new(algebra, self.structure, self.definitions, self.max_steps, self.watch);
        walker.elements = elements.to_vec();
        walker.numbers =
            numbers.iter().map(|(name, number)| (name.clone(), Some(*number))).collect();
        walker
    }
}

/// The algebra of real numbers.
pub(super) struct Direct<'a> {
    pub(super) values: &'a Values,
}

impl TwoValued for Direct<'_> {}

impl Algebra for Direct<'_> {
    type Number = Option<Real>;

    fn number(&mut self, number: Real) -> Result<Option<Real>, ContinuousError> {
        Ok(Some(number))
    }

    fn undefined(&mut self) -> Result<Option<Real>, ContinuousError> {
        Ok(None)
    }

    fn value(
        &mut self,
        function: FunctionId,
        element: Element,
    ) -> Result<Option<Real>, ContinuousError> {
        Ok(Some(self.values.get(function, element)))
    }

    fn binary(
        &mut self,
        operator: Operator,
        left: Option<Real>,
        right: Option<Real>,
    ) -> Result<Option<Real>, ContinuousError> {
        let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
        Ok(match operator {
            Operator::Plus => Some(left + right),
            Operator::Minus => Some(left - right),
            Operator::Times => Some(left * right),
            Operator::Divide => left.div(right),
            Operator::Power => match right.exact().and_then(small_exponent) {
                Some(exponent) => left.powi(exponent),
                None => left.pow(right),
            },
        })
    }

    fn apply(
        &mut self,
        function: RealFunction,
        arguments: Vec<Option<Real>>,
    ) -> Result<Option<Real>, ContinuousError> {
        let Some(numbers) = arguments.into_iter().collect::<Option<Vec<Real>>>() else {
            return Ok(None);
        };
        let Some((&first, rest)) = numbers.split_first() else { return Ok(None) };
        Ok(match function {
            RealFunction::Root(degree) => first.root(degree),
            RealFunction::Sin => Some(first.sin()),
            RealFunction::Cos => Some(first.cos()),
            RealFunction::Exp => Some(first.exp()),
            RealFunction::Log => first.ln(),
            RealFunction::Abs => Some(first.abs()),
            RealFunction::Min => Some(rest.iter().fold(first, |least, &next| least.min(next))),
            RealFunction::Max => Some(rest.iter().fold(first, |most, &next| most.max(next))),
        })
    }

    fn indicator(&mut self, truth: bool) -> Result<Option<Real>, ContinuousError> {
        Ok(Some(if truth { Real::ONE } else { Real::ZERO }))
    }

    fn exact(&self, number: &Option<Real>) -> Option<Option<Rational>> {
        match number {
            Some(number) => number.exact().map(Some),
            None => Some(None),
        }
    }

    fn select(
        &mut self,
        truth: bool,
        then: Option<Real>,
        otherwise: Option<Real>,
    ) -> Result<Option<Real>, ContinuousError> {
        Ok(if truth { then } else { otherwise })
    }

    fn compare(
        &mut self,
        left: Option<Real>,
        sign: Sign,
        right: Option<Real>,
    ) -> Result<bool, ContinuousError> {
        let (Some(left), Some(right)) = (left, right) else { return Ok(false) };
        let (less, greater) =
            (Real::certainly_less(&left, &right), Real::certainly_less(&right, &left));
        Ok(match sign {
            Sign::Less => less,
            Sign::Greater => greater,
            Sign::AtMost => !greater,
            Sign::AtLeast => !less,
            Sign::Equal => !less && !greater,
            Sign::Unequal => less || greater,
        })
    }

    fn quantify(
        walker: &mut Walker<'_, Self>,
        exists: bool,
        variable: &Variable,
        body: &Formula,
    ) -> Result<bool, ContinuousError> {
        quantify::decide(walker, exists, variable, body)
    }

    fn least(
        walker: &mut Walker<'_, Self>,
        variable: &Variable,
        body: &Formula,
    ) -> Result<Option<Real>, ContinuousError> {
        quantify::least(walker, variable, body)
    }
}
