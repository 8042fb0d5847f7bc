//! Classification of relations by how rules change them.

use std::collections::BTreeMap;

use agon_structures::formula::Name;
use agon_structures::structure::RelationId;
use agon_toss::arena::{CheckedArena, Effect};

/// How rules change a relation.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// Rules only add tuples.
    Added,
    /// Rules only remove tuples.
    Removed,
    /// Rules add and remove tuples.
    Both,
}

/// Returns the relations that some rule changes, determined from the rules alone. All other
/// relations are stable.
pub fn changes(arena: &CheckedArena) -> BTreeMap<Name, Change> {
    let vocabulary = arena.vocabulary();
    let mut found: BTreeMap<Name, Change> = BTreeMap::new();
    let mut note = |relation: RelationId, change: Change| {
        if arena.is_fluent(relation) {
            let known = found.entry(vocabulary.relation_name(relation).clone()).or_insert(change);
            if *known != change {
                *known = Change::Both;
            }
        }
    };
    for rule in arena.rules() {
        match &rule.effect {
            Effect::Tuples { delete, add } => {
                delete.iter().for_each(|pattern| note(pattern.relation, Change::Removed));
                add.iter().for_each(|tuple| note(tuple.relation, Change::Added));
            }
            // Elements are added and removed, and with them tuples of any relation.
            Effect::Rewrite(_) => {
                vocabulary.relations().for_each(|relation| note(relation, Change::Both));
            }
        }
    }
    found
}
