//! The evaluation by fuzzy logic as JSON.

use agon_gdl::interpreter::Game;
use serde_json::{Value, json};

use crate::fuzzy::{DomainKind, FuzzyEvaluation, FuzzyEvaluator, Node, NodeId};

/// Returns the line of a rule in its file.
pub(super) fn line_of(game: &Game, rule: usize) -> usize {
    let sheet = game.rules().sheet();
    let span = sheet.clauses[game.rules().rules()[rule].clause].span;
    sheet.source.place(span.start()).line
}

/// Returns the evaluation as JSON: goals, nodes and numbers of features. With an evaluator also the
/// value of each part in its current state.
pub fn evaluation_json(fuzzy: &FuzzyEvaluation, evaluator: Option<&mut FuzzyEvaluator>) -> Value {
    let mut evaluator = evaluator;
    let role_name = |role: usize| &fuzzy.game.shape().role_names[role];
    let roles = fuzzy.game.shape().role_names.iter().zip(&fuzzy.goals).enumerate();
    let goals: Vec<Value> = roles
        .filter(|(_, (_, goals))| !goals.is_empty())
        .map(|(role, (name, goals))| {
            json!({
                "role": name,
                "value": evaluator.as_mut().map(|evaluator| evaluator.value(role)),
                "goals": goals.iter().map(|(value, root)| json!({
                    "goal": value, "node": root.0, "size": fuzzy.tree.below(*root).len(),
                    "depth": fuzzy.tree.depth(*root),
                    "truth": evaluator.as_mut().map(|evaluator| evaluator.truth(*root)),
                })).collect::<Vec<_>>(),
            })
        })
        .collect();
    let nodes: Vec<Value> = fuzzy
        .used_nodes()
        .into_iter()
        .map(|id| {
            let mut node =
                json!({"node": id.0, "kind": kind(fuzzy, id), "text": leaf_text(fuzzy, id)});
            match fuzzy.tree.get(id) {
                Node::Not(child) => node["children"] = json!([child.0]),
                Node::And(children) | Node::Or(children) => {
                    node["children"] = children.iter().map(|child| child.0).collect();
                }
                _ => {}
            }
            if let Some(rule) = fuzzy.tree.origin(id) {
                node["line"] = json!(line_of(&fuzzy.game, rule));
            }
            if let Some(target) = fuzzy.target_distances.get(&id) {
                let lines = target.rules.iter().map(|&rule| line_of(&fuzzy.game, rule));
                node["moves_by_lines"] = lines.collect();
            }
            if let Some(evaluator) = evaluator.as_mut() {
                node["truth"] = json!(evaluator.truth(id));
                node["solutions"] = json!(evaluator.solutions(id));
            }
            node
        })
        .collect();
    let unfinished = fuzzy.unfinished.as_ref().map(|unfinished| {
        let goals = unfinished.goals.iter();
        let goals = goals.map(|&(role, goal)| json!({"role": role_name(role), "goal": goal}));
        let reason = if unfinished.is_time { "time" } else { "work" };
        json!({"reason": reason, "goals": goals.collect::<Vec<_>>()})
    });
    json!({
        "goals": goals,
        "nodes": nodes,
        "features": features_json(fuzzy),
        "unfinished": unfinished,
    })
}

/// Returns how often each feature of Michulke 2011 occurs in an evaluation, as JSON.
pub fn features_json(fuzzy: &FuzzyEvaluation) -> Value {
    let counts = fuzzy.counts();
    json!({
        "expression_cardinality": counts.expression_cardinality,
        "fluent_cardinality": counts.fluent_cardinality,
        "order": counts.order, "distance_between": counts.between,
        "natural_distance": counts.natural, "graph_distance": counts.graph,
        "persistence": counts.persistence,
    })
}

fn kind(fuzzy: &FuzzyEvaluation, id: NodeId) -> &'static str {
    let distance = fuzzy.target_distances.get(&id).map(|target| match target.kind() {
        DomainKind::Natural => "natural_distance",
        DomainKind::Graph => "graph_distance",
    });
    distance.unwrap_or(match fuzzy.tree.get(id) {
        Node::Constant(_) => "constant",
        Node::Fluent(_) => "fluent",
        Node::Pattern(_) if fuzzy.options.features.cardinality => "fluent_cardinality",
        Node::Pattern(_) => "fluents",
        Node::Query(_) if fuzzy.options.features.cardinality => "expression_cardinality",
        Node::Query(_) => "reason",
        Node::Order(_) => "order",
        Node::PairDistance(_) => "distance_between",
        Node::Not(_) => "not",
        Node::And(_) => "and",
        Node::Or(_) => "or",
    })
}

/// Describes a node without its children.
pub(super) fn leaf_text(fuzzy: &FuzzyEvaluation, id: NodeId) -> String {
    match fuzzy.tree.get(id) {
        Node::Constant(true) => "always".to_owned(),
        Node::Constant(false) => "never".to_owned(),
        Node::Fluent(fluent) => fuzzy.fluent_text(*fluent as usize),
        Node::Pattern(number) => fuzzy.patterns[*number as usize].expression.text.clone(),
        Node::Query(number) => fuzzy.queries[*number as usize].expression.text.clone(),
        Node::Order(number) => fuzzy.orders[*number as usize].text.clone(),
        Node::PairDistance(number) => fuzzy.pair_distances[*number as usize].text.clone(),
        Node::Not(_) => "not".to_owned(),
        Node::And(children) => format!("all {} of", children.len()),
        Node::Or(children) => format!("at least one of {}", children.len()),
    }
}
