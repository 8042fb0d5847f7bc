//! The list of nodes, with their states.

use std::ops::Index;

use super::super::node::{Node, NodeId};
use super::super::recycle::Packing;
use super::super::reserve::Growth;

/// All nodes. The whole search can read a node; only the modules of the tree can change one.
pub(crate) struct Nodes<S> {
    nodes: Vec<Node>,
    /// By node. None for terminal ones.
    states: Vec<Option<S>>,
    /// The number of the current pass; see [`Node::stamp`].
    pass: u32,
}

impl<S> Index<NodeId> for Nodes<S> {
    type Output = Node;

    #[inline]
    fn index(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }
}

impl<S> Nodes<S> {
    pub(in crate::mcts::tree) fn new() -> Nodes<S> {
        Nodes { nodes: Vec::new(), states: Vec::new(), pass: 0 }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn as_slice(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns the state of a node; None if it is terminal.
    #[inline]
    pub(crate) fn state(&self, id: NodeId) -> Option<&S> {
        self.states[id.index()].as_ref()
    }

    #[inline]
    pub(in crate::mcts::tree) fn get_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.index()]
    }

    pub(in crate::mcts::tree) fn push(&mut self, node: Node, state: Option<S>) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        self.states.push(state);
        id
    }

    /// Begins a pass: no node counts as stamped any more.
    pub(crate) fn begin_pass(&mut self) {
        self.pass = self.pass.wrapping_add(1).max(1);
    }

    /// Notes that the current pass has come through a node.
    #[inline]
    pub(crate) fn stamp(&mut self, id: NodeId) {
        self.nodes[id.index()].stamp = self.pass;
    }

    /// Returns whether the current pass has come through a node before.
    #[inline]
    pub(crate) fn is_stamped(&self, id: NodeId) -> bool {
        self.nodes[id.index()].stamp == self.pass
    }

    /// Removes all nodes that are not kept. Returns the others in their new order, with links that
    /// the other parts have still to renew.
    pub(in crate::mcts::tree) fn pack(&mut self, packing: &Packing) -> &mut [Node] {
        let nodes = std::mem::take(&mut self.nodes);
        let states = std::mem::take(&mut self.states);
        let is_kept = |at: usize| packing.is_kept(NodeId(at as u32));
        let kept = nodes.into_iter().enumerate().filter(|&(at, _)| is_kept(at));
        self.nodes.extend(kept.map(|(_, node)| node));
        let kept = states.into_iter().enumerate().filter(|&(at, _)| is_kept(at));
        self.states.extend(kept.map(|(_, state)| state));
        &mut self.nodes
    }

    pub(in crate::mcts::tree) fn reserve(&mut self, growth: &Growth) {
        growth.reserve(&mut self.nodes);
        growth.reserve(&mut self.states);
    }

    /// Returns where the lists lie in memory.
    #[cfg(test)]
    pub(crate) fn addresses(&self) -> [usize; 2] {
        [self.nodes.as_ptr().addr(), self.states.as_ptr().addr()]
    }
}
