//! Constructors of terms and conditions. They compute with constants exactly and simplify only
//! where the result is defined for the same values.

use super::{Condition, Expr, Node, Pool, PoolFull};
use crate::interval::Interval;
use crate::rational::Rational;
use crate::real::Real;

type Built = Result<Expr, PoolFull>;
type Judged = Result<Condition, PoolFull>;

/// Constructors of terms. All fail only if the pool is full.
///
/// # Errors
/// [`PoolFull`] if the term is new and the pool has no room.
#[allow(clippy::missing_errors_doc)]
impl Pool {
    /// Returns an exact number.
    pub fn number(&mut self, number: Rational) -> Built {
        self.expr(Node::Number(number))
    }

    /// Returns an integer.
    pub fn whole(&mut self, number: i64) -> Built {
        self.number(Rational::whole(number))
    }

    /// Returns a constant of which an interval is known.
    pub fn interval(&mut self, interval: Interval) -> Built {
        self.expr(Node::Constant(interval))
    }

    /// Returns a constant.
    pub fn real(&mut self, number: Real) -> Built {
        match number {
            Real::Exact(number) => self.number(number),
            Real::Interval(interval) => self.interval(interval),
        }
    }

    /// Returns a state variable.
    pub fn variable(&mut self, index: u32) -> Built {
        self.expr(Node::Variable(index))
    }

    /// Returns the time since the start of the evolution.
    pub fn time(&mut self) -> Built {
        self.expr(Node::Time)
    }

    /// Returns a sum.
    pub fn add(&mut self, left: Expr, right: Expr) -> Built {
        if self.is_whole(left, 0) {
            return Ok(right);
        }
        if self.is_whole(right, 0) {
            return Ok(left);
        }
        match self.constants(left, right) {
            Some((left, right)) => self.real(left + right),
            // Sums and products are stored with the lesser id first, so that both orders are one.
            None => self.expr(Node::Add(left.min(right), left.max(right))),
        }
    }

    /// Returns a difference.
    pub fn subtract(&mut self, left: Expr, right: Expr) -> Built {
        if self.is_whole(right, 0) {
            return Ok(left);
        }
        if self.is_whole(left, 0) {
            return self.negate(right);
        }
        if left == right && self.is_total(left) && self.constant_of(left).is_none() {
            return self.whole(0);
        }
        match self.constants(left, right) {
            Some((left, right)) => self.real(left - right),
            None => self.expr(Node::Subtract(left, right)),
        }
    }

    /// Returns a product.
    pub fn multiply(&mut self, left: Expr, right: Expr) -> Built {
        if self.is_whole(left, 1) {
            return Ok(right);
        }
        if self.is_whole(right, 1) {
            return Ok(left);
        }
        if self.is_whole(left, 0) && self.is_total(right) {
            return Ok(left);
        }
        if self.is_whole(right, 0) && self.is_total(left) {
            return Ok(right);
        }
        match self.constants(left, right) {
            Some((left, right)) => self.real(left * right),
            None => self.expr(Node::Multiply(left.min(right), left.max(right))),
        }
    }

    /// Returns a quotient.
    pub fn divide(&mut self, left: Expr, right: Expr) -> Built {
        if self.is_whole(right, 1) {
            return Ok(left);
        }
        match self.constants(left, right).and_then(|(left, right)| left.div(right)) {
            Some(quotient) => self.real(quotient),
            None => self.expr(Node::Divide(left, right)),
        }
    }

    /// Returns the opposite number.
    pub fn negate(&mut self, inner: Expr) -> Built {
        match self.node(inner) {
            Node::Negate(inner) => Ok(inner),
            Node::Subtract(left, right) => self.subtract(right, left),
            _ => match self.constant_of(inner) {
                Some(number) => self.real(-number),
                None => self.expr(Node::Negate(inner)),
            },
        }
    }

    /// Returns a power with an integer exponent.
    pub fn power_integer(&mut self, base: Expr, exponent: i32) -> Built {
        if exponent == 1 {
            return Ok(base);
        }
        if exponent == 0 && self.is_total(base) {
            return self.whole(1);
        }
        match self.constant_of(base).and_then(|base| base.powi(exponent)) {
            Some(power) => self.real(power),
            None => self.expr(Node::PowerInteger(base, exponent)),
        }
    }

    /// Returns a power.
    pub fn power(&mut self, base: Expr, exponent: Expr) -> Built {
        if let Node::Number(number) = self.node(exponent)
            && number.is_whole()
            && let Ok(exponent) = i32::try_from(number.numerator())
        {
            return self.power_integer(base, exponent);
        }
        match self.constants(base, exponent).and_then(|(base, exponent)| base.pow(exponent)) {
            Some(power) => self.real(power),
            None => self.expr(Node::Power(base, exponent)),
        }
    }

    /// Returns an n-th root.
    pub fn root(&mut self, inner: Expr, degree: u32) -> Built {
        if degree == 1 {
            return Ok(inner);
        }
        self.unary(inner, Node::Root(inner, degree), |number| number.root(degree))
    }

    /// Returns a square root.
    pub fn sqrt(&mut self, inner: Expr) -> Built {
        self.root(inner, 2)
    }

    /// Returns the sine.
    pub fn sin(&mut self, inner: Expr) -> Built {
        self.unary(inner, Node::Sin(inner), |number| Some(number.sin()))
    }

    /// Returns the cosine.
    pub fn cos(&mut self, inner: Expr) -> Built {
        self.unary(inner, Node::Cos(inner), |number| Some(number.cos()))
    }

    /// Returns the exponential.
    pub fn exp(&mut self, inner: Expr) -> Built {
        self.unary(inner, Node::Exp(inner), |number| Some(number.exp()))
    }

    /// Returns the natural logarithm.
    pub fn ln(&mut self, inner: Expr) -> Built {
        self.unary(inner, Node::Ln(inner), Real::ln)
    }

    /// Returns the absolute value.
    pub fn abs(&mut self, inner: Expr) -> Built {
        self.unary(inner, Node::Abs(inner), |number| Some(number.abs()))
    }

    /// Returns the lesser of two numbers.
    pub fn min(&mut self, left: Expr, right: Expr) -> Built {
        if left == right {
            return Ok(left);
        }
        match self.constants(left, right) {
            Some((left, right)) => self.real(left.min(right)),
            None => self.expr(Node::Min(left.min(right), left.max(right))),
        }
    }

    /// Returns the greater of two numbers.
    pub fn max(&mut self, left: Expr, right: Expr) -> Built {
        if left == right {
            return Ok(left);
        }
        match self.constants(left, right) {
            Some((left, right)) => self.real(left.max(right)),
            None => self.expr(Node::Max(left.min(right), left.max(right))),
        }
    }

    /// Returns 1 where a condition holds and 0 elsewhere.
    pub fn indicator(&mut self, condition: Condition) -> Built {
        match self.condition_node(condition) {
            Node::True => self.whole(1),
            Node::False => self.whole(0),
            _ => self.expr(Node::Indicator(condition)),
        }
    }

    fn expr(&mut self, node: Node) -> Built {
        self.intern(node).map(Expr)
    }

    fn is_whole(&self, expr: Expr, number: i64) -> bool {
        self.node(expr) == Node::Number(Rational::whole(number))
    }

    fn constants(&self, left: Expr, right: Expr) -> Option<(Real, Real)> {
        Some((self.constant_of(left)?, self.constant_of(right)?))
    }

    /// Returns the value of a function of a constant if it is defined, and otherwise the node.
    fn unary(&mut self, inner: Expr, node: Node, apply: impl Fn(Real) -> Option<Real>) -> Built {
        match self.constant_of(inner).and_then(apply) {
            Some(number) => self.real(number),
            None => self.expr(node),
        }
    }
}

/// Constructors of conditions. All fail only if the pool is full.
#[allow(clippy::missing_errors_doc)]
impl Pool {
    /// Returns the condition that always holds or never holds.
    pub fn truth(&mut self, holds: bool) -> Judged {
        self.condition(if holds { Node::True } else { Node::False })
    }

    /// Returns the condition that one term is certainly less than another.
    pub fn less(&mut self, left: Expr, right: Expr) -> Judged {
        if left == right {
            return self.truth(false);
        }
        match self.constants(left, right) {
            Some((left, right)) => self.truth(Real::certainly_less(&left, &right)),
            None => self.condition(Node::Less(left, right)),
        }
    }

    /// Returns the condition `left <= right`: both are defined, and `right < left` is not certain.
    pub fn at_most(&mut self, left: Expr, right: Expr) -> Judged {
        if left == right && self.is_total(left) {
            return self.truth(true);
        }
        match self.constants(left, right) {
            Some((left, right)) => self.truth(!Real::certainly_less(&right, &left)),
            None => self.condition(Node::AtMost(left, right)),
        }
    }

    /// Returns the condition `left = right`: both are defined, and none is certainly less.
    pub fn equal(&mut self, left: Expr, right: Expr) -> Judged {
        let (first, second) = (self.at_most(left, right)?, self.at_most(right, left)?);
        self.and(first, second)
    }

    /// Returns the condition `left != right`: one of both is certainly less.
    pub fn unequal(&mut self, left: Expr, right: Expr) -> Judged {
        let (first, second) = (self.less(left, right)?, self.less(right, left)?);
        self.or(first, second)
    }

    /// Returns the condition that a term is defined.
    pub fn defined(&mut self, expr: Expr) -> Judged {
        self.at_most(expr, expr)
    }

    /// Returns the negation.
    pub fn not(&mut self, condition: Condition) -> Judged {
        match self.condition_node(condition) {
            Node::True => self.truth(false),
            Node::False => self.truth(true),
            Node::Not(inner) => Ok(inner),
            _ => self.condition(Node::Not(condition)),
        }
    }

    /// Returns the conjunction.
    pub fn and(&mut self, left: Condition, right: Condition) -> Judged {
        match (self.condition_node(left), self.condition_node(right)) {
            (Node::False, _) | (_, Node::True) => Ok(left),
            (_, Node::False) | (Node::True, _) => Ok(right),
            _ if left == right => Ok(left),
            _ => self.condition(Node::And(left.min(right), left.max(right))),
        }
    }

    /// Returns the disjunction.
    pub fn or(&mut self, left: Condition, right: Condition) -> Judged {
        match (self.condition_node(left), self.condition_node(right)) {
            (Node::True, _) | (_, Node::False) => Ok(left),
            (_, Node::True) | (Node::False, _) => Ok(right),
            _ if left == right => Ok(left),
            _ => self.condition(Node::Or(left.min(right), left.max(right))),
        }
    }

    fn condition(&mut self, node: Node) -> Judged {
        self.intern(node).map(Condition)
    }
}
