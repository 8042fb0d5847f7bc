//! Derives facts about payoffs from their terms: bounds, and whether their sum is constant.

use std::collections::BTreeMap;

use agon_structures::formula::{Operator, Term};
use agon_structures::rational::Rational;

use super::bounds::Known;
use crate::arena::ArenaLocation;

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
pub(super) fn is_always_too_large(payoff: &Term, known: &Known) -> bool {
    let (low, high) = known.of(payoff);
    low > UNKNOWN.1 || high < UNKNOWN.0
}

/// Returns whether a payoff has a bound on each side that can be derived from the rules.
pub(super) fn is_bounded(payoff: &Term, known: &Known) -> bool {
    let (low, high) = known.of(payoff);
    low >= UNKNOWN.0 && high <= UNKNOWN.1
}

/// Returns bounds of all payoffs at all locations.
pub(super) fn bounds<'a>(
    payoffs: impl Iterator<Item = &'a Term>,
    known: &Known,
) -> std::ops::RangeInclusive<f64> {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for payoff in payoffs {
        let (l, h) = known.of(payoff);
        low = low.min(l.max(UNKNOWN.0));
        high = high.max(h.min(UNKNOWN.1));
    }
    if low > high {
        return 0.0..=0.0;
    }
    low..=high
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
            | Term::Least(..)
            | Term::Apply(..)
            | Term::Let(..) => self.opaque(term, factor),
        }
    }

    /// Adds a term that is not looked into. It may be undefined, which ends play with a fault.
    /// Payoffs at a fault need not have the sum.
    fn opaque(&mut self, term: &Term, factor: Rational) -> Option<()> {
        self.add_to(Some(term.clone()), factor)
    }

    fn add_to(&mut self, term: Option<Term>, amount: Rational) -> Option<()> {
        let sum = self.0.entry(term).or_insert(Rational::whole(0));
        *sum = sum.plus(amount).ok()?;
        Some(())
    }
}
