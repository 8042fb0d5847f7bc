//! Solution sets of formulas in one variable.
//!
//! The roots of all polynomials cut the line into points and open intervals. On each of them every
//! polynomial has one sign, so the formula has one truth value. Signs are not computed by
//! evaluation: a polynomial changes its sign exactly at its roots of odd multiplicity.

mod algebraic;
mod integer_polynomial;

use std::cmp::Ordering;
use std::fmt;

use dashu_base::Gcd;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

pub use algebraic::AlgebraicNumber;
use integer_polynomial::{IntegerPolynomial, sign_of_integer};

use super::formula::{RealFormula, SignSet, ZERO, mirrored};
use super::limits::{EliminationError, EliminationLimits, Work};
use super::polynomial::Polynomial;

/// A finite union of points and intervals with real algebraic end points.
///
/// Invariant: the points are in ascending order; `holds` has a truth value for the interval left of
/// the first point, for the first point, and so on to the interval right of the last point. No
/// point lies inside a piece or inside a gap.
#[derive(Clone, PartialEq, Eq)]
pub struct SolutionSet {
    points: Vec<AlgebraicNumber>,
    holds: Vec<bool>,
}

/// An end of a piece of the line.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Bound {
    /// No lower bound.
    NegativeInfinity,
    /// A number.
    Number(AlgebraicNumber),
    /// No upper bound. The infimum of the empty set.
    PositiveInfinity,
}

/// A point or an interval.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// The lower end.
    pub lower: Bound,
    /// Whether the lower end belongs to the piece. Infinite ends do not.
    pub includes_lower: bool,
    /// The upper end, which equals the lower end if the piece is a point.
    pub upper: Bound,
    /// Whether the upper end belongs to the piece.
    pub includes_upper: bool,
}

/// Returns the set of numbers for which a formula without quantifiers holds.
///
/// # Errors
/// If the formula has a quantifier or another variable, or a limit is reached.
pub fn solutions(
    formula: &RealFormula,
    variable: u32,
    limits: &EliminationLimits,
) -> Result<SolutionSet, EliminationError> {
    let work = Work::new(limits);
    work.check_formula(formula)?;
    solutions_within(formula, variable, &work)
}

/// Like [`solutions`], but counts steps in the budget of a larger computation.
pub(crate) fn solutions_within(
    formula: &RealFormula,
    variable: u32,
    work: &Work<'_>,
) -> Result<SolutionSet, EliminationError> {
    let mut table = SignTable { variable, polynomials: Vec::new(), points: Vec::new() };
    let condition = table.condition(formula, work)?;
    let mut signs: Vec<SignSet> =
        table.polynomials.iter().map(IntegerPolynomial::sign_at_minus_infinity).collect();
    let mut set = SolutionSet { points: Vec::new(), holds: vec![condition.holds(&signs)] };
    for point in table.points {
        work.step(signs.len())?;
        let before: Vec<SignSet> = point.roots.iter().map(|root| signs[root.polynomial]).collect();
        for root in &point.roots {
            signs[root.polynomial] = ZERO;
        }
        let holds_at = condition.holds(&signs);
        for (root, sign) in point.roots.iter().zip(before) {
            signs[root.polynomial] = if root.changes_sign { mirrored(sign) } else { sign };
        }
        let holds_after = condition.holds(&signs);
        if set.holds.last() != Some(&holds_at) || holds_at != holds_after {
            set.points.push(point.number);
            set.holds.extend([holds_at, holds_after]);
        }
    }
    Ok(set)
}

impl SolutionSet {
    /// Returns whether no number is in the set.
    pub fn is_empty(&self) -> bool {
        !self.holds.contains(&true)
    }

    /// Returns whether all numbers are in the set.
    pub fn is_full(&self) -> bool {
        !self.holds.contains(&false)
    }

    /// Returns whether a number is in the set.
    pub fn contains(&self, number: &RBig) -> bool {
        let n_below = self.points.partition_point(|point| point.order(number) == Ordering::Less);
        let is_point =
            self.points.get(n_below).is_some_and(|point| point.order(number) == Ordering::Equal);
        self.holds[2 * n_below + usize::from(is_point)]
    }

    /// Returns the greatest lower bound: the least element if there is one, the lower end if the
    /// first piece is open there, [`Bound::NegativeInfinity`] if the set is unbounded below, and
    /// [`Bound::PositiveInfinity`] if it is empty.
    pub fn infimum(&self) -> Bound {
        match self.holds.iter().position(|holds| *holds) {
            None => Bound::PositiveInfinity,
            Some(0) => Bound::NegativeInfinity,
            Some(place) => Bound::Number(self.points[(place - 1) / 2].clone()),
        }
    }

    /// Returns the least upper bound, which is [`Bound::NegativeInfinity`] for the empty set.
    pub fn supremum(&self) -> Bound {
        match self.holds.iter().rposition(|holds| *holds) {
            None => Bound::NegativeInfinity,
            Some(place) if place + 1 == self.holds.len() => Bound::PositiveInfinity,
            Some(place) => Bound::Number(self.points[place / 2].clone()),
        }
    }

    /// Returns the points and intervals of the set in ascending order.
    pub fn pieces(&self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut place = 0;
        while place < self.holds.len() {
            if !self.holds[place] {
                place += 1;
                continue;
            }
            let first = place;
            while place + 1 < self.holds.len() && self.holds[place + 1] {
                place += 1;
            }
            let number = |point: usize| Bound::Number(self.points[point].clone());
            pieces.push(Piece {
                lower: match first {
                    0 => Bound::NegativeInfinity,
                    _ => number((first - 1) / 2),
                },
                includes_lower: first % 2 == 1,
                upper: match self.points.get(place / 2) {
                    None => Bound::PositiveInfinity,
                    Some(_) => number(place / 2),
                },
                includes_upper: place % 2 == 1,
            });
            place += 1;
        }
        pieces
    }
}

/// Prints `[-1, 2) or {3}`.
impl fmt::Display for SolutionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return write!(f, "{{}}");
        }
        for (place, piece) in self.pieces().into_iter().enumerate() {
            if place > 0 {
                write!(f, " or ")?;
            }
            if piece.lower == piece.upper {
                write!(f, "{{{}}}", piece.lower)?;
                continue;
            }
            let open = if piece.includes_lower { '[' } else { '(' };
            let close = if piece.includes_upper { ']' } else { ')' };
            write!(f, "{open}{}, {}{close}", piece.lower, piece.upper)?;
        }
        Ok(())
    }
}

impl fmt::Debug for SolutionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::NegativeInfinity => write!(f, "-inf"),
            Bound::Number(number) => write!(f, "{number}"),
            Bound::PositiveInfinity => write!(f, "inf"),
        }
    }
}

/// The polynomials of a formula and all their roots.
struct SignTable {
    variable: u32,
    polynomials: Vec<IntegerPolynomial>,
    /// In ascending order.
    points: Vec<Point>,
}

/// A number that is a root of some polynomials.
struct Point {
    number: AlgebraicNumber,
    roots: Vec<RootOf>,
}

#[derive(Copy, Clone)]
struct RootOf {
    polynomial: usize,
    /// Whether the multiplicity is odd.
    changes_sign: bool,
}

/// A formula whose comparisons refer to the polynomials of a table.
enum Condition {
    Constant(bool),
    HasSign(usize, SignSet),
    Not(Box<Condition>),
    And(Vec<Condition>),
    Or(Vec<Condition>),
}

impl Condition {
    fn holds(&self, signs: &[SignSet]) -> bool {
        match self {
            Condition::Constant(value) => *value,
            Condition::HasSign(polynomial, expected) => signs[*polynomial] & expected != 0,
            Condition::Not(inner) => !inner.holds(signs),
            Condition::And(parts) => parts.iter().all(|part| part.holds(signs)),
            Condition::Or(parts) => parts.iter().any(|part| part.holds(signs)),
        }
    }
}

impl SignTable {
    fn condition(
        &mut self,
        formula: &RealFormula,
        work: &Work<'_>,
    ) -> Result<Condition, EliminationError> {
        Ok(match formula {
            RealFormula::True => Condition::Constant(true),
            RealFormula::False => Condition::Constant(false),
            RealFormula::Compare(polynomial, sign) => {
                self.comparison(polynomial, sign.signs(), work)?
            }
            RealFormula::Not(inner) => Condition::Not(Box::new(self.condition(inner, work)?)),
            RealFormula::And(parts) => Condition::And(self.conditions(parts, work)?),
            RealFormula::Or(parts) => Condition::Or(self.conditions(parts, work)?),
            RealFormula::Exists(..) | RealFormula::All(..) => {
                return Err(EliminationError::Quantified);
            }
        })
    }

    fn conditions(
        &mut self,
        parts: &[RealFormula],
        work: &Work<'_>,
    ) -> Result<Vec<Condition>, EliminationError> {
        parts.iter().map(|part| self.condition(part, work)).collect()
    }

    fn comparison(
        &mut self,
        polynomial: &Polynomial,
        signs: SignSet,
        work: &Work<'_>,
    ) -> Result<Condition, EliminationError> {
        let coefficients = integer_coefficients(polynomial, self.variable, work)?;
        let Some(dense) = IntegerPolynomial::new(coefficients) else {
            return Ok(Condition::Constant(signs & ZERO != 0));
        };
        if dense.degree() == 0 {
            return Ok(Condition::Constant(signs & sign_of_integer(dense.leading()) != 0));
        }
        if let Some(known) = self.polynomials.iter().position(|known| *known == dense) {
            return Ok(Condition::HasSign(known, signs));
        }
        let place = self.polynomials.len();
        let mut has_roots = false;
        for (number, changes_sign) in roots(&dense, work)? {
            self.insert(number, RootOf { polynomial: place, changes_sign }, work)?;
            has_roots = true;
        }
        if !has_roots {
            return Ok(Condition::Constant(signs & dense.sign_at_minus_infinity() != 0));
        }
        self.polynomials.push(dense);
        Ok(Condition::HasSign(place, signs))
    }

    /// Adds a root, by binary search for its place.
    fn insert(
        &mut self,
        mut number: AlgebraicNumber,
        root: RootOf,
        work: &Work<'_>,
    ) -> Result<(), EliminationError> {
        let (mut low, mut high) = (0, self.points.len());
        while low < high {
            work.step(1)?;
            let middle = usize::midpoint(low, high);
            match self.points[middle].number.compare(&mut number, work)? {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => {
                    self.points[middle].roots.push(root);
                    return Ok(());
                }
            }
        }
        self.points.insert(low, Point { number, roots: vec![root] });
        Ok(())
    }
}

/// Returns the real roots of a polynomial of positive degree, and whether it changes its sign
/// there.
fn roots(
    polynomial: &IntegerPolynomial,
    work: &Work<'_>,
) -> Result<Vec<(AlgebraicNumber, bool)>, EliminationError> {
    match polynomial.coefficients() {
        [b, a] => return Ok(vec![(AlgebraicNumber::of_linear(a, b), true)]),
        [c, b, a] => {
            let (roots, are_different) = AlgebraicNumber::of_quadratic(a, b, c);
            return Ok(roots.into_iter().map(|root| (root, are_different)).collect());
        }
        _ => {}
    }
    let mut roots = Vec::new();
    for (place, part) in polynomial.square_free_parts(work)?.iter().enumerate() {
        // The factor at place 0 has the simple roots.
        let changes_sign = place % 2 == 0;
        if part.degree() > 0 {
            let numbers = AlgebraicNumber::of_square_free(part, work)?;
            roots.extend(numbers.into_iter().map(|number| (number, changes_sign)));
        }
    }
    Ok(roots)
}

/// Returns the coefficients of a positive multiple with integer coefficients.
fn integer_coefficients(
    polynomial: &Polynomial,
    variable: u32,
    work: &Work<'_>,
) -> Result<Vec<IBig>, EliminationError> {
    let Some(terms) = polynomial.univariate_terms(variable) else {
        let other = polynomial.variables().into_iter().find(|other| *other != variable);
        return Err(EliminationError::FreeVariable(other.unwrap_or(variable)));
    };
    let degree = terms.iter().map(|(exponent, _)| *exponent).max().unwrap_or(0);
    work.check_degree(degree)?;
    work.check(polynomial)?;
    let mut denominator = UBig::ONE;
    for (_, number) in &terms {
        if !number.is_int() {
            let common = (&denominator).gcd(number.denominator());
            denominator *= number.denominator() / common;
        }
    }
    let mut coefficients = vec![IBig::ZERO; degree as usize + 1];
    for (exponent, number) in terms {
        coefficients[exponent as usize] = if denominator.is_one() {
            number.numerator().clone()
        } else {
            number.numerator() * (&denominator / number.denominator())
        };
    }
    Ok(coefficients)
}
