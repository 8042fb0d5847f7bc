//! Assignments left as soon as it is clear that they lead nowhere.
//!
//! With elements for some of its variables only, a formula is true, false or not known (Kleene's strong logic). What is known then
//! stays so whatever the other elements are, so nothing is lost.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Binding, Guard, Naive, Scope, Visit};
use crate::evaluate::Refusal;
use crate::formula::{Argument, Formula, Name, Variable};
use crate::structure::Element;

/// What is remembered within one question.
#[derive(Default)]
pub(super) struct Early {
    /// The free variables of formulas, by where they are in memory: they stay there while one question is answered.
    free: BTreeMap<usize, Arc<[Variable]>>,
}

impl Early {
    pub(super) fn forget(&mut self) {
        self.free.clear();
    }
}

impl<'a> Naive<'a> {
    /// As `each`, from the place where elements are still to be given; whether to go on.
    pub(super) fn each_early(
        &mut self,
        variables: &[Variable],
        scope: Option<&Scope<'_>>,
        guard: Guard<'_>,
        row: &mut [Option<Element>],
        place: usize,
        visit: Visit<'_, 'a>,
    ) -> Result<bool, Refusal> {
        if place == variables.len() {
            let row: Vec<Element> = row.iter().flatten().copied().collect();
            let inner = Scope { outer: scope, binding: Binding::Elements(variables, &row) };
            return visit(self, &row, &inner);
        }
        for at in 0..self.elements.len() {
            row[place] = Some(self.elements[at]);
            let is_hopeless = place + 1 < variables.len() && {
                let inner = Scope { outer: scope, binding: Binding::Pending(variables, row) };
                self.perhaps(guard.0, &inner)? == Some(!guard.1)
            };
            if !is_hopeless && !self.each_early(variables, scope, guard, row, place + 1, visit)? {
                row[place] = None;
                return Ok(false);
            }
        }
        row[place] = None;
        Ok(true)
    }

    /// The truth of a formula if it is known already.
    fn perhaps(&mut self, formula: &Formula, scope: &Scope<'_>) -> Result<Option<bool>, Refusal> {
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
            Formula::Not(inner) => Ok(self.perhaps(inner, scope)?.map(|holds| !holds)),
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

    /// Parts of which one with the deciding truth decides. Those that are cheap to ask come first.
    fn together(
        &mut self,
        parts: &[Formula],
        scope: &Scope<'_>,
        decides: bool,
    ) -> Result<Option<bool>, Refusal> {
        let mut is_known = true;
        for cheap in [true, false] {
            for part in parts {
                if self.is_cheap(part) != cheap {
                    continue;
                }
                match self.perhaps(part, scope)? {
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
            Formula::Equal(..) => true,
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
    ) -> Result<Option<bool>, Refusal> {
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
                self.perhaps(&definition.body, &inner)
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

    /// Whether all that the formula speaks of has elements.
    fn is_complete(&mut self, formula: &Formula, scope: &Scope<'_>) -> bool {
        let Some(early) = &mut self.early else { return false };
        let free = early.free.entry(std::ptr::from_ref(formula).addr());
        let free = free.or_insert_with(|| formula.free_variables().into_iter().collect()).clone();
        free.iter().all(|variable| {
            variable.sort() != crate::formula::Sort::Element || scope.known(variable).is_some()
        })
    }
}

/// What an argument stands for.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Given {
    Element(Element),
    /// A constant that names nothing.
    Nothing,
    /// A variable whose turn has not come.
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
