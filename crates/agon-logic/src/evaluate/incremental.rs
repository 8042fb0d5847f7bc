//! Answers kept up to date while a structure changes by a few tuples at a time.

use std::sync::Arc;

use crate::rational::Rational;
use crate::structure::{Element, Structure, Tuples};

use super::evaluator::{Evaluator, FormulaQuery};
use super::program::{Needs, Node, NodeId, Slot, Source, TermId, TermNode, Var};
use super::solve::Run;
use super::store::Rows;
use super::table::{Index, Table, sorted_distinct};
use super::{Assignment, Refusal};

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
    structure: Structure,
    solutions: Tuples,
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
        let solutions = evaluator.solve(query, structure, &Assignment::new())?;
        Ok(Maintained { evaluator, query, structure: structure.clone(), solutions, n_anew: 0 })
    }

    /// The solutions in the structure seen last.
    pub fn solutions(&self) -> &Tuples {
        &self.solutions
    }

    /// How often the formula had to be evaluated anew.
    pub fn n_anew(&self) -> u64 {
        self.n_anew
    }

    /// Takes the next structure; the less it differs from the last one, the less there is to do. After a refusal, the
    /// solutions are still those in the last one.
    pub fn update(&mut self, structure: &Structure) -> Result<Change, Refusal> {
        let arity = self.solutions.arity();
        let solutions =
            match self.evaluator.follow(self.query, &self.structure, &self.solutions, structure)? {
                Followed::To(solutions) => solutions,
                Followed::Same => {
                    self.structure = structure.clone();
                    return Ok(Change { added: Tuples::new(arity), removed: Tuples::new(arity) });
                }
                Followed::Lost => {
                    self.n_anew += 1;
                    self.evaluator.solve(self.query, structure, &Assignment::new())?
                }
            };
        let added = solutions.iter().filter(|row| !self.solutions.contains(row));
        let removed = self.solutions.iter().filter(|row| !solutions.contains(row));
        let change = Change { added: Tuples::of(arity, added), removed: Tuples::of(arity, removed) };
        self.solutions = solutions;
        self.structure = structure.clone();
        Ok(change)
    }
}

/// What has become of the solutions of a formula when the structure has changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Followed {
    /// These are they.
    To(Tuples),
    /// They are what they were.
    Same,
    /// They must be found anew.
    Lost,
}

impl Evaluator {
    /// The solutions of a formula in a structure, from those in another one that it differs from in few tuples. Several formulas
    /// may be followed from the same structure to the same other one, one after the other; what they share is worked out once.
    ///
    /// # Errors
    /// If it costs more than the limits allow.
    pub fn follow(
        &mut self,
        query: FormulaQuery,
        old: &Structure,
        last: &Tuples,
        structure: &Structure,
    ) -> Result<Followed, Refusal> {
        let (id, columns) = self.node_of(query);
        let last = rows_of(last);
        let outcome = self.with_run(structure, |run| {
            let moved = if old.shares_universe(structure) { Vec::new() } else { moved(old, structure) };
            let id_bound = old.id_bound().max(structure.id_bound());
            let mut updating = Updating { run, deltas: Vec::new(), defined: Vec::new(), moved, id_bound };
            updating.compare(old, structure);
            let needs = updating.run.program.needs(id);
            if !updating.can_update(old, structure, &needs) {
                return Ok(None);
            }
            if !updating.definitions(old, id)? {
                return Ok(None);
            }
            updating.updated(id, &columns, &last)
        })?;
        Ok(match outcome {
            Some(Some(rows)) => {
                let cells = rows.cells.into_iter().map(Element::new).collect();
                Followed::To(Tuples::from_sorted(columns.len(), rows.n_rows, cells))
            }
            Some(None) => Followed::Same,
            None => Followed::Lost,
        })
    }
}

/// The elements that are in one of the two only.
fn moved(old: &Structure, new: &Structure) -> Vec<u32> {
    let here = |element: &Element| !new.has(*element);
    let there = |element: &Element| !old.has(*element);
    old.elements().filter(here).chain(new.elements().filter(there)).map(Element::id).collect()
}

fn rows_of(tuples: &Tuples) -> Rows {
    let cells = tuples.cells().iter().map(|element| element.id()).collect();
    Rows::new(tuples.arity(), tuples.len(), cells)
}

struct Updating<'u, 'a> {
    run: &'u mut Run<'a>,
    /// The tuples of each relation that came or went.
    deltas: Vec<(Source, Arc<Rows>)>,
    /// Definitions that have been dealt with.
    defined: Vec<usize>,
    /// Elements that came or went.
    moved: Vec<u32>,
    /// All ids of both structures are below this.
    id_bound: usize,
}

impl Updating<'_, '_> {
    fn compare(&mut self, old: &Structure, new: &Structure) {
        for relation in new.vocabulary().relations() {
            if old.shares_relation(new, relation) {
                continue;
            }
            let (before, after) = (rows_of(old.tuples(relation)), rows_of(new.tuples(relation)));
            if let Some(delta) = difference(&before, &after) {
                self.deltas.push((Source::Structure(relation), Arc::new(delta)));
            }
        }
    }

    fn can_update(&self, old: &Structure, new: &Structure, needs: &Needs) -> bool {
        let same_values = || {
            new.vocabulary().functions().all(|function| {
                let values = |structure: &Structure| -> Vec<(Element, Rational)> {
                    structure.values(function).to_vec()
                };
                old.shares_functions(new) || values(old) == values(new)
            })
        };
        let same_constants =
            || new.vocabulary().constants().all(|constant| old.constant(constant) == new.constant(constant));
        (!needs.functions || same_values()) && (!needs.constants || same_constants())
    }

    fn delta(&self, source: Source) -> Option<&Arc<Rows>> {
        self.deltas.iter().find(|entry| entry.0 == source).map(|entry| &entry.1)
    }

    /// Brings all definitions that a formula uses up to date, the deepest first. Says no if it is not known what one was before.
    fn definitions(&mut self, old: &Structure, id: NodeId) -> Result<bool, Refusal> {
        let program = self.run.program;
        for place in program.definitions_of(id) {
            if self.defined.contains(&place) {
                continue;
            }
            self.defined.push(place);
            let defined = &program.defined[place];
            if !self.definitions(old, defined.body)? {
                return Ok(false);
            }
            let structure = self.run.structure;
            if let Some(after) = self.run.store.defined(structure, place, &defined.needs)
                && let Some(before) = self.run.store.defined(old, place, &defined.needs)
            {
                if let Some(delta) = difference(&before, &after) {
                    self.deltas.push((Source::Defined(place), Arc::new(delta)));
                }
                continue;
            }
            let Some(before) = self.run.store.defined(old, place, &defined.needs) else {
                // It was never asked for, or for other structures since.
                return Ok(false);
            };
            let after = match self.updated(defined.body, &defined.columns, &before)? {
                None => None,
                Some(Some(after)) => Some(after),
                Some(None) => {
                    self.run.store.keep_defined(structure, place, before);
                    continue;
                }
            };
            let after = match after {
                Some(after) => after,
                None => self.run.whole(defined.body, &defined.columns)?,
            };
            if let Some(delta) = difference(&before, &after) {
                self.deltas.push((Source::Defined(place), Arc::new(delta)));
            }
            self.run.store.keep_defined(structure, place, Arc::new(after));
        }
        Ok(true)
    }

    /// The rows of a formula after the changes: `None` if they must be found anew, `Some(None)` if they are the same.
    fn updated(&mut self, id: NodeId, columns: &[Var], old: &Rows) -> Result<Option<Option<Rows>>, Refusal> {
        if columns.is_empty() && old.n_rows == 0 {
            let came_true = self.came_true(id)?;
            return Ok(came_true.map(|holds| holds.then(|| Rows::new(0, 1, Vec::new()))));
        }
        let candidates = grouped(self.candidates_within(columns, id)?);
        if candidates.is_empty() {
            return Ok(Some(None));
        }
        let mut found = Table::empty(columns.to_vec());
        let mut doubtful = vec![false; old.n_rows];
        for candidate in candidates {
            let places: Vec<usize> = candidate
                .columns
                .iter()
                .filter_map(|column| columns.iter().position(|other| other == column))
                .collect();
            if places.is_empty() {
                return Ok(None);
            }
            let index = Index::new(
                &candidate.cells,
                candidate.width(),
                &(0..candidate.width()).collect::<Vec<_>>(),
                &[],
                self.id_bound,
            );
            self.run.spend(old.n_rows)?;
            let mut key = vec![0; places.len()];
            for (row, doubt) in old.cells.chunks_exact(old.width.max(1)).zip(&mut doubtful) {
                key.iter_mut().zip(&places).for_each(|(cell, &place)| *cell = row[place]);
                *doubt = *doubt || index.has(&key);
            }
            let candidate = self.living(candidate);
            let holds = self.run.extend(id, candidate)?;
            let holds = self.run.padded(holds, columns)?;
            found = found.united(&holds);
        }
        let mut cells = found.cells;
        let mut n_rows = found.n_rows;
        for (row, doubt) in old.cells.chunks_exact(old.width.max(1)).zip(doubtful) {
            if !doubt {
                cells.extend_from_slice(row);
                n_rows += 1;
            }
        }
        self.run.grown(cells.len(), n_rows)?;
        let (n_rows, cells) = sorted_distinct(columns.len(), n_rows, cells);
        Ok(Some(Some(Rows::new(columns.len(), n_rows, cells))))
    }

    /// Whether a sentence that was false holds now, if that can be told from what has changed: a witness must then be
    /// among the candidates.
    fn came_true(&mut self, id: NodeId) -> Result<Option<bool>, Refusal> {
        let program = self.run.program;
        match program.node(id) {
            Node::Exists(variables, inner) => {
                for candidate in grouped(self.candidates_within(variables, *inner)?) {
                    if candidate.width() == 0 {
                        return Ok(None);
                    }
                    let candidate = self.living(candidate);
                    if !self.run.extend(*inner, candidate)?.is_empty() {
                        return Ok(Some(true));
                    }
                }
                Ok(Some(false))
            }
            Node::Or(parts) => {
                for &part in parts {
                    match self.came_true(part)? {
                        Some(false) => {}
                        other => return Ok(other),
                    }
                }
                Ok(Some(false))
            }
            _ if self.candidates(id)?.is_empty() => Ok(Some(false)),
            _ => Ok(None),
        }
    }

    /// Partial assignments such that all assignments for which the formula has changed its truth extend one of them.
    /// One without columns says that nothing is known.
    fn candidates(&mut self, id: NodeId) -> Result<Vec<Table>, Refusal> {
        let program = self.run.program;
        self.run.spend(1)?;
        stacker::maybe_grow(64 << 10, 1 << 20, || match program.node(id) {
            Node::Atom(source, slots) => match self.delta(*source).cloned() {
                Some(delta) => {
                    let changed = self.run.join(Table::unit(), &delta, slots)?;
                    Ok(if changed.is_empty() { Vec::new() } else { vec![changed] })
                }
                None => Ok(Vec::new()),
            },
            Node::Equal(..) => Ok(Vec::new()),
            Node::Compare(left, _, right) => {
                let mut found = self.term_candidates(*left)?;
                found.extend(self.term_candidates(*right)?);
                Ok(found)
            }
            Node::Not(inner) => self.candidates(*inner),
            Node::And(parts) => {
                let mut found = Vec::new();
                for &part in parts {
                    for candidate in self.candidates(part)? {
                        found.push(self.narrowed(candidate, parts)?);
                    }
                }
                found.retain(|candidate| !candidate.is_empty());
                Ok(found)
            }
            Node::Or(parts) => {
                let mut found = Vec::new();
                for &part in parts {
                    found.extend(self.candidates(part)?);
                }
                Ok(found)
            }
            Node::Exists(variables, inner) => {
                let found = self.candidates_within(variables, *inner)?;
                Ok(found.into_iter().map(|candidate| without(&candidate, variables)).collect())
            }
            Node::Closure(closure) => {
                let found = self.candidates_within(&[closure.from, closure.to], closure.body)?;
                Ok(if found.is_empty() { Vec::new() } else { vec![Table::unit()] })
            }
            Node::Fix(fix) => {
                let is_same = self.moved.is_empty() && self.candidates(fix.body)?.is_empty();
                Ok(if is_same { Vec::new() } else { vec![Table::unit()] })
            }
        })
    }

    /// The same where these variables are bound, so that they are no longer what they were in elements that came or went. Where an atom
    /// binds a variable, nothing more has changed than what the atom tells.
    fn candidates_within(&mut self, variables: &[Var], id: NodeId) -> Result<Vec<Table>, Refusal> {
        let mut found = self.candidates(id)?;
        if self.moved.is_empty() {
            return Ok(found);
        }
        let program = self.run.program;
        for &variable in variables {
            if self.is_bound(variable, id) {
                continue;
            }
            let mut moved = Table::empty(vec![variable]);
            moved.cells.extend_from_slice(&self.moved);
            moved.n_rows = self.moved.len();
            found.push(match program.node(id) {
                Node::And(parts) => self.narrowed(moved, parts)?,
                _ => moved,
            });
        }
        found.retain(|candidate| !candidate.is_empty());
        Ok(found)
    }

    /// Whether an atom that must hold speaks of the variable.
    fn is_bound(&self, variable: Var, id: NodeId) -> bool {
        match self.run.program.node(id) {
            Node::Atom(_, slots) => {
                slots.iter().any(|slot| matches!(slot, Slot::Variable(other) if *other == variable))
            }
            Node::And(parts) => parts.iter().any(|&part| self.is_bound(variable, part)),
            Node::Or(parts) => !parts.is_empty() && parts.iter().all(|&part| self.is_bound(variable, part)),
            Node::Exists(variables, inner) => {
                !variables.contains(&variable) && self.is_bound(variable, *inner)
            }
            Node::Equal(..) | Node::Compare(..) | Node::Not(_) | Node::Closure(_) | Node::Fix(_) => false,
        }
    }

    /// Without the rows that have elements which are no more.
    fn living(&self, table: Table) -> Table {
        let structure = self.run.structure;
        let is_dead = |id: &u32| !structure.has(Element::new(*id));
        if table.width() == 0 || !self.moved.iter().any(is_dead) {
            return table;
        }
        let mut kept = Table::empty(table.columns.clone());
        for row in table.cells.chunks_exact(table.width()).filter(|row| !row.iter().any(is_dead)) {
            kept.cells.extend_from_slice(row);
            kept.n_rows += 1;
        }
        kept
    }

    fn term_candidates(&mut self, id: TermId) -> Result<Vec<Table>, Refusal> {
        let program = self.run.program;
        stacker::maybe_grow(64 << 10, 1 << 20, || match program.term(id) {
            TermNode::Number(_)
            | TermNode::Given(_)
            | TermNode::ElementNumber(_)
            | TermNode::Function(..) => Ok(Vec::new()),
            TermNode::Characteristic(inner) => self.candidates(*inner),
            TermNode::Binary(_, left, right) => {
                let mut found = self.term_candidates(*left)?;
                found.extend(self.term_candidates(*right)?);
                Ok(found)
            }
            TermNode::Aggregate(_, variables, guard, term) => {
                let mut found = self.candidates_within(variables, *guard)?;
                found.extend(self.term_candidates(*term)?);
                Ok(found.into_iter().map(|candidate| without(&candidate, variables)).collect())
            }
        })
    }

    /// A conjunction changes only where its parts that do not change hold: atoms among them that touch what is known
    /// tell more of where that can be.
    fn narrowed(&mut self, candidate: Table, parts: &[NodeId]) -> Result<Table, Refusal> {
        let program = self.run.program;
        let mut table = candidate;
        let mut left: Vec<NodeId> = parts.to_vec();
        loop {
            let next = left.iter().position(|&part| match program.node(part) {
                Node::Atom(source, slots) => {
                    let touches = slots.iter().any(
                        |slot| matches!(slot, Slot::Variable(variable) if table.column(*variable).is_some()),
                    );
                    touches && !matches!(source, Source::Bound(_)) && self.delta(*source).is_none()
                }
                _ => false,
            });
            let Some(next) = next else { return Ok(table) };
            table = self.run.extend(left.remove(next), table)?;
        }
    }
}

/// Those with the same columns in one, so that each is looked at once.
fn grouped(candidates: Vec<Table>) -> Vec<Table> {
    let mut groups: Vec<Table> = Vec::new();
    for candidate in candidates {
        let same = groups.iter().position(|group| {
            group.width() == candidate.width()
                && candidate.columns.iter().all(|&column| group.column(column).is_some())
        });
        match same {
            Some(place) => {
                let group = std::mem::replace(&mut groups[place], Table::unit());
                groups[place] = group.united(&candidate);
            }
            None => groups.push(candidate),
        }
    }
    groups
}

fn without(table: &Table, variables: &[Var]) -> Table {
    let kept: Vec<usize> =
        (0..table.width()).filter(|&place| !variables.contains(&table.columns[place])).collect();
    table.projected(&kept)
}

/// The rows that are in one of the two only, sorted; none if there are none.
fn difference(before: &Rows, after: &Rows) -> Option<Rows> {
    let width = before.width;
    if width == 0 {
        return (before.n_rows != after.n_rows).then(|| Rows::new(0, 1, Vec::new()));
    }
    let mut cells = Vec::new();
    for (one, other) in [(before, after), (after, before)] {
        for row in one.cells.chunks_exact(width).filter(|row| !other.contains(row)) {
            cells.extend_from_slice(row);
        }
    }
    let (n_rows, cells) = sorted_distinct(width, cells.len() / width, cells);
    (n_rows > 0).then(|| Rows::new(width, n_rows, cells))
}
