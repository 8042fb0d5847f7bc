//! Skips assignments as soon as it is clear that they cannot succeed.
//!
//! If only some variables have elements, a formula is true, false or unknown (Kleene's strong
//! three-valued logic). A known truth does not change when the other variables get elements, so no
//! solution is lost.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Binding, Guard, Naive, Scope, Visit};
use crate::evaluate::EvaluationError;
use crate::formula::{Argument, Formula, Name, Variable};
use crate::structure::Element;

/// Cached data of one query.
#[derive(Default)]
pub(super) struct Pruning {
    /// The free variables of formulas, by their address in memory, which is stable during one
    /// query.
    free: BTreeMap<usize, Arc<[Variable]>>,
}

impl Pruning {
    pub(super) fn forget(&mut self) {
        self.free.clear();
    }
}

impl<'a> Naive<'a> {
    /// Visits each assignment of the variables, where those before `place` have an element in
    /// `row`. Returns whether to continue.
    pub(super) fn each_pruned(
        &mut self,
        variables: &[Variable],
        scope: Option<&Scope<'_>>,
        guard: Guard<'_>,
        row: &mut [Option<Element>],
        place: usize,
        visit: Visit<'_, 'a>,
    ) -> Result<bool, EvaluationError> {
        if place == variables.len() {
            let row: Vec<Element> = row.iter().flatten().copied().collect();
            let inner = Scope { outer: scope, binding: Binding::Elements(variables, &row) };
            return visit(self, &row, &inner);
        }
        for at in 0..self.elements.len() {
            row[place] = Some(self.elements[at]);
            let is_hopeless = place + 1 < variables.len() && {
                let inner = Scope { outer: scope, binding: Binding::Pending(variables, row) };
                self.partial_truth(guard.0, &inner)? == Some(!guard.1)
            };
            if !is_hopeless && !self.each_pruned(variables, scope, guard, row, place + 1, visit)? {
                row[place] = None;
                return Ok(false);
            }
        }
        row[place] = None;
        Ok(true)
    }

    /// Returns the truth of a formula if it is known already.
    fn partial_truth(
        &mut self,
        formula: &Formula,
        scope: &Scope<'_>,
    ) -> Result<Option<bool>, EvaluationError> {
        self.step()?;
        stacker::maybe_grow(128 << 10, 1 << 20, || match formula {
            Formula::Relation(name, arguments) => self.atom_perhaps(name, arguments, scope),
            Formula::Equal(left, right) => {
                let (left, right) = (self.argument(left, scope), self.argument(right, scope));
                Ok(match (left, right) {
                    (Given::Nothing, _) | (_, Given::Nothing) => Some(false),
                    (Given::Element(left), Given::Element(right)) => Some(left == right),
                    (Given::Pending, _) | (_, Given::Pending) => None,
                })
            }
            Formula::Member(element, set) => Ok(match self.argument(element, scope) {
                Given::Nothing => Some(false),
                Given::Element(element) => Some(scope.set(set).contains(&element)),
                Given::Pending => None,
            }),
            Formula::Not(inner) => Ok(self.partial_truth(inner, scope)?.map(|holds| !holds)),
            Formula::And(parts) => self.together(parts, scope, false),
            Formula::Or(parts) => self.together(parts, scope, true),
            Formula::Compare(..)
            | Formula::Exists(..)
            | Formula::All(..)
            | Formula::Fix(_)
            | Formula::Closure(_)
            | Formula::Let(_) => {
                if self.is_complete(formula, scope) {
                    self.formula(formula, scope).map(Some)
                } else {
                    Ok(None)
                }
            }
        })
    }

    /// Combines parts of which one with the deciding truth decides. Cheap parts come first.
    fn together(
        &mut self,
        parts: &[Formula],
        scope: &Scope<'_>,
        decides: bool,
    ) -> Result<Option<bool>, EvaluationError> {
        let mut is_known = true;
        for cheap in [true, false] {
            for part in parts {
                if self.is_cheap(part) != cheap {
                    continue;
                }
                match self.partial_truth(part, scope)? {
                    Some(truth) if truth == decides => return Ok(Some(decides)),
                    Some(_) => {}
                    None => is_known = false,
                }
            }
        }
        Ok(is_known.then_some(!decides))
    }

    fn is_cheap(&self, formula: &Formula) -> bool {
        match formula {
            Formula::Relation(name, _) => self.model.definitions.place(name).is_none(),
            Formula::Equal(..) | Formula::Member(..) => true,
            Formula::Not(inner) => {
                matches!(&**inner, Formula::Relation(..) | Formula::Equal(..))
                    && self.is_cheap(inner)
            }
            _ => false,
        }
    }

    fn atom_perhaps(
        &mut self,
        name: &Name,
        arguments: &[Argument],
        scope: &Scope<'_>,
    ) -> Result<Option<bool>, EvaluationError> {
        let given: Vec<Given> =
            arguments.iter().map(|argument| self.argument(argument, scope)).collect();
        if given.contains(&Given::Nothing) {
            return Ok(Some(false));
        }
        let row: Vec<Option<Element>> = given.iter().map(|given| given.element()).collect();
        if row.iter().all(Option::is_some) {
            let row: Vec<Element> = row.into_iter().flatten().collect();
            return self.atom(name, &row, scope).map(Some);
        }
        let model = self.model;
        match model.definitions.place(name) {
            Some(place) if scope.relation(name).is_none() => {
                let definition = &model.definitions.iter().as_slice()[place];
                let inner =
                    Scope { outer: None, binding: Binding::Pending(&definition.variables, &row) };
                self.partial_truth(&definition.body, &inner)
            }
            _ => Ok(None),
        }
    }

    fn argument(&self, argument: &Argument, scope: &Scope<'_>) -> Given {
        match argument {
            Argument::Variable(variable) => {
                scope.known(variable).map_or(Given::Pending, Given::Element)
            }
            Argument::Constant(_) => {
                self.element(argument, scope).map_or(Given::Nothing, Given::Element)
            }
        }
    }

    /// Returns whether all free variables of the formula have elements.
    fn is_complete(&mut self, formula: &Formula, scope: &Scope<'_>) -> bool {
        let Some(pruning) = &mut self.pruning else { return false };
        let free = pruning.free.entry(std::ptr::from_ref(formula).addr());
        let free = free.or_insert_with(|| formula.free_variables().into_iter().collect()).clone();
        free.iter().all(|variable| {
            variable.sort() != crate::formula::Sort::Element || scope.known(variable).is_some()
        })
    }
}

/// The value of an argument.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Given {
    Element(Element),
    /// A constant without an element.
    Nothing,
    /// A variable without an element yet.
    Pending,
}

impl Given {
    fn element(self) -> Option<Element> {
        match self {
            Given::Element(element) => Some(element),
            Given::Nothing | Given::Pending => None,
        }
    }
}
