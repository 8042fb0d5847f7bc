//! Places as elements: `(cell 1 2 x)` becomes the predicate `Cell_x` of an element `cell_1_2`.
//!
//! Where a state term has two coordinates or more, its places become elements, and a predicate of
//! two values becomes a predicate of one place. Values that only identified a place disappear. All
//! static conditions on the same places are joined into one relation, and relations with the same
//! tuples are merged. So `(true (cell ?x ?y white)) (succ ?y ?z) (not (true (cell ?x ?z white)))`
//! becomes `Cell_white(a) and Succ(a, b) and not Cell_white(b)`.

mod relations;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use agon_datalog::{Symbol, TermId};

use super::arena::Arena;
use super::cases::{Change, TranslatedRule};
use super::formula::{Form, Relation, Val, Var, and, ex, not, or};

/// Maximum number of combinations of elements that are tried for one relation.
const MAX_TRIED: usize = 400_000;

/// Maximum number of combinations of elements that are tried for all relations together.
const MAX_TRIED_TOTAL: usize = 3_000_000;

/// Maximum size of a formula after definitions are inlined.
const MAX_SIZE: usize = 4_000;

/// The predicates that apply to places, with the functor of their places.
#[derive(Clone, Debug, Default)]
pub(super) struct PlaceMap {
    pub(super) functor_of: BTreeMap<usize, Symbol>,
    /// Places by functor.
    pub(super) places: BTreeMap<Symbol, Vec<TermId>>,
}

/// Error: a condition cannot be expressed with places. The game is then expressed with values.
#[derive(Debug)]
pub(super) struct NotExpressible;

/// Variables that are coordinates of a place: the place and the index of the coordinate.
type Aliases = BTreeMap<Var, (Var, usize)>;

#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Argument {
    Constant(TermId),
    Coordinate(Var, usize),
    Value(Var),
}

/// A static condition on places and values.
#[derive(Clone, Debug)]
enum Constraint {
    In(usize, Vec<Argument>),
    Equal(Argument, Argument),
    Not(Box<Constraint>),
}

/// Knowledge at a point of a formula.
#[derive(Clone, Default)]
struct Scope {
    aliases: Aliases,
    /// Places by functor and coordinates.
    known: BTreeMap<(Symbol, Vec<Val>), Var>,
    /// The functor of each place variable.
    sort: BTreeMap<Var, Symbol>,
}

struct PlaceLowering<'a, 'd> {
    arena: &'a mut Arena<'d>,
    place_map: PlaceMap,
    tables: BTreeMap<(usize, BTreeSet<Vec<TermId>>), usize>,
    coordinate_tables: BTreeMap<(Symbol, usize), usize>,
    tried: usize,
    values: Vec<TermId>,
    /// Places by functor and one coordinate.
    places_at: BTreeMap<(Symbol, usize, TermId), Vec<TermId>>,
    /// Cached indexes of tables by their known columns.
    table_indexes: RefCell<relations::TableIndexes>,
}

/// Rewrites a game so that places are elements, if possible.
pub(super) fn lower_to_places(arena: &mut Arena<'_>) -> Result<(), NotExpressible> {
    let place_map = place_map(arena);
    if place_map.functor_of.is_empty() {
        return Ok(());
    }
    let values = values(arena);
    let mut places_at: BTreeMap<(Symbol, usize, TermId), Vec<TermId>> = BTreeMap::new();
    for (&functor, places) in &place_map.places {
        for &place in places {
            for (index, coordinate) in arena.lifter.domain.bank.arguments(place).enumerate() {
                places_at.entry((functor, index, coordinate)).or_default().push(place);
            }
        }
    }
    let mut lowering = PlaceLowering {
        arena,
        place_map,
        tables: BTreeMap::new(),
        coordinate_tables: BTreeMap::new(),
        tried: 0,
        values,
        places_at,
        table_indexes: RefCell::default(),
    };
    lowering.game()
}

/// Returns the predicates with two coordinates or more. Functors with mostly the same places share
/// them.
fn place_map(arena: &Arena<'_>) -> PlaceMap {
    let domain = arena.lifter.domain;
    let mut place_map = PlaceMap::default();
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
                place_map.functor_of.insert(index, *symbol);
            }
            None => {
                place_map.functor_of.insert(index, predicate.functor.0);
                rows.push((predicate.functor.0, width, own));
            }
        }
    }
    // A functor must have a single width. Functors with two widths keep their values.
    let mut widths: BTreeMap<Symbol, BTreeSet<usize>> = BTreeMap::new();
    rows.iter().for_each(|(symbol, width, _)| {
        widths.entry(*symbol).or_default().insert(*width);
    });
    place_map.functor_of.retain(|_, symbol| widths[symbol].len() == 1);
    for (symbol, width, rows) in rows {
        if widths[&symbol].len() != 1 || width == 0 {
            continue;
        }
        let places = rows.iter().filter_map(|row| domain.bank.term(symbol, row).ok()).collect();
        place_map.places.insert(symbol, places);
    }
    place_map
}

/// Returns all values that are not places.
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

impl PlaceLowering<'_, '_> {
    fn game(&mut self) -> Result<(), NotExpressible> {
        let mut translated_rules = Vec::new();
        for (location, target, translated_rule) in self.arena.translated_rules.clone() {
            let translated_rule = self.translated_rule(translated_rule)?;
            translated_rules.push((location, target, translated_rule));
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
            // All other definitions are inlined.
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
        self.arena.translated_rules = translated_rules;
        self.arena.terminal = terminal;
        self.arena.payoffs = payoffs;
        self.arena.place_map = std::mem::take(&mut self.place_map);
        Ok(())
    }

    /// Lowers a formula in which only the given variables are free. They stay values.
    fn closed(&mut self, form: &Form, free: &[Var]) -> Result<Form, NotExpressible> {
        let form = self.inlined(form, 0)?;
        let mut pinned = self.pinned(&form);
        pinned.extend(free);
        self.block(&[], form, &Scope::default(), &pinned)
    }

    /// Inlines definitions that have parameters.
    fn inlined(&mut self, form: &Form, depth: usize) -> Result<Form, NotExpressible> {
        if depth > 200 {
            return Err(NotExpressible);
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
                    return Err(NotExpressible);
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

    /// Returns the variables that must stay values, because they occur outside of places and static
    /// conditions.
    fn pinned(&self, form: &Form) -> BTreeSet<Var> {
        let mut pinned = BTreeSet::new();
        self.add_pinned(form, &mut pinned);
        pinned
    }

    fn add_pinned(&self, form: &Form, pinned: &mut BTreeSet<Var>) {
        match form {
            Form::Atom(Relation::Static(_), _) | Form::Same(..) | Form::Foreign => {}
            Form::Atom(Relation::Fluent(p), _) if self.place_map.functor_of.contains_key(p) => {}
            Form::Atom(_, arguments) => pinned.extend(arguments.iter().filter_map(variable)),
            Form::Before(a, b) => pinned.extend([a, b].into_iter().filter_map(variable)),
            Form::Not(inner) | Form::Ex(_, inner) => self.add_pinned(inner, pinned),
            Form::And(parts) | Form::Or(parts) => {
                parts.iter().for_each(|part| self.add_pinned(part, pinned));
            }
        }
    }

    /// Lowers a formula in a scope, with `variables` quantified here.
    fn block(
        &mut self,
        variables: &[Var],
        form: Form,
        outer: &Scope,
        pinned: &BTreeSet<Var>,
    ) -> Result<Form, NotExpressible> {
        if let Form::Or(parts) = form {
            let mut ways = Vec::new();
            for part in parts {
                // Each alternative has its own variables.
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
        let mut constraints = Vec::new();
        let new_places = self.add_places(&parts, &|_| true, &mut scope);
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

    /// Adds variables for the unknown places of the given parts whose coordinates are accepted.
    fn add_places(
        &mut self,
        parts: &[Form],
        is_accepted: &dyn Fn(&[Val]) -> bool,
        scope: &mut Scope,
    ) -> Vec<Var> {
        let mut places = Vec::new();
        for part in parts {
            if let Form::Atom(Relation::Fluent(p), arguments) = part
                && let Some(&functor) = self.place_map.functor_of.get(p)
                && is_accepted(arguments)
                && !scope.known.contains_key(&(functor, arguments.clone()))
            {
                places.push(self.add_place(functor, arguments, scope));
            }
        }
        places
    }

    /// Adds a new variable for the place with these coordinates.
    fn add_place(&mut self, functor: Symbol, coordinates: &[Val], scope: &mut Scope) -> Var {
        let name = self.arena.lifter.symbol_name(functor).chars().next().unwrap_or('e').to_string();
        let place = self.arena.lifter.fresh(&name);
        scope.known.insert((functor, coordinates.to_vec()), place);
        scope.sort.insert(place, functor);
        place
    }

    /// Makes quantified values aliases of the coordinates of new places.
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

    /// Adds the constraints that determine a place, except those that aliases express.
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

    /// Lowers all parts except static conditions, which are added to `constraints`.
    fn rest(
        &mut self,
        parts: Vec<Form>,
        scope: &Scope,
        pinned: &BTreeSet<Var>,
        constraints: &mut Vec<Constraint>,
    ) -> Result<Vec<Form>, NotExpressible> {
        let mut left = Vec::new();
        for part in parts {
            if let Some(constraint) = constraint(&part, scope) {
                constraints.push(constraint);
                continue;
            }
            left.push(match part {
                Form::Atom(Relation::Fluent(p), arguments) => {
                    match self.place_map.functor_of.get(&p) {
                        Some(&functor) => {
                            let place = scope.known[&(functor, arguments)];
                            Form::Atom(Relation::Fluent(p), vec![Val::Var(place)])
                        }
                        None => Form::Atom(Relation::Fluent(p), arguments),
                    }
                }
                Form::Not(inner) => not(self.block(&[], *inner, scope, pinned)?),
                Form::Or(ways) => self.block(&[], Form::Or(ways), scope, pinned)?,
                other => other,
            });
        }
        Ok(left)
    }

    /// Lowers a rule.
    fn translated_rule(
        &mut self,
        translated_rule: TranslatedRule,
    ) -> Result<TranslatedRule, NotExpressible> {
        let condition = self.inlined(&translated_rule.condition, 0)?;
        let mut pinned = self.pinned(&condition);
        for change in &translated_rule.changes {
            if !self.place_map.functor_of.contains_key(&change.predicate) {
                pinned.extend(change.tuple.iter().flatten().filter_map(variable));
            }
        }
        let (mut variables, mut parts) = (Vec::new(), Vec::new());
        flatten(condition, &mut variables, &mut parts);
        let elements: BTreeSet<Var> = translated_rule.elements.iter().copied().collect();
        let is_own = |values: &[Val]| {
            values.iter().all(|value| variable(value).is_none_or(|v| elements.contains(&v)))
        };
        let mut scope = Scope::default();
        // Places that the embedding determines are part of it.
        let mut places = self.add_places(&parts, &is_own, &mut scope);
        for change in &translated_rule.changes {
            let Some(&functor) = self.place_map.functor_of.get(&change.predicate) else { continue };
            let Some(tuple) = change.tuple.iter().copied().collect::<Option<Vec<Val>>>() else {
                continue;
            };
            if scope.known.contains_key(&(functor, tuple.clone())) {
                continue;
            }
            // A deleted tuple may lie outside of all places, and the rule must apply nevertheless.
            if !change.holds && !self.is_always_a_place(functor, &tuple, &translated_rule) {
                return Err(NotExpressible);
            }
            places.push(self.add_place(functor, &tuple, &mut scope));
        }
        self.alias(&places, &translated_rule.elements, &pinned, &mut scope);
        let mut constraints = Vec::new();
        for &place in &places {
            self.place_constraints(place, &scope, &mut constraints);
        }
        let outer = scope.clone();
        let inner = self.add_places(&parts, &|_| true, &mut scope);
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
        for v in &translated_rule.elements {
            let own = outer.aliases.get(v).map_or(*v, |(place, _)| *place);
            if !listed.contains(&own) {
                listed.push(own);
            }
        }
        listed.extend(
            places.iter().filter(|place| !listed.contains(place)).copied().collect::<Vec<_>>(),
        );
        let changes = self.lowered_changes(&translated_rule, &outer)?;
        let coordinates = outer.aliases.clone();
        Ok(TranslatedRule { elements: listed, condition, changes, coordinates, ..translated_rule })
    }

    /// Lowers the changes of a rule, whose places are known in the scope.
    fn lowered_changes(
        &self,
        translated_rule: &TranslatedRule,
        scope: &Scope,
    ) -> Result<Vec<Change>, NotExpressible> {
        let mut changes = translated_rule.changes.clone();
        for change in &mut changes {
            let Some(&functor) = self.place_map.functor_of.get(&change.predicate) else { continue };
            change.tuple = match change.tuple.iter().copied().collect::<Option<Vec<Val>>>() {
                Some(tuple) => vec![Some(Val::Var(scope.known[&(functor, tuple)]))],
                None if change.tuple.iter().all(Option::is_none) => vec![None],
                None => return Err(NotExpressible),
            };
        }
        Ok(changes)
    }

    /// Returns whether a tuple is a place for every move of the rule.
    fn is_always_a_place(
        &self,
        functor: Symbol,
        tuple: &[Val],
        translated_rule: &TranslatedRule,
    ) -> bool {
        let domain = self.arena.lifter.domain;
        let places: BTreeSet<TermId> = self.place_map.places[&functor].iter().copied().collect();
        let shape = &domain.moves[translated_rule.role][&translated_rule.functor];
        shape.terms.iter().all(|&term| {
            let mut assigned: BTreeMap<Var, TermId> = BTreeMap::new();
            for (value, cell) in translated_rule.arguments.iter().zip(domain.bank.arguments(term)) {
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
    /// Adds the coordinates that equations make equal to known ones.
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

/// Flattens nested conjunctions and quantifiers into one list.
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

/// Returns a form as a constraint on places and values, if it is a static condition.
fn constraint(form: &Form, scope: &Scope) -> Option<Constraint> {
    match form {
        Form::Atom(Relation::Static(table), arguments) => Some(Constraint::In(
            *table,
            arguments.iter().map(|value| argument(value, scope)).collect(),
        )),
        Form::Same(a, b) => {
            let (a, b) = (argument(a, scope), argument(b, scope));
            // Order: places, values, constants.
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
