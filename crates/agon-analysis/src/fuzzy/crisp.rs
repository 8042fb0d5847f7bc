//! Queries for the reasoner, compiled to formulas over fluents.
//!
//! A query gets one formula for each possible solution. The number of formulas that hold is the
//! number of solutions. The reasoner is much slower; the tests use it as the oracle.

use super::expand::Expander;
use super::tree::{Node, NodeId, Tree};
use super::unfold::Unfolding;
use super::{Evolution, Expression, Features, FuzzyOptions, Pattern};
use crate::properties::Properties;
use crate::theory::{Bindings, Theory};

/// The formulas for the solutions of queries.
#[derive(Default)]
pub(super) struct Crisp {
    pub(super) tree: Tree,
    pub(super) patterns: Vec<Pattern>,
    /// By query: a formula for each possible solution, or `None` if the query is left to the
    /// reasoner.
    pub(super) solutions: Vec<Option<Vec<NodeId>>>,
}

/// Maximum number of possible solutions of one query.
const MAX_SOLUTIONS: usize = 6_000;
/// Maximum number of nodes of all formulas together.
const MAX_NODES: usize = 60_000;
/// Maximum number of calls of `conjunction` for one solution. There are more calls than for a goal,
/// because shared parts are reached repeatedly, but each is short.
const MAX_CALLS: usize = 200_000;
/// Maximum number of steps of a search for the possible solutions of one query.
const MAX_STEPS: usize = 100_000;

impl Crisp {
    /// Compiles as many queries as the limits allow. Each query comes with the variables that make
    /// up a solution.
    pub(super) fn new(
        theory: &mut Theory,
        evolution: &mut Evolution,
        properties: &Properties,
        queries: &[(Expression, Vec<u32>)],
    ) -> Crisp {
        if !theory.is_complete {
            return Crisp { solutions: vec![None; queries.len()], ..Crisp::default() };
        }
        theory.set_step_budget(MAX_TOTAL_STEPS);
        let options = FuzzyOptions {
            features: Features::NONE,
            max_depth: 200,
            max_size: MAX_NODES,
            ..FuzzyOptions::default()
        };
        let mut expander = Expander::new(theory, evolution, properties, &options);
        expander.max_calls = MAX_CALLS;
        expander.unfolding = Some(Unfolding::deep());
        let mut solutions = Vec::new();
        for (expression, wanted) in queries {
            let before = expander.tree.len();
            let formulas = formulas(&mut expander, expression, wanted);
            if formulas.is_none() {
                expander.discard_from(before);
            }
            solutions.push(formulas);
        }
        let Expander { tree, patterns, theory, .. } = expander;
        let patterns =
            patterns.into_iter().map(|expression| Pattern::new(theory, expression)).collect();
        Crisp { tree, patterns, solutions }
    }
}

/// Maximum number of steps of all searches for values while compiling.
const MAX_TOTAL_STEPS: usize = 3_000_000;

/// Returns a formula for each possible solution of a query. `None` if a part of one would be left
/// to the reasoner, or a limit is reached.
fn formulas(
    expander: &mut Expander<'_>,
    expression: &Expression,
    wanted: &[u32],
) -> Option<Vec<NodeId>> {
    let rows = expander
        .theory
        .possible_values(&expression.conditions, wanted, MAX_SOLUTIONS, MAX_STEPS)
        .ok()?;
    let mut found = Vec::new();
    for row in rows {
        let mut bindings = Bindings::default();
        for (&variable, &value) in wanted.iter().zip(&row) {
            bindings.bind(variable, expander.theory.term(value));
        }
        let before = expander.tree.len();
        let root = expander.expression(bindings.fill_all(&expression.conditions));
        let is_query = |node: &Node| matches!(node, Node::Query(_));
        let is_crisp = !expander.tree.nodes().skip(before).any(|(_, node)| is_query(node));
        if !is_crisp || expander.tree.len() > MAX_NODES {
            return None;
        }
        found.push(root);
    }
    Some(found)
}
