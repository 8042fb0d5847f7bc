//! The inputs of a circuit: the bits of its states and the moves of its roles.

use std::collections::{BTreeMap, BTreeSet};

use agon_structures::structure::RelationId;

use super::possible::Possible;
use crate::arena::{CheckedArena, LocationId, RuleId};
use crate::interpreter::{EdgeId, Game};

/// The move of a role that has nothing to do. It is the first move of every role.
pub(super) const NOOP: &str = "noop";

/// A move of a role. Moves with the same text are one move at all locations.
pub(super) struct RoleMove {
    pub(super) action: Action,
    /// The edges that the move takes, at most one for each location.
    pub(super) edges: Vec<EdgeId>,
}

pub(super) enum Action {
    Noop,
    /// Applies a rule to one of its possible embeddings, by index.
    Apply(RuleId, usize),
    /// Nature chooses an outcome, by index for each of the edges.
    Outcome(Vec<usize>),
}

/// The base bits of a circuit.
pub(super) struct Bits {
    pub(super) texts: Vec<(String, bool)>,
    pub(super) locations: Vec<usize>,
    pub(super) tuples: BTreeMap<RelationId, BTreeMap<Vec<u32>, usize>>,
    pub(super) applied: BTreeMap<RuleId, usize>,
    pub(super) pending: BTreeMap<EdgeId, usize>,
}

pub(super) fn edge_ids(arena: &CheckedArena) -> impl Iterator<Item = EdgeId> + '_ {
    arena.locations().iter().enumerate().flat_map(|(location, entry)| {
        entry.edges.iter().enumerate().flat_map(move |(player, edges)| {
            (0..edges.len()).map(move |index| EdgeId {
                location: LocationId::new(location),
                player: player as u32,
                index: index as u32,
            })
        })
    })
}

pub(super) fn bits(game: &Game, possible: &Possible) -> Bits {
    let arena = game.arena();
    let start = game.start_structure();
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
        for tuple in possible.upper_bound.tuples(relation).iter() {
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
    for place in edge_ids(arena).filter(|place| place.edge(arena).outcomes.len() > 1) {
        pending.insert(place, texts.len());
        texts.push((format!("(pending {})", arena.rule(place.edge(arena).rule).name), false));
    }
    Bits { texts, locations, tuples, applied, pending }
}

/// Returns groups of bits of which at most one may be true: the locations, the predicates of one
/// element, the tuples of one relation.
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

/// Returns all moves that a role may ever make, with their texts, in the order of the interpreter.
pub(super) fn moves_of(game: &Game, possible: &Possible, player: usize) -> Vec<(String, RoleMove)> {
    let arena = game.arena();
    let mut moves = vec![(NOOP.to_owned(), RoleMove { action: Action::Noop, edges: Vec::new() })];
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut add = |text: String, action: Action, edge: EdgeId| match known.get(&text) {
        Some(&index) => {
            let entry: &mut (String, RoleMove) = &mut moves[index];
            entry.1.edges.push(edge);
            if let (Action::Outcome(all), Action::Outcome(more)) = (&mut entry.1.action, action) {
                all.extend(more);
            }
        }
        None => {
            known.insert(text.clone(), moves.len());
            moves.push((text, RoleMove { action, edges: vec![edge] }));
        }
    };
    for place in edge_ids(arena) {
        let edge = place.edge(arena);
        if place.player as usize == player {
            let edges = &arena.location(place.location).edges[player];
            let is_unclear = edges.iter().filter(|other| other.rule == edge.rule).count() > 1;
            for (index, embedding) in possible.embeddings[edge.rule.index()].iter().enumerate() {
                let mut text = arena.rule(edge.rule).name.clone();
                for &element in embedding {
                    text.push(' ');
                    text.push_str(game.start_structure().name(element));
                }
                if is_unclear {
                    let target =
                        edge.outcomes.first().map_or("", |outcome| &arena.location(outcome.0).name);
                    text.push_str(&format!(" (to {target})"));
                }
                add(format!("({text})"), Action::Apply(edge.rule, index), place);
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
                add(text, Action::Outcome(vec![index]), place);
            }
        }
    }
    moves
}
