//! Grounds closures and fixed points by unrolling them completely.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use agon_circuit::Signal;
use agon_structures::formula::{Argument, Closure, Extreme, Fix, Variable};

use super::NoCircuit;
use super::ground::{Grounder, places_of};
use super::table::{Table, any};

/// The steps that lead to each element, with their signals.
type StepsInto = BTreeMap<u32, Vec<(u32, Signal)>>;

impl Grounder<'_> {
    pub(super) fn closure(&mut self, closure: &Closure, given: &Table) -> Result<Table, NoCircuit> {
        let own = [closure.from.clone(), closure.to.clone()];
        let mut parameters = self.free_of(&closure.body);
        parameters.retain(|variable| !own.contains(variable));
        let mut wanted = parameters.clone();
        wanted.extend(closure.arguments[0].variable().cloned());
        // The start is known from here on; the end may be.
        let given = self.padded(&given.always(), &wanted)?;
        let places = places_of(&given, &parameters);
        let asked = given.projected(&places, &mut self.builder);
        let steps = self.extend(&closure.body, &asked)?;
        let steps = self.padded(&steps, &own.iter().cloned().collect())?;
        let from = steps.column(&closure.from).expect("padding adds all columns");
        let to = steps.column(&closure.to).expect("padding adds all columns");
        let mut by_parameters: BTreeMap<Vec<u32>, StepsInto> = BTreeMap::new();
        for (row, &signal) in &steps.rows {
            let into = by_parameters.entry(row[..places.len()].to_vec()).or_default();
            into.entry(row[to]).or_default().push((row[from], signal));
        }
        let max_steps = closure.bound.map(|bound| 1usize.checked_shl(bound).unwrap_or(usize::MAX));
        let mut reached: BTreeMap<(Vec<u32>, u32), BTreeMap<u32, Signal>> = BTreeMap::new();
        for row in given.rows.keys() {
            let key: Vec<u32> = places.iter().map(|&place| row[place]).collect();
            let start = match &closure.arguments[0] {
                Argument::Variable(variable) => given.column(variable).map(|column| row[column]),
                Argument::Constant(name) => self.constant(name),
            };
            let Some(start) = start else { continue };
            if !reached.contains_key(&(key.clone(), start)) {
                let none = StepsInto::new();
                let into = by_parameters.get(&key).unwrap_or(&none);
                let found = self.reach(into, start, max_steps)?;
                reached.insert((key, start), found);
            }
        }
        let mut columns = given.columns.clone();
        let end_column =
            closure.arguments[1].variable().and_then(|variable| given.column(variable));
        let adds = closure.arguments[1].variable().filter(|_| end_column.is_none());
        columns.extend(adds.cloned());
        let mut rows = BTreeMap::new();
        for row in given.rows.keys() {
            let key: Vec<u32> = places.iter().map(|&place| row[place]).collect();
            let start = match &closure.arguments[0] {
                Argument::Variable(variable) => given.column(variable).map(|column| row[column]),
                Argument::Constant(name) => self.constant(name),
            };
            let Some(found) = start.and_then(|start| reached.get(&(key, start))) else { continue };
            if adds.is_some() {
                for (&end, &signal) in found {
                    rows.insert([row.as_slice(), &[end]].concat(), signal);
                }
            } else {
                let end = match &closure.arguments[1] {
                    Argument::Variable(_) => end_column.map(|column| row[column]),
                    Argument::Constant(name) => self.constant(name),
                };
                if let Some(&signal) = end.and_then(|end| found.get(&end)) {
                    rows.insert(row.clone(), signal);
                }
            }
            self.check(rows.len())?;
        }
        Ok(Table { columns, rows })
    }

    /// Computes for each element the signal that it can be reached from the start.
    fn reach(
        &mut self,
        into: &StepsInto,
        start: u32,
        max_steps: Option<usize>,
    ) -> Result<BTreeMap<u32, Signal>, NoCircuit> {
        let mut found = BTreeMap::from([(start, Signal::TRUE)]);
        if max_steps.is_none()
            && let Some(order) = topological(into)
        {
            // The steps are acyclic: visit each element once, after all its predecessors.
            for end in order {
                if end == start {
                    continue;
                }
                let mut ways = Vec::new();
                for &(from, step) in into.get(&end).map_or(&[][..], Vec::as_slice) {
                    if let Some(&before) = found.get(&from) {
                        ways.push(self.builder.and(before, step));
                    }
                }
                let signal = any(&mut self.builder, &mut ways);
                if signal != Signal::FALSE {
                    found.insert(end, signal);
                }
            }
            self.check(found.len())?;
            return Ok(found);
        }
        // A path without repetitions visits each reachable element at most once, so this number of
        // rounds suffices.
        let rounds = into.len().min(max_steps.unwrap_or(usize::MAX));
        for _ in 0..rounds {
            let mut next = found.clone();
            for (&end, steps) in into {
                let mut ways: Vec<Signal> = found.get(&end).copied().into_iter().collect();
                for &(from, step) in steps {
                    if let Some(&before) = found.get(&from) {
                        ways.push(self.builder.and(before, step));
                    }
                }
                let signal = any(&mut self.builder, &mut ways);
                if signal != Signal::FALSE {
                    next.insert(end, signal);
                }
            }
            self.check(next.len())?;
            if next == found {
                break;
            }
            found = next;
        }
        Ok(found)
    }

    pub(super) fn fix(&mut self, fix: &Fix, given: &Table) -> Result<Table, NoCircuit> {
        // The relation may shadow that of an enclosing fixed point, whose parameters then do no
        // harm.
        let mut parameters = self.free_of(&fix.body);
        parameters.retain(|variable| !fix.variables.contains(variable));
        let parameters: Vec<Variable> = parameters.into_iter().collect();
        let columns: Vec<Variable> = parameters.iter().chain(&fix.variables).cloned().collect();
        let all: BTreeSet<Variable> = columns.iter().cloned().collect();
        let mut table = Table { columns: columns.clone(), rows: BTreeMap::new() };
        if fix.extreme == Extreme::Greatest {
            table = self.padded(&Table::unit(), &all)?;
            let places: Vec<usize> =
                columns.iter().filter_map(|column| table.column(column)).collect();
            table = table.projected(&places, &mut self.builder);
        }
        let mut table = Rc::new(table);
        let mut n_rounds = 0;
        loop {
            self.bound.push((fix.relation.clone(), parameters.clone(), Rc::clone(&table)));
            let next = self.extend(&fix.body, &Table::unit());
            self.bound.pop();
            let next = self.padded(&next?, &all)?;
            let places: Vec<usize> =
                columns.iter().filter_map(|column| next.column(column)).collect();
            let next = next.projected(&places, &mut self.builder);
            self.check(next.rows.len())?;
            n_rounds += 1;
            // Each round except the last fixes at least one tuple, so the number of tuples bounds
            // the number of rounds.
            let n_tuples = next.rows.len().max(table.rows.len());
            let is_done = next.rows == table.rows || n_rounds > n_tuples;
            table = Rc::new(next);
            if is_done {
                break;
            }
        }
        let arguments: Vec<Argument> =
            parameters.iter().map(Argument::from).chain(fix.arguments.iter().cloned()).collect();
        self.join(given, &arguments, table.rows.iter().map(|(row, &signal)| (row.clone(), signal)))
    }
}

/// Returns the elements in topological order, or `None` if the steps contain a cycle.
fn topological(into: &StepsInto) -> Option<Vec<u32>> {
    let mut nodes: BTreeSet<u32> = into.keys().copied().collect();
    nodes.extend(into.values().flatten().map(|step| step.0));
    let mut n_before: BTreeMap<u32, usize> = nodes.iter().map(|&node| (node, 0)).collect();
    let mut after: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&end, steps) in into {
        for &(from, _) in steps {
            if from == end {
                // The closure is reflexive, so a loop adds nothing.
                continue;
            }
            *n_before.entry(end).or_default() += 1;
            after.entry(from).or_default().push(end);
        }
    }
    let mut free: Vec<u32> =
        n_before.iter().filter(|entry| *entry.1 == 0).map(|entry| *entry.0).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(node) = free.pop() {
        order.push(node);
        for &end in after.get(&node).map_or(&[][..], Vec::as_slice) {
            let left = n_before.get_mut(&end).expect("every end is a node");
            *left -= 1;
            if *left == 0 {
                free.push(end);
            }
        }
    }
    (order.len() == nodes.len()).then_some(order)
}
