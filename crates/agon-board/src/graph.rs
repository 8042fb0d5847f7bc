//! Positions for the nodes of graphs.

use std::collections::{BTreeMap, BTreeSet};

use crate::scene::{Board, Line, Place, Shade, Shape};

/// Maximum number of nodes of a graph that is drawn.
pub(crate) const MAX_NODES: usize = 80;

/// Radius of a node.
pub(crate) const RADIUS: f64 = 0.42;

/// Returns positions for nodes so that joined nodes are near each other (Fruchterman & Reingold
/// 1991). The result depends only on the arguments. The upper left corner of all nodes is `(0, 0)`,
/// and no two nodes are closer than 1.
pub(crate) fn positions(n_nodes: usize, edges: &[(usize, usize)]) -> Vec<(f64, f64)> {
    let n = n_nodes as f64;
    // On a circle at first; the angle is irrational so that no node is the mirror image of another.
    let mut at: Vec<(f64, f64)> = (0..n_nodes)
        .map(|i| {
            let angle = 2.399_963 * i as f64;
            let radius = libm::sqrt(i as f64 + 0.5);
            (radius * libm::cos(angle), radius * libm::sin(angle))
        })
        .collect();
    const ROUNDS: usize = 300;
    for round in 0..ROUNDS {
        let heat = 0.35 * libm::sqrt(n + 1.0) * (1.0 - round as f64 / ROUNDS as f64);
        let mut force = vec![(0.0_f64, 0.0_f64); n_nodes];
        for i in 0..n_nodes {
            for j in 0..i {
                let (dx, dy) = (at[i].0 - at[j].0, at[i].1 - at[j].1);
                let square = (dx * dx + dy * dy).max(0.01);
                let (fx, fy) = (3.0 * dx / square, 3.0 * dy / square);
                force[i] = (force[i].0 + fx, force[i].1 + fy);
                force[j] = (force[j].0 - fx, force[j].1 - fy);
            }
            // Parts that are not joined must not drift away.
            force[i] = (force[i].0 - 0.05 * at[i].0, force[i].1 - 0.05 * at[i].1);
        }
        for &(i, j) in edges {
            let (dx, dy) = (at[i].0 - at[j].0, at[i].1 - at[j].1);
            let length = libm::sqrt(dx * dx + dy * dy);
            let (fx, fy) = (0.7 * dx * length, 0.7 * dy * length);
            force[i] = (force[i].0 - fx, force[i].1 - fy);
            force[j] = (force[j].0 + fx, force[j].1 + fy);
        }
        for (place, (fx, fy)) in at.iter_mut().zip(force) {
            let length = libm::sqrt(fx * fx + fy * fy).max(1e-9);
            let step = length.min(heat) / length;
            *place = (place.0 + fx * step, place.1 + fy * step);
        }
    }
    spread(&mut at);
    at
}

/// Scales positions so that the closest two have distance 1.25 or more, and moves them to the
/// origin.
pub(crate) fn spread(at: &mut [(f64, f64)]) {
    let mut closest = f64::INFINITY;
    for i in 0..at.len() {
        for j in 0..i {
            let (dx, dy) = (at[i].0 - at[j].0, at[i].1 - at[j].1);
            closest = closest.min(libm::sqrt(dx * dx + dy * dy));
        }
    }
    let scale = if closest.is_finite() && closest > 1e-6 { 1.25 / closest } else { 1.0 };
    let left = at.iter().map(|p| p.0).fold(f64::INFINITY, f64::min);
    let top = at.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
    for place in at {
        *place = ((place.0 - left) * scale, (place.1 - top) * scale);
    }
}

/// Puts the nodes and links of a state on a board whose graph changes in play.
pub(crate) fn fill(
    board: &mut Board,
    names: &BTreeSet<String>,
    links: &[(&String, &String, bool, &String)],
) {
    let names: Vec<&String> = names.iter().take(MAX_NODES).collect();
    let index: BTreeMap<&String, usize> =
        names.iter().enumerate().map(|(i, name)| (*name, i)).collect();
    let edges: BTreeSet<(usize, usize)> = links
        .iter()
        .filter_map(|(a, b, ..)| Some((*index.get(a)?, *index.get(b)?)))
        .filter(|(a, b)| a != b)
        .map(|(a, b)| (a.min(b), a.max(b)))
        .collect();
    let at = positions(names.len(), &edges.into_iter().collect::<Vec<_>>());
    for (name, (x, y)) in names.iter().zip(&at) {
        board.places.push(Place {
            id: format!("{}/{name}", board.id),
            name: (*name).clone(),
            shape: Shape::Circle { radius: RADIUS },
            x: x + 0.5,
            y: y + 0.5,
            shade: Shade::Plain,
            pieces: Vec::new(),
        });
    }
    board.width = at.iter().map(|p| p.0).fold(0.0, f64::max) + 1.0;
    board.height = at.iter().map(|p| p.1).fold(0.0, f64::max) + 1.0;
    for (a, b, arrow, name) in links {
        if let (Some(&a), Some(&b)) = (index.get(a), index.get(b)) {
            board.lines.push(line(at[a], at[b], *arrow, name));
        }
    }
}

/// Returns the line between two nodes, from rim to rim.
pub(crate) fn line(from: (f64, f64), to: (f64, f64), arrow: bool, name: &str) -> Line {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = libm::sqrt(dx * dx + dy * dy).max(1e-9);
    let (ux, uy) = (RADIUS * dx / length, RADIUS * dy / length);
    Line {
        x1: from.0 + 0.5 + ux,
        y1: from.1 + 0.5 + uy,
        x2: to.0 + 0.5 - ux,
        y2: to.1 + 0.5 - uy,
        arrow,
        name: name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_keep_their_distance_and_neighbours_are_near() {
        let path: Vec<(usize, usize)> = (0..7).map(|i| (i, i + 1)).collect();
        let at = positions(8, &path);
        assert_eq!(at, positions(8, &path), "the layout is deterministic");
        let distance = |i: usize, j: usize| {
            let (dx, dy) = (at[i].0 - at[j].0, at[i].1 - at[j].1);
            libm::sqrt(dx * dx + dy * dy)
        };
        for i in 0..8 {
            for j in 0..i {
                assert!(distance(i, j) > 0.99, "{i} and {j}");
            }
        }
        assert!(distance(0, 7) > 2.0 * distance(0, 1), "a path is not a knot");
    }
}
