//! Tests of the engine and the grounder against naive evaluation, and on adversarial programs.

mod answers;
mod budgets;
mod grounding;
mod negation;
mod oracle;
mod order;
mod programs;
mod terms;

use crate::{Atom, Goal, Pattern, PredicateId, Rule, Symbol};

pub(crate) use agon_testkit::seeded;

fn atom(predicate: PredicateId, arguments: &[Pattern]) -> Atom {
    Atom { predicate, arguments: arguments.to_vec() }
}

fn holds(predicate: PredicateId, arguments: &[Pattern]) -> Goal {
    Goal::Holds(atom(predicate, arguments))
}

fn variable(number: u32) -> Pattern {
    Pattern::Variable(number)
}

fn constant(number: u32) -> Pattern {
    Pattern::Function(Symbol::new(number), Vec::new())
}

fn rule(head: Atom, body: Vec<Goal>, n_variables: u32, origin: u32) -> Rule {
    Rule { head, body, n_variables, origin }
}
