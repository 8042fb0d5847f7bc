//! Extends sets of assignments by one formula after the other.
//!
//! There is one operation: extend given assignments to the free variables of a formula so that it
//! holds. Known values restrict the search: atoms are looked up by their known columns, negations
//! and comparisons only filter. All elements are tried only for variables that nothing else has
//! bound before.

use std::sync::Arc;

use agon_reals::interrupt::Interrupt;

use crate::rational::Rational;
use crate::structure::Structure;

use super::join::{ColumnSource, variables_of, widened};
use super::program::{Fix, Node, NodeId, Program, Slot, Source, Var};
use super::store::{Rows, Store};
use super::table::{Index, Table, merged, sorted_distinct};
use super::{EvaluationError, Limits};

/// One evaluation.
pub(super) struct Run<'a> {
    pub(super) program: &'a Program,
    pub(super) structure: &'a Structure,
    pub(super) store: &'a mut Store,
    pub(super) limits: Limits,
    pub(super) interrupt: &'a Interrupt,
    /// The values of real variables from the caller.
    pub(super) given: &'a [Rational],
    bound: Vec<Option<Arc<Rows>>>,
    steps: u64,
    pub(super) conflicts: u64,
    /// Cells written, plus a constant for each visited part of a formula. This is the time that
    /// steps do not measure.
    effort: u64,
}

/// Cost of visiting a part of a formula, in cells written.
const PART: u64 = 16;

/// Number of steps between two readings of the clock. They take well below a millisecond.
const CLOCK_PERIOD: u64 = 1 << 14;

/// Weight of parts that only look rows up: less than that of any part that adds rows.
const LOOKUP: f64 = 1e-12;

impl<'a> Run<'a> {
    pub(super) fn new(
        program: &'a Program,
        structure: &'a Structure,
        store: &'a mut Store,
        limits: Limits,
        interrupt: &'a Interrupt,
        given: &'a [Rational],
    ) -> Run<'a> {
        Run {
            program,
            structure,
            store,
            limits,
            interrupt,
            given,
            bound: vec![None; program.n_slots],
            steps: 0,
            conflicts: 0,
            effort: 0,
        }
    }

    /// Returns the steps and the effort so far. This measures time independently of the machine.
    pub(super) fn spent(&self) -> u64 {
        self.steps + self.effort
    }

    /// Returns the steps so far.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    /// Records written cells.
    pub(super) fn record_work(&mut self, n_cells: usize) {
        self.effort += n_cells as u64;
    }

    /// Returns the number of steps that are left.
    pub(super) fn steps_left(&self) -> u64 {
        self.limits.steps.saturating_sub(self.steps)
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), EvaluationError> {
        let before = self.steps;
        self.steps += steps as u64;
        if self.steps > self.limits.steps {
            Err(EvaluationError::Steps(self.limits.steps))
        } else if before / CLOCK_PERIOD != self.steps / CLOCK_PERIOD && self.interrupt.is_due() {
            Err(EvaluationError::Interrupted)
        } else {
            Ok(())
        }
    }

    pub(super) fn check_growth(
        &mut self,
        n_cells: usize,
        added: usize,
    ) -> Result<(), EvaluationError> {
        self.spend(added + 1)?;
        if n_cells > self.limits.cells {
            Err(EvaluationError::Cells(self.limits.cells))
        } else {
            Ok(())
        }
    }

    /// Extends the assignments to the free variables of the formula in all ways for which it holds.
    pub(super) fn extend(
        &mut self,
        id: NodeId,
        assignments: Table,
    ) -> Result<Table, EvaluationError> {
        self.spend(1)?;
        self.effort += PART;
        let program = self.program;
        if assignments.is_empty() {
            return Ok(widened(assignments, program.free(id)));
        }
        stacker::maybe_grow(128 << 10, 1 << 20, || match program.node(id) {
            Node::Atom(source, slots) => {
                let rows = self.rows(*source)?;
                self.join(assignments, &rows, slots)
            }
            Node::Equal(left, right) => self.equal(assignments, *left, *right),
            Node::Compare(left, sign, right) => {
                let assignments = self.padded(assignments, program.free(id))?;
                let left = self.values(*left, &assignments)?;
                let right = self.values(*right, &assignments)?;
                let keep = |place: usize| match (left[place], right[place]) {
                    (Some(left), Some(right)) => sign.admits(left.cmp(&right)),
                    _ => false,
                };
                self.filter(assignments, |place, _| keep(place))
            }
            Node::Not(inner) => self.negation(*inner, assignments),
            Node::And(parts) => self.conjunction(parts, assignments, &[]),
            Node::Or(parts) => {
                let free = program.free(id);
                let mut united: Option<Table> = None;
                for &part in parts {
                    let case = self.extend(part, assignments.clone())?;
                    let case = self.padded(case, free)?;
                    self.spend(case.cells.len())?;
                    united = Some(match united {
                        None => case,
                        Some(united) => united.united(&case),
                    });
                }
                Ok(united.unwrap_or_else(|| Table::empty(assignments.columns)))
            }
            Node::Exists(variables, inner) => self.exists(id, variables, *inner, assignments),
            Node::Sets(sets, inner) => self.sets(sets, *inner, assignments),
            Node::Member(..) => unreachable!("membership is evaluated below the binder of its set"),
            Node::Closure(closure) => self.closure(closure, assignments),
            Node::Fix(fix) => {
                let rows = self.fixed_point(fix)?;
                self.join(assignments, &rows, &fix.arguments)
            }
        })
    }

    fn rows(&mut self, source: Source) -> Result<Arc<Rows>, EvaluationError> {
        match source {
            Source::Structure(relation) => Ok(self.store.relation(self.structure, relation)),
            Source::Bound(slot) => {
                Ok(self.bound[slot].clone().expect("a fixed point is set before its body is read"))
            }
            Source::Defined(place) => {
                let program = self.program;
                let defined = &program.defined[place];
                if let Some(rows) = self.store.defined(self.structure, place, &defined.depends_on) {
                    return Ok(rows);
                }
                let rows = Arc::new(self.all_solutions(defined.body, &defined.columns)?);
                self.store.keep_defined(self.structure, place, rows.clone());
                Ok(rows)
            }
        }
    }

    /// Returns all assignments to the columns that satisfy the formula, sorted.
    pub(super) fn all_solutions(
        &mut self,
        body: NodeId,
        columns: &[Var],
    ) -> Result<Rows, EvaluationError> {
        let found = self.extend(body, Table::unit())?;
        let found = self.padded(found, columns)?;
        let places: Vec<usize> = columns
            .iter()
            .map(|&column| found.column(column).expect("padding adds all columns"))
            .collect();
        let (n_rows, cells) = (found.n_rows, found.projected(&places).cells);
        let (n_rows, cells) = sorted_distinct(columns.len(), n_rows, cells);
        Ok(Rows::new(columns.len(), n_rows, cells))
    }

    /// Adds a column with all elements for each of these variables that has no column yet.
    pub(super) fn padded(
        &mut self,
        assignments: Table,
        variables: &[Var],
    ) -> Result<Table, EvaluationError> {
        let mut table = assignments;
        for &variable in variables {
            if table.column(variable).is_some() {
                continue;
            }
            let width = table.width();
            let elements = self.store.elements(self.structure);
            let n_rows = table.n_rows.saturating_mul(elements.len());
            self.check_growth(n_rows.saturating_mul(width + 1), n_rows)?;
            let mut cells = Vec::with_capacity(n_rows * (width + 1));
            for row in 0..table.n_rows {
                for &element in &*elements {
                    cells.extend_from_slice(table.row(row));
                    cells.push(element);
                }
            }
            let mut columns = table.columns;
            columns.push(variable);
            table = Table { columns, n_rows, cells };
        }
        Ok(table)
    }

    pub(super) fn filter(
        &mut self,
        table: Table,
        mut keep: impl FnMut(usize, &[u32]) -> bool,
    ) -> Result<Table, EvaluationError> {
        self.spend(table.n_rows)?;
        let width = table.width();
        let mut kept = Table::empty(table.columns.clone());
        for place in 0..table.n_rows {
            let row = &table.cells[place * width..(place + 1) * width];
            if keep(place, row) {
                kept.cells.extend_from_slice(row);
                kept.n_rows += 1;
            }
        }
        self.record_work(kept.cells.len());
        Ok(kept)
    }

    fn negation(&mut self, inner: NodeId, assignments: Table) -> Result<Table, EvaluationError> {
        let program = self.program;
        let assignments = self.padded(assignments, program.free(inner))?;
        let holds = self.satisfied(inner, &assignments)?;
        self.filter(assignments, |place, _| !holds[place])
    }

    /// Returns for each assignment to all free variables of the formula whether it satisfies the
    /// formula.
    pub(super) fn satisfied(
        &mut self,
        id: NodeId,
        assignments: &Table,
    ) -> Result<Vec<bool>, EvaluationError> {
        let program = self.program;
        self.spend(assignments.n_rows)?;
        if let Node::Atom(source, slots) = program.node(id) {
            // Looked up row by row, without building an intermediate relation.
            let rows = self.rows(*source)?;
            let Some(sources) = self.column_sources(assignments, slots) else {
                return Ok(vec![false; assignments.n_rows]);
            };
            let mut key = vec![0; sources.len()];
            let holds = |place: usize| {
                let row = assignments.row(place);
                for (cell, source) in key.iter_mut().zip(&sources) {
                    *cell = match *source {
                        ColumnSource::Column(column) => row[column],
                        ColumnSource::Value(value) => value,
                        ColumnSource::New | ColumnSource::Again(_) => {
                            unreachable!("all variables are assigned")
                        }
                    };
                }
                rows.contains(&key)
            };
            return Ok((0..assignments.n_rows).map(holds).collect());
        }
        let places: Vec<usize> = program
            .free(id)
            .iter()
            .map(|&variable| assignments.column(variable).expect("all free variables are assigned"))
            .collect();
        let asked = assignments.projected(&places);
        let answered = self.extend(id, asked)?;
        if places.is_empty() {
            return Ok(vec![!answered.is_empty(); assignments.n_rows]);
        }
        self.spend(answered.cells.len())?;
        // The columns of the answer may be in another order than requested.
        let order: Vec<usize> = places
            .iter()
            .map(|&place| {
                answered.column(assignments.columns[place]).expect("answers keep the columns")
            })
            .collect();
        let index =
            Index::new(&answered.cells, order.len(), &order, &[], self.structure.id_bound());
        let mut key = vec![0; places.len()];
        let holds = |row: usize| {
            let row = assignments.row(row);
            key.iter_mut().zip(&places).for_each(|(cell, &place)| *cell = row[place]);
            index.has(&key)
        };
        Ok((0..assignments.n_rows).map(holds).collect())
    }

    /// Evaluates all parts in the order that seems cheapest as far as is known. Variables in `drop`
    /// are dropped as soon as no remaining part mentions them.
    pub(super) fn conjunction(
        &mut self,
        parts: &[NodeId],
        assignments: Table,
        drop: &[Var],
    ) -> Result<Table, EvaluationError> {
        let program = self.program;
        // Estimates are cached as long as they are valid, because rules of translated games have
        // dozens of parts.
        let mut left: Vec<(NodeId, Option<f64>)> = parts.iter().map(|&part| (part, None)).collect();
        let mut table = assignments;
        while !left.is_empty() {
            if table.is_empty() {
                let missing: Vec<Var> =
                    left.iter().flat_map(|&(part, _)| program.free(part)).copied().collect();
                return Ok(widened(table, &missing));
            }
            let mut best = 0;
            if left.len() > 1 {
                let mut best_estimate = f64::INFINITY;
                for (place, (part, estimated)) in left.iter_mut().enumerate() {
                    let estimate = match *estimated {
                        Some(estimate) => estimate,
                        None => {
                            self.spend(1)?;
                            *estimated.insert(self.weight(*part, &table.columns)?)
                        }
                    };
                    if estimate < best_estimate {
                        (best, best_estimate) = (place, estimate);
                    }
                }
            }
            let (part, _) = left.remove(best);
            let is_new = |variable: &&Var| table.column(**variable).is_none();
            let new: Vec<Var> = program.free(part).iter().filter(is_new).copied().collect();
            table = self.extend(part, table)?;
            let mentions =
                |part: NodeId, column: Var| program.free(part).binary_search(&column).is_ok();
            for (part, estimated) in &mut left {
                // An estimate depends only on which of the part's own variables are known.
                if new.iter().any(|&column| mentions(*part, column)) {
                    *estimated = None;
                }
            }
            let is_needed = |column: Var| {
                !drop.contains(&column) || left.iter().any(|&(part, _)| mentions(part, column))
            };
            let kept: Vec<usize> =
                (0..table.width()).filter(|&place| is_needed(table.columns[place])).collect();
            if kept.len() < table.width() {
                self.spend(table.cells.len())?;
                table = table.projected(&kept);
            }
        }
        Ok(table)
    }

    fn exists(
        &mut self,
        id: NodeId,
        variables: &[Var],
        inner: NodeId,
        assignments: Table,
    ) -> Result<Table, EvaluationError> {
        let program = self.program;
        let free_inside = program.free(inner);
        let is_idle = |variable: &Var| free_inside.binary_search(variable).is_err();
        if self.structure.n_elements() == 0 && variables.iter().any(is_idle) {
            // The structure has no elements, so the variable has no value.
            return Ok(widened(Table::empty(assignments.columns), program.free(id)));
        }
        let free = program.free(id);
        let places: Vec<usize> = (0..assignments.width())
            .filter(|&place| free.binary_search(&assignments.columns[place]).is_ok())
            .collect();
        let narrow = places.len() < assignments.width();
        let asked = if narrow {
            self.spend(assignments.cells.len())?;
            assignments.projected(&places)
        } else {
            assignments.clone()
        };
        let found = match program.node(inner) {
            Node::And(parts) => self.conjunction(parts, asked, variables)?,
            _ => self.extend(inner, asked)?,
        };
        let kept: Vec<usize> = (0..found.width())
            .filter(|&place| !variables.contains(&found.columns[place]))
            .collect();
        self.spend(found.cells.len())?;
        let found = found.projected(&kept);
        if !narrow {
            return Ok(found);
        }
        let slots: Vec<Slot> = found.columns.iter().map(|&column| Slot::Variable(column)).collect();
        let found = found.sorted();
        let rows = Rows::new(found.width(), found.n_rows, found.cells);
        self.join(assignments, &rows, &slots)
    }

    /// Returns the key by which parts are ordered. Parts that only look rows up come before parts
    /// that add rows, even if those are estimated to add few. An estimate from several known
    /// columns is often far too low, because the columns are not independent.
    fn weight(&mut self, part: NodeId, known: &[Var]) -> Result<f64, EvaluationError> {
        let estimate = self.estimate(part, known)?;
        let program = self.program;
        let is_filter =
            program.is_lookup(part) && program.free(part).iter().all(|free| known.contains(free));
        Ok(if is_filter { estimate * LOOKUP } else { estimate })
    }

    /// Estimates the number of extensions of one assignment to the known variables. The estimate is
    /// below one for parts that only filter.
    fn estimate(&mut self, id: NodeId, known: &[Var]) -> Result<f64, EvaluationError> {
        let program = self.program;
        let n_elements = self.structure.n_elements().max(1) as f64;
        let n_wanted = program.free(id).iter().filter(|variable| !known.contains(variable)).count();
        let everything = (0..n_wanted).fold(1.0, |product, _| product * n_elements);
        stacker::maybe_grow(64 << 10, 1 << 20, || {
            Ok(match program.node(id) {
                Node::Atom(source, slots) => {
                    let mut estimate = self.rows(*source)?.n_rows as f64;
                    for slot in slots {
                        let is_known = match slot {
                            Slot::Variable(variable) => known.contains(variable),
                            Slot::Constant(_) => true,
                        };
                        if is_known {
                            estimate /= n_elements;
                        }
                    }
                    estimate
                }
                Node::Equal(..) if n_wanted == 0 => 1.0 / n_elements,
                Node::Equal(left, right) => {
                    let wanted = variables_of(&[*left, *right]).len() == n_wanted
                        && !matches!(
                            (left, right),
                            (Slot::Constant(_), _) | (_, Slot::Constant(_))
                        );
                    if wanted { n_elements } else { 0.9 }
                }
                // Filters come before parts that branch, expensive filters after cheap ones.
                Node::Compare(..) if n_wanted == 0 => 0.5,
                Node::Not(_) if n_wanted == 0 => 0.6,
                Node::Compare(..) | Node::Not(_) => everything * 2.0,
                Node::And(parts) => {
                    let mut product = 1.0;
                    let mut known = known.to_vec();
                    for &part in parts {
                        product *= self.estimate(part, &known)?;
                        known.extend(program.free(part));
                    }
                    f64::min(product, everything)
                }
                Node::Or(parts) => {
                    let mut sum = 0.0;
                    for &part in parts {
                        sum += self.estimate(part, known)?;
                    }
                    if n_wanted == 0 { f64::min(sum, 0.7) } else { f64::min(sum, everything) }
                }
                Node::Exists(_, inner) => {
                    let inner = self.estimate(*inner, known)?;
                    if n_wanted == 0 { f64::min(inner, 0.7) } else { f64::min(inner, everything) }
                }
                // Asked after all other filters, because each answer takes a search.
                Node::Sets(..) if n_wanted == 0 => 0.95,
                Node::Member(..) | Node::Sets(..) => everything,
                Node::Closure(_) | Node::Fix(_) => {
                    if n_wanted == 0 {
                        0.8
                    } else {
                        everything * 0.5
                    }
                }
            })
        })
    }

    /// Computes a least fixed point semi-naively: after the first round, only consequences of the
    /// last round's tuples are computed.
    fn fixed_point(&mut self, fix: &Fix) -> Result<Arc<Rows>, EvaluationError> {
        let width = fix.columns.len();
        self.bound[fix.slot] = Some(Arc::new(Rows::new(width, 0, Vec::new())));
        let mut all = Arc::new(self.all_solutions(fix.body, &fix.columns)?);
        let Some(derivative) = fix.derivative else { return Ok(all) };
        let mut latest = all.clone();
        while latest.n_rows > 0 {
            self.bound[fix.slot] = Some(all.clone());
            self.bound[fix.delta] = Some(latest);
            let found = self.all_solutions(derivative, &fix.columns)?;
            let mut new = Rows::new(width, 0, Vec::new());
            if width == 0 {
                new.n_rows = found.n_rows.saturating_sub(all.n_rows);
            }
            for row in found.cells.chunks_exact(width.max(1)) {
                if !all.contains(row) {
                    new.cells.extend_from_slice(row);
                    new.n_rows += 1;
                }
            }
            self.check_growth(all.cells.len() + new.cells.len(), all.n_rows + found.n_rows)?;
            // Both lists are sorted and are merged. Sorting all tuples in each round would take
            // most of the time.
            let cells =
                if width == 0 { Vec::new() } else { merged(width, &all.cells, &new.cells, &[]) };
            all = Arc::new(Rows::new(width, all.n_rows + new.n_rows, cells));
            latest = Arc::new(new);
        }
        Ok(all)
    }
}
