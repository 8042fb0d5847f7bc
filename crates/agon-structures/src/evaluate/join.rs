//! Extends assignments by the rows of a relation, or by an equation.

use crate::structure::Element;

use super::EvaluationError;
use super::program::{Slot, Var};
use super::solve::Run;
use super::store::Rows;
use super::table::Table;

/// The origin of the value in a column of an atom.
#[derive(Copy, Clone)]
pub(super) enum ColumnSource {
    /// A column of the assignments.
    Column(usize),
    /// A constant.
    Value(u32),
    /// A new column.
    New,
    /// The value of an earlier new column.
    Again(usize),
}

impl Run<'_> {
    pub(super) fn constant(&self, slot: Slot) -> Option<Option<u32>> {
        match slot {
            Slot::Variable(_) => None,
            Slot::Constant(constant) => Some(self.structure.constant(constant).map(Element::id)),
        }
    }

    pub(super) fn column_sources(
        &self,
        assignments: &Table,
        slots: &[Slot],
    ) -> Option<Vec<ColumnSource>> {
        let mut sources = Vec::with_capacity(slots.len());
        for (place, &slot) in slots.iter().enumerate() {
            sources.push(match slot {
                Slot::Constant(constant) => {
                    ColumnSource::Value(self.structure.constant(constant)?.id())
                }
                Slot::Variable(variable) => match assignments.column(variable) {
                    Some(column) => ColumnSource::Column(column),
                    None => match slots[..place].iter().position(|&earlier| earlier == slot) {
                        Some(earlier) => ColumnSource::Again(earlier),
                        None => ColumnSource::New,
                    },
                },
            });
        }
        Some(sources)
    }

    /// Extends the assignments by the rows of a relation.
    pub(super) fn join(
        &mut self,
        assignments: Table,
        rows: &Rows,
        slots: &[Slot],
    ) -> Result<Table, EvaluationError> {
        let Some(sources) = self.column_sources(&assignments, slots) else {
            // A constant without an element is in no tuple.
            let variables = variables_of(slots);
            return Ok(widened(Table::empty(assignments.columns), &variables));
        };
        let is_known = |source: &ColumnSource| {
            matches!(source, ColumnSource::Column(_) | ColumnSource::Value(_))
        };
        let known: Vec<usize> =
            (0..sources.len()).filter(|&place| is_known(&sources[place])).collect();
        let rest: Vec<usize> =
            (0..sources.len()).filter(|&place| !is_known(&sources[place])).collect();
        let mut key = vec![0; known.len()];
        let fill = |key: &mut [u32], row: &[u32]| fill_key(key, &known, &sources, row);
        if rest.is_empty() {
            return self.filter(assignments, |_, row| {
                fill(&mut key, row);
                rows.contains(&key)
            });
        }
        // Which of the remaining columns are new, and which must equal an earlier one, by their
        // places among the remaining columns.
        let fresh: Vec<usize> =
            (0..rest.len()).filter(|&at| matches!(sources[rest[at]], ColumnSource::New)).collect();
        let again: Vec<(usize, usize)> = (0..rest.len())
            .filter_map(|at| match sources[rest[at]] {
                ColumnSource::Again(earlier) => {
                    let first = rest.iter().position(|&place| place == earlier);
                    Some((at, first.expect("the first of equal columns is wanted too")))
                }
                _ => None,
            })
            .collect();
        let mut columns = assignments.columns.clone();
        for &at in &fresh {
            if let Slot::Variable(variable) = slots[rest[at]] {
                columns.push(variable);
            }
        }
        let mut joined = Table::empty(columns);
        let index = if known.is_empty() {
            None
        } else {
            self.spend(known.len())?;
            Some(rows.index(&known, &rest, self.structure.id_bound()))
        };
        for place in 0..assignments.n_rows {
            let row = assignments.row(place);
            let before = joined.n_rows;
            let mut take = |found: &[u32]| {
                if again.iter().all(|&(at, first)| found[at] == found[first]) {
                    joined.cells.extend_from_slice(row);
                    joined.cells.extend(fresh.iter().map(|&at| found[at]));
                    joined.n_rows += 1;
                }
            };
            match &index {
                Some(index) => {
                    fill(&mut key, row);
                    index.find(&key).for_each(|found| take(&found[known.len()..]));
                }
                None => {
                    self.spend(rows.n_rows)?;
                    rows.cells.chunks_exact(rows.width).for_each(take);
                }
            }
            self.check_growth(joined.cells.len(), joined.n_rows - before)?;
        }
        self.record_work(joined.cells.len());
        Ok(joined)
    }

    pub(super) fn equal(
        &mut self,
        assignments: Table,
        left: Slot,
        right: Slot,
    ) -> Result<Table, EvaluationError> {
        let side = |run: &Run<'_>, slot: Slot| match slot {
            Slot::Variable(variable) => {
                assignments.column(variable).map(|column| Ok(ColumnSource::Column(column)))
            }
            Slot::Constant(_) => Some(match run.constant(slot).flatten() {
                Some(value) => Ok(ColumnSource::Value(value)),
                None => Err(()),
            }),
        };
        let read = |source: ColumnSource, row: &[u32]| match source {
            ColumnSource::Column(column) => row[column],
            ColumnSource::Value(value) => value,
            ColumnSource::New | ColumnSource::Again(_) => {
                unreachable!("sides of equations are columns or values")
            }
        };
        match (side(self, left), side(self, right)) {
            (Some(Err(())), _) | (_, Some(Err(()))) => {
                let variables = variables_of(&[left, right]);
                Ok(widened(Table::empty(assignments.columns), &variables))
            }
            (Some(Ok(one)), Some(Ok(other))) => {
                self.filter(assignments, |_, row| read(one, row) == read(other, row))
            }
            (Some(Ok(known)), None) | (None, Some(Ok(known))) => {
                let wanted = if side(self, left).is_none() { left } else { right };
                self.check_growth(
                    assignments.n_rows * (assignments.width() + 1),
                    assignments.n_rows,
                )?;
                let mut columns = assignments.columns.clone();
                columns.extend(variables_of(&[wanted]));
                let mut cells = Vec::with_capacity(assignments.n_rows * columns.len());
                for place in 0..assignments.n_rows {
                    let row = assignments.row(place);
                    cells.extend_from_slice(row);
                    cells.push(read(known, row));
                }
                Ok(Table { columns, n_rows: assignments.n_rows, cells })
            }
            (None, None) => {
                let variables = variables_of(&[left]);
                let assignments = self.padded(assignments, &variables)?;
                if left == right { Ok(assignments) } else { self.equal(assignments, left, right) }
            }
        }
    }
}

pub(super) fn variables_of(slots: &[Slot]) -> Vec<Var> {
    let mut found = Vec::new();
    for slot in slots {
        if let Slot::Variable(variable) = slot
            && !found.contains(variable)
        {
            found.push(*variable);
        }
    }
    found
}

/// Returns an empty table that also has columns for these variables.
pub(super) fn widened(mut table: Table, variables: &[Var]) -> Table {
    debug_assert!(table.is_empty(), "rows would lack the new columns");
    for &variable in variables {
        if table.column(variable).is_none() {
            table.columns.push(variable);
        }
    }
    table
}

/// Writes the values of the known columns of an atom for one assignment.
fn fill_key(key: &mut [u32], known: &[usize], sources: &[ColumnSource], row: &[u32]) {
    for (cell, &place) in key.iter_mut().zip(known) {
        *cell = match sources[place] {
            ColumnSource::Column(column) => row[column],
            ColumnSource::Value(value) => value,
            ColumnSource::New | ColumnSource::Again(_) => {
                unreachable!("known columns have a value")
            }
        };
    }
}
