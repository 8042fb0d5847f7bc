//! Terms and conditions over real variables, shared in a pool.
//!
//! A [`Pool`] stores every term once, so that equal terms have equal ids and common parts are
//! evaluated once (hash consing). The constructors compute with constants exactly. Terms are
//! evaluated by compiling them into a [`Program`].
//!
//! # Undefined terms
//!
//! A term may be undefined: a quotient with divisor zero, an even root or a logarithm of a negative
//! number. An operation with an undefined operand is undefined. A comparison with an undefined side
//! is false, and this holds for `a < b`, `a <= b`, `a = b` and `a != b` alike. This is why
//! [`Pool::at_most`] has a node of its own and is not the negation of `b < a`, which is true if a
//! side is undefined.
//!
//! # Comparisons of intervals
//!
//! `a < b` holds for intervals if it is certain. `a <= b` holds if both sides are defined and
//! `b < a` is not certain.

use std::hash::{Hash, Hasher};

use hashbrown::HashTable;

use crate::interval::Interval;
use crate::program::{Outputs, Program};
use crate::rational::Rational;
use crate::real::Real;

/// A term: a number that depends on variables and time. Ids belong to one [`Pool`].
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Expr(pub(crate) u32);

/// A condition on variables and time. Ids belong to one [`Pool`].
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Condition(pub(crate) u32);

/// The form of a term or a condition.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// An exact number.
    Number(Rational),
    /// A constant of which an interval is known.
    Constant(Interval),
    /// A state variable, by its index.
    Variable(u32),
    /// The time since the start of the evolution.
    Time,
    /// A sum.
    Add(Expr, Expr),
    /// A difference.
    Subtract(Expr, Expr),
    /// A product.
    Multiply(Expr, Expr),
    /// A quotient, undefined if the divisor is zero.
    Divide(Expr, Expr),
    /// The opposite number.
    Negate(Expr),
    /// A power with an integer exponent, undefined if this is negative and the base zero.
    PowerInteger(Expr, i32),
    /// A power with any exponent. See [`Interval::pow`] for its domain.
    Power(Expr, Expr),
    /// An n-th root, undefined if the degree is even and the number negative.
    Root(Expr, u32),
    /// The sine.
    Sin(Expr),
    /// The cosine.
    Cos(Expr),
    /// The exponential.
    Exp(Expr),
    /// The natural logarithm, undefined if the number is not positive.
    Ln(Expr),
    /// The absolute value.
    Abs(Expr),
    /// The lesser of two numbers.
    Min(Expr, Expr),
    /// The greater of two numbers.
    Max(Expr, Expr),
    /// 1 where a condition holds, and 0 elsewhere.
    Indicator(Condition),
    /// The condition that always holds.
    True,
    /// The condition that never holds.
    False,
    /// The first term is certainly less than the second.
    Less(Expr, Expr),
    /// Both terms are defined, and the second is not certainly less than the first.
    AtMost(Expr, Expr),
    /// A condition does not hold.
    Not(Condition),
    /// Both conditions hold.
    And(Condition, Condition),
    /// At least one of two conditions holds.
    Or(Condition, Condition),
}

/// The error that a pool has as many nodes as it may have.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct PoolFull {
    /// The maximum number of nodes.
    pub limit: usize,
}

impl std::fmt::Display for PoolFull {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the terms have more than {} different parts", self.limit)
    }
}

impl std::error::Error for PoolFull {}

/// Maximum number of nodes of a pool that [`Pool::new`] makes.
const DEFAULT_LIMIT: usize = 1 << 22;

/// Terms and conditions, each stored once. Append only: ids stay valid. Invariant: the parts of a
/// node have smaller ids than the node.
#[derive(Clone, Debug)]
pub struct Pool {
    nodes: Vec<Node>,
    properties: Vec<Properties>,
    table: HashTable<u32>,
    limit: usize,
}

/// What is known about a term whatever the values of its variables are.
#[derive(Copy, Clone, Debug)]
struct Properties {
    /// It is defined for all values of the variables.
    total: bool,
    /// It is a polynomial in the variables and time.
    polynomial: bool,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool::new()
    }
}

impl Pool {
    /// Returns an empty pool with room for four million nodes.
    pub fn new() -> Pool {
        Pool::with_limit(DEFAULT_LIMIT)
    }

    /// Returns an empty pool with a maximum number of nodes.
    pub fn with_limit(limit: usize) -> Pool {
        let limit = limit.min(u32::MAX as usize);
        Pool { nodes: Vec::new(), properties: Vec::new(), table: HashTable::new(), limit }
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the form of a term.
    pub fn node(&self, expr: Expr) -> Node {
        self.nodes[expr.0 as usize]
    }

    /// Returns the form of a condition.
    pub fn condition_node(&self, condition: Condition) -> Node {
        self.nodes[condition.0 as usize]
    }

    /// Returns the value of a term that is a constant node.
    pub fn constant_of(&self, expr: Expr) -> Option<Real> {
        match self.node(expr) {
            Node::Number(number) => Some(Real::Exact(number)),
            Node::Constant(interval) => Some(Real::Interval(interval)),
            _ => None,
        }
    }

    /// Returns whether a term is a polynomial in the variables and time. Division by a constant is
    /// allowed.
    pub fn is_polynomial(&self, expr: Expr) -> bool {
        self.properties[expr.0 as usize].polynomial
    }

    /// Returns whether a term is defined whatever the values of its variables are. May be `false`
    /// for a term that is defined everywhere.
    pub fn is_total(&self, expr: Expr) -> bool {
        self.properties[expr.0 as usize].total
    }

    /// Returns the indices of the variables that occur in a term, in increasing order.
    pub fn variables_of(&self, expr: Expr) -> Vec<u32> {
        self.variables(&[expr.0])
    }

    /// Returns the indices of the variables that occur in a condition, in increasing order.
    pub fn variables_of_condition(&self, condition: Condition) -> Vec<u32> {
        self.variables(&[condition.0])
    }

    /// Returns the value of a term at a point; `None` if it is undefined. Use a
    /// [`Program`] to evaluate a term many times.
    pub fn evaluate_f64(&self, expr: Expr, variables: &[f64], time: f64) -> Option<f64> {
        let mut result = [0.0];
        let program = Program::new(self, &[expr], &[]);
        program.run_f64(variables, time, &mut result, &mut Vec::new());
        (!result[0].is_nan()).then_some(result[0])
    }

    /// Returns an interval of the values of a term over intervals of its variables; `None` if it is
    /// undefined on all of them.
    pub fn evaluate_interval(
        &self,
        expr: Expr,
        variables: &[Interval],
        time: Interval,
    ) -> Option<Interval> {
        let Outputs { values, .. } = Program::new(self, &[expr], &[]).run_interval(variables, time);
        values.into_iter().next().flatten()
    }

    /// Returns the value of a term; `None` if it is undefined.
    pub fn evaluate(&self, expr: Expr, variables: &[Real], time: Real) -> Option<Real> {
        let Outputs { values, .. } = Program::new(self, &[expr], &[]).run_real(variables, time);
        values.into_iter().next().flatten()
    }

    /// Returns whether a condition holds.
    pub fn holds(&self, condition: Condition, variables: &[Real], time: Real) -> bool {
        let Outputs { truths, .. } =
            Program::new(self, &[], &[condition]).run_real(variables, time);
        truths.first().is_some_and(|truth| truth.is_true())
    }

    /// Returns the ids of all nodes that the given ones consist of, in increasing order.
    pub(crate) fn reachable(&self, roots: &[u32]) -> Vec<u32> {
        // A worklist, because terms may be nested deeper than the stack allows.
        let mut seen = std::collections::BTreeSet::new();
        let mut open: Vec<u32> = roots.to_vec();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                self.nodes[id as usize].for_each_part(|part| open.push(part));
            }
        }
        seen.into_iter().collect()
    }

    pub(crate) fn node_by_id(&self, id: u32) -> Node {
        self.nodes[id as usize]
    }

    /// Returns the id of a node, which is added if it is new.
    pub(crate) fn intern(&mut self, node: Node) -> Result<u32, PoolFull> {
        let hash = hash(&node);
        if let Some(id) = self.table.find(hash, |id| self.nodes[*id as usize] == node) {
            return Ok(*id);
        }
        if self.nodes.len() >= self.limit {
            return Err(PoolFull { limit: self.limit });
        }
        let id = u32::try_from(self.nodes.len()).map_err(|_| PoolFull { limit: self.limit })?;
        let properties = self.properties_of(&node);
        self.nodes.push(node);
        self.properties.push(properties);
        let nodes = &self.nodes;
        self.table.insert_unique(hash, id, |id| self::hash(&nodes[*id as usize]));
        Ok(id)
    }

    pub(crate) fn variables(&self, roots: &[u32]) -> Vec<u32> {
        let mut variables: Vec<u32> = self
            .reachable(roots)
            .into_iter()
            .filter_map(|id| match self.nodes[id as usize] {
                Node::Variable(variable) => Some(variable),
                _ => None,
            })
            .collect();
        variables.sort_unstable();
        variables
    }

    fn properties_of(&self, node: &Node) -> Properties {
        let of = |expr: &Expr| self.properties[expr.0 as usize];
        let both = |left: &Expr, right: &Expr| Properties {
            total: of(left).total && of(right).total,
            polynomial: of(left).polynomial && of(right).polynomial,
        };
        let curved = |properties: Properties| Properties { polynomial: false, ..properties };
        let partial = Properties { total: false, polynomial: false };
        match node {
            Node::Number(_) | Node::Constant(_) | Node::Variable(_) | Node::Time => {
                Properties { total: true, polynomial: true }
            }
            Node::Add(left, right) | Node::Subtract(left, right) | Node::Multiply(left, right) => {
                both(left, right)
            }
            Node::Divide(above, below) => match self.constant_of(*below) {
                Some(divisor) if !divisor.may_be_zero() => of(above),
                _ => partial,
            },
            Node::Negate(inner) => of(inner),
            Node::PowerInteger(base, exponent) if *exponent >= 0 => of(base),
            Node::Root(inner, degree) if degree % 2 == 1 => curved(of(inner)),
            Node::Sin(inner) | Node::Cos(inner) | Node::Exp(inner) | Node::Abs(inner) => {
                curved(of(inner))
            }
            Node::Min(left, right) | Node::Max(left, right) => curved(both(left, right)),
            Node::PowerInteger(..) | Node::Power(..) | Node::Root(..) | Node::Ln(_) => partial,
            // Conditions are defined everywhere, whatever they compare.
            Node::Indicator(_)
            | Node::True
            | Node::False
            | Node::Less(..)
            | Node::AtMost(..)
            | Node::Not(_)
            | Node::And(..)
            | Node::Or(..) => Properties { total: true, polynomial: false },
        }
    }
}

impl Node {
    /// Calls a function with the id of every immediate part.
    pub(crate) fn for_each_part(&self, mut visit: impl FnMut(u32)) {
        match self {
            Node::Number(_)
            | Node::Constant(_)
            | Node::Variable(_)
            | Node::Time
            | Node::True
            | Node::False => {}
            Node::Add(left, right)
            | Node::Subtract(left, right)
            | Node::Multiply(left, right)
            | Node::Divide(left, right)
            | Node::Power(left, right)
            | Node::Min(left, right)
            | Node::Max(left, right)
            | Node::Less(left, right)
            | Node::AtMost(left, right) => {
                visit(left.0);
                visit(right.0);
            }
            Node::Negate(inner)
            | Node::PowerInteger(inner, _)
            | Node::Root(inner, _)
            | Node::Sin(inner)
            | Node::Cos(inner)
            | Node::Exp(inner)
            | Node::Ln(inner)
            | Node::Abs(inner) => visit(inner.0),
            Node::Indicator(condition) | Node::Not(condition) => visit(condition.0),
            Node::And(left, right) | Node::Or(left, right) => {
                visit(left.0);
                visit(right.0);
            }
        }
    }
}

/// A hash function without a random seed (Fowler, Noll & Vo 1991, on words).
struct Words(u64);

impl Hasher for Words {
    fn finish(&self) -> u64 {
        // The table takes its control bytes from the upper bits.
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            let mixed = (self.0 ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.0 = mixed ^ (mixed >> 32);
        }
    }
}

fn hash(node: &Node) -> u64 {
    let mut state = Words(0xcbf2_9ce4_8422_2325);
    node.hash(&mut state);
    state.finish()
}

mod construct;
#[cfg(test)]
pub(crate) mod tests;
