//! Formulas over the reals: polynomial sign conditions, connectives and quantifiers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use dashu_base::Signed;
use dashu_ratio::RBig;

use super::polynomial::Polynomial;

/// A comparison of a value with zero.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Sign {
    /// `= 0`
    Equal,
    /// `!= 0`
    NotEqual,
    /// `< 0`
    Less,
    /// `<= 0`
    LessOrEqual,
    /// `> 0`
    Greater,
    /// `>= 0`
    GreaterOrEqual,
}

/// A set of the signs -1, 0, 1, as bits. Sets of signs are closed under all the operations of the
/// simplifier, while [`Sign`] lacks the empty and the full set.
pub(crate) type SignSet = u8;

/// The set with the sign -1.
pub(crate) const NEGATIVE: SignSet = 1;
/// The set with the sign 0.
pub(crate) const ZERO: SignSet = 2;
/// The set with the sign 1.
pub(crate) const POSITIVE: SignSet = 4;
/// The set of all signs.
pub(crate) const ANY_SIGN: SignSet = 7;

/// Returns the set with the sign of a number.
pub(crate) fn sign_of(number: &RBig) -> SignSet {
    if number.is_zero() {
        ZERO
    } else if number.is_negative() {
        NEGATIVE
    } else {
        POSITIVE
    }
}

/// Returns the signs of `-p` if the given ones are those of `p`.
pub(crate) fn mirrored(signs: SignSet) -> SignSet {
    (signs & ZERO) | ((signs & NEGATIVE) << 2) | ((signs & POSITIVE) >> 2)
}

impl Sign {
    /// All comparisons.
    pub const ALL: [Sign; 6] = [
        Sign::Equal,
        Sign::NotEqual,
        Sign::Less,
        Sign::LessOrEqual,
        Sign::Greater,
        Sign::GreaterOrEqual,
    ];

    /// Returns whether a number compares so with zero.
    pub fn holds(self, number: &RBig) -> bool {
        self.signs() & sign_of(number) != 0
    }

    /// Returns the comparison that holds exactly where this one does not.
    pub fn negated(self) -> Sign {
        match self {
            Sign::Equal => Sign::NotEqual,
            Sign::NotEqual => Sign::Equal,
            Sign::Less => Sign::GreaterOrEqual,
            Sign::LessOrEqual => Sign::Greater,
            Sign::Greater => Sign::LessOrEqual,
            Sign::GreaterOrEqual => Sign::Less,
        }
    }

    /// Returns the comparison that holds of `-p` exactly if this one holds of `p`.
    pub fn mirrored(self) -> Sign {
        match self {
            Sign::Equal | Sign::NotEqual => self,
            Sign::Less => Sign::Greater,
            Sign::LessOrEqual => Sign::GreaterOrEqual,
            Sign::Greater => Sign::Less,
            Sign::GreaterOrEqual => Sign::LessOrEqual,
        }
    }

    /// Returns the sign as it is printed: `=`, `!=`, `<`, `<=`, `>`, `>=`.
    pub fn symbol(self) -> &'static str {
        match self {
            Sign::Equal => "=",
            Sign::NotEqual => "!=",
            Sign::Less => "<",
            Sign::LessOrEqual => "<=",
            Sign::Greater => ">",
            Sign::GreaterOrEqual => ">=",
        }
    }

    pub(crate) fn signs(self) -> SignSet {
        match self {
            Sign::Equal => ZERO,
            Sign::NotEqual => NEGATIVE | POSITIVE,
            Sign::Less => NEGATIVE,
            Sign::LessOrEqual => NEGATIVE | ZERO,
            Sign::Greater => POSITIVE,
            Sign::GreaterOrEqual => POSITIVE | ZERO,
        }
    }

    /// Returns the comparison with the given signs; `None` for the empty and the full set.
    pub(crate) fn from_signs(signs: SignSet) -> Option<Sign> {
        Sign::ALL.into_iter().find(|sign| sign.signs() == signs)
    }
}

/// A formula of the first-order theory of the reals (real closed fields).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RealFormula {
    /// Holds everywhere.
    True,
    /// Holds nowhere.
    False,
    /// The polynomial compares so with zero.
    Compare(Polynomial, Sign),
    /// The formula does not hold.
    Not(Box<RealFormula>),
    /// All of the formulas hold.
    And(Vec<RealFormula>),
    /// One of the formulas holds.
    Or(Vec<RealFormula>),
    /// The formula holds for some value of the variable.
    Exists(u32, Box<RealFormula>),
    /// The formula holds for all values of the variable.
    All(u32, Box<RealFormula>),
}

/// The counts of a formula that limits refer to.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct FormulaSize {
    /// Number of comparisons.
    pub n_atoms: usize,
    /// Number of formulas inside each other.
    pub depth: usize,
}

impl RealFormula {
    /// Returns the truth value as a formula.
    pub fn truth(value: bool) -> RealFormula {
        if value { RealFormula::True } else { RealFormula::False }
    }

    /// Returns the comparison of two polynomials.
    pub fn compare(left: &Polynomial, sign: Sign, right: &Polynomial) -> RealFormula {
        RealFormula::Compare(left - right, sign)
    }

    /// Returns the negation.
    pub fn negation(self) -> RealFormula {
        RealFormula::Not(Box::new(self))
    }

    /// Returns the formula that this one implies another.
    pub fn implies(self, other: RealFormula) -> RealFormula {
        RealFormula::Or(vec![self.negation(), other])
    }

    /// Returns the formula that both or neither hold.
    pub fn is_equivalent_to(self, other: RealFormula) -> RealFormula {
        let both = RealFormula::And(vec![self.clone(), other.clone()]);
        let neither = RealFormula::And(vec![self.negation(), other.negation()]);
        RealFormula::Or(vec![both, neither])
    }

    /// Returns the existential quantification over several variables, the first outermost.
    pub fn exists(variables: &[u32], body: RealFormula) -> RealFormula {
        let quantify = |body, variable: &u32| RealFormula::Exists(*variable, Box::new(body));
        variables.iter().rev().fold(body, quantify)
    }

    /// Returns the universal quantification over several variables, the first outermost.
    pub fn all(variables: &[u32], body: RealFormula) -> RealFormula {
        let quantify = |body, variable: &u32| RealFormula::All(*variable, Box::new(body));
        variables.iter().rev().fold(body, quantify)
    }

    /// Returns the variables that occur outside of their quantifiers.
    pub fn free_variables(&self) -> BTreeSet<u32> {
        match self {
            RealFormula::True | RealFormula::False => BTreeSet::new(),
            RealFormula::Compare(polynomial, _) => polynomial.variables(),
            RealFormula::Not(inner) => inner.free_variables(),
            RealFormula::And(parts) | RealFormula::Or(parts) => {
                parts.iter().flat_map(RealFormula::free_variables).collect()
            }
            RealFormula::Exists(variable, inner) | RealFormula::All(variable, inner) => {
                let mut variables = inner.free_variables();
                variables.remove(variable);
                variables
            }
        }
    }

    /// Returns whether no quantifier occurs.
    pub fn is_quantifier_free(&self) -> bool {
        match self {
            RealFormula::True | RealFormula::False | RealFormula::Compare(..) => true,
            RealFormula::Not(inner) => inner.is_quantifier_free(),
            RealFormula::And(parts) | RealFormula::Or(parts) => {
                parts.iter().all(RealFormula::is_quantifier_free)
            }
            RealFormula::Exists(..) | RealFormula::All(..) => false,
        }
    }

    /// Returns the counts of a formula. The function does not recurse, so that it can refuse
    /// formulas that are too deep for functions that do.
    pub fn size(&self) -> FormulaSize {
        let mut size = FormulaSize::default();
        let mut open = vec![(self, 1)];
        while let Some((formula, depth)) = open.pop() {
            size.depth = size.depth.max(depth);
            match formula {
                RealFormula::True | RealFormula::False => {}
                RealFormula::Compare(..) => size.n_atoms += 1,
                RealFormula::Not(inner)
                | RealFormula::Exists(_, inner)
                | RealFormula::All(_, inner) => open.push((inner, depth + 1)),
                RealFormula::And(parts) | RealFormula::Or(parts) => {
                    open.extend(parts.iter().map(|part| (part, depth + 1)));
                }
            }
        }
        size
    }

    /// Returns the truth value of a formula without quantifiers, and `None` if the formula has a
    /// quantifier or a variable has no value.
    pub fn evaluate(&self, values: &BTreeMap<u32, RBig>) -> Option<bool> {
        match self {
            RealFormula::True => Some(true),
            RealFormula::False => Some(false),
            RealFormula::Compare(polynomial, sign) => {
                Some(sign.holds(&polynomial.evaluate(values)?))
            }
            RealFormula::Not(inner) => inner.evaluate(values).map(|value| !value),
            RealFormula::And(parts) => {
                let mut holds = true;
                for part in parts {
                    holds &= part.evaluate(values)?;
                }
                Some(holds)
            }
            RealFormula::Or(parts) => {
                let mut holds = false;
                for part in parts {
                    holds |= part.evaluate(values)?;
                }
                Some(holds)
            }
            RealFormula::Exists(..) | RealFormula::All(..) => None,
        }
    }

    /// Returns the formula with the free occurrences of a variable replaced by a number.
    pub fn substitute_number(&self, variable: u32, value: &RBig) -> RealFormula {
        self.map_atoms_with_free(variable, &|polynomial, sign| {
            RealFormula::Compare(polynomial.substitute_number(variable, value), sign)
        })
    }

    /// Returns the formula with each comparison where a variable occurs free replaced.
    pub(crate) fn map_atoms_with_free(
        &self,
        variable: u32,
        replace: &dyn Fn(&Polynomial, Sign) -> RealFormula,
    ) -> RealFormula {
        let map = |part: &RealFormula| part.map_atoms_with_free(variable, replace);
        match self {
            RealFormula::Compare(polynomial, sign) if polynomial.mentions(variable) => {
                replace(polynomial, *sign)
            }
            RealFormula::True | RealFormula::False | RealFormula::Compare(..) => self.clone(),
            RealFormula::Not(inner) => map(inner).negation(),
            RealFormula::And(parts) => RealFormula::And(parts.iter().map(map).collect()),
            RealFormula::Or(parts) => RealFormula::Or(parts.iter().map(map).collect()),
            RealFormula::Exists(bound, _) | RealFormula::All(bound, _) if *bound == variable => {
                self.clone()
            }
            RealFormula::Exists(bound, inner) => RealFormula::Exists(*bound, Box::new(map(inner))),
            RealFormula::All(bound, inner) => RealFormula::All(*bound, Box::new(map(inner))),
        }
    }

    /// Returns whether a variable occurs free.
    pub(crate) fn mentions(&self, variable: u32) -> bool {
        match self {
            RealFormula::True | RealFormula::False => false,
            RealFormula::Compare(polynomial, _) => polynomial.mentions(variable),
            RealFormula::Not(inner) => inner.mentions(variable),
            RealFormula::And(parts) | RealFormula::Or(parts) => {
                parts.iter().any(|part| part.mentions(variable))
            }
            RealFormula::Exists(bound, inner) | RealFormula::All(bound, inner) => {
                *bound != variable && inner.mentions(variable)
            }
        }
    }

    /// Calls a function for each comparison.
    pub(crate) fn for_each_atom<'a>(&'a self, visit: &mut dyn FnMut(&'a Polynomial, Sign)) {
        match self {
            RealFormula::True | RealFormula::False => {}
            RealFormula::Compare(polynomial, sign) => visit(polynomial, *sign),
            RealFormula::Not(inner)
            | RealFormula::Exists(_, inner)
            | RealFormula::All(_, inner) => inner.for_each_atom(visit),
            RealFormula::And(parts) | RealFormula::Or(parts) => {
                for part in parts {
                    part.for_each_atom(visit);
                }
            }
        }
    }

    /// Returns an equivalent formula without negations, with the signs negated instead.
    pub(crate) fn without_negations(&self) -> RealFormula {
        self.pushed(false)
    }

    fn pushed(&self, negate: bool) -> RealFormula {
        let all = |parts: &[RealFormula]| parts.iter().map(|part| part.pushed(negate)).collect();
        match (self, negate) {
            (RealFormula::True, _) => RealFormula::truth(!negate),
            (RealFormula::False, _) => RealFormula::truth(negate),
            (RealFormula::Compare(polynomial, sign), false) => {
                RealFormula::Compare(polynomial.clone(), *sign)
            }
            (RealFormula::Compare(polynomial, sign), true) => {
                RealFormula::Compare(polynomial.clone(), sign.negated())
            }
            (RealFormula::Not(inner), _) => inner.pushed(!negate),
            (RealFormula::And(parts), false) | (RealFormula::Or(parts), true) => {
                RealFormula::And(all(parts))
            }
            (RealFormula::Or(parts), false) | (RealFormula::And(parts), true) => {
                RealFormula::Or(all(parts))
            }
            (RealFormula::Exists(variable, inner), false)
            | (RealFormula::All(variable, inner), true) => {
                RealFormula::Exists(*variable, Box::new(inner.pushed(negate)))
            }
            (RealFormula::All(variable, inner), false)
            | (RealFormula::Exists(variable, inner), true) => {
                RealFormula::All(*variable, Box::new(inner.pushed(negate)))
            }
        }
    }
}

/// Prints `ex x0 (x0^2 - x1 = 0 and not x1 < 0)`.
impl fmt::Display for RealFormula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, parts: &[RealFormula], word: &str| {
            write!(f, "(")?;
            for (place, part) in parts.iter().enumerate() {
                if place > 0 {
                    write!(f, " {word} ")?;
                }
                write!(f, "{part}")?;
            }
            write!(f, ")")
        };
        match self {
            RealFormula::True => write!(f, "true"),
            RealFormula::False => write!(f, "false"),
            RealFormula::Compare(polynomial, sign) => {
                write!(f, "{polynomial} {} 0", sign.symbol())
            }
            RealFormula::Not(inner) => write!(f, "not {inner}"),
            RealFormula::And(parts) if parts.is_empty() => write!(f, "true"),
            RealFormula::Or(parts) if parts.is_empty() => write!(f, "false"),
            RealFormula::And(parts) => list(f, parts, "and"),
            RealFormula::Or(parts) => list(f, parts, "or"),
            RealFormula::Exists(variable, inner) => write!(f, "ex x{variable} {inner}"),
            RealFormula::All(variable, inner) => write!(f, "all x{variable} {inner}"),
        }
    }
}

impl fmt::Debug for RealFormula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
