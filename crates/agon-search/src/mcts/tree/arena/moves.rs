//! The moves at the nodes.

use super::super::node::{Node, NodeKind};
use super::super::reserve::Growth;

/// By node that is not terminal: for each role its only move, or its first one; then the moves of
/// the arms.
pub(crate) struct MoveTable<M> {
    n_roles: usize,
    moves: Vec<M>,
}

impl<M: Clone> MoveTable<M> {
    pub(in crate::mcts::tree) fn new(n_roles: usize) -> MoveTable<M> {
        MoveTable { n_roles, moves: Vec::new() }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.moves.len()
    }

    /// Returns a move for each role of a node: the only one, or the first one.
    #[inline]
    pub(crate) fn first_of_roles(&self, node: &Node) -> &[M] {
        &self.moves[node.first_move as usize..][..self.n_roles]
    }

    /// Returns the moves of the arms of a node.
    #[inline]
    pub(crate) fn of_arms(&self, node: &Node) -> &[M] {
        &self.moves[node.first_move as usize + self.n_roles..][..node.n_arms as usize]
    }

    pub(in crate::mcts::tree) fn push(&mut self, first_of_roles: &[M], of_arms: &[M]) {
        self.moves.extend_from_slice(first_of_roles);
        self.moves.extend_from_slice(of_arms);
    }

    pub(in crate::mcts::tree) fn pack(&mut self, nodes: &mut [Node]) {
        let moves = std::mem::take(&mut self.moves);
        for node in nodes.iter_mut().filter(|node| node.kind != NodeKind::Terminal) {
            let n = self.n_roles + node.n_arms as usize;
            let own = &moves[node.first_move as usize..][..n];
            node.first_move = self.moves.len() as u32;
            self.moves.extend_from_slice(own);
        }
    }

    pub(in crate::mcts::tree) fn reserve(&mut self, growth: &Growth) {
        growth.reserve(&mut self.moves);
    }
}
