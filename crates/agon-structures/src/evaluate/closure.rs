//! Evaluates transitive closures by search from the known end.

use std::collections::BTreeMap;

use super::EvaluationError;
use super::join::{variables_of, widened};
use super::program::{Closure, Slot, Var};
use super::solve::Run;
use super::table::{Index, Table};

impl Run<'_> {
    pub(super) fn closure(
        &mut self,
        closure: &Closure,
        assignments: Table,
    ) -> Result<Table, EvaluationError> {
        let assignments = self.padded(assignments, &closure.parameters)?;
        let [from, to] = closure.arguments;
        if [from, to].iter().any(|&slot| self.constant(slot) == Some(None)) {
            let variables = variables_of(&[from, to]);
            return Ok(widened(Table::empty(assignments.columns), &variables));
        }
        let is_known = |table: &Table, slot: Slot| match slot {
            Slot::Variable(variable) => table.column(variable).is_some(),
            Slot::Constant(_) => true,
        };
        // Search backwards if only the end is known. If neither end is known, search from every
        // element.
        let backwards = !is_known(&assignments, from) && is_known(&assignments, to);
        let (start, end) = if backwards { (to, from) } else { (from, to) };
        let assignments = self.padded(assignments, &variables_of(&[start]))?;
        let steps = self.steps_of(closure, &assignments, backwards)?;
        let read = |run: &Run<'_>, table: &Table, slot: Slot, row: &[u32]| match slot {
            Slot::Variable(variable) => table.column(variable).map(|column| row[column]),
            Slot::Constant(_) => run.constant(slot).flatten(),
        };
        let parameter_columns: Vec<usize> = closure
            .parameters
            .iter()
            .map(|&parameter| assignments.column(parameter).expect("parameters are assigned"))
            .collect();
        let mut columns = assignments.columns.clone();
        let wanted = match end {
            Slot::Variable(variable) if assignments.column(variable).is_none() => {
                columns.push(variable);
                true
            }
            _ => false,
        };
        let mut reached: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
        let mut found = Table::empty(columns);
        for place in 0..assignments.n_rows {
            let row = assignments.row(place);
            let mut key: Vec<u32> = parameter_columns.iter().map(|&column| row[column]).collect();
            key.push(read(self, &assignments, start, row).expect("the start is known"));
            if !reached.contains_key(&key) {
                let ends = self.search(&key, steps.as_ref(), closure.max_steps)?;
                reached.insert(key.clone(), ends);
            }
            let ends = &reached[&key];
            if wanted {
                for &element in ends {
                    found.cells.extend_from_slice(row);
                    found.cells.push(element);
                }
                found.n_rows += ends.len();
                self.check_growth(found.cells.len(), ends.len())?;
            } else {
                let end = read(self, &assignments, end, row).expect("the end is known");
                self.spend(1)?;
                if ends.binary_search(&end).is_ok() {
                    found.cells.extend_from_slice(row);
                    found.n_rows += 1;
                }
            }
        }
        Ok(found)
    }

    /// Returns the steps for the parameter values that occur, indexed by parameters and start;
    /// `None` if there are no steps.
    fn steps_of(
        &mut self,
        closure: &Closure,
        assignments: &Table,
        backwards: bool,
    ) -> Result<Option<Index>, EvaluationError> {
        let places: Vec<usize> = closure
            .parameters
            .iter()
            .map(|&parameter| assignments.column(parameter).expect("parameters are assigned"))
            .collect();
        let steps = self.extend(closure.body, assignments.projected(&places))?;
        let (start, end) =
            if backwards { (closure.to, closure.from) } else { (closure.from, closure.to) };
        let steps = self.padded(steps, &[start, end])?;
        if steps.is_empty() {
            return Ok(None);
        }
        let order: Vec<Var> = closure.parameters.iter().copied().chain([start]).collect();
        let known: Vec<usize> = order
            .iter()
            .map(|&column| steps.column(column).expect("steps have all columns"))
            .collect();
        let rest = [steps.column(end).expect("steps have an end")];
        self.spend(steps.cells.len())?;
        // There are no further columns, because these are the free variables of the body.
        debug_assert_eq!(steps.width(), known.len() + 1, "parameters, start and end");
        Ok(Some(Index::new(&steps.cells, steps.width(), &known, &rest, self.structure.id_bound())))
    }

    /// Returns the elements reachable from the last element of the key, sorted. The others are
    /// parameters.
    fn search(
        &mut self,
        key: &[u32],
        steps: Option<&Index>,
        max_steps: u64,
    ) -> Result<Vec<u32>, EvaluationError> {
        let (parameters, start) = key.split_at(key.len() - 1);
        let mut seen = vec![false; self.structure.id_bound()];
        seen[start[0] as usize] = true;
        let mut ends = vec![start[0]];
        let mut frontier = 0;
        let mut n_steps = 0;
        let mut probe = parameters.to_vec();
        probe.push(start[0]);
        while let Some(steps) = steps
            && frontier < ends.len()
            && n_steps < max_steps
        {
            let round_end = ends.len();
            while frontier < round_end {
                probe[parameters.len()] = ends[frontier];
                frontier += 1;
                let mut n_seen = 1;
                for row in steps.find(&probe) {
                    n_seen += 1;
                    let end = row[row.len() - 1];
                    if !std::mem::replace(&mut seen[end as usize], true) {
                        ends.push(end);
                    }
                }
                self.spend(n_seen)?;
            }
            n_steps += 1;
        }
        ends.sort_unstable();
        Ok(ends)
    }
}
