//! Descriptions of concepts in words.

use super::concept::{Column, Concept};

/// Describes a concept in words. If the facts have two numbers, these are read as a row and a
/// column.
pub(super) fn sentence(concept: &Concept) -> String {
    let name = &concept.name;
    let places: Vec<String> = (1..concept.n_facts).map(|fact| place(concept, fact)).collect();
    let symbols: Vec<&Column> =
        concept.columns.iter().filter(|column| !matches!(column, Column::Offsets(_))).collect();
    let all = match places.as_slice() {
        [one] => format!("a {name} and {one}"),
        [one, two] => format!("a {name}, {one} and {two}"),
        _ => format!("a {name}"),
    };
    match symbols.as_slice() {
        [] => format!("there are {all}"),
        [Column::Same] => format!("{all} hold the same mark"),
        [Column::Symbols(marks)] => {
            let mut text = format!("a {name} holds {}", marks[0]);
            for (place, mark) in places.iter().zip(&marks[1..]) {
                text.push_str(&format!(" and {place} holds {mark}"));
            }
            text
        }
        several => {
            let same = several.iter().filter(|column| ***column == Column::Same).count();
            let other: Vec<String> = several
                .iter()
                .filter_map(|column| match column {
                    Column::Symbols(marks) => Some(marks.join(", ")),
                    Column::Same | Column::Offsets(_) => None,
                })
                .collect();
            let mut text =
                format!("{all} hold the same value in {same} of {} arguments", several.len());
            if !other.is_empty() {
                text.push_str(&format!(", and the values {} in others", other.join("; ")));
            }
            text
        }
    }
}

/// Describes the place of a fact relative to the first fact.
fn place(concept: &Concept, fact: usize) -> String {
    let numbers: Vec<(usize, i64)> = concept
        .columns
        .iter()
        .enumerate()
        .filter_map(|(at, column)| match column {
            Column::Offsets(offsets) => Some((at, offsets[fact])),
            Column::Same | Column::Symbols(_) => None,
        })
        .collect();
    let name = &concept.name;
    match numbers.as_slice() {
        [(_, down), (_, right)] => direction(name, *down, *right),
        [] => format!("another {name}"),
        _ => {
            let differs = numbers.iter().filter(|(_, by)| *by != 0);
            let parts: Vec<String> =
                differs.map(|(at, by)| format!("{by:+} in argument {}", at + 1)).collect();
            if parts.is_empty() {
                format!("another {name}")
            } else {
                format!("the {name} at {}", parts.join(" and "))
            }
        }
    }
}

/// Describes the place that is `down` rows and `right` columns away.
fn direction(name: &str, down: i64, right: i64) -> String {
    let vertical = if down > 0 { "lower" } else { "upper" };
    let side = if right > 0 { "right" } else { "left" };
    match (down, right) {
        (0, 0) => format!("another {name} in the same place"),
        (0, 1 | -1) => format!("its {side} neighbour"),
        (0, n) => format!("the {name} {} to the {side}", n.abs()),
        (1, 0) => "its neighbour below".to_owned(),
        (-1, 0) => "its neighbour above".to_owned(),
        (n, 0) => format!("the {name} {} {}", n.abs(), if n > 0 { "below" } else { "above" }),
        (1 | -1, 1 | -1) => format!("its {vertical} {side} neighbour"),
        (a, b) if a.abs() == b.abs() => format!("the {name} {} to the {vertical} {side}", a.abs()),
        (a, b) => format!(
            "the {name} {} {} and {} to the {side}",
            a.abs(),
            if a > 0 { "down" } else { "up" },
            b.abs()
        ),
    }
}
