//! Evaluates terms for many assignments at a time.

use crate::rational::Rational;
use crate::structure::Element;

use super::EvaluationError;
use super::naive::{Folding, combined};
use super::program::{Slot, TermId, TermNode, Var};
use super::real::applied;
use super::solve::Run;
use super::table::Table;

impl Run<'_> {
    /// Returns the value of the term for each assignment to all its free variables.
    pub(super) fn values(
        &mut self,
        id: TermId,
        assignments: &Table,
    ) -> Result<Vec<Option<Rational>>, EvaluationError> {
        self.spend(assignments.n_rows + 1)?;
        let program = self.program;
        let n_rows = assignments.n_rows;
        stacker::maybe_grow(128 << 10, 1 << 20, || match program.term(id) {
            TermNode::Number(number) => Ok(vec![Some(*number); n_rows]),
            TermNode::Given(place) => Ok(vec![Some(self.given[*place]); n_rows]),
            TermNode::ElementNumber(slot) => Ok(self
                .elements_at(*slot, assignments)
                .map(|element| element.map(Element::number))
                .collect()),
            TermNode::Function(function, slot) => {
                let structure = self.structure;
                let value = |element: Option<Element>| structure.value(*function, element?);
                Ok(self.elements_at(*slot, assignments).map(value).collect())
            }
            TermNode::Characteristic(inner) => {
                let holds = self.satisfied(*inner, assignments)?;
                let value = |holds| Some(if holds { Rational::ONE } else { Rational::ZERO });
                Ok(holds.into_iter().map(value).collect())
            }
            TermNode::Binary(operator, left, right) => {
                let left = self.values(*left, assignments)?;
                let right = self.values(*right, assignments)?;
                let mut values = Vec::with_capacity(n_rows);
                for pair in left.into_iter().zip(right) {
                    values.push(match pair {
                        (Some(left), Some(right)) => combined(*operator, left, right)?,
                        _ => None,
                    });
                }
                Ok(values)
            }
            TermNode::Apply(function, arguments) => {
                let mut columns = Vec::with_capacity(arguments.len());
                for &argument in arguments {
                    columns.push(self.values(argument, assignments)?);
                }
                let row = |place: usize| columns.iter().map(|column| column[place]).collect();
                let mut values = Vec::with_capacity(n_rows);
                for place in 0..n_rows {
                    let numbers: Option<Vec<Rational>> = row(place);
                    values.push(match numbers {
                        Some(numbers) => applied(*function, &numbers)?,
                        None => None,
                    });
                }
                Ok(values)
            }
            TermNode::Aggregate(fold, variables, guard, term) => {
                let free = program.term_free(id);
                let places: Vec<usize> = free
                    .iter()
                    .map(|&variable| {
                        assignments.column(variable).expect("free variables are assigned")
                    })
                    .collect();
                // Each combination of values of the free variables is evaluated once.
                let groups = assignments.projected(&places).sorted();
                let cases = self.extend(*guard, groups.clone())?;
                let cases = self.padded(cases, variables)?;
                let numbers = self.values(*term, &cases)?;
                let columns: Vec<usize> = free
                    .iter()
                    .map(|&variable| cases.column(variable).expect("cases keep the columns"))
                    .collect();
                let mut foldings: Vec<Folding> =
                    (0..groups.n_rows).map(|_| Folding::new(*fold)).collect();
                let mut key = vec![0; columns.len()];
                for (place, number) in numbers.into_iter().enumerate() {
                    let row = cases.row(place);
                    key.iter_mut().zip(&columns).for_each(|(cell, &column)| *cell = row[column]);
                    foldings[group(&groups, &key)].take(number)?;
                }
                let results: Vec<Option<Rational>> =
                    foldings.into_iter().map(Folding::result).collect();
                let mut values = Vec::with_capacity(n_rows);
                for place in 0..n_rows {
                    let row = assignments.row(place);
                    key.iter_mut().zip(&places).for_each(|(cell, &column)| *cell = row[column]);
                    values.push(results[group(&groups, &key)]);
                }
                Ok(values)
            }
        })
    }

    fn elements_at<'t>(
        &self,
        slot: Slot,
        assignments: &'t Table,
    ) -> impl Iterator<Item = Option<Element>> + use<'t> {
        let column = match slot {
            Slot::Variable(variable) => Some(column(assignments, variable)),
            Slot::Constant(_) => None,
        };
        let constant = self.constant(slot).flatten();
        (0..assignments.n_rows).map(move |place| {
            let id = column.map_or(constant, |column| Some(assignments.row(place)[column]));
            id.map(Element::new)
        })
    }
}

fn column(assignments: &Table, variable: Var) -> usize {
    assignments.column(variable).expect("free variables are assigned")
}

/// Returns the place of a row in a sorted table.
fn group(groups: &Table, key: &[u32]) -> usize {
    let (mut low, mut high) = (0, groups.n_rows);
    while low + 1 < high {
        let middle = (low + high) / 2;
        if groups.row(middle) <= key {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
