//! Unfolding of recursive relations.
//!
//! A ground atom of a recursive relation is replaced by its rules, down to fluents, as long as it
//! does not depend on itself. Rules that count cell by cell are of this kind. Without unfolding the
//! reasoner would evaluate them in every state. Paths through a graph with cycles cannot be
//! unfolded; these are left to the reasoner.

use std::collections::BTreeMap;

use agon_datalog::TermId;
use agon_gdl::rules::RuleAtom;

use super::expand::Expander;
use super::tree::{Node, NodeId};
use crate::theory::{RelationId, relation_of};

/// Maximum depth of atoms that depend on each other. Evaluation recurses to the same depth.
const MAX_LEVELS: usize = 500;

/// The trees of ground atoms of recursive relations.
#[derive(Default)]
pub(super) struct Unfolding {
    /// `None` while an atom is being unfolded: an atom that reaches it then depends on itself.
    nodes: BTreeMap<(RelationId, Vec<TermId>), Option<NodeId>>,
    n_levels: usize,
}

impl Unfolding {
    /// Removes the trees that contain nodes from this number on.
    pub(super) fn discard_from(&mut self, before: usize) {
        self.nodes.retain(|_, node| node.is_none_or(|node| node.index() < before));
    }
}

impl Expander<'_> {
    /// Returns the tree of an atom of a recursive relation. `None` if the relation is not
    /// recursive, or the atom depends on itself or on too many others.
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
        let children = stacker::maybe_grow(64 << 10, 1 << 20, || self.expand_rules(atom, &[], 1));
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
