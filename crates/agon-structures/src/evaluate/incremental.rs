//! Answers kept up to date while a structure changes by a few tuples at a time.

use std::sync::{Arc, OnceLock};

use crate::structure::{Element, RelationId, Structure, Tuples};

use super::evaluator::{Evaluator, FormulaQuery};
use super::program::{Needs, NodeId, Source, Var};
use super::solve::Run;
use super::store::{Moment, Rows};
use super::table::{Table, changes, sorted_distinct};
use super::{Assignment, Refusal};

mod candidates;

use candidates::grouped;

/// The solutions of a formula in a structure that changes.
///
/// When tuples come or go, only those assignments are looked at again for which some atom of the formula speaks of
/// such a tuple; what else the formula says narrows them further. Elements that come or go matter only for variables that no
/// atom binds: else an atom speaks of a tuple that came or went with them. Relations that are defined are kept up to date in the
/// same way, one after the other. Where that cannot be done, because what is below a fixed point, a closure or a term has
/// changed too much, the formula is evaluated anew.
#[derive(Clone)]
pub struct Maintained {
    evaluator: Evaluator,
    query: FormulaQuery,
    solutions: Solutions,
    shown: OnceLock<Tuples>,
    n_anew: u64,
}

/// What an update has changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// Solutions that were none before.
    pub added: Tuples,
    /// Solutions that are none any more.
    pub removed: Tuples,
}

impl Maintained {
    /// The solutions in a first structure. Real variables cannot be assigned here.
    pub fn new(
        mut evaluator: Evaluator,
        query: FormulaQuery,
        structure: &Structure,
    ) -> Result<Maintained, Refusal> {
        let solutions = evaluator.solve_to_follow(query, structure)?;
        Ok(Maintained { evaluator, query, solutions, shown: OnceLock::new(), n_anew: 0 })
    }

    /// The solutions in the structure seen last.
    pub fn solutions(&self) -> &Tuples {
        self.shown.get_or_init(|| self.solutions.tuples())
    }

    /// How often the formula had to be evaluated anew.
    pub fn n_anew(&self) -> u64 {
        self.n_anew
    }

    /// Takes the next structure; the less it differs from the last one, the less there is to do. After a refusal, the
    /// solutions are still those in the last one.
    pub fn update(&mut self, structure: &Structure) -> Result<Change, Refusal> {
        let width = self.solutions.rows.width;
        let (solutions, change) =
            match self.evaluator.follow(self.query, &self.solutions, structure)? {
                Followed::To(solutions, change) => {
                    self.shown = OnceLock::new();
                    (solutions, change)
                }
                Followed::Same(solutions) => {
                    (solutions, Change { added: Tuples::new(width), removed: Tuples::new(width) })
                }
                Followed::Lost => {
                    let solutions = self.evaluator.solve_to_follow(self.query, structure)?;
                    self.n_anew += 1;
                    self.shown = OnceLock::new();
                    let [added, removed] = differences(&self.solutions.rows, &solutions.rows);
                    (solutions, Change { added: tuples_of(&added), removed: tuples_of(&removed) })
                }
            };
        self.solutions = solutions;
        Ok(change)
    }
}

/// The solutions of a formula, with what is needed to follow them to another structure. A copy costs two counters.
#[derive(Clone, Debug)]
pub struct Solutions {
    moment: Arc<Moment>,
    rows: Arc<Rows>,
}

impl Solutions {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.n_rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.n_rows == 0
    }

    /// Each as its elements in the order of the query's variables, sorted.
    pub fn iter(&self) -> impl Iterator<Item = impl Iterator<Item = Element> + '_> + '_ {
        let width = self.rows.width;
        (0..self.rows.n_rows).map(move |place| {
            self.rows.cells[place * width..(place + 1) * width].iter().map(|&id| Element::new(id))
        })
    }

    /// The same as a set of tuples.
    pub fn tuples(&self) -> Tuples {
        tuples_of(&self.rows)
    }
}

/// What has become of the solutions of a formula when the structure has changed.
#[derive(Clone, Debug)]
pub enum Followed {
    /// These are they, and this is what has changed.
    To(Solutions, Change),
    /// They are what they were.
    Same(Solutions),
    /// They must be found anew.
    Lost,
}

impl Evaluator {
    /// The solutions of a formula in a structure, to be followed from there.
    ///
    /// # Errors
    /// If it costs more than the limits allow.
    pub fn solve_to_follow(
        &mut self,
        query: FormulaQuery,
        structure: &Structure,
    ) -> Result<Solutions, Refusal> {
        let found = self.solve(query, structure, &Assignment::new())?;
        Ok(Solutions { moment: self.moment(structure), rows: Arc::new(Rows::of(&found)) })
    }

    /// The solutions of a formula in a structure, from those in another one that it differs from in few tuples. Several formulas
    /// may be followed from the same structure to the same other one, one after the other; what they share is worked out once.
    ///
    /// # Errors
    /// If it costs more than the limits allow.
    pub fn follow(
        &mut self,
        query: FormulaQuery,
        last: &Solutions,
        structure: &Structure,
    ) -> Result<Followed, Refusal> {
        let (id, columns, reasons) = self.node_of(query);
        let update = self.with_run(structure, |run| {
            let old = &last.moment.structure;
            let since = match run.store.since.take() {
                Some(since)
                    if Arc::ptr_eq(&since.old, &last.moment) && since.new.shares_all(structure) =>
                {
                    since
                }
                _ => Since::new(&last.moment, structure),
            };
            if since.is_too_much || !can_update(old, structure, &reasons.needs) {
                run.store.since = Some(since);
                return Ok(Update::Lost);
            }
            let mut updating = Updating { run, since };
            let update = match updating.definitions(&reasons.uses)? {
                true => updating.updated(id, &columns, &last.rows)?,
                false => Update::Lost,
            };
            let since = updating.since;
            run.store.since = Some(since);
            Ok(update)
        })?;
        Ok(match update {
            Update::Lost => Followed::Lost,
            Update::Same => Followed::Same(Solutions {
                moment: self.moment(structure),
                rows: last.rows.clone(),
            }),
            Update::To { rows, added, removed } => {
                let change = Change { added: tuples_of(&added), removed: tuples_of(&removed) };
                Followed::To(Solutions { moment: self.moment(structure), rows }, change)
            }
        })
    }
}

fn can_update(old: &Structure, new: &Structure, needs: &Needs) -> bool {
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
    (!needs.functions || same_values()) && (!needs.constants || same_constants())
}

fn tuples_of(rows: &Rows) -> Tuples {
    Tuples::from_sorted(
        rows.width,
        rows.n_rows,
        rows.cells.iter().map(|&id| Element::new(id)).collect(),
    )
}

/// What has become of some rows.
enum Update {
    Lost,
    Same,
    To { rows: Arc<Rows>, added: Rows, removed: Rows },
}

/// What has changed since a moment, as far as it was asked for.
#[derive(Clone)]
pub(super) struct Since {
    old: Arc<Moment>,
    new: Structure,
    /// The tuples of each relation that came or went.
    deltas: Vec<(Source, Arc<Rows>)>,
    /// Definitions that have been dealt with.
    defined: Vec<usize>,
    /// Elements that came or went.
    moved: Vec<u32>,
    /// All ids of both structures are below this.
    id_bound: usize,
    /// So much has changed that it is less work to begin again.
    is_too_much: bool,
}

impl Since {
    fn new(moment: &Arc<Moment>, new: &Structure) -> Since {
        let old = &moment.structure;
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
        Since {
            old: moment.clone(),
            new: new.clone(),
            deltas,
            defined: Vec::new(),
            moved: old.moved(new).into_iter().map(Element::id).collect(),
            id_bound: old.id_bound().max(new.id_bound()),
            // Positions that jump about change a third and more. Small structures are followed anyway: there it matters little.
            is_too_much: n_changed > 32 + n_rows / 4,
        }
    }
}

struct Updating<'u, 'a> {
    run: &'u mut Run<'a>,
    since: Since,
}

impl Updating<'_, '_> {
    fn delta(&self, source: Source) -> Option<&Arc<Rows>> {
        self.since.deltas.iter().find(|entry| entry.0 == source).map(|entry| &entry.1)
    }

    /// Brings definitions up to date, after those that they use. Says no if it is not known what one was before.
    fn definitions(&mut self, places: &[usize]) -> Result<bool, Refusal> {
        let program = self.run.program;
        for &place in places {
            if self.since.defined.contains(&place) {
                continue;
            }
            let defined = &program.defined[place];
            let uses_known =
                stacker::maybe_grow(64 << 10, 1 << 20, || self.definitions(&defined.uses))?;
            let moment = self.since.old.clone();
            let Some(before) = moment.defined(place) else {
                // It was not asked for there.
                return Ok(false);
            };
            if !uses_known {
                return Ok(false);
            }
            let structure = self.run.structure;
            let known = self.run.store.defined(structure, place, &defined.needs);
            let is_known = known.is_some();
            let can_update = can_update(&moment.structure, structure, &defined.needs);
            let delta = match known {
                Some(after) if Arc::ptr_eq(before, &after) => None,
                Some(after) => Some((differences(before, &after), after)),
                None if !can_update => Some(self.anew(place, before)?),
                None => match self.updated(defined.body, &defined.columns, before)? {
                    Update::Same => None,
                    Update::To { rows, added, removed } => Some(([added, removed], rows)),
                    Update::Lost => Some(self.anew(place, before)?),
                },
            };
            let after = delta.as_ref().map_or(before, |(_, after)| after).clone();
            if !is_known {
                self.run.store.keep_defined(structure, place, after);
            }
            if let Some((parts, _)) = delta {
                let changed = united(&parts);
                if changed.n_rows > 0 {
                    self.since.deltas.push((Source::Defined(place), Arc::new(changed)));
                }
            }
            self.since.defined.push(place);
        }
        Ok(true)
    }

    fn anew(&mut self, place: usize, before: &Rows) -> Result<([Rows; 2], Arc<Rows>), Refusal> {
        let defined = &self.run.program.defined[place];
        let after = self.run.whole(defined.body, &defined.columns)?;
        Ok((differences(before, &after), Arc::new(after)))
    }

    /// The rows of a formula after the changes.
    fn updated(&mut self, id: NodeId, columns: &[Var], old: &Arc<Rows>) -> Result<Update, Refusal> {
        let width = columns.len();
        if width == 0 && old.n_rows == 0 {
            return Ok(match self.came_true(id)? {
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
        // Rows that may have gone, and those that hold now.
        let (mut doubtful, mut found) = (Vec::new(), Vec::new());
        for candidate in candidates {
            if candidate.columns.iter().all(|column| !columns.contains(column)) {
                return Ok(Update::Lost);
            }
            self.fitting(&candidate, columns, old, &mut doubtful)?;
            let candidate = self.living(candidate);
            let holds = self.run.extend(id, candidate)?;
            let holds = self.run.padded(holds, columns)?;
            let places: Vec<usize> = columns
                .iter()
                .map(|&column| holds.column(column).expect("padding adds all columns"))
                .collect();
            found.extend_from_slice(&holds.projected(&places).cells);
            self.run.grown(found.len() + doubtful.len(), holds.n_rows)?;
        }
        let (_, doubtful) = sorted_distinct(width, doubtful.len() / width, doubtful);
        let (_, found) = sorted_distinct(width, found.len() / width, found);
        let (added, removed) = changes(width, &doubtful, &found);
        if added.is_empty() && removed.is_empty() {
            return Ok(Update::Same);
        }
        self.run.grown(old.cells.len() + added.len(), added.len())?;
        let rows = Arc::new(old.updated(&added, &removed, self.since.id_bound));
        let [added, removed] =
            [added, removed].map(|cells| Rows::new(width, cells.len() / width, cells));
        Ok(Update::To { rows, added, removed })
    }

    /// Adds the rows that extend one of the candidates.
    fn fitting(
        &mut self,
        candidate: &Table,
        columns: &[Var],
        old: &Rows,
        fitting: &mut Vec<u32>,
    ) -> Result<(), Refusal> {
        let is_known = |place: &usize| candidate.columns.contains(&columns[*place]);
        let known: Vec<usize> = (0..columns.len()).filter(is_known).collect();
        let rest: Vec<usize> = (0..columns.len()).filter(|place| !is_known(place)).collect();
        // Columns that are none of the formula's are projected away.
        let sources: Vec<usize> = known
            .iter()
            .map(|&place| candidate.column(columns[place]).expect("it was just found there"))
            .collect();
        let index = (!rest.is_empty()).then(|| old.index(&known, &rest, self.since.id_bound));
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
            self.run.grown(fitting.len(), (fitting.len() - before) / columns.len())?;
        }
        Ok(())
    }
}

/// The rows that have come, and those that have gone.
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

/// The rows of both, of which none is in both.
fn united([one, other]: &[Rows; 2]) -> Rows {
    let cells = [&one.cells[..], &other.cells].concat();
    let (n_rows, cells) = sorted_distinct(one.width, one.n_rows + other.n_rows, cells);
    Rows::new(one.width, n_rows, cells)
}
