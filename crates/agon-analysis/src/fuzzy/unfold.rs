//! Unfolding of recursive relations.
//!
//! Whether an atom is recursive is decided for each ground atom. One that does not depend on itself
//! is replaced by its rules, although its relation is recursive. Goals that are defined by other
//! goals, such as `(<= (goal ?r 0) (not (goal ?r 100)))`, and rules that count cell by cell are of
//! this kind. Without unfolding the reasoner would evaluate them in every state. Paths through a
//! graph with cycles cannot be unfolded; these are left to the reasoner.

use std::collections::{BTreeMap, BTreeSet};

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
    /// The atoms that cannot be unfolded.
    refused: BTreeSet<(RelationId, Vec<TermId>)>,
    /// The number of atoms of recursive relations that were left to the reasoner.
    n_left: usize,
    /// Whether the limit on the depth starts again with each unfolded atom.
    is_deep: bool,
}

impl Unfolding {
    /// Returns an unfolding in which the limit on the depth starts again with each atom.
    pub(super) fn deep() -> Unfolding {
        Unfolding { is_deep: true, ..Unfolding::default() }
    }

    /// Removes the trees that contain nodes from this number on.
    pub(super) fn discard_from(&mut self, before: usize) {
        self.nodes.retain(|_, node| node.is_none_or(|node| node.index() < before));
    }

    /// Notes that an atom of a recursive relation is left to the reasoner. The atoms above it are
    /// then left to the reasoner as well, so that their solutions are counted as a whole.
    pub(super) fn note_left(&mut self) {
        self.n_left += 1;
    }
}

impl Expander<'_> {
    /// Returns the tree of an atom of a recursive relation. `None` if the relation is not
    /// recursive, or the atom depends on itself or on too many others.
    pub(super) fn unfold(
        &mut self,
        atom: &RuleAtom,
        depth: usize,
        origin: Option<usize>,
    ) -> Option<NodeId> {
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
        if unfolding.refused.contains(&key) {
            return None;
        }
        unfolding.nodes.insert(key.clone(), None);
        unfolding.n_levels += 1;
        let n_left = unfolding.n_left;
        let depth = if unfolding.is_deep { 1 } else { depth };
        let (before, n_calls) = (self.tree.len(), self.n_calls);
        let children =
            stacker::maybe_grow(64 << 10, 1 << 20, || self.expand_rules(atom, &[], depth));
        let is_full = self.is_full();
        let node = self.tree.node(Node::Or(children), origin);
        let unfolding = self.unfolding.as_mut()?;
        unfolding.n_levels -= 1;
        unfolding.nodes.remove(&key);
        let is_whole = !is_full && unfolding.n_left == n_left;
        if is_whole {
            unfolding.nodes.insert(key, Some(node));
        } else {
            unfolding.refused.insert(key);
            self.discard_from(before);
            // The attempt must not use up the calls of the goal. It is not repeated.
            self.n_calls = n_calls;
        }
        is_whole.then_some(node)
    }
}
