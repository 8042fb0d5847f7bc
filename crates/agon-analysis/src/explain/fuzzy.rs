//! The evaluation by fuzzy logic as text and as JSON.

use std::collections::BTreeSet;

use agon_gdl::interpreter::Game;
use serde_json::{Value, json};

use super::abbreviated;
use crate::fuzzy::{ComparisonSide, DomainKind, FuzzyEvaluation, FuzzyEvaluator, Node, NodeId};

/// Returns the line of a rule in its file.
fn line_of(game: &Game, rule: usize) -> usize {
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
fn leaf_text(fuzzy: &FuzzyEvaluation, id: NodeId) -> String {
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

/// Describes how a leaf is valued. Empty if there is nothing to add.
fn remark(fuzzy: &FuzzyEvaluation, id: NodeId, evaluator: Option<&mut FuzzyEvaluator>) -> String {
    if let Some(target) = fuzzy.target_distances.get(&id) {
        let along = match target.kind() {
            DomainKind::Natural => "a line of numbers",
            DomainKind::Graph => "a graph",
        };
        let arguments: Vec<String> =
            target.arguments.iter().map(|(argument, ..)| (argument + 1).to_string()).collect();
        let lines: Vec<String> =
            target.rules.iter().map(|&rule| line_of(&fuzzy.game, rule).to_string()).collect();
        let plural = if arguments.len() == 1 { "" } else { "s" };
        return format!(
            "valued by the distance along {along} in argument{plural} {}; moved by line {}",
            arguments.join(" and "),
            abbreviated(&lines, 4)
        );
    }
    match fuzzy.tree.get(id) {
        Node::Fluent(fluent) => match fuzzy.persistence(*fluent as usize) {
            (true, true) => "never changes".to_owned(),
            (true, false) => "stays true once it holds".to_owned(),
            (false, true) => "stays false once it does not hold".to_owned(),
            (false, false) => String::new(),
        },
        Node::Pattern(number) => {
            let n = fuzzy.patterns[*number as usize].fluents.len();
            match evaluator.and_then(|evaluator| evaluator.solutions(id)) {
                Some(1) => format!("1 of {n} possible fluents holds"),
                Some(found) => format!("{found} of {n} possible fluents hold"),
                None => format!("valued by the number of {n} possible fluents that hold"),
            }
        }
        Node::Query(number) => {
            let most = match fuzzy.queries[*number as usize].n_instances {
                Some(n) => format!("{n} possible"),
                None => "maximum unknown".to_owned(),
            };
            match evaluator.and_then(|evaluator| evaluator.solutions(id)) {
                Some(1) => format!("1 solution ({most})"),
                Some(found) => format!("{found} solutions ({most})"),
                None => format!("valued by the number of solutions ({most})"),
            }
        }
        Node::Order(number) => {
            let order = &fuzzy.orders[*number as usize];
            let name = fuzzy.game.rules().sheet().symbols.name(order.relation);
            let sides: Vec<&str> = order
                .sides
                .iter()
                .map(|side| {
                    if matches!(side, ComparisonSide::Constant(_)) {
                        "a constant"
                    } else {
                        "a fluent"
                    }
                })
                .collect();
            format!("valued by how far {} is above {} in the order {name}", sides[0], sides[1])
        }
        Node::PairDistance(_) => "valued by the distance between the two fluents".to_owned(),
        Node::Constant(_) | Node::Not(_) | Node::And(_) | Node::Or(_) => String::new(),
    }
}

/// Describes the evaluation in words, with an indented line for each part. Of many alternatives at
/// most `n_shown` are shown, those with the highest degrees in the state of the evaluator first.
pub fn evaluation_text(
    fuzzy: &FuzzyEvaluation,
    mut evaluator: Option<&mut FuzzyEvaluator>,
    n_shown: usize,
) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(fuzzy.unfinished.as_ref().map(|unfinished| {
        let limit = if unfinished.is_time { "time ran out" } else { "the limit was reached" };
        let goals = unfinished.goals.iter();
        let goals =
            goals.map(|&(role, goal)| format!("{} {goal}", fuzzy.game.shape().role_names[role]));
        let goals: Vec<String> = goals.collect();
        format!(
            "{limit} before all conditions were taken apart; left whole, at least in part: the \
             goals {}",
            abbreviated(&goals, n_shown)
        )
    }));
    let mut printed = BTreeSet::new();
    for (role, goals) in fuzzy.goals.iter().enumerate().filter(|(_, goals)| !goals.is_empty()) {
        let name = &fuzzy.game.shape().role_names[role];
        let value = evaluator
            .as_mut()
            .map(|evaluator| format!(": estimated payoff {:.2}", evaluator.value(role)));
        lines.push(format!("{name}{}", value.unwrap_or_default()));
        if let Some(sentence) = goals_of_single_facts(fuzzy, evaluator.as_deref(), goals) {
            lines.push(sentence);
            continue;
        }
        for &(goal, root) in goals.iter().rev() {
            let truth = evaluator
                .as_mut()
                .map(|evaluator| format!(", degree of truth {}", degree(evaluator.truth(root))));
            let size = fuzzy.tree.below(root).len();
            let parts = if size == 1 { "1 part".to_owned() } else { format!("{size} parts") };
            lines
                .push(format!("  condition of goal {goal} ({parts}){}", truth.unwrap_or_default()));
            let mut tree = TreePrinter {
                fuzzy,
                n_shown,
                evaluator: evaluator.as_deref_mut(),
                printed: &mut printed,
                lines: &mut lines,
            };
            tree.print(root, 2);
        }
    }
    lines
}

/// Describes goals that are facts of their own, such as scores, in one sentence. Returns `None` if
/// the conditions of the goals are not that simple.
fn goals_of_single_facts(
    fuzzy: &FuzzyEvaluation,
    evaluator: Option<&FuzzyEvaluator>,
    goals: &[(i64, NodeId)],
) -> Option<String> {
    let facts = goals.iter().rev().map(|&(goal, root)| match fuzzy.tree.get(root) {
        Node::Fluent(fluent) if !fuzzy.target_distances.contains_key(&root) => {
            Some((goal, *fluent as usize))
        }
        _ => None,
    });
    let facts: Vec<(i64, usize)> = facts.collect::<Option<_>>()?;
    if facts.len() < 3 {
        return None;
    }
    let listed: Vec<String> = facts
        .iter()
        .map(|&(goal, fluent)| format!("{goal} if {}", fuzzy.fluent_text(fluent)))
        .collect();
    let now = evaluator.and_then(|e| facts.iter().find(|&&(_, fluent)| e.holds(fluent)));
    let now = now.map_or_else(String::new, |&(goal, fluent)| {
        format!("; now {} holds, which is goal {goal}", fuzzy.fluent_text(fluent))
    });
    Some(format!("  each goal depends on one fact: {}{now}", abbreviated(&listed, 4)))
}

/// Returns a condition without the word `true`, which every fact of a state has in the rules.
fn plain(text: &str) -> String {
    const OPENING: &str = "(true ";
    let mut text = text.to_owned();
    while let Some(start) = text.find(OPENING) {
        let inside = &text[start + OPENING.len()..];
        let mut depth = 1;
        let end = inside.char_indices().find(|(_, c)| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        let Some((end, _)) = end else { break };
        text = format!("{}{}{}", &text[..start], &inside[..end], &inside[end + 1..]);
    }
    text
}

/// Maximum depth of the parts that are shown.
const MAX_INDENT: usize = 12;

/// Number of parts shown of those that have the same degree.
const N_ALIKE: usize = 2;

/// Prints a tree, one line for each part.
struct TreePrinter<'a> {
    fuzzy: &'a FuzzyEvaluation,
    n_shown: usize,
    evaluator: Option<&'a mut FuzzyEvaluator>,
    /// The parts printed so far.
    printed: &'a mut BTreeSet<NodeId>,
    lines: &'a mut Vec<String>,
}

impl TreePrinter<'_> {
    fn print(&mut self, id: NodeId, indent: usize) {
        let fuzzy = self.fuzzy;
        let truth = self.truth(id).map(|truth| format!("{truth:>8}  ")).unwrap_or_default();
        let remark = remark(fuzzy, id, self.evaluator.as_deref_mut());
        let line = fuzzy
            .tree
            .origin(id)
            .map(|rule| format!("rule in line {}", line_of(&fuzzy.game, rule)));
        let mut notes: Vec<String> =
            [Some(remark).filter(|text| !text.is_empty()), line].into_iter().flatten().collect();
        let children: Vec<NodeId> = match fuzzy.tree.get(id) {
            Node::Not(child) => vec![*child],
            Node::And(children) | Node::Or(children) => children.clone(),
            _ => Vec::new(),
        };
        let is_known = !children.is_empty() && !self.printed.insert(id);
        if is_known {
            notes.push("shown above".to_owned());
        }
        let notes =
            if notes.is_empty() { String::new() } else { format!("   [{}]", notes.join("; ")) };
        let pad = "  ".repeat(indent);
        // Children that are plain fluents are printed on one line.
        let is_plain = |child: &NodeId| {
            matches!(fuzzy.tree.get(*child), Node::Fluent(_))
                && !fuzzy.target_distances.contains_key(child)
        };
        if !children.is_empty() && children.len() <= self.n_shown && children.iter().all(is_plain) {
            let described = self.described(id, &children);
            self.lines.push(format!("{truth}{pad}{described}{notes}"));
            return;
        }
        let text = match fuzzy.tree.get(id) {
            Node::Not(_) => "this must not hold:".to_owned(),
            _ => plain(&leaf_text(fuzzy, id)),
        };
        self.lines.push(format!("{truth}{pad}{text}{notes}"));
        if is_known || children.is_empty() {
            return;
        }
        let blank = if truth.is_empty() { "" } else { "          " };
        if indent > MAX_INDENT {
            self.lines.push(format!("{blank}{pad}  …"));
            return;
        }
        let mut shown = children.clone();
        if let (Node::Or(_), Some(evaluator)) = (fuzzy.tree.get(id), self.evaluator.as_mut()) {
            shown.sort_by(|&a, &b| evaluator.truth(b).total_cmp(&evaluator.truth(a)));
        }
        // Of many parts that are alike, one or two say it all.
        let degrees: BTreeSet<Option<String>> =
            shown.iter().map(|&child| self.truth(child)).collect();
        let are_alike = degrees.len() == 1 && !degrees.contains(&None) && shown.len() > N_ALIKE + 1;
        let n_shown = if are_alike { N_ALIKE.min(self.n_shown) } else { self.n_shown };
        for &child in shown.iter().take(n_shown) {
            self.print(child, indent + 1);
        }
        if children.len() > n_shown {
            let alike = if are_alike { ", all of the same degree" } else { "" };
            self.lines
                .push(format!("{blank}{pad}  … and {} more{alike}", children.len() - n_shown));
        }
    }

    /// Describes a node whose children are plain fluents: what holds, what is missing, and what can
    /// never hold any more.
    fn described(&self, id: NodeId, children: &[NodeId]) -> String {
        let fuzzy = self.fuzzy;
        let text = leaf_text(fuzzy, id);
        let listed = |of: &[NodeId]| {
            of.iter().map(|&child| leaf_text(fuzzy, child)).collect::<Vec<_>>().join(", ")
        };
        let Some(evaluator) = self.evaluator.as_deref() else {
            return format!("{text}: {}", listed(children));
        };
        let fluent = |child: NodeId| match fuzzy.tree.get(child) {
            Node::Fluent(fluent) => *fluent as usize,
            _ => unreachable!("only plain fluents are listed"),
        };
        let (held, missing): (Vec<NodeId>, Vec<NodeId>) =
            children.iter().partition(|&&child| evaluator.holds(fluent(child)));
        let is_and = matches!(fuzzy.tree.get(id), Node::And(_));
        let dead = missing.iter().filter_map(|&child| evaluator.obstacle(fluent(child))).next();
        let lost = match dead.filter(|_| is_and) {
            Some(by) => format!("; lost, because {} stays", fuzzy.fluent_text(by)),
            None => String::new(),
        };
        if let Node::Not(_) = fuzzy.tree.get(id) {
            let but = if missing.is_empty() { ", but it holds" } else { "" };
            return format!("not {}{but}", listed(children));
        }
        match (held.as_slice(), missing.as_slice()) {
            ([], [_]) => format!("{text}: {}", listed(children)),
            (_, []) => format!("{text}: {} (holds)", listed(children)),
            ([], missing) => format!("{text}: {} (none holds{lost})", listed(missing)),
            (held, missing) => {
                format!("{text}: there is {}; missing {}{lost}", listed(held), listed(missing))
            }
        }
    }

    fn truth(&mut self, id: NodeId) -> Option<String> {
        self.evaluator.as_mut().map(|evaluator| degree(evaluator.truth(id)))
    }
}

/// Formats a degree of truth. Small degrees keep their order of magnitude.
fn degree(truth: f64) -> String {
    if truth == 0.0 || truth >= 0.0005 { format!("{truth:.3}") } else { format!("{truth:.1e}") }
}
