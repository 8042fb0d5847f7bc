//! Conjunctions that are left to the reasoner.

use std::sync::Arc;

use agon_gdl::interpreter::{Game, Query, QueryPlan};
use agon_gdl::rules::{Condition, RuleTerm};

use super::conditions::variables;
use super::{Expression, FuzzyError};
use crate::theory::{Bindings, Theory, map_condition};

/// A conjunction whose solutions the reasoner counts.
#[derive(Clone, Debug)]
pub(crate) struct CountedQuery {
    /// The conjunction.
    pub(crate) expression: Expression,
    /// The maximum number of solutions, if it is known.
    pub(crate) n_instances: Option<usize>,
}

/// Maximum number of possible solutions that are counted for one expression.
const MAX_INSTANCES: usize = 50_000;
/// Maximum number of steps of a search for possible solutions.
const MAX_STEPS: usize = 500_000;

impl CountedQuery {
    /// Creates a query. `solution` lists the variables that make up a solution.
    pub(super) fn new(theory: &Theory, expression: Expression, solution: &[u32]) -> CountedQuery {
        let count = || {
            theory.possible_values(&expression.conditions, solution, MAX_INSTANCES, MAX_STEPS).ok()
        };
        let instances = if theory.is_complete { count() } else { None };
        CountedQuery { n_instances: instances.map(|rows| rows.len()), expression }
    }
}

/// Returns the variables that make up a solution of a conjunction: those of its positive
/// conditions.
pub(super) fn solution_variables(expression: &Expression) -> Vec<u32> {
    let positive = |condition: &&Condition| matches!(condition, Condition::Holds(_));
    let conditions: Vec<Condition> =
        expression.conditions.iter().filter(positive).cloned().collect();
    variables(&conditions)
}

/// Prepares the reasoner for conjunctions. Returns `None` if there are none.
pub(super) fn inquiry(
    game: &Arc<Game>,
    expressions: &[Expression],
) -> Result<Option<Arc<QueryPlan>>, FuzzyError> {
    if expressions.is_empty() {
        return Ok(None);
    }
    let queries: Vec<Query> = expressions.iter().map(query).collect();
    match QueryPlan::new(game, &queries) {
        Ok(inquiry) => Ok(Some(Arc::new(inquiry))),
        Err(fault) => Err(FuzzyError::UnsupportedQuery { reason: fault.to_string() }),
    }
}

/// Converts a conjunction to a query of the reasoner, whose variables are numbered from 0.
fn query(expression: &Expression) -> Query {
    let all = variables(&expression.conditions);
    let number =
        |v: u32| all.iter().position(|&other| other == v).expect("all variables are listed") as u32;
    let mut renamed = Bindings::default();
    for &v in &all {
        renamed.bind(v, RuleTerm::Variable(number(v) + OFFSET));
    }
    let back = |term: &RuleTerm| lower(&renamed.fill(term));
    let body =
        expression.conditions.iter().map(|condition| map_condition(condition, &back)).collect();
    Query {
        body,
        wanted: solution_variables(expression).into_iter().map(number).collect(),
        n_variables: u32::try_from(all.len()).expect("a rule has few variables"),
    }
}

/// Offset above all variables in use, so that no variable is replaced twice.
const OFFSET: u32 = 1 << 30;

/// Subtracts the offset from the variables of a term.
fn lower(term: &RuleTerm) -> RuleTerm {
    match term {
        RuleTerm::Variable(v) => RuleTerm::Variable(v - OFFSET),
        RuleTerm::Function(symbol, arguments) => {
            RuleTerm::Function(*symbol, arguments.iter().map(lower).collect())
        }
    }
}
