//! The oracle: evaluates formulas by the definition of truth, one assignment at a time.

use std::collections::{BTreeMap, BTreeSet};

use crate::formula::{
    Aggregate, Argument, Closure, Extreme, Fix, Fold, Formula, Let, Name, Operator, Sort, Term,
    Variable,
};
use crate::rational::Rational;
use crate::structure::Element;

use super::check::{check_formula, check_term};
use super::real::applied;
use super::{Assignment, EvaluationError, Limits, Model};

mod prune;

/// Evaluates by the definition of truth. Quantifiers over sets enumerate all subsets of at most 16
/// elements. Caches the tuples of defined relations, because they do
/// not depend on the context.
pub struct Naive<'a> {
    model: Model<'a>,
    limits: Limits,
    steps: u64,
    elements: Vec<Element>,
    defined: BTreeMap<(usize, Vec<Element>), bool>,
    pruning: Option<prune::Pruning>,
}

/// Maximum number of elements whose subsets are enumerated.
const MAX_UNIVERSE: usize = 16;

/// A formula and the truth that it must have for an assignment to matter.
type Guard<'g> = (&'g Formula, bool);

/// A callback for each assignment. `false` stops the iteration.
type Visit<'v, 'a> =
    &'v mut dyn FnMut(&mut Naive<'a>, &[Element], &Scope<'_>) -> Result<bool, EvaluationError>;

impl<'a> Naive<'a> {
    /// Creates an evaluator for a model. The limits apply to all queries together.
    pub fn new(model: Model<'a>, limits: Limits) -> Naive<'a> {
        let elements = model.structure.elements().collect();
        Naive { model, limits, steps: 0, elements, defined: BTreeMap::new(), pruning: None }
    }

    /// Skips partial assignments for which the formula cannot have the required truth, whatever the
    /// remaining elements are.
    ///
    /// Elements are still tried one by one. This variant is itself tested against the one that
    /// tries all assignments.
    pub fn with_pruning(mut self) -> Naive<'a> {
        self.pruning = Some(prune::Pruning::default());
        self
    }

    /// Returns whether the formula holds for an assignment to its free variables.
    ///
    /// # Errors
    /// If the formula is not valid or exceeds the limits.
    pub fn holds(
        &mut self,
        formula: &Formula,
        assignment: &Assignment,
    ) -> Result<bool, EvaluationError> {
        check_formula(
            self.model.structure.vocabulary(),
            self.model.definitions,
            formula,
            &assigned(assignment),
        )?;
        self.at(assignment, |naive, scope| naive.formula(formula, scope))
    }

    /// Returns the value of the term, if it is defined, for an assignment to its free variables.
    ///
    /// # Errors
    /// If the term is not valid or exceeds the limits.
    pub fn value(
        &mut self,
        term: &Term,
        assignment: &Assignment,
    ) -> Result<Option<Rational>, EvaluationError> {
        check_term(
            self.model.structure.vocabulary(),
            self.model.definitions,
            term,
            &assigned(assignment),
        )?;
        self.at(assignment, |naive, scope| naive.term(term, scope))
    }

    /// Returns the elements for the variables, in order, for which the formula holds. The
    /// assignment gives its other free variables.
    ///
    /// # Errors
    /// If the formula is not valid or exceeds the limits.
    pub fn solutions(
        &mut self,
        formula: &Formula,
        variables: &[Variable],
        assignment: &Assignment,
    ) -> Result<Vec<Vec<Element>>, EvaluationError> {
        let mut bound = assigned(assignment);
        bound.extend_from_slice(variables);
        check_formula(self.model.structure.vocabulary(), self.model.definitions, formula, &bound)?;
        self.at(assignment, |naive, scope| {
            let mut found = Vec::new();
            naive.each(
                variables,
                Some(scope),
                Some((formula, true)),
                &mut |naive, row, scope| {
                    if naive.formula(formula, scope)? {
                        found.push(row.to_vec());
                    }
                    Ok(true)
                },
            )?;
            Ok(found)
        })
    }

    fn at<T>(
        &mut self,
        assignment: &Assignment,
        ask: impl FnOnce(&mut Naive<'a>, &Scope<'_>) -> Result<T, EvaluationError>,
    ) -> Result<T, EvaluationError> {
        if let Some(pruning) = &mut self.pruning {
            pruning.forget();
        }
        let entries = Binding::Assignment(assignment);
        ask(self, &Scope { outer: None, binding: entries })
    }

    fn step(&mut self) -> Result<(), EvaluationError> {
        self.steps += 1;
        if self.steps > self.limits.steps {
            Err(EvaluationError::Steps(self.limits.steps))
        } else {
            Ok(())
        }
    }

    /// Calls `visit` for each assignment of elements to the variables, in order, until it returns
    /// `false`.
    fn each(
        &mut self,
        variables: &[Variable],
        scope: Option<&Scope<'_>>,
        guard: Option<Guard<'_>>,
        visit: Visit<'_, 'a>,
    ) -> Result<(), EvaluationError> {
        if self.elements.is_empty() && !variables.is_empty() {
            return Ok(());
        }
        if let (true, Some(guard), true) = (self.pruning.is_some(), guard, variables.len() > 1) {
            let mut row = vec![None; variables.len()];
            return self.each_pruned(variables, scope, guard, &mut row, 0, visit).map(|_| ());
        }
        let mut places = vec![0; variables.len()];
        loop {
            let row: Vec<Element> = places.iter().map(|&place| self.elements[place]).collect();
            let inner = Scope { outer: scope, binding: Binding::Elements(variables, &row) };
            if !visit(self, &row, &inner)? {
                return Ok(());
            }
            let Some(last) = places.iter().rposition(|&place| place + 1 < self.elements.len())
            else {
                return Ok(());
            };
            places[last] += 1;
            places[last + 1..].fill(0);
        }
    }

    /// Calls `visit` for each assignment of elements and sets to the variables, until it returns
    /// `false`.
    fn quantified(
        &mut self,
        variables: &[Variable],
        scope: &Scope<'_>,
        guard: Guard<'_>,
        visit: Visit<'_, 'a>,
    ) -> Result<(), EvaluationError> {
        let (sets, elements): (Vec<Variable>, Vec<Variable>) =
            variables.iter().cloned().partition(|variable| variable.sort() == Sort::Set);
        self.each_set(&sets, &elements, scope, guard, visit).map(|_| ())
    }

    /// Visits the assignments of sets one variable after the other, then those of elements. Returns
    /// whether to continue.
    fn each_set(
        &mut self,
        sets: &[Variable],
        elements: &[Variable],
        scope: &Scope<'_>,
        guard: Guard<'_>,
        visit: Visit<'_, 'a>,
    ) -> Result<bool, EvaluationError> {
        let Some((set, later)) = sets.split_first() else {
            let mut continues = true;
            self.each(elements, Some(scope), Some(guard), &mut |naive, row, scope| {
                continues = visit(naive, row, scope)?;
                Ok(continues)
            })?;
            return Ok(continues);
        };
        if self.elements.len() > MAX_UNIVERSE {
            return Err(EvaluationError::Subsets(MAX_UNIVERSE));
        }
        for mask in 0..1u32 << self.elements.len() {
            self.step()?;
            let is_in = |&(place, _): &(usize, &Element)| mask >> place & 1 == 1;
            let members: BTreeSet<Element> = self
                .elements
                .iter()
                .enumerate()
                .filter(is_in)
                .map(|(_, &element)| element)
                .collect();
            let inner = Scope { outer: Some(scope), binding: Binding::Set(set, &members) };
            if !self.each_set(later, elements, &inner, guard, visit)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn element(&self, argument: &Argument, scope: &Scope<'_>) -> Option<Element> {
        match argument {
            Argument::Variable(variable) => Some(scope.element(variable)),
            Argument::Constant(name) => {
                let id = self
                    .model
                    .structure
                    .vocabulary()
                    .constant(name)
                    .expect("constants are checked");
                self.model.structure.constant(id)
            }
        }
    }

    fn formula(&mut self, formula: &Formula, scope: &Scope<'_>) -> Result<bool, EvaluationError> {
        self.step()?;
        stacker::maybe_grow(128 << 10, 1 << 20, || match formula {
            Formula::Relation(name, arguments) => {
                let row: Option<Vec<Element>> =
                    arguments.iter().map(|argument| self.element(argument, scope)).collect();
                match row {
                    Some(row) => self.atom(name, &row, scope),
                    None => Ok(false),
                }
            }
            Formula::Equal(left, right) => {
                let (left, right) = (self.element(left, scope), self.element(right, scope));
                Ok(left.is_some() && left == right)
            }
            Formula::Member(element, set) => {
                let element = self.element(element, scope);
                Ok(element.is_some_and(|element| scope.set(set).contains(&element)))
            }
            Formula::Compare(left, sign, right) => {
                let (left, right) = (self.term(left, scope)?, self.term(right, scope)?);
                let (Some(left), Some(right)) = (left, right) else { return Ok(false) };
                Ok(sign.admits(left.cmp(&right)))
            }
            Formula::Not(inner) => Ok(!self.formula(inner, scope)?),
            Formula::And(parts) => {
                for part in parts {
                    if !self.formula(part, scope)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Formula::Or(parts) => {
                for part in parts {
                    if self.formula(part, scope)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Formula::Exists(variables, inner) => {
                let mut found = false;
                self.quantified(variables, scope, (inner, true), &mut |naive, _, scope| {
                    found = naive.formula(inner, scope)?;
                    Ok(!found)
                })?;
                Ok(found)
            }
            Formula::All(variables, inner) => {
                let mut so_far = true;
                self.quantified(variables, scope, (inner, false), &mut |naive, _, scope| {
                    so_far = naive.formula(inner, scope)?;
                    Ok(so_far)
                })?;
                Ok(so_far)
            }
            Formula::Fix(fix) => self.fix(fix, scope),
            Formula::Closure(closure) => self.closure(closure, scope),
            Formula::Let(local) => self.formula(
                &local.body,
                &Scope { outer: Some(scope), binding: Binding::Local(local) },
            ),
        })
    }

    fn atom(
        &mut self,
        name: &Name,
        row: &[Element],
        scope: &Scope<'_>,
    ) -> Result<bool, EvaluationError> {
        match scope.relation(name) {
            Some((Binding::Fixed(_, rows), _)) => return Ok(rows.contains(row)),
            Some((Binding::Local(local), outer)) => {
                let inner = Scope { outer, binding: Binding::Elements(&local.variables, row) };
                return self.formula(&local.definition, &inner);
            }
            Some((
                Binding::Elements(..)
                | Binding::Pending(..)
                | Binding::Real(..)
                | Binding::Set(..)
                | Binding::Assignment(_),
                _,
            ))
            | None => {}
        }
        let model = self.model;
        let Some(place) = model.definitions.place(name) else {
            let id = model.structure.vocabulary().relation(name).expect("relations are checked");
            return Ok(model.structure.holds(id, row));
        };
        let key = (place, row.to_vec());
        if let Some(&known) = self.defined.get(&key) {
            return Ok(known);
        }
        let definition = &model.definitions.iter().as_slice()[place];
        let inner = Scope { outer: None, binding: Binding::Elements(&definition.variables, row) };
        let answer = self.formula(&definition.body, &inner)?;
        self.defined.insert(key, answer);
        Ok(answer)
    }

    /// Iterates from the empty or the full relation until nothing changes.
    fn fix(&mut self, fix: &Fix, scope: &Scope<'_>) -> Result<bool, EvaluationError> {
        let row: Option<Vec<Element>> =
            fix.arguments.iter().map(|argument| self.element(argument, scope)).collect();
        let Some(row) = row else { return Ok(false) };
        let mut rows = BTreeSet::new();
        if fix.extreme == Extreme::Greatest {
            self.each(&fix.variables, None, None, &mut |naive, row, _| {
                naive.step()?;
                rows.insert(row.to_vec());
                Ok(true)
            })?;
        }
        loop {
            let mut next = BTreeSet::new();
            let known = Scope { outer: Some(scope), binding: Binding::Fixed(&fix.relation, &rows) };
            self.each(
                &fix.variables,
                Some(&known),
                Some((&fix.body, true)),
                &mut |naive, row, scope| {
                    if naive.formula(&fix.body, scope)? {
                        next.insert(row.to_vec());
                    }
                    Ok(true)
                },
            )?;
            if next == rows {
                return Ok(rows.contains(&row));
            }
            rows = next;
        }
    }

    /// Searches step by step from the start.
    fn closure(&mut self, closure: &Closure, scope: &Scope<'_>) -> Result<bool, EvaluationError> {
        let [from, to] = &closure.arguments;
        let (Some(from), Some(to)) = (self.element(from, scope), self.element(to, scope)) else {
            return Ok(false);
        };
        let mut steps_left = closure.bound.map(|bound| 1u64.checked_shl(bound).unwrap_or(u64::MAX));
        let variables = [closure.from.clone(), closure.to.clone()];
        let mut reached = BTreeSet::from([from]);
        let mut frontier = vec![from];
        while !frontier.is_empty() && !reached.contains(&to) && steps_left != Some(0) {
            let mut next = Vec::new();
            for &start in &frontier {
                for end in self.elements.clone() {
                    let step = [start, end];
                    let inner =
                        Scope { outer: Some(scope), binding: Binding::Elements(&variables, &step) };
                    if !reached.contains(&end) && self.formula(&closure.body, &inner)? {
                        reached.insert(end);
                        next.push(end);
                    }
                }
            }
            frontier = next;
            steps_left = steps_left.map(|steps| steps - 1);
        }
        Ok(reached.contains(&to))
    }

    fn term(
        &mut self,
        term: &Term,
        scope: &Scope<'_>,
    ) -> Result<Option<Rational>, EvaluationError> {
        self.step()?;
        stacker::maybe_grow(128 << 10, 1 << 20, || match term {
            Term::Number(number) => Ok(Some(*number)),
            Term::Variable(variable) => Ok(scope.real(variable)),
            Term::ElementNumber(argument) => Ok(self.element(argument, scope).map(Element::number)),
            Term::Function(name, argument) => {
                let function = self
                    .model
                    .structure
                    .vocabulary()
                    .function(name)
                    .expect("functions are checked");
                let element = self.element(argument, scope);
                Ok(element.and_then(|element| self.model.structure.value(function, element)))
            }
            Term::Characteristic(inner) => {
                Ok(Some(if self.formula(inner, scope)? { Rational::ONE } else { Rational::ZERO }))
            }
            Term::Binary(operator, left, right) => {
                let (left, right) = (self.term(left, scope)?, self.term(right, scope)?);
                let (Some(left), Some(right)) = (left, right) else { return Ok(None) };
                Ok(combined(*operator, left, right)?)
            }
            Term::Apply(function, arguments) => {
                let mut numbers = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    numbers.push(self.term(argument, scope)?);
                }
                let numbers: Option<Vec<Rational>> = numbers.into_iter().collect();
                numbers.map_or(Ok(None), |numbers| applied(*function, &numbers))
            }
            Term::Least(variable, _) => {
                Err(EvaluationError::UnsupportedSort(variable.clone(), variable.sort()))
            }
            Term::Aggregate(aggregate) => self.aggregate(aggregate, scope),
            Term::Let(variable, value, body) => {
                let value = self.term(value, scope)?;
                self.term(
                    body,
                    &Scope { outer: Some(scope), binding: Binding::Real(variable, value) },
                )
            }
        })
    }

    fn aggregate(
        &mut self,
        aggregate: &Aggregate,
        scope: &Scope<'_>,
    ) -> Result<Option<Rational>, EvaluationError> {
        let mut folding = Folding::new(aggregate.fold);
        let guard = Some((&aggregate.guard, true));
        self.each(&aggregate.variables, Some(scope), guard, &mut |naive, _, scope| {
            if naive.formula(&aggregate.guard, scope)? {
                folding.take(naive.term(&aggregate.term, scope)?)?;
            }
            Ok(true)
        })?;
        Ok(folding.result())
    }
}

/// Applies one operation to two numbers.
pub(super) fn combined(
    operator: Operator,
    left: Rational,
    right: Rational,
) -> Result<Option<Rational>, crate::rational::TooLarge> {
    match operator {
        Operator::Plus => left.plus(right).map(Some),
        Operator::Minus => left.minus(right).map(Some),
        Operator::Times => left.times(right).map(Some),
        Operator::Divide => left.divided_by(right),
        Operator::Power => left.power(right),
    }
}

/// The partial result of an aggregate.
pub(super) struct Folding {
    fold: Fold,
    /// `None` as long as there is no value: `Min` and `Max` of no values.
    value: Option<Rational>,
    /// Whether a value was missing. Then the aggregate is undefined.
    missing: bool,
}

impl Folding {
    pub(super) fn new(fold: Fold) -> Folding {
        let value = match fold {
            Fold::Sum => Some(Rational::ZERO),
            Fold::Product => Some(Rational::ONE),
            Fold::Min | Fold::Max => None,
        };
        Folding { fold, value, missing: false }
    }

    pub(super) fn take(&mut self, next: Option<Rational>) -> Result<(), EvaluationError> {
        let Some(next) = next else {
            self.missing = true;
            return Ok(());
        };
        self.value = Some(match (self.value, self.fold) {
            (None, _) => next,
            (Some(value), Fold::Sum) => value.plus(next)?,
            (Some(value), Fold::Product) => value.times(next)?,
            (Some(value), Fold::Min) => value.min(next),
            (Some(value), Fold::Max) => value.max(next),
        });
        Ok(())
    }

    pub(super) fn result(self) -> Option<Rational> {
        if self.missing { None } else { self.value }
    }
}

fn assigned(assignment: &Assignment) -> Vec<Variable> {
    let elements = assignment.elements.iter().map(|entry| entry.0.clone());
    elements.chain(assignment.reals.iter().map(|entry| entry.0.clone())).collect()
}

/// The meaning of names at a place in a formula. The innermost binding counts.
struct Scope<'s> {
    outer: Option<&'s Scope<'s>>,
    binding: Binding<'s>,
}

#[derive(Copy, Clone)]
enum Binding<'s> {
    Assignment(&'s Assignment),
    Elements(&'s [Variable], &'s [Element]),
    /// Variables of which some have no element yet.
    Pending(&'s [Variable], &'s [Option<Element>]),
    Real(&'s Variable, Option<Rational>),
    Set(&'s Variable, &'s BTreeSet<Element>),
    Local(&'s Let),
    Fixed(&'s Name, &'s BTreeSet<Vec<Element>>),
}

impl<'s> Scope<'s> {
    fn element(&self, variable: &Variable) -> Element {
        self.known(variable).expect("what is asked has all its elements")
    }

    /// Returns the element of a variable, if it has one yet.
    fn known(&self, variable: &Variable) -> Option<Element> {
        let mut scope = Some(self);
        while let Some(here) = scope {
            let found = match here.binding {
                Binding::Elements(variables, row) => {
                    variables.iter().position(|other| other == variable).map(|place| row[place])
                }
                Binding::Pending(variables, row) => {
                    if let Some(place) = variables.iter().position(|other| other == variable) {
                        return row[place];
                    }
                    None
                }
                Binding::Assignment(assignment) => assignment.element(variable),
                Binding::Real(..) | Binding::Set(..) | Binding::Local(_) | Binding::Fixed(..) => {
                    None
                }
            };
            if found.is_some() {
                return found;
            }
            scope = here.outer;
        }
        panic!("checked formulas have no unbound variables")
    }

    fn real(&self, variable: &Variable) -> Option<Rational> {
        let mut scope = Some(self);
        while let Some(here) = scope {
            match here.binding {
                Binding::Real(other, value) if other == variable => return value,
                Binding::Assignment(assignment) => {
                    if let Some(value) = assignment.real(variable) {
                        return Some(value);
                    }
                }
                Binding::Real(..)
                | Binding::Set(..)
                | Binding::Elements(..)
                | Binding::Pending(..)
                | Binding::Local(_)
                | Binding::Fixed(..) => {}
            }
            scope = here.outer;
        }
        panic!("checked terms have no unbound variables")
    }

    fn set(&self, variable: &Variable) -> &'s BTreeSet<Element> {
        let mut scope = Some(self);
        while let Some(here) = scope {
            if let Binding::Set(other, members) = here.binding
                && other == variable
            {
                return members;
            }
            scope = here.outer;
        }
        panic!("checked formulas have no unbound variables")
    }

    /// Returns the binding of a relation, with the scope outside it.
    fn relation(&self, name: &Name) -> Option<(Binding<'s>, Option<&'s Scope<'s>>)> {
        let (mut binding, mut outer) = (self.binding, self.outer);
        loop {
            match binding {
                Binding::Local(local) if &local.relation == name => return Some((binding, outer)),
                Binding::Fixed(relation, _) if relation == name => return Some((binding, outer)),
                Binding::Local(_)
                | Binding::Fixed(..)
                | Binding::Elements(..)
                | Binding::Pending(..)
                | Binding::Real(..)
                | Binding::Set(..)
                | Binding::Assignment(_) => {}
            }
            let next = outer?;
            (binding, outer) = (next.binding, next.outer);
        }
    }
}
