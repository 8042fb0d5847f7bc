//! Numbers that tell how far a position is from what its rules ask for.
//!
//! The conditions of rules and the payoffs are split into their parts about numbers when a game is
//! opened: comparisons under their quantifiers, and the terms that payoffs add and compare. At a
//! position each part gives one number, by the robust semantics of formulas. A search can learn
//! from plays which of them matter.

use agon_structures::formula::{
    Aggregate, Definitions, Fold, Formula, Operator, RealFunction, Sort, Term, Variable,
};

use super::position::Interpreter;
use crate::arena::CheckedArena;

/// Maximum number of parts of a game. Further ones are not used.
const MAX_PARTS: usize = 24;

/// The parts of conditions and payoffs that are about numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Margins {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Formula(Formula),
    Term(Term),
}

/// The quantified variables around a part, and the conditions on them.
#[derive(Clone, Default)]
struct Context {
    variables: Vec<Variable>,
    guards: Vec<Formula>,
}

impl Margins {
    /// Collects the parts of a game. `is_numeric` tells whether a formula depends on numbers that
    /// change.
    pub(super) fn of(
        arena: &CheckedArena,
        definitions: &Definitions,
        is_numeric: &dyn Fn(&Formula) -> bool,
    ) -> Margins {
        let mut collector = Collector { definitions, is_numeric, parts: Vec::new() };
        // Payoffs come first, because they matter most if there are too many parts.
        for payoff in arena.locations().iter().flat_map(|location| &location.payoffs) {
            collector.term(payoff, &Context::default());
        }
        for rule in arena.rules() {
            let discrete = rule.parts.iter().filter(|part| !is_numeric(&part.formula));
            let context = Context {
                variables: rule.elements.clone(),
                guards: discrete.map(|part| part.formula.clone()).collect(),
            };
            for part in &rule.parts {
                collector.formula(&part.formula, &context);
            }
            if let Some(invariant) = &rule.invariant {
                collector.formula(&invariant.formula, &context);
            }
        }
        Margins { parts: collector.parts }
    }
}

struct Collector<'a> {
    definitions: &'a Definitions,
    is_numeric: &'a dyn Fn(&Formula) -> bool,
    parts: Vec<Part>,
}

impl Collector<'_> {
    fn formula(&mut self, formula: &Formula, context: &Context) {
        if !(self.is_numeric)(formula) {
            return;
        }
        match formula {
            Formula::Not(inner) => self.formula(inner, context),
            Formula::And(parts) | Formula::Or(parts) => {
                let mut context = context.clone();
                if matches!(formula, Formula::And(_)) {
                    let discrete = parts.iter().filter(|part| !(self.is_numeric)(part));
                    context.guards.extend(discrete.cloned());
                }
                parts.iter().for_each(|part| self.formula(part, &context));
            }
            Formula::Exists(variables, body)
                if variables.iter().all(|variable| variable.sort() == Sort::Element) =>
            {
                let mut context = context.clone();
                context.variables.extend(variables.iter().cloned());
                self.formula(body, &context);
            }
            Formula::Relation(name, arguments) if arguments.is_empty() => {
                match self.definitions.get(name) {
                    Some(definition) => self.formula(&definition.body, &Context::default()),
                    None => self.push(Part::Formula(formula.clone())),
                }
            }
            _ if formula.free_variables().iter().any(|v| v.sort() == Sort::Real) => {}
            _ => self.push(Part::Formula(context.close(formula))),
        }
    }

    fn term(&mut self, term: &Term, context: &Context) {
        match term {
            Term::Number(_) | Term::ElementNumber(_) | Term::Variable(_) | Term::Least(..) => {}
            Term::Characteristic(formula) if (self.is_numeric)(formula) => {
                self.formula(formula, context);
            }
            Term::Binary(
                Operator::Plus | Operator::Minus | Operator::Times | Operator::Divide,
                left,
                right,
            ) => {
                self.term(left, context);
                self.term(right, context);
            }
            Term::Apply(RealFunction::Min | RealFunction::Max, arguments) => {
                arguments.iter().for_each(|argument| self.term(argument, context));
            }
            Term::Aggregate(aggregate) if has_indicator(&aggregate.term) => {
                let mut context = context.clone();
                context.variables.extend(aggregate.variables.iter().cloned());
                context.guards.push(aggregate.guard.clone());
                self.term(&aggregate.term, &context);
            }
            Term::Characteristic(_)
            | Term::Binary(Operator::Power, ..)
            | Term::Apply(..)
            | Term::Aggregate(_)
            | Term::Function(..)
            | Term::Let(..) => self.push(Part::Term(context.sum(term))),
        }
    }

    fn push(&mut self, part: Part) {
        if self.parts.len() < MAX_PARTS && !self.parts.contains(&part) {
            self.parts.push(part);
        }
    }
}

impl Context {
    /// Returns that a formula holds for some elements.
    fn close(&self, formula: &Formula) -> Formula {
        if self.variables.is_empty() {
            return formula.clone();
        }
        let mut parts = self.guards.clone();
        parts.push(formula.clone());
        Formula::Exists(self.variables.clone(), Box::new(Formula::And(parts)))
    }

    /// Returns the sum of a term over all elements.
    fn sum(&self, term: &Term) -> Term {
        if self.variables.is_empty() {
            return term.clone();
        }
        Term::Aggregate(Box::new(Aggregate {
            fold: Fold::Sum,
            variables: self.variables.clone(),
            guard: Formula::And(self.guards.clone()),
            term: term.clone(),
        }))
    }
}

/// Returns whether a term adds or multiplies indicators of formulas.
fn has_indicator(term: &Term) -> bool {
    match term {
        Term::Characteristic(_) => true,
        Term::Binary(_, left, right) => has_indicator(left) || has_indicator(right),
        _ => false,
    }
}

impl Interpreter {
    /// Returns the margins here. What has no finite value is 0.
    pub(super) fn margins_here(&self) -> Vec<f64> {
        let Some(values) = self.state.values() else { return Vec::new() };
        let moment = self.moment(self.state.structure(), values);
        let number = |part: &Part| match part {
            Part::Formula(formula) => moment.margin(formula).ok(),
            Part::Term(term) => moment.middle(term).ok().flatten(),
        };
        let parts = self.game.margins.parts.iter();
        parts.map(|part| number(part).filter(|x| x.is_finite()).unwrap_or(0.0)).collect()
    }
}
