//! Grounds formulas about sets.
//!
//! As in `solve`, there is one operation: extend given assignments to the free variables of a
//! formula. Here, each extended assignment has a signal of the network that tells whether the
//! formula holds. Assignments for which it does not hold for any sets are left out.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::network::{Network, Signal};
use crate::evaluate::EvaluationError;
use crate::evaluate::join::widened;
use crate::evaluate::program::{Node, NodeId, Program, SetVar, Slot, Var};
use crate::evaluate::solve::Run;
use crate::evaluate::table::Table;

/// Distinct assignments, each with the signal that it counts.
pub(super) struct Weighed {
    pub(super) table: Table,
    pub(super) signals: Vec<Signal>,
}

impl Weighed {
    fn new(columns: Vec<Var>) -> Weighed {
        Weighed { table: Table::empty(columns), signals: Vec::new() }
    }

    fn push(&mut self, row: impl IntoIterator<Item = u32>, signal: Signal) {
        if signal != Signal::FALSE {
            self.table.cells.extend(row);
            self.table.n_rows += 1;
            self.signals.push(signal);
        }
    }
}

pub(super) struct Grounder<'g, 'a> {
    pub(super) run: &'g mut Run<'a>,
    pub(super) program: &'a Program,
    pub(super) network: Network,
    /// The first input of each set. The inputs of a set are in the order of the elements.
    sets: BTreeMap<SetVar, u32>,
    elements: Arc<[u32]>,
}

impl<'g, 'a> Grounder<'g, 'a> {
    pub(super) fn new(run: &'g mut Run<'a>) -> Grounder<'g, 'a> {
        let elements = run.store.elements(run.structure);
        let network = Network::new(run.limits.gates);
        let program = run.program;
        Grounder { run, program, network, sets: BTreeMap::new(), elements }
    }

    /// Returns the number of elements, which is the number of inputs of a set.
    pub(super) fn n_elements(&self) -> usize {
        self.elements.len()
    }

    /// Adds inputs for these sets and returns the first one.
    pub(super) fn bind(&mut self, sets: &[SetVar]) -> Result<u32, EvaluationError> {
        let n_elements = self.elements.len();
        let first = self.network.inputs(n_elements.saturating_mul(sets.len()))?;
        for (place, &set) in sets.iter().enumerate() {
            self.sets.insert(set, first + (place * n_elements) as u32);
        }
        Ok(first)
    }

    /// Extends the assignments to the free variables of the formula.
    pub(super) fn ground(&mut self, id: NodeId, given: &Table) -> Result<Weighed, EvaluationError> {
        let program = self.program;
        self.run.spend(1 + given.n_rows)?;
        if given.is_empty() {
            let table = widened(given.clone(), program.free(id));
            return Ok(Weighed { table, signals: Vec::new() });
        }
        if program.sets(id).is_empty() {
            let table = self.run.extend(id, given.clone())?;
            let signals = vec![Signal::TRUE; table.n_rows];
            return Ok(Weighed { table, signals });
        }
        stacker::maybe_grow(128 << 10, 1 << 20, || match program.node(id) {
            Node::Member(slot, set) => self.member(*slot, *set, given),
            Node::Compare(left, sign, right) => {
                let table = self.run.padded(given.clone(), program.free(id))?;
                let signals = self.comparisons(*left, *sign, *right, &table)?;
                Ok(possible(table, signals))
            }
            Node::Not(inner) => {
                let table = self.run.padded(given.clone(), program.free(id))?;
                let signals = self.truth(*inner, &table)?;
                Ok(possible(table, signals.into_iter().map(|signal| !signal).collect()))
            }
            Node::And(parts) => self.conjunction(id, parts, given),
            Node::Or(parts) => self.disjunction(id, parts, given),
            Node::Exists(variables, inner) => self.exists(id, variables, *inner, given),
            Node::Sets(sets, inner) => {
                let table = self.run.padded(given.clone(), program.free(id))?;
                let signals = self.some_sets(sets, *inner, &table)?;
                Ok(possible(table, signals))
            }
            Node::Closure(_) => Err(EvaluationError::SetsInside("a transitive closure")),
            Node::Fix(_) | Node::Atom(..) | Node::Equal(..) => {
                Err(EvaluationError::SetsInside("a fixed point"))
            }
        })
    }

    /// Returns for each assignment to all free variables of the formula the signal that it holds.
    pub(super) fn truth(
        &mut self,
        id: NodeId,
        assignments: &Table,
    ) -> Result<Vec<Signal>, EvaluationError> {
        let places = places(assignments, self.program.free(id));
        let found = self.ground(id, &assignments.projected(&places))?;
        let columns: Vec<Var> = places.iter().map(|&place| assignments.columns[place]).collect();
        let signals = by_key(&found, &columns);
        self.run.spend(assignments.n_rows)?;
        Ok((0..assignments.n_rows)
            .map(|row| {
                let key = picked(assignments.row(row), &places);
                signals.get(&key).copied().unwrap_or(Signal::FALSE)
            })
            .collect())
    }

    fn member(
        &mut self,
        slot: Slot,
        set: SetVar,
        given: &Table,
    ) -> Result<Weighed, EvaluationError> {
        let first = self.sets[&set];
        let input = |grounder: &mut Grounder<'_, '_>, element: u32| {
            let place = grounder.elements.binary_search(&element);
            place.map_or(Ok(Signal::FALSE), |place| grounder.network.input(first + place as u32))
        };
        match slot {
            Slot::Constant(_) => {
                let element = self.run.constant(slot).flatten();
                let signal = element.map_or(Ok(Signal::FALSE), |element| input(self, element))?;
                Ok(possible(given.clone(), vec![signal; given.n_rows]))
            }
            Slot::Variable(variable) => {
                let table = self.run.padded(given.clone(), &[variable])?;
                let column = table.column(variable).expect("padding adds the column");
                let mut signals = Vec::with_capacity(table.n_rows);
                for row in 0..table.n_rows {
                    signals.push(input(self, table.row(row)[column])?);
                }
                Ok(possible(table, signals))
            }
        }
    }

    /// Grounds a quantifier over sets inside another one. Each assignment has its own sets.
    fn some_sets(
        &mut self,
        sets: &[SetVar],
        inner: NodeId,
        assignments: &Table,
    ) -> Result<Vec<Signal>, EvaluationError> {
        let places = places(assignments, self.program.free(inner));
        let asked = assignments.projected(&places);
        let mut known = BTreeMap::new();
        for row in 0..asked.n_rows {
            let row = asked.row(row).to_vec();
            let one = Table { columns: asked.columns.clone(), n_rows: 1, cells: row.clone() };
            let first = self.bind(sets)?;
            let n_inputs = sets.len() * self.elements.len();
            let body = self.ground(inner, &one)?.signals.first().copied();
            let signal = self.network.exists(first, n_inputs, body.unwrap_or(Signal::FALSE))?;
            known.insert(row, signal);
        }
        let signal = |row: usize| known[&picked(assignments.row(row), &places)];
        Ok((0..assignments.n_rows).map(signal).collect())
    }

    /// Grounds a conjunction. Parts without sets come first, because they restrict the assignments
    /// without gates, then parts whose variables are all known.
    fn conjunction(
        &mut self,
        id: NodeId,
        parts: &[NodeId],
        given: &Table,
    ) -> Result<Weighed, EvaluationError> {
        let program = self.program;
        let (plain, mut left): (Vec<NodeId>, Vec<NodeId>) =
            parts.iter().partition(|&&part| program.sets(part).is_empty());
        let mut table = self.run.conjunction(&plain, given.clone(), &[])?;
        let mut conjuncts: Vec<Vec<Signal>> = vec![Vec::new(); table.n_rows];
        while !left.is_empty() {
            if table.is_empty() {
                return Ok(Weighed {
                    table: widened(table, program.free(id)),
                    signals: Vec::new(),
                });
            }
            let next = (0..left.len()).min_by_key(|&place| {
                let part = left[place];
                let free = program.free(part).iter();
                let n_unknown = free.filter(|free| table.column(**free).is_none()).count();
                (n_unknown, matches!(program.node(part), Node::Not(_) | Node::Sets(..)))
            });
            let part = left.remove(next.unwrap_or(0));
            let found = self.ground(part, &table)?;
            let columns = table.columns.clone();
            let rows: BTreeMap<&[u32], usize> =
                (0..table.n_rows).map(|place| (table.row(place), place)).collect();
            let places: Vec<usize> = columns
                .iter()
                .map(|&column| found.table.column(column).expect("columns are kept"))
                .collect();
            let mut extended = Vec::with_capacity(found.table.n_rows);
            for (place, &signal) in found.signals.iter().enumerate() {
                let key = picked(found.table.row(place), &places);
                let mut signals = conjuncts[rows[&key[..]]].clone();
                signals.push(signal);
                extended.push(signals);
            }
            self.run.spend(found.table.cells.len() + extended.len())?;
            (table, conjuncts) = (found.table, extended);
        }
        let mut signals = Vec::with_capacity(table.n_rows);
        for conjuncts in conjuncts {
            signals.push(self.network.all(conjuncts)?);
        }
        Ok(possible(table, signals))
    }

    fn disjunction(
        &mut self,
        id: NodeId,
        parts: &[NodeId],
        given: &Table,
    ) -> Result<Weighed, EvaluationError> {
        let free = self.program.free(id);
        let mut columns = given.columns.clone();
        columns.extend(free.iter().filter(|free| given.column(**free).is_none()));
        let mut cases: BTreeMap<Vec<u32>, Vec<Signal>> = BTreeMap::new();
        for &part in parts {
            let found = self.ground(part, given)?;
            let found = self.padded(found, free)?;
            let places: Vec<usize> = columns
                .iter()
                .map(|&column| found.table.column(column).expect("padding adds all columns"))
                .collect();
            self.run.check_growth(found.table.cells.len(), found.table.cells.len())?;
            for (row, &signal) in found.signals.iter().enumerate() {
                cases.entry(picked(found.table.row(row), &places)).or_default().push(signal);
            }
        }
        let mut united = Weighed::new(columns);
        for (row, signals) in cases {
            let signal = self.network.any(signals)?;
            united.push(row, signal);
        }
        Ok(united)
    }

    /// Adds a column with all elements for each of these variables that has no column yet.
    pub(super) fn padded(
        &mut self,
        found: Weighed,
        variables: &[Var],
    ) -> Result<Weighed, EvaluationError> {
        let n_before = found.table.n_rows;
        let table = self.run.padded(found.table, variables)?;
        // Padding replaces each row by the same number of rows.
        let copies = table.n_rows.checked_div(n_before).unwrap_or(0);
        let copied = |&signal: &Signal| std::iter::repeat_n(signal, copies);
        Ok(Weighed { signals: found.signals.iter().flat_map(copied).collect(), table })
    }

    fn exists(
        &mut self,
        id: NodeId,
        variables: &[Var],
        inner: NodeId,
        given: &Table,
    ) -> Result<Weighed, EvaluationError> {
        let program = self.program;
        let free_inside = program.free(inner);
        let is_idle = |variable: &Var| free_inside.binary_search(variable).is_err();
        if self.elements.is_empty() && variables.iter().any(is_idle) {
            // The structure has no elements, so the variable has no value.
            let table = widened(Table::empty(given.columns.clone()), program.free(id));
            return Ok(Weighed { table, signals: Vec::new() });
        }
        let known = places(given, program.free(id));
        let asked = given.projected(&known);
        let found = self.ground(inner, &asked)?;
        let columns = &found.table.columns;
        let own: Vec<usize> = asked
            .columns
            .iter()
            .map(|&column| found.table.column(column).expect("columns are kept"))
            .collect();
        let new: Vec<usize> = (0..columns.len())
            .filter(|place| !own.contains(place) && !variables.contains(&columns[*place]))
            .collect();
        self.run.spend(found.table.cells.len() + found.table.n_rows)?;
        let mut cases: BTreeMap<Vec<u32>, BTreeMap<Vec<u32>, Vec<Signal>>> = BTreeMap::new();
        for (row, &signal) in found.signals.iter().enumerate() {
            let row = found.table.row(row);
            let extensions = cases.entry(picked(row, &own)).or_default();
            extensions.entry(picked(row, &new)).or_default().push(signal);
        }
        let mut ways: BTreeMap<Vec<u32>, Vec<(Vec<u32>, Signal)>> = BTreeMap::new();
        for (row, extensions) in cases {
            let way = ways.entry(row).or_default();
            for (extension, signals) in extensions {
                way.push((extension, self.network.any(signals)?));
            }
        }
        let all_columns = given.columns.iter().copied().chain(new.iter().map(|&at| columns[at]));
        let mut projected = Weighed::new(all_columns.collect());
        for row in 0..given.n_rows {
            let row = given.row(row);
            for (extension, signal) in ways.get(&picked(row, &known)).into_iter().flatten() {
                projected.push(row.iter().chain(extension).copied(), *signal);
            }
            self.run.check_growth(projected.table.cells.len(), 1)?;
        }
        Ok(projected)
    }
}

/// Returns the places of those columns that are among the variables, which are sorted.
pub(super) fn places(table: &Table, variables: &[Var]) -> Vec<usize> {
    (0..table.width())
        .filter(|&place| variables.binary_search(&table.columns[place]).is_ok())
        .collect()
}

pub(super) fn picked(row: &[u32], places: &[usize]) -> Vec<u32> {
    places.iter().map(|&place| row[place]).collect()
}

/// Returns the signals by the values of all columns, in the given order.
fn by_key(found: &Weighed, columns: &[Var]) -> BTreeMap<Vec<u32>, Signal> {
    let places: Vec<usize> = columns
        .iter()
        .map(|&column| found.table.column(column).expect("columns are kept"))
        .collect();
    let signals = found.signals.iter().enumerate();
    signals.map(|(row, &signal)| (picked(found.table.row(row), &places), signal)).collect()
}

/// Leaves out the rows whose signal is false.
fn possible(table: Table, signals: Vec<Signal>) -> Weighed {
    if !signals.contains(&Signal::FALSE) {
        return Weighed { table, signals };
    }
    let mut kept = Weighed::new(table.columns.clone());
    for (row, &signal) in signals.iter().enumerate() {
        kept.push(table.row(row).iter().copied(), signal);
    }
    kept
}
