//! Grounds atoms into tables of signals: changing relations, stable relations, defined relations,
//! equality.

use std::collections::BTreeMap;
use std::rc::Rc;

use agon_circuit::Signal;
use agon_structures::formula::{Argument, Formula, Name, Variable};
use agon_structures::structure::RelationId;

use super::NoCircuit;
use super::ground::{Grounder, Index, restricted};
use super::table::Table;

impl Grounder<'_> {
    pub(super) fn atom(
        &mut self,
        name: &Name,
        arguments: &[Argument],
        given: &Table,
    ) -> Result<Table, NoCircuit> {
        if let Some((_, parameters, table)) =
            self.bound.iter().rev().find(|entry| &entry.0 == name).cloned()
        {
            let arguments: Vec<Argument> =
                parameters.iter().map(Argument::from).chain(arguments.iter().cloned()).collect();
            return self.join(
                given,
                &arguments,
                table.rows.iter().map(|(row, &signal)| (row.clone(), signal)),
            );
        }
        if let Some(rows) = self.fluents.get(name).cloned() {
            return self.join(
                given,
                arguments,
                rows.iter().map(|(row, &signal)| (row.clone(), signal)),
            );
        }
        if let Some(definition) = self.definitions.get(name) {
            let definition = definition.clone();
            if self.expands_definitions
                || !self.is_range_restricted(&definition.body, &definition.variables)
            {
                return self.expanded(&definition.variables, &definition.body, arguments, given);
            }
            let table = self.defined(name)?;
            return self.join(
                given,
                arguments,
                table.rows.iter().map(|(row, &signal)| (row.clone(), signal)),
            );
        }
        let structure = self.structure;
        let relation = structure.vocabulary().relation(name).expect("relations were checked");
        let is_plain = arguments.iter().enumerate().all(|(place, argument)| {
            argument.variable().is_some() && !arguments[..place].contains(argument)
        });
        if is_plain {
            return self.look_up(relation, arguments, given);
        }
        let rows = structure.tuples(relation).iter();
        self.join(
            given,
            arguments,
            rows.map(|row| (row.iter().map(|element| element.id()).collect(), Signal::TRUE)),
        )
    }

    /// Extends the assignments by the tuples of a stable relation whose arguments are different
    /// variables. An index on the known columns is built once.
    fn look_up(
        &mut self,
        relation: RelationId,
        arguments: &[Argument],
        given: &Table,
    ) -> Result<Table, NoCircuit> {
        let places: Vec<Option<usize>> = arguments
            .iter()
            .map(|argument| argument.variable().and_then(|variable| given.column(variable)))
            .collect();
        let is_known: Vec<bool> = places.iter().map(Option::is_some).collect();
        let index = match self.indexes.get(&(relation, is_known.clone())) {
            Some(index) => Rc::clone(index),
            None => {
                let mut index: Index = BTreeMap::new();
                for tuple in self.structure.tuples(relation).iter() {
                    let pick = |wanted: bool| {
                        tuple
                            .iter()
                            .zip(&is_known)
                            .filter(move |pair| *pair.1 == wanted)
                            .map(|pair| pair.0.id())
                    };
                    index.entry(pick(true).collect()).or_default().push(pick(false).collect());
                }
                let index = Rc::new(index);
                self.indexes.insert((relation, is_known), Rc::clone(&index));
                index
            }
        };
        let mut columns = given.columns.clone();
        let new = arguments.iter().zip(&places).filter(|pair| pair.1.is_none());
        columns.extend(new.filter_map(|pair| pair.0.variable()).cloned());
        let mut rows = BTreeMap::new();
        for row in given.rows.keys() {
            let key: Vec<u32> = places.iter().flatten().map(|&column| row[column]).collect();
            for rest in index.get(&key).into_iter().flatten() {
                rows.insert([row.as_slice(), rest].concat(), Signal::TRUE);
            }
            self.check(rows.len())?;
        }
        self.spend(rows.len())?;
        Ok(Table { columns, rows })
    }

    /// Grounds a defined relation as a whole.
    fn defined(&mut self, name: &Name) -> Result<Rc<Table>, NoCircuit> {
        if let Some(table) = self.defined.get(name) {
            return Ok(Rc::clone(table));
        }
        let definition = self.definitions.get(name).expect("it is defined").clone();
        let body = self.prepare(&definition.body)?;
        // The bound relations belong to the place of use; a definition does not see them.
        let bound = std::mem::take(&mut self.bound);
        let table = self.extend(&body, &Table::unit());
        self.bound = bound;
        let table = self.padded(&table?, &definition.variables.iter().cloned().collect())?;
        let places: Vec<usize> = definition
            .variables
            .iter()
            .map(|variable| table.column(variable).expect("padding adds all columns"))
            .collect();
        let table = Rc::new(table.projected(&places, &mut self.builder));
        self.defined.insert(name.clone(), Rc::clone(&table));
        Ok(table)
    }

    /// Returns whether positive atoms bind all the variables, so that the relation has few tuples.
    fn is_range_restricted(&mut self, body: &Formula, variables: &[Variable]) -> bool {
        let Ok(body) = self.prepare(body) else { return false };
        let restricted = restricted(&body);
        variables.len() <= 1 || variables.iter().all(|variable| restricted.contains(variable))
    }

    /// Grounds a definition only for the given assignments.
    fn expanded(
        &mut self,
        variables: &[Variable],
        body: &Formula,
        arguments: &[Argument],
        given: &Table,
    ) -> Result<Table, NoCircuit> {
        let body = self.prepare(body)?;
        // The given assignments in the definition's own variables: one column for each known
        // argument.
        let mut asked = Table::unit();
        asked.rows.clear();
        let known: Vec<usize> = (0..arguments.len())
            .filter(|&place| match &arguments[place] {
                Argument::Variable(variable) => given.column(variable).is_some(),
                Argument::Constant(_) => true,
            })
            .collect();
        asked.columns = known.iter().map(|&place| variables[place].clone()).collect();
        for row in given.rows.keys() {
            if let Some(key) = self.key(arguments, &known, given, row) {
                asked.rows.insert(key, Signal::TRUE);
            }
        }
        let bound = std::mem::take(&mut self.bound);
        let found = self.extend(&body, &asked);
        self.bound = bound;
        let found = self.padded(&found?, &variables.iter().cloned().collect())?;
        let places: Vec<usize> = variables
            .iter()
            .map(|variable| found.column(variable).expect("padding adds all columns"))
            .collect();
        let found = found.projected(&places, &mut self.builder);
        self.join(given, arguments, found.rows.into_iter())
    }

    /// Returns the elements of the arguments at these places under an assignment. `None` if a
    /// constant has no element.
    fn key(
        &self,
        arguments: &[Argument],
        places: &[usize],
        given: &Table,
        row: &[u32],
    ) -> Option<Vec<u32>> {
        let value = |&place: &usize| match &arguments[place] {
            Argument::Variable(variable) => given.column(variable).map(|column| row[column]),
            Argument::Constant(name) => self.constant(name),
        };
        places.iter().map(value).collect()
    }

    /// Extends the assignments by the tuples of a relation.
    pub(super) fn join(
        &mut self,
        given: &Table,
        arguments: &[Argument],
        tuples: impl Iterator<Item = (Vec<u32>, Signal)>,
    ) -> Result<Table, NoCircuit> {
        let mut columns = given.columns.clone();
        let mut known = Vec::new();
        let mut fresh: Vec<usize> = Vec::new();
        for (place, argument) in arguments.iter().enumerate() {
            match argument {
                Argument::Constant(_) => known.push(place),
                Argument::Variable(variable) if given.column(variable).is_some() => {
                    known.push(place);
                }
                Argument::Variable(variable) => {
                    if !columns.contains(variable) {
                        columns.push(variable.clone());
                        fresh.push(place);
                    }
                }
            }
        }
        // Tuples by their known columns, with the new columns. Repeated variables must have equal
        // elements.
        let mut index: BTreeMap<Vec<u32>, Vec<(Vec<u32>, Signal)>> = BTreeMap::new();
        let mut n_tuples = 0;
        for (tuple, signal) in tuples {
            n_tuples += 1;
            let agrees = arguments.iter().enumerate().all(|(place, argument)| {
                let first = arguments.iter().position(|other| other == argument);
                first.is_none_or(|first| tuple[first] == tuple[place])
            });
            if agrees && signal != Signal::FALSE {
                let key = known.iter().map(|&place| tuple[place]).collect();
                let rest = fresh.iter().map(|&place| tuple[place]).collect();
                index.entry(key).or_default().push((rest, signal));
            }
        }
        self.spend(n_tuples)?;
        let mut rows = BTreeMap::new();
        for row in given.rows.keys() {
            let key = self.key(arguments, &known, given, row);
            let Some(found) = key.and_then(|key| index.get(&key)) else { continue };
            for (rest, signal) in found {
                rows.insert([row.as_slice(), rest].concat(), *signal);
            }
            self.check(rows.len())?;
        }
        self.spend(rows.len())?;
        Ok(Table { columns, rows })
    }

    pub(super) fn equal(
        &mut self,
        left: &Argument,
        right: &Argument,
        given: &Table,
    ) -> Result<Table, NoCircuit> {
        // Equality as a relation: each element with itself.
        let same: Vec<(Vec<u32>, Signal)> =
            self.elements.iter().map(|&element| (vec![element, element], Signal::TRUE)).collect();
        self.join(given, &[left.clone(), right.clone()], same.into_iter())
    }
}
