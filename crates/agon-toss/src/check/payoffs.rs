//! Derives facts about payoffs from their terms: bounds, and whether their sum is constant.

use std::collections::BTreeMap;

use agon_structures::formula::{Fold, Operator, Term};
use agon_structures::rational::Rational;

use crate::arena::ArenaLocation;

/// Bounds of a number; `None` if nothing is known.
type Bounds = Option<(f64, f64)>;

/// Bounds for terms about which nothing is known: far wider than sensible payoffs, but small enough
/// for arithmetic.
const UNKNOWN: (f64, f64) = (-1e9, 1e9);

/// Returns whether payoffs may have this value. Larger ones are refused, not rounded: positions
/// report payoffs as `f64`, which is exact within these bounds.
pub(crate) fn is_in_range(value: Rational) -> bool {
    let limit = Rational::whole(1_000_000_000);
    limit.negated() <= value && value <= limit
}

/// Returns whether a payoff is outside of the possible range whatever the state.
pub(super) fn is_always_too_large(payoff: &Term, n_elements: f64) -> bool {
    of_term(payoff, n_elements).is_some_and(|(low, high)| low > UNKNOWN.1 || high < UNKNOWN.0)
}

/// Returns bounds of all payoffs at all locations. `n_elements` is the maximum number of elements.
pub(super) fn bounds<'a>(
    payoffs: impl Iterator<Item = &'a Term>,
    n_elements: f64,
) -> std::ops::RangeInclusive<f64> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for payoff in payoffs {
        let (l, h) = of_term(payoff, n_elements)
            .filter(|(l, h)| *l >= UNKNOWN.0 && *h <= UNKNOWN.1)
            .unwrap_or(UNKNOWN);
        low = low.min(l);
        high = high.max(h);
    }
    if low > high {
        return 0.0..=0.0;
    }
    low..=high
}

fn of_term(term: &Term, n_elements: f64) -> Bounds {
    match term {
        Term::Number(number) => Some((number.to_f64(), number.to_f64())),
        Term::Characteristic(_) => Some((0.0, 1.0)),
        Term::ElementNumber(_) => Some((1.0, n_elements)),
        Term::Variable(_) | Term::Function(..) => None,
        Term::Let(_, _, body) => of_term(body, n_elements),
        Term::Binary(operator, left, right) => {
            let (a, b) = of_term(left, n_elements)?;
            let (c, d) = of_term(right, n_elements)?;
            let corners = match operator {
                Operator::Plus => return Some((a + c, b + d)),
                Operator::Minus => return Some((a - d, b - c)),
                Operator::Times => [a * c, a * d, b * c, b * d],
                Operator::Divide if c > 0.0 || d < 0.0 => [a / c, a / d, b / c, b / d],
                Operator::Divide => return None,
                Operator::Power => {
                    // Only small integer powers of non-negative numbers; others are rare in
                    // payoffs.
                    let exponent = (0..=16_i32).find(|&n| c == d && c == f64::from(n))?;
                    return (a >= 0.0).then(|| (power(a, exponent), power(b, exponent)));
                }
            };
            Some((
                corners.iter().copied().fold(f64::INFINITY, f64::min),
                corners.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            ))
        }
        Term::Aggregate(aggregate) => {
            let (low, high) = of_term(&aggregate.term, n_elements)?;
            match aggregate.fold {
                Fold::Min | Fold::Max => Some((low, high)),
                Fold::Sum => {
                    let n = power(n_elements, aggregate.variables.len().min(8) as i32);
                    Some(((low * n).min(0.0), (high * n).max(0.0)))
                }
                Fold::Product => None,
            }
        }
    }
}

fn power(base: f64, exponent: i32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

/// Returns the sum of the payoffs of all players, if it is the same at every location.
pub(super) fn constant_sum(locations: &[ArenaLocation]) -> Option<f64> {
    let mut sums = locations.iter().map(|location| {
        let mut sum = Linear::default();
        for payoff in &location.payoffs {
            sum.add(payoff, Rational::whole(1))?;
        }
        sum.0.retain(|_, factor| factor.signum() != 0);
        match sum.0.len() {
            0 => Some(Rational::whole(0)),
            1 => sum.0.get(&None).copied(),
            _ => None,
        }
    });
    let first = sums.next()??;
    sums.all(|sum| sum == Some(first)).then(|| first.to_f64())
}

/// A linear combination of terms. The constant is stored under `None`.
#[derive(Default)]
struct Linear(BTreeMap<Option<Term>, Rational>);

impl Linear {
    /// Adds a multiple of a term. Returns `None` if numbers become too large or a term may be
    /// undefined.
    fn add(&mut self, term: &Term, factor: Rational) -> Option<()> {
        match term {
            Term::Number(number) => self.add_to(None, number.times(factor).ok()?),
            Term::Binary(Operator::Plus, left, right) => {
                self.add(left, factor)?;
                self.add(right, factor)
            }
            Term::Binary(Operator::Minus, left, right) => {
                self.add(left, factor)?;
                self.add(right, factor.negated())
            }
            Term::Binary(Operator::Times, left, right) => match (&**left, &**right) {
                (Term::Number(number), other) | (other, Term::Number(number)) => {
                    self.add(other, factor.times(*number).ok()?)
                }
                _ => self.opaque(term, factor),
            },
            Term::Binary(..)
            | Term::Variable(_)
            | Term::ElementNumber(_)
            | Term::Function(..)
            | Term::Characteristic(_)
            | Term::Aggregate(_)
            | Term::Let(..) => self.opaque(term, factor),
        }
    }

    fn opaque(&mut self, term: &Term, factor: Rational) -> Option<()> {
        if !term.is_total() {
            return None;
        }
        self.add_to(Some(term.clone()), factor)
    }

    fn add_to(&mut self, term: Option<Term>, amount: Rational) -> Option<()> {
        let sum = self.0.entry(term).or_insert(Rational::whole(0));
        *sum = sum.plus(amount).ok()?;
        Some(())
    }
}
