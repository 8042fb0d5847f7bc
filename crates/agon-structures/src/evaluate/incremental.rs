//! Updates solutions while a structure changes by a few tuples at a time.
//!
//! Only those assignments are examined again for which an atom of the formula mentions a changed
//! tuple. Other conjuncts narrow them further. Created and deleted elements matter only for
//! variables that no atom binds; otherwise an atom mentions a tuple that changed with them. Defined
//! relations are updated in the same way, one after the other. If this is not possible, because a
//! fixed point, a closure or a term depends on the changes, the formula must be evaluated from
//! scratch.

use std::sync::Arc;

use crate::structure::{Element, RelationId, Structure, Tuples};

use super::evaluator::{Evaluator, FormulaQuery};
use super::program::{Dependencies, NodeId, Source, Var};
use super::solve::Run;
use super::store::{Rows, Snapshot};
use super::table::{Table, changes, sorted_distinct};
use super::{Assignment, EvaluationError};

mod candidates;

use candidates::grouped;

/// The solutions of a formula in a structure, with the data needed to update them to another
/// structure. A clone costs two reference counts.
#[derive(Clone, Debug)]
pub struct Solutions {
    snapshot: Arc<Snapshot>,
    rows: Arc<Rows>,
}

impl Solutions {
    /// Returns the number of solutions.
    pub fn len(&self) -> usize {
        self.rows.n_rows
    }

    /// Returns whether there are no solutions.
    pub fn is_empty(&self) -> bool {
        self.rows.n_rows == 0
    }

    /// Iterates over the solutions in order, each as its elements in the order of the query's
    /// variables.
    pub fn iter(&self) -> impl Iterator<Item = impl Iterator<Item = Element> + '_> + '_ {
        let width = self.rows.width;
        (0..self.rows.n_rows).map(move |place| {
            self.rows.cells[place * width..(place + 1) * width].iter().map(|&id| Element::new(id))
        })
    }

    /// Returns the solutions as a set of tuples.
    pub fn tuples(&self) -> Tuples {
        tuples_of(&self.rows)
    }
}

impl Evaluator {
    /// Returns the solutions of a formula in a structure, from which [`update`](Evaluator::update)
    /// can start.
    ///
    /// # Errors
    /// If evaluation exceeds the limits.
    pub fn solutions(
        &mut self,
        query: FormulaQuery,
        structure: &Structure,
    ) -> Result<Solutions, EvaluationError> {
        let found = self.solve(query, structure, &Assignment::new())?;
        Ok(Solutions { snapshot: self.snapshot(structure), rows: Arc::new(Rows::of(&found)) })
    }

    /// Returns the solutions of a formula in a structure, computed from those in a structure that
    /// differs in few tuples. Returns `None` if the formula must be evaluated from scratch.
    ///
    /// Several formulas may be updated between the same two structures, one after the other. Their
    /// common work is done once.
    ///
    /// # Errors
    /// If evaluation exceeds the limits.
    pub fn update(
        &mut self,
        query: FormulaQuery,
        last: &Solutions,
        structure: &Structure,
    ) -> Result<Option<Solutions>, EvaluationError> {
        let (id, columns, dependencies) = self.node_of(query);
        let update = self.with_run(structure, |run| {
            let old = &last.snapshot.structure;
            let delta = match run.store.delta.take() {
                Some(delta)
                    if Arc::ptr_eq(&delta.old, &last.snapshot)
                        && delta.new.shares_all(structure) =>
                {
                    delta
                }
                _ => Delta::new(&last.snapshot, structure),
            };
            if delta.is_too_large || !can_update(old, structure, &dependencies.depends_on) {
                run.store.delta = Some(delta);
                return Ok(Update::Lost);
            }
            let mut updater = Updater { run, delta };
            let update = match updater.definitions(&dependencies.uses)? {
                true => updater.updated(id, &columns, &last.rows)?,
                false => Update::Lost,
            };
            let delta = updater.delta;
            run.store.delta = Some(delta);
            Ok(update)
        })?;
        Ok(match update {
            Update::Lost => None,
            Update::Same => {
                Some(Solutions { snapshot: self.snapshot(structure), rows: last.rows.clone() })
            }
            Update::To { rows, .. } => Some(Solutions { snapshot: self.snapshot(structure), rows }),
        })
    }
}

fn can_update(old: &Structure, new: &Structure, depends_on: &Dependencies) -> bool {
    let same_values = || {
        old.shares_functions(new)
            || new
                .vocabulary()
                .functions()
                .all(|function| old.values(function) == new.values(function))
    };
    let same_constants = || {
        new.vocabulary()
            .constants()
            .all(|constant| old.constant(constant) == new.constant(constant))
    };
    (!depends_on.functions || same_values()) && (!depends_on.constants || same_constants())
}

fn tuples_of(rows: &Rows) -> Tuples {
    Tuples::from_sorted(
        rows.width,
        rows.n_rows,
        rows.cells.iter().map(|&id| Element::new(id)).collect(),
    )
}

/// The result of updating rows.
enum Update {
    Lost,
    Same,
    To { rows: Arc<Rows>, added: Rows, removed: Rows },
}

/// The changes since a snapshot, as far as they have been computed.
#[derive(Clone)]
pub(super) struct Delta {
    old: Arc<Snapshot>,
    new: Structure,
    /// The tuples of each relation that were added or removed.
    deltas: Vec<(Source, Arc<Rows>)>,
    /// The definitions that have been updated.
    defined: Vec<usize>,
    /// The elements that were created or deleted.
    changed_elements: Vec<u32>,
    /// An upper bound of all ids of both structures.
    id_bound: usize,
    /// Whether so much has changed that evaluating from scratch is less work.
    is_too_large: bool,
}

impl Delta {
    fn new(snapshot: &Arc<Snapshot>, new: &Structure) -> Delta {
        let old = &snapshot.structure;
        let mut deltas = Vec::new();
        let (mut n_changed, mut n_rows) = (0, 0);
        let relations: Vec<RelationId> = new.vocabulary().relations().collect();
        for relation in relations {
            let (before, after) = (old.tuples(relation), new.tuples(relation));
            n_rows += after.len();
            if old.shares_relation(new, relation) {
                continue;
            }
            let width = after.arity();
            if width == 0 {
                if before.len() != after.len() {
                    deltas
                        .push((Source::Structure(relation), Arc::new(Rows::new(0, 1, Vec::new()))));
                }
                continue;
            }
            let (added, removed) = changes(width, before.cells(), after.cells());
            let cells: Vec<u32> =
                added.iter().chain(&removed).map(|element| element.id()).collect();
            let (n, cells) = sorted_distinct(width, cells.len() / width, cells);
            if n > 0 {
                n_changed += n;
                deltas.push((Source::Structure(relation), Arc::new(Rows::new(width, n, cells))));
            }
        }
        Delta {
            old: snapshot.clone(),
            new: new.clone(),
            deltas,
            defined: Vec::new(),
            changed_elements: old.universe_difference(new).into_iter().map(Element::id).collect(),
            id_bound: old.id_bound().max(new.id_bound()),
            // Positions that jump between states change a third of the tuples or more. In small
            // structures updates are always made, because the difference hardly matters.
            is_too_large: n_changed > 32 + n_rows / 4,
        }
    }
}

struct Updater<'u, 'a> {
    run: &'u mut Run<'a>,
    delta: Delta,
}

impl Updater<'_, '_> {
    fn changed_rows(&self, source: Source) -> Option<&Arc<Rows>> {
        self.delta.deltas.iter().find(|entry| entry.0 == source).map(|entry| &entry.1)
    }

    /// Updates definitions, after the definitions that they use. Returns `false` if the old tuples
    /// of one are not known.
    fn definitions(&mut self, places: &[usize]) -> Result<bool, EvaluationError> {
        let program = self.run.program;
        for &place in places {
            if self.delta.defined.contains(&place) {
                continue;
            }
            let defined = &program.defined[place];
            let uses_known =
                stacker::maybe_grow(64 << 10, 1 << 20, || self.definitions(&defined.uses))?;
            let snapshot = self.delta.old.clone();
            let Some(before) = snapshot.defined(place) else {
                // The definition was not computed in the old structure.
                return Ok(false);
            };
            if !uses_known {
                return Ok(false);
            }
            let structure = self.run.structure;
            let known = self.run.store.defined(structure, place, &defined.depends_on);
            let is_known = known.is_some();
            let can_update = can_update(&snapshot.structure, structure, &defined.depends_on);
            let change = match known {
                Some(after) if Arc::ptr_eq(before, &after) => None,
                Some(after) => Some((differences(before, &after), after)),
                None if !can_update => Some(self.recompute(place, before)?),
                None => match self.updated(defined.body, &defined.columns, before)? {
                    Update::Same => None,
                    Update::To { rows, added, removed } => Some(([added, removed], rows)),
                    Update::Lost => Some(self.recompute(place, before)?),
                },
            };
            let after = change.as_ref().map_or(before, |(_, after)| after).clone();
            if !is_known {
                self.run.store.keep_defined(structure, place, after);
            }
            if let Some((parts, _)) = change {
                let changed = united(&parts);
                if changed.n_rows > 0 {
                    self.delta.deltas.push((Source::Defined(place), Arc::new(changed)));
                }
            }
            self.delta.defined.push(place);
        }
        Ok(true)
    }

    fn recompute(
        &mut self,
        place: usize,
        before: &Rows,
    ) -> Result<([Rows; 2], Arc<Rows>), EvaluationError> {
        let defined = &self.run.program.defined[place];
        let after = self.run.all_solutions(defined.body, &defined.columns)?;
        Ok((differences(before, &after), Arc::new(after)))
    }

    /// Returns the rows of a formula after the changes.
    fn updated(
        &mut self,
        id: NodeId,
        columns: &[Var],
        old: &Arc<Rows>,
    ) -> Result<Update, EvaluationError> {
        let width = columns.len();
        if width == 0 && old.n_rows == 0 {
            return Ok(match self.became_true(id)? {
                None => Update::Lost,
                Some(false) => Update::Same,
                Some(true) => Update::To {
                    rows: Arc::new(Rows::new(0, 1, Vec::new())),
                    added: Rows::new(0, 1, Vec::new()),
                    removed: Rows::new(0, 0, Vec::new()),
                },
            });
        }
        let candidates = grouped(self.candidates_within(columns, id)?);
        if candidates.is_empty() {
            return Ok(Update::Same);
        }
        // Rows that may no longer hold, and rows that hold now.
        let (mut doubtful, mut found) = (Vec::new(), Vec::new());
        for candidate in candidates {
            if candidate.columns.iter().all(|column| !columns.contains(column)) {
                return Ok(Update::Lost);
            }
            self.collect_extensions(&candidate, columns, old, &mut doubtful)?;
            let candidate = self.living(candidate);
            let holds = self.run.extend(id, candidate)?;
            let holds = self.run.padded(holds, columns)?;
            let places: Vec<usize> = columns
                .iter()
                .map(|&column| holds.column(column).expect("padding adds all columns"))
                .collect();
            found.extend_from_slice(&holds.projected(&places).cells);
            self.run.check_growth(found.len() + doubtful.len(), holds.n_rows)?;
        }
        let (_, doubtful) = sorted_distinct(width, doubtful.len() / width, doubtful);
        let (_, found) = sorted_distinct(width, found.len() / width, found);
        let (added, removed) = changes(width, &doubtful, &found);
        if added.is_empty() && removed.is_empty() {
            return Ok(Update::Same);
        }
        self.run.check_growth(old.cells.len() + added.len(), added.len())?;
        let rows = Arc::new(old.updated(&added, &removed, self.delta.id_bound));
        let [added, removed] =
            [added, removed].map(|cells| Rows::new(width, cells.len() / width, cells));
        Ok(Update::To { rows, added, removed })
    }

    /// Adds the rows of `old` that extend one of the candidates.
    fn collect_extensions(
        &mut self,
        candidate: &Table,
        columns: &[Var],
        old: &Rows,
        fitting: &mut Vec<u32>,
    ) -> Result<(), EvaluationError> {
        let is_known = |place: &usize| candidate.columns.contains(&columns[*place]);
        let known: Vec<usize> = (0..columns.len()).filter(is_known).collect();
        let rest: Vec<usize> = (0..columns.len()).filter(|place| !is_known(place)).collect();
        // Columns outside the formula are projected away.
        let sources: Vec<usize> = known
            .iter()
            .map(|&place| candidate.column(columns[place]).expect("it was just found there"))
            .collect();
        let index = (!rest.is_empty()).then(|| old.index(&known, &rest, self.delta.id_bound));
        let mut key = vec![0; known.len()];
        let mut row = vec![0; columns.len()];
        for place in 0..candidate.n_rows {
            let given = candidate.row(place);
            key.iter_mut().zip(&sources).for_each(|(cell, &source)| *cell = given[source]);
            let before = fitting.len();
            match &index {
                None if old.contains(&key) => fitting.extend_from_slice(&key),
                None => {}
                Some(index) => {
                    for found in index.find(&key) {
                        let order = known.iter().chain(&rest);
                        order.zip(found).for_each(|(&place, &cell)| row[place] = cell);
                        fitting.extend_from_slice(&row);
                    }
                }
            }
            self.run.check_growth(fitting.len(), (fitting.len() - before) / columns.len())?;
        }
        Ok(())
    }
}

/// Returns the added rows and the removed rows.
fn differences(before: &Rows, after: &Rows) -> [Rows; 2] {
    let width = before.width;
    if width == 0 {
        let [come, gone] = [
            after.n_rows.saturating_sub(before.n_rows),
            before.n_rows.saturating_sub(after.n_rows),
        ];
        return [Rows::new(0, come, Vec::new()), Rows::new(0, gone, Vec::new())];
    }
    let (added, removed) = changes(width, &before.cells, &after.cells);
    [added, removed].map(|cells| Rows::new(width, cells.len() / width, cells))
}

/// Returns the union of two disjoint sets of rows.
fn united([one, other]: &[Rows; 2]) -> Rows {
    let cells = [&one.cells[..], &other.cells].concat();
    let (n_rows, cells) = sorted_distinct(one.width, one.n_rows + other.n_rows, cells);
    Rows::new(one.width, n_rows, cells)
}
