//! Finds boards whose places are the edges between dots, as in dots and boxes.

use std::collections::{BTreeMap, BTreeSet};

use crate::infer::Builder;
use crate::layout::{BoardPlan, Layer, LayerRole, PlacePlan, Use};
use crate::scene::{BoardKind, Label, Line, Shade, Shape};

const HORIZONTAL: &[&str] = &["h", "hor", "horizontal", "hline", "across"];
const VERTICAL: &[&str] = &["v", "ver", "vert", "vertical", "vline", "down"];

/// An edge as the rules name it, and the dots at its ends.
struct Edge {
    key: Vec<String>,
    from: (i64, i64),
    to: (i64, i64),
}

/// Finds a board of edges.
pub(crate) fn find(builder: &mut Builder<'_>) {
    if let Some((edges, layers)) = named_directions(builder).or_else(|| two_dots(builder)) {
        add(builder, &edges, layers);
    }
}

type Found = (Vec<Edge>, Vec<(usize, Vec<String>, Vec<usize>)>);

/// Finds fluents such as `(drawn (h 1 2))` and `(drawn (v 1 2))`.
fn named_directions(builder: &Builder<'_>) -> Option<Found> {
    let mut edges = Vec::new();
    let mut layers = Vec::new();
    let mut found = (false, false);
    for index in builder.unused() {
        let pattern = builder.pattern(index);
        let inner: Vec<&str> = pattern
            .skeleton
            .split([' ', '(', ')'])
            .filter(|word| !word.is_empty() && *word != "_")
            .collect();
        let Some(name) = inner.last().filter(|_| inner.len() <= 2) else { continue };
        let is_horizontal = HORIZONTAL.contains(&name.to_lowercase().as_str());
        let is_vertical = VERTICAL.contains(&name.to_lowercase().as_str());
        if !is_horizontal && !is_vertical || pattern.arity < 2 {
            continue;
        }
        let (first, second) = (pattern.axes[0].as_ref()?, pattern.axes[1].as_ref()?);
        if !first.is_numbers() || !second.is_numbers() {
            continue;
        }
        found = (found.0 || is_horizontal, found.1 || is_vertical);
        // Horizontal edges have one column less than rows of dots: that tells column from row.
        let is_column_first =
            first.len() == second.len() || is_horizontal == (first.len() < second.len());
        for tuple in &pattern.tuples {
            let (a, b): (i64, i64) = (tuple[0].parse().ok()?, tuple[1].parse().ok()?);
            let from = if is_column_first { (a, b) } else { (b, a) };
            let to = if is_horizontal { (from.0 + 1, from.1) } else { (from.0, from.1 + 1) };
            edges.push(Edge {
                key: vec![(*name).to_owned(), tuple[0].clone(), tuple[1].clone()],
                from,
                to,
            });
        }
        layers.push((index, vec![(*name).to_owned()], vec![0, 1]));
    }
    (found == (true, true)).then_some((edges, layers))
}

/// Finds fluents with four coordinates that always are two neighbouring dots.
fn two_dots(builder: &Builder<'_>) -> Option<Found> {
    for index in builder.unused() {
        let pattern = builder.pattern(index);
        if pattern.arity < 4 || pattern.axes[..4].iter().any(Option::is_none) {
            continue;
        }
        let edges: Option<Vec<Edge>> = pattern
            .tuples
            .iter()
            .map(|tuple| {
                let at = |i: usize| {
                    let axis = pattern.axes[i].as_ref()?;
                    let value = axis.index(&tuple[i])?;
                    // Ends may have different first values: count from the name where possible.
                    tuple[i].parse::<i64>().ok().or(i64::try_from(value).ok())
                };
                let (from, to) = ((at(0)?, at(1)?), (at(2)?, at(3)?));
                let distance = (from.0 - to.0).abs() + (from.1 - to.1).abs();
                (distance == 1).then(|| Edge { key: tuple[..4].to_vec(), from, to })
            })
            .collect();
        let Some(edges) = edges.filter(|edges| edges.len() >= 8) else { continue };
        return Some((edges, vec![(index, Vec::new(), vec![0, 1, 2, 3])]));
    }
    None
}

fn add(builder: &mut Builder<'_>, edges: &[Edge], layers: Vec<(usize, Vec<String>, Vec<usize>)>) {
    let number = builder.boards.len();
    let id = if number == 0 { "board".to_owned() } else { format!("board{}", number + 1) };
    let dots: BTreeSet<(i64, i64)> = edges.iter().flat_map(|edge| [edge.from, edge.to]).collect();
    let left = dots.iter().map(|dot| dot.0).min().unwrap_or(0);
    let right = dots.iter().map(|dot| dot.0).max().unwrap_or(0);
    let low = dots.iter().map(|dot| dot.1).min().unwrap_or(0);
    let high = dots.iter().map(|dot| dot.1).max().unwrap_or(0);
    // The first row of dots is at the top, as when one draws on paper.
    let x = |column: i64| (column - left) as f64;
    let y = |row: i64| (row - low) as f64;
    let mut board = BoardPlan {
        id: id.clone(),
        kind: BoardKind::Edges,
        title: String::new(),
        width: x(right),
        height: y(high),
        places: Vec::new(),
        lookup: BTreeMap::new(),
        lines: Vec::new(),
        frames: Vec::new(),
        labels: Vec::new(),
        is_dynamic: false,
    };
    // Boxes between the dots come first, so that edges are above them.
    let mut boxes = Vec::new();
    for index in builder.unused() {
        let pattern = builder.pattern(index);
        let is_layer = layers.iter().any(|(layer, ..)| *layer == index);
        if is_layer || pattern.arity < 2 || pattern.axes[0].is_none() || pattern.axes[1].is_none() {
            continue;
        }
        let inside = |value: &String, low: i64, high: i64| {
            value.parse::<i64>().is_ok_and(|n| (low..high).contains(&n))
        };
        let is_box = pattern.domains[0].iter().all(|value| inside(value, left, right))
            && pattern.domains[1].iter().all(|value| inside(value, low, high));
        if is_box && pattern.is_key(&[0, 1]) {
            boxes.push(index);
        }
    }
    for column in left..right {
        for row in low..high {
            board.lookup.insert(vec![column.to_string(), row.to_string()], board.places.len());
            board.places.push(PlacePlan {
                id: format!("{id}/box/{column}/{row}"),
                name: format!("box {column} {row}"),
                shape: Shape::Rectangle { width: 0.8, height: 0.8 },
                x: x(column) + 0.5,
                y: y(row) + 0.5,
                shade: Shade::Plain,
            });
        }
    }
    // By the two ends of an edge: its place.
    let mut seen = BTreeMap::new();
    for edge in edges {
        let ends = (edge.from.min(edge.to), edge.from.max(edge.to));
        let place = *seen.entry(ends).or_insert_with(|| {
            board.places.push(PlacePlan {
                id: format!("{id}/{}", edge.key.join("/")),
                name: edge.key.join(" "),
                shape: Shape::Edge { dx: x(ends.1.0) - x(ends.0.0), dy: y(ends.1.1) - y(ends.0.1) },
                x: (x(ends.0.0) + x(ends.1.0)) / 2.0,
                y: (y(ends.0.1) + y(ends.1.1)) / 2.0,
                shade: Shade::Plain,
            });
            board.places.len() - 1
        });
        board.lookup.insert(edge.key.clone(), place);
    }
    for &(column, row) in &dots {
        // A line without length is a dot.
        let (x, y) = (x(column), y(row));
        board.lines.push(Line { x1: x, y1: y, x2: x, y2: y, arrow: false, name: "dot".to_owned() });
    }
    for column in left..=right {
        let text = column.to_string();
        board.labels.push(Label { x: x(column), y: board.height + 0.4, text });
    }
    for row in low..=high {
        board.labels.push(Label { x: -0.4, y: y(row), text: row.to_string() });
    }
    builder.boards.push(board);
    for (index, prefix, key) in layers {
        let contents = builder.pattern(index).others(&key);
        let layer = Layer { board: number, prefix, key, contents, role: LayerRole::Line };
        builder.set_use(index, Use::Layer(layer));
    }
    for index in boxes {
        let contents = builder.pattern(index).others(&[0, 1]);
        let layer = Layer {
            board: number,
            prefix: Vec::new(),
            key: vec![0, 1],
            contents,
            role: LayerRole::Main,
        };
        builder.set_use(index, Use::Layer(layer));
    }
}
