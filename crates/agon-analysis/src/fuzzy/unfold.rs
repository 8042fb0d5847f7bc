//! Recursive relations, unfolded: an atom without variables is what its rules say, down to fluents, as long as it does not come back to
//! itself. Counting cell by cell is of this kind, and would otherwise be worked out by the reasoner at every state.
//!
//! Paths through a graph that has circles are not: these stay with the reasoner.

use std::collections::BTreeMap;

use agon_datalog::TermId;
use agon_gdl::rules::RuleAtom;

use super::expand::Expander;
use super::tree::{Node, NodeId};
use crate::theory::{RelationId, relation_of};

/// Atoms that wait for each other: judging goes as deep.
const MAX_LEVELS: usize = 500;

/// What is known of atoms of recursive relations.
#[derive(Default)]
pub(super) struct Unfolding {
    /// None while an atom is being unfolded: who comes back to it then goes round in a circle.
    nodes: BTreeMap<(RelationId, Vec<TermId>), Option<NodeId>>,
    n_levels: usize,
}

impl Unfolding {
    /// Forgets what consists of nodes from a number on.
    pub(super) fn forget(&mut self, before: usize) {
        self.nodes.retain(|_, node| node.is_none_or(|node| node.index() < before));
    }
}

impl Expander<'_> {
    /// The tree of an atom of a recursive relation. None if it is none, or if it goes round in a circle or too far.
    pub(super) fn unfold(&mut self, atom: &RuleAtom, origin: Option<usize>) -> Option<NodeId> {
        let relation = relation_of(atom);
        if self.theory.is_static(relation) || !self.theory.is_recursive(relation) || self.is_full()
        {
            return None;
        }
        let unfolding =
            self.unfolding.as_mut().filter(|unfolding| unfolding.n_levels < MAX_LEVELS)?;
        let arguments = atom.arguments.iter().map(|argument| self.theory.ground(argument));
        let key = (relation, arguments.collect::<Option<Vec<TermId>>>()?);
        if let Some(known) = unfolding.nodes.get(&key) {
            return *known;
        }
        unfolding.nodes.insert(key.clone(), None);
        unfolding.n_levels += 1;
        let children = stacker::maybe_grow(64 << 10, 1 << 20, || self.by_rules(atom, &[], 1));
        let is_whole = !self.is_full();
        let node = self.tree.node(Node::Or(children), origin);
        let unfolding = self.unfolding.as_mut()?;
        unfolding.n_levels -= 1;
        unfolding.nodes.remove(&key);
        if is_whole {
            unfolding.nodes.insert(key, Some(node));
        }
        is_whole.then_some(node)
    }
}
