//! Finds towers: things that stand on things, as in the blocks world, `(on a b)`, and in versions
//! of the towers of Hanoi in which discs lie on discs and on pillars.

use std::collections::{BTreeMap, BTreeSet};

use crate::infer::Builder;
use crate::infer::stacks::add_board;
use crate::layout::{Layer, LayerRole, Use};
use crate::scene::BoardKind;
use crate::world::Pattern;

/// Maximum number of towers side by side.
const MAX_TOWERS: usize = 12;

/// How relations call standing on something. Other relations between things are not towers.
const NAMES: [&str; 4] = ["on", "above", "over", "ontop"];

/// In front of the lowest thing in the lookup of towers without pillars: it is not a place, because
/// a move that names a thing means the thing wherever it stands.
pub(crate) const NAMELESS: &str = "";

/// Finds towers among the relations that are not drawn yet.
pub(crate) fn find(builder: &mut Builder<'_>) {
    for index in builder.unused() {
        if is_tower(builder.pattern(index)) {
            add(builder, index);
        }
    }
}

fn is_tower(pattern: &Pattern) -> bool {
    let name: String = pattern.relation.chars().filter(char::is_ascii_alphabetic).collect();
    pattern.arity == 2
        && NAMES.contains(&name.to_lowercase().as_str())
        && !pattern.domains[0].is_disjoint(&pattern.domains[1])
        && pattern.domains[0].len() <= MAX_TOWERS
        && pattern.is_key(&[0])
        && pattern.is_key(&[1])
        && pattern.states.iter().all(|rows| rows.iter().all(|row| root(rows, &row[0]).is_some()))
}

/// Returns what a thing stands on in the end; `None` if that is the thing itself.
fn root<'r>(rows: &'r [Vec<String>], thing: &'r String) -> Option<&'r String> {
    let mut at = thing;
    for _ in 0..=rows.len() {
        match rows.iter().find(|row| row[0] == *at) {
            Some(row) => at = &row[1],
            None => return Some(at),
        }
    }
    None
}

/// Adds a board with a place for each tower. Where everything stands on pillars, these are the
/// towers; else each thing may be the lowest one of a tower.
fn add(builder: &mut Builder<'_>, index: usize) {
    let pattern = builder.pattern(index);
    let things = pattern.domains[0].clone();
    let pillars: BTreeSet<String> = pattern.domains[1].difference(&things).cloned().collect();
    let stand_on_pillars = pattern.states.iter().all(|rows| {
        rows.len() == things.len()
            && rows.iter().all(|row| root(rows, &row[0]).is_some_and(|root| pillars.contains(root)))
    });
    let all: BTreeSet<String> = things.union(&pattern.domains[1]).cloned().collect();
    // What lies on nothing, and what nothing lies on.
    let lowest = |rows: &[Vec<String>]| -> BTreeSet<String> {
        all.iter().filter(|thing| !rows.iter().any(|row| row[0] == **thing)).cloned().collect()
    };
    let highest = |rows: &[Vec<String>]| -> BTreeSet<String> {
        all.iter().filter(|thing| !rows.iter().any(|row| row[1] == **thing)).cloned().collect()
    };
    // A relation says it of the things of the towers, and perhaps of things that never move.
    let says = |other: &Pattern, of: &dyn Fn(&[Vec<String>]) -> BTreeSet<String>| {
        other.arity == 1
            && !other.domains[0].is_disjoint(&all)
            && pattern.states.iter().zip(&other.states).all(|(rows, others)| {
                let said = others.iter().map(|row| row[0].clone());
                let said: BTreeSet<String> = said.filter(|thing| all.contains(thing)).collect();
                let domain = &other.domains[0];
                said == of(rows).into_iter().filter(|thing| domain.contains(thing)).collect()
            })
    };
    let unused = builder.unused();
    let bases: Vec<usize> =
        unused.iter().copied().filter(|&i| says(builder.pattern(i), &lowest)).collect();
    let tops: Vec<usize> =
        unused.iter().copied().filter(|&i| says(builder.pattern(i), &highest)).collect();
    let others = bases.iter().flat_map(|&i| builder.pattern(i).domains[0].iter());
    let lowest_things: BTreeSet<String> = all.iter().chain(others).cloned().collect();
    let towers = if stand_on_pillars { &pillars } else { &lowest_things };
    let names: Vec<String> = towers.iter().cloned().collect();
    if !(2..=MAX_TOWERS).contains(&names.len()) {
        return;
    }
    let board = add_board(builder, &names, BoardKind::Stacks);
    if !stand_on_pillars {
        let plan = &mut builder.boards[board];
        plan.labels.clear();
        plan.lookup = std::mem::take(&mut plan.lookup)
            .into_iter()
            .map(|(key, place)| ([vec![NAMELESS.to_owned()], key].concat(), place))
            .collect();
    }
    let layer = |key: Vec<usize>| Layer {
        board,
        prefix: Vec::new(),
        key,
        contents: vec![0],
        role: LayerRole::Tower,
    };
    builder.set_use(index, Use::Layer(layer(vec![1])));
    for base in bases {
        builder.set_use(base, Use::Layer(layer(Vec::new())));
    }
    for top in tops {
        builder.set_use(top, Use::Implied);
    }
}

/// Returns the tower and the height of each thing, from what each thing stands on. A thing that
/// stands on nothing is the lowest one of its tower.
pub(crate) fn heights(
    below: &BTreeMap<String, Option<String>>,
) -> BTreeMap<String, (String, usize)> {
    let mut found = BTreeMap::new();
    for thing in below.keys() {
        let (mut at, mut height) = (thing, 0);
        // A cycle ends, too.
        while let Some(Some(next)) = below.get(at)
            && height <= below.len()
        {
            (at, height) = (next, height + 1);
        }
        found.insert(thing.clone(), (at.clone(), height));
    }
    found
}
