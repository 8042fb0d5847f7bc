//! Evaluation trees in words and as JSON.

use agon_gdl::interpreter::Game;
use serde_json::{Value, json};

use super::some;
use crate::fuzzy::{DomainKind, Fuzzy, FuzzyJudge, Node, NodeId, Side};

/// The place of a rule: file and line.
fn place(game: &Game, rule: usize) -> (String, usize) {
    let sheet = game.rules().sheet();
    let span = sheet.clauses[game.rules().rules()[rule].clause].span;
    (sheet.source.name().to_owned(), sheet.source.place(span.start()).line)
}

/// The evaluation as JSON: goals, nodes and features, and with a judge the value of each part where the judge stands.
pub fn evaluation_json(fuzzy: &Fuzzy, judge: Option<&mut FuzzyJudge>) -> Value {
    let counts = fuzzy.counts();
    let mut judge = judge;
    let roles = fuzzy.game.shape().role_names.iter().zip(&fuzzy.goals).enumerate();
    let goals: Vec<Value> = roles
        .filter(|(_, (_, goals))| !goals.is_empty())
        .map(|(role, (name, goals))| {
            json!({
                "role": name,
                "value": judge.as_mut().map(|judge| judge.value(role)),
                "goals": goals.iter().map(|(value, root)| json!({
                    "goal": value, "node": root.0, "size": fuzzy.tree.below(*root).len(),
                    "depth": fuzzy.tree.depth(*root),
                    "truth": judge.as_mut().map(|judge| judge.truth(*root)),
                })).collect::<Vec<_>>(),
            })
        })
        .collect();
    let roots = fuzzy.goals.iter().flatten().map(|&(_, root)| root);
    let used: std::collections::BTreeSet<NodeId> =
        roots.flat_map(|root| fuzzy.tree.below(root)).collect();
    let nodes: Vec<Value> = used
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
                node["line"] = json!(place(&fuzzy.game, rule).1);
            }
            if let Some(towards) = fuzzy.towards.get(&id) {
                let lines = towards.rules.iter().map(|&rule| place(&fuzzy.game, rule).1);
                node["moves_by_lines"] = lines.collect();
            }
            if let Some(judge) = judge.as_mut() {
                node["truth"] = json!(judge.truth(id));
                node["solutions"] = json!(judge.solutions(id));
            }
            node
        })
        .collect();
    json!({
        "goals": goals,
        "nodes": nodes,
        "features": {
            "expression_cardinality": counts.expression_cardinality,
            "fluent_cardinality": counts.fluent_cardinality,
            "order": counts.order, "distance_between": counts.between,
            "natural_distance": counts.natural, "graph_distance": counts.graph,
            "persistence": counts.persistence,
        },
    })
}

fn kind(fuzzy: &Fuzzy, id: NodeId) -> &'static str {
    let distance = fuzzy.towards.get(&id).map(|towards| match towards.kind() {
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
        Node::Between(_) => "distance_between",
        Node::Not(_) => "not",
        Node::And(_) => "and",
        Node::Or(_) => "or",
    })
}

/// What a node says by itself, without its children.
fn leaf_text(fuzzy: &Fuzzy, id: NodeId) -> String {
    match fuzzy.tree.get(id) {
        Node::Constant(true) => "always".to_owned(),
        Node::Constant(false) => "never".to_owned(),
        Node::Fluent(fluent) => fuzzy.fluent_text(*fluent as usize),
        Node::Pattern(number) => fuzzy.patterns[*number as usize].expression.text.clone(),
        Node::Query(number) => fuzzy.queries[*number as usize].expression.text.clone(),
        Node::Order(number) => fuzzy.orders[*number as usize].text.clone(),
        Node::Between(number) => fuzzy.betweens[*number as usize].text.clone(),
        Node::Not(_) => "not".to_owned(),
        Node::And(children) => format!("all {} of", children.len()),
        Node::Or(children) => format!("at least one of {}", children.len()),
    }
}

/// What is special about a leaf, for people.
fn remark(fuzzy: &Fuzzy, id: NodeId, judge: Option<&mut FuzzyJudge>) -> String {
    if let Some(towards) = fuzzy.towards.get(&id) {
        let along = match towards.kind() {
            DomainKind::Natural => "a line of numbers",
            DomainKind::Graph => "a graph",
        };
        let arguments: Vec<String> =
            towards.arguments.iter().map(|(argument, ..)| (argument + 1).to_string()).collect();
        let lines: Vec<String> =
            towards.rules.iter().map(|&rule| place(&fuzzy.game, rule).1.to_string()).collect();
        let plural = if arguments.len() == 1 { "" } else { "s" };
        return format!(
            "distance along {along} in argument{plural} {}, which changes by line {}",
            arguments.join(" and "),
            some(&lines, 4)
        );
    }
    match fuzzy.tree.get(id) {
        Node::Fluent(fluent) => match fuzzy.persistence(*fluent as usize) {
            (true, true) => "never changes".to_owned(),
            (true, false) => "stays once it holds".to_owned(),
            (false, true) => "never comes back".to_owned(),
            (false, false) => String::new(),
        },
        Node::Pattern(number) => {
            let n = fuzzy.patterns[*number as usize].fluents.len();
            match judge.and_then(|judge| judge.solutions(id)) {
                Some(found) => format!("{found} of {n} there can be"),
                None => format!("counted, {n} there can be"),
            }
        }
        Node::Query(number) => {
            let most = match fuzzy.queries[*number as usize].n_instances {
                Some(n) => format!("{n} there can be"),
                None => "nobody knows how many there can be".to_owned(),
            };
            match judge.and_then(|judge| judge.solutions(id)) {
                Some(found) => format!("{found} solutions, {most}"),
                None => format!("solutions are counted, {most}"),
            }
        }
        Node::Order(number) => {
            let order = &fuzzy.orders[*number as usize];
            let name = fuzzy.game.rules().sheet().symbols.name(order.relation);
            let sides: Vec<&str> = order
                .sides
                .iter()
                .map(
                    |side| {
                        if matches!(side, Side::Constant(_)) { "a constant" } else { "a fluent" }
                    },
                )
                .collect();
            format!("how far {} is above {} in the order {name}", sides[0], sides[1])
        }
        Node::Between(_) => "how near they are to each other".to_owned(),
        Node::Constant(_) | Node::Not(_) | Node::And(_) | Node::Or(_) => String::new(),
    }
}

/// The evaluation in words, a line for each part, indented. Of many like parts at most `n_shown` are shown, those first that
/// are most true where the judge stands.
pub fn evaluation_text(
    fuzzy: &Fuzzy,
    mut judge: Option<&mut FuzzyJudge>,
    n_shown: usize,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut told = std::collections::BTreeSet::new();
    for (role, goals) in fuzzy.goals.iter().enumerate().filter(|(_, goals)| !goals.is_empty()) {
        let name = &fuzzy.game.shape().role_names[role];
        let value = judge.as_mut().map(|judge| format!(": worth {:.2} here", judge.value(role)));
        lines.push(format!("{name}{}", value.unwrap_or_default()));
        for &(goal, root) in goals.iter().rev() {
            let truth =
                judge.as_mut().map(|judge| format!(", true to {}", degree(judge.truth(root))));
            let size = fuzzy.tree.below(root).len();
            let parts = if size == 1 { "1 part".to_owned() } else { format!("{size} parts") };
            lines.push(format!("  goal {goal} ({parts}){}", truth.unwrap_or_default()));
            let mut tree = Telling {
                fuzzy,
                n_shown,
                judge: judge.as_deref_mut(),
                told: &mut told,
                lines: &mut lines,
            };
            tree.tell(root, 2);
        }
    }
    lines
}

/// Deep trees are cut off: nobody reads them.
const MAX_INDENT: usize = 12;

/// Tells a tree part by part.
struct Telling<'a> {
    fuzzy: &'a Fuzzy,
    n_shown: usize,
    judge: Option<&'a mut FuzzyJudge>,
    /// Parts that were told already.
    told: &'a mut std::collections::BTreeSet<NodeId>,
    lines: &'a mut Vec<String>,
}

impl Telling<'_> {
    fn tell(&mut self, id: NodeId, indent: usize) {
        let fuzzy = self.fuzzy;
        let truth = self.truth(id).map(|truth| format!("{truth:>8}  ")).unwrap_or_default();
        let remark = remark(fuzzy, id, self.judge.as_deref_mut());
        let line = fuzzy.tree.origin(id).map(|rule| format!("line {}", place(&fuzzy.game, rule).1));
        let mut notes: Vec<String> =
            [Some(remark).filter(|text| !text.is_empty()), line].into_iter().flatten().collect();
        let children: Vec<NodeId> = match fuzzy.tree.get(id) {
            Node::Not(child) => vec![*child],
            Node::And(children) | Node::Or(children) => children.clone(),
            _ => Vec::new(),
        };
        let is_known = !children.is_empty() && !self.told.insert(id);
        if is_known {
            notes.push("as above".to_owned());
        }
        let notes =
            if notes.is_empty() { String::new() } else { format!("   [{}]", notes.join("; ")) };
        let pad = "  ".repeat(indent);
        // Fluents alone stand in one line.
        let is_plain = |child: &NodeId| {
            matches!(fuzzy.tree.get(*child), Node::Fluent(_)) && !fuzzy.towards.contains_key(child)
        };
        if !children.is_empty() && children.len() <= self.n_shown && children.iter().all(is_plain) {
            let texts: Vec<String> = children
                .iter()
                .map(|&child| match self.truth(child) {
                    Some(truth) => format!("{} {truth}", leaf_text(fuzzy, child)),
                    None => leaf_text(fuzzy, child),
                })
                .collect();
            self.lines.push(format!(
                "{truth}{pad}{}: {}{notes}",
                leaf_text(fuzzy, id),
                texts.join(", ")
            ));
            return;
        }
        self.lines.push(format!("{truth}{pad}{}{notes}", leaf_text(fuzzy, id)));
        if is_known || children.is_empty() {
            return;
        }
        let blank = if truth.is_empty() { "" } else { "          " };
        if indent > MAX_INDENT {
            self.lines.push(format!("{blank}{pad}  …"));
            return;
        }
        let mut shown = children.clone();
        if let (Node::Or(_), Some(judge)) = (fuzzy.tree.get(id), self.judge.as_mut()) {
            shown.sort_by(|&a, &b| judge.truth(b).total_cmp(&judge.truth(a)));
        }
        for &child in shown.iter().take(self.n_shown) {
            self.tell(child, indent + 1);
        }
        if children.len() > self.n_shown {
            self.lines.push(format!("{blank}{pad}  … and {} more", children.len() - self.n_shown));
        }
    }

    fn truth(&mut self, id: NodeId) -> Option<String> {
        self.judge.as_mut().map(|judge| degree(judge.truth(id)))
    }
}

/// A degree of truth for people: small ones keep their size.
fn degree(truth: f64) -> String {
    if truth == 0.0 || truth >= 0.0005 { format!("{truth:.3}") } else { format!("{truth:.1e}") }
}
