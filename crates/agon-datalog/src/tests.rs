//! The engine against evaluators that are too slow to be wrong, and against programs made to break it.

mod answers;
mod budgets;
mod grounding;
mod judge;
mod negation;
mod programs;
mod terms;

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

use crate::{Atom, Goal, Pattern, PredicateId, Rule, Symbol};

/// As many cases, the same in each run unless `PROPTEST_RNG_SEED` says otherwise.
pub(crate) fn seeded(n_cases: u32) -> ProptestConfig {
    let config = ProptestConfig::with_cases(n_cases);
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(7),
        RngSeed::Fixed(seed) => RngSeed::Fixed(seed),
    };
    ProptestConfig { rng_seed, failure_persistence: None, ..config }
}

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
