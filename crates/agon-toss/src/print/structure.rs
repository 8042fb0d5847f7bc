//! Prints structures and boards.

use super::names;
use crate::syntax::{Cell, RelationTuples, Structure};

/// Prints a structure.
pub(super) fn write_structure(structure: &Structure, text: &mut String) {
    let relations: Vec<String> = structure.relations.iter().map(relation).collect();
    let functions: Vec<String> = structure
        .functions
        .iter()
        .map(|function| {
            let values: Vec<String> = function
                .values
                .iter()
                .map(|(element, value)| format!("{} -> {}", element.text, value.text))
                .collect();
            {
                let strokes = "'".repeat(function.order as usize);
                format!("{}{strokes} {{ {} }}", function.name.text, values.join(", "))
            }
        })
        .collect();
    let part = |texts: &[String]| if texts.is_empty() { "-".to_owned() } else { texts.join("; ") };
    let elements = names(&structure.elements);
    text.push_str(&format!("[{elements} | {} | {}", part(&relations), part(&functions)));
    if !structure.constants.is_empty() {
        let constants: Vec<String> = structure
            .constants
            .iter()
            .map(|(name, element)| format!("{} = {}", name.text, element.text))
            .collect();
        text.push_str(&format!(" | {}", part(&constants)));
    }
    text.push(']');
    if let Some(found) = &structure.board {
        let rows: Vec<Vec<Option<String>>> = found
            .rows
            .iter()
            .map(|row| {
                row.iter()
                    .map(|cell| match cell {
                        Cell::Hole => None,
                        Cell::Element(names) => Some(
                            names
                                .iter()
                                .map(|name| name.text.as_str())
                                .collect::<Vec<_>>()
                                .join("+"),
                        ),
                    })
                    .collect()
            })
            .collect();
        text.push_str(" \"\n");
        text.push_str(&board(rows.iter().map(Vec::as_slice)));
        text.push('"');
    }
}

fn relation(relation: &RelationTuples) -> String {
    let name = format!("{}{}", if relation.is_optional { "_opt_" } else { "" }, relation.name.text);
    let tuples: Vec<String> =
        relation.tuples.iter().map(|tuple| format!("({})", names(&tuple.elements))).collect();
    match (tuples.as_slice(), relation.arity) {
        ([], arity) => format!("{name}:{} {{}}", arity.map_or(1, |(arity, _)| arity)),
        ([tuple], _) => format!("{name}{tuple}"),
        _ => format!("{name} {{{}}}", tuples.join("; ")),
    }
}

/// Prints rows of cells as lines of text. A cell without predicates is `.`, a hole `*`.
pub(super) fn board<'a>(rows: impl IntoIterator<Item = &'a [Option<String>]> + Clone) -> String {
    let shown = |cell: &Option<String>| match cell {
        None => "*".to_owned(),
        Some(names) if names.is_empty() => ".".to_owned(),
        Some(names) => names.clone(),
    };
    let cells = rows.clone().into_iter().flatten();
    let width = cells.map(|cell| shown(cell).len()).max().unwrap_or(1);
    // A board of one column has no spaces that show its form, so a name is repeated: `wP+wP`.
    let n_columns = rows.clone().into_iter().map(<[_]>::len).max().unwrap_or(0);
    let pad = if n_columns == 1 { 0 } else { width };
    let shown = |cell: &Option<String>| match shown(cell) {
        name if n_columns == 1 && name.len() > 1 && !name.contains('+') => format!("{name}+{name}"),
        name => name,
    };
    let mut text = String::new();
    for row in rows {
        let line: Vec<String> = row.iter().map(|cell| format!("{:pad$}", shown(cell))).collect();
        text.push_str("  ");
        text.push_str(line.join(" ").trim_end());
        text.push('\n');
    }
    text
}
