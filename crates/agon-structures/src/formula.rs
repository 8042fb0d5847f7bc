//! Formulas with fixed points, transitive closure and quantifiers over sets, and terms that count.
//!
//! This is the logic of structure rewriting games (Kaiser & Stafiniak 2010, 2011), with the
//! additions of the Toss language. Relations, functions and constants are named, not numbered, so that one
//! formula serves many vocabularies and can be rewritten freely. Evaluators resolve names once.
//!
//! A term may be undefined: a division by zero, a power that is not rational, the least of no
//! values, a function without a value, a constant without an element, and everything computed from
//! these. A comparison with an undefined term does not hold, nor does an atom with an undefined
//! constant. So `not (s < t)` differs from `s >= t`, unless both terms are [always
//! defined](Term::is_total). In this way every formula has a truth value, and evaluators may work
//! in any order without different answers.
//!
//! ```
//! use agon_structures::formula::{Formula, Variable};
//! let [x, y] = ["x", "y"].map(Variable::new);
//! let edge = Formula::atom("R", [&x, &y]);
//! let last = Formula::not(Formula::exists([&y], edge));
//! assert_eq!(last.to_string(), "not ex y R(x, y)");
//! assert_eq!(last.free_variables().into_iter().collect::<Vec<_>>(), [x]);
//! ```

mod definitions;
mod polarity;
mod print;
mod substitute;
mod variables;
pub(crate) mod walk;

#[cfg(test)]
mod tests;

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use crate::rational::Rational;

pub use definitions::{Definition, DefinitionError, Definitions};
pub(crate) use polarity::Polarity;
pub use substitute::{Fresh, Oversize};

/// The name of a relation, a function or a constant. Cheap to clone.
pub type Name = Arc<str>;

/// The sort of values that a variable ranges over.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sort {
    /// Elements: `x`.
    Element,
    /// Sets of elements: `X`. Bound by quantifiers only, not by aggregates or definitions.
    Set,
    /// Relations: `|x`. The evaluators of this crate refuse them.
    Relation,
    /// Numbers: `:x`. The evaluators of this crate take them from a `let` or from the assignment.
    /// They refuse quantifiers over numbers, which belong to continuous games.
    Real,
}

/// A variable. Its first character determines its [`Sort`]. Cheap to clone; ordered by sort, then
/// by name.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Variable(Arc<str>);

impl Variable {
    /// Creates the variable with this name, including the `:` or `|` if it has one.
    pub fn new(name: &str) -> Variable {
        Variable(name.into())
    }

    /// Returns the name, including the `:` or `|`.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Returns the sort of its values.
    pub fn sort(&self) -> Sort {
        match self.0.chars().next() {
            Some(':') => Sort::Real,
            Some('|') => Sort::Relation,
            Some(first) if first.is_uppercase() => Sort::Set,
            _ => Sort::Element,
        }
    }
}

impl PartialOrd for Variable {
    fn partial_cmp(&self, other: &Variable) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Variable {
    fn cmp(&self, other: &Variable) -> std::cmp::Ordering {
        (self.sort(), &self.0).cmp(&(other.sort(), &other.0))
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&Variable> for Variable {
    fn from(variable: &Variable) -> Variable {
        variable.clone()
    }
}

/// An argument of an atom.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Argument {
    /// An element variable.
    Variable(Variable),
    /// A constant of the vocabulary.
    Constant(Name),
}

impl Argument {
    /// Returns the variable, if the argument is one.
    pub fn variable(&self) -> Option<&Variable> {
        match self {
            Argument::Variable(variable) => Some(variable),
            Argument::Constant(_) => None,
        }
    }
}

impl From<&Variable> for Argument {
    fn from(variable: &Variable) -> Argument {
        Argument::Variable(variable.clone())
    }
}

impl From<Variable> for Argument {
    fn from(variable: Variable) -> Argument {
        Argument::Variable(variable)
    }
}

impl From<&Argument> for Argument {
    fn from(argument: &Argument) -> Argument {
        argument.clone()
    }
}

/// A comparison of two terms.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sign {
    /// `=`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Sign {
    /// Returns whether numbers in this order satisfy the comparison.
    pub fn admits(self, order: std::cmp::Ordering) -> bool {
        match self {
            Sign::Equal => order.is_eq(),
            Sign::Unequal => order.is_ne(),
            Sign::Less => order.is_lt(),
            Sign::AtMost => order.is_le(),
            Sign::Greater => order.is_gt(),
            Sign::AtLeast => order.is_ge(),
        }
    }

    /// Returns the comparison that holds for two numbers exactly if this one does not.
    pub fn opposite(self) -> Sign {
        match self {
            Sign::Equal => Sign::Unequal,
            Sign::Unequal => Sign::Equal,
            Sign::Less => Sign::AtLeast,
            Sign::AtMost => Sign::Greater,
            Sign::Greater => Sign::AtMost,
            Sign::AtLeast => Sign::Less,
        }
    }
}

/// The kind of fixed point.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Extreme {
    /// The least: `lfp`.
    Least,
    /// The greatest: `gfp`.
    Greatest,
}

/// A fixed point applied to arguments: `lfp R(x, y) = body` is applied to `x, y` themselves.
///
/// The relation must occur in the body under an even number of negations and not in terms;
/// evaluators reject other bodies. Further free variables of the body are parameters: there is one
/// fixed point for each of their values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fix {
    /// Whether it is the least or the greatest fixed point.
    pub extreme: Extreme,
    /// The name of the relation within the body.
    pub relation: Name,
    /// The variables of the relation in the body, without repetitions.
    pub variables: Vec<Variable>,
    /// The formula that defines the relation.
    pub body: Formula,
    /// The arguments, as many as `variables`.
    pub arguments: Vec<Argument>,
}

/// A reflexive transitive closure: `tc x, y body` is applied to `x, y` themselves.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Closure {
    /// With `tc k`, only paths of at most `2 ^ k` steps count: those that a first-order formula of
    /// quantifier depth `k` can express.
    pub bound: Option<u32>,
    /// The variable for the start of a step in the body.
    pub from: Variable,
    /// The variable for the end of a step in the body, different from `from`.
    pub to: Variable,
    /// The formula of a step. Further free variables are parameters.
    pub body: Formula,
    /// The arguments: start and end of a path.
    pub arguments: [Argument; 2],
}

/// A relation for use in one formula. It is not recursive: in the definition, the name has its
/// outer meaning.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Let {
    /// The name of the relation.
    pub relation: Name,
    /// The variables of the definition, without repetitions.
    pub variables: Vec<Variable>,
    /// The formula that defines the relation. Further free variables have their meaning at the
    /// `let`.
    pub definition: Formula,
    /// The formula in which the relation is visible.
    pub body: Formula,
}

/// A formula. The empty conjunction is true, the empty disjunction is false.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Formula {
    /// A tuple is in a relation: of the structure, defined, or bound by a `let` or a fixed point.
    Relation(Name, Vec<Argument>),
    /// Two elements are equal.
    Equal(Argument, Argument),
    /// An element is in a set: `x in X`. It does not hold for a constant without an element.
    Member(Argument, Variable),
    /// Two numbers satisfy a comparison.
    Compare(Box<Term>, Sign, Box<Term>),
    /// Negation.
    Not(Box<Formula>),
    /// Conjunction.
    And(Vec<Formula>),
    /// Disjunction.
    Or(Vec<Formula>),
    /// Existential quantifier over variables of any sorts.
    Exists(Vec<Variable>, Box<Formula>),
    /// Universal quantifier over variables of any sorts.
    All(Vec<Variable>, Box<Formula>),
    /// A least or greatest fixed point.
    Fix(Box<Fix>),
    /// A transitive closure.
    Closure(Box<Closure>),
    /// A local definition of a relation.
    Let(Box<Let>),
}

/// An arithmetic operation on two terms.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Operator {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`; undefined if the divisor is zero.
    Divide,
    /// `^`; undefined unless the exponent is an integer, and for negative powers of zero. `0 ^ 0`
    /// is 1.
    Power,
}

/// A function of real numbers that terms apply to other terms.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RealFunction {
    /// The n-th root: `sqrt(t)` is `Root(2)`, others are `root(n, t)`. Undefined for `n = 0`, and
    /// for even `n` and negative numbers. Odd roots of negative numbers are negative.
    Root(u32),
    /// `sin`, of an angle in radians.
    Sin,
    /// `cos`, of an angle in radians.
    Cos,
    /// `exp`
    Exp,
    /// `log`, the natural logarithm; undefined unless the argument is positive.
    Log,
    /// `abs`
    Abs,
    /// `min`, of two or more numbers.
    Min,
    /// `max`, of two or more numbers.
    Max,
}

impl RealFunction {
    /// Returns the name by which formulas call the function.
    pub fn name(self) -> &'static str {
        match self {
            RealFunction::Root(2) => "sqrt",
            RealFunction::Root(_) => "root",
            RealFunction::Sin => "sin",
            RealFunction::Cos => "cos",
            RealFunction::Exp => "exp",
            RealFunction::Log => "log",
            RealFunction::Abs => "abs",
            RealFunction::Min => "min",
            RealFunction::Max => "max",
        }
    }

    /// Returns whether the function can be applied to this number of arguments.
    pub fn takes(self, n_arguments: usize) -> bool {
        match self {
            RealFunction::Min | RealFunction::Max => n_arguments >= 2,
            RealFunction::Root(_)
            | RealFunction::Sin
            | RealFunction::Cos
            | RealFunction::Exp
            | RealFunction::Log
            | RealFunction::Abs => n_arguments == 1,
        }
    }
}

/// A way to combine many values.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fold {
    /// `Sum`; 0 for no values.
    Sum,
    /// `Prod`; 1 for no values.
    Product,
    /// `Min`; undefined for no values.
    Min,
    /// `Max`; undefined for no values.
    Max,
}

/// A number combined from many: `Sum (x, y | guard : term)`. It is undefined if the term is
/// undefined for an assignment that satisfies the guard.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Aggregate {
    /// How the values are combined.
    pub fold: Fold,
    /// The bound variables, without repetitions.
    pub variables: Vec<Variable>,
    /// The condition on the assignments that count.
    pub guard: Formula,
    /// The value for each assignment.
    pub term: Term,
}

/// A term: a rational number, if it is defined.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// A number.
    Number(Rational),
    /// A real variable, bound by `let` or by the assignment: `:a`.
    Variable(Variable),
    /// The number of an element, counted from 1: `&x`.
    ElementNumber(Argument),
    /// The value of a function: `:f(x)`.
    Function(Name, Argument),
    /// 1 if the formula holds, otherwise 0: `:(phi)`.
    Characteristic(Box<Formula>),
    /// An arithmetic operation.
    Binary(Operator, Box<Term>, Box<Term>),
    /// A number combined from many.
    Aggregate(Box<Aggregate>),
    /// A local name for a number: `let :a = s in t`.
    Let(Variable, Box<Term>, Box<Term>),
    /// The least real number for which the formula holds: `min :a (phi)`.
    Least(Variable, Box<Formula>),
    /// A real function applied to terms: `sqrt(t)`, `max(s, t)`.
    Apply(RealFunction, Vec<Term>),
}

impl Formula {
    /// Returns the formula that always holds.
    pub fn truth() -> Formula {
        Formula::And(Vec::new())
    }

    /// Returns the formula that never holds.
    pub fn falsity() -> Formula {
        Formula::Or(Vec::new())
    }

    /// Returns `R(x, y)`.
    pub fn atom<A: Into<Argument>>(
        relation: &str,
        arguments: impl IntoIterator<Item = A>,
    ) -> Formula {
        Formula::Relation(relation.into(), arguments.into_iter().map(Into::into).collect())
    }

    /// Returns `x = y`.
    pub fn equal(left: impl Into<Argument>, right: impl Into<Argument>) -> Formula {
        Formula::Equal(left.into(), right.into())
    }

    /// Returns `x in X`.
    pub fn member(element: impl Into<Argument>, set: &Variable) -> Formula {
        Formula::Member(element.into(), set.clone())
    }

    /// Returns a comparison such as `s < t`.
    pub fn compare(left: Term, sign: Sign, right: Term) -> Formula {
        Formula::Compare(Box::new(left), sign, Box::new(right))
    }

    /// Returns the negation.
    #[allow(
        clippy::should_implement_trait,
        reason = "a constructor among constructors, not an operator"
    )]
    pub fn not(formula: Formula) -> Formula {
        Formula::Not(Box::new(formula))
    }

    /// Quantifies existentially; returns the formula itself if there are no variables.
    pub fn exists<V: Borrow<Variable>>(
        variables: impl IntoIterator<Item = V>,
        formula: Formula,
    ) -> Formula {
        let variables: Vec<Variable> =
            variables.into_iter().map(|variable| variable.borrow().clone()).collect();
        if variables.is_empty() { formula } else { Formula::Exists(variables, Box::new(formula)) }
    }

    /// Quantifies universally; returns the formula itself if there are no variables.
    pub fn all<V: Borrow<Variable>>(
        variables: impl IntoIterator<Item = V>,
        formula: Formula,
    ) -> Formula {
        let variables: Vec<Variable> =
            variables.into_iter().map(|variable| variable.borrow().clone()).collect();
        if variables.is_empty() { formula } else { Formula::All(variables, Box::new(formula)) }
    }

    /// Returns `lfp R(x, y) = body` or `gfp`, applied to its own variables.
    pub fn fix(
        extreme: Extreme,
        relation: &str,
        variables: Vec<Variable>,
        body: Formula,
    ) -> Formula {
        let arguments = variables.iter().map(Argument::from).collect();
        Formula::Fix(Box::new(Fix {
            extreme,
            relation: relation.into(),
            variables,
            body,
            arguments,
        }))
    }

    /// Returns `tc x, y body` or `tc k x, y body`, applied to its own variables.
    pub fn closure(bound: Option<u32>, from: Variable, to: Variable, body: Formula) -> Formula {
        let arguments = [Argument::from(&from), Argument::from(&to)];
        Formula::Closure(Box::new(Closure { bound, from, to, body, arguments }))
    }

    /// Returns `let R(x, y) = definition in body`.
    pub fn with(
        relation: &str,
        variables: Vec<Variable>,
        definition: Formula,
        body: Formula,
    ) -> Formula {
        Formula::Let(Box::new(Let { relation: relation.into(), variables, definition, body }))
    }

    /// Returns whether it is the empty conjunction.
    pub fn is_truth(&self) -> bool {
        matches!(self, Formula::And(parts) if parts.is_empty())
    }

    /// Returns whether it is the empty disjunction.
    pub fn is_falsity(&self) -> bool {
        matches!(self, Formula::Or(parts) if parts.is_empty())
    }
}

impl Term {
    /// Returns an integer.
    pub fn whole(number: i64) -> Term {
        Term::Number(Rational::whole(number))
    }

    /// Returns `:(phi)`.
    pub fn characteristic(formula: Formula) -> Term {
        Term::Characteristic(Box::new(formula))
    }

    /// Combines two terms. A quotient of numbers becomes a number, because that is how `1/3` is
    /// written.
    pub fn binary(operator: Operator, left: Term, right: Term) -> Term {
        if let (Operator::Divide, Term::Number(above), Term::Number(below)) =
            (operator, &left, &right)
            && let Ok(Some(number)) = above.divided_by(*below)
        {
            return Term::Number(number);
        }
        Term::Binary(operator, Box::new(left), Box::new(right))
    }

    /// Returns `-t`, as `-1 * t` or as a number.
    pub fn negated(term: Term) -> Term {
        match term {
            Term::Number(number) => Term::Number(number.negated()),
            other => Term::binary(Operator::Times, Term::whole(-1), other),
        }
    }

    /// Returns an aggregate such as `Sum (variables | guard : term)`.
    pub fn aggregate(fold: Fold, variables: Vec<Variable>, guard: Formula, term: Term) -> Term {
        Term::Aggregate(Box::new(Aggregate { fold, variables, guard, term }))
    }

    /// Returns whether the term is defined in every structure for all values of its free variables.
    pub fn is_total(&self) -> bool {
        match self {
            Term::Number(_) | Term::Characteristic(_) => true,
            // The variable may be bound to an undefined term.
            Term::Variable(_) => false,
            Term::ElementNumber(argument) => argument.variable().is_some(),
            Term::Function(_, _) => false,
            Term::Binary(Operator::Plus | Operator::Minus | Operator::Times, left, right) => {
                left.is_total() && right.is_total()
            }
            Term::Binary(Operator::Divide, left, right) => {
                left.is_total() && matches!(&**right, Term::Number(number) if number.signum() != 0)
            }
            Term::Binary(Operator::Power, left, right) => {
                let is_natural = |number: &Rational| number.is_whole() && number.signum() >= 0;
                left.is_total() && matches!(&**right, Term::Number(number) if is_natural(number))
            }
            Term::Aggregate(aggregate) => {
                matches!(aggregate.fold, Fold::Sum | Fold::Product) && aggregate.term.is_total()
            }
            Term::Let(_, _, body) => body.is_total(),
            // There may be no such number.
            Term::Least(..) => false,
            Term::Apply(function, arguments) => {
                let is_total = match function {
                    RealFunction::Root(degree) => degree % 2 == 1,
                    RealFunction::Log => false,
                    RealFunction::Sin
                    | RealFunction::Cos
                    | RealFunction::Exp
                    | RealFunction::Abs
                    | RealFunction::Min
                    | RealFunction::Max => true,
                };
                is_total && arguments.iter().all(Term::is_total)
            }
        }
    }
}
