//! Units: groups of facts of which one holds at a time, such as the contents of a cell.
//!
//! A fact of a board game is usually a place with a content. Which arguments are the place is not
//! written in the rules. It is guessed from the facts' texts and tested on states of random play:
//! facts that agree in all arguments but some form a group, and if no state has two facts of any
//! such group, the group is a unit.

use std::collections::BTreeMap;

use crate::facts::{Fact, ordered};

/// A group of facts of which at most one holds at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unit {
    /// The facts. Where none of them holds, the unit has a content without a fact.
    pub(crate) facts: Vec<u32>,
    /// By fact: the name and the arguments that tell contents apart, the same on a whole board.
    pub(crate) contents: Vec<String>,
    /// The fact, with its content, that holds where none of the others does, if there is one.
    pub(crate) default: Option<(u32, String)>,
    /// The board that the unit is a cell of, and its coordinates there.
    pub(crate) cell: Option<Cell>,
}

/// A place on a board.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cell {
    pub(crate) board: u32,
    pub(crate) column: u32,
    pub(crate) row: u32,
}

/// Finds the units of a game. `states` are sampled states as packed bits.
pub(crate) fn find(texts: &[String], states: &[&[u64]]) -> Vec<Unit> {
    let facts: Vec<Fact> = texts.iter().map(|text| Fact::parse(text)).collect();
    let mut forms: BTreeMap<(&str, usize), Vec<u32>> = BTreeMap::new();
    for (number, fact) in (0..).zip(&facts) {
        forms.entry((fact.name(), fact.arguments().len())).or_default().push(number);
    }
    let forms = forms
        .into_iter()
        .map(|((name, arity), members)| (name, groups_of_form(&facts, &members, arity, states)));
    let groups = join_forms(forms, states);
    let mut boards: BTreeMap<(Vec<String>, usize), u32> = BTreeMap::new();
    let units = groups.into_iter().map(|group| {
        let cell = group.place.map(|place| {
            let next = boards.len() as u32;
            let board = *boards.entry((place.layer, place.n_axes)).or_insert(next);
            Cell { board, column: place.column, row: place.row }
        });
        Unit { facts: group.facts, contents: group.contents, default: None, cell }
    });
    let mut units: Vec<Unit> = units.collect();
    drop_default_contents(&mut units, states);
    units
}

/// Removes from units of which one fact holds in every state the content that is most frequent on
/// their board, so that patterns have fewer values. The content is then that none of the others
/// holds.
fn drop_default_contents(units: &mut [Unit], states: &[&[u64]]) {
    let n_boards = units.iter().filter_map(|unit| unit.cell).map(|cell| cell.board + 1).max();
    for board in 0..n_boards.unwrap_or(0) {
        let is_here = |unit: &&Unit| unit.cell.is_some_and(|cell| cell.board == board);
        let here: Vec<&Unit> = units.iter().filter(is_here).collect();
        let is_full = |unit: &&Unit| {
            states.iter().all(|state| unit.facts.iter().any(|&fact| holds(state, fact)))
        };
        if !here.iter().all(is_full) {
            continue;
        }
        let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for unit in &here {
            for (&fact, content) in unit.facts.iter().zip(&unit.contents) {
                let n = states.iter().filter(|state| holds(state, fact)).count();
                let count = counts.entry(content).or_default();
                *count = (count.0 + 1, count.1 + n);
            }
        }
        let everywhere = counts.iter().filter(|(_, count)| count.0 == here.len());
        let Some((&content, _)) = everywhere.max_by_key(|(_, count)| count.1) else { continue };
        let content = content.to_owned();
        for unit in units.iter_mut().filter(|unit| is_here(&&**unit) && unit.facts.len() > 1) {
            if let Some(n) = unit.contents.iter().position(|other| *other == content) {
                unit.default = Some((unit.facts.remove(n), unit.contents.remove(n)));
            }
        }
    }
}

pub(crate) fn holds(state: &[u64], fact: u32) -> bool {
    state[fact as usize / 64] >> (fact % 64) & 1 == 1
}

/// Facts of one form that agree in all arguments but some.
struct Group {
    facts: Vec<u32>,
    contents: Vec<String>,
    place: Option<Place>,
}

/// The place of a group before boards are numbered.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    /// The arguments that are not coordinates. Groups of the same layer are on the same board.
    layer: Vec<String>,
    n_axes: usize,
    column: u32,
    row: u32,
}

/// Maximum number of arguments for which all sets of content arguments are tried.
const MAX_ARGUMENTS: usize = 6;

fn groups_of_form(facts: &[Fact], members: &[u32], arity: usize, states: &[&[u64]]) -> Vec<Group> {
    let arguments = |fact: u32| facts[fact as usize].arguments();
    // Contents by every set of arguments. The set with the smallest groups wins, because it says
    // most about where things are.
    let mut best: Option<(usize, u32, Vec<Vec<u32>>)> = None;
    for set in 1..1_u32 << arity.min(MAX_ARGUMENTS) {
        let mut keyed: BTreeMap<Vec<&str>, Vec<u32>> = BTreeMap::new();
        for &fact in members {
            let words = arguments(fact).iter().enumerate();
            let key = words.filter(|(n, _)| *n >= MAX_ARGUMENTS || set >> n & 1 == 0);
            keyed.entry(key.map(|(_, word)| word.as_str()).collect()).or_default().push(fact);
        }
        let groups: Vec<Vec<u32>> = keyed.into_values().collect();
        let largest = groups.iter().map(Vec::len).max().unwrap_or(0);
        let is_smaller = best.as_ref().is_none_or(|(size, ..)| largest < *size);
        if largest >= 2 && is_smaller && groups.iter().all(|group| is_exclusive(group, states)) {
            best = Some((largest, set, groups));
        }
    }
    let (set, groups) = match best {
        Some((_, set, groups)) => (set, groups),
        None => (0, members.iter().map(|&fact| vec![fact]).collect()),
    };
    // The arguments that tell groups apart: ordered ones are coordinates, the last two of them a
    // board. All others distinguish boards.
    let keys: Vec<usize> =
        (0..arity).filter(|&n| n >= MAX_ARGUMENTS || set >> n & 1 == 0).collect();
    let axes: Vec<(usize, Vec<&str>)> = keys
        .iter()
        .filter_map(|&n| {
            let values = members.iter().map(|&fact| arguments(fact)[n].as_str()).collect();
            Some((n, ordered(values)?))
        })
        .collect();
    let axes = &axes[axes.len().saturating_sub(2)..];
    let place = |group: &[u32]| {
        let words = arguments(group[0]);
        let rank = |axis: &(usize, Vec<&str>)| {
            axis.1.iter().position(|value| *value == words[axis.0]).unwrap_or(0) as u32
        };
        let layer = keys.iter().filter(|n| axes.iter().all(|(axis, _)| axis != *n));
        (!axes.is_empty()).then(|| Place {
            layer: layer.map(|&n| words[n].clone()).collect(),
            n_axes: axes.len(),
            column: rank(&axes[0]),
            row: axes.get(1).map_or(0, rank),
        })
    };
    let content = |fact: &u32| {
        let words = arguments(*fact).iter().enumerate();
        let words = words.filter(|(n, _)| !keys.contains(n)).map(|(_, word)| word.as_str());
        let name = facts[*fact as usize].name();
        std::iter::once(name).chain(words).collect::<Vec<_>>().join(" ")
    };
    let make = |group: Vec<u32>| Group {
        place: place(&group),
        contents: group.iter().map(content).collect(),
        facts: group,
    };
    groups.into_iter().map(make).collect()
}

/// Returns whether no state has two of the facts.
fn is_exclusive(facts: &[u32], states: &[&[u64]]) -> bool {
    facts.len() < 2
        || states.iter().all(|state| facts.iter().filter(|&&fact| holds(state, fact)).count() <= 1)
}

/// Joins forms at the same places if at most one of all their facts holds at a place at a time. So
/// pieces of two colours that are facts of different names share their cells. A form that cannot be
/// joined has a board of its own.
fn join_forms<'f>(
    forms: impl Iterator<Item = (&'f str, Vec<Group>)>,
    states: &[&[u64]],
) -> Vec<Group> {
    let mut joined: Vec<Group> = Vec::new();
    let mut at: BTreeMap<Place, usize> = BTreeMap::new();
    for (name, groups) in forms {
        let known = |group: &Group| group.place.as_ref().and_then(|place| at.get(place).copied());
        let fits = groups.iter().all(|group| {
            known(group).is_none_or(|index| {
                let mut all = joined[index].facts.clone();
                all.extend(&group.facts);
                is_exclusive(&all, states)
            })
        });
        for mut group in groups {
            if !fits && let Some(place) = &mut group.place {
                place.layer.push(name.to_owned());
            }
            match group.place.as_ref().and_then(|place| at.get(place).copied()) {
                Some(index) if fits => {
                    joined[index].facts.extend(group.facts);
                    joined[index].contents.extend(group.contents);
                }
                _ => {
                    group.place.iter().for_each(|place| {
                        at.insert(place.clone(), joined.len());
                    });
                    joined.push(group);
                }
            }
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn cells_have_contents() {
        let texts = texts(&[
            "(cell 1 1 x)",
            "(cell 1 1 o)",
            "(cell 1 2 x)",
            "(cell 1 2 o)",
            "(cell 2 1 x)",
            "(cell 2 1 o)",
            "(control white)",
            "(control black)",
        ]);
        let states: [&[u64]; 3] = [&[0b0100_0101], &[0b1001_0101], &[0b0110_1010]];
        let units = find(&texts, &states);
        assert_eq!(units.len(), 4);
        // The first cell always has one of its contents, but others may be empty.
        assert_eq!(units[0].facts, [0, 1]);
        assert_eq!(units[0].contents, ["cell x", "cell o"]);
        assert_eq!(units[2].cell, Some(Cell { board: 0, column: 1, row: 0 }));
        assert_eq!((&units[3].facts, units[3].cell), (&vec![6, 7], None));
    }

    #[test]
    fn facts_of_different_names_share_a_cell_unless_both_hold() {
        let names = ["(white 1)", "(white 2)", "(black 1)", "(black 2)"];
        let both: [&[u64]; 3] = [&[0b0101], &[0b0011], &[0b1100]];
        let apart: [&[u64]; 3] = [&[0b1001], &[0b0011], &[0b1100]];
        assert_eq!(find(&texts(&names), &apart).len(), 2);
        assert_eq!(find(&texts(&names), &both).len(), 4);
    }
}
