//! Formulas and terms as expressions over the values of functions and time.

use agon_reals::expression::{Condition, Expr, Node, Pool};
use agon_reals::real::Real;
use agon_structures::formula::{Formula, Operator, RealFunction, Sign, Variable};
use agon_structures::structure::{Element, FunctionId};

use super::ContinuousError;
use super::quantify;
use super::walk::{Algebra, Logic, Walker, small_exponent};

/// The algebra of expressions in a pool.
pub(super) struct Symbolic<'a> {
    pub(super) pool: &'a mut Pool,
    /// Returns the expression for the value of a function at an element.
    pub(super) leaf: &'a dyn Fn(FunctionId, Element) -> Leaf,
    /// The number of the next variable that a quantifier binds.
    pub(super) next_bound: u32,
}

/// What the value of a function at an element becomes.
pub(super) enum Leaf {
    /// A variable of the system.
    Variable(u32),
    /// A number.
    Number(Real),
}

impl Logic for Symbolic<'_> {
    type Truth = Condition;

    fn truth(&mut self, holds: bool) -> Result<Condition, ContinuousError> {
        Ok(self.pool.truth(holds)?)
    }

    fn not(&mut self, truth: Condition) -> Result<Condition, ContinuousError> {
        Ok(self.pool.not(truth)?)
    }

    fn and(&mut self, left: Condition, right: Condition) -> Result<Condition, ContinuousError> {
        Ok(self.pool.and(left, right)?)
    }

    fn or(&mut self, left: Condition, right: Condition) -> Result<Condition, ContinuousError> {
        Ok(self.pool.or(left, right)?)
    }

    fn known(&self, truth: &Condition) -> Option<bool> {
        match self.pool.condition_node(*truth) {
            Node::True => Some(true),
            Node::False => Some(false),
            _ => None,
        }
    }
}

impl Algebra for Symbolic<'_> {
    const LEAST_IS_QUANTIFIED: bool = true;

    type Number = Expr;

    fn number(&mut self, number: Real) -> Result<Expr, ContinuousError> {
        Ok(self.pool.real(number)?)
    }

    fn undefined(&mut self) -> Result<Expr, ContinuousError> {
        let zero = self.pool.real(Real::ZERO)?;
        Ok(self.pool.divide(zero, zero)?)
    }

    fn value(&mut self, function: FunctionId, element: Element) -> Result<Expr, ContinuousError> {
        Ok(match (self.leaf)(function, element) {
            Leaf::Variable(index) => self.pool.variable(index)?,
            Leaf::Number(number) => self.pool.real(number)?,
        })
    }

    fn binary(
        &mut self,
        operator: Operator,
        left: Expr,
        right: Expr,
    ) -> Result<Expr, ContinuousError> {
        Ok(match operator {
            Operator::Plus => self.pool.add(left, right)?,
            Operator::Minus => self.pool.subtract(left, right)?,
            Operator::Times => self.pool.multiply(left, right)?,
            Operator::Divide => self.pool.divide(left, right)?,
            Operator::Power => match self.pool.node(right) {
                Node::Number(exponent) => match small_exponent(exponent) {
                    Some(exponent) => self.pool.power_integer(left, exponent)?,
                    None => self.pool.power(left, right)?,
                },
                _ => self.pool.power(left, right)?,
            },
        })
    }

    fn apply(
        &mut self,
        function: RealFunction,
        arguments: Vec<Expr>,
    ) -> Result<Expr, ContinuousError> {
        let Some((&first, rest)) = arguments.split_first() else { return self.undefined() };
        let pool = &mut *self.pool;
        Ok(match function {
            RealFunction::Root(degree) => pool.root(first, degree)?,
            RealFunction::Sin => pool.sin(first)?,
            RealFunction::Cos => pool.cos(first)?,
            RealFunction::Exp => pool.exp(first)?,
            RealFunction::Log => pool.ln(first)?,
            RealFunction::Abs => pool.abs(first)?,
            RealFunction::Min => {
                rest.iter().try_fold(first, |least, &next| pool.min(least, next))?
            }
            RealFunction::Max => rest.iter().try_fold(first, |most, &next| pool.max(most, next))?,
        })
    }

    fn indicator(&mut self, truth: Condition) -> Result<Expr, ContinuousError> {
        Ok(self.pool.indicator(truth)?)
    }

    /// Returns `c * then + (1 - c) * otherwise`. It is undefined where one of the two is undefined
    /// although the other one is selected, which makes comparisons with it false there.
    fn select(
        &mut self,
        truth: Condition,
        then: Expr,
        otherwise: Expr,
    ) -> Result<Expr, ContinuousError> {
        let yes = self.pool.indicator(truth)?;
        let one = self.pool.real(Real::ONE)?;
        let no = self.pool.subtract(one, yes)?;
        let (then, otherwise) =
            (self.pool.multiply(yes, then)?, self.pool.multiply(no, otherwise)?);
        Ok(self.pool.add(then, otherwise)?)
    }

    fn compare(
        &mut self,
        left: Expr,
        sign: Sign,
        right: Expr,
    ) -> Result<Condition, ContinuousError> {
        let pool = &mut *self.pool;
        Ok(match sign {
            Sign::Less => pool.less(left, right)?,
            Sign::Greater => pool.less(right, left)?,
            Sign::AtMost => pool.at_most(left, right)?,
            Sign::AtLeast => pool.at_most(right, left)?,
            Sign::Equal => pool.equal(left, right)?,
            Sign::Unequal => pool.unequal(left, right)?,
        })
    }

    fn quantify(
        walker: &mut Walker<'_, Self>,
        exists: bool,
        variable: &Variable,
        body: &Formula,
    ) -> Result<Condition, ContinuousError> {
        quantify::eliminate(walker, exists, variable, body)
    }

    fn least(
        _walker: &mut Walker<'_, Self>,
        _variable: &Variable,
        _body: &Formula,
    ) -> Result<Expr, ContinuousError> {
        Err(ContinuousError::LeastOverTime)
    }
}
