//! Finds out whether a game needs real numbers, and which functions change.

use agon_structures::formula::{Definitions, Formula, RealFunction, Sort, Term};
use agon_structures::structure::{FunctionId, Vocabulary};

use crate::arena::{ArenaLocation, ArenaRule};

/// Returns for each function the function that holds its derivative.
pub(super) fn derivatives(vocabulary: &Vocabulary) -> Vec<Option<FunctionId>> {
    vocabulary
        .functions()
        .map(|function| vocabulary.function(&format!("{}'", vocabulary.function_name(function))))
        .collect()
}

/// Returns for each function whether a rule may change its values: by an update, by an equation,
/// or because its derivative is part of the state.
pub(super) fn changing_functions(
    vocabulary: &Vocabulary,
    derivatives: &[Option<FunctionId>],
    rules: &[ArenaRule],
) -> Vec<bool> {
    let is_set = |function: FunctionId| {
        rules
            .iter()
            .flat_map(|rule| rule.dynamics.iter().chain(&rule.updates))
            .any(|equation| equation.function == function)
    };
    vocabulary
        .functions()
        .map(|function| is_set(function) || derivatives[function.index()].is_some())
        .collect()
}

/// Returns whether states contain real numbers: time passes, moves have parameters, or terms have
/// values that are not rational.
pub(super) fn is_continuous(
    definitions: &Definitions,
    rules: &[ArenaRule],
    locations: &[ArenaLocation],
) -> bool {
    let in_rules = rules.iter().any(|rule| {
        !rule.dynamics.is_empty()
            || rule.invariant.as_ref().is_some_and(|inv| !inv.formula.is_truth())
            || !rule.parameters.is_empty()
            || formula_needs_reals(&rule.condition)
            || rule.post.as_ref().is_some_and(|post| formula_needs_reals(&post.formula))
            || rule.updates.iter().any(|update| {
                term_needs_reals(&update.term)
                    || update.term.free_variables().iter().any(|v| v.sort() == Sort::Real)
            })
    });
    let in_locations = locations.iter().any(|location| {
        !location.draws.is_empty()
            || location.payoffs.iter().any(term_needs_reals)
            || location
                .edges
                .iter()
                .flatten()
                .any(|edge| edge.time != (Term::whole(0), Term::whole(0)))
    });
    let in_definitions = definitions.iter().any(|definition| formula_needs_reals(&definition.body));
    in_rules || in_locations || in_definitions
}

/// Returns whether a formula quantifies over real numbers or computes inexactly.
fn formula_needs_reals(formula: &Formula) -> bool {
    match formula {
        Formula::Relation(..) | Formula::Equal(..) | Formula::Member(..) => false,
        Formula::Compare(left, _, right) => term_needs_reals(left) || term_needs_reals(right),
        Formula::Not(inner) => formula_needs_reals(inner),
        Formula::And(parts) | Formula::Or(parts) => parts.iter().any(formula_needs_reals),
        Formula::Exists(variables, body) | Formula::All(variables, body) => {
            variables.iter().any(|variable| variable.sort() == Sort::Real)
                || formula_needs_reals(body)
        }
        Formula::Fix(fix) => formula_needs_reals(&fix.body),
        Formula::Closure(closure) => formula_needs_reals(&closure.body),
        Formula::Let(bound) => {
            formula_needs_reals(&bound.definition) || formula_needs_reals(&bound.body)
        }
    }
}

fn term_needs_reals(term: &Term) -> bool {
    match term {
        Term::Number(_) | Term::Variable(_) | Term::ElementNumber(_) | Term::Function(..) => false,
        Term::Least(..) => true,
        Term::Characteristic(formula) => formula_needs_reals(formula),
        Term::Binary(_, left, right) | Term::Let(_, left, right) => {
            term_needs_reals(left) || term_needs_reals(right)
        }
        Term::Aggregate(aggregate) => {
            formula_needs_reals(&aggregate.guard) || term_needs_reals(&aggregate.term)
        }
        Term::Apply(function, arguments) => {
            !matches!(function, RealFunction::Abs | RealFunction::Min | RealFunction::Max)
                || arguments.iter().any(term_needs_reals)
        }
    }
}
