//! Finds graphs: places with single names that a relation joins.

use std::collections::{BTreeMap, BTreeSet};

use crate::axis::chain;
use crate::graph;
use crate::infer::Builder;
use crate::layout::{BoardPlan, Layer, LayerRole, PlacePlan, Use};
use crate::scene::{BoardKind, Label, Shade, Shape};

/// Finds a graph among the relations that are not drawn yet.
pub(crate) fn find(builder: &mut Builder<'_>) {
    if !changing(builder) {
        fixed(builder);
    }
}

/// Recognises a graph whose edges change in play: a relation between two elements, and relations
/// of one element.
fn changing(builder: &mut Builder<'_>) -> bool {
    let elements: BTreeSet<String> = builder
        .unused()
        .into_iter()
        .map(|i| builder.pattern(i))
        .filter(|pattern| pattern.arity == 1 && pattern.relation == "element")
        .flat_map(|pattern| pattern.domains[0].iter().cloned())
        .collect();
    if elements.is_empty() {
        return false;
    }
    let number = builder.boards.len();
    let mut layers = Vec::new();
    for index in builder.unused() {
        let pattern = builder.pattern(index);
        let is_element = pattern.domains.iter().all(|domain| domain.is_subset(&elements));
        match pattern.arity {
            1 if is_element => {
                let is_only_there = pattern.relation == "element";
                let role = if is_only_there { LayerRole::Exists } else { LayerRole::Main };
                let layer = Layer {
                    board: number,
                    prefix: Vec::new(),
                    key: vec![0],
                    contents: Vec::new(),
                    role,
                };
                layers.push((index, Use::Layer(layer)));
            }
            2 if is_element => layers.push((index, Use::Link { board: number, arrow: true })),
            _ => {}
        }
    }
    builder.boards.push(empty(number, true));
    for (index, use_) in layers {
        builder.set_use(index, use_);
    }
    true
}

/// Recognises a graph that the rules give: a static relation between names that fluents use.
fn fixed(builder: &mut Builder<'_>) {
    // The number of uses, the relation, its names and its pairs.
    let mut best = None;
    for (relation, rows) in &builder.world.facts {
        let pairs: Vec<(String, String)> = rows
            .iter()
            .filter_map(|row| match row.as_slice() {
                [a, b] if a != b => Some((a.clone(), b.clone())),
                // A direction or a label beside the two ends.
                [a, b, _] if a != b => Some((a.clone(), b.clone())),
                _ => None,
            })
            .collect();
        let nodes: BTreeSet<String> =
            pairs.iter().flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
        let is_graph = pairs.len() == rows.len()
            && (4..=graph::MAX_NODES).contains(&nodes.len())
            && pairs.len() + 1 >= nodes.len()
            && pairs.len() <= 6 * nodes.len()
            // Numbers are more often counted than visited, and orders are not drawn.
            && !nodes.iter().any(|name| name.parse::<i64>().is_ok())
            && nodes.is_disjoint(&builder.world.roles)
            && joins_its_own(&pairs, nodes.len())
            && chain(&pairs).is_none()
            && !is_order(&pairs);
        if !is_graph {
            continue;
        }
        let n_uses = users(builder, &nodes)
            .iter()
            .map(|(index, _)| builder.pattern(*index).max_rows().min(nodes.len()))
            .sum::<usize>();
        let is_better =
            best.as_ref().is_none_or(|&(n_before, ..): &(usize, _, _, _)| n_uses > n_before);
        if n_uses > 0 && is_better {
            best = Some((n_uses, relation.clone(), nodes, pairs));
        }
    }
    let Some((_, relation, nodes, pairs)) = best else { return };
    let layers = users(builder, &nodes);
    let number = builder.boards.len();
    let names: Vec<&String> = nodes.iter().collect();
    let index_of: BTreeMap<&String, usize> =
        names.iter().enumerate().map(|(i, n)| (*n, i)).collect();
    let links: BTreeSet<(usize, usize)> =
        pairs.iter().map(|(a, b)| (index_of[a], index_of[b])).collect();
    let given: Option<Vec<(f64, f64)>> =
        names.iter().map(|name| builder.world.evidence.positions.get(*name).copied()).collect();
    let mut at = given.unwrap_or_else(|| {
        graph::positions(names.len(), &links.iter().copied().collect::<Vec<_>>())
    });
    graph::spread(&mut at);
    let mut board = empty(number, false);
    board.width = at.iter().map(|p| p.0).fold(0.0, f64::max) + 1.0;
    board.height = at.iter().map(|p| p.1).fold(0.0, f64::max) + 1.0;
    for (i, (name, (x, y))) in names.iter().zip(&at).enumerate() {
        board.lookup.insert(vec![(*name).clone()], i);
        board.places.push(PlacePlan {
            id: format!("{}/{name}", board.id),
            name: (*name).clone(),
            shape: Shape::Circle { radius: graph::RADIUS },
            x: x + 0.5,
            y: y + 0.5,
            shade: Shade::Plain,
        });
        board.labels.push(Label { x: x + 0.5, y: y + 1.08, text: (*name).clone() });
    }
    for &(a, b) in &links {
        let is_both = links.contains(&(b, a));
        if !is_both || a < b {
            board.lines.push(graph::line(at[a], at[b], !is_both, &relation));
        }
    }
    builder.boards.push(board);
    for (index, key) in layers {
        let contents = builder.pattern(index).others(&[key]);
        let layer = Layer {
            board: number,
            prefix: Vec::new(),
            key: vec![key],
            contents,
            role: LayerRole::Main,
        };
        builder.set_use(index, Use::Layer(layer));
    }
}

/// Returns whether most nodes are joined in both roles. A relation from things to their attributes
/// is not a graph.
fn joins_its_own(pairs: &[(String, String)], n_nodes: usize) -> bool {
    let sources: BTreeSet<&String> = pairs.iter().map(|(a, _)| a).collect();
    let targets: BTreeSet<&String> = pairs.iter().map(|(_, b)| b).collect();
    2 * sources.intersection(&targets).count() >= n_nodes
}

/// Returns whether pairs are a transitive relation, such as `less`.
fn is_order(pairs: &[(String, String)]) -> bool {
    let set: BTreeSet<(&String, &String)> = pairs.iter().map(|(a, b)| (a, b)).collect();
    pairs.iter().all(|(a, b)| {
        let next = pairs.iter().filter(|(c, _)| c == b);
        next.into_iter().all(|(_, d)| d == a || set.contains(&(a, d)))
    })
}

/// Returns the relations with exactly one argument among the nodes, and that argument.
fn users(builder: &Builder<'_>, nodes: &BTreeSet<String>) -> Vec<(usize, usize)> {
    let unused = builder.unused().into_iter();
    unused
        .filter_map(|index| {
            let pattern = builder.pattern(index);
            let on: Vec<usize> =
                (0..pattern.arity).filter(|&i| pattern.domains[i].is_subset(nodes)).collect();
            match on.as_slice() {
                &[key] if pattern.arity <= 3 => Some((index, key)),
                _ => None,
            }
        })
        .collect()
}

fn empty(number: usize, is_dynamic: bool) -> BoardPlan {
    BoardPlan {
        id: if number == 0 { "board".to_owned() } else { format!("board{}", number + 1) },
        kind: BoardKind::Graph,
        title: String::new(),
        width: 1.0,
        height: 1.0,
        places: Vec::new(),
        lookup: BTreeMap::new(),
        lines: Vec::new(),
        frames: Vec::new(),
        labels: Vec::new(),
        is_dynamic,
    }
}
