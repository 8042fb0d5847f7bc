//! What static conditions say of places, as relations between them: all solutions are found, and equal ones are one relation.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use agon_datalog::{Symbol, TermId};

use super::super::formula::{FALSE, Form, Relation, TRUE, Val, Var, not, same};
use super::super::lift::Table;
use super::{Argument, Celler, Constraint, MAX_TRIED, MAX_TRIED_IN_ALL, Scope, TooMuch};

/// By table, the places that are known, as bits, and the place that is wanted: what the wanted cell can be, by what the known ones are.
pub(super) type KnownRows = BTreeMap<(usize, u64, usize), Rc<BTreeMap<Vec<TermId>, Rc<[TermId]>>>>;

impl Celler<'_, '_> {
    /// Static conditions as relations between places and values. Values that stand nowhere else are left out.
    pub(super) fn relations(
        &mut self,
        constraints: Vec<Constraint>,
        scope: &Scope,
        quantified: &mut Vec<Var>,
        left: &[Form],
    ) -> Result<Vec<Form>, TooMuch> {
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
        // A value between places is left out by joining all that is said of it.
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

    /// The relation of all elements that satisfy conditions.
    fn relation(
        &mut self,
        variables: &BTreeSet<Var>,
        hidden: &BTreeSet<Var>,
        constraints: &[Constraint],
        scope: &Scope,
    ) -> Result<Form, TooMuch> {
        // A coordinate of a place that stays a value has a relation of its own name.
        if let ([Constraint::Equal(Argument::Coordinate(place, index), Argument::Value(v))], true) =
            (constraints, hidden.is_empty())
        {
            let table = self.coordinate_table(scope.sort[place], *index);
            return Ok(Form::Atom(Relation::Static(table), vec![Val::Var(*place), Val::Var(*v)]));
        }
        if let ([Constraint::In(table, arguments)], true) = (constraints, hidden.is_empty())
            && arguments.iter().all(|argument| !matches!(argument, Argument::Coordinate(..)))
        {
            let values = arguments.iter().map(|argument| match argument {
                Argument::Constant(term) => Val::Term(*term),
                Argument::Value(v) | Argument::Coordinate(v, _) => Val::Var(*v),
            });
            let values = values.collect();
            return Ok(self.arena.lifter.table_atom(*table, values));
        }
        if let ([Constraint::Equal(Argument::Value(a), Argument::Value(b))], true) =
            (constraints, hidden.is_empty())
        {
            return Ok(same(Val::Var(*a), Val::Var(*b)));
        }
        if let ([Constraint::Equal(Argument::Value(a), Argument::Constant(b))], true) =
            (constraints, hidden.is_empty())
        {
            return Ok(same(Val::Var(*a), Val::Term(*b)));
        }
        let listed: Vec<Var> = variables.iter().copied().collect();
        // Places first: they are fewer combinations than their coordinates.
        let mut order: Vec<Var> = listed.clone();
        order.extend(hidden);
        let mut rows: BTreeSet<Vec<TermId>> = BTreeSet::new();
        let mut n_tried = 0;
        self.search(
            &order,
            listed.len(),
            constraints,
            scope,
            &mut BTreeMap::new(),
            &mut rows,
            &mut n_tried,
        )?;
        self.tried += n_tried;
        if self.tried > MAX_TRIED_IN_ALL {
            return Err(TooMuch);
        }
        if rows.is_empty() {
            return Ok(FALSE);
        }
        let full: Option<usize> = listed.iter().try_fold(1_usize, |n, v| {
            scope.sort.get(v).and_then(|functor| n.checked_mul(self.cells.places[functor].len()))
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
        let id = self.arena.lifter.add_table(Table { name, arity: key.0, rows: key.1.clone() });
        self.tables.insert(key, id);
        Ok(Form::Atom(Relation::Static(id), arguments))
    }

    fn coordinate_table(&mut self, functor: Symbol, index: usize) -> usize {
        if let Some(&known) = self.coordinate_tables.get(&(functor, index)) {
            return known;
        }
        let bank = &self.arena.lifter.domain.bank;
        let rows = self.cells.places[&functor]
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

    #[allow(clippy::too_many_arguments)]
    fn search(
        &self,
        order: &[Var],
        n_listed: usize,
        constraints: &[Constraint],
        scope: &Scope,
        assigned: &mut BTreeMap<Var, TermId>,
        rows: &mut BTreeSet<Vec<TermId>>,
        n_tried: &mut usize,
    ) -> Result<(), TooMuch> {
        let depth = assigned.len();
        let Some(&v) = order.get(depth) else {
            rows.insert(order[..n_listed].iter().map(|v| assigned[v]).collect());
            return Ok(());
        };
        let narrowed = self.narrowed(v, constraints, scope, assigned);
        let choices = match (&narrowed, scope.sort.get(&v)) {
            (Some(choices), _) => choices,
            (None, Some(functor)) => &self.cells.places[functor],
            (None, None) => &self.values,
        };
        for &choice in choices {
            *n_tried += 1;
            if *n_tried > MAX_TRIED {
                return Err(TooMuch);
            }
            assigned.insert(v, choice);
            let fits = constraints
                .iter()
                .all(|constraint| self.holds(constraint, assigned).unwrap_or(true));
            if fits {
                self.search(order, n_listed, constraints, scope, assigned, rows, n_tried)?;
            }
            assigned.remove(&v);
        }
        Ok(())
    }

    /// What a variable can be by a condition of which all else is known. `None` if there is no such condition.
    fn narrowed(
        &self,
        v: Var,
        constraints: &[Constraint],
        scope: &Scope,
        assigned: &BTreeMap<Var, TermId>,
    ) -> Option<Vec<TermId>> {
        let mut best: Option<Vec<TermId>> = None;
        for constraint in constraints {
            // The values that one mention of the variable can have, and which coordinate it is.
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

    /// What the rows of a table have at a place, of those that agree with what is known; sorted. Asked for very often, so each way to ask has
    /// an index.
    fn cells_at(&self, table: usize, known: &[Option<TermId>], place: usize) -> Rc<[TermId]> {
        let rows = &self.arena.lifter.tables[table].rows;
        let is_known = |at: usize| known[at].is_some();
        let places: Vec<usize> = (0..known.len()).filter(|&at| is_known(at)).collect();
        // Relations of structures are never that wide; this one would only be found row by row.
        if known.len() > 64 {
            let fits = |row: &&Vec<TermId>| places.iter().all(|&at| known[at] == Some(row[at]));
            let found: BTreeSet<TermId> = rows.iter().filter(fits).map(|row| row[place]).collect();
            return found.into_iter().collect();
        }
        let mask = places.iter().fold(0_u64, |mask, &at| mask | 1 << at);
        let mut all = self.known_rows.borrow_mut();
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

    /// Whether a condition holds, if all that it speaks of is known.
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

    /// Which coordinate of a place it is.
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
