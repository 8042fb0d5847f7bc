//! The children of nodes where several roles choose.

use hashbrown::HashTable;

use super::super::node::{Node, NodeId, NodeKind};
use super::super::recycle::Packing;
use super::super::reserve::Growth;
use crate::mcts::hashing::mix;

/// The children by joint move: in tables, or, for nodes with too many joint moves, in a hash table.
pub(crate) struct JointChildren {
    /// By node of kind [`NodeKind::Joint`] with arms, and joint move.
    dense: Vec<NodeId>,
    sparse: Vec<SparseChild>,
    sparse_index: HashTable<u32>,
}

/// A child of a node of kind [`NodeKind::Sparse`].
#[derive(Copy, Clone, Debug)]
struct SparseChild {
    node: NodeId,
    choice: u64,
    child: NodeId,
}

impl JointChildren {
    pub(in crate::mcts::tree) fn new() -> JointChildren {
        JointChildren { dense: Vec::new(), sparse: Vec::new(), sparse_index: HashTable::new() }
    }

    /// Returns the children of a node of kind [`NodeKind::Joint`] by joint move.
    #[inline]
    pub(crate) fn of(&self, node: &Node) -> &[NodeId] {
        &self.dense[node.joints()]
    }

    /// Returns one child of a node of kind [`NodeKind::Joint`].
    #[inline]
    pub(crate) fn dense(&self, node: &Node, choice: u64) -> NodeId {
        self.dense[node.first_joint as usize + choice as usize]
    }

    /// Returns one child of a node of kind [`NodeKind::Sparse`].
    pub(crate) fn sparse(&self, id: NodeId, choice: u64) -> NodeId {
        let is_it = |&at: &u32| {
            let entry = &self.sparse[at as usize];
            entry.node == id && entry.choice == choice
        };
        let found = self.sparse_index.find(hash_of(id, choice), is_it);
        found.map_or(NodeId::NONE, |&at| self.sparse[at as usize].child)
    }

    /// Returns all pairs of a node of kind [`NodeKind::Sparse`] and a child of it.
    pub(crate) fn sparse_pairs(&self) -> impl Iterator<Item = (NodeId, NodeId)> {
        self.sparse.iter().map(|entry| (entry.node, entry.child))
    }

    /// Makes the table of a node of kind [`NodeKind::Joint`].
    #[inline]
    pub(in crate::mcts::tree) fn make(&mut self, node: &mut Node) {
        node.first_joint = self.dense.len() as u32;
        self.dense.resize(self.dense.len() + node.n_joint as usize, NodeId::NONE);
    }

    #[inline]
    pub(in crate::mcts::tree) fn set_dense(&mut self, node: &Node, choice: u64, child: NodeId) {
        self.dense[node.first_joint as usize + choice as usize] = child;
    }

    /// Adds a child of a node of kind [`NodeKind::Sparse`], unless there is one.
    pub(in crate::mcts::tree) fn set_sparse(&mut self, id: NodeId, choice: u64, child: NodeId) {
        if self.sparse(id, choice) != NodeId::NONE {
            return;
        }
        self.sparse.push(SparseChild { node: id, choice, child });
        let entries = &self.sparse;
        let at = entries.len() as u32 - 1;
        self.sparse_index.insert_unique(hash_of(id, choice), at, |&at| {
            let entry = &entries[at as usize];
            hash_of(entry.node, entry.choice)
        });
    }

    pub(in crate::mcts::tree) fn pack(&mut self, nodes: &mut [Node], packing: &Packing) {
        let dense = std::mem::take(&mut self.dense);
        for node in nodes.iter_mut() {
            if node.kind == NodeKind::Joint && node.has_arms() {
                let own = &dense[node.joints()];
                node.first_joint = self.dense.len() as u32;
                self.dense.extend(own.iter().map(|&child| packing.new_id(child)));
            }
        }
        let sparse = std::mem::take(&mut self.sparse);
        self.sparse_index = HashTable::new();
        for entry in sparse {
            let (node, child) = (packing.new_id(entry.node), packing.new_id(entry.child));
            if node != NodeId::NONE && child != NodeId::NONE {
                self.set_sparse(node, entry.choice, child);
            }
        }
    }

    pub(in crate::mcts::tree) fn reserve(&mut self, growth: &Growth) {
        growth.reserve(&mut self.dense);
    }
}

fn hash_of(id: NodeId, choice: u64) -> u64 {
    mix(mix(u64::from(id.0)) ^ choice)
}
