//! Static conditions on places as relations. All solutions are enumerated, and relations with equal
//! solutions are merged.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use agon_datalog::{Symbol, TermId};

use super::super::formula::{FALSE, Form, Relation, TRUE, Val, Var, not, same};
use super::super::lift::Table;
use super::{
    Argument, Constraint, MAX_TRIED, MAX_TRIED_TOTAL, NotExpressible, PlaceLowering, Scope,
};

/// Indexes of tables. The key is the table, the known columns as a bit set, and the wanted column.
/// The value maps the known cells to the possible wanted cells.
pub(super) type TableIndexes =
    BTreeMap<(usize, u64, usize), Rc<BTreeMap<Vec<TermId>, Rc<[TermId]>>>>;

/// State of the enumeration of a relation's rows.
struct Search<'s> {
    /// Variables in the order in which they are assigned.
    order: &'s [Var],
    /// Number of variables that are columns of the relation. They come first.
    n_listed: usize,
    constraints: &'s [Constraint],
    scope: &'s Scope,
    assigned: BTreeMap<Var, TermId>,
    rows: BTreeSet<Vec<TermId>>,
    n_tried: usize,
}

impl PlaceLowering<'_, '_> {
    /// Turns static conditions into relations between places and values. Values that occur nowhere
    /// else are eliminated.
    pub(super) fn relations(
        &mut self,
        constraints: Vec<Constraint>,
        scope: &Scope,
        quantified: &mut Vec<Var>,
        left: &[Form],
    ) -> Result<Vec<Form>, NotExpressible> {
        let elsewhere: BTreeSet<Var> = left.iter().flat_map(Form::free).collect();
        let mut groups: Vec<(BTreeSet<Var>, BTreeSet<Var>, Vec<Constraint>)> = Vec::new();
        for constraint in constraints {
            let mut variables = BTreeSet::new();
            constraint.add_variables(&mut variables);
            match groups.iter_mut().find(|(known, _, _)| *known == variables) {
                Some((_, _, own)) => own.push(constraint),
                None => groups.push((variables, BTreeSet::new(), vec![constraint])),
            }
        }
        // A value that only connects places is eliminated by joining its conditions.
        let locals: Vec<Var> = quantified
            .iter()
            .copied()
            .filter(|v| !scope.sort.contains_key(v) && !elsewhere.contains(v))
            .collect();
        for v in locals {
            let (with, without): (Vec<_>, Vec<_>) = std::mem::take(&mut groups)
                .into_iter()
                .partition(|(variables, _, _)| variables.contains(&v));
            let mut all: BTreeSet<Var> =
                with.iter().flat_map(|(variables, _, _)| variables.iter().copied()).collect();
            all.remove(&v);
            let is_positive =
                with.iter().any(|(_, _, own)| own.iter().any(|c| !matches!(c, Constraint::Not(_))));
            if with.is_empty() || all.is_empty() || all.len() > 2 || !is_positive {
                groups = without.into_iter().chain(with).collect();
                continue;
            }
            let mut inner = BTreeSet::from([v]);
            let mut own = Vec::new();
            for (_, hidden, constraints) in with {
                inner.extend(hidden);
                own.extend(constraints);
            }
            quantified.retain(|q| *q != v);
            groups = without;
            match groups.iter_mut().find(|(known, hidden, _)| *known == all && hidden.is_empty()) {
                Some((_, hidden, known)) => {
                    hidden.extend(inner);
                    known.extend(own);
                }
                None => groups.push((all, inner, own)),
            }
        }
        let mut forms = Vec::new();
        for (variables, hidden, constraints) in groups {
            let is_negative = constraints.iter().all(|c| matches!(c, Constraint::Not(_)));
            if is_negative && hidden.is_empty() && variables.len() > 1 {
                for constraint in constraints {
                    let Constraint::Not(inner) = constraint else { continue };
                    forms.push(not(self.relation(
                        &variables,
                        &BTreeSet::new(),
                        &[*inner],
                        scope,
                    )?));
                }
                continue;
            }
            forms.push(self.relation(&variables, &hidden, &constraints, scope)?);
        }
        Ok(forms)
    }

    /// Returns the relation of all elements that satisfy the constraints.
    fn relation(
        &mut self,
        variables: &BTreeSet<Var>,
        hidden: &BTreeSet<Var>,
        constraints: &[Constraint],
        scope: &Scope,
    ) -> Result<Form, NotExpressible> {
        if let ([constraint], true) = (constraints, hidden.is_empty())
            && let Some(form) = self.simple_relation(constraint, scope)
        {
            return Ok(form);
        }
        let listed: Vec<Var> = variables.iter().copied().collect();
        // Places come first, because there are fewer of them than combinations of coordinates.
        let mut order: Vec<Var> = listed.clone();
        order.extend(hidden);
        let mut search = Search {
            order: &order,
            n_listed: listed.len(),
            constraints,
            scope,
            assigned: BTreeMap::new(),
            rows: BTreeSet::new(),
            n_tried: 0,
        };
        self.search(&mut search)?;
        let Search { rows, n_tried, .. } = search;
        self.tried += n_tried;
        if self.tried > MAX_TRIED_TOTAL {
            return Err(NotExpressible);
        }
        if rows.is_empty() {
            return Ok(FALSE);
        }
        let full: Option<usize> = listed.iter().try_fold(1_usize, |n, v| {
            scope
                .sort
                .get(v)
                .and_then(|functor| n.checked_mul(self.place_map.places[functor].len()))
        });
        if full == Some(rows.len()) {
            return Ok(TRUE);
        }
        let arguments: Vec<Val> = listed.iter().map(|&v| Val::Var(v)).collect();
        let key = (listed.len(), rows);
        if let Some(&known) = self.tables.get(&key) {
            return Ok(Form::Atom(Relation::Static(known), arguments));
        }
        if listed.len() == 2 {
            let inverse = key.1.iter().map(|row| vec![row[1], row[0]]).collect();
            if let Some(&known) = self.tables.get(&(2, inverse)) {
                return Ok(Form::Atom(Relation::Static(known), vec![arguments[1], arguments[0]]));
            }
        }
        let name = self.table_name(constraints);
        let id = self.arena.lifter.add_table(Table { name, arity: key.0, rows: key.1.clone() });
        self.tables.insert(key, id);
        Ok(Form::Atom(Relation::Static(id), arguments))
    }

    /// Returns the formula of a single constraint that needs no new relation.
    fn simple_relation(&mut self, constraint: &Constraint, scope: &Scope) -> Option<Form> {
        Some(match constraint {
            // The relation between a place and a coordinate that stays a value has its own name.
            Constraint::Equal(Argument::Coordinate(place, index), Argument::Value(v)) => {
                let table = self.coordinate_table(scope.sort[place], *index);
                Form::Atom(Relation::Static(table), vec![Val::Var(*place), Val::Var(*v)])
            }
            Constraint::In(table, arguments)
                if !arguments.iter().any(|a| matches!(a, Argument::Coordinate(..))) =>
            {
                let values = arguments.iter().map(|argument| match argument {
                    Argument::Constant(term) => Val::Term(*term),
                    Argument::Value(v) | Argument::Coordinate(v, _) => Val::Var(*v),
                });
                self.arena.lifter.table_atom(*table, values.collect())
            }
            Constraint::Equal(Argument::Value(a), Argument::Value(b)) => {
                same(Val::Var(*a), Val::Var(*b))
            }
            Constraint::Equal(Argument::Value(a), Argument::Constant(b)) => {
                same(Val::Var(*a), Val::Term(*b))
            }
            Constraint::In(..) | Constraint::Equal(..) | Constraint::Not(_) => return None,
        })
    }

    /// Returns a name for the relation of all constraints.
    fn table_name(&self, constraints: &[Constraint]) -> String {
        let mut name = String::new();
        for constraint in constraints {
            let part = self.constraint_name(constraint);
            if !name.split('_').any(|known| known == part) {
                if !name.is_empty() {
                    name.push('_');
                }
                name.push_str(&part);
            }
        }
        name
    }

    /// Returns the relation between places and one of their coordinates.
    fn coordinate_table(&mut self, functor: Symbol, index: usize) -> usize {
        if let Some(&known) = self.coordinate_tables.get(&(functor, index)) {
            return known;
        }
        let bank = &self.arena.lifter.domain.bank;
        let rows = self.place_map.places[&functor]
            .iter()
            .map(|&place| vec![place, bank.argument(place, index)])
            .collect();
        let name = format!("{}_at_{}", self.arena.lifter.symbol_name(functor), index + 1);
        let id = self.arena.lifter.add_table(Table { name, arity: 2, rows });
        self.coordinate_tables.insert((functor, index), id);
        id
    }

    fn constraint_name(&self, constraint: &Constraint) -> String {
        match constraint {
            Constraint::In(table, _) => self.arena.lifter.tables[*table].name.clone(),
            Constraint::Equal(Argument::Coordinate(_, index), Argument::Constant(term)) => {
                format!(
                    "{}_is_{}",
                    ["column", "row", "level"].get(*index).unwrap_or(&"part"),
                    self.arena.lifter.term_name(*term)
                )
            }
            Constraint::Equal(Argument::Coordinate(_, index), _) => {
                format!("same {}", ["column", "row", "level"].get(*index).unwrap_or(&"part"))
            }
            Constraint::Equal(..) => "same".to_owned(),
            Constraint::Not(inner) => format!("not {}", self.constraint_name(inner)),
        }
    }

    /// Enumerates the assignments that satisfy all constraints, by backtracking.
    fn search(&self, search: &mut Search<'_>) -> Result<(), NotExpressible> {
        let Some(&v) = search.order.get(search.assigned.len()) else {
            let listed = search.order[..search.n_listed].iter();
            search.rows.insert(listed.map(|v| search.assigned[v]).collect());
            return Ok(());
        };
        let (constraints, scope) = (search.constraints, search.scope);
        let narrowed = self.narrowed(v, constraints, scope, &search.assigned);
        let choices = match (&narrowed, scope.sort.get(&v)) {
            (Some(choices), _) => choices,
            (None, Some(functor)) => &self.place_map.places[functor],
            (None, None) => &self.values,
        };
        for &choice in choices {
            search.n_tried += 1;
            if search.n_tried > MAX_TRIED {
                return Err(NotExpressible);
            }
            search.assigned.insert(v, choice);
            let holds = |constraint| self.holds(constraint, &search.assigned).unwrap_or(true);
            if constraints.iter().all(holds) {
                self.search(search)?;
            }
            search.assigned.remove(&v);
        }
        Ok(())
    }

    /// Returns the values of a variable that are allowed by a constraint in which all other
    /// variables are assigned. `None` if there is no such constraint.
    fn narrowed(
        &self,
        v: Var,
        constraints: &[Constraint],
        scope: &Scope,
        assigned: &BTreeMap<Var, TermId>,
    ) -> Option<Vec<TermId>> {
        let mut best: Option<Vec<TermId>> = None;
        for constraint in constraints {
            // The possible values of one occurrence of the variable, and the index of its
            // coordinate.
            let (index, values): (Option<usize>, Rc<[TermId]>) = match constraint {
                Constraint::Not(_) => continue,
                Constraint::Equal(a, b) => {
                    let (own, other) = if a.is_about(v) { (a, b) } else { (b, a) };
                    if !own.is_about(v) || other.is_about(v) {
                        continue;
                    }
                    let Some(value) = self.value(other, assigned) else { continue };
                    (own.index(), Rc::from([value]))
                }
                Constraint::In(table, arguments) => {
                    let Some(place) = arguments.iter().position(|argument| argument.is_about(v))
                    else {
                        continue;
                    };
                    let known: Vec<Option<TermId>> =
                        arguments.iter().map(|argument| self.value(argument, assigned)).collect();
                    let rows = &self.arena.lifter.tables[*table].rows;
                    if rows.len() > 4 * self.values.len() && known.iter().all(Option::is_none) {
                        continue;
                    }
                    (arguments[place].index(), self.cells_at(*table, &known, place))
                }
            };
            let choices: Vec<TermId> = match (index, scope.sort.get(&v)) {
                (Some(index), Some(functor)) => {
                    let at = |value| {
                        self.places_at.get(&(*functor, index, value)).into_iter().flatten().copied()
                    };
                    values.iter().copied().flat_map(at).collect()
                }
                _ => values.to_vec(),
            };
            if best.as_ref().is_none_or(|known| choices.len() < known.len()) {
                best = Some(choices);
            }
        }
        best
    }

    /// Returns the sorted cells of a column in the rows of a table that agree with the known cells.
    /// This is called very often, so each combination of columns has an index.
    fn cells_at(&self, table: usize, known: &[Option<TermId>], place: usize) -> Rc<[TermId]> {
        let rows = &self.arena.lifter.tables[table].rows;
        let is_known = |at: usize| known[at].is_some();
        let places: Vec<usize> = (0..known.len()).filter(|&at| is_known(at)).collect();
        // Relations of structures are never this wide. Scan the rows.
        if known.len() > 64 {
            let fits = |row: &&Vec<TermId>| places.iter().all(|&at| known[at] == Some(row[at]));
            let found: BTreeSet<TermId> = rows.iter().filter(fits).map(|row| row[place]).collect();
            return found.into_iter().collect();
        }
        let mask = places.iter().fold(0_u64, |mask, &at| mask | 1 << at);
        let mut all = self.table_indexes.borrow_mut();
        let index = all.entry((table, mask, place)).or_insert_with(|| {
            let mut found: BTreeMap<Vec<TermId>, BTreeSet<TermId>> = BTreeMap::new();
            for row in rows {
                found
                    .entry(places.iter().map(|&at| row[at]).collect())
                    .or_default()
                    .insert(row[place]);
            }
            Rc::new(
                found.into_iter().map(|(key, cells)| (key, cells.into_iter().collect())).collect(),
            )
        });
        let key: Vec<TermId> = known.iter().flatten().copied().collect();
        index.get(&key).cloned().unwrap_or_else(|| Rc::from([]))
    }

    fn value(&self, argument: &Argument, assigned: &BTreeMap<Var, TermId>) -> Option<TermId> {
        match argument {
            Argument::Constant(term) => Some(*term),
            Argument::Coordinate(place, index) => assigned
                .get(place)
                .map(|&place| self.arena.lifter.domain.bank.argument(place, *index)),
            Argument::Value(v) => assigned.get(v).copied(),
        }
    }

    /// Returns whether a constraint holds, or `None` if a variable is not assigned.
    fn holds(&self, constraint: &Constraint, assigned: &BTreeMap<Var, TermId>) -> Option<bool> {
        let value = |argument: &Argument| self.value(argument, assigned);
        match constraint {
            Constraint::In(table, arguments) => {
                let row: Vec<TermId> = arguments.iter().map(value).collect::<Option<_>>()?;
                Some(self.arena.lifter.tables[*table].rows.contains(&row))
            }
            Constraint::Equal(a, b) => Some(value(a)? == value(b)?),
            Constraint::Not(inner) => self.holds(inner, assigned).map(|holds| !holds),
        }
    }
}

impl Argument {
    fn is_about(&self, variable: Var) -> bool {
        match self {
            Argument::Constant(_) => false,
            Argument::Coordinate(v, _) | Argument::Value(v) => *v == variable,
        }
    }

    /// Returns the index of the coordinate, if the argument is a coordinate.
    fn index(&self) -> Option<usize> {
        match self {
            Argument::Coordinate(_, index) => Some(*index),
            Argument::Constant(_) | Argument::Value(_) => None,
        }
    }
}

impl Constraint {
    fn add_variables(&self, variables: &mut BTreeSet<Var>) {
        let mut note = |argument: &Argument| match argument {
            Argument::Constant(_) => {}
            Argument::Coordinate(v, _) | Argument::Value(v) => {
                variables.insert(*v);
            }
        };
        match self {
            Constraint::In(_, arguments) => arguments.iter().for_each(note),
            Constraint::Equal(a, b) => {
                note(a);
                note(b);
            }
            Constraint::Not(inner) => inner.add_variables(variables),
        }
    }
}
