//! The robust semantics of formulas (Fainekos & Pappas 2009): how far numbers are from changing the
//! truth of a formula.
//!
//! `s < t` has the margin `t - s`, a conjunction the least margin of its parts, a disjunction the
//! greatest. What does not depend on numbers has an infinite margin. Margins are positive where the
//! formula holds. They guide searches, which need no bounds of errors, so they are computed without.

use agon_reals::real::Real;
use agon_structures::formula::{Formula, Operator, RealFunction, Sign, Term, Variable};
use agon_structures::structure::{Element, FunctionId};

use super::ContinuousError;
use super::direct::{Direct, Moment};
use super::quantify;
use super::walk::{Algebra, Logic, Walker};
use crate::interpreter::Values;

impl Moment<'_> {
    /// Returns the margin of a formula without free variables.
    pub(crate) fn margin(&self, formula: &Formula) -> Result<f64, ContinuousError> {
        self.robust().formula(formula)
    }

    /// Returns the middle of the value of a term without free variables; `None` if it is undefined.
    pub(crate) fn middle(&self, term: &Term) -> Result<Option<f64>, ContinuousError> {
        self.robust().term(term)
    }

    fn robust(&self) -> Walker<'_, Robust<'_>> {
        let algebra = Robust { values: self.values };
        Walker::new(algebra, self.structure, self.definitions, self.max_steps, self.watch)
    }
}

/// The algebra of numbers without error bounds and of margins.
struct Robust<'a> {
    values: &'a Values,
}

impl Logic for Robust<'_> {
    type Truth = f64;

    fn truth(&mut self, holds: bool) -> Result<f64, ContinuousError> {
        Ok(if holds { f64::INFINITY } else { f64::NEG_INFINITY })
    }

    fn not(&mut self, truth: f64) -> Result<f64, ContinuousError> {
        Ok(-truth)
    }

    fn and(&mut self, left: f64, right: f64) -> Result<f64, ContinuousError> {
        Ok(left.min(right))
    }

    fn or(&mut self, left: f64, right: f64) -> Result<f64, ContinuousError> {
        Ok(left.max(right))
    }

    fn known(&self, truth: &f64) -> Option<bool> {
        truth.is_infinite().then_some(*truth > 0.0)
    }
}

impl Algebra for Robust<'_> {
    type Number = Option<f64>;

    fn number(&mut self, number: Real) -> Result<Option<f64>, ContinuousError> {
        Ok(Some(number.midpoint()))
    }

    fn undefined(&mut self) -> Result<Option<f64>, ContinuousError> {
        Ok(None)
    }

    fn value(
        &mut self,
        function: FunctionId,
        element: Element,
    ) -> Result<Option<f64>, ContinuousError> {
        Ok(Some(self.values.get(function, element).midpoint()))
    }

    fn binary(
        &mut self,
        operator: Operator,
        left: Option<f64>,
        right: Option<f64>,
    ) -> Result<Option<f64>, ContinuousError> {
        let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
        let result = match operator {
            Operator::Plus => left + right,
            Operator::Minus => left - right,
            Operator::Times => left * right,
            Operator::Divide => left / right,
            Operator::Power => libm::pow(left, right),
        };
        Ok(Some(result).filter(|result| result.is_finite()))
    }

    fn apply(
        &mut self,
        function: RealFunction,
        arguments: Vec<Option<f64>>,
    ) -> Result<Option<f64>, ContinuousError> {
        let Some(numbers) = arguments.into_iter().collect::<Option<Vec<f64>>>() else {
            return Ok(None);
        };
        let Some((&first, rest)) = numbers.split_first() else { return Ok(None) };
        let result = match function {
            RealFunction::Root(2) => first.sqrt(),
            RealFunction::Root(degree) if degree % 2 == 1 => {
                libm::copysign(libm::pow(first.abs(), 1.0 / f64::from(degree)), first)
            }
            RealFunction::Root(degree) => libm::pow(first, 1.0 / f64::from(degree)),
            RealFunction::Sin => libm::sin(first),
            RealFunction::Cos => libm::cos(first),
            RealFunction::Exp => libm::exp(first),
            RealFunction::Log => libm::log(first),
            RealFunction::Abs => first.abs(),
            RealFunction::Min => rest.iter().fold(first, |least, &next| least.min(next)),
            RealFunction::Max => rest.iter().fold(first, |most, &next| most.max(next)),
        };
        Ok(Some(result).filter(|result| result.is_finite()))
    }

    fn indicator(&mut self, truth: f64) -> Result<Option<f64>, ContinuousError> {
        Ok(Some(f64::from(truth > 0.0)))
    }

    fn select(
        &mut self,
        truth: f64,
        then: Option<f64>,
        otherwise: Option<f64>,
    ) -> Result<Option<f64>, ContinuousError> {
        Ok(if truth > 0.0 { then } else { otherwise })
    }

    fn compare(
        &mut self,
        left: Option<f64>,
        sign: Sign,
        right: Option<f64>,
    ) -> Result<f64, ContinuousError> {
        let (Some(left), Some(right)) = (left, right) else { return Ok(f64::NEG_INFINITY) };
        Ok(match sign {
            Sign::Less | Sign::AtMost => right - left,
            Sign::Greater | Sign::AtLeast => left - right,
            Sign::Equal => -(left - right).abs(),
            Sign::Unequal => (left - right).abs(),
        })
    }

    fn quantify(
        walker: &mut Walker<'_, Self>,
        exists: bool,
        variable: &Variable,
        body: &Formula,
    ) -> Result<f64, ContinuousError> {
        let holds = quantify::decide(&mut direct(walker)?, exists, variable, body)?;
        walker.algebra.truth(holds)
    }

    fn least(
        walker: &mut Walker<'_, Self>,
        variable: &Variable,
        body: &Formula,
    ) -> Result<Option<f64>, ContinuousError> {
        let least = quantify::least(&mut direct(walker)?, variable, body)?;
        Ok(least.map(|least| least.midpoint()).filter(|least| least.is_finite()))
    }
}

/// Returns a visit of the same formula in the algebra of real numbers.
fn direct<'w>(
    walker: &'w Walker<'_, Robust<'_>>,
) -> Result<Walker<'w, Direct<'w>>, ContinuousError> {
    let algebra = Direct { values: walker.algebra.values };
    let max_steps = walker.max_steps - walker.steps;
    let mut direct =
        Walker::new(algebra, walker.structure, walker.definitions, max_steps, walker.watch);
    direct.elements = walker.elements.clone();
    direct.sets = walker.sets.clone();
    direct.numbers = walker
        .numbers
        .iter()
        .map(|(name, number)| (name.clone(), number.map(Real::from_f64)))
        .collect();
    direct.take_locals(walker)?;
    Ok(direct)
}
