//! Finds coordinates among the function values of a continuous game.

use std::collections::{BTreeMap, BTreeSet};

use crate::fluent::Flat;
use crate::infer::Builder;
use crate::layout::Use;
use crate::reals::{Axis, Reals, TIME, parse};

/// Names of functions that are heights.
const HEIGHTS: [&str; 6] = ["y", "h", "z", "height", "altitude", "depth"];
/// Names of functions that are positions along a horizontal line.
const POSITIONS: [&str; 5] = ["x", "s", "position", "pos", "distance"];

/// Finds how real numbers are drawn. Returns `None` if the game has none.
pub(crate) fn find(builder: &mut Builder<'_>) -> Option<Reals> {
    let evidence = builder.world.evidence;
    if evidence.functions.is_empty() {
        return None;
    }
    let mut reals = Reals { functions: evidence.functions.clone(), ..Reals::default() };
    let mut elements: BTreeSet<String> = BTreeSet::new();
    // By function: the least and the greatest value.
    let mut ranges: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    for state in evidence.plays.iter().flat_map(|play| &play.states) {
        for flat in state.iter().filter_map(|fluent| Flat::parse(fluent)) {
            let [element, number] = flat.arguments.as_slice() else { continue };
            let Some(number) = parse(number) else { continue };
            if !reals.functions.contains(&flat.relation) {
                continue;
            }
            elements.insert(element.clone());
            let range = ranges.entry(flat.relation.clone()).or_insert((number, number));
            *range = (range.0.min(number), range.1.max(number));
            if number != 0.0 {
                reals.shown.insert((flat.relation, element.clone()));
            }
        }
    }
    reals.axes = axes(&ranges);
    let speeds = reals.axes.iter().filter_map(|axis| ranges.get(axis.velocity.as_ref()?));
    reals.speed = speeds.map(|(low, high)| low.abs().max(high.abs())).fold(0.0, f64::max);
    for (relation, rows) in &builder.world.facts {
        for row in rows {
            if let [element] = row.as_slice()
                && elements.contains(element)
            {
                reals.fixed_kinds.entry(element.clone()).or_default().push(relation.clone());
            }
        }
    }
    reals.movers = movers(builder, &elements);
    for index in builder.unused() {
        let pattern = builder.pattern(index);
        let is_value = pattern.arity == 2 && reals.functions.contains(&pattern.relation);
        let is_time = pattern.arity == 1 && pattern.relation == TIME;
        let is_kind = pattern.arity == 1
            && pattern.domains[0].is_subset(&elements)
            && !pattern.domains[0].is_empty();
        if is_kind {
            let relation = pattern.relation.clone();
            reals.kinds.insert(relation);
        }
        if is_value || is_time || is_kind && !reals.axes.is_empty() {
            builder.set_use(index, Use::Real);
        }
    }
    Some(reals)
}

/// Returns the functions that are coordinates: two by their names, or one by its name or because
/// the state has its derivative.
fn axes(ranges: &BTreeMap<String, (f64, f64)>) -> Vec<Axis> {
    let axis = |name: &str, is_vertical: bool| {
        let &(low, high) = ranges.get(name)?;
        let velocity = Some(format!("{name}'")).filter(|name| ranges.contains_key(name));
        Some(Axis { name: name.to_owned(), is_vertical, velocity, low, high })
    };
    if let (Some(x), Some(y)) = (axis("x", false), axis("y", true)) {
        return vec![x, y];
    }
    let named = HEIGHTS.iter().chain(&POSITIONS).find(|name| ranges.contains_key(**name));
    let moving = || {
        let is_moving = |name: &&String| ranges.contains_key(&format!("{name}'"));
        ranges.keys().find(is_moving).map(String::as_str)
    };
    let name = named.copied().or_else(moving);
    name.and_then(|name| axis(name, HEIGHTS.contains(&name))).into_iter().collect()
}

/// Returns for elements the only role whose moves name them.
fn movers(builder: &Builder<'_>, elements: &BTreeSet<String>) -> BTreeMap<String, usize> {
    let mut named: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for joint in builder.world.evidence.plays.iter().flat_map(|play| &play.joints) {
        for (role, text) in joint.iter().enumerate() {
            let Some(flat) = Flat::parse(text) else { continue };
            for argument in flat.arguments.into_iter().filter(|name| elements.contains(name)) {
                named.entry(argument).or_default().insert(role);
            }
        }
    }
    let single = named.into_iter().filter(|(_, roles)| roles.len() == 1);
    single.filter_map(|(element, roles)| Some((element, roles.into_iter().next()?))).collect()
}
