//! Grounds formulas into gates.
//!
//! There is one operation, as in `agon_structures::evaluate`: extend given assignments to the free
//! variables of a formula. Each extension with which the formula may hold comes with the signal
//! that is true when it holds.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use agon_circuit::{Builder, Signal};
use agon_structures::formula::{Argument, Definitions, Formula, Fresh, Name, Variable};
use agon_structures::normal_form::nnf;
use agon_structures::structure::{Element, RelationId, Structure};

use super::table::{Table, any};
use super::{CircuitLimits, NoCircuit};

/// Grounds formulas into gates, for one state of the changing relations.
pub(super) struct Grounder<'a> {
    pub(super) builder: Builder,
    pub(super) structure: &'a Structure,
    pub(super) limits: &'a CircuitLimits,
    pub(super) definitions: &'a Definitions,
    /// The possible tuples of each changing relation with their signals.
    pub(super) fluents: BTreeMap<Name, Rc<BTreeMap<Vec<u32>, Signal>>>,
    /// Defined relations that have been grounded.
    pub(super) defined: BTreeMap<Name, Rc<Table>>,
    /// Whether defined relations are expanded at each use, because only few of their tuples matter.
    pub(super) expands_definitions: bool,
    /// Relations of the enclosing fixed points, with their parameters.
    pub(super) bound: Vec<(Name, Vec<Variable>, Rc<Table>)>,
    prepared: BTreeMap<Formula, Rc<Formula>>,
    work: u64,
    pub(super) elements: Vec<u32>,
    /// Indexes of stable relations, by the columns that are known.
    pub(super) indexes: BTreeMap<(RelationId, Vec<bool>), Rc<Index>>,
}

/// The unknown columns of each tuple, by its known columns.
pub(super) type Index = BTreeMap<Vec<u32>, Vec<Vec<u32>>>;

/// Number of examined assignments between two readings of the clock.
const CLOCK_PERIOD: u64 = 256;

impl<'a> Grounder<'a> {
    pub(super) fn new(
        builder: Builder,
        structure: &'a Structure,
        definitions: &'a Definitions,
        limits: &'a CircuitLimits,
    ) -> Grounder<'a> {
        Grounder {
            builder,
            structure,
            limits,
            definitions,
            fluents: BTreeMap::new(),
            defined: BTreeMap::new(),
            expands_definitions: false,
            bound: Vec::new(),
            prepared: BTreeMap::new(),
            work: 0,
            indexes: BTreeMap::new(),
            elements: structure.elements().map(Element::id).collect(),
        }
    }

    /// Brings a formula into the form that [`Grounder::extend`] takes: no `let`s, no universal
    /// quantifiers, no variable bound twice.
    pub(super) fn prepare(&mut self, formula: &Formula) -> Result<Rc<Formula>, NoCircuit> {
        if let Some(known) = self.prepared.get(formula) {
            return Ok(Rc::clone(known));
        }
        if let Some(variable) = formula.quantified_beyond_elements() {
            let what = format!("a quantifier over `{variable}`, which is not an element");
            return Err(NoCircuit::Unsupported(what));
        }
        let plain = without_universal(&nnf(&formula.without_lets(self.limits.parts)?));
        let plain = Rc::new(plain.with_distinct_binders(&mut Fresh::default()));
        self.prepared.insert(formula.clone(), Rc::clone(&plain));
        Ok(plain)
    }

    pub(super) fn spend(&mut self, n_rows: usize) -> Result<(), NoCircuit> {
        let before = self.work;
        self.work += n_rows as u64 + 1;
        if self.work > self.limits.work {
            Err(NoCircuit::Work(self.limits.work))
        } else if before / CLOCK_PERIOD != self.work / CLOCK_PERIOD
            && self.limits.interrupt.is_due()
        {
            Err(NoCircuit::Interrupted)
        } else {
            Ok(())
        }
    }

    pub(super) fn check(&self, n_rows: usize) -> Result<(), NoCircuit> {
        if self.builder.n_ands() > self.limits.gates {
            Err(NoCircuit::Gates(self.limits.gates))
        } else if n_rows > self.limits.rows {
            Err(NoCircuit::TooLarge(self.limits.rows))
        } else {
            Ok(())
        }
    }

    /// Extends assignments to the free variables of the formula, each with the signal that the
    /// formula holds. The columns of the given assignments come first. Their own signals are
    /// ignored.
    pub(super) fn extend(&mut self, formula: &Formula, given: &Table) -> Result<Table, NoCircuit> {
        self.check(given.rows.len())?;
        self.spend(given.rows.len())?;
        if given.rows.is_empty() {
            let mut columns = given.columns.clone();
            columns.extend(
                self.free_of(formula).into_iter().filter(|free| given.column(free).is_none()),
            );
            return Ok(Table { columns, rows: BTreeMap::new() });
        }
        match formula {
            Formula::Relation(name, arguments) => self.atom(name, arguments, given),
            Formula::Equal(left, right) => self.equal(left, right, given),
            Formula::Member(_, set) => {
                Err(NoCircuit::Unsupported(format!("membership in the set `{set}`")))
            }
            Formula::Compare(left, sign, right) => {
                let given = self.padded(&given.always(), &self.free_of(formula))?;
                let mut rows = BTreeMap::new();
                for row in given.rows.keys() {
                    let signal = self.comparison(left, *sign, right, &given.columns, row)?;
                    if signal != Signal::FALSE {
                        rows.insert(row.clone(), signal);
                    }
                }
                Ok(Table { columns: given.columns, rows })
            }
            Formula::Not(inner) => {
                let free = self.free_of(inner);
                let given = self.padded(&given.always(), &free)?;
                let places = places_of(&given, &free);
                let asked = given.projected(&places, &mut self.builder);
                let holds = self.extend(inner, &asked)?;
                debug_assert_eq!(holds.columns, asked.columns, "all free variables were given");
                let mut rows = BTreeMap::new();
                for row in given.rows.keys() {
                    let key: Vec<u32> = places.iter().map(|&place| row[place]).collect();
                    let signal = holds.rows.get(&key).map_or(Signal::TRUE, |&holds| !holds);
                    if signal != Signal::FALSE {
                        rows.insert(row.clone(), signal);
                    }
                }
                Ok(Table { columns: given.columns, rows })
            }
            Formula::And(parts) => self.conjunction(parts, given),
            Formula::Or(parts) => {
                let free = self.free_of(formula);
                let mut columns = given.columns.clone();
                columns.extend(
                    free.iter().filter(|variable| given.column(variable).is_none()).cloned(),
                );
                let mut ways: BTreeMap<Vec<u32>, Vec<Signal>> = BTreeMap::new();
                for part in parts {
                    let case = self.extend(part, given)?;
                    let case = self.padded(&case, &free)?;
                    let places: Vec<usize> = columns
                        .iter()
                        .map(|column| case.column(column).expect("padding adds all columns"))
                        .collect();
                    for (row, signal) in case.rows {
                        ways.entry(places.iter().map(|&place| row[place]).collect())
                            .or_default()
                            .push(signal);
                    }
                }
                self.check(ways.len())?;
                let rows = ways
                    .into_iter()
                    .map(|(row, mut signals)| (row, any(&mut self.builder, &mut signals)));
                Ok(Table { columns, rows: rows.collect() })
            }
            Formula::Exists(variables, inner) => self.exists(formula, variables, inner, given),
            Formula::Closure(closure) => self.closure(closure, given),
            Formula::Fix(fix) => self.fix(fix, given),
            Formula::All(..) | Formula::Let(_) => unreachable!("formulas are prepared"),
        }
    }

    /// Returns the free variables, including the parameters of bound relations that the formula
    /// uses.
    pub(super) fn free_of(&self, formula: &Formula) -> BTreeSet<Variable> {
        let mut free = formula.free_variables();
        if self.bound.iter().any(|entry| !entry.1.is_empty()) {
            for name in formula.free_relations().keys() {
                if let Some(entry) = self.bound.iter().rev().find(|entry| &entry.0 == name) {
                    free.extend(entry.1.iter().cloned());
                }
            }
        }
        free
    }

    /// Adds a column with all elements for each of these variables that has no column yet.
    pub(super) fn padded(
        &self,
        table: &Table,
        variables: &BTreeSet<Variable>,
    ) -> Result<Table, NoCircuit> {
        let mut table = table.clone();
        for variable in variables {
            if table.column(variable).is_some() {
                continue;
            }
            self.check(table.rows.len().saturating_mul(self.elements.len()))?;
            let mut rows = BTreeMap::new();
            for (row, &signal) in &table.rows {
                for &element in &self.elements {
                    let mut row = row.clone();
                    row.push(element);
                    rows.insert(row, signal);
                }
            }
            table.columns.push(variable.clone());
            table.rows = rows;
        }
        Ok(table)
    }

    /// Returns the element that a constant names, if there is one.
    pub(super) fn constant(&self, name: &Name) -> Option<u32> {
        let id = self.structure.vocabulary().constant(name)?;
        self.structure.constant(id).map(Element::id)
    }

    fn conjunction(&mut self, parts: &[Formula], given: &Table) -> Result<Table, NoCircuit> {
        let mut left: Vec<&Formula> = parts.iter().collect();
        let mut table = given.always();
        while !left.is_empty() {
            let mut best = 0;
            if left.len() > 1 {
                let estimates: Vec<f64> =
                    left.iter().map(|part| self.estimate(part, &table.columns)).collect();
                best = (0..left.len())
                    .min_by(|&a, &b| estimates[a].total_cmp(&estimates[b]))
                    .unwrap_or(0);
            }
            let wider = self.extend(left.remove(best), &table)?;
            table = table.narrowed_by(wider, &mut self.builder);
        }
        Ok(table)
    }

    fn exists(
        &mut self,
        formula: &Formula,
        variables: &[Variable],
        inner: &Formula,
        given: &Table,
    ) -> Result<Table, NoCircuit> {
        let idle = variables.iter().any(|variable| !inner.free_variables().contains(variable));
        if idle && self.elements.is_empty() {
            return self.extend(&Formula::falsity(), given);
        }
        let free = self.free_of(formula);
        let places: Vec<usize> = (0..given.columns.len())
            .filter(|&place| free.contains(&given.columns[place]))
            .collect();
        let asked = given.always().projected(&places, &mut self.builder);
        let found = self.extend(inner, &asked)?;
        let kept: Vec<usize> = (0..found.columns.len())
            .filter(|&place| !variables.contains(&found.columns[place]))
            .collect();
        let found = found.projected(&kept, &mut self.builder);
        let arguments: Vec<Argument> = found.columns.iter().map(Argument::from).collect();
        self.join(given, &arguments, found.rows.into_iter())
    }

    /// Estimates how many extensions an assignment to the known columns has; below one for formulas
    /// that only filter.
    fn estimate(&self, formula: &Formula, known: &[Variable]) -> f64 {
        let n_elements = self.elements.len().max(1) as f64;
        let n_wanted = formula.free_variables().iter().filter(|free| !known.contains(free)).count();
        let everything = (0..n_wanted).fold(1.0, |product, _| product * n_elements);
        let of_rows = |n_rows: usize, arguments: &[Argument]| {
            let n_known = arguments.iter().filter(|argument| match argument {
                Argument::Variable(variable) => known.contains(variable),
                Argument::Constant(_) => true,
            });
            n_known.fold(n_rows as f64, |estimate, _| estimate / n_elements)
        };
        match formula {
            Formula::Relation(name, arguments) => {
                if let Some(rows) = self.fluents.get(name) {
                    // Stable relations come first, because they make no gates.
                    return of_rows(rows.len(), arguments) + 0.3;
                }
                match self.structure.vocabulary().relation(name) {
                    Some(relation) if self.definitions.get(name).is_none() => {
                        of_rows(self.structure.tuples(relation).len(), arguments)
                    }
                    _ => everything * 0.6 + 0.4,
                }
            }
            Formula::Equal(..) | Formula::Member(..) => {
                if n_wanted == 0 {
                    1.0 / n_elements
                } else {
                    everything * 0.1
                }
            }
            Formula::Not(_) | Formula::Compare(..) => {
                if n_wanted == 0 {
                    0.5
                } else {
                    everything * 4.0
                }
            }
            Formula::And(parts) => {
                let mut known = known.to_vec();
                let mut product = 1.0;
                for part in parts {
                    product *= self.estimate(part, &known);
                    known.extend(part.free_variables());
                }
                f64::min(product, everything).max(0.4)
            }
            Formula::Or(parts) => {
                let sum: f64 = parts.iter().map(|part| self.estimate(part, known)).sum();
                f64::min(sum, everything * 2.0).max(0.5)
            }
            Formula::Exists(_, inner) => f64::min(self.estimate(inner, known), everything).max(0.5),
            Formula::All(..) | Formula::Fix(_) | Formula::Closure(_) | Formula::Let(_) => {
                everything * 0.8 + 0.6
            }
        }
    }
}

pub(super) fn places_of(table: &Table, variables: &BTreeSet<Variable>) -> Vec<usize> {
    (0..table.columns.len()).filter(|&place| variables.contains(&table.columns[place])).collect()
}

/// Replaces universal quantifiers by negated existential ones.
fn without_universal(formula: &Formula) -> Formula {
    let all = |parts: &[Formula]| parts.iter().map(without_universal).collect();
    match formula {
        Formula::All(variables, inner) => {
            let exception = without_universal(&nnf(&Formula::not((**inner).clone())));
            Formula::not(Formula::exists(variables, exception))
        }
        Formula::Exists(variables, inner) => Formula::exists(variables, without_universal(inner)),
        Formula::Not(inner) => Formula::not(without_universal(inner)),
        Formula::And(parts) => Formula::And(all(parts)),
        Formula::Or(parts) => Formula::Or(all(parts)),
        Formula::Fix(fix) => {
            let mut fix = fix.clone();
            fix.body = without_universal(&fix.body);
            Formula::Fix(fix)
        }
        Formula::Closure(closure) => {
            let mut closure = closure.clone();
            closure.body = without_universal(&closure.body);
            Formula::Closure(closure)
        }
        Formula::Relation(..)
        | Formula::Equal(..)
        | Formula::Member(..)
        | Formula::Compare(..)
        | Formula::Let(_) => formula.clone(),
    }
}

/// Returns the variables that a positive atom binds wherever the formula holds.
pub(super) fn restricted(formula: &Formula) -> BTreeSet<Variable> {
    match formula {
        Formula::Relation(_, arguments) => {
            arguments.iter().filter_map(Argument::variable).cloned().collect()
        }
        Formula::And(parts) => parts.iter().flat_map(restricted).collect(),
        Formula::Or(parts) => {
            let mut parts = parts.iter().map(restricted);
            let first = parts.next().unwrap_or_default();
            parts.fold(first, |common, part| common.intersection(&part).cloned().collect())
        }
        Formula::Exists(variables, inner) => {
            let mut restricted = restricted(inner);
            restricted.retain(|variable| !variables.contains(variable));
            restricted
        }
        Formula::Equal(..)
        | Formula::Member(..)
        | Formula::Compare(..)
        | Formula::Not(_)
        | Formula::All(..)
        | Formula::Fix(_)
        | Formula::Closure(_)
        | Formula::Let(_) => BTreeSet::new(),
    }
}
