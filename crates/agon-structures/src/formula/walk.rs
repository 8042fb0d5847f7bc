//! Visits the direct parts of a formula, and rebuilds formulas from changed parts.
//!
//! Binders are not treated specially: scopes are up to the caller.

use super::{Aggregate, Closure, Fix, Formula, Let, Term};

/// A direct part of a formula or a term.
#[derive(Copy, Clone)]
pub(crate) enum Part<'a> {
    Formula(&'a Formula),
    Term(&'a Term),
}

impl Formula {
    /// Visits the direct parts in order.
    pub(crate) fn parts<'a>(&'a self, visit: &mut dyn FnMut(Part<'a>)) {
        match self {
            Formula::Relation(..) | Formula::Equal(..) | Formula::Member(..) => {}
            Formula::Compare(left, _, right) => {
                visit(Part::Term(left));
                visit(Part::Term(right));
            }
            Formula::Not(inner) | Formula::Exists(_, inner) | Formula::All(_, inner) => {
                visit(Part::Formula(inner));
            }
            Formula::And(parts) | Formula::Or(parts) => {
                parts.iter().for_each(|part| visit(Part::Formula(part)));
            }
            Formula::Fix(fix) => visit(Part::Formula(&fix.body)),
            Formula::Closure(closure) => visit(Part::Formula(&closure.body)),
            Formula::Let(local) => {
                visit(Part::Formula(&local.definition));
                visit(Part::Formula(&local.body));
            }
        }
    }

    /// Returns the formula with its direct parts changed.
    pub(crate) fn rebuilt<E>(
        &self,
        on_formula: &mut dyn FnMut(&Formula) -> Result<Formula, E>,
        on_term: &mut dyn FnMut(&Term) -> Result<Term, E>,
    ) -> Result<Formula, E> {
        Ok(match self {
            Formula::Relation(..) | Formula::Equal(..) | Formula::Member(..) => self.clone(),
            Formula::Compare(left, sign, right) => {
                Formula::compare(on_term(left)?, *sign, on_term(right)?)
            }
            Formula::Not(inner) => Formula::not(on_formula(inner)?),
            Formula::And(parts) => {
                Formula::And(parts.iter().map(on_formula).collect::<Result<_, E>>()?)
            }
            Formula::Or(parts) => {
                Formula::Or(parts.iter().map(on_formula).collect::<Result<_, E>>()?)
            }
            Formula::Exists(variables, inner) => {
                Formula::Exists(variables.clone(), Box::new(on_formula(inner)?))
            }
            Formula::All(variables, inner) => {
                Formula::All(variables.clone(), Box::new(on_formula(inner)?))
            }
            Formula::Fix(fix) => Formula::Fix(Box::new(Fix {
                extreme: fix.extreme,
                relation: fix.relation.clone(),
                variables: fix.variables.clone(),
                body: on_formula(&fix.body)?,
                arguments: fix.arguments.clone(),
            })),
            Formula::Closure(closure) => Formula::Closure(Box::new(Closure {
                bound: closure.bound,
                from: closure.from.clone(),
                to: closure.to.clone(),
                body: on_formula(&closure.body)?,
                arguments: closure.arguments.clone(),
            })),
            Formula::Let(local) => Formula::Let(Box::new(Let {
                relation: local.relation.clone(),
                variables: local.variables.clone(),
                definition: on_formula(&local.definition)?,
                body: on_formula(&local.body)?,
            })),
        })
    }
}

impl Term {
    /// Visits the direct parts in order.
    pub(crate) fn parts<'a>(&'a self, visit: &mut dyn FnMut(Part<'a>)) {
        match self {
            Term::Number(_) | Term::Variable(_) | Term::ElementNumber(_) | Term::Function(..) => {}
            Term::Characteristic(inner) | Term::Least(_, inner) => visit(Part::Formula(inner)),
            Term::Apply(_, arguments) => {
                arguments.iter().for_each(|argument| visit(Part::Term(argument)));
            }
            Term::Binary(_, left, right) | Term::Let(_, left, right) => {
                visit(Part::Term(left));
                visit(Part::Term(right));
            }
            Term::Aggregate(aggregate) => {
                visit(Part::Formula(&aggregate.guard));
                visit(Part::Term(&aggregate.term));
            }
        }
    }

    /// Returns the term with its direct parts changed.
    pub(crate) fn rebuilt<E>(
        &self,
        on_formula: &mut dyn FnMut(&Formula) -> Result<Formula, E>,
        on_term: &mut dyn FnMut(&Term) -> Result<Term, E>,
    ) -> Result<Term, E> {
        Ok(match self {
            Term::Number(_) | Term::Variable(_) | Term::ElementNumber(_) | Term::Function(..) => {
                self.clone()
            }
            Term::Characteristic(inner) => Term::characteristic(on_formula(inner)?),
            Term::Least(variable, inner) => {
                Term::Least(variable.clone(), Box::new(on_formula(inner)?))
            }
            Term::Apply(function, arguments) => {
                let arguments = arguments.iter().map(on_term).collect::<Result<_, E>>()?;
                Term::Apply(*function, arguments)
            }
            Term::Binary(operator, left, right) => {
                Term::Binary(*operator, Box::new(on_term(left)?), Box::new(on_term(right)?))
            }
            Term::Let(variable, value, body) => {
                Term::Let(variable.clone(), Box::new(on_term(value)?), Box::new(on_term(body)?))
            }
            Term::Aggregate(aggregate) => Term::Aggregate(Box::new(Aggregate {
                fold: aggregate.fold,
                variables: aggregate.variables.clone(),
                guard: on_formula(&aggregate.guard)?,
                term: on_term(&aggregate.term)?,
            })),
        })
    }
}

impl<'a> Part<'a> {
    /// Visits the direct parts of the part.
    pub(crate) fn parts(self, visit: &mut dyn FnMut(Part<'a>)) {
        match self {
            Part::Formula(formula) => formula.parts(visit),
            Part::Term(term) => term.parts(visit),
        }
    }

    /// Visits this part and all parts below it. Works without recursion, so the nesting depth does
    /// not matter.
    pub(crate) fn descend(self, visit: &mut dyn FnMut(Part<'a>)) {
        let mut open = vec![self];
        while let Some(part) = open.pop() {
            visit(part);
            let start = open.len();
            part.parts(&mut |inner| open.push(inner));
            open[start..].reverse();
        }
    }
}
