//! Finds heaps, pegs with things on them, and rows of places.

use std::collections::{BTreeMap, BTreeSet};

use crate::axis::Axis;
use crate::infer::Builder;
use crate::layout::{BoardPlan, Layer, LayerRole, PlacePlan, Use};
use crate::scene::{Board, BoardKind, Label, Shade, Shape};

/// Maximum number of heaps, pegs and places in a row.
const MAX_PLACES: usize = 40;

/// Width of a heap.
const WIDTH: f64 = 1.5;

/// Height of a heap.
const HEIGHT: f64 = 4.0;

/// Height of a heap in one of several rows.
const ROW_HEIGHT: f64 = 2.2;

/// Finds heaps, pegs and rows in the relations that are not drawn yet.
pub(crate) fn find(builder: &mut Builder<'_>) {
    for index in builder.unused() {
        if builder.uses.contains_key(&builder.pattern(index).skeleton) {
            continue;
        }
        if !heap(builder, index) && !table(builder, index) && !pegs(builder, index) {
            row(builder, index);
        }
    }
    marks_in_a_row(builder);
}

/// Recognises a number for each of several names: `(heap a 5)`.
fn heap(builder: &mut Builder<'_>, index: usize) -> bool {
    let pattern = builder.pattern(index);
    if pattern.arity != 2 || !(2..=MAX_PLACES).contains(&pattern.domains[0].len()) {
        return false;
    }
    let is_number = |name: &String| amount(name).is_some_and(|number| number <= 60);
    let is_heaps = pattern.is_key(&[0])
        && pattern.max_rows() >= 2
        && pattern.domains[1].iter().all(is_number)
        // Names with numbers that are things: `(on disc1 peg2)`.
        && pattern.domains[0].is_disjoint(&pattern.domains[1])
        && !builder.world.is_role(&pattern.domains[0])
        && in_moves(builder, &pattern.domains[0]);
    if !is_heaps {
        return false;
    }
    let names = ordered(builder, &pattern.domains[0].clone());
    let board = add_board(builder, &names, BoardKind::Stacks);
    let layer = Layer {
        board,
        prefix: Vec::new(),
        key: vec![0],
        contents: vec![1],
        role: LayerRole::Amount,
    };
    builder.set_use(index, Use::Layer(layer));
    true
}

/// Returns the number that a name stands for: `7`, or `s7` with one letter before it.
pub(crate) fn amount(name: &str) -> Option<u32> {
    let digits = match name.as_bytes() {
        [letter, b'0'..=b'9', ..] if letter.is_ascii_lowercase() => &name[1..],
        _ => name,
    };
    digits.parse().ok()
}

/// Recognises a number for each pair of names: `(pit south 3 4)`, `(bank left cannibals 2)`. Every
/// state has all pairs. The first names are rows.
fn table(builder: &mut Builder<'_>, index: usize) -> bool {
    let pattern = builder.pattern(index);
    if pattern.arity != 3 {
        return false;
    }
    let is_number = |name: &String| name.parse::<u32>().is_ok_and(|number| number <= 60);
    let pairs = pattern.projected(&[0, 1]);
    let is_table = pattern.is_key(&[0, 1])
        && (4..=MAX_PLACES).contains(&pairs.len())
        && pattern.domains[..2].iter().all(|names| names.len() >= 2)
        && pattern.min_rows() == pairs.len()
        && pattern.domains[2].iter().all(is_number)
        // Numbers that are coordinates are boards.
        && !pattern.domains[..2].iter().all(|names| names.iter().all(is_number));
    if !is_table {
        return false;
    }
    let (first, second) = (pattern.domains[0].clone(), pattern.domains[1].clone());
    let (rows, columns) = (ordered(builder, &first), ordered(builder, &second));
    // The first role sits at the bottom, as on other boards.
    let rows: Vec<String> = match &builder.world.evidence.roles {
        roles if builder.world.is_role(&first) => {
            roles.iter().rev().filter(|role| first.contains(*role)).cloned().collect()
        }
        _ => rows,
    };
    let board = add_rows(builder, &rows, &columns);
    let layer = Layer {
        board,
        prefix: Vec::new(),
        key: vec![0, 1],
        contents: vec![2],
        role: LayerRole::Amount,
    };
    builder.set_use(index, Use::Layer(layer));
    true
}

/// Recognises things that are on one of a few holders: `(on disk peg)`.
fn pegs(builder: &mut Builder<'_>, index: usize) -> bool {
    let pattern = builder.pattern(index);
    if pattern.arity != 2 || pattern.axes[0].is_none() {
        return false;
    }
    let (things, holders) = (&pattern.domains[0], &pattern.domains[1]);
    let is_pegs = pattern.is_table(0)
        && things.len() >= 3
        && (2..=8).contains(&holders.len())
        && things.len() >= holders.len()
        && holders.is_disjoint(things)
        && !pattern.is_key(&[1])
        && !builder.world.is_role(holders)
        && in_moves(builder, holders);
    if !is_pegs {
        return false;
    }
    let names = by_rules(builder, &holders.clone());
    let board = add_board(builder, &names, BoardKind::Stacks);
    let layer =
        Layer { board, prefix: Vec::new(), key: vec![1], contents: vec![0], role: LayerRole::Main };
    builder.set_use(index, Use::Layer(layer));
    true
}

/// Recognises a row of places: `(cell 3 x)`.
fn row(builder: &mut Builder<'_>, index: usize) {
    let pattern = builder.pattern(index);
    let ordered: Vec<usize> = (0..pattern.arity)
        .filter(|&i| {
            pattern.axes[i].as_ref().is_some_and(|axis| (3..=MAX_PLACES).contains(&axis.len()))
        })
        .collect();
    let &[key] = ordered.as_slice() else { return };
    let contents = pattern.others(&[key]);
    let is_number =
        |i: &usize| pattern.domains[*i].iter().all(|value| value.parse::<f64>().is_ok());
    let is_role = |i: &usize| builder.world.is_role(&pattern.domains[*i]);
    let n_places = pattern.domains[key].len();
    let n_rows: usize = pattern.states.iter().map(Vec::len).sum();
    let density = n_rows as f64 / (pattern.states.len().max(1) * n_places) as f64;
    let is_row = (2..=3).contains(&pattern.arity)
        && !contents.is_empty()
        && pattern.is_key(&[key])
        && !contents.iter().any(is_number)
        && (density >= 0.5 || pattern.max_rows() >= 3)
        // A number for each role is a counter, unless it is a set of places.
        && !(contents.iter().all(is_role) && pattern.is_key(&contents));
    if !is_row {
        return;
    }
    let names = pattern.axes[key].as_ref().map(|axis| axis.values().to_vec()).unwrap_or_default();
    let board = add_board(builder, &names, BoardKind::Grid);
    let layer =
        Layer { board, prefix: Vec::new(), key: vec![key], contents, role: LayerRole::Main };
    builder.set_use(index, Use::Layer(layer));
    // Other relations about the same places.
    let values: BTreeSet<String> = names.into_iter().collect();
    for other in builder.unused() {
        let pattern = builder.pattern(other);
        let on: Vec<usize> =
            (0..pattern.arity).filter(|&i| pattern.domains[i].is_subset(&values)).collect();
        let &[key] = on.as_slice() else { continue };
        let contents = pattern.others(&[key]);
        if pattern.arity <= 2 && (pattern.max_rows() > 1 || !contents.is_empty()) {
            let layer = Layer {
                board,
                prefix: Vec::new(),
                key: vec![key],
                contents,
                role: LayerRole::Mark,
            };
            builder.set_use(other, Use::Layer(layer));
        }
    }
}

/// Recognises several marks over the same few numbered places, such as doors: `(car 3)`
/// `(opened 2)`.
fn marks_in_a_row(builder: &mut Builder<'_>) {
    let unary: Vec<usize> = builder
        .unused()
        .into_iter()
        .filter(|&i| {
            let pattern = builder.pattern(i);
            pattern.arity == 1
                && pattern.axes[0].is_some()
                && (3..=12).contains(&pattern.domains[0].len())
                && !pattern.domains[0].contains("0")
        })
        .collect();
    let mut groups: BTreeMap<BTreeSet<String>, Vec<usize>> = BTreeMap::new();
    for index in unary {
        groups.entry(builder.pattern(index).domains[0].clone()).or_default().push(index);
    }
    for (domain, members) in groups {
        if members.len() < 2 || !in_moves(builder, &domain) {
            continue;
        }
        let names = ordered(builder, &domain);
        let board = add_board(builder, &names, BoardKind::Grid);
        for index in members {
            let layer = Layer {
                board,
                prefix: Vec::new(),
                key: vec![0],
                contents: Vec::new(),
                role: LayerRole::Main,
            };
            builder.set_use(index, Use::Layer(layer));
        }
    }
}

/// Returns whether some argument of moves ranges over most of these names.
fn in_moves(builder: &Builder<'_>, names: &BTreeSet<String>) -> bool {
    let mut seen: BTreeSet<&String> = BTreeSet::new();
    for m in &builder.world.moves {
        seen.extend(m.arguments.iter().filter(|name| names.contains(*name)));
    }
    2 * seen.len() >= names.len()
}

/// Returns names in the order of an axis, or sorted.
fn ordered(builder: &Builder<'_>, names: &BTreeSet<String>) -> Vec<String> {
    let axis: Option<Axis> = builder.world.axis(names);
    axis.map_or_else(|| names.iter().cloned().collect(), |axis| axis.values().to_vec())
}

/// Returns names in the order in which the rules first mention them, unless they have an order of
/// their own.
fn by_rules(builder: &Builder<'_>, names: &BTreeSet<String>) -> Vec<String> {
    if builder.world.axis(names).is_some() {
        return ordered(builder, names);
    }
    let rules = &builder.world.evidence.rules;
    let place = |name: &String| {
        let facts = builder.world.evidence.facts.iter();
        let in_facts = facts.enumerate().find(|(_, fact)| fact.contains(name.as_str()));
        rules.find(&format!(" {name})")).or(in_facts.map(|(i, _)| i)).unwrap_or(usize::MAX)
    };
    let mut names: Vec<String> = names.iter().cloned().collect();
    names.sort_by_key(|name| (place(name), name.clone()));
    names
}

pub(crate) fn add_board(builder: &mut Builder<'_>, names: &[String], kind: BoardKind) -> usize {
    let number = builder.boards.len();
    let id = if number == 0 { "board".to_owned() } else { format!("board{}", number + 1) };
    let (width, height) = if kind == BoardKind::Stacks { (WIDTH, HEIGHT) } else { (1.0, 1.0) };
    let gap = if kind == BoardKind::Stacks { 0.3 } else { 0.0 };
    let mut board = BoardPlan {
        id: id.clone(),
        kind,
        title: String::new(),
        width: names.len() as f64 * (width + gap) - gap,
        height,
        places: Vec::new(),
        lookup: BTreeMap::new(),
        lines: Vec::new(),
        frames: Vec::new(),
        labels: Vec::new(),
        is_dynamic: false,
    };
    for (i, name) in names.iter().enumerate() {
        let x = i as f64 * (width + gap) + width / 2.0;
        board.lookup.insert(vec![name.clone()], i);
        board.places.push(PlacePlan {
            id: format!("{id}/{name}"),
            name: name.clone(),
            shape: Shape::Rectangle { width, height },
            x,
            y: height / 2.0,
            shade: Shade::Plain,
        });
        board.labels.push(Label { x, y: height + 0.35, text: name.clone() });
    }
    builder.boards.push(board);
    number
}

/// Adds a board of heaps in rows and columns.
fn add_rows(builder: &mut Builder<'_>, rows: &[String], columns: &[String]) -> usize {
    let number = add_board(builder, columns, BoardKind::Stacks);
    let board = &mut builder.boards[number];
    let single = std::mem::take(&mut board.places);
    board.lookup.clear();
    board.labels.retain(|label| columns.contains(&label.text));
    for (at, row) in rows.iter().enumerate() {
        let top = at as f64 * (ROW_HEIGHT + 0.3);
        for (place, column) in single.iter().zip(columns) {
            board.lookup.insert(vec![row.clone(), column.clone()], board.places.len());
            board.places.push(PlacePlan {
                id: format!("{}/{row}/{column}", board.id),
                name: format!("{row} {column}"),
                shape: Shape::Rectangle { width: WIDTH, height: ROW_HEIGHT },
                y: top + ROW_HEIGHT / 2.0,
                ..place.clone()
            });
        }
        // The name of a row stands in the margin above its first heap.
        board.labels.push(Label { x: WIDTH / 2.0, y: top - 0.15, text: row.clone() });
    }
    board.height = rows.len() as f64 * (ROW_HEIGHT + 0.3) - 0.3;
    for label in board.labels.iter_mut().filter(|label| columns.contains(&label.text)) {
        label.y = board.height + 0.35;
    }
    number
}

/// Puts the things on each stack in order, the largest number at the bottom.
pub(crate) fn arrange(board: &mut Board) {
    for place in &mut board.places {
        place
            .pieces
            .sort_by_key(|piece| std::cmp::Reverse(piece.text.parse::<i64>().unwrap_or(i64::MIN)));
    }
}
