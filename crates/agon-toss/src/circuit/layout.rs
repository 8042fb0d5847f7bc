//! What a circuit has in and out: the bits of its states, and the moves of its roles.

use std::collections::{BTreeMap, BTreeSet};

use agon_structures::structure::RelationId;

use super::may::Possible;
use crate::arena::{CheckedArena, LocationId, RuleId};
use crate::interpreter::{EdgePlace, Game};

/// The move of whoever has nothing to do; of every role the first.
pub(super) const NOOP: &str = "noop";

/// A move of a role. The same text is the same move at every location.
pub(super) struct RoleMove {
    pub(super) what: What,
    /// The edges that it takes, one at most for each location.
    pub(super) places: Vec<EdgePlace>,
}

pub(super) enum What {
    Noop,
    /// A rule applied to one of its possible matches, by index.
    Apply(RuleId, usize),
    /// Nature decides on an outcome, by index for each of the edges.
    Outcome(Vec<usize>),
}

/// Where base bits are.
pub(super) struct Bits {
    pub(super) texts: Vec<(String, bool)>,
    pub(super) locations: Vec<usize>,
    pub(super) tuples: BTreeMap<RelationId, BTreeMap<Vec<u32>, usize>>,
    pub(super) applied: BTreeMap<RuleId, usize>,
    pub(super) pending: BTreeMap<EdgePlace, usize>,
}

pub(super) fn edge_places(arena: &CheckedArena) -> impl Iterator<Item = EdgePlace> + '_ {
    arena.locations().iter().enumerate().flat_map(|(location, entry)| {
        entry.edges.iter().enumerate().flat_map(move |(player, edges)| {
            (0..edges.len()).map(move |index| EdgePlace {
                location: LocationId::new(location),
                player: player as u32,
                index: index as u32,
            })
        })
    })
}

pub(super) fn bits(game: &Game, possible: &Possible) -> Bits {
    let arena = game.arena();
    let start = game.settled();
    let mut texts = Vec::new();
    let mut locations = Vec::new();
    for (index, location) in arena.locations().iter().enumerate() {
        locations.push(texts.len());
        texts.push((
            format!("(location {})", location.name),
            arena.start_location().index() == index,
        ));
    }
    let mut tuples = BTreeMap::new();
    for relation in arena.vocabulary().relations().filter(|&relation| arena.is_fluent(relation)) {
        let name = arena.vocabulary().relation_name(relation);
        let mut of_relation = BTreeMap::new();
        for tuple in possible.most.tuples(relation).iter() {
            let elements: String =
                tuple.iter().map(|&element| format!(" {}", start.name(element))).collect();
            let text =
                if tuple.is_empty() { name.to_string() } else { format!("({name}{elements})") };
            of_relation.insert(tuple.iter().map(|element| element.id()).collect(), texts.len());
            texts.push((text, start.holds(relation, tuple)));
        }
        tuples.insert(relation, of_relation);
    }
    let mut applied = BTreeMap::new();
    let remembered: BTreeSet<RuleId> =
        arena.rules().iter().flat_map(|rule| rule.history.iter().map(|entry| entry.0)).collect();
    for rule in remembered {
        applied.insert(rule, texts.len());
        texts.push((format!("(applied {})", arena.rule(rule).name), false));
    }
    let mut pending = BTreeMap::new();
    for place in edge_places(arena).filter(|place| place.edge(arena).outcomes.len() > 1) {
        pending.insert(place, texts.len());
        texts.push((format!("(pending {})", arena.rule(place.edge(arena).rule).name), false));
    }
    Bits { texts, locations, tuples, applied, pending }
}

/// Groups of bits of which perhaps at most one is true: locations, what stands on an element, where the tuple of a relation is.
pub(super) fn candidates(bits: &Bits) -> Vec<Vec<usize>> {
    let mut groups = vec![bits.locations.clone()];
    let mut by_element: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for tuples in bits.tuples.values() {
        for (tuple, &bit) in tuples {
            if let [element] = tuple[..] {
                by_element.entry(element).or_default().push(bit);
            }
        }
        groups.push(tuples.values().copied().collect());
    }
    groups.extend(by_element.into_values());
    groups.retain(|group| group.len() > 1);
    groups
}

/// All moves that a role may ever make, with their texts, in the order of the interpreter.
pub(super) fn moves_of(game: &Game, possible: &Possible, player: usize) -> Vec<(String, RoleMove)> {
    let arena = game.arena();
    let mut moves = vec![(NOOP.to_owned(), RoleMove { what: What::Noop, places: Vec::new() })];
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut add = |text: String, what: What, place: EdgePlace| match known.get(&text) {
        Some(&index) => {
            let entry: &mut (String, RoleMove) = &mut moves[index];
            entry.1.places.push(place);
            if let (What::Outcome(all), What::Outcome(more)) = (&mut entry.1.what, what) {
                all.extend(more);
            }
        }
        None => {
            known.insert(text.clone(), moves.len());
            moves.push((text, RoleMove { what, places: vec![place] }));
        }
    };
    for place in edge_places(arena) {
        let edge = place.edge(arena);
        if place.player as usize == player {
            let edges = &arena.location(place.location).edges[player];
            let is_unclear = edges.iter().filter(|other| other.rule == edge.rule).count() > 1;
            for (index, matched) in possible.matches[edge.rule.index()].iter().enumerate() {
                let mut text = arena.rule(edge.rule).name.clone();
                for &element in matched {
                    text.push(' ');
                    text.push_str(game.settled().name(element));
                }
                if is_unclear {
                    let target =
                        edge.outcomes.first().map_or("", |outcome| &arena.location(outcome.0).name);
                    text.push_str(&format!(" (to {target})"));
                }
                add(format!("({text})"), What::Apply(edge.rule, index), place);
            }
        }
        if arena.nature() == Some(player) && edge.outcomes.len() > 1 {
            for (index, outcome) in edge.outcomes.iter().enumerate() {
                let n_before =
                    edge.outcomes[..index].iter().filter(|other| other.0 == outcome.0).count();
                let name = &arena.location(outcome.0).name;
                let text = if n_before == 0 {
                    format!("(to {name})")
                } else {
                    format!("(to {name} {})", n_before + 1)
                };
                add(text, What::Outcome(vec![index]), place);
            }
        }
    }
    moves
}
