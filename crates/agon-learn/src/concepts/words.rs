//! Formulas in words. Directions are those of the coordinates: right is a higher first one, up a
//! higher second one.

use super::formula::{Class, Direction, Literal, Local, Relation};

/// Describes the cells of which a formula holds, in the singular: "an own piece with …".
pub(super) fn sentence(local: &Local) -> String {
    let (noun, rest) = noun_and_rest(local);
    let parts: Vec<String> = rest.iter().map(|literal| clause(literal)).collect();
    let article = if noun.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    match parts.as_slice() {
        [] => format!("{article} {noun}"),
        parts => format!("{article} {noun} {}", joined(parts)),
    }
}

fn joined(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [all @ .., last] => format!("{}, and {last}", all.join(", ")),
    }
}

/// Returns the noun of a cell, and the statements that it does not say.
fn noun_and_rest(local: &Local) -> (&'static str, Vec<&Literal>) {
    let class = local.0.iter().find_map(|literal| match literal {
        Literal::Is(class) => Some(*class),
        Literal::Edge(_) | Literal::Step(..) | Literal::AtLeast(..) | Literal::No(..) => None,
    });
    let rest = local.0.iter().filter(|literal| !matches!(literal, Literal::Is(_))).collect();
    (class.map_or("cell", noun), rest)
}

fn noun(class: Class) -> &'static str {
    match class {
        Class::Own => "own piece",
        Class::Other => "piece of the opponent",
        Class::Empty => "empty cell",
    }
}

fn clause(literal: &Literal) -> String {
    match literal {
        Literal::Is(class) => format!("that is {}", noun(*class)),
        Literal::Edge(direction) => format!("at the {} edge", edge(*direction)),
        Literal::Step(direction, inner) => {
            format!("with {} {}", nested(inner), place(*direction))
        }
        Literal::AtLeast(1, relation, inner) => {
            format!("with {} {}", nested(inner), where_(*relation))
        }
        Literal::AtLeast(n, relation, inner) => {
            format!("with at least {} {}", plural(*n, inner), where_(*relation))
        }
        Literal::No(relation, inner) => format!("without {} {}", nested(inner), where_(*relation)),
    }
}

/// Describes a related cell. What is said of it stands in parentheses, so that it is clear to which
/// cell it belongs.
fn nested(local: &Local) -> String {
    let (noun, rest) = noun_and_rest(local);
    let article = if noun.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {noun}{}", aside(&rest))
}

fn plural(n: u8, local: &Local) -> String {
    let (noun, rest) = noun_and_rest(local);
    let noun = match noun {
        "piece of the opponent" => "pieces of the opponent".to_owned(),
        noun => format!("{noun}s"),
    };
    let number =
        ["no", "one", "two", "three", "four"].get(usize::from(n)).copied().unwrap_or("many");
    format!("{number} {noun}{}", aside(&rest))
}

fn aside(rest: &[&Literal]) -> String {
    if rest.is_empty() {
        return String::new();
    }
    let parts: Vec<String> = rest.iter().map(|literal| clause(literal)).collect();
    format!(" ({})", joined(&parts))
}

fn edge(direction: Direction) -> &'static str {
    match direction {
        Direction::Right => "right",
        Direction::Left => "left",
        Direction::Up => "upper",
        Direction::Down => "lower",
        Direction::UpRight => "upper right",
        Direction::UpLeft => "upper left",
        Direction::DownLeft => "lower left",
        Direction::DownRight => "lower right",
    }
}

fn place(direction: Direction) -> &'static str {
    match direction {
        Direction::Right => "on its right",
        Direction::Left => "on its left",
        Direction::Up => "above it",
        Direction::Down => "below it",
        Direction::UpRight => "diagonally above it on the right",
        Direction::UpLeft => "diagonally above it on the left",
        Direction::DownLeft => "diagonally below it on the left",
        Direction::DownRight => "diagonally below it on the right",
    }
}

fn where_(relation: Relation) -> &'static str {
    match relation {
        Relation::Neighbour => "next to it in any direction",
        Relation::Beside => "next to it in its row or column",
        Relation::Diagonal => "diagonally next to it",
        Relation::Row => "in its row",
        Relation::Column => "in its column",
        Relation::Line => "in line with it",
    }
}
