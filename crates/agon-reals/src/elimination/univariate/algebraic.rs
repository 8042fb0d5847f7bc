//! Real algebraic numbers: roots of polynomials, exact and comparable.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use dashu_base::{BitTest, Signed, SquareRoot, SquareRootRem};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

use super::integer_polynomial::{IntegerPolynomial, IsolatedRoot};
use crate::elimination::formula::SignSet;
use crate::elimination::limits::{EliminationError, Work};

/// A real root of a polynomial with rational coefficients.
#[derive(Clone)]
pub struct AlgebraicNumber {
    root: Root,
}

#[derive(Clone)]
enum Root {
    Rational(RBig),
    Irrational(Irrational),
}

/// An irrational root. Invariant: it lies between `lower` and `upper`, which are not roots, and no
/// other root of the same polynomial does.
#[derive(Clone)]
struct Irrational {
    definition: Definition,
    lower: RBig,
    upper: RBig,
}

#[derive(Clone)]
enum Definition {
    /// `(-b + sqrt(b^2 - 4 a c)) / 2 a` for coprime integers, where the root is irrational. A pair
    /// of conjugates is told apart by the sign of `a`, so equal numbers have equal fields.
    Quadratic { a: IBig, b: IBig, c: IBig, discriminant: UBig, bits: usize },
    /// A root of a polynomial without multiple or rational roots, and the sign at `lower`.
    General { polynomial: Arc<IntegerPolynomial>, lower_sign: SignSet },
}

/// Number of bits after the point of the first enclosure of a square root. It separates most
/// different roots of small polynomials.
const FIRST_BITS: usize = 64;

impl AlgebraicNumber {
    /// Returns a rational number.
    pub fn from_rational(number: RBig) -> AlgebraicNumber {
        AlgebraicNumber { root: Root::Rational(number) }
    }

    /// Returns the exact value if the number is rational.
    pub fn rational(&self) -> Option<&RBig> {
        match &self.root {
            Root::Rational(number) => Some(number),
            Root::Irrational(_) => None,
        }
    }

    /// Returns the largest `f64` that is not above the number and the smallest that is not below.
    /// They are equal if the number is an `f64`, and neighbours otherwise. An end is infinite if
    /// the number is beyond the range of `f64`.
    pub fn enclosure(&self) -> (f64, f64) {
        let mut irrational = match &self.root {
            Root::Rational(number) => return (rounded_down(number), rounded_up(number)),
            Root::Irrational(irrational) => irrational.clone(),
        };
        loop {
            let low = rounded_down(&irrational.lower);
            let high = rounded_up(&irrational.upper);
            if low.next_up() >= high {
                return (low, high);
            }
            // An end of the interval may be an f64 by chance, and the interval contain it, so
            // that refinement alone would not end there. The middle is an f64 as well, and
            // comparing with it makes progress in every case.
            let middle = low / 2.0 + high / 2.0;
            let middle = if middle > low && middle < high { middle } else { low.next_up() };
            match RBig::try_from(middle) {
                Ok(middle) if middle > irrational.lower && middle < irrational.upper => {
                    irrational.cut_at(middle);
                }
                _ => irrational.refine(),
            }
        }
    }

    /// Returns an `f64` next to the number, for display and search.
    pub fn to_f64(&self) -> f64 {
        let (low, high) = self.enclosure();
        if low.is_infinite() { high } else { low }
    }

    /// Compares exactly. The intervals of both numbers may shrink.
    pub(crate) fn compare(
        &mut self,
        other: &mut AlgebraicNumber,
        work: &Work<'_>,
    ) -> Result<Ordering, EliminationError> {
        match (&mut self.root, &mut other.root) {
            (Root::Rational(left), Root::Rational(right)) => Ok((*left).cmp(right)),
            (Root::Rational(left), Root::Irrational(right)) => Ok(right.order(left).reverse()),
            (Root::Irrational(left), Root::Rational(right)) => Ok(left.order(right)),
            (Root::Irrational(left), Root::Irrational(right)) => left.compare(right, work),
        }
    }

    /// Compares exactly with a rational number.
    pub fn order(&self, number: &RBig) -> Ordering {
        match &self.root {
            Root::Rational(own) => own.cmp(number),
            Root::Irrational(own) => own.order(number),
        }
    }

    /// Returns the root of a linear polynomial `a x + b`.
    pub(crate) fn of_linear(a: &IBig, b: &IBig) -> AlgebraicNumber {
        AlgebraicNumber::from_rational(RBig::from_parts_signed(-b, a.clone()))
    }

    /// Returns the roots of `a x^2 + b x + c`, and whether they are different.
    pub(crate) fn of_quadratic(a: &IBig, b: &IBig, c: &IBig) -> (Vec<AlgebraicNumber>, bool) {
        let discriminant = b * b - IBig::from(4) * a * c;
        let double = IBig::from(2) * a;
        if discriminant.is_negative() {
            return (Vec::new(), false);
        }
        if discriminant.is_zero() {
            let root = RBig::from_parts_signed(-b, double);
            return (vec![AlgebraicNumber::from_rational(root)], false);
        }
        let (_, discriminant) = discriminant.into_parts();
        let (root, rest) = discriminant.sqrt_rem();
        if rest.is_zero() {
            let rational = |root: IBig| {
                AlgebraicNumber::from_rational(RBig::from_parts_signed(root - b, double.clone()))
            };
            let root = IBig::from(root);
            return (vec![rational(-&root), rational(root)], true);
        }
        let conjugate = |a: IBig, b: IBig, c: IBig| {
            let discriminant = discriminant.clone();
            let definition = Definition::Quadratic { a, b, c, discriminant, bits: FIRST_BITS };
            let mut root = Irrational { definition, lower: RBig::ZERO, upper: RBig::ZERO };
            root.enclose_quadratic();
            AlgebraicNumber { root: Root::Irrational(root) }
        };
        let roots = vec![conjugate(a.clone(), b.clone(), c.clone()), conjugate(-a, -b, -c)];
        (roots, true)
    }

    /// Returns the real roots of a polynomial without multiple roots.
    pub(crate) fn of_square_free(
        polynomial: &IntegerPolynomial,
        work: &Work<'_>,
    ) -> Result<Vec<AlgebraicNumber>, EliminationError> {
        match polynomial.coefficients() {
            [b, a] => return Ok(vec![AlgebraicNumber::of_linear(a, b)]),
            [c, b, a] => return Ok(AlgebraicNumber::of_quadratic(a, b, c).0),
            _ => {}
        }
        let (isolated, rest) = polynomial.real_roots(work)?;
        let rest = Arc::new(rest);
        let mut roots = Vec::new();
        for root in isolated {
            match root {
                IsolatedRoot::Exact(number) => roots.push(AlgebraicNumber::from_rational(number)),
                IsolatedRoot::Between(lower, upper) if rest.degree() > 2 => {
                    let lower_sign = rest.sign_at(&lower);
                    let definition = Definition::General { polynomial: rest.clone(), lower_sign };
                    let root = Root::Irrational(Irrational { definition, lower, upper });
                    roots.push(AlgebraicNumber { root });
                }
                IsolatedRoot::Between(..) => {}
            }
        }
        // With the rational roots divided out, a quadratic polynomial may be left.
        if let [c, b, a] = rest.coefficients() {
            roots.extend(AlgebraicNumber::of_quadratic(a, b, c).0);
        }
        Ok(roots)
    }
}

impl Irrational {
    fn order(&self, number: &RBig) -> Ordering {
        if *number <= self.lower {
            return Ordering::Greater;
        }
        if *number >= self.upper {
            return Ordering::Less;
        }
        match &self.definition {
            Definition::General { polynomial, lower_sign } => {
                if polynomial.sign_at(number) == *lower_sign {
                    Ordering::Greater
                } else {
                    Ordering::Less
                }
            }
            Definition::Quadratic { a, b, discriminant, .. } => {
                // The root is above the number if `(sqrt(d) - (2 a x + b)) / 2 a` is positive.
                let rest = RBig::from(IBig::from(2) * a) * number + b;
                let square = &rest * &rest;
                let is_positive = rest.is_negative() || square < RBig::from(discriminant.clone());
                if is_positive == a.is_positive() { Ordering::Greater } else { Ordering::Less }
            }
        }
    }

    /// Shrinks the interval to the part with the root, for a number between the ends.
    fn cut_at(&mut self, number: RBig) {
        match self.order(&number) {
            Ordering::Greater => self.lower = number,
            _ => self.upper = number,
        }
    }

    /// Shrinks the interval to a half or less.
    fn refine(&mut self) {
        match &mut self.definition {
            Definition::Quadratic { bits, .. } => {
                *bits *= 2;
                self.enclose_quadratic();
            }
            Definition::General { .. } => {
                let middle = (&self.lower + &self.upper) / RBig::from(2);
                self.cut_at(middle);
            }
        }
    }

    /// Computes the interval of a quadratic irrational from an integer square root.
    fn enclose_quadratic(&mut self) {
        let Definition::Quadratic { a, b, discriminant, bits, .. } = &self.definition else {
            return;
        };
        let root = IBig::from((discriminant << (2 * *bits)).sqrt());
        let divisor: IBig = (IBig::from(2) * a) << *bits;
        let shifted: IBig = b << *bits;
        let end = |root: IBig| RBig::from_parts_signed(root - &shifted, divisor.clone());
        let (first, second) = (end(root.clone()), end(root + IBig::ONE));
        (self.lower, self.upper) = if first < second { (first, second) } else { (second, first) };
    }

    fn compare(
        &mut self,
        other: &mut Irrational,
        work: &Work<'_>,
    ) -> Result<Ordering, EliminationError> {
        let mut may_be_equal = true;
        loop {
            work.step_with_numbers(self.cost() + other.cost(), self.lower.denominator().bit_len())?;
            if self.upper <= other.lower {
                return Ok(Ordering::Less);
            }
            if other.upper <= self.lower {
                return Ok(Ordering::Greater);
            }
            if may_be_equal && self.is_equal_to(other, work)? {
                return Ok(Ordering::Equal);
            }
            may_be_equal = false;
            self.refine();
            other.refine();
        }
    }

    /// Returns whether two numbers with overlapping intervals are equal.
    fn is_equal_to(&self, other: &Irrational, work: &Work<'_>) -> Result<bool, EliminationError> {
        if let (
            Definition::Quadratic { a, b, c, .. },
            Definition::Quadratic { a: other_a, b: other_b, c: other_c, .. },
        ) = (&self.definition, &other.definition)
        {
            // The minimal polynomials of quadratic irrationals, up to the sign.
            return Ok(a == other_a && b == other_b && c == other_c);
        }
        let (left, right) = (self.polynomial(), other.polynomial());
        let common = left.common_divisor(&right, work)?;
        if common.degree() == 0 {
            return Ok(false);
        }
        // In the common part of the intervals, both polynomials have at most one root. The ends
        // are not roots of one of them, so not of the common divisor, which changes its sign
        // between them exactly if it has a root there.
        let lower = (&self.lower).max(&other.lower);
        let upper = (&self.upper).min(&other.upper);
        Ok(common.sign_at(lower) != common.sign_at(upper))
    }

    /// Returns the number of products in a refinement.
    fn cost(&self) -> usize {
        match &self.definition {
            Definition::Quadratic { .. } => 2,
            Definition::General { polynomial, .. } => polynomial.degree(),
        }
    }

    fn polynomial(&self) -> Arc<IntegerPolynomial> {
        match &self.definition {
            Definition::General { polynomial, .. } => polynomial.clone(),
            Definition::Quadratic { a, b, c, .. } => {
                let coefficients = vec![c.clone(), b.clone(), a.clone()];
                let polynomial = IntegerPolynomial::new(coefficients);
                Arc::new(polynomial.expect("the first coefficient is not zero"))
            }
        }
    }
}

/// Compares exactly.
impl PartialEq for AlgebraicNumber {
    fn eq(&self, other: &AlgebraicNumber) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for AlgebraicNumber {}

impl PartialOrd for AlgebraicNumber {
    fn partial_cmp(&self, other: &AlgebraicNumber) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for AlgebraicNumber {
    fn cmp(&self, other: &AlgebraicNumber) -> Ordering {
        let limits = crate::elimination::EliminationLimits {
            max_steps: u64::MAX,
            max_coefficient_bits: usize::MAX,
            ..Default::default()
        };
        let order = self.clone().compare(&mut other.clone(), &Work::new(&limits));
        order.expect("no limit applies to one comparison")
    }
}

/// Prints the exact value if it is rational, otherwise the nearest `f64`s below and above.
impl fmt::Display for AlgebraicNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.root {
            Root::Rational(number) => write!(f, "{number}"),
            Root::Irrational(_) => {
                let (low, high) = self.enclosure();
                write!(f, "{low}..{high}")
            }
        }
    }
}

impl fmt::Debug for AlgebraicNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns the largest `f64` that is not above a number.
fn rounded_down(number: &RBig) -> f64 {
    let near = number.to_f64().value();
    match RBig::try_from(near) {
        Ok(exact) if exact <= *number => near,
        Ok(_) => near.next_down(),
        Err(_) if near > 0.0 => f64::MAX,
        Err(_) => f64::NEG_INFINITY,
    }
}

/// Returns the smallest `f64` that is not below a number.
fn rounded_up(number: &RBig) -> f64 {
    // A difference, because the negation of zero would be a negative zero.
    0.0 - rounded_down(&-number.clone())
}
