//! Grounds terms: one signal for each value that a term may have. Exactly one of them is true.

use std::collections::BTreeMap;

use agon_circuit::Signal;
use agon_structures::formula::{Aggregate, Argument, Fold, Operator, Sign, Term, Variable};
use agon_structures::rational::{Rational, TooLarge};
use agon_structures::structure::Element;

use super::NoCircuit;
use super::ground::Grounder;
use super::table::{Table, any};

/// The values that a term may have, with their signals. `None` stands for no value.
pub(super) type Values = BTreeMap<Option<Rational>, Signal>;

/// The partial result of an aggregate: the value so far, if any, and whether a value was missing.
type Folded = (Option<Rational>, bool);

impl From<TooLarge> for NoCircuit {
    fn from(_: TooLarge) -> NoCircuit {
        NoCircuit::Evaluation(TooLarge.into())
    }
}

impl Grounder<'_> {
    /// Returns the values of a term for one assignment.
    pub(super) fn values(
        &mut self,
        term: &Term,
        columns: &[Variable],
        row: &[u32],
    ) -> Result<Values, NoCircuit> {
        let element = |grounder: &Grounder<'_>, argument: &Argument| match argument {
            Argument::Variable(variable) => {
                columns.iter().rposition(|column| column == variable).map(|place| row[place])
            }
            Argument::Constant(name) => grounder.constant(name),
        };
        Ok(match term {
            Term::Number(number) => Values::from([(Some(*number), Signal::TRUE)]),
            Term::ElementNumber(argument) => {
                let number = element(self, argument).map(|id| Element::new(id).number());
                Values::from([(number, Signal::TRUE)])
            }
            Term::Function(name, argument) => {
                let function =
                    self.structure.vocabulary().function(name).expect("functions were checked");
                let value = element(self, argument)
                    .and_then(|id| self.structure.value(function, Element::new(id)));
                Values::from([(value, Signal::TRUE)])
            }
            Term::Characteristic(inner) => {
                let inner = self.prepare(inner)?;
                let given = self.single_row(
                    &inner.free_variables().into_iter().collect::<Vec<_>>(),
                    columns,
                    row,
                );
                let holds =
                    self.extend(&inner, &given)?.rows.into_values().next().unwrap_or(Signal::FALSE);
                let mut values = Values::new();
                for (number, signal) in [(Rational::ONE, holds), (Rational::ZERO, !holds)] {
                    if signal != Signal::FALSE {
                        values.insert(Some(number), signal);
                    }
                }
                values
            }
            Term::Binary(operator, left, right) => {
                let left = self.values(left, columns, row)?;
                let right = self.values(right, columns, row)?;
                self.combined(&left, &right, |left, right| match (left, right) {
                    (Some(left), Some(right)) => match operator {
                        Operator::Plus => left.plus(*right).map(Some),
                        Operator::Minus => left.minus(*right).map(Some),
                        Operator::Times => left.times(*right).map(Some),
                        Operator::Divide => left.divided_by(*right),
                        Operator::Power => left.power(*right),
                    },
                    _ => Ok(None),
                })?
            }
            Term::Aggregate(aggregate) => self.folded(aggregate, columns, row)?,
            Term::Variable(_) | Term::Let(..) => {
                return Err(NoCircuit::Unsupported("a real variable".to_owned()));
            }
            Term::Least(variable, _) => {
                let what = format!("the least number `{variable}` with a property");
                return Err(NoCircuit::Unsupported(what));
            }
            Term::Apply(function, _) => {
                let what = format!("the function `{}`", function.name());
                return Err(NoCircuit::Unsupported(what));
            }
        })
    }

    /// Returns the signal that a comparison holds for one assignment.
    pub(super) fn comparison(
        &mut self,
        left: &Term,
        sign: Sign,
        right: &Term,
        columns: &[Variable],
        row: &[u32],
    ) -> Result<Signal, NoCircuit> {
        let left = self.values(left, columns, row)?;
        let right = self.values(right, columns, row)?;
        let mut ways = Vec::new();
        for (one, &one_signal) in &left {
            for (other, &other_signal) in &right {
                if let (Some(one), Some(other)) = (one, other)
                    && sign.admits(one.cmp(other))
                {
                    ways.push(self.builder.and(one_signal, other_signal));
                }
            }
        }
        Ok(any(&mut self.builder, &mut ways))
    }

    /// Returns a table with one assignment, restricted to these variables.
    fn single_row(&self, variables: &[Variable], columns: &[Variable], row: &[u32]) -> Table {
        let mut table = Table::unit();
        let mut cells = Vec::new();
        for variable in variables {
            if let Some(place) = columns.iter().rposition(|column| column == variable) {
                table.columns.push(variable.clone());
                cells.push(row[place]);
            }
        }
        table.rows = BTreeMap::from([(cells, Signal::TRUE)]);
        table
    }

    fn folded(
        &mut self,
        aggregate: &Aggregate,
        columns: &[Variable],
        row: &[u32],
    ) -> Result<Values, NoCircuit> {
        let guard = self.prepare(&aggregate.guard)?;
        let mut outer: Vec<Variable> = guard.free_variables().into_iter().collect();
        outer.extend(aggregate.term.free_variables());
        outer.retain(|variable| !aggregate.variables.contains(variable));
        outer.sort();
        outer.dedup();
        let given = self.single_row(&outer, columns, row);
        let cases = self.extend(&guard, &given)?;
        let cases = self.padded(&cases, &aggregate.variables.iter().cloned().collect())?;
        let nothing: Folded = match aggregate.fold {
            Fold::Sum => (Some(Rational::ZERO), false),
            Fold::Product => (Some(Rational::ONE), false),
            Fold::Min | Fold::Max => (None, false),
        };
        let mut layers: Vec<BTreeMap<Folded, Signal>> = Vec::new();
        for (row, &counts) in &cases.rows {
            let values = self.values(&aggregate.term, &cases.columns, row)?;
            let mut layer: BTreeMap<Folded, Vec<Signal>> = BTreeMap::new();
            layer.entry(nothing).or_default().push(!counts);
            for (value, signal) in values {
                let folded = (value.or(nothing.0), value.is_none());
                layer.entry(folded).or_default().push(self.builder.and(counts, signal));
            }
            layers.push(self.merged(layer)?);
        }
        if layers.is_empty() {
            layers.push(BTreeMap::from([(nothing, Signal::TRUE)]));
        }
        // Combine pairwise, so that partial sums stay small as long as possible.
        while layers.len() > 1 {
            let mut halved = Vec::with_capacity(layers.len().div_ceil(2));
            for pair in layers.chunks(2) {
                halved.push(match pair {
                    [left, right] => self.combined(left, right, |left, right| {
                        let value = match (left.0, right.0, aggregate.fold) {
                            (None, value, _) | (value, None, _) => value,
                            (Some(one), Some(other), Fold::Sum) => Some(one.plus(other)?),
                            (Some(one), Some(other), Fold::Product) => Some(one.times(other)?),
                            (Some(one), Some(other), Fold::Min) => Some(one.min(other)),
                            (Some(one), Some(other), Fold::Max) => Some(one.max(other)),
                        };
                        Ok((value, left.1 || right.1))
                    })?,
                    rest => rest[0].clone(),
                });
            }
            layers = halved;
        }
        let mut values: BTreeMap<Option<Rational>, Vec<Signal>> = BTreeMap::new();
        for ((value, missing), signal) in layers.swap_remove(0) {
            values.entry(if missing { None } else { value }).or_default().push(signal);
        }
        self.merged(values)
    }

    /// Combines each pair of keys; the signal of the result is the conjunction of both.
    fn combined<K: Ord + Clone>(
        &mut self,
        left: &BTreeMap<K, Signal>,
        right: &BTreeMap<K, Signal>,
        combine: impl Fn(&K, &K) -> Result<K, TooLarge>,
    ) -> Result<BTreeMap<K, Signal>, NoCircuit> {
        let mut ways: BTreeMap<K, Vec<Signal>> = BTreeMap::new();
        for (one, &one_signal) in left {
            for (other, &other_signal) in right {
                let both = self.builder.and(one_signal, other_signal);
                if both != Signal::FALSE {
                    ways.entry(combine(one, other)?).or_default().push(both);
                }
            }
        }
        self.merged(ways)
    }

    fn merged<K: Ord>(
        &mut self,
        ways: BTreeMap<K, Vec<Signal>>,
    ) -> Result<BTreeMap<K, Signal>, NoCircuit> {
        if ways.len() > self.limits.values {
            return Err(NoCircuit::TooLarge(self.limits.values));
        }
        self.check(0)?;
        let merged =
            ways.into_iter().map(|(key, mut signals)| (key, any(&mut self.builder, &mut signals)));
        Ok(merged.filter(|entry| entry.1 != Signal::FALSE).collect())
    }
}
