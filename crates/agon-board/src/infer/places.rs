//! Finds boards whose places have single names: drawings in the rules, and names such as `a1`.

use std::collections::{BTreeMap, BTreeSet};

use crate::infer::Builder;
use crate::layout::{BoardPlan, Layer, LayerRole, PlacePlan, Use};
use crate::scene::{BoardKind, Label, Shade, Shape};

/// Finds a board of named places.
pub(crate) fn find(builder: &mut Builder<'_>) {
    let drawing = builder.world.evidence.drawing.clone();
    let rows = if drawing.is_empty() { by_names(builder) } else { Some(drawing) };
    let Some(rows) = rows else { return };
    let names: BTreeSet<String> = rows.iter().flatten().flatten().cloned().collect();
    let number = builder.boards.len();
    builder.boards.push(plan(&rows));
    for index in builder.unused() {
        let pattern = builder.pattern(index);
        let is_place = |&i: &usize| pattern.domains[i].is_subset(&names);
        let Some(key) = (0..pattern.arity).find(is_place) else { continue };
        let contents = pattern.others(&[key]);
        // Relations between two places are not pieces.
        if contents.iter().any(is_place) {
            continue;
        }
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

/// Splits a name such as `e2` into letters and number.
fn split(name: &str) -> Option<(String, u32)> {
    let at = name.find(|c: char| c.is_ascii_digit())?;
    let (letters, number) = name.split_at(at);
    let is_letters =
        (1..=2).contains(&letters.len()) && letters.bytes().all(|b| b.is_ascii_alphabetic());
    let number = number.parse().ok().filter(|n| *n <= 40)?;
    is_letters.then(|| (letters.to_owned(), number))
}

/// Returns the places of an argument whose values are names such as `a1`, in rows from the top.
fn by_names(builder: &Builder<'_>) -> Option<Vec<Vec<Option<String>>>> {
    let mut best: Option<BTreeSet<String>> = None;
    for index in builder.unused() {
        for domain in &builder.pattern(index).domains {
            let is_better = best.as_ref().is_none_or(|best| domain.len() > best.len());
            if is_better && domain.len() >= 6 && domain.iter().all(|name| split(name).is_some()) {
                best = Some(domain.clone());
            }
        }
    }
    let mut names = best?;
    for index in builder.unused() {
        for domain in &builder.pattern(index).domains {
            let common = domain.intersection(&names).count();
            if common * 2 >= domain.len() && domain.iter().all(|name| split(name).is_some()) {
                names.extend(domain.iter().cloned());
            }
        }
    }
    let parts: Vec<(String, u32)> = names.iter().filter_map(|name| split(name)).collect();
    let columns: BTreeSet<&String> = parts.iter().map(|(letters, _)| letters).collect();
    let columns: Vec<&String> = columns.into_iter().collect();
    let low = parts.iter().map(|(_, n)| *n).min()?;
    let high = parts.iter().map(|(_, n)| *n).max()?;
    let n_product = columns.len() * (high - low + 1) as usize;
    let is_board = columns.len() >= 2
        && high > low
        && columns.iter().all(|letters| letters.len() == 1)
        && 5 * names.len() >= 2 * n_product;
    is_board.then(|| {
        let row = |n: u32| {
            let name = |letters: &&String| format!("{letters}{n}");
            columns.iter().map(|c| Some(name(c)).filter(|name| names.contains(name))).collect()
        };
        (low..=high).rev().map(row).collect()
    })
}

fn plan(rows: &[Vec<Option<String>>]) -> BoardPlan {
    let mut board = BoardPlan {
        id: "board".to_owned(),
        kind: BoardKind::Grid,
        title: String::new(),
        width: rows.iter().map(Vec::len).max().unwrap_or(0) as f64,
        height: rows.len() as f64,
        places: Vec::new(),
        lookup: BTreeMap::new(),
        lines: Vec::new(),
        frames: Vec::new(),
        labels: Vec::new(),
        is_dynamic: false,
    };
    let (mut columns, mut numbers): (BTreeMap<usize, String>, BTreeMap<usize, String>) =
        (BTreeMap::new(), BTreeMap::new());
    for (y, row) in rows.iter().enumerate() {
        for (x, name) in row.iter().enumerate() {
            let Some(name) = name else { continue };
            if let Some((letters, number)) = split(name) {
                columns.entry(x).or_insert(letters);
                numbers.entry(y).or_insert(number.to_string());
            }
            board.lookup.insert(vec![name.clone()], board.places.len());
            board.places.push(PlacePlan {
                id: format!("board/{name}"),
                name: name.clone(),
                shape: Shape::Rectangle { width: 1.0, height: 1.0 },
                x: x as f64 + 0.5,
                y: y as f64 + 0.5,
                shade: Shade::Plain,
            });
        }
    }
    for (x, text) in columns {
        board.labels.push(Label { x: x as f64 + 0.5, y: board.height + 0.32, text });
    }
    for (y, text) in numbers {
        board.labels.push(Label { x: -0.35, y: y as f64 + 0.5, text });
    }
    board
}
