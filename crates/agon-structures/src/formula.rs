//! First-order formulas with fixed points and transitive closure, and terms that count.
//!
//! The logic of structure rewriting games (Kaiser and Stafiniak, "First-Order Logic with Counting for General Game
//! Playing", AAAI 2011), with the additions of the Toss language. Relations, functions and constants are named, not
//! numbered, so that one formula serves many vocabularies and can be rewritten freely; evaluators look names up once.
//!
//! A term has a value or none: there is none for a division by zero, a power that is no rational, the least of
//! nothing, a function where it has no value, a constant that names nothing, and for whatever is computed from such. A
//! comparison with such a term does not hold, an atom with such a constant does not either. So `not (s < t)` is not
//! the same as `s >= t`, unless both terms [always have a value](Term::is_total).
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
mod print;
mod signs;
mod substitute;
mod variables;
pub(crate) mod walk;

use std::borrow::Borrow;
use std::fmt;
use std::sync::Arc;

use crate::rational::Rational;

pub use definitions::{Definition, DefinitionFault, Definitions};
pub use signs::{Polarity, Signs};
pub use substitute::{Fresh, Oversize};

/// The name of a relation, a function or a constant. Cheap to clone.
pub type Name = Arc<str>;

/// What a variable ranges over.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sort {
    /// Elements: `x`.
    Element,
    /// Sets of elements: `X`. Not evaluated yet.
    Set,
    /// Relations: `|x`. Not evaluated yet.
    Relation,
    /// Numbers: `:x`. Bound by `let` only, so far.
    Real,
}

/// A variable; its first character tells its [`Sort`]. Cheap to clone; ordered by sort, then by name.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Variable(Arc<str>);

impl Variable {
    /// The variable of this name, with the `:` or `|` if it has one.
    pub fn new(name: &str) -> Variable {
        Variable(name.into())
    }

    /// The name, with the `:` or `|`.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// What it ranges over.
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

/// What stands in an atom.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Argument {
    /// An element variable.
    Variable(Variable),
    /// A constant of the vocabulary.
    Constant(Name),
}

impl Argument {
    /// The variable, if it is one.
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

/// How two terms are compared.
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
    /// Whether numbers in this order satisfy the comparison.
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

    /// What holds of two numbers exactly if this does not.
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

/// Which fixed point.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Extreme {
    /// The least: `lfp`.
    Least,
    /// The greatest: `gfp`.
    Greatest,
}

/// A fixed point, asked of some arguments: `lfp R(x, y) = body` asks for `x, y` themselves.
///
/// Meant for bodies in which the relation occurs under an even number of negations and in no term; evaluators refuse
/// others. Further free variables of the body are parameters: there is one fixed point for each of their values.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fix {
    /// Which.
    pub extreme: Extreme,
    /// The name of the relation within the body.
    pub relation: Name,
    /// Its arguments within the body; no two the same.
    pub variables: Vec<Variable>,
    /// What the relation is to be.
    pub body: Formula,
    /// What is asked: as many as `variables`.
    pub arguments: Vec<Argument>,
}

/// A reflexive transitive closure: `tc x, y body` asks for `x, y` themselves.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Closure {
    /// With `tc k`, only paths of at most `2 ^ k` steps: what a first-order formula of quantifier depth k can say.
    pub bound: Option<u32>,
    /// Where a step begins, in the body.
    pub from: Variable,
    /// Where a step ends, in the body; another variable than `from`.
    pub to: Variable,
    /// What a step is. Further free variables are parameters.
    pub body: Formula,
    /// What is asked: beginning and end of a path.
    pub arguments: [Argument; 2],
}

/// A relation for use in one formula. Not recursive: within the definition, the name has its outer meaning.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Let {
    /// Its name.
    pub relation: Name,
    /// Its arguments in the definition; no two the same.
    pub variables: Vec<Variable>,
    /// What it means. Further free variables mean what they mean where the `let` stands.
    pub definition: Formula,
    /// Where it may be used.
    pub body: Formula,
}

/// A formula. True and false are the empty conjunction and the empty disjunction.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Formula {
    /// A tuple is in a relation: of the structure, defined, or bound by a `let` or a fixed point.
    Relation(Name, Vec<Argument>),
    /// Two elements are the same.
    Equal(Argument, Argument),
    /// Two numbers are in some order.
    Compare(Box<Term>, Sign, Box<Term>),
    /// Not so.
    Not(Box<Formula>),
    /// All of them.
    And(Vec<Formula>),
    /// One of them at least.
    Or(Vec<Formula>),
    /// For some values of the variables.
    Exists(Vec<Variable>, Box<Formula>),
    /// For all values of the variables.
    All(Vec<Variable>, Box<Formula>),
    /// A least or greatest fixed point.
    Fix(Box<Fix>),
    /// A transitive closure.
    Closure(Box<Closure>),
    /// A relation for local use.
    Let(Box<Let>),
}

/// How two terms are combined.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Operator {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`; no value if the divisor is zero.
    Divide,
    /// `^`; no value unless the exponent is whole, nor if zero is raised to less than zero. `0 ^ 0` is 1.
    Power,
}

/// What is made of many values.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fold {
    /// `Sum`; 0 of nothing.
    Sum,
    /// `Prod`; 1 of nothing.
    Product,
    /// `Min`; no value of nothing.
    Min,
    /// `Max`; no value of nothing.
    Max,
}

/// One number from many: `Sum (x, y | guard : term)`. It has no value if the term has none for some assignment that
/// satisfies the guard.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Aggregate {
    /// What is made of the values.
    pub fold: Fold,
    /// The variables that run; no two the same.
    pub variables: Vec<Variable>,
    /// The assignments that count.
    pub guard: Formula,
    /// What each of them gives.
    pub term: Term,
}

/// A term: a rational number, if it has a value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// A number.
    Number(Rational),
    /// A real variable, bound by `let` or from outside: `:a`.
    Variable(Variable),
    /// The number of an element, counted from 1: `&x`.
    ElementNumber(Argument),
    /// The value of a function: `:f(x)`.
    Function(Name, Argument),
    /// 1 if the formula holds, else 0: `:(phi)`.
    Characteristic(Box<Formula>),
    /// Two terms combined.
    Binary(Operator, Box<Term>, Box<Term>),
    /// One number from many.
    Aggregate(Box<Aggregate>),
    /// A number with a name: `let :a = s in t`.
    Let(Variable, Box<Term>, Box<Term>),
}

impl Formula {
    /// What always holds.
    pub fn truth() -> Formula {
        Formula::And(Vec::new())
    }

    /// What never holds.
    pub fn falsity() -> Formula {
        Formula::Or(Vec::new())
    }

    /// `R(x, y)`
    pub fn atom<A: Into<Argument>>(
        relation: &str,
        arguments: impl IntoIterator<Item = A>,
    ) -> Formula {
        Formula::Relation(relation.into(), arguments.into_iter().map(Into::into).collect())
    }

    /// `x = y`
    pub fn equal(left: impl Into<Argument>, right: impl Into<Argument>) -> Formula {
        Formula::Equal(left.into(), right.into())
    }

    /// `s < t` and the like.
    pub fn compare(left: Term, sign: Sign, right: Term) -> Formula {
        Formula::Compare(Box::new(left), sign, Box::new(right))
    }

    /// The negation.
    #[allow(
        clippy::should_implement_trait,
        reason = "a constructor among constructors, not an operator"
    )]
    pub fn not(formula: Formula) -> Formula {
        Formula::Not(Box::new(formula))
    }

    /// For some values of the variables; the formula itself if there are no variables.
    pub fn exists<V: Borrow<Variable>>(
        variables: impl IntoIterator<Item = V>,
        formula: Formula,
    ) -> Formula {
        let variables: Vec<Variable> =
            variables.into_iter().map(|variable| variable.borrow().clone()).collect();
        if variables.is_empty() { formula } else { Formula::Exists(variables, Box::new(formula)) }
    }

    /// For all values of the variables; the formula itself if there are no variables.
    pub fn all<V: Borrow<Variable>>(
        variables: impl IntoIterator<Item = V>,
        formula: Formula,
    ) -> Formula {
        let variables: Vec<Variable> =
            variables.into_iter().map(|variable| variable.borrow().clone()).collect();
        if variables.is_empty() { formula } else { Formula::All(variables, Box::new(formula)) }
    }

    /// `lfp R(x, y) = body` or `gfp`, asked of its own variables.
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

    /// `tc x, y body` or `tc k x, y body`, asked of its own variables.
    pub fn closure(bound: Option<u32>, from: Variable, to: Variable, body: Formula) -> Formula {
        let arguments = [Argument::from(&from), Argument::from(&to)];
        Formula::Closure(Box::new(Closure { bound, from, to, body, arguments }))
    }

    /// `let R(x, y) = definition in body`
    pub fn with(
        relation: &str,
        variables: Vec<Variable>,
        definition: Formula,
        body: Formula,
    ) -> Formula {
        Formula::Let(Box::new(Let { relation: relation.into(), variables, definition, body }))
    }

    /// Whether it is the empty conjunction.
    pub fn is_truth(&self) -> bool {
        matches!(self, Formula::And(parts) if parts.is_empty())
    }

    /// Whether it is the empty disjunction.
    pub fn is_falsity(&self) -> bool {
        matches!(self, Formula::Or(parts) if parts.is_empty())
    }
}

impl Term {
    /// A whole number.
    pub fn whole(number: i64) -> Term {
        Term::Number(Rational::whole(number))
    }

    /// `:(phi)`
    pub fn characteristic(formula: Formula) -> Term {
        Term::Characteristic(Box::new(formula))
    }

    /// Two terms combined. Numbers divided by each other become a number, since `1/3` is how one is written.
    pub fn binary(operator: Operator, left: Term, right: Term) -> Term {
        if let (Operator::Divide, Term::Number(above), Term::Number(below)) =
            (operator, &left, &right)
            && let Ok(Some(number)) = above.divided_by(*below)
        {
            return Term::Number(number);
        }
        Term::Binary(operator, Box::new(left), Box::new(right))
    }

    /// `-t`, which is `-1 * t`, or a number.
    pub fn negated(term: Term) -> Term {
        match term {
            Term::Number(number) => Term::Number(number.negated()),
            other => Term::binary(Operator::Times, Term::whole(-1), other),
        }
    }

    /// `Sum (variables | guard : term)` and the like.
    pub fn aggregate(fold: Fold, variables: Vec<Variable>, guard: Formula, term: Term) -> Term {
        Term::Aggregate(Box::new(Aggregate { fold, variables, guard, term }))
    }

    /// Whether it has a value in every structure, whatever its free variables stand for.
    pub fn is_total(&self) -> bool {
        match self {
            Term::Number(_) | Term::Characteristic(_) => true,
            // It may be bound to a term without a value.
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
                left.is_total()
                    && matches!(&**right, Term::Number(number) if number.is_whole() && number.signum() >= 0)
            }
            Term::Aggregate(aggregate) => {
                matches!(aggregate.fold, Fold::Sum | Fold::Product) && aggregate.term.is_total()
            }
            Term::Let(_, _, body) => body.is_total(),
        }
    }
}
