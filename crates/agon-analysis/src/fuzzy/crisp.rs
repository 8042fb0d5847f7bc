//! What is left to the reasoner, compiled: the number of solutions as formulas over fluents, one for each solution that there
//! can be. The reasoner is slower by far and stays the judge.

use super::expand::Expander;
use super::tree::{Node, NodeId, Tree};
use super::unfold::Unfolding;
use super::{Evolution, Expression, Features, FuzzyOptions, Pattern};
use crate::properties::Properties;
use crate::theory::{Bindings, Theory};

/// Formulas for the solutions of queries.
#[derive(Default)]
pub(super) struct Crisp {
    pub(super) tree: Tree,
    pub(super) patterns: Vec<Pattern>,
    /// By query: a formula for each solution that there can be; `None` if the query is left to the reasoner.
    pub(super) solutions: Vec<Option<Vec<NodeId>>>,
}

/// Solutions of one query, and nodes of all formulas together.
const MAX_SOLUTIONS: usize = 6_000;
const MAX_NODES: usize = 60_000;
const MAX_STEPS: usize = 100_000;

impl Crisp {
    /// Compiles as many of the queries as can be. `queries` come with their wanted variables.
    pub(super) fn new(
        theory: &mut Theory,
        evolution: &mut Evolution,
        properties: &Properties,
        queries: &[(Expression, Vec<u32>)],
    ) -> Crisp {
        if !theory.is_complete {
            return Crisp { solutions: vec![None; queries.len()], ..Crisp::default() };
        }
        theory.grant(MAX_GRANTED);
        let options = FuzzyOptions {
            features: Features::NONE,
            max_depth: 200,
            max_size: MAX_NODES,
            ..FuzzyOptions::default()
        };
        let mut expander = Expander::new(theory, evolution, properties, &options);
        expander.unfolding = Some(Unfolding::default());
        let mut solutions = Vec::new();
        for (expression, wanted) in queries {
            let before = expander.tree.len();
            let formulas = formulas(&mut expander, expression, wanted);
            if formulas.is_none() {
                expander.forget(before);
            }
            solutions.push(formulas);
        }
        let Expander { tree, patterns, theory, .. } = expander;
        let patterns =
            patterns.into_iter().map(|expression| Pattern::new(theory, expression)).collect();
        Crisp { tree, patterns, solutions }
    }
}

/// Steps of searches for values that compiling may take.
const MAX_GRANTED: usize = 3_000_000;

fn formulas(
    expander: &mut Expander<'_>,
    expression: &Expression,
    wanted: &[u32],
) -> Option<Vec<NodeId>> {
    let rows =
        expander.theory.possible(&expression.conditions, wanted, MAX_SOLUTIONS, MAX_STEPS).ok()?;
    let mut found = Vec::new();
    for row in rows {
        let mut bindings = Bindings::default();
        for (&variable, &value) in wanted.iter().zip(&row) {
            bindings.bind(variable, expander.theory.term(value));
        }
        let before = expander.tree.len();
        let root = expander.expression(bindings.fill_all(&expression.conditions));
        let is_left = |node: &Node| matches!(node, Node::Query(_));
        let is_crisp = !expander.tree.nodes().skip(before).any(|(_, node)| is_left(node));
        if !is_crisp || expander.tree.len() > MAX_NODES {
            return None;
        }
        found.push(root);
    }
    Some(found)
}
