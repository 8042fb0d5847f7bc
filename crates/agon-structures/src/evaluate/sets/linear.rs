//! Comparisons of terms that count members of sets.
//!
//! Such a term is a sum of numbers, each of which counts only if a signal is true. A comparison
//! becomes a decision diagram over these signals: what is known after some of them is the partial
//! sum. Equal partial sums share what follows, so that counting `n` members takes at most `n ^ 2`
//! gates.

use std::collections::BTreeMap;

use super::ground::{Grounder, picked, places};
use super::network::Signal;
use crate::evaluate::EvaluationError;
use crate::evaluate::program::{Program, TermId, TermNode};
use crate::evaluate::table::Table;
use crate::formula::{Fold, Operator, Sign};
use crate::rational::Rational;

/// A number that depends on sets.
#[derive(Clone)]
struct Linear {
    constant: Rational,
    /// Numbers that are added if the signal is true.
    parts: Vec<(Rational, Signal)>,
    /// Whether the number is defined.
    defined: Signal,
}

impl Linear {
    fn of(value: Option<Rational>) -> Linear {
        let defined = if value.is_some() { Signal::TRUE } else { Signal::FALSE };
        Linear { constant: value.unwrap_or(Rational::ZERO), parts: Vec::new(), defined }
    }

    fn scaled(mut self, factor: Rational) -> Result<Linear, EvaluationError> {
        self.constant = self.constant.times(factor)?;
        for part in &mut self.parts {
            part.0 = part.0.times(factor)?;
        }
        Ok(self)
    }

    fn is_constant(&self) -> bool {
        self.parts.is_empty()
    }
}

/// Returns the construct with a set variable for which there is no decision diagram, if any.
pub(super) fn refused(program: &Program, id: TermId) -> Option<&'static str> {
    if program.term_sets(id).is_empty() {
        return None;
    }
    stacker::maybe_grow(64 << 10, 1 << 20, || match program.term(id) {
        TermNode::Number(_)
        | TermNode::Given(_)
        | TermNode::ElementNumber(_)
        | TermNode::Function(..)
        | TermNode::Characteristic(_) => None,
        TermNode::Binary(Operator::Plus | Operator::Minus | Operator::Times, left, right) => {
            refused(program, *left).or_else(|| refused(program, *right))
        }
        TermNode::Binary(Operator::Divide, left, right) => {
            if program.term_sets(*right).is_empty() {
                refused(program, *left)
            } else {
                Some("a divisor")
            }
        }
        TermNode::Binary(Operator::Power, ..) => Some("a power"),
        TermNode::Aggregate(Fold::Sum, _, _, term) => refused(program, *term),
        TermNode::Aggregate(..) => Some("a product, minimum or maximum"),
        TermNode::Apply(..) => Some("a real function"),
    })
}

impl Grounder<'_, '_> {
    /// Returns for each assignment the signal that the comparison holds.
    pub(super) fn comparisons(
        &mut self,
        left: TermId,
        sign: Sign,
        right: TermId,
        assignments: &Table,
    ) -> Result<Vec<Signal>, EvaluationError> {
        let left = self.numbers(left, assignments)?;
        let right = self.numbers(right, assignments)?;
        let mut signals = Vec::with_capacity(assignments.n_rows);
        for (left, right) in left.into_iter().zip(right) {
            let difference = self.sum(left, right.scaled(Rational::whole(-1))?)?;
            signals.push(self.comparison(difference, sign)?);
        }
        Ok(signals)
    }

    /// Returns the number for each assignment to all free variables of the term.
    fn numbers(&mut self, id: TermId, assignments: &Table) -> Result<Vec<Linear>, EvaluationError> {
        let program = self.program;
        if program.term_sets(id).is_empty() {
            let values = self.run.values(id, assignments)?;
            return Ok(values.into_iter().map(Linear::of).collect());
        }
        self.run.spend(assignments.n_rows + 1)?;
        stacker::maybe_grow(128 << 10, 1 << 20, || match program.term(id) {
            TermNode::Characteristic(inner) => {
                let signals = self.truth(*inner, assignments)?;
                let number = |signal| Linear {
                    constant: Rational::ZERO,
                    parts: vec![(Rational::ONE, signal)],
                    defined: Signal::TRUE,
                };
                Ok(signals.into_iter().map(number).collect())
            }
            TermNode::Binary(operator, left, right) => {
                let left = self.numbers(*left, assignments)?;
                let right = self.numbers(*right, assignments)?;
                let pairs = left.into_iter().zip(right);
                pairs.map(|(left, right)| self.combined(*operator, left, right)).collect()
            }
            TermNode::Aggregate(Fold::Sum, variables, guard, term) => {
                let groups = places(assignments, program.term_free(id));
                let asked = assignments.projected(&groups);
                let cases = self.ground(*guard, &asked)?;
                let cases = self.padded(cases, variables)?;
                let numbers = self.numbers(*term, &cases.table)?;
                let own: Vec<usize> = asked
                    .columns
                    .iter()
                    .map(|&column| cases.table.column(column).expect("columns are kept"))
                    .collect();
                let mut sums: BTreeMap<Vec<u32>, Linear> = BTreeMap::new();
                for (row, number) in numbers.into_iter().enumerate() {
                    let counted = self.counted(number, cases.signals[row])?;
                    let key = picked(cases.table.row(row), &own);
                    let sum = sums.remove(&key);
                    let sum = sum.unwrap_or_else(|| Linear::of(Some(Rational::ZERO)));
                    let sum = self.sum(sum, counted)?;
                    sums.insert(key, sum);
                }
                let of = |row: usize| {
                    let sum = sums.get(&picked(assignments.row(row), &groups));
                    sum.cloned().unwrap_or_else(|| Linear::of(Some(Rational::ZERO)))
                };
                Ok((0..assignments.n_rows).map(of).collect())
            }
            TermNode::Number(_)
            | TermNode::Given(_)
            | TermNode::ElementNumber(_)
            | TermNode::Function(..)
            | TermNode::Aggregate(..)
            | TermNode::Apply(..) => Err(EvaluationError::SetsInside("a term")),
        })
    }

    /// Returns the number if the signal is true, otherwise 0.
    fn counted(&mut self, number: Linear, signal: Signal) -> Result<Linear, EvaluationError> {
        if signal == Signal::TRUE {
            return Ok(number);
        }
        let mut parts = Vec::with_capacity(number.parts.len() + 1);
        if number.constant != Rational::ZERO {
            parts.push((number.constant, signal));
        }
        for (factor, part) in number.parts {
            parts.push((factor, self.network.all(vec![part, signal])?));
        }
        // Where it does not count, it need not be defined.
        let defined = self.network.any(vec![number.defined, !signal])?;
        Ok(Linear { constant: Rational::ZERO, parts, defined })
    }

    fn sum(&mut self, mut left: Linear, right: Linear) -> Result<Linear, EvaluationError> {
        left.constant = left.constant.plus(right.constant)?;
        self.run.spend(right.parts.len())?;
        left.parts.extend(right.parts);
        left.defined = self.network.all(vec![left.defined, right.defined])?;
        Ok(left)
    }

    fn combined(
        &mut self,
        operator: Operator,
        left: Linear,
        right: Linear,
    ) -> Result<Linear, EvaluationError> {
        match operator {
            Operator::Plus => self.sum(left, right),
            Operator::Minus => self.sum(left, right.scaled(Rational::whole(-1))?),
            Operator::Times => {
                let defined = self.network.all(vec![left.defined, right.defined])?;
                let mut product = Linear::of(Some(left.constant.times(right.constant)?));
                product.defined = defined;
                product.parts.extend(left.clone().scaled(right.constant)?.parts);
                product.parts.extend(right.clone().scaled(left.constant)?.parts);
                for &(one, one_signal) in &left.parts {
                    self.run.spend(right.parts.len())?;
                    for &(other, other_signal) in &right.parts {
                        let both = self.network.all(vec![one_signal, other_signal])?;
                        product.parts.push((one.times(other)?, both));
                    }
                }
                Ok(product)
            }
            Operator::Divide if right.is_constant() => {
                match Rational::ONE.divided_by(right.constant)? {
                    Some(inverse) => {
                        let defined = self.network.all(vec![left.defined, right.defined])?;
                        Ok(Linear { defined, ..left.scaled(inverse)? })
                    }
                    None => Ok(Linear::of(None)),
                }
            }
            Operator::Divide | Operator::Power => Err(EvaluationError::SetsInside("a power")),
        }
    }

    /// Returns the signal that the number is defined and compares with 0 as the sign says.
    fn comparison(&mut self, number: Linear, sign: Sign) -> Result<Signal, EvaluationError> {
        // Each gate at most once, not negated.
        let mut factors: BTreeMap<Signal, Rational> = BTreeMap::new();
        let mut constant = number.constant;
        for (factor, signal) in number.parts {
            let (signal, factor) = if signal.is_negated() {
                constant = constant.plus(factor)?;
                (!signal, factor.negated())
            } else {
                (signal, factor)
            };
            let sum = factors.get(&signal).copied().unwrap_or(Rational::ZERO).plus(factor)?;
            factors.insert(signal, sum);
        }
        if let Some(factor) = factors.remove(&Signal::TRUE) {
            constant = constant.plus(factor)?;
        }
        let mut parts: Vec<(Rational, Signal)> =
            factors.into_iter().map(|(signal, factor)| (factor, signal)).collect();
        parts.retain(|part| part.0 != Rational::ZERO);
        // Large numbers decide most, so they come first.
        let size = |number: Rational| if number.signum() < 0 { number.negated() } else { number };
        parts.sort_by(|one, other| {
            size(other.0).cmp(&size(one.0)).then_with(|| one.1.cmp(&other.1))
        });
        // The least and the greatest sum of the parts from each place on.
        let mut ranges = vec![(Rational::ZERO, Rational::ZERO)];
        for &(factor, _) in parts.iter().rev() {
            let (low, high) = ranges[ranges.len() - 1];
            ranges.push(if factor.signum() < 0 {
                (low.plus(factor)?, high)
            } else {
                (low, high.plus(factor)?)
            });
        }
        ranges.reverse();
        let diagram = Diagram { parts, ranges, sign };
        let holds = self.decided(&diagram, 0, constant, &mut BTreeMap::new())?;
        self.network.all(vec![number.defined, holds])
    }

    fn decided(
        &mut self,
        diagram: &Diagram,
        place: usize,
        sum: Rational,
        known: &mut BTreeMap<(usize, Rational), Signal>,
    ) -> Result<Signal, EvaluationError> {
        let (low, high) = diagram.ranges[place];
        let zero = Rational::ZERO;
        let [least, most] = [sum.plus(low)?.cmp(&zero), sum.plus(high)?.cmp(&zero)];
        // If both ends are on the same side of zero, or at zero, so is every sum between them.
        if least == most {
            return Ok(Signal::FALSE.negated_if(diagram.sign.admits(least)));
        }
        // The ends may differ and yet both satisfy, or both violate, an inequality.
        let orders = [least, most].map(|order| diagram.sign.admits(order));
        let is_monotone = !matches!(diagram.sign, Sign::Equal | Sign::Unequal);
        if is_monotone && orders[0] == orders[1] {
            return Ok(Signal::FALSE.negated_if(orders[0]));
        }
        if let Some(&signal) = known.get(&(place, sum)) {
            return Ok(signal);
        }
        self.run.spend(1)?;
        let (factor, signal) = diagram.parts[place];
        let with = sum.plus(factor)?;
        let decided = stacker::maybe_grow(64 << 10, 1 << 20, || {
            let with = self.decided(diagram, place + 1, with, known)?;
            let without = self.decided(diagram, place + 1, sum, known)?;
            self.network.choice(signal, with, without)
        })?;
        known.insert((place, sum), decided);
        Ok(decided)
    }
}

/// A sum of numbers to compare with 0.
struct Diagram {
    parts: Vec<(Rational, Signal)>,
    ranges: Vec<(Rational, Rational)>,
    sign: Sign,
}
