//! An independent and slow way to the cells of a formula in one variable: the product of all
//! polynomials is made square-free, its roots are counted by Sturm's theorem with rational
//! coefficients and isolated by bisection, and signs are found by evaluation.

use std::collections::BTreeMap;

use dashu_ratio::RBig;

use crate::elimination::{Polynomial, RealFormula};

/// Coefficients, from the constant one upwards. The last one is not zero.
type Dense = Vec<RBig>;

pub(super) struct Oracle {
    formula: RealFormula,
    polynomials: Vec<Dense>,
    roots: Vec<OracleRoot>,
}

/// The only root of the product in the interval from the lower end, exclusive, to the upper end,
/// inclusive.
#[derive(Clone)]
pub(super) struct OracleRoot {
    chain: Vec<Dense>,
    lower: RBig,
    upper: RBig,
}

/// A point or an open interval.
pub(super) enum Cell {
    Root(OracleRoot),
    Sample(RBig),
}

impl Cell {
    /// Returns a rational number in the cell, if the cell is known to have one.
    pub(super) fn sample(&self) -> Option<RBig> {
        match self {
            Cell::Root(root) => root.exact(),
            Cell::Sample(number) => Some(number.clone()),
        }
    }
}

impl Oracle {
    /// The formula must have no other variable than number 0.
    pub(super) fn new(formula: &RealFormula) -> Oracle {
        let mut polynomials = Vec::new();
        formula.for_each_atom(&mut |polynomial, _| {
            let dense = dense(polynomial);
            if dense.len() > 1 {
                polynomials.push(dense);
            }
        });
        let product = polynomials.iter().fold(vec![RBig::ONE], |left, right| times(&left, right));
        let chain = sturm_chain(&product);
        let mut bound = RBig::ONE;
        for number in &product {
            let size = number / &product[product.len() - 1];
            bound = &bound + if size < RBig::ZERO { -size } else { size };
        }
        let mut roots = Vec::new();
        let mut open = vec![(-bound.clone(), bound)];
        while let Some((lower, upper)) = open.pop() {
            match count(&chain, &lower, &upper) {
                0 => {}
                1 => roots.push(OracleRoot { chain: chain.clone(), lower, upper }),
                _ => {
                    let middle = (&lower + &upper) / RBig::from(2);
                    open.push((middle.clone(), upper));
                    open.push((lower, middle));
                }
            }
        }
        Oracle { formula: formula.clone(), polynomials, roots }
    }

    pub(super) fn root(&self, place: usize) -> OracleRoot {
        self.roots[place].clone()
    }

    /// Returns the cells from left to right, and whether the formula holds on each.
    pub(super) fn cells(&self) -> Vec<(Cell, bool)> {
        let mut cells = Vec::new();
        for (place, root) in self.roots.iter().enumerate() {
            // The lower end is not above any later root, but may be the root before.
            let mut left = root.clone();
            while place > 0 && self.roots[place - 1].is_at_least(&left.lower) {
                left.refine();
            }
            cells.push(self.at_number(left.lower));
            cells.push((Cell::Root(root.clone()), self.holds_at_root(root)));
        }
        let last = self.roots.last().map_or(RBig::ZERO, |root| &root.upper + RBig::ONE);
        cells.push(self.at_number(last));
        cells
    }

    fn at_number(&self, number: RBig) -> (Cell, bool) {
        let holds = self.formula.evaluate(&BTreeMap::from([(0, number.clone())]));
        (Cell::Sample(number), holds.expect("the formula has one variable"))
    }

    fn holds_at_root(&self, root: &OracleRoot) -> bool {
        let mut signs = Vec::new();
        for polynomial in &self.polynomials {
            signs.push(root.sign_of(polynomial));
        }
        let mut place = 0;
        holds(&self.formula, &signs, &mut place)
    }
}

impl OracleRoot {
    pub(super) fn is_at_least(&self, number: &RBig) -> bool {
        let is_root = || value(&self.chain[0], number) == RBig::ZERO;
        *number <= self.lower
            || (*number <= self.upper
                && (is_root() || count(&self.chain, &self.lower, number) == 0))
    }

    pub(super) fn is_at_most(&self, number: &RBig) -> bool {
        *number >= self.upper
            || (*number > self.lower && count(&self.chain, &self.lower, number) == 1)
    }

    /// Returns the root if it is a rational number with a small denominator.
    pub(super) fn exact(&self) -> Option<RBig> {
        let mut root = self.clone();
        let limit = RBig::ONE / RBig::from(1000);
        while &root.upper - &root.lower > limit {
            root.refine();
        }
        for below in 1..=24 {
            let below = RBig::from(below);
            let candidate = RBig::from((&root.upper * &below).floor()) / below;
            if candidate > root.lower && value(&self.chain[0], &candidate) == RBig::ZERO {
                return Some(candidate);
            }
        }
        None
    }

    fn refine(&mut self) {
        let middle = (&self.lower + &self.upper) / RBig::from(2);
        if count(&self.chain, &self.lower, &middle) == 1 {
            self.upper = middle;
        } else {
            self.lower = middle;
        }
    }

    /// Returns the sign of a polynomial at the root.
    fn sign_of(&self, polynomial: &Dense) -> i32 {
        let common = common_divisor(&self.chain[0], polynomial);
        if common.len() > 1 && count(&sturm_chain(&common), &self.lower, &self.upper) > 0 {
            return 0;
        }
        let chain = sturm_chain(polynomial);
        let mut root = self.clone();
        while count(&chain, &root.lower, &root.upper) > 0 {
            root.refine();
        }
        sign(&value(polynomial, &root.upper))
    }
}

fn holds(formula: &RealFormula, signs: &[i32], place: &mut usize) -> bool {
    match formula {
        RealFormula::Compare(polynomial, sign) => {
            let number = match polynomial.as_constant() {
                Some(number) => number,
                None => {
                    *place += 1;
                    RBig::from(signs[*place - 1])
                }
            };
            sign.holds(&number)
        }
        RealFormula::Not(inner) => !holds(inner, signs, place),
        RealFormula::And(parts) => {
            // Every part is visited, because each takes its signs from the list.
            let parts: Vec<bool> = parts.iter().map(|part| holds(part, signs, place)).collect();
            !parts.contains(&false)
        }
        RealFormula::Or(parts) => {
            let parts: Vec<bool> = parts.iter().map(|part| holds(part, signs, place)).collect();
            parts.contains(&true)
        }
        other => panic!("{other} is not a formula of the oracle"),
    }
}

fn dense(polynomial: &Polynomial) -> Dense {
    let coefficients = polynomial.coefficients(0).into_iter();
    coefficients.map(|n| n.as_constant().expect("one variable")).collect()
}

fn sign(number: &RBig) -> i32 {
    i32::from(*number > RBig::ZERO) - i32::from(*number < RBig::ZERO)
}

fn value(polynomial: &Dense, number: &RBig) -> RBig {
    polynomial.iter().rev().fold(RBig::ZERO, |sum, coefficient| sum * number + coefficient)
}

fn times(left: &Dense, right: &Dense) -> Dense {
    let mut product = vec![RBig::ZERO; left.len() + right.len() - 1];
    for (i, x) in left.iter().enumerate() {
        for (j, y) in right.iter().enumerate() {
            product[i + j] += x * y;
        }
    }
    product
}

/// Returns quotient and remainder.
fn divide(dividend: &Dense, divisor: &Dense) -> (Dense, Dense) {
    let mut rest = dividend.clone();
    let mut quotient = vec![RBig::ZERO; (rest.len() + 1).saturating_sub(divisor.len())];
    while rest.len() >= divisor.len() {
        let shift = rest.len() - divisor.len();
        let factor = &rest[rest.len() - 1] / &divisor[divisor.len() - 1];
        for (place, number) in divisor.iter().enumerate() {
            rest[shift + place] -= &factor * number;
        }
        quotient[shift] = factor;
        while rest.last().is_some_and(RBig::is_zero) {
            rest.pop();
        }
    }
    (quotient, rest)
}

fn common_divisor(left: &Dense, right: &Dense) -> Dense {
    let (mut left, mut right) = (left.clone(), right.clone());
    while !right.is_empty() {
        let rest = divide(&left, &right).1;
        left = std::mem::replace(&mut right, monic(rest));
    }
    left
}

/// Returns a multiple with small coefficients.
fn monic(polynomial: Dense) -> Dense {
    let Some(last) = polynomial.last().cloned() else { return polynomial };
    polynomial.into_iter().map(|number| number / &last).collect()
}

fn derivative(polynomial: &Dense) -> Dense {
    polynomial.iter().enumerate().skip(1).map(|(n, number)| number * RBig::from(n)).collect()
}

/// Returns the Sturm chain of the square-free part.
fn sturm_chain(polynomial: &Dense) -> Vec<Dense> {
    let repeated = common_divisor(polynomial, &derivative(polynomial));
    let first = divide(polynomial, &repeated).0;
    let second = derivative(&first);
    let mut chain = vec![first, second];
    while chain[chain.len() - 1].len() > 1 {
        let rest = divide(&chain[chain.len() - 2], &chain[chain.len() - 1]).1;
        let Some(last) = rest.last() else { break };
        // A positive factor keeps the numbers small.
        let size = if *last < RBig::ZERO { -last.clone() } else { last.clone() };
        chain.push(rest.iter().map(|number| -number.clone() / &size).collect());
    }
    chain
}

/// Returns the number of roots above `lower` and not above `upper`.
fn count(chain: &[Dense], lower: &RBig, upper: &RBig) -> usize {
    variations(chain, lower) - variations(chain, upper)
}

fn variations(chain: &[Dense], number: &RBig) -> usize {
    let signs = chain.iter().map(|polynomial| sign(&value(polynomial, number)));
    let signs: Vec<i32> = signs.filter(|sign| *sign != 0).collect();
    signs.windows(2).filter(|pair| pair[0] != pair[1]).count()
}
