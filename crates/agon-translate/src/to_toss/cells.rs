//! State terms with their names blanked as elements: `(cell 1 2 x)` becomes the predicate `Cell_x` of an element `cell_1_2`.
//!
//! Where a state term has two coordinates or more, its places become elements of their own, and what held of two values holds of
//! one place. Values that served only to say where a place is are gone then: all that static conditions say of places is
//! put together into one relation between them, and relations with the same tuples become one. So `(true (cell ?x ?y
//! white)) (succ ?y ?z) (not (true (cell ?x ?z white)))` comes to `Cell_white(a) and Succ(a, b) and not Cell_white(b)`.

mod relations;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::{Symbol, TermId};

use super::arena::Arena;
use super::cases::Ruling;
use super::formula::{Form, Relation, Val, Var, and, ex, not, or};

/// So many combinations of elements are tried for one relation, and for all.
const MAX_TRIED: usize = 400_000;
const MAX_TRIED_IN_ALL: usize = 3_000_000;

/// So many parts a formula may have when definitions are put in place.
const MAX_SIZE: usize = 4_000;

/// Which predicates are about places: the functor that their places have.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    pub(super) functor_of: BTreeMap<usize, Symbol>,
    /// By functor: the places.
    pub(super) places: BTreeMap<Symbol, Vec<TermId>>,
}

/// Something could not be said of places; the game is then told by values.
#[derive(Debug)]
pub(super) struct TooMuch;

/// What a value is: a coordinate of a place, if it is one.
type Aliases = BTreeMap<Var, (Var, usize)>;

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Argument {
    Constant(TermId),
    Coordinate(Var, usize),
    Value(Var),
}

/// A static condition about places and values.
#[derive(Clone, Debug)]
enum Constraint {
    In(usize, Vec<Argument>),
    Equal(Argument, Argument),
    Not(Box<Constraint>),
}

/// What is known where a formula stands.
#[derive(Clone, Default)]
struct Scope {
    aliases: Aliases,
    /// The place with these coordinates.
    known: BTreeMap<(Symbol, Vec<Val>), Var>,
    /// The functor of each place variable.
    sort: BTreeMap<Var, Symbol>,
}

struct Celler<'a, 'd> {
    arena: &'a mut Arena<'d>,
    cells: Cells,
    tables: BTreeMap<(usize, BTreeSet<Vec<TermId>>), usize>,
    coordinate_tables: BTreeMap<(Symbol, usize), usize>,
    tried: usize,
    values: Vec<TermId>,
    /// Places by functor and one of their coordinates.
    places_at: BTreeMap<(Symbol, usize, TermId), Vec<TermId>>,
    /// Rows of tables, found by what is known of them.
    known_rows: RefCell<relations::KnownRows>,
}

/// Tells a game by places where it can be.
pub(super) fn by_places(arena: &mut Arena<'_>) -> Result<(), TooMuch> {
    let cells = cells(arena);
    if cells.functor_of.is_empty() {
        return Ok(());
    }
    let values = values(arena);
    let mut places_at: BTreeMap<(Symbol, usize, TermId), Vec<TermId>> = BTreeMap::new();
    for (&functor, places) in &cells.places {
        for &place in places {
            for (index, coordinate) in arena.lifter.domain.bank.arguments(place).enumerate() {
                places_at.entry((functor, index, coordinate)).or_default().push(place);
            }
        }
    }
    let mut celler = Celler {
        arena,
        cells,
        tables: BTreeMap::new(),
        coordinate_tables: BTreeMap::new(),
        tried: 0,
        values,
        places_at,
        known_rows: RefCell::default(),
    };
    celler.game()
}

/// The predicates with two coordinates or more. Functors whose places are mostly the same share them.
fn cells(arena: &Arena<'_>) -> Cells {
    let domain = arena.lifter.domain;
    let mut cells = Cells::default();
    let mut rows: Vec<(Symbol, usize, BTreeSet<Vec<TermId>>)> = Vec::new();
    for (index, predicate) in domain.predicates.iter().enumerate() {
        let width = predicate.rows.first().map_or(0, Vec::len);
        if width < 2 {
            continue;
        }
        let own: BTreeSet<Vec<TermId>> = predicate.rows.iter().cloned().collect();
        let shared = rows.iter_mut().find(|(symbol, w, known)| {
            let is_same = *symbol == predicate.functor.0;
            *w == width && (is_same || known.intersection(&own).count() * 2 >= own.len().max(1))
        });
        match shared {
            Some((symbol, _, known)) => {
                known.extend(own);
                cells.functor_of.insert(index, *symbol);
            }
            None => {
                cells.functor_of.insert(index, predicate.functor.0);
                rows.push((predicate.functor.0, width, own));
            }
        }
    }
    // One width for one functor; a functor with two widths keeps its values.
    let mut widths: BTreeMap<Symbol, BTreeSet<usize>> = BTreeMap::new();
    rows.iter().for_each(|(symbol, width, _)| {
        widths.entry(*symbol).or_default().insert(*width);
    });
    cells.functor_of.retain(|_, symbol| widths[symbol].len() == 1);
    for (symbol, width, rows) in rows {
        if widths[&symbol].len() != 1 || width == 0 {
            continue;
        }
        let places = rows.iter().filter_map(|row| domain.bank.term(symbol, row).ok()).collect();
        cells.places.insert(symbol, places);
    }
    cells
}

/// All values that are no places.
fn values(arena: &Arena<'_>) -> Vec<TermId> {
    let domain = arena.lifter.domain;
    let mut values: BTreeSet<TermId> = BTreeSet::new();
    values.extend(arena.lifter.tables.iter().flat_map(|table| table.rows.iter().flatten()));
    values.extend(domain.predicates.iter().flat_map(|predicate| predicate.rows.iter().flatten()));
    for shape in domain.moves.iter().flat_map(BTreeMap::values) {
        values.extend(shape.values.iter().flatten());
    }
    values.into_iter().collect()
}

impl Celler<'_, '_> {
    fn game(&mut self) -> Result<(), TooMuch> {
        let mut rulings = Vec::new();
        for (location, target, ruling) in self.arena.rulings.clone() {
            let ruling = self.ruling(ruling)?;
            rulings.push((location, target, ruling));
        }
        let terminal = self.arena.terminal.clone();
        let terminal = self.closed(&terminal, &[])?;
        let mut payoffs = self.arena.payoffs.clone();
        for payoff in payoffs.iter_mut().flatten() {
            for (_, form) in &mut payoff.fixed {
                *form = self.closed(form, &[])?;
            }
            for (v, form) in &mut payoff.read {
                *form = self.closed(form, &[*v])?;
            }
        }
        let mut bodies = Vec::new();
        for index in 0..self.arena.lifter.defined.len() {
            let defined = self.arena.lifter.defined[index].clone();
            // Others are put in place.
            let is_kept = defined.is_recursive || defined.parameters.is_empty();
            bodies.push(if is_kept {
                Some(self.closed(&defined.body, &defined.parameters)?)
            } else {
                None
            });
        }
        for (index, body) in bodies.into_iter().enumerate() {
            if let Some(body) = body {
                self.arena.lifter.defined[index].body = body;
            }
        }
        self.arena.rulings = rulings;
        self.arena.terminal = terminal;
        self.arena.payoffs = payoffs;
        self.arena.cells = std::mem::take(&mut self.cells);
        Ok(())
    }

    /// A formula in which these variables alone are free, and stay values.
    fn closed(&mut self, form: &Form, free: &[Var]) -> Result<Form, TooMuch> {
        let form = self.inlined(form, 0)?;
        let mut pinned = self.pinned(&form);
        pinned.extend(free);
        self.block(&[], form, &Scope::default(), &pinned)
    }

    /// The formula with definitions that have parameters put in place.
    fn inlined(&mut self, form: &Form, depth: usize) -> Result<Form, TooMuch> {
        if depth > 200 {
            return Err(TooMuch);
        }
        Ok(match form {
            Form::Atom(Relation::Defined(index), arguments) => {
                let defined = self.arena.lifter.defined[*index].clone();
                if defined.is_recursive || defined.parameters.is_empty() {
                    return Ok(form.clone());
                }
                let body = self.arena.lifter.renamed(&defined.body);
                let by =
                    defined.parameters.iter().copied().zip(arguments.iter().copied()).collect();
                let form = self.inlined(&body.replace(&by), depth + 1)?;
                if size(&form) > MAX_SIZE {
                    return Err(TooMuch);
                }
                form
            }
            Form::Not(inner) => not(self.inlined(inner, depth + 1)?),
            Form::And(parts) => and(parts
                .iter()
                .map(|part| self.inlined(part, depth + 1))
                .collect::<Result<Vec<_>, _>>()?),
            Form::Or(parts) => or(parts
                .iter()
                .map(|part| self.inlined(part, depth + 1))
                .collect::<Result<Vec<_>, _>>()?),
            Form::Ex(variables, body) => ex(variables, self.inlined(body, depth + 1)?),
            other => other.clone(),
        })
    }

    /// The variables that must stay values: those that stand elsewhere than in places and static conditions.
    fn pinned(&self, form: &Form) -> BTreeSet<Var> {
        let mut pinned = BTreeSet::new();
        self.add_pinned(form, &mut pinned);
        pinned
    }

    fn add_pinned(&self, form: &Form, pinned: &mut BTreeSet<Var>) {
        match form {
            Form::Atom(Relation::Static(_), _) | Form::Same(..) | Form::Foreign => {}
            Form::Atom(Relation::Fluent(p), _) if self.cells.functor_of.contains_key(p) => {}
            Form::Atom(_, arguments) => pinned.extend(arguments.iter().filter_map(variable)),
            Form::Before(a, b) => pinned.extend([a, b].into_iter().filter_map(variable)),
            Form::Not(inner) | Form::Ex(_, inner) => self.add_pinned(inner, pinned),
            Form::And(parts) | Form::Or(parts) => {
                parts.iter().for_each(|part| self.add_pinned(part, pinned))
            }
        }
    }

    /// A formula under what is known, `variables` being quantified here.
    fn block(
        &mut self,
        variables: &[Var],
        form: Form,
        outer: &Scope,
        pinned: &BTreeSet<Var>,
    ) -> Result<Form, TooMuch> {
        if let Form::Or(parts) = form {
            let mut ways = Vec::new();
            for part in parts {
                // Each way has variables of its own.
                let part = ex(variables, part);
                let part =
                    if variables.is_empty() { part } else { self.arena.lifter.renamed(&part) };
                let mut pinned = pinned.clone();
                self.add_pinned(&part, &mut pinned);
                ways.push(self.block(&[], part, outer, &pinned)?);
            }
            return Ok(or(ways));
        }
        let (mut variables, mut parts) = (variables.to_vec(), Vec::new());
        flatten(form, &mut variables, &mut parts);
        let mut scope = outer.clone();
        scope.learn_equations(&parts);
        let mut new_places: Vec<Var> = Vec::new();
        let mut constraints = Vec::new();
        for part in &parts {
            if let Form::Atom(Relation::Fluent(p), arguments) = part
                && let Some(&functor) = self.cells.functor_of.get(p)
                && !scope.known.contains_key(&(functor, arguments.clone()))
            {
                new_places.push(self.add_place(functor, arguments, &mut scope));
            }
        }
        self.alias(&new_places, &variables, pinned, &mut scope);
        for &place in &new_places {
            self.place_constraints(place, &scope, &mut constraints);
        }
        let mut left = self.rest(parts, &scope, pinned, &mut constraints)?;
        variables.retain(|v| !scope.aliases.contains_key(v));
        let mut quantified = variables;
        quantified.extend(&new_places);
        left.splice(0..0, self.relations(constraints, &scope, &mut quantified, &left.clone())?);
        Ok(ex(&quantified, and(left)))
    }

    /// A new variable for the place with these coordinates.
    fn add_place(&mut self, functor: Symbol, coordinates: &[Val], scope: &mut Scope) -> Var {
        let name = self.arena.lifter.symbol_name(functor).chars().next().unwrap_or('e').to_string();
        let place = self.arena.lifter.fresh(&name);
        scope.known.insert((functor, coordinates.to_vec()), place);
        scope.sort.insert(place, functor);
        place
    }

    /// Values quantified here that are coordinates of places found here are no more than that.
    fn alias(
        &mut self,
        places: &[Var],
        variables: &[Var],
        pinned: &BTreeSet<Var>,
        scope: &mut Scope,
    ) {
        let known: Vec<(Vec<Val>, Var)> = scope
            .known
            .iter()
            .map(|((_, coordinates), &place)| (coordinates.clone(), place))
            .collect();
        for &place in places {
            let Some((coordinates, _)) = known.iter().find(|(_, p)| *p == place) else { continue };
            for (index, value) in coordinates.iter().enumerate() {
                if let Val::Var(v) = value
                    && variables.contains(v)
                    && !pinned.contains(v)
                {
                    scope.aliases.entry(*v).or_insert((place, index));
                }
            }
        }
    }

    /// Where a place is, as far as that is not how others are told.
    fn place_constraints(&self, place: Var, scope: &Scope, constraints: &mut Vec<Constraint>) {
        let Some(((_, coordinates), _)) = scope.known.iter().find(|(_, p)| **p == place) else {
            return;
        };
        for (index, value) in coordinates.iter().enumerate() {
            let own = Argument::Coordinate(place, index);
            let other = argument(value, scope);
            if own != other {
                constraints.push(Constraint::Equal(own, other));
            }
        }
    }

    /// The parts that are no static conditions, told by places; static ones go to `constraints`.
    fn rest(
        &mut self,
        parts: Vec<Form>,
        scope: &Scope,
        pinned: &BTreeSet<Var>,
        constraints: &mut Vec<Constraint>,
    ) -> Result<Vec<Form>, TooMuch> {
        let mut left = Vec::new();
        for part in parts {
            if let Some(constraint) = constraint(&part, scope) {
                constraints.push(constraint);
                continue;
            }
            left.push(match part {
                Form::Atom(Relation::Fluent(p), arguments) => match self.cells.functor_of.get(&p) {
                    Some(&functor) => {
                        let place = scope.known[&(functor, arguments)];
                        Form::Atom(Relation::Fluent(p), vec![Val::Var(place)])
                    }
                    None => Form::Atom(Relation::Fluent(p), arguments),
                },
                Form::Not(inner) => not(self.block(&[], *inner, scope, pinned)?),
                Form::Or(ways) => self.block(&[], Form::Or(ways), scope, pinned)?,
                other => other,
            });
        }
        Ok(left)
    }

    /// A rule told by places.
    fn ruling(&mut self, ruling: Ruling) -> Result<Ruling, TooMuch> {
        let condition = self.inlined(&ruling.condition, 0)?;
        let mut pinned = self.pinned(&condition);
        for change in &ruling.changes {
            if !self.cells.functor_of.contains_key(&change.predicate) {
                pinned.extend(change.tuple.iter().flatten().filter_map(variable));
            }
        }
        let (mut variables, mut parts) = (Vec::new(), Vec::new());
        flatten(condition, &mut variables, &mut parts);
        let elements: BTreeSet<Var> = ruling.elements.iter().copied().collect();
        let is_own = |values: &[Val]| {
            values.iter().all(|value| variable(value).is_none_or(|v| elements.contains(&v)))
        };
        let mut scope = Scope::default();
        let mut places: Vec<Var> = Vec::new();
        // What the match itself determines is part of it.
        for part in &parts {
            if let Form::Atom(Relation::Fluent(p), arguments) = part
                && let Some(&functor) = self.cells.functor_of.get(p)
                && is_own(arguments)
                && !scope.known.contains_key(&(functor, arguments.clone()))
            {
                places.push(self.add_place(functor, arguments, &mut scope));
            }
        }
        for change in &ruling.changes {
            let Some(&functor) = self.cells.functor_of.get(&change.predicate) else { continue };
            let Some(tuple) = change.tuple.iter().copied().collect::<Option<Vec<Val>>>() else {
                continue;
            };
            if scope.known.contains_key(&(functor, tuple.clone())) {
                continue;
            }
            // What goes may be nowhere, and then the rule must apply all the same.
            if !change.holds && !self.is_always_a_place(functor, &tuple, &ruling) {
                return Err(TooMuch);
            }
            places.push(self.add_place(functor, &tuple, &mut scope));
        }
        self.alias(&places, &ruling.elements, &pinned, &mut scope);
        let mut constraints = Vec::new();
        for &place in &places {
            self.place_constraints(place, &scope, &mut constraints);
        }
        let outer = scope.clone();
        let mut inner: Vec<Var> = Vec::new();
        for part in &parts {
            if let Form::Atom(Relation::Fluent(p), arguments) = part
                && let Some(&functor) = self.cells.functor_of.get(p)
                && !scope.known.contains_key(&(functor, arguments.clone()))
            {
                inner.push(self.add_place(functor, arguments, &mut scope));
            }
        }
        self.alias(&inner, &variables, &pinned, &mut scope);
        for &place in &inner {
            self.place_constraints(place, &scope, &mut constraints);
        }
        let mut left = self.rest(parts, &scope, &pinned, &mut constraints)?;
        variables.retain(|v| !scope.aliases.contains_key(v));
        let mut quantified = variables;
        quantified.extend(&inner);
        left.splice(0..0, self.relations(constraints, &scope, &mut quantified, &left.clone())?);
        let condition = ex(&quantified, and(left));
        let mut listed: Vec<Var> = Vec::new();
        for v in &ruling.elements {
            let own = outer.aliases.get(v).map_or(*v, |(place, _)| *place);
            if !listed.contains(&own) {
                listed.push(own);
            }
        }
        listed.extend(
            places.iter().filter(|place| !listed.contains(place)).copied().collect::<Vec<_>>(),
        );
        let mut changes = ruling.changes.clone();
        for change in &mut changes {
            let Some(&functor) = self.cells.functor_of.get(&change.predicate) else { continue };
            change.tuple = match change.tuple.iter().copied().collect::<Option<Vec<Val>>>() {
                Some(tuple) => vec![Some(Val::Var(outer.known[&(functor, tuple)]))],
                None if change.tuple.iter().all(Option::is_none) => vec![None],
                None => return Err(TooMuch),
            };
        }
        let coordinates = outer.aliases.clone();
        Ok(Ruling { elements: listed, condition, changes, coordinates, ..ruling })
    }

    /// Whether a tuple is a place whatever move of the rule is made.
    fn is_always_a_place(&self, functor: Symbol, tuple: &[Val], ruling: &Ruling) -> bool {
        let domain = self.arena.lifter.domain;
        let places: BTreeSet<TermId> = self.cells.places[&functor].iter().copied().collect();
        let shape = &domain.moves[ruling.role][&ruling.functor];
        shape.terms.iter().all(|&term| {
            let mut assigned: BTreeMap<Var, TermId> = BTreeMap::new();
            for (value, cell) in ruling.arguments.iter().zip(domain.bank.arguments(term)) {
                match value {
                    Val::Var(v) => {
                        assigned.insert(*v, cell);
                    }
                    Val::Term(term) if *term != cell => return true,
                    Val::Term(_) => {}
                }
            }
            let row: Option<Vec<TermId>> = tuple
                .iter()
                .map(|value| match value {
                    Val::Var(v) => assigned.get(v).copied(),
                    Val::Term(term) => Some(*term),
                })
                .collect();
            row.and_then(|row| domain.bank.find(functor, &row))
                .is_some_and(|place| places.contains(&place))
        })
    }
}

impl Scope {
    /// Places are known by other coordinates too, where equations say that these are the same.
    fn learn_equations(&mut self, parts: &[Form]) {
        for part in parts {
            let Form::Same(a, b) = part else { continue };
            for (from, to) in [(*a, *b), (*b, *a)] {
                let with_other =
                    self.known.iter().filter(|((_, coordinates), _)| coordinates.contains(&from));
                let more: Vec<((Symbol, Vec<Val>), Var)> = with_other
                    .map(|((functor, coordinates), &place)| {
                        let other =
                            coordinates.iter().map(|&value| if value == from { to } else { value });
                        ((*functor, other.collect()), place)
                    })
                    .collect();
                for (key, place) in more {
                    self.known.entry(key).or_insert(place);
                }
            }
        }
    }
}

/// Brings conjunctions and quantifiers that stand side by side or in each other to one list.
fn flatten(form: Form, variables: &mut Vec<Var>, parts: &mut Vec<Form>) {
    match form {
        Form::And(inner) => inner.into_iter().for_each(|part| flatten(part, variables, parts)),
        Form::Ex(more, body) => {
            variables.extend(more);
            flatten(*body, variables, parts);
        }
        other => parts.push(other),
    }
}

fn variable(value: &Val) -> Option<Var> {
    match value {
        Val::Var(v) => Some(*v),
        Val::Term(_) => None,
    }
}

fn argument(value: &Val, scope: &Scope) -> Argument {
    match value {
        Val::Term(term) => Argument::Constant(*term),
        Val::Var(v) => match scope.aliases.get(v) {
            Some(&(place, index)) => Argument::Coordinate(place, index),
            None => Argument::Value(*v),
        },
    }
}

/// A static condition, if it is one, about places and values.
fn constraint(form: &Form, scope: &Scope) -> Option<Constraint> {
    match form {
        Form::Atom(Relation::Static(table), arguments) => Some(Constraint::In(
            *table,
            arguments.iter().map(|value| argument(value, scope)).collect(),
        )),
        Form::Same(a, b) => {
            let (a, b) = (argument(a, scope), argument(b, scope));
            // Places first, constants last.
            let rank = |argument: &Argument| match argument {
                Argument::Coordinate(..) => 0,
                Argument::Value(_) => 1,
                Argument::Constant(_) => 2,
            };
            Some(if rank(&a) <= rank(&b) {
                Constraint::Equal(a, b)
            } else {
                Constraint::Equal(b, a)
            })
        }
        Form::Not(inner) => match &**inner {
            Form::Atom(Relation::Static(_), _) | Form::Same(..) => {
                Some(Constraint::Not(Box::new(constraint(inner, scope)?)))
            }
            _ => None,
        },
        Form::Atom(..)
        | Form::Before(..)
        | Form::Foreign
        | Form::And(_)
        | Form::Or(_)
        | Form::Ex(..) => None,
    }
}

fn size(form: &Form) -> usize {
    match form {
        Form::Atom(..) | Form::Same(..) | Form::Before(..) | Form::Foreign => 1,
        Form::Not(inner) | Form::Ex(_, inner) => 1 + size(inner),
        Form::And(parts) | Form::Or(parts) => 1 + parts.iter().map(size).sum::<usize>(),
    }
}
